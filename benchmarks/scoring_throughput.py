"""Scoring throughput: our engine against the plain ways, same weights, same solutions, one run.

    python benchmarks/scoring_throughput.py                     # both models, practice pool, 5 rounds
    python benchmarks/scoring_throughput.py --gsm8k FILE        # also GSM8K's example model solutions
    python benchmarks/scoring_throughput.py --cpu-time          # one thread, CPU seconds: for a busy machine
    python benchmarks/scoring_throughput.py --quick             # a check of the program itself

Ways, interleaved in every round:
- ours: `PrmScorer.score`, from text to step probabilities.
- plain: from text; arrival order, padded batches of 16, logits over the whole vocabulary, read at the marks.
  Arrival order is that of the pool (problem after problem); "plain mixed" takes the pool shuffled, as samples
  arrive that were drawn side by side.
- per step: from text; one forward pass for each step's prefix, logits over the whole vocabulary.
- bare: the base model over as many tokens as the solutions have, in full rectangles of their mean length, no
  text, no padding, no head, nothing read: the limit of any engine that computes every token once.

A way's rate counts the tokens of the solutions (problem, steps, marks), whatever it spends on them. Where a
subset is timed, its rate is that of its own tokens. Peak memory: resident size of a fresh process for each
way.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

from models_prm.config import ModelShape
from models_prm.encoding.tokenizer import StepEncoder, train_tokenizer
from models_prm.practice.maker import make_pool, make_problems
from models_prm.prm import Prm, new_lm
from models_prm.records import ScoringItem
from models_prm.scoring import PrmScorer

VOCABULARY = 32_000
SHAPES = {
    "4x256": ModelShape(vocab_size=VOCABULARY, layers=4, width=256, heads=4, feed_forward=1024),
    "12x512": ModelShape(vocab_size=VOCABULARY, layers=12, width=512, heads=8, feed_forward=2048),
}
MAX_LENGTH = 2048
PLAIN_BATCH = 16


@dataclass(frozen=True)
class Sizes:
    """What is timed in a round: all solutions of random problems, random batches, random solutions."""

    problems: int
    bare_problems: int
    plain_batches: int
    step_solutions: int


SIZES = {"4x256": Sizes(60, 30, 10, 20), "12x512": Sizes(15, 8, 3, 4)}
CPU_SIZES = {"4x256": Sizes(20, 10, 4, 5), "12x512": Sizes(6, 4, 2, 2)}
WARM = Sizes(2, 1, 1, 1)
clock = time.perf_counter


def practice(problems: int, per_problem: int) -> list[ScoringItem]:
    """The practice generator's solutions in the order in which it writes them: problem after problem."""
    made = make_problems(problems, 1)
    texts = {problem.key: problem.text for problem in made}
    pool = make_pool(made, per_problem, 1)
    return [ScoringItem(str(i), texts[s.problem_key], s.steps) for i, s in enumerate(pool)]


def gsm8k(path: Path, problems: int) -> list[ScoringItem]:
    """Four models' solutions of each of the first problems: real text, next to no step in common."""
    items: list[ScoringItem] = []
    for line in path.read_text(encoding="utf-8").splitlines()[:problems]:
        record = json.loads(line)
        for name in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
            steps = tuple(s for s in record[name]["solution"].split("\n") if s.strip())
            items.append(ScoringItem(f"{len(items)}", record["question"], steps))
    return items


def build(shape: str, items: Sequence[ScoringItem]) -> Prm:
    """Random weights of a shape, and a tokenizer made of the texts."""
    encoder = StepEncoder(train_tokenizer((t for i in items for t in (i.problem, *i.steps)), VOCABULARY))
    torch.manual_seed(0)
    lm = new_lm(SHAPES[shape], encoder, MAX_LENGTH)
    lm.resize_token_embeddings(VOCABULARY, mean_resizing=False)
    return Prm(lm.eval(), encoder, MAX_LENGTH, {"name": shape})


def encoded(prm: Prm, items: Sequence[ScoringItem]) -> list[tuple[list[int], list[int]]]:
    """Ids and places of the marks of each solution by itself."""
    result = []
    for item in items:
        ids = list(prm.encoder.prompts([item.problem])[0])
        marks = []
        for step in prm.encoder.steps(item.steps, range(len(item.steps))):
            ids += step
            marks.append(len(ids) - 1)
        result.append((ids, marks))
    return result


def ours(prm: Prm, items: Sequence[ScoringItem]) -> list[tuple[tuple[float, float, float], ...]]:
    """Our engine with its default settings."""
    return [result.probs for result in PrmScorer(prm).score(items)]


