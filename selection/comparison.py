"""Blind comparison: what a process model, an outcome model and a majority vote would each hand out, judged by
people who do not know which is whose. A right answer by wrong steps is no good solution (arXiv 2305.20050,
section 6, counts only answers; this counts reasoning too).

The choices are made once, when the generation opens, and kept in its settings; one solution that several
rules choose is judged once. Test problems are welcome here: their labels measure, and never train anything.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from labeling.jobs import JobFailure
from labeling.models import Label, Pool, Solution
from labeling.quality import wilson
from labeling.queries.labels import usable_labels
from selection import registry
from selection.candidates import finished, taken_texts
from selection.models import Generation, ModelVersion, ScoreSet
from selection.picking import Cause, Picked

STRATEGY = "blind_comparison"
RULES: dict[str, Any] = {
    "prm": gettext_lazy("best by the process model"),
    "orm": gettext_lazy("best by the outcome model"),
    "vote": gettext_lazy("majority vote"),
}
CAUSES: dict[str, Cause] = {"prm": "prm_choice", "orm": "orm_choice", "vote": "vote_choice"}


@dataclass(frozen=True)
class Sampled:
    """One sample of a problem; `prm` and `orm` are solution scores, None where there is none."""

    solution_id: int
    problem_id: int
    text_hash: str
    answer: str | None
    prm: float | None
    orm: float | None


Choices = dict[int, dict[str, int]]
"""problem -> rule -> solution"""


def choose(samples: Iterable[Sampled], *, size: int | None, seed: int) -> Choices:
    """Each rule's choice of every problem, or of `size` problems drawn by the seed. Pure.

    A problem takes part when it has two samples or more. Ties go to the lowest identifier; the vote is over
    classes of equal answers, samples without an answer do not vote, and its choice is a member of the winning
    class drawn by the seed. Copies of one text are one choice.
    """
    by_problem: dict[int, list[Sampled]] = defaultdict(list)
    for one in sorted(samples, key=lambda one: one.solution_id):
        by_problem[one.problem_id].append(one)
    problems = sorted(p for p, group in by_problem.items() if len(group) > 1)
    if size is not None and size < len(problems):
        problems = sorted(random.Random(f"stepmark:{seed}:comparison").sample(problems, size))  # noqa: S311
    return {problem: _choices(by_problem[problem], seed) for problem in problems}


def _choices(group: Sequence[Sampled], seed: int) -> dict[str, int]:
    first_of_text: dict[str, int] = {}
    for one in group:
        first_of_text.setdefault(one.text_hash, one.solution_id)
    chosen = {
        "prm": _best((one.prm, one) for one in group),
        "orm": _best((one.orm, one) for one in group),
        "vote": _voted(group, seed),
    }
    return {rule: first_of_text[one.text_hash] for rule, one in chosen.items() if one is not None}


def _best(scored: Iterable[tuple[float | None, Sampled]]) -> Sampled | None:
    known = [(-score, one.solution_id, one) for score, one in scored if score is not None]
    return min(known, key=lambda row: row[:2])[2] if known else None


def _voted(group: Sequence[Sampled], seed: int) -> Sampled | None:
    from models_prm.evaluation.votes import classes_of  # needs numpy, which stays out of the web process

    classes = classes_of([one.answer for one in group])
    sizes = Counter(kind for kind in classes if kind is not None)
    if not sizes:
        return None
    draw = random.Random(f"stepmark:{seed}:vote:{group[0].problem_id}")  # noqa: S311
    most = max(sizes.values())
    winner = draw.choice([kind for kind in sorted(sizes) if sizes[kind] == most])
    return draw.choice([one for one, kind in zip(group, classes, strict=True) if kind == winner])


def rival_of(generation: Generation) -> ModelVersion | None:
    """The outcome model that takes part: the newest of the project when the generation was drafted."""
    return ModelVersion.objects.filter(pk=generation.settings.get("rival")).first()


def newest_rival(pool: Pool) -> ModelVersion | None:
    """The newest outcome model that can score."""
    found: ModelVersion | None = (
        registry.usable(pool.project).filter(kind=ModelVersion.Kind.ORM).order_by("-pk").first()
    )
    return found


def decide(generation: Generation) -> tuple[Choices, list[Picked]]:
    """The choices, and what people have to judge for them: each text once, without those that are judged."""
    samples = _samples(generation)
    choices = choose(samples, size=generation.size or None, seed=generation.seed)
    if not choices:
        raise JobFailure(
            _("No problem of the pool “%s” has two samples to choose from.") % generation.pool.name,
            _("Import or sample a pool with several solutions per problem."),
        )
    by_id, taken = {one.solution_id: one for one in samples}, taken_texts(generation.project)
    ranks = _ranks(samples)
    picks: dict[int, Picked] = {}
    for problem, chosen in choices.items():
        for rule, solution in chosen.items():
            if (problem, by_id[solution].text_hash) not in taken and solution not in picks:
                picks[solution] = Picked(solution, CAUSES[rule], *ranks[solution], by_id[solution].prm)
    order = list(picks.values())
    random.Random(f"stepmark:{generation.seed}:order").shuffle(order)  # noqa: S311
    return choices, order


def _samples(generation: Generation) -> list[Sampled]:
    prm, orm = (_values(generation.pool, model) for model in (generation.selector, rival_of(generation)))
    values = finished(generation.pool).values_list("pk", "problem_id", "text_hash", "answer")
    return [
        Sampled(pk, problem, text, answer, prm.get(pk), orm.get(pk)) for pk, problem, text, answer in values
    ]


def _values(pool: Pool, model: ModelVersion | None) -> dict[int, float | None]:
    score_set = ScoreSet.objects.filter(pool=pool, model=model, is_complete=True).first()
    return dict(score_set.scores.values_list("solution_id", "value")) if score_set and model else {}


def _ranks(samples: Sequence[Sampled]) -> dict[int, tuple[int, int]]:
    """(rank by the process model, number of samples) within the problem."""
    by_problem: dict[int, list[Sampled]] = defaultdict(list)
    for one in samples:
        by_problem[one.problem_id].append(one)
    result = {}
    for group in by_problem.values():
        ordered = sorted(group, key=lambda one: (one.prm is None, -(one.prm or 0.0), one.solution_id))
        result.update({one.solution_id: (n, len(group)) for n, one in enumerate(ordered, start=1)})
    return result


@dataclass(frozen=True)
class RuleQuality:
    """What one rule's choices are worth. `right`: right answers among all `problems`; `sound`: of the
    `judged`, right answers reached without a bad step, with the 95% interval of their share."""

    title: str
    problems: int
    right: int
    judged: int
    sound: int
    low: float
    high: float


def quality(generation: Generation) -> list[RuleQuality]:
    """One row a rule, from the labels so far; empty for other generations."""
    if generation.strategy != STRATEGY:
        return []
    choices: Mapping[str, Mapping[str, int]] = generation.settings.get("choices", {})
    solutions = _facts({pk for chosen in choices.values() for pk in chosen.values()})
    sound = _judged(generation, solutions)
    rows = []
    for rule, title in RULES.items():
        chosen = [row[rule] for row in choices.values() if row.get(rule) in solutions]
        if not chosen:
            continue
        judged = [pk for pk in chosen if pk in sound]
        good = sum(sound[pk] for pk in judged)
        right = sum(solutions[pk][0] == Solution.Grade.RIGHT for pk in chosen)
        rows.append(
            RuleQuality(str(title), len(chosen), right, len(judged), good, *wilson(good, len(judged)))
        )
    return rows


def _facts(ids: Iterable[int]) -> dict[int, tuple[str, int, str]]:
    """(grade, problem, text) of the chosen solutions."""
    rows = Solution.objects.filter(pk__in=list(ids)).values_list("pk", "grade", "problem_id", "text_hash")
    return {pk: (grade, problem, text) for pk, grade, problem, text in rows}


def _judged(generation: Generation, solutions: Mapping[int, tuple[str, int, str]]) -> dict[int, bool]:
    """Of the chosen solutions that have a usable label, under any copy of their text: whether they are right
    through and through. Where people disagree, one who found an error is enough."""
    wanted = {(problem, text): pk for pk, (_grade, problem, text) in solutions.items()}
    labels = usable_labels(generation.project).filter(
        problem_id__in={problem for _grade, problem, _text in solutions.values()},
        solution__isnull=False,
    )
    verdicts: dict[int, bool] = {}
    for problem, text, finish in labels.values_list("problem_id", "solution__text_hash", "finish_reason"):
        pk = wanted.get((problem, text or ""))
        if pk is not None:
            fine = finish == Label.FinishReason.SOLUTION and solutions[pk][0] == Solution.Grade.RIGHT
            verdicts[pk] = verdicts.get(pk, True) and fine
    return verdicts
