"""Freezing what an outcome reward model learns from: graded solutions of the project's pools, no labels.

The problems that label snapshots hold out are held out here too, so that a process and an outcome model of
one project are measured on the same problems.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from labeling.jobs import JobFailure
from labeling.models import Problem, Project, Solution
from models_prm.records import problem_key
from selection.models import TrainingSnapshot
from selection.snapshots import choose_held_out, refused_problems

TRAIN, HELD_OUT = "outcomes.jsonl", "outcomes_held_out.jsonl"
VERDICTS = {Solution.Grade.RIGHT: True, Solution.Grade.WRONG: False}
CHUNK = 500


def check(project: Project) -> None:
    """Raises JobFailure with the cure unless right and wrong solutions are there to tell apart."""
    found = set(graded(project).values_list("grade", flat=True).distinct())
    if missing := [grade for grade in VERDICTS if grade not in found]:
        names = ", ".join(str(Solution.Grade(grade).label) for grade in missing)
        raise JobFailure(
            _("An outcome reward model needs right and wrong solutions; there is none of: %s.") % names,
            _("Import a pool of samples with their problems' answers, or sample one: sample_solutions."),
        )


def freeze(project: Project, folder: Path) -> tuple[Path, Path | None]:
    """Training file and held-out file (None where no problem is held out), written once.

    Raises JobFailure when there is nothing to learn from.
    """
    train, held_out = folder / TRAIN, folder / HELD_OUT
    if not train.exists():
        check(project)
        refused, closed = refused_problems(project), _held_out_keys(project)
        _write(project, held_out, lambda key: key in closed and key not in refused)
        _write(project, train, lambda key: key not in closed and key not in refused)
    return train, held_out if held_out.stat().st_size else None


def graded(project: Project) -> Any:
    """Solutions with a verdict on their answer, of problems that may be trained on."""
    return Solution.objects.filter(
        pool__project=project, grade__in=list(VERDICTS), problem__status=Problem.Status.OK
    ).exclude(problem__split=Problem.Split.TEST)


def _held_out_keys(project: Project) -> frozenset[str]:
    texts = dict(Problem.objects.filter(solutions__in=graded(project)).values_list("pk", "text"))
    keys = {pk: problem_key(text) for pk, text in texts.items()}
    before: set[int] = set()
    for ids in TrainingSnapshot.objects.filter(project=project).values_list("held_out", flat=True):
        before.update(ids)
    return frozenset(keys[pk] for pk in choose_held_out(keys, before))


def _write(project: Project, path: Path, wanted: Any) -> None:
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps(line, ensure_ascii=False) + "\n"
            for line in _lines(project)
            if wanted(problem_key(line["problem"]))
        )
    part.replace(path)


def _lines(project: Project) -> Iterator[dict[str, Any]]:
    ids = list(graded(project).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        rows = Solution.objects.filter(pk__in=ids[start : start + CHUNK]).order_by("pk")
        for problem, answer, steps, grade in rows.values_list(
            "problem__text", "problem__ground_truth_answer", "steps", "grade"
        ):
            yield {
                "problem": problem,
                "ground_truth_answer": answer,
                "steps": steps,
                "is_correct": VERDICTS[Solution.Grade(grade)],
            }
