"""A watch for over-optimisation: the reward model's score rises while the true grade falls.

    watch = Watch(Path("var/run/watch.jsonl"))
    reward = StepReward(scorer, watch=watch, grade=lambda prompt, completion, row: ...)
    ... train ...
    print(find_turn(read_log(watch.path)))
    Path("var/run/watch.svg").write_text(draw(read_log(watch.path)))

One line of JSON per batch of samples: {"step", "prm", "grade", "graded", "samples", "steps"}: means over
the batch, null where nothing was known. A policy that has learned to please the scorer and not the problem
shows as two curves that part (Gao, Schulman and Hilton, arXiv 2210.10760).
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from models_prm.data import read_jsonl
from models_prm.errors import DataError
from models_prm.evaluation.plots import Line, Words, lines


@dataclass(frozen=True)
class Entry:
    """One batch: mean reward `prm`, share of right ones `grade` among `graded`, mean number of steps."""

    step: int
    prm: float | None
    grade: float | None
    graded: int
    samples: int
    steps: float


@dataclass(frozen=True)
class Turn:
    """Where it turned: `best`, the step with the highest grade; `step`, where the loss was beyond doubt."""

    best: int
    step: int
    prm_rise: float
    grade_fall: float


@dataclass
class Watch:
    """Appends a line per batch; a run that goes on after a stop goes on in the same file."""

    path: Path
    _next: int = field(default=0, repr=False)

    def write(
        self,
        *,
        step: int | None,
        rewards: Sequence[float | None],
        grades: Sequence[bool | None],
        steps: Sequence[int],
    ) -> Entry:
        """Note a batch. Without `step` batches are counted from 0."""
        known = [r for r in rewards if r is not None]
        graded = [g for g in grades if g is not None]
        entry = Entry(
            step=self._next if step is None else step,
            prm=statistics.fmean(known) if known else None,
            grade=statistics.fmean(graded) if graded else None,
            graded=len(graded),
            samples=len(rewards),
            steps=statistics.fmean(steps) if steps else 0.0,
        )
        self._next = entry.step + 1
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(entry)) + "\n")
        return entry


def read_log(path: Path) -> list[Entry]:
    """Entries of a log, in order. Raises DataError naming the line."""
    entries = []
    for number, record in read_jsonl(path):
        try:
            entries.append(Entry(**record))
        except TypeError as error:
            raise DataError(f"{path}: line {number} is no line of a watch ({error})") from error
    return entries


def find_turn(
    entries: Sequence[Entry], window: int = 5, rise: float = 0.0, fall: float = 0.02
) -> Turn | None:
    """The first batch where the score is higher and the grade lower than when the grade was best, or None.

    Both are means over `window` batches. The score must have risen by more than `rise`, the grade fallen by
    more than `fall` and by more than two standard errors of the difference, so that noise is no turn.
    """
    used = [(e.step, e.prm, e.grade) for e in entries if e.prm is not None and e.grade is not None]
    best = -1
    places = range(window - 1, len(used))
    scores, grades, errors = {}, {}, {}
    for i in places:
        part = used[i - window + 1 : i + 1]
        scores[i] = statistics.fmean(prm for _, prm, _ in part)
        grades[i] = statistics.fmean(grade for _, _, grade in part)
        errors[i] = statistics.stdev([g for _, _, g in part]) / math.sqrt(window) if window > 1 else 0.0
        if best < 0 or grades[i] > grades[best]:
            best = i
        lost = grades[best] - grades[i]
        doubt = 2.0 * math.hypot(errors[best], errors[i])
        if lost > max(fall, doubt) and scores[i] - scores[best] > rise:
            return Turn(used[best][0], used[i][0], scores[i] - scores[best], lost)
    return None


def draw(entries: Sequence[Entry], window: int = 5, *, standalone: bool = True) -> str:
    """SVG of score and grade over training, each a running mean; the turn is told in the title.

    The score is scaled to the span 0 to 1 of its own values, since forms of return have different units.
    """
    turn = find_turn(entries, window)
    scores = _running([(float(e.step), e.prm) for e in entries if e.prm is not None], window)
    grades = _running([(float(e.step), e.grade) for e in entries if e.grade is not None], window)
    values = [value for _, value in scores]
    low, high = min(values, default=0.0), max(values, default=1.0)
    scaled = [(step, (value - low) / (high - low) if high > low else 0.5) for step, value in scores]
    title = "Score and grade during training"
    if turn is not None:
        title += f": over-optimised from step {turn.step}"
    about = f"PRM score between {low:.3f} and {high:.3f}, drawn as 0 to 1."
    series = [Line(n, p) for n, p in (("PRM score (scaled)", scaled), ("graded right", grades)) if p]
    words = Words(title, "training step", "share", about)
    return lines(series, words, y_range=(0.0, 1.0), standalone=standalone)


def _running(points: Sequence[tuple[float, float]], window: int) -> list[tuple[float, float]]:
    return [
        (points[i][0], statistics.fmean(value for _, value in points[max(0, i - window + 1) : i + 1]))
        for i in range(len(points))
    ]
