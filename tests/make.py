"""Plain makers of rows for tests: each gives one saved object and makes what it needs around it.

project = make.project()
item = make.item(make.solution(project=project))
label = make.label(item, ratings=[1, 1, -1])
"""

import itertools
import uuid
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from labeling.models import Assignment, Enrolment, Gold, Label, Problem, Project, QueueItem, Solution, User
from labeling.records import first_error, steps_hash, text_hash
from labeling.services import labels, leases
from labeling.services.labels import Submission

_numbers = itertools.count(1)
STEPS = ["We have $2 + 3 = 5$.", "Doubling gives $10$.", "# Answer\n\n10"]


def project(**fields: Any) -> Project:
    n = next(_numbers)
    return Project.objects.create(**{"name": f"Project {n}", "slug": f"project-{n}", **fields})


def user(role: str = User.Role.LABELER, **fields: Any) -> User:
    return User.objects.create(**{"username": f"person{next(_numbers)}", "role": role, **fields})


def lead(**fields: Any) -> User:
    return user(User.Role.LEAD, **fields)


def researcher(**fields: Any) -> User:
    return user(User.Role.RESEARCHER, **fields)


def enrolment(
    project: Project, person: User | None = None, *, status: str = Enrolment.Status.ACTIVE, **fields: Any
) -> Enrolment:
    """A person's standing, guidelines accepted."""
    values = {
        "status": status,
        "accepted_guidelines": project.guideline_version,
        "admitted_at": timezone.now() if status == Enrolment.Status.ACTIVE else None,
        **fields,
    }
    return Enrolment.objects.create(project=project, user=person or user(), **values)


def labeler(project: Project | None = None, *, status: str = Enrolment.Status.ACTIVE, **fields: Any) -> User:
    """A labeler; in `project`, where one is given, with that standing and the guidelines accepted."""
    person = user(User.Role.LABELER, **fields)
    if project is not None:
        enrolment(project, person, status=status)
    return person


def problem(project: Project | None = None, **fields: Any) -> Problem:
    text = fields.pop("text", f"What is $2 \\cdot (2 + {next(_numbers)})$?")
    values = {"ground_truth_answer": "10", **fields}
    where = project if project is not None else globals()["project"]()
    return Problem.objects.create(project=where, text=text, text_hash=text_hash(text), **values)


def solution(
    of: Problem | None = None,
    *,
    project: Project | None = None,
    steps: Sequence[str] | None = None,
    **fields: Any,
) -> Solution:
    """A solution of three steps; its text is unlike any other unless `steps` are given."""
    words = list(steps) if steps is not None else [f"Attempt {next(_numbers)}. {STEPS[0]}", *STEPS[1:]]
    values = {"answer": "10", "grade": Solution.Grade.RIGHT, **fields}
    return Solution.objects.create(
        problem=of or problem(project), steps=words, text_hash=steps_hash(words), **values
    )


def gold(
    of: Solution | None = None,
    *,
    project: Project | None = None,
    first_error: int | None = 1,
    generation: int | None = 0,
    **fields: Any,
) -> Gold:
    """Gold for a solution: +1 or 0 accepted before the first error (from 0; None: no error)."""
    of = of or solution(project=project)
    reach = len(of.steps) if first_error is None else first_error
    accepted = [[1, 0]] * reach + ([[-1]] if first_error is not None else [])
    return Gold.objects.create(
        solution=of, generation=generation, **{"accepted": accepted, "first_error": first_error, **fields}
    )


def item(
    of: Solution | None = None,
    *,
    project: Project | None = None,
    generation: int = 0,
    purpose: str = QueueItem.Purpose.WORK,
    **fields: Any,
) -> QueueItem:
    of = of or solution(project=project)
    values = {"position": next(_numbers), **fields}
    return QueueItem.objects.create(
        project=of.problem.project, solution=of, generation=generation, purpose=purpose, **values
    )


def gold_item(project: Project, *, screening: bool = False, **fields: Any) -> QueueItem:
    """A gold question with its gold, queued."""
    generation = -1 if screening else fields.pop("generation", 0)
    made = gold(project=project, generation=generation, **fields)
    purpose = QueueItem.Purpose.SCREENING if screening else QueueItem.Purpose.GOLD
    return item(made.solution, generation=generation, purpose=purpose)


def assignment(item: QueueItem, person: User | None = None, **fields: Any) -> Assignment:
    """A live lease on the item, its place taken."""
    assert leases.take_place(item), "the item has no free place"
    now = timezone.now()
    values = {"claimed_at": now, "lease_expires_at": leases.lease_end(item.project, now), **fields}
    return Assignment.objects.create(
        item=item,
        project=item.project,
        solution=item.solution,
        labeler=person or labeler(item.project),
        **values,
    )


def submission(ratings: Sequence[int | None] = (1, 1, 1), **fields: Any) -> Submission:
    """What a page sends; the finish reason follows from the ratings unless given."""
    found = first_error(ratings) is not None
    values = {
        "idempotency_key": uuid.uuid4().hex,
        "finish_reason": Label.FinishReason.FOUND_ERROR if found else Label.FinishReason.SOLUTION,
        "answer_confirmed": True,
        **fields,
    }
    return Submission(ratings=list(ratings), **values)


def label(
    on: QueueItem | None = None,
    *,
    labeler: User | None = None,
    project: Project | None = None,
    ratings: Sequence[int | None] = (1, 1, 1),
    **fields: Any,
) -> Label:
    """A label submitted the real way, by an active labeler."""
    held = assignment(on or item(project=project), labeler)
    return labels.submit(held.labeler, held.pk, submission(ratings, **fields))
