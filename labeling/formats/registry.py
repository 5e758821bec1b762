"""Every format by kind and name, in the order in which `auto` tries them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats import (
    gold,
    gsm8k,
    gsm8k_solutions,
    math,
    plain,
    prm800k,
    processbench,
    scored_samples,
)
from labeling.formats.faults import BadRecord, Fault
from labeling.formats.rows import Row

AUTO = "auto"
Recognise = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Format:
    """`parse` gives the rows of one record (most have one) or raises BadRecord."""

    name: str
    recognise: Recognise
    parse: Callable[[Mapping[str, Any]], list[Row]]


def _single(name: str, recognise: Recognise, parse: Callable[[Mapping[str, Any]], Row]) -> Format:
    return Format(name, recognise, lambda data: [parse(data)])


FORMATS: dict[str, tuple[Format, ...]] = {
    "problems": (
        _single("gsm8k", gsm8k.recognise, gsm8k.parse_problem),
        _single("math", math.recognise, math.parse_problem),
        _single("jsonl", plain.recognise_problem, plain.parse_problem),
    ),
    "solutions": (
        _single("prm800k", prm800k.recognise, prm800k.parse_solution),
        Format(
            "gsm8k-solutions",
            gsm8k_solutions.recognise,
            lambda data: [*gsm8k_solutions.parse_solutions(data)],
        ),
        _single("scored-samples", scored_samples.recognise, scored_samples.parse_solution),
        _single("processbench", processbench.recognise, processbench.parse_solution),
        _single("jsonl", plain.recognise_solution, plain.parse_solution),
    ),
    "labels": (_single("prm800k", prm800k.recognise, prm800k.parse_label),),
    "gold": (
        _single("processbench", processbench.recognise, processbench.parse_gold),
        _single("gold", gold.recognise, gold.parse_gold),
    ),
}


def names(kind: str) -> list[str]:
    return [AUTO, *(known.name for known in FORMATS[kind])]


def choose(kind: str, name: str, first: Mapping[str, Any]) -> Format:
    """The format called `name`, or for `auto` the one that the first record fits. Raises BadRecord."""
    if name != AUTO:
        return next(known for known in FORMATS[kind] if known.name == name)
    for known in FORMATS[kind]:
        if known.recognise(first):
            return known
    raise BadRecord([_unknown(kind, first)])


def _unknown(kind: str, first: Mapping[str, Any]) -> Fault:
    found = ", ".join(sorted(map(str, first))[:12])
    message = _("no format of {kind} has these fields: {found}.").format(kind=kind, found=found)
    elsewhere = [
        f"{other} ({known.name})"
        for other, formats in FORMATS.items()
        if other != kind
        for known in formats
        if known.recognise(first)
    ]
    if elsewhere:
        cure = _("this file can be imported as {kinds}.").format(kinds=", ".join(dict.fromkeys(elsewhere)))
    else:
        cure = _("docs/formats.md lists the fields of every format; name one with --format.")
    return Fault(message, cure)
