"""Gold among the work: at random moments, graded on meaning, corrected for everyone."""

from collections import Counter

import pytest

from labeling.errors import BadSubmission
from labeling.models import AuditEntry, Enrolment, Label, Project, QualityCheck, QueueItem
from labeling.services import labels, queue
from labeling.services.gold import correct_gold
from tests import make

pytestmark = pytest.mark.django_db


def served(project: Project, count: int) -> list[str]:
    """The purposes of what a new labeler is given, in order."""
    person = make.labeler(project)
    purposes = []
    for _ in range(count):
        assignment = queue.claim_next(person, project).assignment
        assert assignment is not None
        purposes.append(assignment.item.purpose)
        labels.submit(person, assignment.pk, make.submission([1, 1, 1]))
    return purposes


def test_gold_comes_at_the_projects_share_and_at_different_moments() -> None:
    project = make.project(gold_share=0.3, gold_window=0, overlap=9, gold_mark=0)
    for _ in range(20):
        make.item(project=project, wanted=9)
        make.gold_item(project, first_error=None)
    runs = [served(project, 20) for _ in range(4)]
    shares = Counter(purpose for run in runs for purpose in run)
    assert 0.15 < shares["gold"] / 80 < 0.45
    assert len({tuple(run) for run in runs}) == 4


def test_gold_never_marks_the_end_of_a_round() -> None:
    project = make.project(gold_share=1.0)
    make.gold_item(project)
    assert queue.claim_next(make.labeler(project), project).state == "done"


def test_gold_of_another_generation_is_not_served() -> None:
    project = make.project(gold_share=1.0)
    make.item(project=project, generation=1)
    make.gold_item(project, generation=0)
    claim = queue.claim_next(make.labeler(project), project)
    assert claim.assignment is not None
    assert claim.assignment.item.purpose == "work"


def test_everyone_gets_the_same_gold_and_it_takes_no_place() -> None:
    project = make.project(gold_share=1.0)
    make.item(project=project, wanted=3)
    item = make.gold_item(project)
    for _ in range(3):
        claim = queue.claim_next(make.labeler(project), project)
        assert claim.assignment is not None
        assert claim.assignment.item == item
    item.refresh_from_db()
    assert item.taken == 0


def test_a_gold_answer_is_graded_once_on_meaning() -> None:
    project = make.project()
    label = make.label(make.gold_item(project, first_error=1), ratings=[0, -1])
    check = QualityCheck.objects.get()
    assert (check.agrees, check.off_by, check.missed_error) == (True, 0, False)
    assert (check.purpose, check.labeler, check.at) == ("gold", label.labeler, label.submitted_at)


def test_a_passed_error_is_a_missed_error() -> None:
    project = make.project()
    make.label(make.gold_item(project, first_error=1), ratings=[1, 1, -1])
    check = QualityCheck.objects.get()
    assert (check.agrees, check.off_by, check.missed_error) == (False, 1, True)


def test_ordinary_work_is_not_graded() -> None:
    make.label(project=make.project())
    assert not QualityCheck.objects.exists()


@pytest.mark.parametrize("finish", ["give_up", "bad_problem"])
def test_giving_up_on_running_gold_says_nothing_about_the_person(finish: str) -> None:
    project = make.project()
    make.label(make.gold_item(project), ratings=[], finish_reason=finish, note="why")
    assert not QualityCheck.objects.exists()


def test_a_reopened_gold_answer_is_judged_again_in_its_place() -> None:
    label = make.label(make.gold_item(make.project(), first_error=1), ratings=[-1])
    assert label.labeler is not None
    before = QualityCheck.objects.get()
    again = labels.reopen(label.labeler, label.pk)
    labels.submit(label.labeler, again.pk, make.submission([1, -1]))
    after = QualityCheck.objects.get()
    assert (before.agrees, after.agrees) == (False, True)
    assert (before.pk, before.at) == (after.pk, after.at)


