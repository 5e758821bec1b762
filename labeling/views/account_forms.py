"""The forms of a person's own account."""

import zoneinfo
from typing import Any, ClassVar

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.utils.translation import gettext_lazy as _

from labeling.models import User


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": _("This name and password do not belong together. Both are case-sensitive."),
        "inactive": _("This account is switched off. Ask the person who invited you."),
    }


def _zones() -> list[tuple[str, Any]]:
    names = sorted(name for name in zoneinfo.available_timezones() if "/" in name or name == "UTC")
    return [("", _("As in the browser")), *((name, name.replace("_", " ")) for name in names)]


class ProfileForm(forms.ModelForm[User]):
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=_zones,
        required=False,
        help_text=_("Times and the start of “today” follow it."),
    )

    class Meta:
        model = User
        fields = ("first_name", "last_name", "email", "time_zone")
        help_texts: ClassVar = {"email": _("Only your lead sees it. It never leaves this server.")}


def password_form(user: User, data: Any = None) -> "PasswordChangeForm | SetPasswordForm[User]":
    """Someone who came by link and has no password yet is not asked for the old one."""
    form = PasswordChangeForm(user, data) if user.has_usable_password() else SetPasswordForm(user, data)
    for field in form.fields.values():  # it stands below another form: the page must not jump to it
        field.widget.attrs.pop("autofocus", None)
    return form
