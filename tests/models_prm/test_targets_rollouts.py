"""Monte Carlo targets: every roll-out kept and graded, none more than needed, neighbours verified."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from models_prm.__main__ import main
from models_prm.answers import GraderPool
from models_prm.errors import Cancelled, DataError
from models_prm.fakes import FakeSampler
from models_prm.sampling.records import SampleRequest
from models_prm.targets import Counts, PoolSolution, StepTargets
from models_prm.targets.beta import beta_interval
from models_prm.targets.plan import Plan, binary_plan, linear_plan
from models_prm.targets.rollouts import RolloutConfig, RolloutLabeler
from tests.models_prm.prm_make import write_lines
from tests.models_prm.sampling_make import save_model


@pytest.fixture(scope="module")
def grader() -> Any:
    with GraderPool() as pool:
        yield pool


def solution(*steps: str, line: int = 1, **fields: Any) -> PoolSolution:
    return PoolSolution(line, "k", "What is 1 + 2?", steps, **{"truth": "3", **fields})


def world(chances: list[float]) -> FakeSampler:
    """A generator that ends right with a chance that depends on how many steps stand in the prompt."""

    def write(request: SampleRequest) -> str:
        length = request.prompt.rpartition("Solution:\n")[2].count("\n")
        right = random.Random(request.seed).random() < chances[length]
        return f"# Answer\n{3 if right else 13}"

    return FakeSampler(write=write)


def labelled(
    sampler: FakeSampler, grader: Any, given: list[PoolSolution], **settings: Any
) -> tuple[list[StepTargets], Counts]:
    counts = Counts()
    config = RolloutConfig(**{"most": 8, "batch": 4, **settings})
    return list(RolloutLabeler(sampler, grader, config).label(given, counts)), counts


@pytest.mark.parametrize(("s", "f"), [(0, 0), (0, 8), (3, 5), (8, 0), (40, 24)])
def test_the_interval_is_the_beta_distributions(s: int, f: int) -> None:
    wanted = stats.beta.ppf([0.025, 0.975], s + 1, f + 1)
    assert beta_interval(s, f) == pytest.approx(tuple(wanted), abs=1e-9)


def test_hard_labels_are_any_success_and_stop_at_the_first_error(grader: Any) -> None:
    [row], counts = labelled(world([1, 1, 0, 0, 0]), grader, [solution("a", "b", "c", answer="13")])
    assert row.labels == (1.0, 0.0, None)
    assert row.record["first_error"] == 1
    assert counts["labelled"] == 1
    assert [p["steps"] for p in row.record["prefixes"]] == [0, 1, 2]


def test_every_rollout_is_kept_with_its_verdict(grader: Any) -> None:
    sampler = world([0.5, 0.4, 0.4, 0.4])
    [row], _ = labelled(sampler, grader, [solution("a", "b", "c")], labels="soft", width=0.0, every_step=True)
    kept = [r for prefix in row.record["prefixes"] for r in prefix["rollouts"]]
    assert len(kept) == len(sampler.seen) == 32
    assert {r["right"] for r in kept} == {True, False}
    assert all({"seed", "text", "finish", "tokens", "answer", "index"} <= r.keys() for r in kept)
    for prefix in row.record["prefixes"]:
        assert prefix["successes"] == sum(r["right"] is True for r in prefix["rollouts"])
        assert prefix["interval"] == list(beta_interval(prefix["successes"], prefix["failures"]))


def test_the_check_is_the_grader_and_never_containment(grader: Any) -> None:
    """The true answer 3 stands inside 13, and 3.0 does not look like 3."""
    sampler = FakeSampler(write=lambda r: "# Answer\n13" if "a\n" in r.prompt else "# Answer\n3.0")
    [row], _ = labelled(sampler, grader, [solution("a", "b")])
    assert row.labels[0] == 0.0
    assert row.record["prefixes"][0]["successes"] == 4


def test_soft_labels_are_the_share(grader: Any) -> None:
    [row], _ = labelled(world([1, 0.5, 0.5]), grader, [solution("a", "b")], labels="soft", most=64, width=0.0)
    first = row.record["prefixes"][1]
    assert row.labels[0] == first["successes"] / 64
    assert 0.3 < (row.labels[0] or 0) < 0.7


def test_a_decided_prefix_gets_no_more_rollouts(grader: Any) -> None:
    hard = world([1, 1, 1])
    labelled(hard, grader, [solution("a", "b")], most=64, batch=4)
    assert len(hard.seen) == 3 * 4
    soft = world([1, 1, 0.5])
    [row], _ = labelled(soft, grader, [solution("a", "b")], labels="soft", most=64, batch=4, width=0.25)
    numbers = [len(p["rollouts"]) for p in row.record["prefixes"]]
    assert numbers[0] == numbers[1] < numbers[2] < 64
    assert all(p["interval"][1] - p["interval"][0] <= 0.25 for p in row.record["prefixes"])


def test_labels_that_are_too_uncertain_are_left_out(grader: Any) -> None:
    [row], _ = labelled(
        world([1, 0.5, 1]), grader, [solution("a", "b")], labels="soft", most=8, width=0.0, drop_wider=0.4
    )
    assert row.labels[0] is None
    assert row.labels[1] == 1.0


def test_the_whole_solutions_value_is_the_grade_of_its_own_answer(grader: Any) -> None:
    sampler = world([1, 1, 0])
    [row], _ = labelled(sampler, grader, [solution("a", "b", answer="3")])
    assert row.labels == (1.0, 1.0)
    assert row.record["prefixes"][2]["own_answer"]
    assert row.record["prefixes"][2]["rollouts"] == []


def test_solutions_of_a_problem_share_their_prefixes(grader: Any) -> None:
    sampler = world([1, 1, 1, 1])
    rows, _ = labelled(
        sampler, grader, [solution("a", "b", answer="3"), solution("a", "c", answer="3", line=2)]
    )
    assert len(rows) == 2
    assert len(sampler.seen) == 2 * 4  # the problem itself and "a", once each


def test_problems_that_say_nothing_are_left_out_and_counted(grader: Any) -> None:
    rows, counts = labelled(world([0, 0, 0]), grader, [solution("a", "b")])
    assert (rows, counts) == ([], {"problem never solved": 1})
    rows, counts = labelled(world([1, 1, 1]), grader, [solution("a", "b")], mixed_only=True)
    assert (rows, counts) == ([], {"problem always solved": 1})
    rows, counts = labelled(world([1]), grader, [solution(), solution("a", truth=None)])
    assert counts == {"no steps": 1, "no true answer": 1}


def test_an_unfinished_rollout_did_not_get_there(grader: Any) -> None:
    sampler = FakeSampler(write=lambda r: "# Answer\n3" + (" and so on" * 9 if "a\n" in r.prompt else ""))
    [row], _ = labelled(sampler, grader, [solution("a", "b")], max_tokens=20)
    assert row.labels[0] == 0.0
    assert {r["finish"] for r in row.record["prefixes"][1]["rollouts"]} == {"length"}


def answered(plan: Plan, truth: list[bool]) -> list[int]:
    asked = []
    while plan.question is not None:
        asked.append(plan.question.length)
        plan.answer(truth[plan.question.length])
    return asked


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 17])
def test_bisection_finds_every_first_error_and_asks_the_neighbours(steps: int) -> None:
    for good in range(steps + 1):
        truth = [length <= good for length in range(steps + 1)]
        plan = binary_plan(steps)
        asked = answered(plan, truth)
        assert len(asked) == len(set(asked)) <= steps.bit_length() + 3
        if good == steps:
            assert plan.first_error is None
            assert {steps, max(0, steps - 1)} <= set(asked)
        else:
            assert plan.first_error == good
            assert {good, good + 1, min(good + 2, steps)} <= set(asked)
        assert plan.monotone
        linear = linear_plan(steps)
        answered(linear, truth)
        assert linear.first_error == plan.first_error


def test_bisection_searches_on_where_the_truth_is_not_monotone() -> None:
    truth = [True, True, False, True, True, True, False, False]
    plan = binary_plan(7)
    answered(plan, truth)
    assert plan.first_error == 5
    lucky = [True, False, True, True]
    plan = binary_plan(3)
    answered(plan, lucky)
    assert plan.first_error is None
    noticed = [True, True, True, False, True, False, False]
    plan = binary_plan(6)
    answered(plan, noticed)
    assert plan.first_error == 4
    assert not plan.monotone


def test_an_unsolvable_problem_has_no_first_error_worth_finding() -> None:
    plan = binary_plan(4)
    assert answered(plan, [False] * 5) == [0]


def test_binary_search_gives_the_labels_of_the_linear_one_with_fewer_rollouts(grader: Any) -> None:
    steps = tuple("abcdefghijkl")
    chances = [1.0] * 8 + [0.0] * 5
    few, many = world(chances), world(chances)
    [binary], _ = labelled(few, grader, [solution(*steps, answer="13")], search="binary")
    [linear], _ = labelled(many, grader, [solution(*steps, answer="13")])
    assert binary.labels == linear.labels
    assert len(few.seen) < len(many.seen)


def test_the_same_seed_gives_the_same_labels_whatever_the_window(grader: Any) -> None:
    given = [solution("a", "b", "c", line=i, answer="13") for i in range(1, 5)]
    config = RolloutConfig(most=3, batch=1, labels="soft", width=0.0)
    rows = [
        [
            r.labels
            for r in RolloutLabeler(world([1, 0.6, 0.4, 0]), grader, config).label(
                given, Counts(), window=window
            )
        ]
        for window in (1, 4)
    ]
    assert rows[0] == rows[1]


def test_a_stop_request_is_heard(grader: Any) -> None:
    labeler = RolloutLabeler(world([1, 1]), grader, RolloutConfig())
    with pytest.raises(Cancelled):
        list(labeler.label([solution("a")], Counts(), should_stop=lambda: True))


@pytest.mark.parametrize(
    "values",
    [
        {"most": 0},
        {"batch": 9},
        {"labels": "some"},
        {"search": "random"},
        {"search": "binary", "labels": "soft"},
        {"search": "binary", "every_step": True},
        {"level": 1.0},
    ],
)
def test_settings_check_themselves(values: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        RolloutConfig(**values)


def test_the_command_rolls_out_a_real_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_model(tmp_path / "generator", seed=3, peaked=0.25)
    lines = [{"problem": "Ada has 3 pens.", "steps": ["3", "So"], "answer": "9", "ground_truth_answer": "3"}]
    pool = write_lines(tmp_path / "pool.jsonl", lines)
    out = tmp_path / "rows.jsonl"
    command = ["targets", "rollouts", str(pool), "--model", str(tmp_path / "generator"), "--output", str(out)]
    assert main([*command, "--max-tokens", "6", "--most", "4"]) == 0
    # An untrained model answers nothing: its problem is never solved, and that is said.
    assert json.loads(capsys.readouterr().out)["problem never solved"] == 1
