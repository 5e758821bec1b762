"""Reports on a model: steps against their ratings, first errors, ProcessBench. Plain numbers, no plots here.

python -m models_prm evaluate prm MODEL --data phase1_test.jsonl
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models_prm import aggregate
from models_prm.data import file_sha256, load_rows, rating_counts
from models_prm.encoding.tree import StepTree, build_trees
from models_prm.errors import DataError
from models_prm.evaluation import agreement, metrics, processbench
from models_prm.interfaces import StepScorer
from models_prm.records import LabeledSolution, OnProgress, Progress, ScoringItem
from models_prm.training import baseline

Floats = NDArray[np.float64]


def tree_labels(
    trees: Sequence[StepTree], probs: Sequence[Sequence[Any]]
) -> tuple[Floats, NDArray[np.int64]]:
    """One entry per rating of scored nodes: probabilities [n, 3] and class index [n] (0 bad, 1 okay, 2
    good)."""
    rows: list[Any] = []
    classes: list[int] = []
    for tree, scored in zip(trees, probs, strict=True):
        for counts, p in zip(tree.counts, scored, strict=True):
            for kind, count in enumerate(counts):
                if p is not None and count:
                    rows += [p] * round(count)
                    classes += [kind] * round(count)
    return np.array(rows, np.float64).reshape(-1, 3), np.array(classes, np.int64)


def step_report(probs: Floats, classes: NDArray[np.int64]) -> dict[str, Any]:
    """Step measures. "bad" means rating -1, scored by p(-1); "good" means +1, scored by p(+1).

    Priors are what a constant score would get as average precision; a constant's AUROC is 0.5.
    """
    bad, good = classes == 0, classes == 2
    n = len(classes)
    chosen = np.clip(probs[np.arange(n), classes], 1e-12, 1.0)
    prior = np.array([np.mean(classes == k) for k in range(3)]) if n else np.zeros(3)
    return {
        "ratings": n,
        "prior_bad": float(prior[0]) if n else None,
        "prior_good": float(prior[2]) if n else None,
        "auroc_bad": metrics.auroc(probs[:, 0], bad),
        "average_precision_bad": metrics.average_precision(probs[:, 0], bad),
        "auroc_good": metrics.auroc(probs[:, 2], good),
        "average_precision_good": metrics.average_precision(probs[:, 2], good),
        "auroc_not_bad": metrics.auroc(1.0 - probs[:, 0], ~bad),
        "average_precision_not_bad": metrics.average_precision(1.0 - probs[:, 0], ~bad),
        "loss": float(-np.log(chosen).mean()) if n else None,
        "loss_of_prior": float(-np.log(np.clip(prior[classes], 1e-12, 1)).mean()) if n else None,
        "brier_bad": metrics.brier(probs[:, 0], bad),
        "brier_of_prior": float(prior[0] * (1 - prior[0])) if n else None,
        "calibration_error_bad": metrics.calibration_error(probs[:, 0], bad),
        "reliability_bad": metrics.reliability(probs[:, 0], bad),
        "accuracy_bad_at_half": float(np.mean((probs[:, 0] > 0.5) == bad)) if n else None,
    }


def said(probs: Floats, threshold: float = 0.5) -> list[int]:
    """The rating -1, 0 or +1 that a model gives each step [n, 3]: bad where 1 - p(-1) < threshold."""
    return [-1 if 1 - p[0] < threshold else int(np.argmax(p[1:])) for p in probs.tolist()]


def evaluate_prm(
    model_dir: str | Path,
    data_paths: Iterable[str | Path],
    *,
    device: str = "cpu",
    batch_tokens: int = 8192,
    threshold: float = 0.5,
    resamples: int = 1000,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Report of a trained model on PRM800K files: steps, length-only baseline, first errors.

    The baseline is the logistic regression on length and place that the card keeps from the training data.
    Intervals are 95% bootstrap intervals over problems. `overlap_with_training` names nothing but counts: the
    trainer refuses an overlap only if it was told of it, so this says what the files show.
    """
    from models_prm.encoding.collate import encode_trees
    from models_prm.scoring import PrmScorer

    paths = [Path(path) for path in data_paths]
    rows = load_rows(paths)
    if not rows:
        raise DataError(f"{', '.join(map(str, paths))}: no rated steps to evaluate on")
    scorer = PrmScorer.load(model_dir, device)
    card = scorer.prm.card
    trees = build_trees(rows)
    probs = scorer.score_trees(trees, batch_tokens)
    if on_progress is not None:
        on_progress(Progress("evaluate", 1, 2, f"{sum(len(t.texts) for t in trees)} steps scored"))
    values, classes = tree_labels(trees, probs)
    guesses = baseline.predict(
        card["length_baseline"], baseline.features(encode_trees(scorer.prm.encoder, trees))
    )
    by_length = _guessed(trees, probs, guesses)
    return {
        "model": scorer.name,
        "parameters": card.get("parameters"),
        "files_sha256": {path.name: file_sha256(path) for path in paths},
        "problems": len(trees),
        "rating_counts": rating_counts(rows),
        "ratings_too_long": sum(rating_counts(rows).values()) - len(classes),
        "steps": step_report(values, classes),
        "agreement": agreement.step_agreement((classes - 1).tolist(), said(values, threshold)),
        "length_only": {
            "auroc_bad": metrics.auroc(by_length, classes == 0),
            "average_precision_bad": metrics.average_precision(by_length, classes == 0),
            "brier_bad": metrics.brier(by_length, classes == 0),
            "features": card["length_baseline"]["features"],
        },
        "intervals": _intervals(trees, probs, by_length, resamples),
        "same_prefix_pairs": same_prefix_pairs(trees, probs),
        "first_error": first_errors(rows, trees, probs, threshold),
        "threshold": threshold,
    }


