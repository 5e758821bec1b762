"""Answers that graders leave in doubt: an import keeps them, a person settles them, and the word stays."""

import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from labeling import hooks
from labeling.errors import NotAllowedNow
from labeling.importing import ImportOptions, ImportSummary, import_file, solutions
from labeling.importing.inserting import insert_rows
from labeling.models import AnswerCheck, AuditEntry, Gold, Problem, Project, Solution, User
from labeling.queries.answers import answer_checks, answers_to_check
from labeling.services import labels
from labeling.services.answers import reopen_answer, settle_answer
from labeling.services.labels import AnswerUnconfirmed
from tests import make
from tests.labeling.file_makers import sample, write_lines
from tests.labeling.test_lead_pages import client_of

pytestmark = pytest.mark.django_db

# Our reader proves that they differ, Math-Verify takes them for equal.
KEY, GIVEN = r"32\text{ cm}", "32 m"


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def lead() -> User:
    return make.lead()


@pytest.fixture
def page(lead: User, project: Project) -> Client:
    return client_of(lead)


@pytest.fixture
def bring(project: Project, tmp_path: Path) -> Any:
    def run(*records: Any, pool: str = "a", kind: str = "solutions") -> ImportSummary:
        path = write_lines(tmp_path / f"{pool}.jsonl", records)
        return import_file(project, kind, path, options=ImportOptions(pool=pool))

    return run


def given(answer: str, *, n: int = 0, key: str = KEY) -> dict[str, Any]:
    return sample(1, answer=key, given_answer=answer, steps=[f"Sample {n} says {answer}."])


def check(problem: Problem | None = None, *, answer: str = "7", **fields: Any) -> AnswerCheck:
    votes = {"exact": "wrong", "paper": "wrong", "math-verify": "right"}
    values = {"votes": votes, "grade": "wrong", "graded_by": "exact", "answer_hash": answer, **fields}
    return AnswerCheck.objects.create(problem=problem or make.problem(), answer=answer, **values)


def sure(pairs: Any, on_progress: Any = None) -> list[hooks.Graded]:
    """A grader without a doubt."""
    return [hooks.Graded("wrong", "better grader")] * len(pairs)


def grades(**where: Any) -> set[tuple[str, str]]:
    return set(Solution.objects.filter(**where).values_list("grade", "graded_by"))


