"""Screening: gold questions first, graded when all are answered, and nothing past its end."""

import pytest

from labeling.models import Assignment, Enrolment, Label, Project, QualityCheck, User
from labeling.services import labels, queue
from labeling.services.standing import screening_progress
from tests import make

pytestmark = pytest.mark.django_db


def start(questions: int, *, gold: int | None = None, **fields: float) -> tuple[Project, Enrolment]:
    project = make.project(screening_questions=questions, **fields)
    for _ in range(gold if gold is not None else questions):
        make.gold_item(project, screening=True, first_error=1)
    make.item(project=project)
    person = make.user()
    enrolment = queue.enrol(person, project)
    Enrolment.objects.update(accepted_guidelines=project.guideline_version)
    return project, enrolment


def answer(user: User, project: Project, *, right: bool) -> Label:
    assignment = queue.claim_next(user, project).assignment
    assert assignment is not None
    return labels.submit(user, assignment.pk, make.submission([1, -1] if right else [1, 1, 1]))


def test_who_answers_enough_is_let_in() -> None:
    project, enrolment = start(4)
    for right in (True, True, True, False):
        assert answer(enrolment.user, project, right=right).purpose == "screening"
    enrolment.refresh_from_db()
    assert enrolment.status == "active"
    assert enrolment.admitted_at is not None
    claim = queue.claim_next(enrolment.user, project)
    assert claim.assignment is not None
    assert claim.assignment.item.purpose == "work"


def test_who_answers_too_few_fails_with_the_reason() -> None:
    project, enrolment = start(4)
    for right in (True, True, False, False):
        answer(enrolment.user, project, right=right)
    enrolment.refresh_from_db()
    assert enrolment.status == "failed"
    assert enrolment.status_reason == "2 of 4 screening questions agreed (50%); 75% is needed."
    assert queue.claim_next(enrolment.user, project).state == "failed"


def test_a_person_gets_as_many_questions_as_the_project_asks_for() -> None:
    project, enrolment = start(3, gold=8)
    for _ in range(3):
        answer(enrolment.user, project, right=True)
    enrolment.refresh_from_db()
    assert enrolment.status == "active"
    assert QualityCheck.objects.filter(purpose="screening").count() == 3


def test_the_order_is_each_persons_own_and_always_the_same() -> None:
    project, enrolment = start(6, gold=6)
    orders = []
    for person in (enrolment.user, make.labeler(project, status="screening")):
        order = []
        for _ in range(6):
            label = answer(person, project, right=True)
            order.append(label.solution_id)
        orders.append(order)
    assert sorted(map(str, orders[0])) == sorted(map(str, orders[1]))
    assert orders[0] != orders[1]


def test_prefetching_never_goes_past_the_end_of_screening() -> None:
    project, enrolment = start(2)
    user = enrolment.user
    first = queue.claim_next(user, project).assignment
    assert first is not None
    second = queue.claim_next(user, project, have=[first.pk]).assignment
    assert second is not None
    labels.submit(user, first.pk, make.submission([1, -1]))
    assert queue.claim_next(user, project, have=[second.pk]).state == "hold"
    assert not Assignment.objects.filter(item__purpose="work").exists()
    labels.submit(user, second.pk, make.submission([1, -1]))
    assert queue.claim_next(user, project).state == "work"


@pytest.mark.parametrize("finish", ["give_up", "bad_problem"])
def test_giving_up_on_a_screening_question_is_an_answer_that_is_not_right(finish: str) -> None:
    project, enrolment = start(1)
    assignment = queue.claim_next(enrolment.user, project).assignment
    assert assignment is not None
    labels.submit(
        enrolment.user, assignment.pk, make.submission([], finish_reason=finish, note="cannot tell")
    )
    enrolment.refresh_from_db()
    assert enrolment.status == "failed"
    assert not QualityCheck.objects.get().agrees


def test_without_any_questions_nobody_is_let_in_by_accident() -> None:
    project, enrolment = start(2, gold=0)
    assert queue.claim_next(enrolment.user, project).state == "wait"
    enrolment.refresh_from_db()
    assert enrolment.status == "screening"


def test_a_project_without_screening_starts_with_work() -> None:
    project, enrolment = start(0)
    assert enrolment.status == "active"
    assert queue.claim_next(enrolment.user, project).state == "work"


def test_fewer_questions_asked_for_later_end_a_screening_under_way() -> None:
    project, enrolment = start(4)
    answer(enrolment.user, project, right=True)
    project.screening_questions = 1
    project.save()
    assert queue.claim_next(enrolment.user, project).state == "screening_over"
    assert queue.claim_next(enrolment.user, project).state == "work"


def test_screening_is_queued_once_for_every_active_gold() -> None:
    project = make.project()
    gold = [make.gold(project=project, generation=-1) for _ in range(3)]
    make.gold(project=project, generation=-1, is_active=False)
    make.gold(project=project, generation=0)
    items = queue.open_screening(project)
    assert queue.open_screening(project) == items
    assert [item.solution_id for item in items] == [each.solution_id for each in gold]


def test_a_retired_question_is_not_asked() -> None:
    project, enrolment = start(2)
    gold = make.gold(project=project, generation=-1, is_active=False)
    make.item(gold.solution, generation=-1, purpose="screening")
    assert screening_progress(enrolment).total == 2
