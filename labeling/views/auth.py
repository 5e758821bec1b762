"""Signing in and out, the start page of each role, a person's own settings, and the health address."""

from typing import Any, cast

from django.conf import settings as django_settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from labeling import jobs
from labeling.access import role_of
from labeling.models import User
from labeling.services import people
from labeling.views.account_forms import ProfileForm, SignInForm, password_form

BACKEND = "django.contrib.auth.backends.ModelBackend"
HOME_OF = {User.Role.LABELER: "label", User.Role.LEAD: "lead", User.Role.RESEARCHER: "research"}


class SignIn(LoginView):
    template_name = "registration/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


def home_url(role: str) -> str:
    try:
        return reverse(HOME_OF.get(User.Role(role), "settings"))
    except NoReverseMatch:  # an installation without that part of the pages
        return reverse("settings")


@require_GET
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    return redirect(home_url(role_of(request)))


@login_not_required
@require_GET
@never_cache
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    user = people.user_of_link(token)
    if user is None:
        return render(request, "registration/link_over.html", status=410)
    if request.user != user:
        login(request, user, backend=BACKEND)
    return redirect("home")


@require_http_methods(["GET", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    wants_password = request.POST.get("form") == "password"
    profile = ProfileForm(
        request.POST if request.method == "POST" and not wants_password else None, instance=user
    )
    password = password_form(user, request.POST if wants_password else None)
    chosen: Any = password if wants_password else profile
    if request.method == "POST" and chosen.is_valid():
        changed = chosen.save()
        update_session_auth_hash(request, changed)
        messages.success(request, _("Your password is set.") if wants_password else _("Saved."))
        return redirect("settings")
    return render(request, "labeling/settings.html", {"profile": profile, "password": password})


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return cursor.fetchone() is not None
    except DatabaseError:
        return False


@login_not_required
@require_GET
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    """200 when pages can be served, 503 when the database does not answer. The worker is only reported."""
    database = _database_answers()
    seen = jobs.worker_seen_at()
    worker = None if seen is None else int((timezone.now() - seen).total_seconds())
    body = {"status": "ok" if database else "down", "database": database, "worker_seen_s": worker}
    return JsonResponse(body, status=200 if database else 503)


urlpatterns = [
    path("", home, name="home"),
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(next_page=django_settings.LOGOUT_REDIRECT_URL), name="sign-out"),
    path("in/<str:token>/", sign_in_link, name="sign-in-link"),
    path("settings/", settings, name="settings"),
    path("health/", health, name="health"),
]
