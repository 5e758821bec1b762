"""The bridge's addresses: the researcher's pages."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
