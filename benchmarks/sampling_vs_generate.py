"""Sampled tokens per second: our decoding loop against `transformers`' `generate`, in one run.

    python benchmarks/sampling_vs_generate.py

Compared, on the same weights, prompts, temperature and limit of new tokens:
  ours          LocalSampler, all prompts in one call
  generate      one call a prompt with num_return_sequences=n: the way most scripts sample
  generate-b    the same with several left-padded prompts a call, as many rows in flight as ours has
Rounds are interleaved; medians and their ratios are printed. The distribution is tested as well: two-sample
chi-square tests of first tokens and of lengths, and the samples' mean log-likelihood under the model.

Weights are random. With random weights no sample ends by itself, so a share of the vocabulary counts as end
tokens: lengths then spread like a geometric law with the mean that --mean-length asks for, as real
solutions' do (longest about eight times the median). `--fixed` has no end tokens: every sample is full.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats
from transformers import Qwen2Config, Qwen2ForCausalLM
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models_prm.encoding.tokenizer import train_tokenizer
from models_prm.sampling.local import LocalSampler
from models_prm.sampling.records import SampleRequest, sample_seed

warnings.filterwarnings("ignore")
LEVEL = 0.001
WAYS = ("ours", "generate")
logging.set_verbosity_error()


@dataclass(frozen=True)
class Shape:
    """A model, and how it is asked."""

    name: str
    layers: int
    width: int
    vocabulary: int


SHAPES = {
    "4x256": Shape("4x256, vocabulary 32,000", 4, 256, 32_000),
    "3x128": Shape("3x128, vocabulary 2,048", 3, 128, 2_048),
}


class Words:
    """Prompts of school-like text, and a tokenizer of their own whose ids cover the model's vocabulary."""

    def __init__(self, count: int, seed: int = 0) -> None:
        rng = random.Random(seed)
        names, things = ["Ada", "Ben", "Cleo", "Dan"], ["pens", "books", "apples", "coins"]
        self.prompts = []
        for i in range(count):
            lines = [
                f"{rng.choice(names)} has {rng.randint(2, 99)} {rng.choice(things)} and buys more."
                for _ in range(rng.randint(2, 8))
            ]
            self.prompts.append(f"Problem {i}:\n{' '.join(lines)} How many are there?\n\nSolution:\n")
        self.tokenizer = train_tokenizer(self.prompts, 600)


def make_model(shape: Shape, end_share: float, seed: int = 0) -> tuple[Any, list[int]]:
    """Random weights, and the ids that end a text: the upper part of the vocabulary."""
    torch.manual_seed(seed)
    lm = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=shape.vocabulary,
            hidden_size=shape.width,
            intermediate_size=4 * shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.width // 64,
            num_key_value_heads=shape.width // 64,
            max_position_embeddings=2048,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=0,
            initializer_range=0.05,  # flat logits would test nothing
        )
    ).eval()
    count = round(end_share * shape.vocabulary)
    ends = list(range(shape.vocabulary - count, shape.vocabulary))
    lm.generation_config.eos_token_id = ends or None
    lm.generation_config.pad_token_id = 0
    return lm, ends


@dataclass
class Drawn:
    """What a way of sampling gave: generated ids of every sample, and the seconds it took."""

    ids: list[list[int]]
    seconds: float

    @property
    def tokens(self) -> int:
        return sum(map(len, self.ids))


def ours(sampler: LocalSampler, prompts: Sequence[str], n: int, limit: int, seed: int) -> Drawn:
    """All samples through LocalSampler. Ids are read off before they become text."""
    drawn: list[list[int]] = []
    sampler.decode = lambda ids: drawn.append(list(ids)) or ""  # type: ignore[method-assign,func-returns-value]
    requests = [
        SampleRequest(str(k), prompt, i, sample_seed(seed, str(k), i))
        for k, prompt in enumerate(prompts)
        for i in range(n)
    ]
    begin = time.perf_counter()
    samples = list(sampler.sample(requests, max_tokens=limit, temperature=1.0))
    seconds = time.perf_counter() - begin
    # The end token is generated, counted by both sides, and not part of the text.
    by_place = {(int(s.key), s.index): [*row, -1][: s.tokens] for row, s in zip(drawn, samples, strict=True)}
    return Drawn([by_place[place] for place in sorted(by_place)], seconds)


def generated(
    lm: Any, words: Words, prompts: Sequence[str], *, n: int, limit: int, ends: Sequence[int], per_call: int
) -> Drawn:
    """All samples through `generate`, `per_call` prompts at a time."""
    final = set(ends)
    found: list[list[int]] = []
    begin = time.perf_counter()
    for start in range(0, len(prompts), per_call):
        batch = words.tokenizer(list(prompts[start : start + per_call]), padding=True, return_tensors="pt")
        out = lm.generate(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            num_return_sequences=n,
            max_new_tokens=limit,
        )
        found += out[:, batch["input_ids"].shape[1] :].tolist()
    seconds = time.perf_counter() - begin
    ids = []
    for row in found:
        length = next((i for i, token in enumerate(row) if token in final), None)
        ids.append(row if length is None else [*row[:length], -1])
    return Drawn(ids, seconds)


