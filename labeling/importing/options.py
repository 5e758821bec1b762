"""What a person may choose when a file is imported."""

from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

KIND_TITLES = {
    "problems": _("Problems"),
    "solutions": _("Solutions of a pool"),
    "labels": _("Labels (PRM800K lines)"),
    "gold": _("Gold questions"),
}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """`pool` is needed for solutions. `split` None leaves problems that are here as they are.

    `generation` of gold: -1 is screening, n that generation only, None any from 0 on. `repeats` lets a
    pool hold equal records as separate samples instead of refusing them as a slip.
    """

    format: str = "auto"
    dataset: str = ""
    split: str | None = None
    pool: str = ""
    generation: int | None = None
    repeats: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
