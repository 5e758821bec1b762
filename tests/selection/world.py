"""A little world for the bridge's tests: sums, some with a slip, and people who see every slip."""

import random
from collections.abc import Iterable
from pathlib import Path

from django.utils import timezone

from labeling.models import Label, Pool, Project, Solution
from labeling.records import build_question, build_record, first_error, record_hash
from selection.models import ModelVersion, Score, ScoreSet
from tests import make

SMOKE = "smoke"


def pool(
    project: Project, *, problems: int = 6, samples: int = 5, name: str = "sums", split: str = "train"
) -> Pool:
    """A pool of sums. Every second sample slips at its second step; its answer is wrong then."""
    made = Pool.objects.create(project=project, name=name, generator="tests")
    rng = random.Random(f"{name}:{problems}")
    for _ in range(problems):
        a, b, c = (rng.randrange(2, 90) for _ in range(3))
        text = f"Work out ${a} + {b} + {c}$ (case {rng.randrange(10**6)})."
        problem = make.problem(project, text=text, ground_truth_answer=str(a + b + c), split=split)
        for sample in range(samples):
            off = sample % 2
            total = a + b + c + off * (1 + sample)
            steps = [
                f"First I add ${a} + {b} = {a + b}$.",
                f"Then ${a + b} + {c} = {total}$, try {sample}.",
                f"# Answer\n\n{total}",
            ]
            make.solution(
                problem,
                steps=steps,
                pool=made,
                sample_index=sample,
                answer=str(total),
                grade=Solution.Grade.WRONG if off else Solution.Grade.RIGHT,
            )
    return made


def ratings_of(solution: Solution) -> list[int]:
    """What a careful person says."""
    return [1, -1] if solution.grade == Solution.Grade.WRONG else [1, 1, 1]


def label(solution: Solution, **fields: object) -> Label:
    """A native-looking label written straight to its table."""
    ratings, problem = ratings_of(solution), solution.problem
    record = build_record(
        labeler="someone",
        at=timezone.now(),
        generation=0,
        is_gold=False,
        is_screening=False,
        question=build_question(
            problem=problem.text,
            solution=None,
            answer=problem.ground_truth_answer,
            steps=solution.steps,
            given_answer=solution.answer,
            verifier_score=None,
        ),
        ratings=ratings,
        total_time_ms=1000,
        finish_reason="found_error" if first_error(ratings) is not None else "solution",
    )
    values: dict[str, object] = {
        "project": problem.project,
        "problem": problem,
        "solution": solution,
        "record": record,
        "record_hash": record_hash(record),
        "finish_reason": record["label"]["finish_reason"],
        "generation": 0,
        "submitted_at": timezone.now(),
    }
    return Label.objects.create(**(values | fields))


def label_all(solutions: Iterable[Solution]) -> list[Label]:
    return [label(solution) for solution in solutions]


def model(project: Project, name: str = "prm-x", *, status: str = "ready", path: str = "") -> ModelVersion:
    """A registered model without files."""
    return ModelVersion.objects.create(project=project, name=name, status=status, path=path)


def scores(pool: Pool, version: ModelVersion, *, complete: bool = True) -> ScoreSet:
    """Made-up scores: each solution's is its identifier as a share."""
    made = ScoreSet.objects.create(pool=pool, model=version, is_complete=complete)
    rows = list(Solution.objects.filter(pool=pool).order_by("pk"))
    Score.objects.bulk_create(
        Score(
            score_set=made,
            solution=row,
            value=(index + 1) / (len(rows) + 1),
            step_probs=[[0.1, 0.1, 0.8]] * len(row.steps),
        )
        for index, row in enumerate(rows)
    )
    ScoreSet.objects.filter(pk=made.pk).update(n_scored=len(rows))
    made.refresh_from_db()
    return made


def folder_names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())