def _guessed(trees: Sequence[StepTree], probs: Sequence[Sequence[Any]], guesses: Floats) -> Floats:
    """The baseline's guesses in the order of `tree_labels`."""
    result: list[float] = []
    index = 0
    for tree, scored in zip(trees, probs, strict=True):
        for counts, p in zip(tree.counts, scored, strict=True):
            if p is not None:
                result += [float(guesses[index])] * sum(round(c) for c in counts)
            index += 1
    return np.array(result)


def _intervals(
    trees: Sequence[StepTree], probs: Sequence[Sequence[Any]], by_length: Floats, resamples: int
) -> dict[str, Any]:
    """95% intervals of AUROC (bad step) for model, length baseline and their difference, over problems."""
    parts, begin = [], 0
    for tree, scored in zip(trees, probs, strict=True):
        values, classes = tree_labels([tree], [scored])
        parts.append((values[:, 0], by_length[begin : begin + len(classes)], classes == 0))
        begin += len(classes)
    rng = np.random.default_rng(0)
    draws: list[tuple[float, float]] = []
    for _ in range(resamples):
        chosen = [parts[i] for i in rng.integers(len(parts), size=len(parts))]
        model, length, bad = (np.concatenate(column) for column in zip(*chosen, strict=True))
        pair = metrics.auroc(model, bad), metrics.auroc(length, bad)
        if pair[0] is not None and pair[1] is not None:
            draws.append((pair[0], pair[1]))
    if not draws:
        return {}
    table = np.array(draws)
    columns = {"auroc_bad": table[:, 0], "length_only": table[:, 1], "difference": table[:, 0] - table[:, 1]}
    return {key: [float(q) for q in np.quantile(column, [0.025, 0.975])] for key, column in columns.items()}


def same_prefix_pairs(trees: Sequence[StepTree], probs: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Pairs of a bad and a not-bad step after the same prefix: how often the bad one has the lower score.

    Place in the solution and problem are equal in a pair, so only the step itself can tell.
    """
    wins, pairs = 0.0, 0
    for tree, scored in zip(trees, probs, strict=True):
        for family in tree.children():
            known = [(tree.counts[n], scored[n][0]) for n in family if scored[n] is not None]
            bad = [p for counts, p in known if counts[0] and not counts[1] + counts[2]]
            fine = [p for counts, p in known if counts[1] + counts[2] and not counts[0]]
            pairs += len(bad) * len(fine)
            wins += sum((b > f) + 0.5 * (b == f) for b in bad for f in fine)
    return {"pairs": pairs, "accuracy": wins / pairs if pairs else None}


def first_errors(
    rows: Sequence[LabeledSolution],
    trees: Sequence[StepTree],
    probs: Sequence[Sequence[Any]],
    threshold: float,
) -> dict[str, Any]:
    """First-error measures over rows whose every step is rated: exact position, and ProcessBench's F1."""
    by_problem = {tree.problem: (tree, scored) for tree, scored in zip(trees, probs, strict=True)}
    truth: list[int | None] = []
    found: list[int | None] = []
    for row in rows:
        tree, scored = by_problem[row.problem]
        values = [scored[node] for node in tree.add(row.steps)]
        if None in row.ratings or None in values:
            continue
        truth.append(row.ratings.index(-1) if -1 in row.ratings else None)
        found.append(aggregate.first_error(aggregate.step_scores(values), threshold))
    return {
        **metrics.first_error_report(truth, found),
        **agreement.first_error_agreement(truth, found),
        "processbench": metrics.processbench_f1(truth, found),
    }


def evaluate_processbench(
    scorer: StepScorer,
    paths: Iterable[str | Path],
    *,
    threshold: float = 0.5,
    fit_on: str | None = None,
    batch_tokens: int = 8192,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """ProcessBench's protocol over its files (JSON lists or lines), each a subset named by its file.

    `threshold` or, with `fit_on`, the one chosen on that subset. `cut_short` counts solutions that did not
    fit the context: their later steps count as fine.
    """
    subsets: dict[str, list[processbench.Scored]] = {}
    facts: dict[str, dict[str, Any]] = {}
    for path in map(Path, paths):
        records = processbench.processbench_records(path)
        scores, dropped = _scored_steps(scorer, records, batch_tokens, on_progress)
        subsets[path.stem] = list(zip(map(processbench.label_of, records), scores, strict=True))
        facts[path.stem] = {"sha256": file_sha256(path), "cut_short": dropped}
    report = processbench.protocol(subsets, threshold=threshold, fit_on=fit_on)
    report["subsets"] = {name: row | facts[name] for name, row in report["subsets"].items()}
    return {"model": scorer.name, **report}


def _scored_steps(
    scorer: StepScorer,
    records: Sequence[dict[str, Any]],
    batch_tokens: int,
    on_progress: OnProgress | None,
) -> tuple[list[list[float]], int]:
    """Scores of every record's steps in order, and how many were cut short."""
    items = [ScoringItem(str(i), r["problem"], tuple(r["steps"])) for i, r in enumerate(records)]
    scores: list[list[float]] = [[] for _ in items]
    dropped = 0
    stream = scorer.score(items, batch_tokens=batch_tokens, on_progress=on_progress, total=len(items))
    for result in stream:
        scores[int(result.key)] = aggregate.step_scores(result.probs)
        dropped += result.dropped > 0
    return scores, dropped
