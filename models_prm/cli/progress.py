"""Progress on a terminal: a bar with counts and time left; elsewhere now and then a plain line on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from models_prm.records import OnProgress, Progress


@contextmanager
def shown() -> Iterator[OnProgress]:
    """A function to hand to a long job as `on_progress`."""
    if not sys.stderr.isatty():
        yield _plain()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.fields[stage]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, object] = {}

        def tell(progress: Progress) -> None:
            task = tasks.get(progress.stage)
            if task is None:
                task = tasks[progress.stage] = bars.add_task("", stage=progress.stage)
            bars.update(
                task,  # type: ignore[arg-type]
                completed=progress.done,
                total=progress.total or None,
                description=progress.message,
            )

        yield tell


def _plain(every: float = 10.0) -> OnProgress:
    """A line at the end of a stage and at most every so many seconds."""
    last = 0.0

    def tell(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= every or progress.done == progress.total:
            last = time.monotonic()
            line = f"{progress.stage}: {progress.done}/{progress.total} {progress.message}"
            print(line.rstrip(), file=sys.stderr, flush=True)

    return tell
