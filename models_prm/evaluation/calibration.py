"""Are probabilities of bad steps to be believed? Temperature, fitted on validation data only.

    t = fit_temperature(validation_probs, validation_classes)
    report = calibration_report(test_probs, test_classes, temperature=t)

Dividing the log-probabilities by one temperature (Guo et al. 2017, arXiv 1706.04599) changes confidence and
never the order of classes. numpy only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models_prm.evaluation import metrics

Floats = NDArray[np.float64]
_FLOOR = 1e-12
_LOW, _HIGH = math.log(0.05), math.log(20.0)
_GOLDEN = (math.sqrt(5) - 1) / 2


def with_temperature(probs: ArrayLike, temperature: float) -> Floats:
    """Probabilities [n, classes] raised to 1 / temperature and scaled to sum 1. Above 1: less sure."""
    logs = np.log(np.clip(np.asarray(probs, np.float64), _FLOOR, 1.0)) / temperature
    scaled = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray(scaled / scaled.sum(1, keepdims=True))


def log_loss(probs: ArrayLike, classes: ArrayLike) -> float:
    """Mean negative log-probability of the true classes [n], in nats."""
    p, k = np.asarray(probs, np.float64), np.asarray(classes, np.int64)
    return float(-np.log(np.clip(p[np.arange(len(k)), k], _FLOOR, 1.0)).mean())


def fit_temperature(probs: ArrayLike, classes: ArrayLike) -> float:
    """The temperature in [0.05, 20] of least log loss, by golden section (the loss has one minimum).

    `probs` [n, classes], `classes` [n] are validation data, never the test data. Raises ValueError without
    any.
    """
    p, k = np.asarray(probs, np.float64), np.asarray(classes, np.int64)
    if not len(k):
        raise ValueError("no validation steps to fit a temperature on")
    low, high = _LOW, _HIGH
    for _ in range(60):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if log_loss(with_temperature(p, math.exp(left)), k) <= log_loss(
            with_temperature(p, math.exp(right)), k
        ):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


def calibration_report(
    probs: ArrayLike, classes: ArrayLike, *, temperature: float | None = None, bins: int = 15
) -> dict[str, Any]:
    """Brier score, expected calibration error (equal-mass bins) and reliability table of p(bad).

    `probs` [n, classes] with class 0 bad, `classes` [n]. With `temperature` the same again as `scaled`.
    """
    p, k = np.asarray(probs, np.float64), np.asarray(classes, np.int64)
    report: dict[str, Any] = _of_bad(p, k, bins)
    if temperature is not None:
        report["temperature"] = temperature
        report["scaled"] = _of_bad(with_temperature(p, temperature), k, bins)
    return report


def _of_bad(probs: Floats, classes: NDArray[np.int64], bins: int) -> dict[str, Any]:
    bad = classes == 0
    return {
        "brier": metrics.brier(probs[:, 0], bad),
        "error": metrics.calibration_error(probs[:, 0], bad, bins),
        "loss": log_loss(probs, classes) if len(classes) else None,
        "reliability": metrics.reliability(probs[:, 0], bad, bins),
    }
