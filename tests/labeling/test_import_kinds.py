"""What each kind of file becomes in the tables, and what a second import changes."""

from pathlib import Path
from typing import Any

import pytest

from labeling import hooks
from labeling.importing import ImportOptions, ImportSummary, import_file
from labeling.models import Gold, Label, Pool, Problem, Project, QueueItem, Solution
from tests import make
from tests.labeling.file_makers import completion, human_label, record, sample, step, write_lines

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def bring(project: Project, tmp_path: Path) -> Any:
    """Import records: bring("problems", record, ..., split="test")."""

    def run(kind: str, *records: Any, **options: Any) -> ImportSummary:
        path = write_lines(tmp_path / f"{kind}.jsonl", records)
        return import_file(project, kind, path, options=ImportOptions(**options))

    return run


# --- Problems ---------------------------------------------------------------------------------


def test_the_same_text_is_one_problem_however_its_white_space_lies(bring: Any) -> None:
    bring("problems", {"problem": "What is  $1+1$?\n", "answer": "2"})
    summary = bring("problems", {"problem": " What is $1+1$?"})
    assert Problem.objects.count() == 1
    assert (summary.counts["problems_known"], summary.counts["problems_new"]) == (1, 0)


def test_two_projects_keep_their_own_problems(bring: Any, tmp_path: Path) -> None:
    bring("problems", {"problem": "p"})
    import_file(make.project(), "problems", tmp_path / "problems.jsonl")
    assert Problem.objects.count() == 2


def test_a_missing_answer_is_filled_in_and_a_different_one_kept(bring: Any) -> None:
    bring("problems", {"problem": "p"}, {"problem": "q", "answer": "2"}, {"problem": "r", "answer": "-2 + i"})
    summary = bring(
        "problems",
        {"problem": "p", "answer": "1"},
        {"problem": "q", "answer": "3"},
        {"problem": "r", "answer": "-2+i"},
    )
    assert (summary.counts["answers_filled"], summary.counts["answers_differ"]) == (1, 1)
    assert dict(Problem.objects.values_list("text", "ground_truth_answer")) == {
        "p": "1",
        "q": "2",
        "r": "-2 + i",
    }


def test_a_file_may_differ_with_itself_and_its_first_answer_is_kept(bring: Any) -> None:
    summary = bring(
        "problems", {"problem": "p"}, {"problem": "p", "answer": "1"}, {"problem": "p ", "answer": "2"}
    )
    assert summary.counts["answers_differ"] == 1
    assert Problem.objects.get().ground_truth_answer == "1"


def test_the_answer_of_a_math_problem_may_stand_in_its_solution(bring: Any) -> None:
    bring("problems", {"problem": "p", "solution": "So $x = \\boxed{7}$.", "level": "Level 1"})
    assert Problem.objects.get().ground_truth_answer == "7"


def test_once_test_always_test(bring: Any) -> None:
    bring("problems", {"problem": "p", "answer": "1"}, split="test", dataset="own")
    summary = bring("problems", {"problem": "p", "answer": "1"}, split="train")
    assert summary.counts["test_kept"] == 1
    assert Problem.objects.get().split == "test"
    bring("problems", {"problem": "q", "answer": "1"})
    assert Problem.objects.get(text="q").split == "train"
    summary = bring("labels", record(problem="q"), split="test")
    assert summary.counts["moved_to_test"] == 1
    assert Problem.objects.get(text="q").split == "test"


def test_a_second_file_without_a_split_moves_nothing(bring: Any) -> None:
    bring("problems", {"problem": "p", "answer": "1"}, split="test")
    bring("problems", {"problem": "p", "answer": "1"})
    assert Problem.objects.get().split == "test"


# --- Solutions --------------------------------------------------------------------------------


def test_solutions_are_split_numbered_and_traced_to_their_line(bring: Any) -> None:
    text = {"problem": "p", "answer": "4", "solution": "First.\nThen $4$.\nA: 4", "generator": "pen"}
    summary = bring("solutions", text, sample(1), text | {"solution": "A: 5"}, pool="new")
    first, other, second = Solution.objects.order_by("id")
    assert (first.steps, first.splitter, first.answer) == (["First.", "Then $4$.", "A: 4"], "newline", "4")
    assert (other.splitter, other.answer, other.source_line) == ("given", "2", 2)
    assert [first.sample_index, other.sample_index, second.sample_index] == [0, 0, 1]
    assert (first.grade, second.grade) == ("right", "wrong")
    assert first.graded_by
    assert second.source is not None
    assert second.source.pk == summary.imported_file
    assert [summary.counts[f"grade_{grade}"] for grade in ("right", "wrong", "unknown")] == [2, 1, 0]


