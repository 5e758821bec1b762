"""Submitting: one judgement, written once, in the shape of PRM800K; late ones are kept."""

from datetime import timedelta

import pytest
from django.utils import timezone

from labeling.errors import AlreadySubmitted, BadSubmission, NotAllowedNow, NotYours, StaleDraft
from labeling.models import Assignment, AuditEntry, Label, Solution
from labeling.records import record_hash
from labeling.services import labels, queue
from labeling.services.labels import AnswerUnconfirmed
from tests import make

pytestmark = pytest.mark.django_db


def expire(assignment: Assignment) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=past)
    assert queue.expire_leases() == 1


def test_a_label_is_the_prm800k_line_with_columns_to_count_by() -> None:
    project = make.project()
    problem = make.problem(project, ground_truth_solution="the way")
    solution = make.solution(problem, answer="9")
    item = make.item(solution, generation=3, pick_cause="convincing_wrong", verifier_score=0.25)
    label = make.label(item, ratings=[1, -1], step_reasons={"1": "wrong rule"}, note="hm")
    assert label.labeler is not None
    assert label.record["labeler"] == label.labeler.public_id
    assert label.record["generation"] == 3
    assert label.record["question"] == {
        "problem": problem.text,
        "ground_truth_solution": "the way",
        "ground_truth_answer": "10",
        "pre_generated_steps": solution.steps,
        "pre_generated_answer": "9",
        "pre_generated_verifier_score": 0.25,
    }
    assert [step["completions"][0]["rating"] for step in label.record["label"]["steps"]] == [1, -1]
    assert label.record_hash == record_hash(label.record)
    assert (label.n_good, label.n_neutral, label.n_bad, label.n_unrated, label.first_error) == (1, 0, 1, 0, 1)
    assert (label.finish_reason, label.pick_cause) == ("found_error", "convincing_wrong")
    assert label.guideline_version == project.guideline_version
    assert label.step_reasons == {"1": "wrong rule"}


@pytest.mark.parametrize(("screening", "flags"), [(False, (True, False)), (True, (False, True))])
def test_gold_and_screening_are_marked_in_the_line(screening: bool, flags: tuple[bool, bool]) -> None:
    project = make.project()
    item = make.gold_item(project, screening=screening)
    person = make.labeler(project, status="screening" if screening else "active")
    record = make.label(item, labeler=person, ratings=[1, -1]).record
    assert (record["is_quality_control_question"], record["is_initial_screening_question"]) == flags


def test_the_same_key_gives_the_same_label() -> None:
    held = make.assignment(make.item(project=make.project()))
    sent = make.submission([1, 1, 1])
    first = labels.submit(held.labeler, held.pk, sent)
    assert labels.submit(held.labeler, held.pk, sent) == first
    with pytest.raises(AlreadySubmitted):
        labels.submit(held.labeler, held.pk, make.submission([1, 1, 1]))
    assert Label.objects.count() == 1


def test_a_key_belongs_to_one_solution() -> None:
    project = make.project()
    person, sent = make.labeler(project), make.submission([1, 1, 1])
    one, two = (
        make.assignment(make.item(project=project), person),
        make.assignment(make.item(project=project), person),
    )
    labels.submit(person, one.pk, sent)
    with pytest.raises(BadSubmission, match="another solution"):
        labels.submit(person, two.pk, sent)


def test_only_the_holder_may_submit_draft_or_reopen() -> None:
    project = make.project()
    held, stranger = make.assignment(make.item(project=project)), make.labeler(project)
    with pytest.raises(NotYours):
        labels.submit(stranger, held.pk, make.submission())
    with pytest.raises(NotYours):
        labels.save_draft(stranger, held.pk, version=0, draft={})
    with pytest.raises(NotYours):
        labels.reopen(stranger, make.label(project=project).pk)


def test_times_never_exceed_the_wall_and_active_never_the_total() -> None:
    project = make.project()
    held = make.assignment(make.item(project=project))
    Assignment.objects.update(claimed_at=timezone.now() - timedelta(seconds=10))
    sent = make.submission(total_time_ms=99_000_000, active_time_ms=98_000_000)
    label = labels.submit(held.labeler, held.pk, sent)
    assert label.total_time_ms is not None
    assert 9_000 <= label.total_time_ms <= 11_000
    assert label.active_time_ms == label.total_time_ms
    assert label.record["label"]["total_time"] == label.total_time_ms


@pytest.mark.parametrize("grade", Solution.Grade.values)
def test_only_a_wrong_answer_asks_for_confirmation(grade: str) -> None:
    held = make.assignment(make.item(make.solution(project=make.project(), grade=grade)))
    sent = make.submission([1, 1, 1], answer_confirmed=False)
    if grade == Solution.Grade.WRONG:
        with pytest.raises(AnswerUnconfirmed):
            labels.submit(held.labeler, held.pk, sent)
        assert not Label.objects.exists()
    else:
        labels.submit(held.labeler, held.pk, sent)


# --- Late ones --------------------------------------------------------------------------------
def test_a_late_submit_counts_where_its_place_is_still_free() -> None:
    item = make.item(project=make.project())
    held = make.assignment(item)
    expire(held)
    label = labels.submit(held.labeler, held.pk, make.submission())
    item.refresh_from_db()
    assert (label.is_extra, item.taken) == (False, 1)


