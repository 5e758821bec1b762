"""Whole grades: the cascade's rules, a table of known traps, and what each grader misreads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from models_prm.answers import (
    Grade,
    GraderPool,
    Strictness,
    Verdict,
    extract_answer,
    grade,
    grade_in_full,
)
from models_prm.answers.cascade import decide, next_grader, quick_grade
from models_prm.answers.math_verify_vote import math_verify_vote
from models_prm.answers.paper import paper_vote

RIGHT, WRONG, UNKNOWN = Verdict.RIGHT, Verdict.WRONG, Verdict.UNKNOWN


@pytest.fixture(scope="module")
def pool() -> Iterator[GraderPool]:
    with GraderPool(time_limit_s=30) as pool:
        yield pool


# (true answer, given answer, verdict). Policy rows: a decimal is exactly what it says; the order of a list is
# free, that of a tuple is not; a percent sign may be dropped, and 50% is also 0.5.
TRAPS = [
    (r"\frac{1}{2004!}", r"\frac{1}{2006!}", WRONG),
    (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}", WRONG),
    (r"1-\frac{1}{\mathrm e}", r"1+\frac{1}{\mathrm e}", WRONG),
    ("3x-y+13=0", "3x+4y+14=0", WRONG),
    (r"\text{Evelyn}", "Evelyn", RIGHT),
    ("52_8", "52", WRONG),
    (r"\sqrt2", "1.41421356", WRONG),
    ("1,2,3", "3,2,1", RIGHT),
    (r"50\%", "50", RIGHT),
    (r"50\%", "0.5", RIGHT),
    ("day", "month", WRONG),
    ("minute", "second", WRONG),
    ("5", "4.9999999999", WRONG),
    ("1024", "2^{10}", RIGHT),
    ("10{,}000", "10000", RIGHT),
]


@pytest.mark.parametrize(("truth", "given", "verdict"), TRAPS, ids=[f"{t} | {g}" for t, g, _ in TRAPS])
@pytest.mark.parametrize("wrap", ["{}", "${}$"], ids=["plain", "in dollars"])
def test_b12_each_row_of_the_survey_is_graded_right_however_it_is_wrapped(
    pool: GraderPool, truth: str, given: str, verdict: Verdict, wrap: str
) -> None:
    assert pool.grade(wrap.format(given), wrap.format(truth)).verdict is verdict
    assert pool.grade(given, wrap.format(truth)).verdict is verdict


@pytest.mark.parametrize(
    ("given", "truth", "verdict", "by"),
    [
        (None, "3", WRONG, "no answer"),
        ("", "0", WRONG, "no answer"),
        ("?", "0", WRONG, "no answer"),
        (" $ $ ", "0", WRONG, "no answer"),
        ("3", None, UNKNOWN, "no truth"),
        ("", "", UNKNOWN, "no truth"),
        (r"\frac{1}{2}", r"\frac{1}{2}", RIGHT, "string"),
        (r"\dfrac12", r"\frac{1}{2}", RIGHT, "normalised"),
        ("0.50", r"\frac12", RIGHT, "number"),
        ("7", "8", WRONG, "number"),
        ("1" * 30_000, "2", UNKNOWN, "too long"),
        ("100,200", "200,100", None, ""),
        ("x", "y", None, ""),
        ("32 m", "32 cm", None, ""),
    ],
)
def test_simple_pairs_need_no_worker(
    given: str | None, truth: str | None, verdict: Verdict | None, by: str
) -> None:
    quick = quick_grade(given, truth)
    assert (quick and (quick.verdict, quick.by)) == (verdict and (verdict, by))


@pytest.mark.parametrize(
    ("votes", "verdict", "by"),
    [
        ({}, UNKNOWN, "no grader could tell"),
        ({"normalised": RIGHT, "exact": WRONG}, RIGHT, "normalised"),
        ({"number": WRONG, "paper": RIGHT}, WRONG, "number"),
        ({"exact": WRONG, "paper": RIGHT, "math-verify": RIGHT}, WRONG, "exact"),
        ({"exact": RIGHT, "paper": WRONG, "math-verify": WRONG}, RIGHT, "exact"),
        ({"paper": WRONG, "math-verify": RIGHT}, RIGHT, "math-verify"),
        ({"paper": WRONG, "math-verify": WRONG}, WRONG, "math-verify"),
        ({"paper": RIGHT}, RIGHT, "paper"),
        ({"paper": RIGHT, "math-verify": WRONG}, UNKNOWN, "graders disagree"),
        ({"paper": WRONG}, UNKNOWN, "no grader could tell"),
    ],
)
def test_votes_make_one_verdict(votes: dict[str, Verdict], verdict: Verdict, by: str) -> None:
    assert decide(votes) == (verdict, by)


@pytest.mark.parametrize("relation", ["3x+4y+14=0", "3x-y=0", "x=0"])
def test_b12_an_equation_read_as_nothing_or_as_a_constant_gives_no_verdict(relation: str) -> None:
    """Math-Verify 0.9.0 reads both of two plain equations as 0 and calls them equal."""
    for other in ("0", "3x-y+13=0", ""):
        assert math_verify_vote(relation, other) is not RIGHT


def test_b12_of_two_boxes_the_last_is_the_answer(pool: GraderPool) -> None:
    answer = extract_answer(r"First $\boxed{3}$. No: $\boxed{4}$.")
    assert answer == "4"
    assert pool.grade(answer, "4").verdict is RIGHT
    assert pool.grade(answer, "3,4").verdict is WRONG


def test_the_verdict_stands_as_soon_as_a_proof_is_there(pool: GraderPool) -> None:
    grade_ = pool.grade("(x+1)(x-1)", "x^2-1")
    assert (grade_.verdict, grade_.by) == (RIGHT, "exact")
    assert set(grade_.votes) == {"string", "normalised", "number", "exact"}


STRICTNESS = [
    # given, truth, by value, by form, leniently
    (r"\frac{2}{4}", r"\frac{1}{2}", RIGHT, WRONG, RIGHT),
    ("4/2", "2", RIGHT, WRONG, RIGHT),
    ("2^{10}", "1024", RIGHT, WRONG, RIGHT),
    ("x+1", "1+x", RIGHT, RIGHT, RIGHT),
    (r"\dfrac12", r"\frac{1}{2}", RIGHT, RIGHT, RIGHT),
    ("1.41421356", r"\sqrt2", WRONG, WRONG, RIGHT),
    ("1.41421357", r"\sqrt2", WRONG, WRONG, WRONG),
    ("0.333", r"\frac13", WRONG, WRONG, RIGHT),
    ("0.3", r"\frac13", WRONG, WRONG, WRONG),  # one digit is no answer
    (r"\frac{22}{7}", "3.14", WRONG, WRONG, RIGHT),  # either side may be the rounded one
    (r"\pi", "3.14", WRONG, WRONG, RIGHT),
    ("7", "8", WRONG, WRONG, WRONG),
]


@pytest.mark.parametrize(
    ("strictness", "column"), [(Strictness.VALUE, 2), (Strictness.FORM, 3), (Strictness.LENIENT, 4)]
)
def test_strictness_says_what_counts_as_equal(strictness: Strictness, column: int) -> None:
    with GraderPool(time_limit_s=30, strictness=strictness) as pool:
        grades = pool.grade_many([(row[0], row[1]) for row in STRICTNESS])
    assert [g.verdict for g in grades] == [row[column] for row in STRICTNESS]


def test_an_unknown_strictness_is_refused() -> None:
    with pytest.raises(ValueError, match="'loose' is not a valid Strictness"):
        GraderPool(strictness="loose")


@pytest.mark.parametrize(
    ("votes", "strictness", "every_vote", "wanted"),
    [
        ({}, Strictness.VALUE, False, "exact"),
        ({"exact": WRONG}, Strictness.VALUE, False, None),
        ({"exact": WRONG}, Strictness.VALUE, True, "paper"),
        ({"exact": UNKNOWN}, Strictness.VALUE, False, "paper"),
        ({"exact": RIGHT}, Strictness.FORM, False, "paper"),
        ({"exact": RIGHT, "paper": WRONG}, Strictness.FORM, False, None),
        ({"exact": WRONG}, Strictness.LENIENT, False, "rounded"),
        ({"exact": RIGHT}, Strictness.LENIENT, False, None),
        ({"exact": UNKNOWN, "paper": WRONG, "math-verify": WRONG}, Strictness.VALUE, True, None),
    ],
)
def test_graders_are_asked_until_the_verdict_stands(
    votes: dict[str, Verdict], strictness: Strictness, every_vote: bool, wanted: str | None
) -> None:
    assert next_grader(votes, strictness, every_vote=every_vote) == wanted


def test_brackets_that_never_close_are_wrong_however_many(pool: GraderPool) -> None:
    assert pool.grade("(" * 5000 + "1", "1").verdict is WRONG
    assert pool.grade("9" * 15_000, "1" * 9).verdict is WRONG


def test_every_grader_is_on_record_on_request() -> None:
    with GraderPool(time_limit_s=30, every_vote=True) as pool:
        grade_ = pool.grade("(x+1)(x-1)", "x^2-1")
    assert grade_.by == "exact"
    assert grade_.votes == {
        "string": UNKNOWN, "normalised": UNKNOWN, "number": UNKNOWN,
        "exact": RIGHT, "paper": RIGHT, "math-verify": RIGHT,
    }  # fmt: skip


def test_a_dispute_is_a_contradiction_not_a_refusal() -> None:
    assert Grade(WRONG, "exact", {"exact": WRONG, "math-verify": RIGHT}).disputed
    assert not Grade(RIGHT, "exact", {"exact": RIGHT, "paper": WRONG, "math-verify": UNKNOWN}).disputed


def test_units_that_differ_are_disputed_with_math_verify() -> None:
    with GraderPool(time_limit_s=30, every_vote=True) as pool:
        assert pool.grade("32 m", r"32\text{ cm}").disputed


@pytest.mark.parametrize(
    ("given", "truth", "verdict"),
    [
        (r"\frac{2}{4}", r"\frac{1}{2}", WRONG),  # fractions must be written alike
        ("4/2", "2", WRONG),  # an integer needs an integer
        ("2^{10}", "1024", WRONG),  # exponents are not tried
        ("(2,1)", "(1,2)", WRONG),
        ("[1,2]", "(1,2)", WRONG),
        ("(1,x+x)", "(1,2x)", RIGHT),
        ("x+y+z", "z+y+x", WRONG),  # three unknown letters
        ("x+1", "1+x", RIGHT),
        (r"32\text{ cm}", "32", RIGHT),
        ("day", "month", RIGHT),  # both stripped to nothing: why it is not asked alone
        ("4.9999999999", "5", RIGHT),
        (r"50\%", "50", RIGHT),
        (r"50\%", "0.5", WRONG),
        (r"\frac{-3}{4}", r"-\frac{3}{4}", RIGHT),
        ("x=5", "5", RIGHT),
        ("3 million", "3000000", WRONG),
        (r"137 \frac{1}{2}", "137.5", RIGHT),
    ],
)
def test_the_papers_rules_are_conservative(given: str, truth: str, verdict: Verdict) -> None:
    assert paper_vote(given, truth) is verdict


@pytest.mark.parametrize(
    ("given", "truth", "verdict"),
    [
        ("x^2-1", "(x+1)(x-1)", RIGHT),
        ("x^2", "x^3", WRONG),
        (r"\sum_{k=1}^{10} k", "55", RIGHT),
        (r"\sum_{k=1}^{10} k", "54", WRONG),
        (r"\int_0^1 x^2 dx", r"\frac13", RIGHT),
        (r"\frac{1}{2006!}", r"\frac{1}{2004!}", UNKNOWN),
        ("52", "52_8", UNKNOWN),
        ("3x+4y+14=0", "3x-y+13=0", WRONG),
        ("", "3", UNKNOWN),
    ],
)
def test_math_verify_is_not_believed_where_it_misreads(given: str, truth: str, verdict: Verdict) -> None:
    assert math_verify_vote(given, truth) is verdict


def test_one_pair_is_graded_by_a_function() -> None:
    assert grade("x^2+2x+1", "(x+1)^2") is RIGHT
    assert grade_in_full("x^2+2x+1", "x^2").verdict is WRONG
