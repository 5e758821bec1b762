"""Pages: label."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
