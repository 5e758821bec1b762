"""Which grades a person should look at, and whom the second opinions are bought for. Real graders."""

import pytest

from models_prm.answers.cascade import SLOW_GRADERS
from models_prm.answers.doubts import grade_with_doubts, in_doubt, may_be_disputed
from models_prm.answers.pool import GraderPool
from models_prm.answers.verdict import Grade, Verdict

RIGHT, WRONG, UNKNOWN = Verdict.RIGHT, Verdict.WRONG, Verdict.UNKNOWN
METRES = ("32 m", r"32\text{ cm}")


@pytest.mark.parametrize(
    ("grade", "doubtful"),
    [
        (Grade(WRONG, "exact", {"exact": WRONG, "math-verify": RIGHT}), True),
        (Grade(RIGHT, "exact", {"exact": RIGHT, "math-verify": WRONG}), True),
        (Grade(WRONG, "exact", {"exact": WRONG, "paper": RIGHT}), True),
        (Grade(RIGHT, "exact", {"exact": RIGHT, "paper": WRONG}), False),  # "not shown equal" is no "wrong"
        (Grade(WRONG, "exact", {"exact": WRONG, "math-verify": UNKNOWN}), False),
        (Grade(UNKNOWN, "no grader could tell", {"exact": UNKNOWN, "paper": WRONG}), True),
        (Grade(UNKNOWN, "graders disagree", {"paper": RIGHT, "math-verify": WRONG}), True),
        (Grade(UNKNOWN, "timed out", {"exact": UNKNOWN}), True),
        (Grade(UNKNOWN, "no truth"), False),
        (Grade(UNKNOWN, "too long", {"string": WRONG}), False),
        (Grade(WRONG, "no answer"), False),
        (Grade(RIGHT, "string", {"string": RIGHT}), False),
    ],
)
def test_a_person_looks_at_contradictions_and_at_what_nobody_could_tell(grade: Grade, doubtful: bool) -> None:
    assert in_doubt(grade) is doubtful


def test_only_a_proof_that_was_not_checked_may_be_disputed() -> None:
    everyone = dict.fromkeys(SLOW_GRADERS, WRONG)
    assert may_be_disputed(METRES, Grade(WRONG, "exact", {"exact": WRONG}))
    assert not may_be_disputed(METRES, Grade(WRONG, "exact", everyone))
    assert not may_be_disputed(("4", "5"), Grade(WRONG, "number", {"number": WRONG}))
    assert not may_be_disputed(METRES, Grade(WRONG, "math-verify", everyone))


@pytest.mark.parametrize(
    ("answer", "truth", "verdict", "disputable"),
    [
        (r"-7, \frac{6}{5}", r"-7, -\frac{6}{5}", WRONG, False),
        ("9", "5, 9", WRONG, False),
        ("2,1", "1,2", RIGHT, True),  # whether order counts is a question
        ("5,120", "5, 120", WRONG, True),  # one number or two
        ("(1,2)", "1,2", WRONG, True),
        (r"50\%, 1", "0.5, 1", WRONG, True),
        (",", "1,2", WRONG, True),
    ],
)
def test_lists_of_plain_numbers_that_differ_need_no_second_opinion(
    answer: str, truth: str, verdict: Verdict, disputable: bool
) -> None:
    grade = Grade(verdict, "exact", {"exact": verdict})
    assert may_be_disputed((answer, truth), grade) is disputable


def test_a_contradiction_that_a_proof_hid_comes_to_light_and_changes_no_verdict() -> None:
    pairs = [METRES, ("x+1", "1+x"), METRES, (None, "3"), ("4", "5")]
    grades = grade_with_doubts(pairs)
    with GraderPool() as pool:
        plain = pool.grade_many(pairs)
    assert [(g.verdict, g.by) for g in grades] == [(g.verdict, g.by) for g in plain]
    assert [in_doubt(g) for g in grades] == [True, False, True, False, False]
    assert not any(in_doubt(g) for g in plain)
    assert (grades[0].votes["exact"], grades[0].votes["math-verify"]) == (WRONG, RIGHT)


def test_second_opinions_are_bought_for_the_first_pairs_only_and_each_pair_once() -> None:
    pairs = [("x+1", "1+x"), ("x+1", "1+x"), METRES]
    first, again, last = grade_with_doubts(pairs, second_opinions=1)
    assert set(SLOW_GRADERS) <= set(first.votes)
    assert again.votes == first.votes
    assert "math-verify" not in last.votes


def test_whoever_waits_may_stop_it_between_two_second_opinions() -> None:
    told: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_with_doubts([METRES], on_progress=stop)
    assert told == [(1, 1), (0, 1)]


def test_where_nothing_is_in_doubt_no_pair_is_asked_twice() -> None:
    assert [g.by for g in grade_with_doubts([("4", "5"), ("4", "4")])] == ["number", "string"]
    assert grade_with_doubts([]) == []
