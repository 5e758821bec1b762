"""Bad problems: two independent reports pull a problem from every queue until the lead decides."""

import pytest

from labeling.models import Assignment, Enrolment, Problem, QualityCheck, QueueItem, User
from labeling.queries.problems import reported_problems
from labeling.services import people, problems, queue
from tests import make

pytestmark = pytest.mark.django_db


def report(problem: Problem, person: User | None = None) -> QueueItem:
    item = make.item(make.solution(problem))
    make.label(item, labeler=person, ratings=[], finish_reason="bad_problem", note="no question asked")
    return item


def status(problem: Problem) -> str:
    problem.refresh_from_db()
    return problem.status


def test_two_people_pull_a_problem_and_its_leases_go_back() -> None:
    problem = make.problem(make.project())
    waiting, held = make.item(make.solution(problem)), make.assignment(make.item(make.solution(problem)))
    report(problem)
    assert status(problem) == "ok"
    report(problem)
    assert status(problem) == "held"
    waiting.refresh_from_db()
    held.refresh_from_db()
    held.item.refresh_from_db()
    assert (waiting.state, held.status, held.item.taken, held.item.state) == ("held", "released", 0, "held")
    assert queue.claim_next(make.labeler(problem.project), problem.project).state == "done"


def test_one_person_reporting_twice_is_one_report() -> None:
    problem = make.problem(make.project())
    person = make.labeler(problem.project)
    report(problem, person)
    report(problem, person)
    assert status(problem) == "ok"


def test_reports_set_aside_with_a_paused_persons_labels_do_not_count() -> None:
    problem = make.problem(make.project())
    report(problem)
    people.pause(Enrolment.objects.get(), by=None, reason="test")
    report(problem)
    assert status(problem) == "ok"


def test_a_good_problem_goes_back_into_the_queue_and_needs_new_reports_to_leave_it() -> None:
    problem = make.problem(make.project())
    waiting = make.item(make.solution(problem))
    report(problem)
    report(problem)
    problems.decide_problem(problem, by=make.lead(), is_bad=False)
    waiting.refresh_from_db()
    assert (status(problem), waiting.state) == ("ok", "open")
    report(problem)
    assert status(problem) == "ok"
    report(problem)
    assert status(problem) == "held"


def test_a_bad_problem_leaves_for_good_and_its_gold_counts_no_more() -> None:
    project = make.project()
    item = make.gold_item(project)
    make.label(item, ratings=[1, 1, 1])
    problem = item.solution.problem
    report(problem)
    report(problem)
    problems.decide_problem(problem, by=make.lead(), is_bad=True)
    item.refresh_from_db()
    item.solution.gold.refresh_from_db()
    assert (status(problem), item.state, item.solution.gold.is_active) == ("bad", "closed", False)
    assert not QualityCheck.objects.exists()


def test_a_batch_opened_meanwhile_holds_the_reported_problem_too() -> None:
    project = make.project(gold_per_generation=0)
    problem = make.problem(project)
    report(problem)
    report(problem)
    solution = make.solution(problem)
    (item,) = queue.open_batch(project, 1, [queue.NewItem(solution.pk, "uniform")])
    assert item.state == "held"
    problems.decide_problem(problem, by=make.lead(), is_bad=False)
    item.refresh_from_db()
    assert item.state == "open"


def test_the_lead_sees_every_reported_problem_with_the_reasons_given() -> None:
    project = make.project()
    once, twice = make.problem(project), make.problem(project)
    report(once)
    report(twice)
    report(twice)
    listed = reported_problems(project)
    assert [(entry.problem, len(entry.reports)) for entry in listed] == [(twice, 2), (once, 1)]
    assert listed[0].reports[0].note == "no question asked"
    assert Assignment.objects.filter(status="leased").count() == 0
