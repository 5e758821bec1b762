"""What a few roll-outs say about the share of right ones: the Beta interval. Pure, without scipy."""

from __future__ import annotations

import math


def beta_interval(successes: int, failures: int, level: float = 0.95) -> tuple[float, float]:
    """Central interval of the share of successes, for a uniform prior: quantiles of Beta(1 + s, 1 + f).

    With nothing seen it is nearly all of [0, 1]. Raises ValueError for negative counts or a level outside
    (0, 1).
    """
    if successes < 0 or failures < 0 or not 0 < level < 1:
        raise ValueError("counts must not be negative, and the level must lie between 0 and 1")
    tail = (1 - level) / 2
    return _quantile(tail, successes + 1, failures + 1), _quantile(1 - tail, successes + 1, failures + 1)


def _cdf(x: float, a: int, b: int) -> float:
    """P(Beta(a, b) <= x) for whole a, b >= 1: the chance of at least a successes in a + b - 1 trials."""
    n = a + b - 1
    return math.fsum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))


def _quantile(share: float, a: int, b: int) -> float:
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if _cdf(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2
