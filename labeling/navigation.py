"""The entries of the top bar, by role."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Entry = tuple[str, str | Promise]

LABELER: list[Entry] = [
    ("label", _("Label")),
    ("my-work", _("My work")),
    ("guidelines", _("Guidelines")),
]
STAFF: list[Entry] = [
    ("research", _("Overview")),
    ("generations", _("Generations")),
    ("pools", _("Pools")),
    ("models", _("Models")),
    ("lead", _("Labelers")),
    ("lead-problems", _("Problems")),
    ("files", _("Files")),
    ("jobs", _("Jobs")),
    ("audit", _("Log")),
    ("projects", _("Projects")),
    ("guidelines", _("Guidelines")),
]
BY_ROLE: dict[str, list[Entry]] = {"labeler": LABELER, "lead": STAFF, "researcher": STAFF}


@dataclass(frozen=True)
class NavLink:
    url: str
    title: str | Promise
    is_current: bool


def _addresses(entries: list[Entry]) -> Iterator[tuple[str, str | Promise]]:
    for name, title in entries:
        try:
            yield reverse(name), title
        except NoReverseMatch:  # an installation without that part of the pages
            continue


def links(role: str, path: str) -> list[NavLink]:
    """The links of one role; the one with the longest address that `path` begins with is current."""
    found = list(_addresses(BY_ROLE.get(role, [])))
    current = max((url for url, _title in found if path.startswith(url)), key=len, default="")
    return [NavLink(url, title, url == current) for url, title in found]