def test_what_made_the_steps_and_why_a_sample_ended_are_kept(bring: Any) -> None:
    bring("solutions", sample(1, splitter="blank_line", finish="length"), sample(2), pool="new")
    cut, plain = Solution.objects.order_by("id")
    assert (cut.splitter, cut.extra.get("finish")) == ("blank_line", "length")
    assert (plain.splitter, "finish" in plain.extra) == ("given", False)


def test_the_generator_of_a_pool_is_known_when_all_its_solutions_have_one(bring: Any) -> None:
    bring("solutions", sample(1, generator="pen"), sample(2, generator="pen"), pool="a")
    bring("solutions", sample(1, generator="pen"), sample(2, generator="ink"), pool="b")
    assert dict(Pool.objects.values_list("name", "generator")) == {"a": "pen", "b": ""}


def test_importing_a_pool_again_changes_nothing_and_a_longer_file_adds_the_rest(bring: Any) -> None:
    one, two = sample(1), sample(1, steps=["Other.", "# Answer\n\n2"])
    bring("solutions", one, two, pool="a")
    again = bring("solutions", one, two, pool="a")
    assert (again.counts["solutions_known"], again.counts["solutions_new"]) == (2, 0)
    more = bring("solutions", one, two, sample(1, steps=["Third.", "# Answer\n\n3"]), pool="a")
    assert (more.counts["solutions_known"], more.counts["solutions_new"]) == (2, 1)
    assert sorted(Solution.objects.values_list("sample_index", flat=True)) == [0, 1, 2]
    assert bring("solutions", one, pool="b").counts["solutions_new"] == 1


def test_a_pool_may_hold_equal_samples_where_that_is_said(bring: Any) -> None:
    same = [sample(1)] * 3
    summary = bring("solutions", *same, pool="a", repeats=True)
    assert summary.counts["solutions_new"] == 3
    assert bring("solutions", *same, *same[:2], pool="a", repeats=True).counts["solutions_new"] == 2
    assert sorted(Solution.objects.values_list("sample_index", flat=True)) == [0, 1, 2, 3, 4]


def test_the_truth_that_is_here_is_the_one_graded_against(bring: Any) -> None:
    bring("problems", {"problem": "p", "answer": "7"})
    bring("solutions", {"problem": "p", "answer": "8", "steps": ["# Answer\n\n7"]}, pool="a")
    assert Solution.objects.get().grade == "right"
    bring(
        "solutions",
        {"problem": "q", "steps": ["# Answer\n\n7"]},
        {"problem": "q", "answer": "7", "steps": ["x"]},
        pool="b",
    )
    assert Solution.objects.get(problem__text="q", answer="7").grade == "right"


def test_without_a_truth_the_files_own_verdict_is_the_grade(bring: Any) -> None:
    rows = [human_label(-1, id="a"), human_label(1, id="b", steps=["x", "y"])]
    bring("solutions", *rows, {**human_label(id="c", steps=["z"]), "final_answer_correct": None}, pool="a")
    found = dict(Solution.objects.values_list("external_id", "grade"))
    assert found == {"a": "right", "b": "wrong", "c": "unknown"}
    assert set(Solution.objects.exclude(external_id="c").values_list("graded_by", flat=True)) == {"file"}


def test_without_a_grader_grades_are_not_known(bring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "grade_answers", None)
    assert bring("solutions", sample(1), pool="a").counts["grade_unknown"] == 1