@torch.inference_mode()
def plain(prm: Prm, items: Sequence[ScoringItem]) -> list[list[list[float]]]:
    """What one writes first: a batch of 16 as they come, padded, and all logits."""
    result = []
    labels = list(prm.encoder.label_ids)
    for begin in range(0, len(items), PLAIN_BATCH):
        rows = encoded(prm, items[begin : begin + PLAIN_BATCH])
        size = max(len(ids) for ids, _ in rows)
        ids = torch.full((len(rows), size), prm.encoder.pad_id)
        mask = torch.zeros((len(rows), size), dtype=torch.long)
        for row, (sequence, _) in enumerate(rows):
            ids[row, : len(sequence)] = torch.tensor(sequence)
            mask[row, : len(sequence)] = 1
        logits = prm.lm(input_ids=ids, attention_mask=mask, use_cache=False).logits
        result += [logits[row, marks][:, labels].softmax(-1).tolist() for row, (_, marks) in enumerate(rows)]
    return result


@torch.inference_mode()
def per_step(prm: Prm, items: Sequence[ScoringItem]) -> list[list[list[float]]]:
    """One forward pass for the prefix of each step."""
    labels = list(prm.encoder.label_ids)
    result = []
    for ids, marks in encoded(prm, items):
        row = torch.tensor([ids])
        result.append(
            [
                prm.lm(input_ids=row[:, : mark + 1], use_cache=False)
                .logits[0, -1, labels]
                .softmax(-1)
                .tolist()
                for mark in marks
            ]
        )
    return result


