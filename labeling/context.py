"""What every page's frame needs to know."""

from typing import Any

from django.http import HttpRequest

from labeling.models import Project


def shell(request: HttpRequest) -> dict[str, Any]:
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return {"project": None}
    return {"project": Project.objects.first()}
