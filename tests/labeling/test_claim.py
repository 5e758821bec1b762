"""Claiming: who gets what, how many at once, and what a person is told when there is nothing."""

from datetime import timedelta

import pytest
from django.utils import timezone

from labeling.models import Assignment, Enrolment, QueueItem
from labeling.services import labels, queue
from tests import make

pytestmark = pytest.mark.django_db


def test_the_first_claim_gives_the_first_item_in_line() -> None:
    project = make.project()
    first, _second = make.item(project=project), make.item(project=project)
    claim = queue.claim_next(make.labeler(project), project)
    assert claim.state == "work"
    assert claim.assignment is not None
    assert claim.assignment.item == first
    first.refresh_from_db()
    assert first.taken == 1


def test_asking_again_gives_the_same_lease_and_have_gives_the_next() -> None:
    project = make.project()
    for _ in range(3):
        make.item(project=project)
    person = make.labeler(project)
    first = queue.claim_next(person, project).assignment
    assert first is not None
    assert queue.claim_next(person, project).assignment == first
    second = queue.claim_next(person, project, have=[first.pk]).assignment
    assert second is not None
    assert second != first
    assert queue.claim_next(person, project, have=[first.pk, second.pk]).state == "hold"
    assert Assignment.objects.filter(labeler=person).count() == 2


def test_two_people_never_share_the_one_place_of_an_item() -> None:
    project = make.project()
    make.item(project=project)
    one, two = make.labeler(project), make.labeler(project)
    assert queue.claim_next(one, project).state == "work"
    claim = queue.claim_next(two, project)
    assert claim.state == "wait"
    assert claim.detail["in_progress"] == 1
    assert claim.detail["earliest_free_at"] is not None


def test_overlap_gives_a_solution_to_as_many_people_as_wanted() -> None:
    project = make.project()
    make.item(project=project, wanted=2)
    people = [make.labeler(project) for _ in range(3)]
    assert [queue.claim_next(person, project).state for person in people] == ["work", "work", "wait"]


def test_done_comes_when_nothing_is_left_for_this_person() -> None:
    project = make.project()
    person = make.labeler(project)
    make.label(make.item(project=project, wanted=2), labeler=person)
    assert queue.claim_next(person, project).state == "done"


def test_a_text_seen_before_is_not_served_again_from_another_pool() -> None:
    project = make.project()
    problem, person = make.problem(project), make.labeler(project)
    steps = ["One and the same.", "Text."]
    make.label(make.item(make.solution(problem, steps=steps)), labeler=person, ratings=[1, 1])
    make.item(make.solution(problem, steps=["One  and the same.", "Text."]))
    assert queue.claim_next(person, project).state == "done"
    assert queue.claim_next(make.labeler(project), project).state == "work"


def test_an_expired_lease_returns_to_the_queue_and_may_come_back_to_the_same_person() -> None:
    project = make.project()
    item, person = make.item(project=project), make.labeler(project)
    lease = queue.claim_next(person, project).assignment
    assert lease is not None
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1), draft={"ratings": [1]})
    assert queue.expire_leases() == 1
    item.refresh_from_db()
    assert item.taken == 0
    again = queue.claim_next(person, project).assignment
    assert again == lease
    assert again.draft == {"ratings": [1]}
    item.refresh_from_db()
    assert item.taken == 1


def test_an_expired_lease_goes_to_the_next_who_asks_without_any_clock_tick() -> None:
    project = make.project()
    make.item(project=project)
    queue.claim_next(make.labeler(project), project)
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert queue.claim_next(make.labeler(project), project).state == "work"


def test_asking_extends_everything_that_the_person_holds() -> None:
    project = make.project()
    make.item(project=project)
    person = make.labeler(project)
    queue.claim_next(person, project)
    nearly = timezone.now() + timedelta(seconds=20)
    Assignment.objects.update(lease_expires_at=nearly)
    lease = queue.claim_next(person, project).assignment
    assert lease is not None
    lease.refresh_from_db()
    assert lease.lease_expires_at > nearly + timedelta(minutes=5)


@pytest.mark.parametrize("status", ["held", "bad"])
def test_a_reported_problem_is_never_served(status: str) -> None:
    project = make.project()
    make.item(make.solution(make.problem(project, status=status)))
    assert queue.claim_next(make.labeler(project), project).state == "done"


@pytest.mark.parametrize("status", [Enrolment.Status.PAUSED, Enrolment.Status.FAILED])
def test_who_is_not_active_gets_the_reason_and_no_work(status: Enrolment.Status) -> None:
    project = make.project()
    make.item(project=project)
    person = make.user()
    make.enrolment(project, person, status=status, status_reason="3 of 10")
    claim = queue.claim_next(person, project)
    assert (claim.state, claim.detail["reason"]) == (status, "3 of 10")


def test_new_guidelines_are_accepted_before_work_goes_on() -> None:
    project = make.project()
    make.item(project=project)
    person = make.labeler(project)
    project.guideline_version += 1
    project.save()
    assert queue.claim_next(person, project).state == "guidelines"


def test_a_closed_batch_gives_its_leases_back_and_serves_no_more() -> None:
    project = make.project(gold_per_generation=0)
    picks = [queue.NewItem(make.solution(project=project).pk, "uniform", 0.5) for _ in range(3)]
    items = queue.open_batch(project, 0, picks)
    assert [item.solution_id for item in items] == [pick.solution_id for pick in picks]
    person = make.labeler(project)
    lease = queue.claim_next(person, project).assignment
    assert lease is not None
    assert queue.close_batch(project, 0) == 1
    assert queue.claim_next(person, project).state == "done"
    late = labels.submit(person, lease.pk, make.submission())
    assert late.is_extra
    assert not QueueItem.objects.filter(taken__gt=0).exists()


def test_opening_a_batch_twice_adds_nothing() -> None:
    project = make.project(gold_per_generation=1)
    make.gold(project=project, generation=None)
    picks = [queue.NewItem(make.solution(project=project).pk, "uniform") for _ in range(3)]
    assert queue.open_batch(project, 0, picks) == queue.open_batch(project, 0, picks)
    assert QueueItem.objects.filter(project=project).count() == 4


def test_a_batch_brings_the_gold_of_its_generation_first() -> None:
    project = make.project(gold_per_generation=2)
    anytime, _other = make.gold(project=project, generation=None), make.gold(project=project, generation=4)
    own = make.gold(project=project, generation=3)
    queue.open_batch(project, 3, [])
    queued = QueueItem.objects.filter(purpose=QueueItem.Purpose.GOLD).order_by("position")
    assert [item.solution_id for item in queued] == [own.solution_id, anytime.solution_id]
