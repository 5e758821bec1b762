"""Step scores as a reward: forms of return, the watch for over-optimisation, real runs of TRL's GRPO."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models_prm.errors import DataError
from models_prm.fakes import FakeScorer
from models_prm.rewards import FORMS, StepReward, step_returns
from models_prm.scoring import PrmScorer
from models_prm.watch import Entry, Turn, Watch, draw, find_turn, read_log
from tests.models_prm.prm_make import random_prm

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("sum", [2.1, 1.2, 1.0, 0.4]),
        ("minimum", [0.2, 0.2, 0.4, 0.4]),
        ("clipped", [-0.4, -0.4, -0.1, -0.1]),
    ],
)
def test_returns_of_each_form(form: Any, expected: list[float]) -> None:
    assert step_returns([0.9, 0.2, 0.6, 0.4], form, threshold=0.5) == pytest.approx(expected)
    assert step_returns([], form) == []


@given(probabilities, st.integers(0, 8))
def test_an_easy_step_more_pays_only_under_the_sum(scores: list[float], place: int) -> None:
    padded = [*scores[:place], 1.0, *scores[place:]]
    gains = {form: step_returns(padded, form)[0] - step_returns(scores, form)[0] for form in FORMS}
    assert gains["sum"] == pytest.approx(1.0)
    assert gains["minimum"] == 0
    assert gains["clipped"] == pytest.approx(0)


def bad_where_wrong(problem: str, steps: Any, index: int) -> float:
    return 0.9 if "wrong" in steps[index] else 0.1


def test_a_reward_per_completion_in_trls_shape() -> None:
    reward = StepReward(FakeScorer(judge=bad_where_wrong), form="minimum")
    prompts = ["q1", "q1", "q2"]
    rewards = reward(
        prompts=prompts, completions=["fine\nfine", "fine\nwrong\nfine", ""], completion_ids=[[1]] * 3
    )
    assert rewards == pytest.approx([0.9, 0.1, -1.0])
    assert reward.last[1] == pytest.approx([0.1, 0.1, 0.9])
    assert reward.__name__ == "prm_minimum"


def test_conversations_and_the_problem_column_are_understood() -> None:
    scorer = FakeScorer()
    chat = [[{"role": "system", "content": "s"}, {"role": "user", "content": "from the prompt"}]]
    answer = [[{"role": "assistant", "content": "one\n\ntwo\n\nthree"}]]
    StepReward(scorer, splitter="blank_line")(prompts=chat, completions=answer)
    StepReward(scorer)(prompts=chat, completions=answer, problem=["from the column"])
    assert [item.problem for item in scorer.seen] == ["from the prompt", "from the column"]
    assert scorer.seen[0].steps == ("one", "two", "three")


def test_a_completion_that_does_not_fit_into_the_context_has_no_reward() -> None:
    reward = StepReward(PrmScorer(random_prm(max_length=40)))
    long = "\n".join("abcdefgh" * 4 for _ in range(4))
    assert [r is None for r in reward(["q", "q"], ["a", long])] == [False, True]


def test_an_unknown_form_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="choose one of sum, minimum, clipped"):
        StepReward(FakeScorer(), form="median")  # type: ignore[arg-type]


def entries(scores: list[float], grades: list[float]) -> list[Entry]:
    return [Entry(i, s, g, 16, 16, 3.0) for i, (s, g) in enumerate(zip(scores, grades, strict=True))]


def noise(n: int, size: float) -> list[float]:
    rng = random.Random(0)
    return [rng.gauss(0, size) for _ in range(n)]


def test_scores_that_rise_while_grades_fall_are_a_turn() -> None:
    scores = [0.3 + 0.01 * i for i in range(60)]
    grades = [0.4 + 0.01 * min(i, 30) - 0.015 * max(0, i - 30) + e for i, e in enumerate(noise(60, 0.02))]
    turn = find_turn(entries(scores, grades))
    assert turn is not None
    assert 28 <= turn.best <= 33
    assert 33 <= turn.step <= 42
    assert turn.prm_rise > 0
    assert turn.grade_fall > 0.02


QUIET = {
    "both rise": ([0.01 * i for i in range(60)], [0.01 * i for i in range(60)]),
    "both fall": ([-0.01 * i for i in range(60)], [1 - 0.01 * i for i in range(60)]),
    "noise": ([0.01 * i for i in range(60)], [0.5 + e for e in noise(60, 0.01)]),
    "too short": ([0.1, 0.2], [0.9, 0.1]),
    "nothing": ([], []),
}


@pytest.mark.parametrize("name", QUIET)
def test_anything_else_is_no_turn(name: str) -> None:
    assert find_turn(entries(*QUIET[name])) is None


def test_the_log_is_read_back_and_drawn(tmp_path: Path) -> None:
    watch = Watch(tmp_path / "run" / "watch.jsonl")
    for i in range(40):
        right = [True] * (20 - abs(i - 20)) + [False] * abs(i - 20)
        watch.write(step=None, rewards=[0.01 * i, None], grades=[*right, None], steps=[2, 4])
    log = read_log(watch.path)
    assert [e.step for e in log] == list(range(40))
    assert log[10].prm == pytest.approx(0.1)
    assert (log[10].grade, log[10].graded, log[10].samples, log[10].steps) == (0.5, 20, 2, 3.0)
    assert isinstance(find_turn(log), Turn)
    svg = draw(log)
    assert svg.startswith("<svg")
    assert "over-optimised from step" in svg
    watch.path.write_text('{"step": 1}\n')
    with pytest.raises(DataError, match="line 1 is no line of a watch"):
        read_log(watch.path)


def test_the_reward_writes_what_its_watch_sees(tmp_path: Path) -> None:
    watch = Watch(tmp_path / "w.jsonl")

    def grade(prompt: str, completion: str, row: dict[str, Any]) -> bool | None:
        return None if row["answer"] is None else row["answer"] in completion

    reward = StepReward(FakeScorer(judge=bad_where_wrong), form="sum", watch=watch, grade=grade)
    state = SimpleNamespace(global_step=7)
    reward(["q"] * 3, ["5\nfine", "wrong", "x"], answer=["5", "5", None], trainer_state=state)
    (entry,) = read_log(watch.path)
    assert (entry.step, entry.grade, entry.graded, entry.samples) == (7, 0.5, 2, 3)
    assert entry.prm == pytest.approx((1.8 + 0.1 + 0.9) / 3)
    assert entry.steps == pytest.approx(4 / 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the trainer's own
def test_under_the_sum_trls_grpo_policy_learns_to_pad_and_the_watch_sees_it(tmp_path: Path) -> None:
    log = train_policy(tmp_path, "sum", steps=24)
    assert len(log) == 24
    assert log[0].steps < 3
    assert log[-1].steps > 6
    turn = find_turn(log)
    assert turn is not None
    assert turn.prm_rise > 0.5
    assert turn.grade_fall > 0.2
    assert f"over-optimised from step {turn.step}" in draw(log)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["minimum", "clipped"])
def test_the_other_forms_give_the_same_policy_no_reason_to_pad(tmp_path: Path, form: Any) -> None:
    log = train_policy(tmp_path, form, steps=24)
    assert log[-1].steps < 3
    assert log[-1].grade == 1.0
    assert find_turn(log) is None


def train_policy(folder: Path, form: Any, steps: int) -> list[Entry]:
    """Some steps of TRL's GRPO on a tiny policy; short answers are graded right: padding costs the grade."""
    import torch
    from datasets import Dataset
    from transformers import Qwen2Config, Qwen2ForCausalLM
    from trl import GRPOConfig, GRPOTrainer

    from tests.models_prm.public_make import byte_tokenizer

    tokenizer = byte_tokenizer()
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Qwen2Config(
        vocab_size=len(tokenizer), num_key_value_heads=2, max_position_embeddings=128, **shape
    )
    watch = Watch(folder / "watch.jsonl")
    reward = StepReward(
        FakeScorer(judge=lambda *_: 0.2),
        form=form,
        empty=0.0,
        watch=watch,
        grade=lambda prompt, completion, row: completion.count("\n") < 2,
    )
    settings = GRPOConfig(
        output_dir=str(folder / "out"),
        max_steps=steps,
        per_device_train_batch_size=16,
        num_generations=16,
        max_completion_length=24,
        learning_rate=3e-2,
        beta=0.0,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
        seed=0,
    )
    data = Dataset.from_list([{"prompt": "2 + 3 = ", "problem": "2 + 3?"}] * 64)
    trainer = GRPOTrainer(
        Qwen2ForCausalLM(config),
        reward_funcs=reward,
        args=settings,
        train_dataset=data,
        processing_class=tokenizer,
    )
    trainer.train()
    return read_log(watch.path)