def test_equal_answers_are_graded_once(bring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def grade(pairs: Any, on_progress: Any = None) -> list[hooks.Graded]:
        asked.extend(pairs)
        return [hooks.Graded("right" if answer == truth else "wrong", "rule") for answer, truth in pairs]

    monkeypatch.setattr(hooks, "grade_answers", grade)
    bring("solutions", *[sample(1, id=str(n)) for n in range(5)], sample(2, steps=["None."]), pool="a")
    assert asked == [("2", "2"), (None, "3")]
    assert Solution.objects.filter(grade="right", graded_by="rule").count() == 5


def test_a_solution_that_two_people_judged_is_one_solution(bring: Any) -> None:
    phase2 = {
        "pre_generated_steps": ["a", "# Answer\n\n5"],
        "pre_generated_answer": "5",
        "pre_generated_verifier_score": 0.25,
    }
    lines = [record(question=phase2, labeler=name) for name in ("ann", "ben")]
    summary = bring("solutions", *lines, pool="a")
    assert (summary.counts["solutions_new"], summary.counts["solutions_repeated"]) == (1, 1)
    assert Solution.objects.get().extra == {"pre_generated_verifier_score": 0.25}


# --- Labels -----------------------------------------------------------------------------------


def test_a_line_becomes_a_label_with_its_columns(bring: Any) -> None:
    line = record(
        step(completion("a"), completion("b", 0)),
        step(completion("c", -1), chosen=None),
        generation=3,
        label={"finish_reason": "found_error", "total_time": 1234.6},
    )
    bring("labels", line | {"rebuilt_from": "x[1]"})
    label = Label.objects.get()
    assert label.record == line
    assert label.side == {"rebuilt_from": "x[1]"}
    assert (label.n_good, label.n_neutral, label.n_bad, label.n_unrated, label.first_error) == (1, 1, 1, 0, 1)
    assert (label.generation, label.finish_reason, label.total_time_ms, label.purpose) == (
        3,
        "found_error",
        1235,
        "work",
    )
    assert label.submitted_at is not None
    assert label.submitted_at.isoformat() == "2022-07-30T23:23:32.118856+00:00"
    assert (label.assignment, label.labeler, label.is_current, label.source_line) == (None, None, True, 1)
    assert label.problem.ground_truth_answer == "5"


@pytest.mark.parametrize(
    ("fields", "purpose"),
    [
        ({}, "work"),
        ({"is_quality_control_question": True}, "gold"),
        ({"is_initial_screening_question": True, "generation": -1}, "screening"),
    ],
)
def test_the_flags_of_a_line_say_its_purpose(bring: Any, fields: dict[str, Any], purpose: str) -> None:
    bring("labels", record(**fields))
    assert Label.objects.get().purpose == purpose


def test_importing_labels_again_changes_nothing(bring: Any) -> None:
    lines = [record(problem=f"p{n}") for n in range(3)]
    bring("labels", *lines)
    before = list(Label.objects.values())
    summary = bring("labels", *lines)
    assert (summary.counts["labels_new"], summary.counts["labels_unchanged"]) == (0, 3)
    assert list(Label.objects.values()) == before


def test_equal_judgements_of_unknown_people_are_both_kept(bring: Any) -> None:
    line = record(labeler=None)
    assert bring("labels", line, line, line).counts["labels_new"] == 3
    again = bring("labels", line, line, line, line)
    assert (again.counts["labels_new"], again.counts["labels_unchanged"]) == (1, 3)
    assert Label.objects.count() == 4


def test_our_own_line_is_recognised_when_it_comes_back(bring: Any, project: Project) -> None:
    label = make.label(project=project)
    summary = bring("labels", label.record)
    assert (summary.counts["labels_unchanged"], Label.objects.count()) == (1, 1)


def test_a_line_that_was_corrected_since_is_not_brought_back(bring: Any, project: Project) -> None:
    label = make.label(project=project)
    Label.objects.filter(pk=label.pk).update(is_current=False)
    assert bring("labels", label.record).counts["labels_unchanged"] == 1


# --- Gold -------------------------------------------------------------------------------------


def test_gold_stands_outside_every_pool_with_its_accepted_ratings(bring: Any) -> None:
    own = {
        "problem": "p",
        "answer": "2",
        "steps": ["a", "b"],
        "accepted": [[1], [-1]],
        "first_error": 1,
        "explanation": "b is wrong",
    }
    summary = bring("gold", own, generation=-1)
    gold = Gold.objects.select_related("solution").get()
    assert (gold.accepted, gold.first_error, gold.explanation) == ([[1], [-1]], 1, "b is wrong")
    assert (gold.generation, gold.origin, gold.is_active) == (-1, "gold", True)
    assert gold.solution.pool is None
    assert summary.counts["gold_new"] == 1


@pytest.mark.parametrize(("generation", "asked"), [(-1, ["screening"]), (0, []), (None, [])])
def test_only_screening_questions_are_asked_at_once(
    bring: Any, generation: int | None, asked: list[str]
) -> None:
    """Gold of a round is queued when the round is opened; screening has no round."""
    bring("gold", human_label(1), generation=generation)
    assert list(QueueItem.objects.values_list("purpose", flat=True)) == asked


def test_gold_that_is_here_is_kept_and_a_difference_counted(bring: Any) -> None:
    bring("gold", human_label(1), generation=0)
    assert bring("gold", human_label(1), generation=1).counts["gold_unchanged"] == 1
    assert bring("gold", human_label(0), generation=1).counts["gold_differ"] == 1
    assert Gold.objects.get().first_error == 1
    assert Gold.objects.get().generation == 0
    assert Solution.objects.count() == 1


def test_the_same_solution_may_be_gold_and_in_a_pool(bring: Any) -> None:
    bring("solutions", human_label(1), pool="a")
    bring("gold", human_label(1), generation=None)
    assert Solution.objects.count() == 2
    assert Gold.objects.get().generation is None