# --- Correcting gold --------------------------------------------------------------------------
def test_a_corrected_gold_judges_every_answer_again() -> None:
    project = make.project()
    item = make.gold_item(project, first_error=1)
    make.label(item, ratings=[1, -1])
    make.label(item, ratings=[1, 1, -1])
    gold = item.solution.gold
    correct_gold(gold, accepted=[[1], [1], [-1]], first_error=2, by=make.lead())
    gold.refresh_from_db()
    verdicts = QualityCheck.objects.order_by("pk").values_list("agrees", "off_by", "gold_revision")
    assert list(verdicts) == [(False, -1, 2), (True, 0, 2)]
    assert (gold.revision, gold.first_error) == (2, 2)
    entry = AuditEntry.objects.get(action="gold.corrected")
    assert entry.detail["changed"] == 2


def test_who_failed_by_a_wrong_gold_is_let_in_when_it_is_corrected() -> None:
    project = make.project(screening_questions=1)
    item = make.gold_item(project, screening=True, first_error=1)
    person = make.labeler(project, status="screening")
    make.label(item, labeler=person, ratings=[1, 1, 1])
    assert Enrolment.objects.get(user=person).status == "failed"
    correct_gold(item.solution.gold, accepted=[[1], [1], [1]], first_error=None, by=make.lead())
    assert Enrolment.objects.get(user=person).status == "active"


def test_who_was_paused_by_a_wrong_gold_is_let_back_in_with_their_labels() -> None:
    project = make.project(gold_window=5, gold_mark=0.7)
    person = make.labeler(project)
    items = [make.gold_item(project, first_error=1) for _ in range(5)]
    work = make.label(project=project, labeler=person)
    for item in items:
        make.label(item, labeler=person, ratings=[1, 1, 1])
    work.refresh_from_db()
    assert Enrolment.objects.get(user=person).status == "paused"
    assert work.quarantined_at is not None
    for item in items:
        correct_gold(item.solution.gold, accepted=[[1], [1], [1]], first_error=None, by=make.lead())
    work.refresh_from_db()
    assert Enrolment.objects.get(user=person).status == "active"
    assert work.quarantined_at is None


def test_who_only_passed_by_a_wrong_gold_is_paused_when_it_is_corrected() -> None:
    project = make.project(gold_window=5, gold_mark=0.7)
    person = make.labeler(project)
    items = [make.gold_item(project, first_error=None) for _ in range(5)]
    for item in items:
        make.label(item, labeler=person, ratings=[1, 1, 1])
    for item in items:
        correct_gold(item.solution.gold, accepted=[[1], [-1]], first_error=1, by=make.lead())
    enrolment = Enrolment.objects.get(user=person)
    assert enrolment.status == "paused"
    assert "gold questions agreed" in enrolment.status_reason


@pytest.mark.parametrize(
    ("accepted", "first_error"),
    [
        ([[1]], 1),  # the error's own list is missing
        ([[1], [1]], 1),  # the error does not accept -1
        ([[1, -1], [-1]], 1),  # -1 before the error
        ([[1], [1]], None),  # a step is missing
        ([[1], [1], [1], [1]], None),
        ([[1], [1], [2]], None),
        ([[-1]], 7),
    ],
)
def test_a_gold_that_contradicts_itself_is_refused(
    accepted: list[list[int]], first_error: int | None
) -> None:
    gold = make.gold(project=make.project())
    with pytest.raises(BadSubmission):
        correct_gold(gold, accepted=accepted, first_error=first_error, by=make.lead())


def test_gold_labels_are_no_training_data() -> None:
    from labeling.queries.labels import usable_labels

    project = make.project()
    make.label(make.gold_item(project), ratings=[1, -1])
    work = make.label(project=project)
    assert list(usable_labels(project)) == [work]
    assert Label.objects.count() == 2
    assert QueueItem.objects.get(purpose="gold").taken == 0
