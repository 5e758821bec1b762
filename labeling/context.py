"""What every page's frame needs to know."""

from typing import Any

from django.http import HttpRequest

from labeling.access import role_of
from labeling.navigation import links
from labeling.scope import current_project


def shell(request: HttpRequest) -> dict[str, Any]:
    if not getattr(request, "user", None) or not request.user.is_authenticated:
        return {"project": None, "nav": []}
    return {"project": current_project(request), "nav": links(role_of(request), request.path)}
