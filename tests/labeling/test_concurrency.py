"""Eight labelers at once, each in a thread with a connection of its own: nothing is given twice or lost."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from labeling.api import retried
from labeling.models import Assignment, Label, Project, QueueItem, User
from labeling.queries.counts import generation_counts
from labeling.services import labels, queue
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 8


def together(work: Callable[[User], None], people: list[User]) -> None:
    """Run `work` for every person in a thread, started at the same moment; a failure fails the test."""
    barrier = threading.Barrier(len(people))

    def one(person: User) -> None:
        try:
            barrier.wait(timeout=30)
            work(person)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        for done in [pool.submit(one, person) for person in people]:
            done.result(timeout=120)


def finish(person: User, project: Project) -> None:
    """Claim and submit until there is nothing left, as the page does: one on screen, one prefetched."""
    while True:
        claim = retried(queue.claim_next, person, project)
        if claim.assignment is None:
            if claim.state == "wait":
                time.sleep(0.02)
                continue
            assert claim.state == "done"
            return
        held = claim.assignment
        retried(queue.claim_next, person, project, have=[held.pk])
        bad = held.pk % 3 == 0
        sent = make.submission([1, -1] if bad else [1, 1, 1])
        retried(labels.submit, person, held.pk, sent)


@pytest.mark.parametrize(("items", "overlap"), [(100, 1), (20, 3)])
def test_eight_labelers_share_a_batch_without_a_double_or_a_loss(items: int, overlap: int) -> None:
    project = make.project(overlap=overlap, gold_per_generation=4, gold_mark=0, gold_share=0.2)
    for _ in range(4):
        make.gold(project=project, first_error=None)
    picks = [queue.NewItem(make.solution(project=project).pk, "uniform") for _ in range(items)]
    queue.open_batch(project, 0, picks)
    people = [make.labeler(project) for _ in range(WORKERS)]
    together(lambda person: finish(person, project), people)
    judged = Counter(Label.objects.filter(purpose="work").values_list("solution_id", flat=True))
    assert judged == dict.fromkeys([pick.solution_id for pick in picks], overlap)
    pairs = Counter(Label.objects.values_list("solution_id", "labeler_id"))
    assert max(pairs.values()) == 1
    found = generation_counts(project, 0)
    assert found.reconciles
    assert (found.labels, found.waiting, found.in_progress, found.extras) == (items * overlap, 0, 0, 0)
    assert not QueueItem.objects.filter(purpose="work").exclude(taken=overlap).exists()


def test_one_place_asked_for_by_eight_goes_to_one() -> None:
    project = make.project()
    make.item(project=project)
    people = [make.labeler(project) for _ in range(WORKERS)]
    states: list[str] = []
    together(lambda person: states.append(retried(queue.claim_next, person, project).state), people)
    assert Counter(states) == {"work": 1, "wait": WORKERS - 1}
    assert Assignment.objects.count() == 1


def test_a_double_click_writes_one_label() -> None:
    held = make.assignment(make.item(project=make.project()))
    sent = make.submission([1, 1, 1])
    results: list[int] = []
    together(
        lambda person: results.append(retried(labels.submit, person, held.pk, sent).pk),
        [held.labeler] * 4,
    )
    assert len(results) == 4
    assert set(results) == set(Label.objects.values_list("pk", flat=True))
    assert len(set(results)) == 1


def test_two_tabs_of_one_person_never_hold_more_than_two() -> None:
    project = make.project()
    for _ in range(10):
        make.item(project=project)
    person = make.labeler(project)

    def greedy(user: User) -> None:
        mine: list[int] = []
        for _ in range(5):
            claim = retried(queue.claim_next, user, project, have=mine)
            if claim.assignment is not None:
                mine.append(claim.assignment.pk)

    together(greedy, [person] * 4)
    assert Assignment.objects.count() == 2


def test_expiry_and_late_submits_race_without_overfilling() -> None:
    project = make.project()
    items = [make.item(project=project) for _ in range(10)]
    people = [make.labeler(project) for _ in range(WORKERS)]

    def hurried(person: User) -> None:
        for _ in range(6):
            held = retried(queue.claim_next, person, project).assignment
            if held is None:
                continue
            Assignment.objects.filter(pk=held.pk, status="leased").update(lease_expires_at=held.claimed_at)
            retried(queue.expire_leases)
            sent = make.submission([1, 1, 1])
            retried(labels.submit, person, held.pk, sent)

    together(hurried, people)
    found = generation_counts(project, 0)
    assert found.reconciles
    for item in items:
        counted = Label.objects.filter(assignment__item=item, is_extra=False).count()
        item.refresh_from_db()
        assert counted == item.taken <= item.wanted


def test_closing_and_reporting_while_people_work_leaves_no_live_lease_behind() -> None:
    project = make.project(gold_per_generation=0)
    problem = make.problem(project)
    for n in range(30):
        make.item(make.solution(problem if n % 3 == 0 else None, project=project))
    people = [make.labeler(project) for _ in range(WORKERS)]

    def day(person: User) -> None:
        for turn in range(6):
            if turn == 3 and person == people[0]:
                retried(queue.close_batch, project, 0)
            held = retried(queue.claim_next, person, project).assignment
            if held is None:
                continue
            bad = held.solution.problem_id == problem.pk
            why = {"finish_reason": "bad_problem", "note": "why"} if bad else {}
            retried(labels.submit, person, held.pk, make.submission([] if bad else [1, 1, 1], **why))
            retried(queue.claim_next, person, project)
            retried(queue.expire_leases)

    together(day, people)
    found = generation_counts(project, 0)
    assert found.reconciles
    assert (found.in_progress, found.waiting, found.held) == (0, 0, 0)
    problem.refresh_from_db()
    assert problem.status == "held"
