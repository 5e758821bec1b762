"""What is wrong with a file, and where: one fault names the line, the field, what is wrong and the cure."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

MAX_FAULTS = 20
"""So many bad records are named before reading stops."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a file. `line` counts from 1; `record` (from 1) is set in JSON arrays only."""

    message: str
    cure: str
    field: str = ""
    line: int | None = None
    record: int | None = None

    def at(self, line: int, record: int | None = None) -> "Fault":
        return replace(self, line=line, record=record)

    @property
    def place(self) -> str:
        parts = []
        if self.line is not None:
            parts.append(_("line {line}").format(line=self.line))
        if self.record is not None:
            parts.append(_("record {record}").format(record=self.record))
        if self.field:
            parts.append(_("field {field}").format(field=self.field))
        return ", ".join(parts)

    def __str__(self) -> str:
        start = f"{self.place}: " if self.place else ""
        return f"{start}{self.message} " + _("Cure: {cure}").format(cure=self.cure)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class BadRecord(Exception):
    """A record that cannot be taken; its faults name the fields."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = list(faults)
        super().__init__("; ".join(str(fault) for fault in self.faults))

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)
