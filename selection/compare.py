"""Is the new model no worse than the one before? Both score the same held-out labels, which neither saw.

The web process imports this module for nothing but its verdict: numpy is loaded inside the functions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Part = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]

RESAMPLES = 1000
# Fewer problems than this give an interval that means nothing.
FEW_PROBLEMS = 5


def paired_difference(parts: list[Part], *, seed: int = 0) -> dict[str, Any]:
    """Step AUROC of "after" minus "before", with its 95% bootstrap interval over problems.

    `parts` holds for each problem the two models' p(-1) of every rating [n], and which ratings are bad [n].
    `difference` is None where all ratings are of one class, `interval` where there are too few problems.
    """
    import numpy as np

    from models_prm.evaluation import metrics

    before, after, bad = (np.concatenate(column) for column in zip(*parts, strict=True))
    pair = metrics.auroc(before, bad), metrics.auroc(after, bad)
    result: dict[str, Any] = {
        "ratings": len(bad),
        "problems": len(parts),
        "difference": None,
        "interval": None,
    }
    if pair[0] is None or pair[1] is None:
        return result
    result["difference"] = pair[1] - pair[0]
    draws = _draws(parts, seed) if len(parts) >= FEW_PROBLEMS else []
    if len(draws) >= RESAMPLES // 2:
        result["interval"] = [float(q) for q in np.quantile(draws, [0.025, 0.975])]
    return result


def _draws(parts: list[Part], seed: int) -> list[float]:
    import numpy as np

    from models_prm.evaluation import metrics

    rng = np.random.default_rng(seed)
    draws = []
    for _round in range(RESAMPLES):
        chosen = [parts[i] for i in rng.integers(len(parts), size=len(parts))]
        before, after, bad = (np.concatenate(column) for column in zip(*chosen, strict=True))
        pair = metrics.auroc(before, bad), metrics.auroc(after, bad)
        if pair[0] is not None and pair[1] is not None:
            draws.append(pair[1] - pair[0])
    return draws


def verdict(comparison: dict[str, Any] | None) -> tuple[bool, str]:
    """Whether to promote, and why in words. No comparison: there was no model before, or nothing held out."""
    if comparison is None:
        return True, _("There is no model before it to compare with.")
    difference, interval, n = comparison["difference"], comparison["interval"], comparison["ratings"]
    if difference is None:
        return True, _("The %d held-out ratings are all of one kind: nothing speaks against it.") % n
    numbers = {"difference": f"{difference:+.3f}", "n": n, "problems": comparison["problems"]}
    if interval is None:
        text = _("Step AUROC %(difference)s on %(n)d ratings of %(problems)d problems: too few to judge.")
        return True, text % numbers
    numbers |= {"low": f"{interval[0]:+.3f}", "high": f"{interval[1]:+.3f}"}
    if interval[1] < 0:
        text = _("Worse: step AUROC %(difference)s (95%% %(low)s to %(high)s, %(n)d ratings).")
        return False, text % numbers
    text = _("No worse: step AUROC %(difference)s (95%% %(low)s to %(high)s, %(n)d ratings).")
    return True, text % numbers


def compare_models(before: Path, after: Path, held_out: Path) -> dict[str, Any]:
    """`paired_difference` of two model directories on one file of PRM800K lines. Loads torch."""
    from models_prm.data import load_rows
    from models_prm.encoding.tree import build_trees
    from models_prm.evaluation.evaluate import tree_labels
    from models_prm.scoring import PrmScorer

    trees = build_trees(load_rows([held_out]))
    scored = [PrmScorer.load(path).score_trees(trees) for path in (before, after)]
    parts = []
    for tree, old, new in zip(trees, *scored, strict=True):
        # A step that does not fit one model's context is left out for both.
        known = [a is not None and b is not None for a, b in zip(old, new, strict=True)]
        one, classes = tree_labels([tree], [[p if k else None for p, k in zip(old, known, strict=True)]])
        two, _same = tree_labels([tree], [[p if k else None for p, k in zip(new, known, strict=True)]])
        if len(classes):
            parts.append((one[:, 0], two[:, 0], classes == 0))
    if not parts:
        return {"ratings": 0, "problems": 0, "difference": None, "interval": None}
    return paired_difference(parts)
