"""The queue under random days: whatever people, clocks and leads do, the sums and promises hold."""

import os
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from labeling.errors import LabelingError
from labeling.models import Assignment, Enrolment, Label, Problem, QueueItem, User
from labeling.queries.counts import generation_counts
from labeling.services import labels, people, problems, queue
from tests import make

PERSON = st.integers(0, 3)
CHOICE = st.integers(0, 50)


class Days(RuleBasedStateMachine):
    """Four labelers, eight solutions of four problems wanted twice, gold between them."""

    def __init__(self) -> None:
        super().__init__()
        self.frame: AbstractContextManager[Any] = transaction.atomic()
        self.frame.__enter__()
        self.project = make.project(
            overlap=2, gold_per_generation=3, gold_share=0.4, gold_window=3, gold_mark=0.5
        )
        self.lead = make.lead()
        self.people = [make.labeler(self.project) for _ in range(4)]
        sources = [make.problem(self.project) for _ in range(4)]
        for _ in range(3):
            make.gold(project=self.project, generation=None)
        picks = [queue.NewItem(make.solution(sources[n % 4]).pk, "uniform") for n in range(8)]
        queue.open_batch(self.project, 0, picks)
        self.confirmed: set[int] = set()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.frame.__exit__(None, None, None)

    def held(self, person: User) -> list[Assignment]:
        return list(Assignment.objects.filter(labeler=person).order_by("pk"))

    def send(self, person: User, pick: int, ratings: list[int], **fields: Any) -> None:
        mine = self.held(person)
        if mine:
            try:
                label = labels.submit(person, mine[pick % len(mine)].pk, make.submission(ratings, **fields))
            except LabelingError:
                return
            self.confirmed.add(label.pk)

    @rule(who=PERSON, known=st.booleans())
    def claim(self, who: int, known: bool) -> None:
        person = self.people[who]
        live = [each.pk for each in self.held(person) if each.status == "leased"]
        queue.claim_next(person, self.project, have=live if known else [])

    @rule(who=PERSON, pick=CHOICE, ratings=st.sampled_from([[1, 1, 1], [1, -1], [-1], [0, 1, -1]]))
    def submit(self, who: int, pick: int, ratings: list[int]) -> None:
        self.send(self.people[who], pick, ratings)

    @rule(who=PERSON, pick=CHOICE, finish=st.sampled_from(["give_up", "bad_problem"]))
    def refuse(self, who: int, pick: int, finish: str) -> None:
        self.send(self.people[who], pick, [], finish_reason=finish, note="why")

    @rule(who=PERSON, pick=CHOICE)
    def draft(self, who: int, pick: int) -> None:
        mine = self.held(self.people[who])
        if mine:
            chosen = mine[pick % len(mine)]
            try:
                labels.save_draft(chosen.labeler, chosen.pk, version=chosen.draft_version, draft={"r": [1]})
            except LabelingError:
                return

    @rule(who=PERSON)
    def walk_away(self, who: int) -> None:
        gone = Assignment.objects.filter(labeler=self.people[who], status="leased")
        gone.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
        queue.expire_leases()

    @rule(pick=CHOICE)
    def reopen(self, pick: int) -> None:
        rows = list(Label.objects.filter(is_current=True).order_by("pk"))
        if rows:
            label = rows[pick % len(rows)]
            assert label.labeler is not None
            try:
                labels.reopen(label.labeler, label.pk)
            except LabelingError:
                return

    @rule(who=PERSON)
    def pause(self, who: int) -> None:
        people.pause(Enrolment.objects.get(user=self.people[who]), by=self.lead, reason="test")

    @rule(who=PERSON, release=st.booleans())
    def readmit(self, who: int, release: bool) -> None:
        enrolment = Enrolment.objects.get(user=self.people[who])
        people.readmit(enrolment, by=self.lead, release_quarantine=release)

    @rule(pick=CHOICE, is_bad=st.booleans())
    def decide(self, pick: int, is_bad: bool) -> None:
        rows = list(Problem.objects.filter(status="held").order_by("pk"))
        if rows:
            problems.decide_problem(rows[pick % len(rows)], by=self.lead, is_bad=is_bad)

    @rule()
    def close(self) -> None:
        queue.close_batch(self.project, 0)

    @invariant()
    def the_sum_holds(self) -> None:
        assert generation_counts(self.project, 0).reconciles

    @invariant()
    def places_are_held_or_filled(self) -> None:
        for item in QueueItem.objects.filter(purpose="work"):
            live = item.assignments.filter(status="leased", submitted_at__isnull=True).count()
            counted = Label.objects.filter(assignment__item=item, is_current=True, is_extra=False).count()
            assert item.taken == live + counted <= item.wanted

    @invariant()
    def the_paused_hold_nothing_and_nothing_pulled_is_held(self) -> None:
        for person in self.people:
            live = Assignment.objects.filter(labeler=person, status="leased")
            if Enrolment.objects.get(user=person).status == "paused":
                assert not live.exists()
            for each in live.select_related("item__solution__problem"):
                is_reopened = each.submitted_at is not None
                assert is_reopened or each.item.state == "open"

    @invariant()
    def nothing_confirmed_is_lost(self) -> None:
        assert set(Label.objects.values_list("pk", flat=True)) == self.confirmed
        submitted = Assignment.objects.filter(submitted_at__isnull=False)
        assert Label.objects.filter(is_current=True).count() == submitted.count()
        stale = Label.objects.filter(is_current=False)
        assert not stale.exclude(assignment__labels__revision__gt=F("revision")).exists()


@pytest.mark.django_db
def test_the_queue_keeps_its_promises_on_random_days() -> None:
    run_state_machine_as_test(
        Days,
        settings=settings(
            max_examples=int(os.environ.get("STEPMARK_TEST_DAYS", "10")),
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            derandomize="STEPMARK_TEST_DAYS" not in os.environ,
        ),
    )
