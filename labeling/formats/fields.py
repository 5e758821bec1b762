"""Reads the fields of one record, gathering every fault instead of stopping at the first."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.faults import BadRecord, Fault

_MISSING = object()
KINDS: dict[type, str] = {
    str: "text",
    bool: "true/false",
    int: "whole number",
    float: "number",
    list: "list",
    dict: "object",
    type(None): "null",
}


class Fields:
    """The fields of `data`; `path` is where it stands in the record, such as `question.`.

    Each reader returns a usable value of its type even where the field is bad, and notes the fault;
    `done()` raises all of them as one BadRecord.
    """

    def __init__(self, data: Mapping[str, Any], path: str = "", faults: list[Fault] | None = None) -> None:
        self.data = data
        self.path = path
        self.faults = [] if faults is None else faults

    def done(self) -> None:
        if self.faults:
            raise BadRecord(self.faults)

    def fault(self, field: str, message: str, cure: str) -> None:
        self.faults.append(Fault(message, cure, self.path + field))

    def text(self, field: str) -> str:
        """A text that is not blank."""
        value = self._typed(field, str)
        if isinstance(value, str) and not value.strip():
            self.fault(field, _("the text is empty."), _("write the text, or leave the record out."))
        return value if isinstance(value, str) else ""

    def optional_text(self, field: str, limit: int | None = None) -> str | None:
        """A text or None. A blank text is None. `limit` is what the column can hold."""
        value = self._typed(field, str, optional=True)
        if not isinstance(value, str) or not value.strip():
            return None
        if limit and len(value) > limit:
            message = _("the text has {n} characters; at most {limit} fit.").format(n=len(value), limit=limit)
            self.fault(field, message, _("shorten it."))
        return value

    def word(self, field: str, limit: int) -> str:
        """A short optional text; a number is taken as its digits. "" where it is missing."""
        value = self.data.get(field)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.optional_text(field, limit) or ""

    def answer(self, field: str) -> str | None:
        """A final answer: a text, or a number as it is written. None where it is missing or blank."""
        value = self.data.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return self.optional_text(field)

    def boolean(self, field: str, *, optional: bool = False) -> bool | None:
        value = self._typed(field, bool, optional=optional)
        return value if isinstance(value, bool) else None

    def integer(self, field: str, *, optional: bool = False) -> int | None:
        value = self._typed(field, int, optional=optional)
        return value if isinstance(value, int) else None

    def number(self, field: str) -> float | None:
        """A finite number or None."""
        value = self.data.get(field)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        self._wrong_kind(field, value, _("number or null"))
        return None

    def inner(self, field: str) -> "Fields":
        value = self._typed(field, dict)
        found = value if isinstance(value, dict) else {}
        # The fields of an object that is not there would only repeat the same fault.
        faults = self.faults if isinstance(value, dict) else []
        return Fields(found, f"{self.path}{field}.", faults)

    def items(self, field: str, *, optional: bool = False) -> list[Any]:
        value = self._typed(field, list, optional=optional)
        return value if isinstance(value, list) else []

    def steps(self, field: str) -> tuple[str, ...]:
        """A list of at least one step, none of them blank."""
        value = self._typed(field, list)
        if not isinstance(value, list):
            return ()
        if not value:
            self.fault(field, _("there is no step."), _("give at least one step."))
        for index, step in enumerate(value):
            if not isinstance(step, str) or not step.strip():
                cure = _("every step is a text that is not empty: remove it or write it.")
                self.fault(f"{field}[{index}]", _("this step is no text or is empty."), cure)
        return tuple(step if isinstance(step, str) else "" for step in value)

    def _typed(self, field: str, kind: type, *, optional: bool = False) -> object:
        value = self.data.get(field, _MISSING)
        if optional and value in (_MISSING, None):
            return None
        if value is _MISSING:
            cure = _("add it, or choose another format.")
            self.fault(field, _("the field is missing."), cure)
            return None
        # bool is an int to Python, but true is no number to a person.
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        self._wrong_kind(field, value, KINDS[kind])
        return None

    def _wrong_kind(self, field: str, value: object, wanted: str) -> None:
        found = KINDS.get(type(value), type(value).__name__)
        message = _("this is {found}, not {wanted}.").format(found=found, wanted=wanted)
        self.fault(field, message, _("write a {wanted} here.").format(wanted=wanted))
