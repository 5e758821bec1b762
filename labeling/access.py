"""Who may open a page. Signing in is required everywhere already (LoginRequiredMiddleware)."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from labeling.models import User

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def role_of(request: HttpRequest) -> str:
    """The role of the person who asks: "labeler", "lead", "researcher", or "" when nobody is signed in."""
    user = request.user
    return user.role if isinstance(user, User) else ""


def refuse(request: HttpRequest) -> HttpResponse:
    return render(request, "errors/403.html", status=403)


def role_required(*roles: str) -> Callable[[View[P]], View[P]]:
    """Let only these roles in; everyone else gets the page that says whose page it is.

    `role_required("lead", "researcher")`. A name that is no role is refused when the module loads.
    """
    unknown = set(roles) - set(User.Role.values)
    if unknown or not roles:
        raise ValueError(f"not roles: {sorted(unknown)}; choose from {User.Role.values}")

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if role_of(request) not in roles:
                return refuse(request)
            return view(request, *args, **kwargs)

        guarded.roles = roles  # type: ignore[attr-defined]  # read by the test that lists every URL
        return guarded

    return decorate