class TestImporting:
    def test_graders_that_contradict_each_other_leave_an_answer_to_check(self, bring: Any) -> None:
        summary = bring(given(GIVEN), given(GIVEN, n=1), given("33 cm"), given(KEY))
        found = AnswerCheck.objects.get()
        assert (found.answer, found.grade, found.graded_by, found.decision) == (GIVEN, "wrong", "exact", "")
        assert (found.votes["exact"], found.votes["math-verify"]) == ("wrong", "right")
        assert summary.counts["answers_to_check"] == 1
        assert grades(answer=GIVEN) == {("wrong", "exact")}

    def test_what_no_grader_could_tell_is_left_for_a_person_too(self, bring: Any) -> None:
        bring(given("4:30p..", key="4:30"))
        assert (AnswerCheck.objects.get().grade, set(AnswerCheck.objects.get().votes)) == (
            "unknown",
            {"exact", "paper", "math-verify"},
        )

    def test_without_a_truth_or_an_answer_there_is_nothing_to_check(self, bring: Any) -> None:
        bring({"problem": "p", "given_answer": "7", "steps": ["x"]}, sample(1, steps=["No answer here."]))
        assert not AnswerCheck.objects.exists()

    def test_importing_again_makes_no_second_row(self, bring: Any) -> None:
        bring(given(GIVEN))
        assert bring(given(GIVEN)).counts["answers_to_check"] == 0
        assert bring(given(GIVEN, n=1), pool="b").counts["answers_to_check"] == 0
        assert AnswerCheck.objects.count() == 1

    def test_a_decision_outlives_every_later_import(self, bring: Any, lead: User) -> None:
        bring(given(GIVEN))
        settle_answer(AnswerCheck.objects.get(), by=lead, grade="right")
        bring(given(GIVEN))
        bring(given(GIVEN, n=1), given("33 cm", n=2), pool="b")
        assert grades(answer=GIVEN) == {("right", "person")}
        assert grades(answer="33 cm") == {("wrong", "exact")}
        assert AnswerCheck.objects.get().decision == "right"

    def test_it_holds_where_graders_have_no_doubt_any_more(
        self, bring: Any, lead: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bring(given(GIVEN))
        settle_answer(AnswerCheck.objects.get(), by=lead, grade="right")

        monkeypatch.setattr(hooks, "grade_answers", sure)
        summary = bring(given(GIVEN, n=1), pool="b")
        assert grades(answer=GIVEN) == {("right", "person")}
        assert (summary.counts["grade_right"], summary.counts["grade_wrong"]) == (1, 0)

    def test_gold_questions_follow_a_decision(self, bring: Any, lead: User) -> None:
        bring(given(GIVEN))
        settle_answer(AnswerCheck.objects.get(), by=lead, grade="right")
        gold = {"accepted": [[1]], "first_error": None, "steps": [f"# Answer\n\n{GIVEN}"]}
        bring(given(GIVEN) | gold, kind="gold")
        assert Gold.objects.get().solution.grade == "right"

    def test_another_project_hears_nothing_of_it(self, bring: Any, lead: User, tmp_path: Path) -> None:
        bring(given(GIVEN))
        settle_answer(AnswerCheck.objects.get(), by=lead, grade="right")
        other = make.project()
        import_file(other, "solutions", tmp_path / "a.jsonl", options=ImportOptions(pool="a"))
        assert grades(problem__project=other) == {("wrong", "exact")}
        assert answers_to_check(other) == 1


class TestSettling:
    @pytest.mark.parametrize("grade", Solution.Grade.values)
    def test_every_equal_answer_to_the_problem_changes_and_no_other(self, lead: User, grade: str) -> None:
        doubt = check()
        for answer, problem in [("7", doubt.problem)] * 2 + [("8", doubt.problem), ("7", make.problem())]:
            make.solution(problem, answer=answer, grade="wrong", graded_by="exact")
        assert settle_answer(doubt, by=lead, grade=grade) == 2
        assert grades(problem=doubt.problem, answer="7") == {(grade, "person")}
        assert grades(problem=doubt.problem, answer="8") == {("wrong", "exact")}
        assert grades(answer="7").issuperset({("wrong", "exact")})

    def test_it_is_in_the_log(self, lead: User) -> None:
        doubt = check()
        make.solution(doubt.problem, answer="7")
        settle_answer(doubt, by=lead, grade="right")
        entry = AuditEntry.objects.get()
        assert (entry.action, entry.actor, entry.project) == ("answer.settled", lead, doubt.problem.project)
        assert entry.subject == f"problem {doubt.problem.pk}: 7"
        assert entry.detail == {"grade": "right", "solutions": 1}

    def test_taking_it_back_gives_the_graders_verdict_again(self, lead: User) -> None:
        doubt = check()
        make.solution(doubt.problem, answer="7")
        settle_answer(doubt, by=lead, grade="right")
        assert reopen_answer(doubt, by=lead) == 1
        assert grades() == {("wrong", "exact")}
        doubt.refresh_from_db()
        assert (doubt.decision, doubt.decided_by, doubt.decided_at) == ("", None, None)
        assert AuditEntry.objects.filter(action="answer.reopened").count() == 1

    def test_two_people_do_not_overrule_each_other_unseen(self, lead: User) -> None:
        doubt = check()
        settle_answer(doubt, by=lead, grade="right")
        with pytest.raises(NotAllowedNow):
            settle_answer(doubt, by=make.researcher(), grade="wrong")
        reopen_answer(doubt, by=lead)
        with pytest.raises(NotAllowedNow):
            reopen_answer(doubt, by=lead)
        assert AuditEntry.objects.count() == 2

    def test_the_confirmation_of_a_wrong_answer_goes_by_the_settled_grade(self, lead: User) -> None:
        doubt = check()
        held = make.assignment(make.item(make.solution(doubt.problem, answer="7", grade="wrong")))
        other = make.assignment(make.item(make.solution(doubt.problem, answer="7", grade="wrong")))
        sent = make.submission([1, 1, 1], answer_confirmed=False)
        with pytest.raises(AnswerUnconfirmed):
            labels.submit(held.labeler, held.pk, sent)
        settle_answer(doubt, by=lead, grade="right")
        assert labels.submit(other.labeler, other.pk, make.submission([1, 1, 1], answer_confirmed=False)).pk


class TestReading:
    def test_the_answer_of_most_solutions_comes_first(self, project: Project) -> None:
        rare, none, common = (check(make.problem(project)) for _ in range(3))
        for doubt in (rare, common, common):
            make.solution(doubt.problem, answer="7")
        listed = [(row.pk, row.n_solutions) for row in answer_checks(project)]  # type: ignore[attr-defined]
        assert listed == [(common.pk, 2), (rare.pk, 1), (none.pk, 0)]

    def test_settled_ones_are_a_list_of_their_own_latest_first(self, project: Project, lead: User) -> None:
        first, second, waiting = (check(make.problem(project)) for _ in range(3))
        settle_answer(second, by=lead, grade="right")
        settle_answer(first, by=lead, grade="wrong")
        assert [row.pk for row in answer_checks(project, settled=True)] == [first.pk, second.pk]
        assert [row.pk for row in answer_checks(project)] == [waiting.pk]
        assert answers_to_check(project) == 1

    def test_bad_problems_and_other_projects_are_left_out(self, project: Project) -> None:
        check(make.problem(project, status="bad"))
        check()
        assert answers_to_check(project) == 0
        assert not answer_checks(project)


class TestPage:
    def test_it_shows_problem_key_answer_and_what_each_grader_said(
        self, page: Client, project: Project
    ) -> None:
        doubt = check(make.problem(project, ground_truth_answer=KEY), answer=r"\frac{1}{2}")
        make.solution(doubt.problem, answer=r"\frac{1}{2}")
        text = page.get(reverse("answers")).content.decode()
        assert f'<div class="math">{doubt.problem.text}</div>' in text
        assert f"${KEY}$" in text
        assert r"$\frac{1}{2}$" in text
        assert "in 1 solution" in text
        assert 'exact reader: <span class="badge badge-bad">wrong</span>' in text
        assert 'Math-Verify: <span class="badge badge-good">right</span>' in text
        assert "not shown equal" in text

    def test_without_doubts_it_says_so(self, page: Client) -> None:
        assert "No answer is in doubt" in page.get(reverse("answers")).content.decode()
        settled = page.get(reverse("answers"), {"settled": "1"}).content.decode()
        assert "Nobody has settled an answer yet" in settled

    def test_it_has_pages_that_keep_the_list(self, page: Client, project: Project, lead: User) -> None:
        problem = make.problem(project)
        for n in range(26):
            settle_answer(check(problem, answer=str(n)), by=lead, grade="right")
        first = page.get(reverse("answers"), {"settled": "1"})
        assert "26 in all" in first.content.decode()
        assert "settled=1&amp;page=2" in first.content.decode()
        assert len(page.get(reverse("answers"), {"settled": "1", "page": "2"}).context["page_obj"]) == 1

    def test_a_click_settles_and_another_takes_it_back(self, page: Client, project: Project) -> None:
        doubt = check(make.problem(project))
        make.solution(doubt.problem, answer="7", grade="wrong")
        settled = page.post(reverse("answer-settle", args=[doubt.pk]), {"grade": "right"}, follow=True)
        assert "The grade of 1 solution was written." in settled.content.decode()
        assert grades() == {("right", "person")}
        again = page.post(reverse("answer-settle", args=[doubt.pk]), {"grade": "wrong"}, follow=True)
        assert "Somebody has settled this answer already" in again.content.decode()
        page.post(reverse("answer-reopen", args=[doubt.pk]))
        assert grades() == {("wrong", "exact")}

    def test_a_grade_that_is_none_is_refused(self, page: Client) -> None:
        doubt = check()
        assert page.post(reverse("answer-settle", args=[doubt.pk]), {"grade": "maybe"}).status_code == 400
        assert page.post(reverse("answer-settle", args=[doubt.pk])).status_code == 400
        assert not AuditEntry.objects.exists()

    def test_the_page_of_problems_leads_to_it(self, page: Client, project: Project) -> None:
        check(make.problem(project))
        text = page.get(reverse("lead-problems")).content.decode()
        assert "Answers to check (1)" in text
        assert reverse("answers") in text

    def test_labelers_see_nothing_of_it(self, project: Project, lead: User) -> None:
        doubt = check(make.problem(project), answer="7 or so")
        make.item(make.solution(doubt.problem, answer="7 or so", grade="wrong", graded_by="exact"))
        ann = client_of(make.labeler(project))
        for name, args in (("answers", []), ("answer-settle", [doubt.pk]), ("answer-reopen", [doubt.pk])):
            send = ann.get if name == "answers" else ann.post
            assert send(reverse(name, args=args)).status_code == 403
        served = ann.post(f"/api/projects/{project.slug}/next/", {}, content_type="application/json")
        assert served.json()["assignment"]
        for word in ("math-verify", "votes", "exact", "graded_by"):
            assert word not in served.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_decision_made_while_an_import_writes_covers_what_it_writes(
    bring: Any, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import has looked for decisions and has not yet written: the person's click waits for it."""
    bring(given(GIVEN))
    doubt = AnswerCheck.objects.get()
    clicks: list[threading.Thread] = []

    def click() -> None:
        settle_answer(doubt, by=lead, grade="right")
        connection.close()

    def insert_late(model: Any, rows: Any) -> None:
        clicks.append(threading.Thread(target=click))
        clicks[0].start()
        clicks[0].join(timeout=0.5)
        insert_rows(model, rows)

    monkeypatch.setattr(hooks, "grade_answers", sure)
    monkeypatch.setattr(solutions, "insert_rows", insert_late)
    bring(given(GIVEN, n=1), pool="b")
    clicks[0].join(timeout=60)
    assert list(Solution.objects.values_list("grade", "graded_by")) == [("right", "person")] * 2
