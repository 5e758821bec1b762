"""Strict JSON: what two databases and a JSON reader anywhere can hold, and nothing else.

Refused, each with the field it stands in: NaN and Infinity (not JSON), numbers beyond a double, a name
given twice in one object (one value would be lost silently), the character U+0000 (PostgreSQL cannot
store it) and half of a surrogate pair (no UTF-8 file can hold it).
"""

import json
import math
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.faults import BadRecord, Fault


class Refused(ValueError):
    """JSON in form, but a value that no record may have."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.message)


class _Marker(str):
    """Stands for a value that is not JSON while its field is looked up."""

    __slots__ = ()


def decode(text: str) -> Any:
    """The value of one JSON text. Raises BadRecord."""
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError) as error:
        raise BadRecord([fault_of(error, text)]) from None
    refuse_unstorable(value, text)
    return value


def decode_at(text: str, start: int) -> tuple[Any, int]:
    """The value that starts at `start`, and where it ends. Raises ValueError or RecursionError."""
    return _STRICT.raw_decode(text, start)


def end_of(text: str, start: int) -> int:
    """Where a refused value ends. Raises ValueError where it is not JSON even in form."""
    return _LENIENT.raw_decode(text, start)[1]


def bad_json(reason: str, column: int) -> Fault:
    message = _("this is not valid JSON: {reason} at character {at}.").format(reason=reason, at=column)
    cure = _("write one JSON object a line, or one JSON array of objects; look for a line that was cut off.")
    return Fault(message, cure)


def fault_of(error: Exception, text: str) -> Fault:
    """What a decoding error means to a person."""
    if isinstance(error, Refused):
        return _named(error.fault, text)
    if isinstance(error, RecursionError):
        return Fault(_("the JSON is nested too deeply."), _("look at this line: it is no record."))
    if isinstance(error, json.JSONDecodeError):
        return bad_json(error.msg, error.pos + 1)
    return Fault(_("a number is too long to be read."), _("round the number, or write it as text."))


def refuse_unstorable(value: Any, text: str) -> None:
    """Look for strings that cannot be stored; the search runs only where the text has such an escape."""
    lowered = text if "\\u" in text else ""
    if "\\u0000" not in lowered and "\\ud" not in lowered and "\\uD" not in lowered:
        return
    faults = [fault for path, string in strings(value) if (fault := _unstorable(path, string))]
    if faults:
        raise BadRecord(faults)


def strings(value: Any) -> Iterator[tuple[str, str]]:
    """Every string of a JSON value, object names too, with its path such as `label.steps[2].text`."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, dict):
            start = f"{path}." if path else ""
            for name, inner in item.items():
                yield start + name, name
                waiting.append((start + name, inner))
        elif isinstance(item, list):
            waiting.extend((f"{path}[{index}]", inner) for index, inner in enumerate(item))


def _unstorable(path: str, string: str) -> Fault | None:
    if "\x00" in string:
        cure = _("remove the character (written \\u0000) from the text.")
        return Fault(_("the text holds the character U+0000, which no database text can hold."), cure, path)
    try:
        string.encode()
    except UnicodeEncodeError:
        cure = _("write the whole character, or remove the lone \\ud800 to \\udfff escape.")
        shown = path.encode("ascii", "backslashreplace").decode()
        return Fault(_("the text holds half of a surrogate pair."), cure, shown)
    return None


def _refuse_constant(name: str) -> Any:
    message = _("{value} is not a JSON number.").format(value=name)
    raise Refused(Fault(message, _("write null where a number is not known, or leave the record out.")))


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        message = _("{value} is beyond what a number can hold.").format(value=digits[:40])
        raise Refused(Fault(message, _("write null, or a number below 1e308.")))
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    seen: set[str] = set()
    twice = next(name for name, _value in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    message = _("the name stands twice in one object.")
    raise Refused(Fault(message, _("keep one of the two values."), field=twice))


def _named(fault: Fault, text: str) -> Fault:
    """The same fault with the path of the first value that is not JSON."""
    if fault.field:
        return fault
    try:
        value = _LENIENT.raw_decode(text.lstrip("\ufeff \t\r\n"))[0]
    except (ValueError, RecursionError):
        return fault
    paths = [path for path, string in strings(value) if isinstance(string, _Marker)]
    return Fault(fault.message, fault.cure, min(paths, default=""))


def _mark_float(digits: str) -> float | _Marker:
    number = float(digits)
    return _Marker(digits) if math.isinf(number) else number


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_once)
_LENIENT = json.JSONDecoder(parse_constant=_Marker, parse_float=_mark_float)
