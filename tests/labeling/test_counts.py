"""One definition of every count, and they always add up."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from labeling.models import Assignment, Enrolment, Label, Problem
from labeling.queries import counts
from labeling.queries import people as people_queries
from labeling.queries.labels import recent_labels, usable_labels
from labeling.records import record_hash
from labeling.services import labels, people, queue
from tests import make

pytestmark = pytest.mark.django_db


def test_a_generation_adds_up_in_every_state() -> None:
    project = make.project(overlap=1)
    held, bad = make.problem(project, status="held"), make.problem(project)
    make.item(make.solution(held), state="held", wanted=2)
    make.item(make.solution(bad), state="closed")
    two = make.item(project=project, wanted=2)
    make.label(two, ratings=[1, -1])
    make.label(project=project, ratings=[1, 1, 1])
    make.label(project=project, ratings=[], finish_reason="give_up", note="why")
    make.label(project=project, ratings=[], finish_reason="bad_problem", note="why")
    make.assignment(make.item(project=project))
    make.item(project=project)
    make.item(project=project, generation=1)
    make.label(make.gold_item(project), ratings=[1, -1])
    found = counts.generation_counts(project, 0)
    assert found == counts.GenerationCounts(
        items=8,
        wanted=10,
        labels=2,
        give_ups=1,
        bad_problems=1,
        in_progress=1,
        waiting=2,
        held=2,
        closed=1,
        extras=0,
        quarantined=0,
    )
    assert found.reconciles
    assert found.settled == 4


def test_extras_quarantine_and_corrections_do_not_upset_the_sum() -> None:
    project = make.project()
    item = make.item(project=project)
    late = make.assignment(item)
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    queue.expire_leases()
    counted = make.label(item)
    labels.submit(late.labeler, late.pk, make.submission())
    assert counted.labeler is not None
    again = labels.reopen(counted.labeler, counted.pk)
    assert counts.generation_counts(project, 0).reconciles
    labels.submit(counted.labeler, again.pk, make.submission([1, -1]))
    people.pause(Enrolment.objects.get(user=counted.labeler), by=None, reason="test")
    found = counts.generation_counts(project, 0)
    assert found.reconciles
    assert (found.labels, found.extras, found.quarantined) == (1, 1, 1)


def imported(project: Any, **fields: Any) -> Label:
    problem: Problem = make.problem(project)
    record = {"n": problem.pk}
    return Label.objects.create(
        project=project, problem=problem, record=record, record_hash=record_hash(record), **fields
    )


def test_imported_labels_are_data_but_belong_to_no_round_of_ours() -> None:
    project = make.project()
    make.label(project=project)
    imported(project, generation=0, finish_reason="solution")
    imported(project, generation=None, finish_reason="give_up")
    imported(project, generation=None, finish_reason="")
    found = counts.project_counts(project)
    assert (found.labels, found.imported, found.generations[0].labels) == (1, 3, 1)
    assert usable_labels(project).count() == 3
    assert usable_labels(project, generation=0).count() == 2


def test_usable_labels_leave_out_what_is_no_judgement() -> None:
    project = make.project()
    good = make.label(project=project, ratings=[1, -1])
    make.label(project=project, ratings=[], finish_reason="give_up", note="why")
    revised = make.label(project=project)
    assert revised.labeler is not None
    again = labels.reopen(revised.labeler, revised.pk)
    new = labels.submit(revised.labeler, again.pk, make.submission([1, -1]))
    assert list(usable_labels(project)) == [good, new]


def test_a_project_counts_people_by_standing() -> None:
    project = make.project()
    make.labeler(project)
    make.labeler(project, status="failed")
    found = counts.project_counts(project)
    assert found.people == {"screening": 0, "active": 1, "failed": 1, "paused": 0}
    assert found.generations == {}


# --- People -----------------------------------------------------------------------------------
def test_a_row_tells_what_a_lead_asks_about_a_labeler() -> None:
    project = make.project(screening_questions=1, gold_window=2, gold_mark=0)
    person = make.labeler(project, status="screening")
    make.label(make.gold_item(project, screening=True), labeler=person, ratings=[1, -1])
    for ratings in ([1, -1], [1, 1, 1], [1, -1]):
        make.label(make.gold_item(project), labeler=person, ratings=ratings)
    make.label(project=project, labeler=person, ratings=[1, 0, 1])
    make.label(project=project, labeler=person, ratings=[], finish_reason="give_up", note="why")
    Label.objects.filter(purpose="work").update(active_time_ms=1_800_000)
    Label.objects.exclude(purpose="work").update(active_time_ms=0)
    (row,) = people_queries.labeler_rows(project)
    assert (row.screening_right, row.screening_total) == (1, 1)
    assert (row.gold_right, row.gold_total, row.window_right, row.window_total) == (2, 3, 1, 2)
    assert row.gold_low < 2 / 3 < row.gold_high
    assert (row.labels, row.give_ups, row.bad_problems) == (1, 1, 0)
    assert (row.steps, row.active_hours, row.steps_per_hour) == (12, 1.0, 12.0)
    assert row.gold_accuracy == pytest.approx(2 / 3)


def test_a_readmission_starts_the_window_anew() -> None:
    project = make.project(gold_window=5, gold_mark=0.7)
    person = make.labeler(project)
    for _ in range(5):
        make.label(make.gold_item(project), labeler=person, ratings=[1, 1, 1])
    people.readmit(Enrolment.objects.get(), by=make.lead(), release_quarantine=True)
    (row,) = people_queries.labeler_rows(project)
    assert (row.gold_right, row.gold_total, row.window_total) == (0, 5, 0)


def test_the_rows_cost_three_queries_however_many_people(django_assert_num_queries: Any) -> None:
    project = make.project()
    for _ in range(6):
        make.label(project=project)
        make.label(make.gold_item(project), ratings=[1, -1])
    with django_assert_num_queries(3):
        rows = people_queries.labeler_rows(project)
        assert sum(row.labels for row in rows) == 6
        assert [row.user.username for row in rows] == sorted(row.user.username for row in rows)


def test_a_labelers_page_shows_checks_labels_and_what_was_done() -> None:
    project = make.project()
    label = make.label(make.gold_item(project), ratings=[1, -1])
    assert label.labeler is not None
    people.pause(Enrolment.objects.get(), by=make.lead(), reason="asked to stop")
    detail = people_queries.labeler_detail(Enrolment.objects.get())
    assert detail.row.gold_total == 1
    assert [check.agrees for check in detail.checks] == [True]
    assert list(detail.labels) == [label]
    assert "labeler.paused" in [entry.action for entry in detail.history]


def test_recent_labels_are_the_persons_own_and_current() -> None:
    project = make.project()
    first = make.label(project=project)
    assert first.labeler is not None
    second = make.label(project=project, labeler=first.labeler)
    make.label(project=project)
    assert list(recent_labels(first.labeler, project)) == [second, first]
