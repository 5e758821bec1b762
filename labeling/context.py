"""What every page's frame needs to know."""

from typing import Any

from django.http import HttpRequest

from labeling.access import role_of
from labeling.models import Project
from labeling.navigation import links


def shell(request: HttpRequest) -> dict[str, Any]:
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return {"project": None, "nav": []}
    return {"project": Project.objects.first(), "nav": links(role_of(request), request.path)}
