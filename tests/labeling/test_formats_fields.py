"""The fields of every format: what is taken, and what each bad field is told."""

from typing import Any

import pytest

from labeling.formats import gold as own_gold
from labeling.formats import gsm8k as gsm8k_problems
from labeling.formats import gsm8k_solutions, plain, prm800k, processbench, scored_samples
from labeling.formats import math as math_problems
from labeling.formats.faults import BadRecord
from labeling.formats.registry import FORMATS, choose
from tests.labeling.file_makers import completion, human_label, record, sample, step

SCORED: dict[str, Any] = {
    "problem": "What is $1+1$?",
    "answer": None,
    "is_correct": True,
    "subject": "Algebra",
    "level": 2,
    "unique_id": "own/1.json",
    "steps": ["Add.", "So $2$."],
    "rating_probs": [{"-1": 0.1, "1": 0.8, "0": 0.1}] * 2,
    "orm_score": 0.5,
    "prm_score": 0.81,
    "ground_truth_answer": "2",
}
EMPTY_STEP = {"completions": None, "human_completion": None, "chosen_completion": None}
PHASE_2 = {"pre_generated_steps": ["a"], "pre_generated_answer": "5", "pre_generated_verifier_score": 0.5}
OWN_GOLD = {"problem": "What is $1+1$?", "answer": "2", "steps": ["Add.", "So $3$.", "# Answer\n\n3"]}
MODELS = {
    "question": "How many?",
    "ground_truth": "Two and two.\nA: 4",
    "small": {"is_correct": False, "solution": "A: 5"},
}


def faults_of(kind: str, data: dict[str, Any], name: str = "auto") -> list[tuple[str, str]]:
    with pytest.raises(BadRecord) as caught:
        choose(kind, name, data).parse(data)
    assert all(fault.cure for fault in caught.value)
    return [(fault.field, fault.message) for fault in caught.value]


@pytest.mark.parametrize(
    ("kind", "data", "name"),
    [
        ("problems", {"question": "q", "answer": "so #### 4"}, "gsm8k"),
        ("problems", {"problem": "q", "final_answer": "4"}, "math"),
        ("problems", {"problem": "q", "solution": "s", "level": "Level 2", "type": "Algebra"}, "math"),
        ("problems", {"problem": "q", "answer": "4"}, "jsonl"),
        ("solutions", record(), "prm800k"),
        ("solutions", MODELS, "gsm8k-solutions"),
        ("solutions", SCORED, "scored-samples"),
        ("solutions", human_label(), "processbench"),
        ("solutions", sample(), "jsonl"),
        ("solutions", {"problem": "q", "solution": "text"}, "jsonl"),
        ("labels", record(), "prm800k"),
        ("gold", human_label(), "processbench"),
        ("gold", OWN_GOLD | {"first_error": 1}, "gold"),
    ],
)
def test_the_format_is_found_from_the_first_record(kind: str, data: dict[str, Any], name: str) -> None:
    found = choose(kind, "auto", data)
    assert found.name == name
    assert found.parse(data)


def test_a_file_of_another_kind_is_told_what_it_is() -> None:
    with pytest.raises(BadRecord, match="gold \\(processbench\\)"):
        choose("labels", "auto", human_label())
    with pytest.raises(BadRecord, match="docs/formats.md"):
        choose("labels", "auto", {"nothing": "known"})


def test_every_format_of_the_contract_exists() -> None:
    assert {kind: {known.name for known in known} for kind, known in FORMATS.items()} == {
        "problems": {"math", "gsm8k", "jsonl"},
        "solutions": {"prm800k", "gsm8k-solutions", "scored-samples", "processbench", "jsonl"},
        "labels": {"prm800k"},
        "gold": {"processbench", "gold"},
    }


# --- PRM800K ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        record(step(completion("a"), completion("b", -1), chosen=0)),
        record(step(completion("a", None, flagged=None), chosen=None), label={"finish_reason": "give_up"}),
        record(step(completion("a")), EMPTY_STEP),
        record(step(completion("a", -1), chosen=None, human=completion("b", None, source="human"))),
        record(step(completion("a"), human=completion("b", None, source="human"))),
        record(labeler=None, label={"total_time": None, "finish_reason": None}),
        record(question={"ground_truth_answer": None}),
        record(generation=-1, is_initial_screening_question=True),
        record(*[step(*[completion(str(i))] * 14) for i in range(2)]),
        record(question=PHASE_2),
        record({"completions": [completion("a")], "chosen_completion": 0}),
    ],
    ids=["alternatives", "given up", "empty last step", "written by a person", "written and chosen", "nobody",
         "no answer", "screening", "fourteen completions", "phase 2", "field left out"],
)  # fmt: skip
def test_every_shape_of_prm800k_is_kept_as_it_is(data: dict[str, Any]) -> None:
    assert prm800k.parse_label(data).record == data
    assert prm800k.in_order(data) == data
    shuffled = dict(reversed(list(data.items())))
    assert list(prm800k.in_order(shuffled)) == list(data)