def test_a_late_submit_is_an_extra_once_its_place_has_gone_to_someone_else() -> None:
    project = make.project()
    item = make.item(project=project)
    held = make.assignment(item)
    expire(held)
    other = make.assignment(item)
    late = labels.submit(held.labeler, held.pk, make.submission())
    counted = labels.submit(other.labeler, other.pk, make.submission())
    item.refresh_from_db()
    assert (late.is_extra, counted.is_extra, item.taken) == (True, False, 1)


def test_a_lease_that_ran_out_but_was_not_swept_still_counts() -> None:
    held = make.assignment(make.item(project=make.project()))
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(hours=1))
    assert not labels.submit(held.labeler, held.pk, make.submission()).is_extra


# --- Drafts -----------------------------------------------------------------------------------
def test_a_draft_is_kept_with_a_version_and_extends_the_lease() -> None:
    held = make.assignment(make.item(project=make.project()))
    soon = timezone.now() + timedelta(seconds=5)
    Assignment.objects.update(lease_expires_at=soon)
    saved = labels.save_draft(held.labeler, held.pk, version=0, draft={"ratings": [1]})
    held.refresh_from_db()
    assert (saved.draft_version, held.draft_version, held.draft) == (1, 1, {"ratings": [1]})
    assert held.lease_expires_at > soon + timedelta(minutes=5)
    with pytest.raises(StaleDraft) as stale:
        labels.save_draft(held.labeler, held.pk, version=0, draft={"ratings": [-1]})
    assert stale.value.extra == {"draft": {"ratings": [1]}, "version": 1}


def test_a_draft_never_touches_a_submitted_label() -> None:
    label = make.label(project=make.project())
    assert label.assignment is not None
    assert label.labeler is not None
    with pytest.raises(AlreadySubmitted):
        labels.save_draft(label.labeler, label.assignment.pk, version=0, draft={"ratings": [-1]})
    label.refresh_from_db()
    assert label.n_bad == 0


def test_a_draft_takes_an_expired_lease_up_again_where_the_place_is_free() -> None:
    item = make.item(project=make.project())
    held = make.assignment(item)
    expire(held)
    labels.save_draft(held.labeler, held.pk, version=0, draft={"ratings": [1]})
    held.refresh_from_db()
    item.refresh_from_db()
    assert (held.status, item.taken) == ("leased", 1)


def test_a_draft_is_kept_even_when_the_place_has_gone() -> None:
    project = make.project()
    item = make.item(project=project)
    held = make.assignment(item)
    expire(held)
    make.assignment(item)
    labels.save_draft(held.labeler, held.pk, version=0, draft={"ratings": [1]})
    held.refresh_from_db()
    item.refresh_from_db()
    assert (held.status, held.draft, item.taken) == ("expired", {"ratings": [1]}, 1)


def test_a_draft_has_a_limit() -> None:
    held = make.assignment(make.item(project=make.project()))
    with pytest.raises(BadSubmission, match="64 KiB"):
        labels.save_draft(held.labeler, held.pk, version=0, draft={"note": "x" * 70_000})


# --- Taking back ------------------------------------------------------------------------------
def reopened(project_mode: str = "first_error") -> tuple[Label, Assignment]:
    label = make.label(project=make.project(mode=project_mode), ratings=[1, -1])
    assert label.labeler is not None
    return label, labels.reopen(label.labeler, label.pk)


def test_a_correction_is_a_new_revision_and_the_old_line_stays() -> None:
    label, assignment = reopened()
    assert assignment.draft["ratings"] == [1, -1, None]
    before = label.record
    new = labels.submit(assignment.labeler, assignment.pk, make.submission([1, 1, -1]))
    label.refresh_from_db()
    assert (label.is_current, label.record, label.revision) == (False, before, 1)
    assert (new.is_current, new.revision, new.first_error) == (True, 2, 2)
    assert new.assignment is not None
    new.assignment.item.refresh_from_db()
    assert new.assignment.item.taken == 1
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {"label.reopened", "label.revised"}


def test_a_reopened_label_that_is_never_sent_again_stays_as_it_was() -> None:
    label, assignment = reopened()
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    queue.expire_leases()
    label.refresh_from_db()
    assignment.refresh_from_db()
    assignment.item.refresh_from_db()
    assert (label.is_current, assignment.status, assignment.item.taken) == (True, "submitted", 1)


def test_the_next_question_gives_the_reopened_solution() -> None:
    _label, assignment = reopened()
    assert queue.claim_next(assignment.labeler, assignment.project).assignment == assignment


def test_after_the_window_a_label_stands() -> None:
    label = make.label(project=make.project())
    assert label.labeler is not None
    Label.objects.update(submitted_at=timezone.now() - labels.UNDO_WINDOW - timedelta(seconds=1))
    with pytest.raises(NotAllowedNow, match="time for taking this label back is over"):
        labels.reopen(label.labeler, label.pk)


def test_labels_of_a_closed_round_and_screening_answers_stand() -> None:
    project = make.project()
    label = make.label(project=project)
    assert label.labeler is not None
    queue.close_batch(project, 0)
    with pytest.raises(NotAllowedNow, match="round is closed"):
        labels.reopen(label.labeler, label.pk)
    person = make.labeler(project, status="screening")
    answer = make.label(make.gold_item(project, screening=True), labeler=person, ratings=[1, -1])
    with pytest.raises(NotAllowedNow, match="Screening"):
        labels.reopen(person, answer.pk)


def test_an_old_revision_cannot_be_reopened() -> None:
    label, assignment = reopened()
    labels.submit(assignment.labeler, assignment.pk, make.submission([1, 1, -1]))
    with pytest.raises(NotAllowedNow, match="newer version"):
        labels.reopen(assignment.labeler, label.pk)
