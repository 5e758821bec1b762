"""From tables to the picking rule's plain candidates."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from labeling.models import Gold, Label, Pool, Problem, Project, QueueItem, Solution
from labeling.records import steps_hash
from selection.models import Score, ScoreSet
from selection.picking import Candidate


def candidates(pool: Pool, score_set: ScoreSet | None) -> Iterator[Candidate]:
    """Every finished solution of the pool whose problem is in use, streamed.

    A text counts as labeled if any copy of it in the project is judged, waits in the queue or is gold; an
    item that its generation's end left unjudged is free again.
    """
    values = dict(_scores(score_set)) if score_set is not None else {}
    taken = taken_texts(pool.project)
    rows = (
        finished(pool).order_by("id").values_list("id", "problem_id", "grade", "text_hash", "problem__split")
    )
    for key, problem, grade, text, split in rows.iterator(chunk_size=5000):
        yield Candidate(key, problem, grade, values.get(key), text, (problem, text) in taken, split)


def finished(pool: Pool) -> Any:
    """Solutions that a person can judge and a rule may choose. One that was cut off by its token limit is not
    a solution, however convincing its beginning is (openai/prm800k issue 8)."""
    # A key that is absent is NULL to both databases, which no comparison lets through.
    whole = Q(extra__finish__isnull=True) | ~Q(extra__finish="length")
    return Solution.objects.filter(whole, pool=pool, problem__status=Problem.Status.OK)


def _scores(score_set: ScoreSet) -> Iterator[tuple[int, float | None]]:
    rows = Score.objects.filter(score_set=score_set).values_list("solution_id", "value")
    yield from rows.iterator(chunk_size=5000)


def taken_texts(project: Project) -> set[tuple[int, str]]:
    """(problem, text) of everything that needs no more judging, whichever pool it came from."""
    key = ("solution__problem_id", "solution__text_hash")
    taken: set[Any] = set()
    queued = QueueItem.objects.filter(project=project).exclude(state=QueueItem.State.CLOSED)
    taken.update(queued.values_list(*key))
    taken.update(Label.objects.filter(project=project, solution__isnull=False).values_list(*key))
    taken.update(Gold.objects.filter(solution__problem__project=project).values_list(*key))
    taken.update(_imported(project))
    return taken


def _imported(project: Project) -> Iterator[tuple[int, str]]:
    """Imported labels that belong to no solution of ours, known by the steps in their record."""
    rows = Label.objects.filter(project=project, solution__isnull=True).values_list("problem_id", "record")
    for problem, record in rows.iterator(chunk_size=500):
        steps = record.get("question", {}).get("pre_generated_steps")
        if isinstance(steps, list) and all(isinstance(step, str) for step in steps):
            yield problem, steps_hash(steps)
