"""Rows with labels per step, in three shapes besides PRM800K. Imports nothing heavy.

TRL's stepwise supervision: `{"prompt", "completions": [...], "labels": [true, 0.75, null]}`; a row with any
float has soft labels, a probability of good each. With targets: `{"problem", "steps", "targets": [0.75, [0.2,
0.1, 0.7], null]}`, a probability of good or a mass over (-1, 0, +1) per step; `weight_from` and `weight` as
in `LabeledSolution`. Math-Shepherd: `{"input", "label"}`, two strings that differ where the tag stands
for "+" or "-". A float is never made an integer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from models_prm.errors import DataError
from models_prm.records import LabeledSolution, Mass, problem_key, rows_from_prm800k

MATH_SHEPHERD_TAG = "\u043a\u0438"


def rows_of(record: Mapping[str, Any]) -> list[LabeledSolution]:
    """Training rows of one line, whatever its shape. Raises DataError naming the field."""
    if "completions" in record and "labels" in record:
        return rows_from_trl(record)
    if "targets" in record:
        return [rows_with_targets(record)]
    if isinstance(record.get("input"), str) and isinstance(record.get("label"), str):
        return rows_from_math_shepherd(record)
    if "is_correct" in record and "question" not in record:
        raise DataError("a graded solution has no labels of steps: train on it with kind orm")
    return rows_from_prm800k(record)


def rows_from_trl(record: Mapping[str, Any]) -> list[LabeledSolution]:
    """The row of one line of TRL's stepwise supervision; none where no step has a label.

    Labels true / false (or 1 / 0) are ratings +1 / -1; where one of them is a float, all are probabilities.
    """
    problem, labels = record.get("prompt"), record["labels"]
    if not isinstance(problem, str):
        raise DataError("prompt must be a text (chat messages are not read: render them first)")
    steps = _texts(record, "completions")
    if not isinstance(labels, list) or len(labels) != len(steps):
        raise DataError(f"labels must be a list with one entry for each of the {len(steps)} completions")
    for index, label in enumerate(labels):
        if label is not None and (not isinstance(label, bool | int | float) or not 0 <= label <= 1):
            raise DataError(f"labels[{index}] is {label!r}: true, false, a number from 0 to 1, or null")
    row = LabeledSolution(problem, tuple(steps), (None,) * len(steps), problem_key(problem))
    if any(isinstance(label, float) for label in labels):
        row = replace(row, targets=tuple(None if label is None else _of(float(label)) for label in labels))
    else:
        row = replace(row, ratings=tuple(None if label is None else (1 if label else -1) for label in labels))
    return [row] if row.counted else []


def rows_from_math_shepherd(record: Mapping[str, Any]) -> list[LabeledSolution]:
    """The row of one Math-Shepherd line: problem and steps in one string, "Step 1:" beginning the first step.

    Raises DataError where the two strings do not match, or nothing says where the problem ends.
    """
    text, label = record["input"], record["label"]
    *parts, rest = text.split(MATH_SHEPHERD_TAG)
    ratings: list[int] = []
    at = 0
    for number, part in enumerate(parts, 1):
        end = at + len(part)
        if label[at:end] != part or label[end : end + 1] not in ("+", "-"):
            raise DataError(f"label does not follow input with + or - for tag {number}")
        ratings.append(1 if label[end] == "+" else -1)
        at = end + 1
    if not parts or label[at:] != rest or rest.strip():
        raise DataError("input must end with the tag of its last step, and label where input ends")
    begin = parts[0].rfind("Step 1:")
    if begin < 0:
        raise DataError('input has no "Step 1:" where the solution begins')
    problem = parts[0][:begin].strip()
    steps = (parts[0][begin:].strip(), *(part.strip() for part in parts[1:]))
    return [LabeledSolution(problem, steps, tuple(ratings), problem_key(problem))]


def rows_with_targets(record: Mapping[str, Any]) -> LabeledSolution:
    """The row of one line with soft targets. Raises DataError naming the field."""
    problem, targets = record.get("problem"), record["targets"]
    if not isinstance(problem, str):
        raise DataError("problem must be a text")
    steps = _texts(record, "steps")
    if not isinstance(targets, list) or len(targets) != len(steps):
        raise DataError(f"targets must be a list with one entry for each of the {len(steps)} steps")
    first, weight = record.get("weight_from", 0), record.get("weight", 1.0)
    if isinstance(first, bool) or not isinstance(first, int) or not 0 <= first <= len(steps):
        raise DataError(f"weight_from {first!r} is no index of steps")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise DataError(f"weight {weight!r} must be a number")
    answer = record.get("answer")
    return LabeledSolution(
        problem,
        tuple(steps),
        (None,) * len(steps),
        problem_key(problem),
        answer if isinstance(answer, str) else None,
        weight_from=first,
        targets=tuple(_target(value, index) for index, value in enumerate(targets)),
        weight=float(weight),
    )


def _texts(record: Mapping[str, Any], name: str) -> list[str]:
    steps = record.get(name)
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise DataError(f"{name} must be a list of texts")
    return steps


def _of(good: float) -> Mass:
    return (1.0 - good, 0.0, good)


def _target(value: Any, index: int) -> Mass | None:
    if value is None:
        return None
    numbers = value if isinstance(value, list) else [value]
    if any(isinstance(n, bool) or not isinstance(n, int | float) for n in numbers):
        raise DataError(f"targets[{index}] is {value!r}: a number from 0 to 1, three numbers, or null")
    if isinstance(value, list):
        if len(value) != 3:
            raise DataError(f"targets[{index}] needs three numbers, for -1, 0 and +1")
        return (float(value[0]), float(value[1]), float(value[2]))
    if not 0 <= value <= 1:
        raise DataError(f"targets[{index}] is {value!r}: a probability is from 0 to 1")
    return _of(float(value))


def repeats_labels(record: Mapping[str, Any]) -> bool:
    """Whether equal labels after equal steps in this kind of line are one judgement written twice.

    Labels from final answers are not: two solutions that begin alike are two samples with a verdict each.
    """
    return "completions" in record and not str(record.get("source", "")).startswith("final_answer")


class Repeats:
    """Drops labels that an earlier row of the same file has given already.

    Rows of TRL's shape repeat the shared prefix with its labels for every alternative: its converter of
    PRM800K shows a good step 28 times on average. The same label after the same steps is counted once;
    another label is another judgement and stays.
    """

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def fresh(self, row: LabeledSolution) -> LabeledSolution | None:
        """The row with only its new labels; None where there is no new one."""
        path = hashlib.blake2b(row.problem.encode("utf-8", "surrogatepass"), digest_size=16)
        ratings, targets = list(row.ratings), list(row.targets or ())
        for index, step in enumerate(row.steps):
            path.update(b"\0" + step.encode("utf-8", "surrogatepass"))
            label = targets[index] if targets else ratings[index]
            key = path.digest() + repr(label).encode()
            if label is not None and key in self._seen:
                if targets:
                    targets[index] = None
                else:
                    ratings[index] = None
            self._seen.add(key)
        kept = replace(
            row, ratings=tuple(ratings), targets=tuple(targets) if row.targets is not None else None
        )
        return kept if kept.counted else None