def test_names_that_prm800k_does_not_have_go_to_the_side() -> None:
    row = prm800k.parse_label(record() | {"rebuilt_from": "x[0]"})
    assert row.side == {"rebuilt_from": "x[0]"}
    assert row.record == record()


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        (record(generation="2"), "generation", "this is text, not whole number"),
        (record(generation=2**40), "generation", "no number of a generation"),
        (record(timestamp="yesterday"), "timestamp", "no time"),
        (record(labeler=7), "labeler", "whole number, not text"),  # type: ignore[arg-type]
        (record(is_quality_control_question=None), "is_quality_control_question", "null, not true/false"),
        (record(problem=" "), "question.problem", "empty"),
        (record(label={"finish_reason": "bored"}), "label.finish_reason", "bored is no finish reason"),
        (record(label={"total_time": -1}), "label.total_time", "no time in milliseconds"),
        (record(label={"steps": None}), "label.steps", "null, not list"),
        (record(label={"steps": ["a"]}), "label.steps[0]", "a step is an object"),
        (record(step(completion("a", 2))), "label.steps[0].completions[0].rating", "2 is no rating"),
        (
            record(step(completion("a", True))),
            "label.steps[0].completions[0].rating",
            "true/false, not whole",
        ),
        (record(step(completion("a"), chosen=1)), "label.steps[0].chosen_completion", "no completion 1"),
        (record(step({"text": "a"})), "label.steps[0].completions[0].rating", "missing"),
        (record(step({"text": None, "rating": 1})), "label.steps[0].completions[0].text", "missing"),
        (record(step(completion("a"), human="b")), "label.steps[0].human_completion", "is an object"),  # type: ignore[arg-type]
        ({k: v for k, v in record().items() if k != "labeler"}, "labeler", "missing"),
    ],
)
def test_a_bad_field_of_prm800k_is_named(data: dict[str, Any], field: str, words: str) -> None:
    (found,) = faults_of("labels", data)
    assert found[0] == field
    assert words in found[1]


def test_all_bad_fields_of_a_record_are_named_at_once() -> None:
    bad = record(step(completion("a", 3), chosen=5), generation="x", label={"finish_reason": "?"})
    assert len(faults_of("labels", bad)) == 4


def test_ratings_are_counted_over_all_completions_of_models() -> None:
    data = record(
        step(completion("a"), completion("b", 0), completion("c", -1), chosen=0),
        step(
            completion("d", None),
            completion("e", -1),
            chosen=None,
            human=completion("f", None, source="human"),
        ),
        step(completion("g", -1), chosen=None),
    )
    counts = prm800k.parse_label(data).counts
    assert (counts.n_good, counts.n_neutral, counts.n_bad, counts.n_unrated) == (1, 1, 3, 1)
    assert counts.first_error == 2


def test_a_solution_is_the_path_that_was_taken() -> None:
    data = record(
        step(completion("a"), completion("b"), chosen=1),
        step(completion("c", -1), chosen=None, human=completion("d", None)),
        step(completion("e", -1), completion("f"), chosen=None),
        step(completion("never reached")),
    )
    assert prm800k.parse_solution(data).steps == ("b", "d", "e")
    phase2 = record(question=PHASE_2)
    row = prm800k.parse_solution(phase2)
    assert (row.steps, row.answer, row.extra) == (("a",), "5", {"pre_generated_verifier_score": 0.5})


# --- Problems ---------------------------------------------------------------------------------


def test_a_math_problem_is_read_in_each_of_its_shapes() -> None:
    row = math_problems.parse_problem(
        {
            "problem": "p",
            "solution": "s",
            "answer": "4",
            "subject": "Algebra",
            "level": "Level 3",
            "unique_id": "u",
        }
    )
    assert (row.answer, row.subject, row.level, row.external_id) == ("4", "Algebra", "3", "u")
    assert math_problems.parse_problem({"problem": "p", "level": 5, "type": "Geometry"}).level == "5"
    assert math_problems.parse_problem({"problem": "p", "final_answer": ""}).answer is None


def test_a_gsm8k_answer_stands_behind_the_last_mark() -> None:
    row = gsm8k_problems.parse_problem({"question": "q", "answer": "#### no\n<<2*3=6>>6\n#### 1,006"})
    assert row.answer == "1,006"
    assert faults_of("problems", {"question": "q", "answer": "just 6"}, "gsm8k")[0][0] == "answer"
    assert faults_of("problems", {"question": "q", "answer": "then ####"}, "gsm8k")[0][0] == "answer"


