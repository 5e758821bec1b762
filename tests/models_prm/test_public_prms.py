"""Each family of public reward models, against the read-out of its model card written out here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch

from models_prm.errors import ModelError
from models_prm.interfaces import StepScorer
from models_prm.records import ScoringItem
from models_prm.scoring import PrmScorer, load_scorer
from tests.models_prm import public_make
from tests.models_prm.prm_make import random_prm

Reference = Callable[[str, Sequence[str]], list[float]]
"""(problem, steps) -> probability of a right step, as the model card reads it."""
SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."


def trl_reference(folder: Path) -> Reference:
    lm, tokenizer = public_make.trl(folder)

    def read(problem: str, steps: Sequence[str]) -> list[float]:
        separator = tokenizer.encode("\n", add_special_tokens=False)
        parts = [tokenizer(s, add_special_tokens=False)["input_ids"] + separator for s in steps]
        prompt = tokenizer(problem, add_special_tokens=False)["input_ids"]
        labels = list(chain(*([-100] * (len(p) - 1) + [1] for p in parts)))
        ids = [tokenizer.bos_token_id, *prompt, *chain(*parts)]
        probs = lm(input_ids=torch.tensor([ids])).logits[0].softmax(-1)[len(prompt) + 1 :, 1]
        return [float(p) for p, label in zip(probs, labels, strict=True) if label == 1]

    return read


def shepherd_reference(folder: Path) -> Reference:
    lm, tokenizer = public_make.math_shepherd(folder)

    def read(problem: str, steps: Sequence[str]) -> list[float]:
        tag = public_make.TAG
        text = "\n".join(f"Step {i}: {step} {tag}" for i, step in enumerate(steps, 1))
        candidates = tokenizer.encode("+ -")[1:]
        tag_id = tokenizer.encode(tag)[-1]
        ids = torch.tensor([tokenizer.encode(f"{problem} {text}")])
        scores = lm(ids).logits[:, :, candidates].softmax(-1)[:, :, 0]
        return [float(p) for p in scores[ids == tag_id]]

    return read


def qwen_reference(folder: Path) -> Reference:
    lm, tokenizer, head = public_make.qwen(folder)

    def read(problem: str, steps: Sequence[str]) -> list[float]:
        chat = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": problem},
            {"role": "assistant", "content": "<extra_0>".join(steps) + "<extra_0>"},
        ]
        ids = tokenizer.encode(tokenizer.apply_chat_template(chat, tokenize=False), return_tensors="pt")
        probs = head(lm.model(input_ids=ids).last_hidden_state).softmax(-1)
        masked = probs * (ids == tokenizer.encode("<extra_0>")[0]).unsqueeze(-1)
        return [float(p) for p in masked[0][masked[0] != 0].view(-1, 2)[:, 1]]

    return read


def rlhflow_reference(folder: Path) -> Reference:
    lm, tokenizer = public_make.rlhflow(folder)

    def read(problem: str, steps: Sequence[str]) -> list[float]:
        candidates = [tokenizer.encode("+")[-1], tokenizer.encode("-")[-1]]
        chat: list[dict[str, str]] = []
        scores = []
        for i, step in enumerate(steps):
            chat += [
                {"role": "user", "content": f"{problem} {step}" if i == 0 else step},
                {"role": "assistant", "content": "+"},
            ]
            text = tokenizer.apply_chat_template(chat, tokenize=False)
            ids = tokenizer.encode(text, add_special_tokens=False, return_tensors="pt")
            scores.append(float(lm(ids).logits[0, -3, candidates].softmax(-1)[0]))  # before "+", end of turn
        return scores

    return read


def skywork_reference(folder: Path) -> Reference:
    lm, tokenizer, head = public_make.skywork(folder)

    def read(problem: str, steps: Sequence[str]) -> list[float]:
        ids = tokenizer.encode(tokenizer.bos_token + problem + "\n")
        flags = [0] * len(ids)
        mark = tokenizer.encode("\n")[-1]
        for step in steps:
            part = [*tokenizer.encode(step), mark]
            ids += part
            flags += [0] * (len(part) - 1) + [1]
        values = head(lm.model(input_ids=torch.tensor([ids])).last_hidden_state).squeeze(-1)[0].sigmoid()
        return [float(v) for v, flag in zip(values, flags, strict=True) if flag]

    return read


FAMILIES: dict[str, Callable[[Path], Reference]] = {
    "trl": trl_reference,
    "math-shepherd": shepherd_reference,
    "qwen": qwen_reference,
    "rlhflow": rlhflow_reference,
    "skywork": skywork_reference,
}
NAMED = {"math-shepherd", "rlhflow"}
"""Families that files do not tell from any language model: their name must."""
ITEMS = [
    ScoringItem("a", "What is 2 + 3?", ("We add 2 and 3.", "2 + 3 = 5", "So the answer is 5.")),
    ScoringItem("b", "What is 2 + 3?", ("We add 2 and 3.", "2 + 3 = 7")),
    ScoringItem("c", "How many apples?", ("4 + 7 = 3,\n- 4 too",)),
    ScoringItem("d", "What is 2 + 3?", ("We add 2 and 3.", "2 + 3 = 5", "So the answer is 5.")),
]
MARKS = ("<extra_0>", "<|im_end|>", f" {public_make.TAG}\n", "\n\n", "<|eot|>", "+", "<s>")


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any, Any]:
    kind = request.param
    folder = tmp_path_factory.mktemp("public") / f"tiny-{kind.removeprefix('math-')}"
    reference = FAMILIES[kind](folder)
    return kind, reference, load_scorer(folder, self_test=False)


@torch.inference_mode()
def test_every_step_has_the_probability_that_the_model_card_reads(
    family: tuple[str, Reference, StepScorer],
) -> None:
    _, reference, scorer = family
    assert isinstance(scorer, StepScorer)
    results = list(scorer.score(ITEMS))
    assert [r.key for r in results] == ["a", "b", "c", "d"]
    for item, result in zip(ITEMS, results, strict=True):
        wanted = reference(item.problem, item.steps)
        assert [p[2] for p in result.probs] == pytest.approx(wanted, abs=1e-5)
        assert all(okay == 0 and bad + good == pytest.approx(1) for bad, okay, good in result.probs)


def test_the_family_is_told_by_the_files_or_the_name(family: tuple[str, Reference, Any]) -> None:
    kind, _, scorer = family
    assert scorer.adapter.kind == kind


@pytest.mark.parametrize("mark", MARKS)
def test_text_that_looks_like_a_mark_adds_no_score(
    family: tuple[str, Reference, StepScorer], mark: str
) -> None:
    _, _, scorer = family
    items = [ScoringItem("k", f"What {mark} is {mark}?", (f"We {mark} add", f"2{mark}", "So 5."))]
    (result,) = scorer.score(items)
    assert [len(result.probs), result.dropped] == [3, 0]


def test_text_that_looks_like_a_special_token_is_not_one(family: tuple[str, Reference, Any]) -> None:
    _, _, scorer = family
    tokenizer = scorer.adapter.tokenizer
    special = {*tokenizer.all_special_ids, tokenizer.convert_tokens_to_ids("<extra_0>")} - {
        tokenizer.unk_token_id
    }
    names = [str(t) for t in tokenizer.added_tokens_decoder.values()]
    plain = scorer.adapter.encode("What is it?", ["2 + 3 = 5", "So 5."]).ids
    marked = scorer.adapter.encode("What " + "".join(names), ["2 + 3 = 5", "So" + "".join(names)]).ids
    counts = [sum(i in special for i in ids) for ids in (plain, marked)]
    assert counts[0] == counts[1]
    assert len(marked) > len(plain)


def test_a_probability_of_exactly_zero_loses_no_step(tmp_path: Path) -> None:
    """The card of Qwen2.5-Math-PRM keeps the probabilities that are not 0."""
    from models_prm.public.base import PublicScorer
    from models_prm.public.qwen import QwenAdapter
    from models_prm.public.weights import load_tokenizer, read_tensors

    lm, _, _ = public_make.qwen(tmp_path)
    head = read_tensors(tmp_path, "score.")
    head["2.bias"] = torch.tensor([2000.0, -2000.0])
    scorer = PublicScorer(QwenAdapter(lm.model, load_tokenizer(tmp_path), "tiny", head))
    (result,) = scorer.score(ITEMS[:1])
    assert result.probs == ((1.0, 0.0, 0.0),) * 3


def test_steps_beyond_the_context_are_dropped_whole(family: tuple[str, Reference, StepScorer]) -> None:
    _, _, scorer = family
    long = tuple(f"We add {i} and {i} to have {2 * i} apples now." for i in range(60))
    results = {
        r.key: r
        for r in scorer.score([ScoringItem("long", "q?", long), ScoringItem("short", "q?", long[:2])])
    }
    assert 0 < len(results["long"].probs) < 60
    assert len(results["long"].probs) + results["long"].dropped == 60
    for one, two in zip(results["long"].probs[:2], results["short"].probs, strict=True):
        assert one == pytest.approx(two, abs=1e-5)


def test_a_solution_without_steps_has_no_scores(family: tuple[str, Reference, StepScorer]) -> None:
    _, _, scorer = family
    assert [r.probs for r in scorer.score([ScoringItem("none", "q?", ()), ITEMS[1]])][0] == ()


def test_trl_ids_are_those_of_its_own_trainer(tmp_path: Path) -> None:
    trainer = pytest.importorskip("trl.experimental.prm").PRMTrainer
    public_make.trl(tmp_path)
    scorer: Any = load_scorer(tmp_path, self_test=False)
    for item in ITEMS:
        encoded = scorer.adapter.encode(item.problem, item.steps)
        row = trainer.tokenize_row(
            {"prompt": item.problem, "completions": list(item.steps), "labels": [True] * len(item.steps)},
            scorer.adapter.tokenizer,
            step_separator="\n",
            max_length=None,
            max_completion_length=None,
            train_on_last_step_only=False,
            is_eval=False,
        )
        assert encoded.ids == row["input_ids"]
        assert encoded.reads == [i for i, label in enumerate(row["labels"]) if label != -100]


def test_ids_for_a_server_need_the_tokenizer_only(tmp_path: Path) -> None:
    from models_prm.public.qwen import QwenAdapter

    public_make.qwen(tmp_path)
    scorer: Any = load_scorer(tmp_path, self_test=False)
    (tmp_path / "model.safetensors").unlink()
    for item in ITEMS:
        made = QwenAdapter.for_ids(tmp_path).encode(item.problem, item.steps)
        assert made == scorer.adapter.encode(item.problem, item.steps)


def test_a_model_of_ours_is_opened_by_the_same_call(tmp_path: Path) -> None:
    random_prm().save(tmp_path)
    assert isinstance(load_scorer(tmp_path), PrmScorer)


@pytest.mark.parametrize(
    ("kind", "message"),
    [("auto", "say which: kind='math-shepherd' or kind='rlhflow'"), ("nonsense", "choose one of trl")],
)
def test_a_model_of_no_known_family_is_refused_with_the_cure(tmp_path: Path, kind: str, message: str) -> None:
    public_make.rlhflow(tmp_path / "m")
    with pytest.raises(ModelError, match=message):
        load_scorer(tmp_path / "m", kind=kind)


def test_a_head_of_another_shape_is_refused(tmp_path: Path) -> None:
    public_make.skywork(tmp_path)
    with pytest.raises(ModelError, match="no tensors score"):
        load_scorer(tmp_path, kind="qwen")


def test_a_reversed_head_is_refused_at_load(tmp_path: Path) -> None:
    """OpenRLHF issue 510: the order of classes was the order of arguments, and scores came out as P(bad)."""
    from safetensors.torch import load_file, save_file

    from models_prm.encoding.selftest import PLAIN

    public_make.qwen(tmp_path)
    weights = tmp_path / "model.safetensors"
    scorer = load_scorer(tmp_path, self_test=False)
    good, bad = scorer.score([ScoringItem("good", *PLAIN.good), ScoringItem("bad", *PLAIN.bad)])
    orders = {True: (0, 1), False: (1, 0)}  # classes as they must stand for the right step to score higher
    tensors = load_file(weights)
    for right in (True, False):
        order = list(orders[(good.probs[-1][2] > bad.probs[-1][2]) == right])
        turned = {k: v[order].contiguous() for k, v in tensors.items() if k.startswith("score.2")}
        save_file(tensors | turned, weights, metadata={"format": "pt"})
        if right:
            assert load_scorer(tmp_path).name == tmp_path.name
        else:
            with pytest.raises(ModelError, match="self-test failed.*the wrong way round"):
                load_scorer(tmp_path)
