"""Exact best of N against repeated subsampling, on a made-up pool of the paper's size.

    python benchmarks/best_of_n_exact.py [--trials 400] [--timed-trials 2] [--repeats 7]

500 problems, 1,860 slots each, 14 values of N, as in openai/prm800k for the Figure 3 of its paper; that
protocol estimates each point from 400 random draws. Both sides get the same tables and give the same curve.
The slow side is our own plain writing of the protocol: for every trial, N and problem, draw N slots with
`random.sample` and take the best-scored one. It is timed for a few whole trials and scaled to 400 (said in
the output); all 400 trials, needed to compare values, are drawn by a faster numpy writing, which is timed as
well: for every trial and problem one random order, whose running best gives all N at once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402 - the number of threads is set before
from numpy.typing import NDArray  # noqa: E402

from models_prm.evaluation import exact  # noqa: E402

COUNTS = (10, 25, 50, 75, 100, 200, 300, 400, 500, 750, 1000, 1250, 1500, 1860)
PROBLEMS, SLOTS = 500, 1860
LOST, ROUNDED = 0.06, 3
Floats = NDArray[np.float64]


def make_pool(seed: int = 0) -> tuple[Floats, Floats]:
    """Scores and correctness [problems, slots]: difficulty from easy to hopeless, a scorer that helps,
    6% of the slots without an answer (NaN), scores of three digits, so that ties are as common as in real
    pools with bf16 scores."""
    rng = np.random.default_rng(seed)
    skill = rng.beta(0.6, 0.9, (PROBLEMS, 1))
    correct = rng.random((PROBLEMS, SLOTS)) < skill
    logits = rng.normal(0, 1.2, (PROBLEMS, SLOTS)) + 1.8 * correct + rng.normal(-1, 1, (PROBLEMS, 1))
    scores = np.round(1 / (1 + np.exp(-logits)), ROUNDED)
    lost = rng.random((PROBLEMS, SLOTS)) < LOST
    return np.where(lost, np.nan, scores), np.where(lost, 0.0, correct)


def plain_trial(pool: Sequence[list[tuple[float, bool] | None]], rng: random.Random) -> list[float]:
    """One trial of the protocol in plain Python: a fresh draw for every N and problem; ties at random."""
    curve = []
    for n in COUNTS:
        right = 0
        for samples in pool:
            best, winners = -1.0, list[bool]()
            for sample in rng.sample(samples, n):
                if sample is None or sample[0] < best:
                    continue
                if sample[0] > best:
                    best, winners = sample[0], []
                winners.append(sample[1])
            right += rng.choice(winners) if winners else False
        curve.append(right / len(pool))
    return curve


def quick_trial(scores: Floats, correct: Floats, rng: np.random.Generator) -> Floats:
    """One trial with numpy: one random order a problem gives nested draws of all N; ties by the order."""
    order = np.argsort(rng.random(scores.shape), axis=1)
    drawn = np.take_along_axis(np.where(np.isnan(scores), -1.0, scores), order, 1)
    right = np.take_along_axis(correct, order, 1)
    rows = np.arange(len(scores))
    return np.array([right[rows, drawn[:, :n].argmax(1)].mean() for n in COUNTS])


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and its result."""
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def median_of(repeats: int, call: Callable[[], Any]) -> tuple[float, Any]:
    """Median seconds of several calls, and the last result."""
    times, result = [], None
    for _ in range(repeats):
        seconds, result = timed(call)
        times.append(seconds)
    return statistics.median(times), result


def in_lists(scores: Floats, correct: Floats) -> list[list[tuple[float, bool] | None]]:
    """The pool as the plain way holds it."""
    return [
        [None if np.isnan(s) else (float(s), bool(c)) for s, c in zip(*rows, strict=True)]
        for rows in zip(scores, correct, strict=True)
    ]


def main() -> int:
    """Time the three ways, compare their values, print a table and JSON; exit code 1 if they differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=400, help="trials that the values are compared over")
    parser.add_argument("--timed-trials", type=int, default=2, help="plain trials per timed run")
    parser.add_argument("--repeats", type=int, default=7, help="runs per median")
    args = parser.parse_args()
    scores, correct = make_pool()
    with_spread, (values, spread, _interval) = median_of(args.repeats, lambda: everything(scores, correct))
    seconds, _ = median_of(args.repeats, lambda: exact.best_of_n_curve(scores, correct, COUNTS, SLOTS))
    pool, rng = in_lists(scores, correct), random.Random(0)
    plain, _ = median_of(5, lambda: [plain_trial(pool, rng) for _ in range(args.timed_trials)])
    plain_400 = plain / args.timed_trials * 400
    generator = np.random.default_rng(1)
    quick, trials = timed(lambda: [quick_trial(scores, correct, generator) for _ in range(args.trials)])
    quick_400 = quick / args.trials * 400
    table = np.array(trials)
    error = spread / args.trials**0.5
    off = np.abs(table.mean(0) - values) / np.where(error > 0, error, np.inf)
    print(f"{'N':>6}{'exact':>10}{'drawn':>10}{'off by (s.e.)':>16}{'sd of a trial: exact':>24}{'drawn':>9}")
    for row in zip(COUNTS, values, table.mean(0), off, spread, table.std(0), strict=True):
        print("{:>6}{:>10.4f}{:>10.4f}{:>16.2f}{:>24.4f}{:>9.4f}".format(*row))
    report = {
        "seconds_exact_curve": seconds,
        "seconds_exact_curve_spread_bootstrap": with_spread,
        "seconds_plain_400_trials_scaled": plain_400,
        "plain_trials_timed": args.timed_trials * 5,
        "seconds_numpy_400_trials": quick_400,
        "times_plain": plain_400 / seconds,
        "times_plain_with_spread_and_bootstrap": plain_400 / with_spread,
        "times_numpy": quick_400 / seconds,
        "largest_distance_in_standard_errors": float(off.max()),
        "tied_problems": int(((np.diff(np.sort(scores, axis=1), axis=1) == 0).any(1)).sum()),
        "lost_share": float(np.isnan(scores).mean()),
    }
    print(json.dumps(report, indent=2))
    return int(off.max() > 4)


def everything(scores: Floats, correct: Floats) -> tuple[Floats, Floats, list[list[float]]]:
    """Curve, spread of a trial, and 95% intervals from 1,000 bootstrap draws of problems."""
    values = exact.best_of_n_curve(scores, correct, COUNTS, SLOTS)
    return values.mean(0), exact.spread(values), exact.Bootstrap(PROBLEMS).interval(values)


if __name__ == "__main__":
    raise SystemExit(main())