def test_a_number_is_an_answer_as_it_is_written() -> None:
    assert plain.parse_problem({"problem": "p", "answer": 12}).answer == "12"
    assert plain.parse_problem({"problem": "p", "answer": 0.5}).answer == "0.5"
    assert faults_of("problems", {"problem": "p", "answer": True}) == [
        ("answer", "this is true/false, not text.")
    ]


def test_a_text_longer_than_its_column_is_refused() -> None:
    assert faults_of("problems", {"problem": "p", "level": "x" * 21})[0][0] == "level"


# --- Solutions --------------------------------------------------------------------------------


def test_each_model_of_a_gsm8k_line_gives_a_solution() -> None:
    rows = gsm8k_solutions.parse_solutions(MODELS | {"large": {"is_correct": True, "solution": "2\nA: 4"}})
    assert [(row.generator, row.is_correct, row.problem.answer) for row in rows] == [
        ("small", False, "4"),
        ("large", True, "4"),
    ]
    bad = MODELS | {"small": {"is_correct": "no", "solution": ""}}
    assert [field for field, _ in faults_of("solutions", bad)] == ["small.is_correct", "small.solution"]


def test_a_scored_sample_keeps_its_scores_beside_it() -> None:
    row = scored_samples.parse_solution(SCORED)
    assert row.extra == {
        name: SCORED[name] for name in ("prm_score", "orm_score", "rating_probs", "is_correct")
    }
    assert (row.answer, row.problem.answer) == (None, "2")
    assert scored_samples.parse_solution(SCORED | {"given_answer": "3"}).answer == "3"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rating_probs": SCORED["rating_probs"][:1]}, "rating_probs"),
        ({"rating_probs": [{"-1": 0.1, "0": 0.2}] * 2}, "rating_probs[0]"),
        ({"rating_probs": [{"-1": 2, "0": 0.2, "1": 0.1}] * 2}, "rating_probs[0]"),
        ({"prm_score": "high"}, "prm_score"),
        ({"steps": []}, "steps"),
        ({"steps": ["a", " "], "rating_probs": None}, "steps[1]"),
        ({"steps": "a", "rating_probs": None}, "steps"),
    ],
)
def test_a_bad_field_of_a_scored_sample_is_named(change: dict[str, Any], field: str) -> None:
    assert faults_of("solutions", SCORED | change, "scored-samples")[0][0] == field


# --- Gold -------------------------------------------------------------------------------------


def test_a_persons_first_error_becomes_gold() -> None:
    row = processbench.parse_gold(human_label(1))
    assert (row.accepted, row.first_error) == (((1, 0), (-1,)), 1)
    row = processbench.parse_gold(human_label(-1))
    assert (row.accepted, row.first_error) == (((1, 0), (1, 0)), None)


@pytest.mark.parametrize("label", [2, -2])
def test_a_first_error_outside_the_solution_is_refused(label: int) -> None:
    assert faults_of("gold", human_label(label))[0][0] == "label"


@pytest.mark.parametrize(
    ("fields", "accepted", "first_error"),
    [
        ({"first_error": 1}, ((1, 0), (-1,)), 1),
        ({"first_error": None}, ((1, 0), (1, 0), (1, 0)), None),
        ({"accepted": [[1], [-1]]}, ((1,), (-1,)), 1),
        ({"accepted": [[1], [0], [1, 0]]}, ((1,), (0,), (1, 0)), None),
        ({"accepted": [[1], [-1]], "first_error": 1}, ((1,), (-1,)), 1),
    ],
)
def test_own_gold_is_complete_from_either_field(fields: Any, accepted: Any, first_error: Any) -> None:
    row = own_gold.parse_gold(OWN_GOLD | fields)
    assert (row.accepted, row.first_error) == (accepted, first_error)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "first_error"),
        ({"first_error": 3}, "first_error"),
        ({"first_error": "1"}, "first_error"),
        ({"accepted": [[1], [-1]], "first_error": 0}, "first_error"),
        ({"accepted": [[1], [-1]], "first_error": None}, "first_error"),
        ({"accepted": [[1], [0]]}, "accepted"),
        ({"accepted": [[1], [-1], [1]]}, "accepted"),
        ({"accepted": [[1], [-1, 0]]}, "accepted[1]"),
        ({"accepted": [[1], []]}, "accepted[1]"),
        ({"accepted": [[1], [2]]}, "accepted[1]"),
        ({"accepted": [[True], [-1]]}, "accepted[0]"),
    ],
)
def test_gold_that_contradicts_itself_is_refused(fields: Any, field: str) -> None:
    assert faults_of("gold", OWN_GOLD | fields, "gold")[0][0] == field
