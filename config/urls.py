"""The addresses of the two apps. Each app's urls.py says who may see what."""

from django.urls import include, path

urlpatterns = [
    path("", include("labeling.urls")),
    path("", include("selection.urls")),
]
handler404 = "labeling.views.not_found"
handler500 = "labeling.views.server_error"
