"""How far a PRM and people, or two people, agree: Cohen's kappa on steps, the place of the first error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

FirstError = int | None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Agreement beyond chance (Cohen 1960): 1 is full, 0 what independent raters with these habits reach.

    None without items, or where both raters used one and the same class only: chance agreement is 1 then.
    Raises ValueError for lists of different length.
    """
    if len(first) != len(second):
        raise ValueError("both raters must have judged the same items")
    n = len(first)
    if not n:
        return None
    a, b = Counter(first), Counter(second)
    expected = sum(a[k] * b[k] for k in a) / n**2
    observed = sum(x == y for x, y in zip(first, second, strict=True)) / n
    return (observed - expected) / (1 - expected) if expected < 1 else None


def step_agreement(people: Sequence[int], model: Sequence[int]) -> dict[str, Any]:
    """Ratings -1, 0, +1 of the same steps: raw agreement and kappa, of three classes and of bad or not."""
    bad_p, bad_m = [r == -1 for r in people], [r == -1 for r in model]
    n = len(people)
    return {
        "steps": n,
        "same": sum(p == m for p, m in zip(people, model, strict=True)) / n if n else None,
        "kappa": cohen_kappa(people, model),
        "same_bad": sum(p == m for p, m in zip(bad_p, bad_m, strict=True)) / n if n else None,
        "kappa_bad": cohen_kappa(bad_p, bad_m),
    }


def first_error_agreement(people: Sequence[FirstError], model: Sequence[FirstError]) -> dict[str, Any]:
    """Shares of solutions with the same first error (None: no error), and with one at most a step away.

    "No error" agrees with "no error" only: it is no neighbour of any step. `both` counts the solutions in
    which both saw an error, and `within_one_of_both` is the share of those within one step.
    """
    if len(people) != len(model):
        raise ValueError("both must have judged the same solutions")
    pairs = list(zip(people, model, strict=True))
    exact = sum(p == m for p, m in pairs)
    both = [(p, m) for p, m in pairs if p is not None and m is not None]
    near = sum(abs(p - m) <= 1 for p, m in both)
    clean = sum(p is None and m is None for p, m in pairs)
    return {
        "solutions": len(pairs),
        "exact": exact / len(pairs) if pairs else None,
        "within_one": (near + clean) / len(pairs) if pairs else None,
        "both": len(both),
        "exact_of_both": sum(p == m for p, m in both) / len(both) if both else None,
        "within_one_of_both": near / len(both) if both else None,
        "kappa_any_error": cohen_kappa([p is None for p in people], [m is None for m in model]),
    }
