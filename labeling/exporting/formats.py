"""What one label becomes in each format. Pure: a label in, lines out.

The policy of every format stands in `POLICY` and goes into the manifest, so that nobody has to guess
what a null, a neutral step or a step beyond the first error became.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.formats.prm800k import in_order, path
from labeling.models import Label, Solution

Line = dict[str, Any]
TAG = "ки"
"""Math-Shepherd's mark for the end of a step (two Cyrillic letters)."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One line of labels.jsonl and the line of the same number of side.jsonl."""

    line: Line
    side: Line


@dataclass(frozen=True, slots=True)
class _Walk:
    """Steps with a good / bad target; `kind` is "path" or "alternative", `step` the last step's number."""

    steps: tuple[str, ...]
    targets: tuple[bool, ...]
    kind: str
    step: int


def prm800k(label: Label) -> Iterator[Exported]:
    yield Exported(in_order(label.record), side_of(label))


def trl(label: Label) -> Iterator[Exported]:
    prompt = label.record["question"]["problem"]
    for walk in walks(label.record):
        line = {"prompt": prompt, "completions": list(walk.steps), "labels": list(walk.targets)}
        yield Exported(line, _row_side(label, walk))


def math_shepherd(label: Label) -> Iterator[Exported]:
    problem = label.record["question"]["problem"]
    for walk in walks(label.record):
        marks = ["+" if good else "-" for good in walk.targets]
        line = {
            "input": _tagged(problem, walk.steps, [TAG] * len(marks)),
            "label": _tagged(problem, walk.steps, marks),
            "task": label.problem.dataset or label.project.name,
        }
        yield Exported(line, _row_side(label, walk))


def processbench(label: Label) -> Iterator[Exported]:
    """Only judgements that say where the first error is: found_error, or solution with none."""
    steps = label.record["question"].get("pre_generated_steps") or path(label.record)
    known = label.first_error is not None or label.finish_reason == Label.FinishReason.SOLUTION
    if not steps or not known:
        return
    solution = label.solution
    right = {Solution.Grade.RIGHT.value: True, Solution.Grade.WRONG.value: False}
    line = {
        "id": f"{label.project.slug}-{label.pk}",
        "generator": (solution.generator or (solution.pool.generator if solution.pool else ""))
        if solution
        else "",
        "problem": label.record["question"]["problem"],
        "steps": list(steps),
        "final_answer_correct": right.get(solution.grade) if solution else None,
        "label": -1 if label.first_error is None else label.first_error,
    }
    yield Exported(line, side_of(label))


def walks(record: Mapping[str, Any]) -> Iterator[_Walk]:
    """The alternatives of each step with the path before them, then the path itself.

    The path ends with its first -1, before an unrated step, and where nothing was chosen. A step that a
    labeler wrote counts as good: it was written as the right way on. Alternatives without a rating are
    left out.
    """
    steps: list[str] = []
    targets: list[bool] = []
    for number, step in enumerate(record["label"]["steps"]):
        completions = step["completions"] or []
        chosen, written = step.get("chosen_completion"), step.get("human_completion")
        main = (
            completions[chosen]
            if chosen is not None
            else written or (completions[0] if completions else None)
        )
        for completion in completions:
            if completion is not main and completion["rating"] is not None:
                yield _Walk(
                    (*steps, completion["text"]), (*targets, completion["rating"] >= 0), "alternative", number
                )
        if main is None or (main is not written and main["rating"] is None):
            break
        steps.append(main["text"])
        targets.append(main is written or main["rating"] >= 0)
        if not targets[-1] or (chosen is None and written is None):
            break
    if steps:
        yield _Walk(tuple(steps), tuple(targets), "path", len(steps) - 1)


def side_of(label: Label) -> Line:
    """What is known of a label beyond its line."""
    source = label.source
    return {
        "label": label.pk,
        "record_hash": label.record_hash,
        "origin": "stepmark" if label.assignment_id else "file",
        "purpose": label.purpose,
        "revision": label.revision,
        "is_extra": label.is_extra,
        "step_reasons": label.step_reasons,
        "note": label.note,
        "key_disputed": label.key_disputed,
        "guideline_version": label.guideline_version,
        "pick_cause": label.pick_cause,
        "quarantined_at": label.quarantined_at.isoformat() if label.quarantined_at else None,
        "quarantine_reason": label.quarantine_reason,
        "active_time_ms": label.active_time_ms,
        "source": {"name": source.name, "sha256": source.sha256, "line": label.source_line}
        if source
        else None,
        "splitter": _splitter(label),
        "side": label.side,
    }


def _row_side(label: Label, walk: _Walk) -> Line:
    return {
        "label": label.pk,
        "record_hash": label.record_hash,
        "row": walk.kind,
        "last_step": walk.step,
        "splitter": _splitter(label),
    }


def _splitter(label: Label) -> str | None:
    """What cut the solution into these steps; null where only the judgement is known."""
    return label.solution.splitter if label.solution else None


def _tagged(problem: str, steps: tuple[str, ...], tags: list[str]) -> str:
    lines = [f"Step {n}: {step} {tag}" for n, (step, tag) in enumerate(zip(steps, tags, strict=True), 1)]
    return problem + " " + "\n".join(lines)


_ROWS = {
    "labels": "usable ones: current, of ordinary work, not quarantined, no extras, finished with a judgement",
    "rows": "one for the path that was judged, and one for every rated alternative with the path before it",
    "0 (okay)": "counts as good",
    "null rating": "left out: a path ends before its first unrated step",
    "first -1": "included; nothing beyond it",
    "step written by a labeler": "counts as good",
}
POLICY: dict[str, dict[str, str]] = {
    "prm800k": {
        "labels": "every current one; side.jsonl says which are gold, screening, extra or quarantined",
        "null rating": "the labeler did not rate it (gave up, or did not get so far)",
        "null flagged": "as in PRM800K phase 2: the main completion carries no flag; null is not true",
        "null chosen_completion": "the path ends at this step",
        "null labeler or timestamp": "not known to the file the line came from",
    },
    "trl": _ROWS,
    "math-shepherd": _ROWS | {"tag": TAG},
    "processbench": {
        "labels": _ROWS["labels"] + ", that say where the first error is",
        "label": "number of the first step rated -1, from 0; -1: none",
        "final_answer_correct": "the answer grader's verdict; null: it cannot tell",
        "0 (okay)": "no error",
    },
}
WRITERS: dict[str, Callable[[Label], Iterator[Exported]]] = {
    "prm800k": prm800k,
    "trl": trl,
    "math-shepherd": math_shepherd,
    "processbench": processbench,
}
ONLY_USABLE = frozenset(WRITERS) - {"prm800k"}
