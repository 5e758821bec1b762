"""A crew of simulated labelers: their links, one thread each, and the table of what they did."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from selection.simulate.judgement import Habits
from selection.simulate.labeler import Labeler, Oracle, Report


@dataclass(frozen=True)
class Crew:
    """How many work how well. The careless ones are the last of `size`, careful until they are admitted."""

    size: int = 5
    accuracy: float = 0.95
    careless: int = 0
    careless_accuracy: float = 0.6
    give_up: float = 0.0
    bad_problem: float = 0.0
    pace: float = 0.0
    limit: int | None = None
    project: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.careless <= self.size:
            raise ValueError(f"{self.careless} of {self.size} labelers cannot be careless")
        self.habits(0), self.habits(self.size - 1)

    def names(self) -> list[str]:
        careful = self.size - self.careless
        return [
            f"sim-{n + 1}" if n < careful else f"sim-careless-{n + 1 - careful}" for n in range(self.size)
        ]

    def is_careful(self, index: int) -> bool:
        return index < self.size - self.careless

    def habits(self, index: int) -> Habits:
        accuracy = self.accuracy if self.is_careful(index) else self.careless_accuracy
        return Habits(accuracy, self.give_up, self.bad_problem)

    def screening_habits(self, index: int) -> Habits:
        """The careless ones take every care until they are in; nobody gives up in an examination."""
        return Habits(self.accuracy if self.is_careful(index) else 1.0)

    def labelers(self, links: Sequence[str], base_url: str, oracle: Oracle) -> list[Labeler]:
        """One labeler for each sign-in link, in order."""
        return [
            Labeler(
                name,
                link,
                base_url,
                oracle,
                self.habits(index),
                Random(f"{self.seed}/{name}"),  # noqa: S311 - chance, not secrecy
                screening_habits=self.screening_habits(index),
                pace=self.pace,
                # Long enough for a colleague's longest solution to come back.
                patience=20 + 30 * self.pace,
                limit=self.limit,
                project=self.project,
            )
            for index, (name, link) in enumerate(zip(self.names(), links, strict=True))
        ]


def work(labelers: Sequence[Labeler], on_tick: Callable[[int], None] | None = None) -> list[Report]:
    """Everyone at once, one thread each, until the last is done; `on_tick` gets the submissions so far."""
    threads = [threading.Thread(target=labeler.work, name=labeler.name, daemon=True) for labeler in labelers]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)
            if on_tick is not None:
                on_tick(sum(one.report.screening + sum(one.report.submitted.values()) for one in labelers))
    return [labeler.report for labeler in labelers]


def links_of(path: Path) -> list[str]:
    """Sign-in links, one a line; lines that hold none are passed over. Raises OSError."""
    words = path.read_text(encoding="utf-8").split()
    return [word for word in words if "/in/" in word]


HEADINGS = ("labeler", "labels", "give ups", "bad problems", "screening", "steps", "seconds", "ended", "why")


def table(reports: Sequence[Report]) -> list[tuple[str, ...]]:
    """Rows under HEADINGS, one a labeler."""
    return [
        (
            report.name,
            str(report.labels),
            str(report.submitted["give_up"]),
            str(report.submitted["bad_problem"]),
            str(report.screening),
            str(report.steps),
            f"{report.seconds:.0f}",
            report.ending.state,
            report.ending.reason,
        )
        for report in reports
    ]
