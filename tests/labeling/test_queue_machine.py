"""The queue under random days: whatever people, clocks and leads do, the sums and promises hold."""

import os
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from labeling.errors import LabelingError
from labeling.models import Assignment, Enrolment, Label, Problem, QueueItem
from labeling.queries.counts import generation_counts
from labeling.services import labels, people, problems, queue
from tests import make

PERSON = st.integers(0, 2)
CHOICE = st.integers(0, 20)
RATINGS = st.sampled_from([[1, 1, 1], [1, -1], [-1], [0, 1, -1]])
# Each path from the start is walked this far; a round closes late, for little happens after it.
STEPS, CLOSES_AFTER = 30, 22


class Days(RuleBasedStateMachine):
    """Three labelers, six solutions of two problems wanted twice, gold between them."""

    def __init__(self) -> None:
        super().__init__()
        self.frame: AbstractContextManager[Any] = transaction.atomic()
        self.frame.__enter__()
        self.project = make.project(
            overlap=2, gold_per_generation=3, gold_share=0.3, gold_window=3, gold_mark=0.3
        )
        self.lead = make.lead()
        self.people = [make.labeler(self.project) for _ in range(3)]
        sources = [make.problem(self.project) for _ in range(2)]
        for _ in range(3):
            make.gold(project=self.project, generation=None)
        picks = [queue.NewItem(make.solution(sources[n % 2]).pk, "uniform") for n in range(6)]
        queue.open_batch(self.project, 0, picks)
        self.confirmed: set[int] = set()
        self.steps = 0

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.frame.__exit__(None, None, None)

    def send(self, held: Assignment, ratings: list[int], **fields: Any) -> None:
        try:
            label = labels.submit(held.labeler, held.pk, make.submission(ratings, **fields))
        except LabelingError:
            return
        self.confirmed.add(label.pk)

    def ask(self, who: int) -> Assignment | None:
        return queue.claim_next(self.people[who], self.project).assignment

    @rule(who=PERSON, known=st.booleans())
    def claim(self, who: int, known: bool) -> None:
        live = Assignment.objects.filter(labeler=self.people[who], status="leased")
        have = list(live.values_list("pk", flat=True)) if known else []
        queue.claim_next(self.people[who], self.project, have=have)

    @rule(who=PERSON, ratings=st.one_of(st.just([]), RATINGS))
    def work(self, who: int, ratings: list[int]) -> None:
        held = self.ask(who)
        if held is not None:
            self.send(held, ratings, **({} if ratings else {"finish_reason": "give_up", "note": "why"}))

    @rule(who=PERSON)
    def report(self, who: int) -> None:
        held = self.ask(who)
        if held is not None:
            self.send(held, [], finish_reason="bad_problem", note="why")

    @rule(who=PERSON, pick=CHOICE, ratings=RATINGS, draft=st.booleans())
    def come_back_late(self, who: int, pick: int, ratings: list[int], draft: bool) -> None:
        ended = Assignment.objects.filter(labeler=self.people[who], status__in=["expired", "released"])
        rows = list(ended.order_by("pk"))
        if rows:
            held = rows[pick % len(rows)]
            if draft:
                labels.save_draft(held.labeler, held.pk, version=held.draft_version, draft={"r": [1]})
            else:
                self.send(held, ratings)

    @rule(who=PERSON)
    def walk_away(self, who: int) -> None:
        gone = Assignment.objects.filter(labeler=self.people[who], status="leased")
        gone.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
        queue.expire_leases()

    @rule(who=PERSON, pick=CHOICE, again=st.one_of(st.none(), RATINGS))
    def reopen(self, who: int, pick: int, again: list[int] | None) -> None:
        rows = list(Label.objects.filter(is_current=True, labeler=self.people[who]).order_by("pk"))
        if rows:
            try:
                held = labels.reopen(self.people[who], rows[pick % len(rows)].pk)
            except LabelingError:
                return
            if again is not None:
                self.send(held, again)

    @rule(who=PERSON, release=st.booleans())
    def pause_or_readmit(self, who: int, release: bool) -> None:
        enrolment = Enrolment.objects.get(user=self.people[who])
        if enrolment.status == "active":
            people.pause(enrolment, by=self.lead, reason="test")
        else:
            people.readmit(enrolment, by=self.lead, release_quarantine=release)

    @rule(is_bad=st.booleans())
    def decide(self, is_bad: bool) -> None:
        held = Problem.objects.filter(status="held").order_by("pk").first()
        if held is not None:
            problems.decide_problem(held, by=self.lead, is_bad=is_bad)

    @precondition(lambda self: self.steps > CLOSES_AFTER)
    @rule()
    def close(self) -> None:
        queue.close_batch(self.project, 0)

    @invariant()
    def the_sum_holds(self) -> None:
        self.steps += 1
        assert generation_counts(self.project, 0).reconciles

    @invariant()
    def places_are_held_or_filled(self) -> None:
        held = Q(assignments__status="leased", assignments__submitted_at__isnull=True)
        filled = Q(assignments__labels__is_current=True, assignments__labels__is_extra=False)
        rows = QueueItem.objects.filter(purpose="work").annotate(
            live=Count("assignments", filter=held, distinct=True),
            counted=Count("assignments__labels", filter=filled, distinct=True),
        )
        for item in rows:
            assert item.taken == item.live + item.counted <= item.wanted

    @invariant()
    def the_paused_hold_nothing_and_nothing_pulled_is_held(self) -> None:
        live = Assignment.objects.filter(status="leased")
        assert not live.filter(labeler__enrolments__status="paused").exists()
        # A label taken back for correction is the one thing that a person may hold of a pulled problem.
        assert not live.filter(submitted_at__isnull=True).exclude(item__state="open").exists()

    @invariant()
    def nothing_confirmed_is_lost(self) -> None:
        assert set(Label.objects.values_list("pk", flat=True)) == self.confirmed
        submitted = Assignment.objects.filter(submitted_at__isnull=False)
        current = Label.objects.filter(is_current=True)
        assert set(current.values_list("assignment_id", flat=True)) == set(
            submitted.values_list("pk", flat=True)
        )
        assert not submitted.filter(status__in=["expired", "released"]).exists()


@pytest.mark.django_db
def test_the_queue_keeps_its_promises_on_random_days() -> None:
    run_state_machine_as_test(
        Days,
        settings=settings(
            max_examples=int(os.environ.get("STEPMARK_TEST_DAYS", "8")),
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
            derandomize="STEPMARK_TEST_DAYS" not in os.environ,
        ),
    )