def chi_square(a: Sequence[int], b: Sequence[int], cells: int = 20) -> float:
    """p of the two-sample chi-square test over `cells` groups of about equal size."""
    edges = np.unique(np.quantile([*a, *b], np.linspace(0, 1, cells + 1)))
    table = np.stack([np.histogram(x, edges)[0] for x in (a, b)])
    table = table[:, table.sum(0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


def likelihood(lm: Any, tokenizer: Any, prompts: Sequence[str], drawn: Drawn, n: int) -> tuple[float, float]:
    """Mean log-probability per token of the samples without their ends, under a plain forward pass, and its
    standard error.
    """
    values = []
    with torch.inference_mode():
        for place, row in enumerate(drawn.ids):
            ids = [t for t in row if t >= 0]
            if not ids:
                continue
            prompt = tokenizer(prompts[place // n])["input_ids"]
            logits = lm(input_ids=torch.tensor([[*prompt, *ids]])).logits[0, len(prompt) - 1 : -1]
            picked = logits.double().log_softmax(-1).gather(1, torch.tensor(ids)[:, None])
            values.append(float(picked.mean()))
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


FIRST = 1000


def tested(
    lm: Any, words: Words, firsts: Sequence[Drawn], rounds: dict[str, list[Drawn]], n: int
) -> dict[str, Any]:
    """Same distribution? Each of the three tests at LEVEL: first tokens of `firsts`, lengths of all rounds,
    mean log-likelihood of the last round.
    """
    first = chi_square([ids[0] for ids in firsts[0].ids], [ids[0] for ids in firsts[1].ids])
    a, b = rounds["ours"], rounds["generate"]
    lengths = [[len(ids) for drawn in way for ids in drawn.ids] for way in (a, b)]
    some = min(len(words.prompts), max(1, 128 // n)) * n
    (mean_a, error_a), (mean_b, error_b) = (
        likelihood(lm, words.tokenizer, words.prompts, Drawn(way[-1].ids[:some], 0), n) for way in (a, b)
    )
    z = (mean_a - mean_b) / math.hypot(error_a, error_b)
    values = [first, chi_square(lengths[0], lengths[1]), 2 * float(stats.norm.sf(abs(z)))]
    return {
        "p_first_token": round(values[0], 4),
        "p_length": round(values[1], 4),
        "p_log_likelihood": round(values[2], 4),
        "samples_tested": {"first_token": len(firsts[0].ids), "length": len(lengths[0]), "likelihood": some},
        "log_likelihood_per_token": {"ours": round(mean_a, 4), "generate": round(mean_b, 4)},
        "mean_length": {way: round(statistics.mean(x), 2) for way, x in zip(WAYS, lengths, strict=True)},
        "same": min(values) > LEVEL,
    }


def measure(args: argparse.Namespace, shape: Shape, n: int) -> dict[str, Any]:
    """Interleaved rounds of all ways."""
    words = Words(max(2, args.samples // n))
    limit = args.max_new_tokens
    lm, ends = make_model(shape, 0.0 if args.fixed else 1 / args.mean_length)
    words.tokenizer.padding_side = "left"
    sampler = LocalSampler(lm, words.tokenizer, rows=args.rows)
    per_call = max(1, args.rows // n)

    def generate(prompts: Sequence[str], at_once: int) -> Drawn:
        return generated(lm, words, prompts, n=n, limit=limit, ends=ends, per_call=at_once)

    ways: dict[str, Callable[[int], Drawn]] = {
        "ours": lambda seed: ours(sampler, words.prompts, n, limit, seed),
        "generate": lambda seed: generate(words.prompts, 1),
        "generate-b": lambda seed: generate(words.prompts, per_call),
    }
    rounds: dict[str, list[Drawn]] = {name: [] for name in ways}
    warm = Words(2).prompts
    generate(warm, 1)
    ours(sampler, warm, n, 8, 0)
    for round_ in range(args.rounds):
        for name, way in ways.items():
            torch.manual_seed(round_)
            rounds[name].append(way(round_))
    speeds = {name: [drawn.tokens / drawn.seconds for drawn in done] for name, done in rounds.items()}
    median = {name: statistics.median(values) for name, values in speeds.items()}
    report = {
        "model": shape.name,
        "prompts": len(words.prompts),
        "n": n,
        "tokens_per_s": {name: round(value, 1) for name, value in median.items()},
        "spread": {name: [round(min(v), 1), round(max(v), 1)] for name, v in speeds.items()},
        "ratio_to_generate": round(median["ours"] / median["generate"], 2),
        "ratio_to_generate_batched": round(median["ours"] / median["generate-b"], 2),
    }
    if not args.fixed and not args.no_test:
        torch.manual_seed(12345)
        few = words.prompts[:2]
        firsts = [
            ours(sampler, few, FIRST // 2, 1, 999),
            generated(lm, words, few, n=FIRST // 2, limit=1, ends=ends, per_call=1),
        ]
        report |= tested(lm, words, firsts, rounds, n)
    return report


def main() -> int:
    """Run; exit code 1 when the ratio is below 3 anywhere, or a test finds different distributions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("-n", type=int, nargs="+", default=[8, 32], help="samples per prompt")
    parser.add_argument("--samples", type=int, default=64, help="samples in a round")
    parser.add_argument("--max-new-tokens", type=int, default=96)
    parser.add_argument("--mean-length", type=float, default=40.0)
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="torch threads (default: its own choice)")
    parser.add_argument("--fixed", action="store_true", help="no end tokens: all samples are full")
    parser.add_argument("--no-test", action="store_true", help="leave the distribution out")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    reports = [measure(args, SHAPES[name], n) for name in args.shapes for n in args.n]
    machine = {"torch": torch.__version__, "threads": torch.get_num_threads(), "cpu": platform.machine()}
    print(json.dumps({"machine": machine, "settings": vars(args), "reports": reports}, indent=2))
    good = all(r["ratio_to_generate"] >= 3 and r.get("same", True) for r in reports)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
