"""The local sampler: the same outputs and the same distribution as generate, one sample per request."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from scipy import stats

from models_prm.errors import Cancelled, ModelError
from models_prm.interfaces import Sampler
from models_prm.sampling.local import LocalSampler
from models_prm.sampling.prefill import common_head
from models_prm.sampling.records import Sample, SampleRequest
from models_prm.sampling.weights import encode_prompts
from tests.models_prm.sampling_make import PROMPTS, gpt2, qwen, requests, save_model, tokenizer


def by_place(samples: list[Sample]) -> dict[tuple[str, int], Sample]:
    found = {(s.key, s.index): s for s in samples}
    assert len(found) == len(samples), "a sample came twice"
    return found


def endless(lm: Any) -> LocalSampler:
    """A sampler that no end token stops: all samples have the full length."""
    sampler = LocalSampler(lm, tokenizer())
    sampler.end_ids = frozenset()
    return sampler


def greedy_by_generate(lm: Any, prompt: str, limit: int) -> list[int]:
    ids = encode_prompts(tokenizer(), [prompt])
    out = lm.generate(
        input_ids=torch.tensor(ids),
        attention_mask=torch.ones(1, len(ids[0]), dtype=torch.long),
        do_sample=False,
        max_new_tokens=limit,
    )
    return [t for t in out[0, len(ids[0]) :].tolist() if t != lm.generation_config.eos_token_id]


@pytest.mark.parametrize("make", [qwen, gpt2, lambda: qwen(kv_heads=1), lambda: qwen(kv_heads=4)])
@pytest.mark.parametrize("rows", [2, 16])
def test_greedy_output_is_generates_token_by_token(make: Any, rows: int) -> None:
    lm = make()
    sampler = LocalSampler(lm, tokenizer(), rows=rows)
    seen: list[tuple[int, ...]] = []
    decode = sampler.decode
    sampler.decode = lambda ids: seen.append(tuple(ids)) or decode(ids)  # type: ignore[method-assign,func-returns-value]
    samples = list(sampler.sample(requests(PROMPTS, 1), max_tokens=40, temperature=0))
    for prompt in PROMPTS:
        assert tuple(greedy_by_generate(lm, prompt, 40)) in seen
    assert len(samples) == len(PROMPTS)


def test_a_temperature_close_to_zero_is_greedy() -> None:
    sampler = LocalSampler(qwen(), tokenizer())
    cold, greedy = (
        by_place(list(sampler.sample(requests(PROMPTS, 2), max_tokens=20, temperature=t))) for t in (1e-6, 0)
    )
    assert {k: s.text for k, s in cold.items()} == {k: s.text for k, s in greedy.items()}


def test_samples_follow_the_models_own_distribution() -> None:
    """Exact law of the first two tokens against 6,000 samples: chi-square at level 0.001 (fixed seeds)."""
    lm, words = qwen(peaked=0.35, end=False), tokenizer()
    prompt = PROMPTS[1]
    [ids] = encode_prompts(words, [prompt])
    with torch.inference_mode():
        first = lm(torch.tensor([ids])).logits[0, -1].double().div(1.3).softmax(-1)
        rows = torch.tensor([[*ids, t] for t in range(len(words))])
        second = lm(rows).logits[:, -1].double().div(1.3).softmax(-1)
    joint = first[:, None] * second
    sampler = endless(lm)
    sampler.rows = 96
    drawn: list[tuple[int, ...]] = []
    sampler.decode = lambda ids: drawn.append(tuple(ids)) or ""  # type: ignore[method-assign,func-returns-value]
    count = 6000
    list(sampler.sample(requests([prompt], count), max_tokens=2, temperature=1.3))
    assert len(drawn) == count
    expected = joint.flatten() * count
    seen = torch.zeros_like(expected)
    for a, b in drawn:
        seen[a * len(words) + b] += 1
    order = expected.argsort(descending=True)
    large = order[: int((expected >= 5).sum())]
    assert len(large) > 30, "the test has too few cells to mean anything"
    rest = count - expected[large].sum()
    p = stats.chisquare(
        [*seen[large].tolist(), count - seen[large].sum().item()], [*expected[large].tolist(), rest.item()]
    ).pvalue
    assert p > 0.001


def test_lengths_and_likelihoods_agree_with_generates() -> None:
    """Two-sample tests at level 0.001 each, 600 samples a side."""
    lm, words = qwen(seed=3, peaked=0.25), tokenizer()
    sampler = LocalSampler(lm, words, rows=50)
    samples = list(sampler.sample(requests([PROMPTS[0]], 600), max_tokens=30))
    [ids] = encode_prompts(words, [PROMPTS[0]])
    torch.manual_seed(1)
    out = lm.generate(
        input_ids=torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        do_sample=True,
        top_k=0,
        top_p=1.0,
        temperature=1.0,
        num_return_sequences=600,
        max_new_tokens=30,
    )[:, len(ids) :]
    with torch.inference_mode():
        full = torch.cat([torch.tensor([ids]).expand(600, -1), out], 1)
        logits = lm(full).logits[:, len(ids) - 1 : -1].double().log_softmax(-1)
    ended = (out == words.eos_token_id).int().cumsum(1)
    alive = (ended == 0) | ((ended == 1) & (out == words.eos_token_id))
    theirs = (logits.gather(2, out[:, :, None])[:, :, 0] * alive).sum(1).tolist()
    assert stats.ks_2samp([s.tokens for s in samples], alive.sum(1).tolist()).pvalue > 0.001
    assert stats.ks_2samp([s.logprob for s in samples], theirs).pvalue > 0.001


def test_a_samples_log_probability_is_the_models() -> None:
    lm, words = qwen(end=False), tokenizer()
    sampler = endless(lm)
    drawn: list[list[int]] = []
    sampler.decode = lambda ids: drawn.append(list(ids)) or ""  # type: ignore[method-assign,func-returns-value]
    [sample] = sampler.sample([SampleRequest("a", PROMPTS[0], seed=5)], max_tokens=12)
    [ids] = encode_prompts(words, [PROMPTS[0]])
    with torch.inference_mode():
        logits = lm(torch.tensor([[*ids, *drawn[0]]])).logits[0, len(ids) - 1 : -1].double()
    total = logits.log_softmax(-1).gather(1, torch.tensor(drawn[0])[:, None]).sum().item()
    assert sample.logprob == pytest.approx(total, abs=1e-4)


def test_a_sample_depends_on_its_seed_and_on_nothing_beside_it() -> None:
    sampler = LocalSampler(qwen(), tokenizer())
    every = requests(PROMPTS, 5)
    wanted = by_place(list(sampler.sample(every, max_tokens=15)))
    for rows in (1, 3, 64):
        sampler.rows = rows
        found = by_place(list(sampler.sample(every[::-1], max_tokens=15)))
        assert {k: s.text for k, s in found.items()} == {k: s.text for k, s in wanted.items()}
    assert len({s.text for s in wanted.values()}) > 10


def test_a_prompt_is_read_once_for_all_its_samples() -> None:
    lm = qwen()
    read: Counter[str] = Counter()

    def count(module: Any, args: Any, kwargs: Any) -> None:
        ids = kwargs["input_ids"]
        read["prompt" if ids.shape[1] > 1 else "step"] += ids.numel()

    lm.register_forward_pre_hook(count, with_kwargs=True)
    list(LocalSampler(lm, tokenizer(), rows=4).sample(requests([PROMPTS[0]], 20), max_tokens=3))
    assert read["prompt"] == len(encode_prompts(tokenizer(), [PROMPTS[0]])[0])


def test_the_examples_that_all_prompts_begin_with_are_read_once() -> None:
    lm, words = qwen(), tokenizer()
    shots = "Problem:\nAda has 2 pens and buys 2.\n\nSolution:\n2 + 2 = 4\n\n" * 2
    prompts = [shots + p for p in PROMPTS]
    ids = encode_prompts(words, prompts)
    head = len(common_head(ids))
    assert head >= 32
    read: list[int] = []
    hook = lm.register_forward_pre_hook(
        lambda module, args, kwargs: read.append(kwargs["input_ids"].numel()), with_kwargs=True
    )
    sampler = LocalSampler(lm, words)
    together = by_place(list(sampler.sample(requests(prompts, 2), max_tokens=6, temperature=0)))
    assert read[0] == head
    assert read[1] == len(ids) * (max(map(len, ids)) - head)
    hook.remove()
    for key, prompt in enumerate(prompts):
        [alone] = sampler.sample([SampleRequest(str(key), prompt)], max_tokens=6, temperature=0)
        assert together[str(key), 0].text == alone.text


def test_finished_rows_go_to_waiting_samples_and_the_last_ones_are_dropped() -> None:
    lm = qwen(seed=3, peaked=0.25)
    sizes: list[int] = []

    def note(module: Any, args: Any, kwargs: Any) -> None:
        rows, tokens = kwargs["input_ids"].shape
        if tokens == 1:
            sizes.append(rows)

    lm.register_forward_pre_hook(note, with_kwargs=True)
    samples = list(LocalSampler(lm, tokenizer(), rows=8).sample(requests([PROMPTS[0]], 40), max_tokens=25))
    assert len({s.tokens for s in samples}) > 3, "all samples have one length: this shows nothing"
    # Every row of every pass is a token of a sample; each sample's first token comes from its prompt.
    assert sum(sizes) == sum(s.tokens for s in samples) - len(samples)
    assert max(sizes) == 8
    assert sizes[-1] < 8
    last = sizes.index(min(sizes))
    assert all(size == 8 for size in sizes[: last // 2])


def test_length_is_unfinished_and_the_end_token_finishes() -> None:
    samples = list(
        LocalSampler(qwen(seed=3, peaked=0.25), tokenizer()).sample(requests(PROMPTS, 60), max_tokens=9)
    )
    assert {s.finish for s in samples} == {"stop", "length"}
    assert all(s.tokens == 9 for s in samples if s.finish == "length")
    assert not any("<|end|>" in s.text for s in samples)


def test_a_stop_string_ends_a_sample_before_it() -> None:
    sampler = endless(qwen(end=False))
    whole = by_place(list(sampler.sample(requests(PROMPTS, 12), max_tokens=40)))
    cut = by_place(list(sampler.sample(requests(PROMPTS, 12), max_tokens=40, stop=["e", "1"])))
    assert any(s.stopped_by == "1" for s in cut.values())
    for place, sample in cut.items():
        text = whole[place].text
        if sample.stopped_by is None:
            assert (sample.text, sample.finish) == (text, "length")
            assert "e" not in text
        else:
            assert sample.finish == "stop"
            assert text.startswith(sample.text + sample.stopped_by)
            assert "e" not in sample.text
            assert "1" not in sample.text


def test_a_stop_string_over_several_tokens_is_seen() -> None:
    sampler = endless(qwen(end=False))
    [whole] = sampler.sample([SampleRequest("a", PROMPTS[0], seed=1)], max_tokens=30)
    stop = whole.text[4:9]
    [cut] = sampler.sample([SampleRequest("a", PROMPTS[0], seed=1)], max_tokens=30, stop=[stop])
    assert cut.text == whole.text[: whole.text.find(stop)]
    assert cut.stopped_by == stop


def test_b10_samples_name_their_own_problem_also_when_two_have_the_same_text() -> None:
    """prm-ecosystem B10: three problems, two of one text, n = 2."""
    lm = qwen()
    prompts = [PROMPTS[0], PROMPTS[1], PROMPTS[0]]
    found = by_place(list(LocalSampler(lm, tokenizer(), rows=2).sample(requests(prompts, 2), max_tokens=10)))
    assert set(found) == {(str(k), i) for k in range(3) for i in range(2)}
    for key in range(3):
        own = requests(prompts, 2)[2 * key : 2 * key + 2]
        alone = by_place(list(LocalSampler(lm, tokenizer()).sample(own, max_tokens=10)))
        assert {place: s.text for place, s in alone.items()} == {
            place: s.text for place, s in found.items() if place[0] == str(key)
        }
    assert {found["0", i].text for i in range(2)} != {found["2", i].text for i in range(2)}


def test_a_prompt_without_room_is_an_empty_unfinished_sample_and_harms_no_other() -> None:
    sampler = LocalSampler(qwen(), tokenizer())
    long = "Ada has 3 pens. " * 60
    found = by_place(list(sampler.sample(requests([long, PROMPTS[0]], 2), max_tokens=5)))
    assert [(found["0", i].text, found["0", i].finish, found["0", i].tokens) for i in range(2)] == [
        ("", "length", 0)
    ] * 2
    assert found["1", 0].tokens
    sampler.context = len(encode_prompts(tokenizer(), [PROMPTS[0]])[0]) + 2
    [short] = sampler.sample(requests([PROMPTS[0]], 1), max_tokens=50, temperature=0)
    assert short.tokens <= 2


def test_special_tokens_in_a_problem_stay_text() -> None:
    [ids] = encode_prompts(tokenizer(), ["What is <|end|>?"])
    assert tokenizer().eos_token_id not in ids


def test_a_stop_request_gives_out_what_is_finished() -> None:
    sampler = LocalSampler(qwen(), tokenizer(), rows=2)
    found: list[Sample] = []
    with pytest.raises(Cancelled):
        found.extend(sampler.sample(requests(PROMPTS, 4), max_tokens=5, should_stop=lambda: True))


def test_requests_are_read_as_rows_fall_free() -> None:
    taken = 0

    def endless() -> Any:
        nonlocal taken
        while True:
            taken += 1
            yield SampleRequest(str(taken), PROMPTS[taken % 3], seed=taken)

    stream = LocalSampler(qwen(), tokenizer(), rows=4).sample(endless(), max_tokens=4)
    for _ in range(20):
        next(stream)
    assert taken < 60


def test_a_model_directory_is_opened_and_another_one_refused(tmp_path: Any) -> None:
    sampler = LocalSampler.load(save_model(tmp_path / "generator"))
    assert isinstance(sampler, Sampler)
    assert sampler.name == "generator"
    assert list(sampler.sample(requests(PROMPTS, 1), max_tokens=3))
    with pytest.raises(ModelError, match="config.json"):
        LocalSampler.load(tmp_path / "nothing")


def test_layers_whose_cache_is_another_are_refused() -> None:
    lm = qwen()
    lm.config.layer_types = ["sliding_attention", "full_attention"]
    lm.config.sliding_window = 16
    with pytest.raises(ModelError, match="window of 16"):
        list(LocalSampler(lm, tokenizer()).sample(requests(PROMPTS, 1), max_tokens=3))
