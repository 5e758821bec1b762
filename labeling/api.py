"""The JSON endpoints of the labeling page."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
