"""Which kinds of background work there are, and how one ends early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from labeling.models import Job

if TYPE_CHECKING:
    from labeling.jobs.running import JobRun

Run = Callable[["JobRun"], dict[str, Any]]
Page = Callable[[Job], str]


class JobFailure(Exception):
    """A failure that a person can act on: what is wrong, and what to do about it."""

    def __init__(self, message: str, cure: str = "") -> None:
        self.message, self.cure = message, cure
        super().__init__(message)


class JobCancelled(Exception):
    """A person asked to stop, or another worker has taken the job over."""


@dataclass(frozen=True)
class Kind:
    name: str
    title: Any  # str or lazy translation
    queue: str
    run: Run
    page: Page | None


_kinds: dict[str, Kind] = {}


def register(
    name: str, *, queue: str = "default", title: Any = "", page: Page | None = None
) -> Callable[[Run], Run]:
    """Make a function the way to run jobs of this kind.

    `queue` is "default" or "gpu"; `page` gives the address of what a job works on, for a link.
    """

    def keep(run: Run) -> Run:
        _kinds[name] = Kind(name, title or name, queue, run, page)
        return run

    return keep


def kind_of(job: Job) -> Kind:
    """The registered kind of a job. Raises JobFailure when this installation does not know it."""
    if job.kind not in _kinds:
        raise JobFailure(
            _("This installation does not know the job kind “%s”.") % job.kind,
            _("Run the web process and the workers from the same version."),
        )
    return _kinds[job.kind]


def title_of(job: Job) -> str:
    """What the job is called on pages; its bare name when the kind is unknown."""
    return str(_kinds[job.kind].title) if job.kind in _kinds else job.kind


def page_of(job: Job) -> str:
    """Address of what the job works on, "" if its kind has none."""
    kind = _kinds.get(job.kind)
    return kind.page(job) if kind is not None and kind.page is not None else ""


def is_known(kind: str) -> bool:
    return kind in _kinds


def queue_of(job: Job) -> str:
    """The queue of the job's kind, "default" when this installation does not know the kind."""
    return _kinds[job.kind].queue if job.kind in _kinds else "default"


def forget(name: str) -> None:
    """Take a kind out again, for tests."""
    del _kinds[name]
