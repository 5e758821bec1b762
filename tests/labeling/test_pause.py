"""Slipping pauses a person with a reason; a lead lifts it; doubtful labels wait in quarantine."""

import pytest

from labeling.models import Assignment, AuditEntry, Enrolment, Label, Project, User
from labeling.queries.labels import usable_labels
from labeling.services import labels, people, queue
from tests import make

pytestmark = pytest.mark.django_db


def gold(project: Project, person: User, *answers: bool) -> None:
    for right in answers:
        item = make.gold_item(project, first_error=1)
        make.label(item, labeler=person, ratings=[1, -1] if right else [1, 1, 1])


def standing(person: User) -> Enrolment:
    return Enrolment.objects.select_related("user", "project").get(user=person)


R, W = True, False


def test_a_full_window_under_the_mark_pauses_with_the_numbers() -> None:
    project = make.project(gold_window=10, gold_mark=0.7)
    person = make.labeler(project)
    gold(project, person, R, R, R, R, R, R, W, W, W)
    assert standing(person).status == "active"
    gold(project, person, W)
    assert standing(person).status == "paused"
    expected = "6 of the last 10 gold questions agreed (60%), under the mark of 70%."
    assert standing(person).status_reason == expected
    assert standing(person).status_changed_by is None
    assert queue.claim_next(person, project).detail == {"reason": expected}


def test_five_misses_are_enough() -> None:
    project = make.project(gold_window=10, gold_mark=0.7)
    person = make.labeler(project)
    gold(project, person, W, W, W, W)
    assert standing(person).status == "active"
    gold(project, person, W)
    assert standing(person).status == "paused"


def test_pausing_gives_the_persons_leases_back_and_keeps_their_drafts() -> None:
    project = make.project()
    item = make.item(project=project)
    held = make.assignment(item)
    labels.save_draft(held.labeler, held.pk, version=0, draft={"ratings": [1]})
    people.pause(standing(held.labeler), by=make.lead(), reason="asked to stop")
    held.refresh_from_db()
    item.refresh_from_db()
    assert (held.status, item.taken, held.draft) == ("released", 0, {"ratings": [1]})
    actions = AuditEntry.objects.values_list("action", flat=True)
    assert set(actions) >= {"labeler.paused", "labels.quarantined"}


def test_labels_since_the_last_good_window_are_set_aside() -> None:
    project = make.project(gold_window=5, gold_mark=0.7)
    person = make.labeler(project)
    early = make.label(project=project, labeler=person)
    gold(project, person, R, R, R, R, R)
    late = make.label(project=project, labeler=person)
    gold(project, person, R, R, R, W, W)  # the window that pauses: 3 of 5
    early.refresh_from_db()
    late.refresh_from_db()
    assert (early.quarantined_at, late.quarantine_reason) == (None, standing(person).status_reason)
    assert list(usable_labels(project)) == [early]


def test_a_late_label_of_a_paused_person_is_kept_but_set_aside() -> None:
    project = make.project()
    held = make.assignment(make.item(project=project))
    people.pause(standing(held.labeler), by=make.lead(), reason="asked to stop")
    label = labels.submit(held.labeler, held.pk, make.submission())
    assert label.is_extra
    assert label.quarantine_reason == "asked to stop"


def test_a_readmitted_person_works_on_and_old_misses_do_not_pause_twice() -> None:
    project = make.project(gold_window=5, gold_mark=0.7)
    person = make.labeler(project)
    gold(project, person, W, W, W, W, W)
    make.item(project=project)
    people.readmit(standing(person), by=make.lead(), release_quarantine=False)
    assert (standing(person).status, standing(person).status_reason) == ("active", "")
    assert queue.claim_next(person, project).state == "work"
    gold(project, person, R, R, R, W)
    assert standing(person).status == "active"


@pytest.mark.parametrize("release", [True, False])
def test_readmission_may_release_the_quarantine(release: bool) -> None:
    project = make.project()
    label = make.label(project=project)
    assert label.labeler is not None
    people.pause(standing(label.labeler), by=None, reason="test")
    assert not usable_labels(project).exists()
    people.readmit(standing(label.labeler), by=make.lead(), release_quarantine=release)
    assert usable_labels(project).exists() is release


def test_a_pause_during_screening_does_not_skip_it() -> None:
    project = make.project(screening_questions=2)
    for _ in range(2):
        make.gold_item(project, screening=True)
    person = make.labeler(project, status="screening")
    people.pause(standing(person), by=make.lead(), reason="wrong account")
    people.readmit(standing(person), by=make.lead(), release_quarantine=False)
    assert standing(person).status == "screening"


def test_a_lead_may_admit_who_failed_the_screening() -> None:
    project = make.project()
    person = make.labeler(project, status="failed")
    people.readmit(standing(person), by=make.lead(), release_quarantine=False)
    assert standing(person).status == "active"


def test_pausing_twice_and_readmitting_the_active_change_nothing() -> None:
    project = make.project()
    person = make.labeler(project)
    people.readmit(standing(person), by=make.lead(), release_quarantine=True)
    people.pause(standing(person), by=make.lead(), reason="first")
    people.pause(standing(person), by=make.lead(), reason="second")
    assert standing(person).status_reason == "first"
    assert AuditEntry.objects.filter(action__startswith="labeler.").count() == 1


def test_a_paused_person_takes_no_label_back() -> None:
    from labeling.errors import NotAllowedNow

    project = make.project()
    label = make.label(project=project)
    assert label.labeler is not None
    people.pause(standing(label.labeler), by=None, reason="test")
    with pytest.raises(NotAllowedNow):
        labels.reopen(label.labeler, label.pk)


def test_a_reopened_label_survives_the_pause() -> None:
    project = make.project()
    label = make.label(project=project)
    assert label.labeler is not None
    labels.reopen(label.labeler, label.pk)
    people.pause(standing(label.labeler), by=None, reason="test")
    assert Assignment.objects.get().status == "submitted"
    assert Label.objects.get().is_current