@torch.inference_mode()
def bare(prm: Prm, rows: Sequence[tuple[list[int], list[int]]], _: Sequence[ScoringItem]) -> None:
    """The base model over the same number of tokens, in rectangles of about 4,096."""
    total = sum(len(ids) for ids, _ in rows)
    mean = round(total / len(rows))
    flat = torch.tensor([i for ids, _ in rows for i in ids][: total - total % mean]).view(-1, mean)
    for part in torch.split(flat, max(1, 4096 // mean)):
        prm.lm.base_model(input_ids=part, use_cache=False)


def by_problem(items: Sequence[ScoringItem], count: int, rng: random.Random) -> list[ScoringItem]:
    """All solutions of `count` random problems, in arrival order."""
    names = list(dict.fromkeys(item.problem for item in items))
    chosen = set(names if count >= len(names) else rng.sample(names, count))
    return [item for item in items if item.problem in chosen]


def by_batch(items: Sequence[ScoringItem], count: int, rng: random.Random) -> list[ScoringItem]:
    """Random ones of the batches that arrival order gives, whole."""
    starts = range(0, len(items), PLAIN_BATCH)
    chosen = sorted(rng.sample(starts, min(count, len(starts))))
    return [item for start in chosen for item in items[start : start + PLAIN_BATCH]]


def measure(shape: str, items: Sequence[ScoringItem], rounds: int, sizes: Sizes) -> dict[str, Any]:
    """Median rate of each way in tokens of the solutions per second, and their ratios round by round."""
    prm = build(shape, items)
    lengths = {i.key: len(ids) for i, (ids, _) in zip(items, encoded(prm, items), strict=True)}
    ways: dict[str, Callable[[Sequence[ScoringItem]], Any]] = {
        "ours": lambda part: ours(prm, part),
        "plain": lambda part: plain(prm, part),
        "plain mixed": lambda part: plain(prm, part),
        "per step": lambda part: per_step(prm, part),
    }
    mixed = random.Random(0).sample(list(items), len(items))
    rates: dict[str, list[float]] = {}
    for number in range(-1, rounds):
        rng, size = random.Random(number), sizes if number >= 0 else WARM
        parts = {
            "ours": by_problem(items, size.problems, rng),
            "plain": by_batch(items, size.plain_batches, rng),
            "plain mixed": by_batch(mixed, size.plain_batches, rng),
            "per step": rng.sample(list(items), size.step_solutions),
        }
        timed = {name: _rate(ways[name], part, lengths) for name, part in parts.items()}
        limit = by_problem(items, size.bare_problems, rng)
        timed["bare"] = _rate(partial(bare, prm, encoded(prm, limit)), limit, lengths)
        if number >= 0:  # round -1 warms up
            for name, rate in timed.items():
                rates.setdefault(name, []).append(rate)
            print(
                f"  round {number + 1}: " + ", ".join(f"{n} {r:,.0f}" for n, r in timed.items()), flush=True
            )
    computed = computed_share(prm, by_problem(items, 20, random.Random(0)))
    return summary(rates, computed, agreement(prm, items))


def _rate(
    way: Callable[[Sequence[ScoringItem]], Any], part: Sequence[ScoringItem], lengths: dict[str, int]
) -> float:
    begin = clock()
    way(part)
    return sum(lengths[item.key] for item in part) / (clock() - begin)


def computed_share(prm: Prm, items: Sequence[ScoringItem]) -> float:
    """Tokens that our engine computes for each token of the solutions."""
    from models_prm.encoding import forward

    counted: list[int] = []
    original = forward.packed_states

    def counting(base: Any, batch: Any) -> Any:
        counted.append(len(batch.ids))
        return original(base, batch)

    forward.packed_states = counting
    try:
        ours(prm, items)
    finally:
        forward.packed_states = original
    return sum(counted) / sum(len(ids) for ids, _ in encoded(prm, items))


def agreement(prm: Prm, items: Sequence[ScoringItem]) -> float:
    """Largest difference between our scores and the plain way's, over 64 solutions."""
    part = random.Random(7).sample(list(items), min(64, len(items)))
    pairs = zip(ours(prm, part), plain(prm, part), strict=True)
    return max(
        abs(a - b)
        for one, two in pairs
        for p, q in zip(one, two, strict=True)
        for a, b in zip(p, q, strict=True)
    )


def summary(rates: dict[str, list[float]], computed: float, difference: float) -> dict[str, Any]:
    """Medians of rates and of the ratios within a round."""
    against = {n: [a / b for a, b in zip(rates["ours"], rates[n], strict=True)] for n in rates if n != "ours"}
    ratios = {name: statistics.median(values) for name, values in against.items()}
    return {
        "tokens_per_second": {name: round(statistics.median(values)) for name, values in rates.items()},
        "times_plain": round(ratios["plain"], 2),
        "times_plain_mixed": round(ratios["plain mixed"], 2),
        "times_per_step": round(ratios["per step"], 2),
        "computed_tokens_share": round(computed, 3),
        "share_of_bare_all_tokens": round(ratios["bare"], 3),
        "share_of_bare_computed_tokens": round(ratios["bare"] * computed, 3),
        "largest_difference": difference,
    }


def peak_memory(shape: str, way: str, quick: bool) -> dict[str, float]:
    """Megabytes of a fresh process that scores one way: at its peak, and before it began."""
    command = [sys.executable, __file__, "--child", way, "--shape", shape, *(["--quick"] if quick else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def child(way: str, shape: str, quick: bool) -> None:
    """Score 20 problems one way and print the peak."""
    items = practice(20, 2 if quick else 10)
    prm = build(shape, items)
    before = high_water()
    {"ours": ours, "plain": plain}[way](prm, items)
    print(json.dumps({"peak": high_water(), "loaded": before}))


def high_water() -> float:
    """Largest resident size of this process so far in MB. (What getrusage says includes the parent's.)"""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return round(int(status.split("VmHWM:")[1].split()[0]) / 1024, 1)


def report(name: str, shape: str, items: Sequence[ScoringItem], options: argparse.Namespace) -> None:
    """One measurement, printed."""
    sizes = WARM if options.quick else (CPU_SIZES if options.cpu_time else SIZES)[shape]
    counts = sorted(len(i.steps) for i in items)
    print(f"{name}, {shape}: {len(items)} solutions of {len({i.problem for i in items})} problems, ", end="")
    print(f"{counts[0]}-{counts[-1]} steps (median {counts[len(counts) // 2]}); timed on {sizes}", flush=True)
    result = measure(shape, items, options.rounds, sizes)
    print("  " + json.dumps(result), flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", choices=[*SHAPES, "both"], default="both")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gsm8k", type=Path, help="GSM8K's example_model_solutions.jsonl")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: checks the program, measures nothing"
    )
    parser.add_argument("--cpu-time", action="store_true", help="one thread, CPU seconds, smaller parts")
    parser.add_argument("--pool", choices=["practice", "gsm8k", "both"], default="both")
    parser.add_argument("--child", choices=["ours", "plain"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.shape, options.quick)
        return
    if options.cpu_time:
        global clock  # noqa: PLW0603 - one switch for the whole run
        clock = time.process_time
        torch.set_num_threads(1)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    for shape in SHAPES if options.shape == "both" else [options.shape]:
        if options.pool != "gsm8k":
            report("practice pool", shape, practice(*((8, 4) if options.quick else (200, 10))), options)
        if options.gsm8k and options.pool != "practice":
            report("GSM8K example solutions", shape, gsm8k(options.gsm8k, 500), options)
        if options.cpu_time:
            continue
        peaks = {way: peak_memory(shape, way, options.quick) for way in ("ours", "plain")}
        share = peaks["ours"]["peak"] / peaks["plain"]["peak"]
        print(f"  peak MB {json.dumps(peaks)}; ours / plain {share:.2f}", flush=True)


if __name__ == "__main__":
    main()
