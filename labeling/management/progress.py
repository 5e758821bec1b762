"""A progress bar for commands: on a terminal a bar with time left, elsewhere nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

OnProgress = Callable[[int, int, str], None]


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """Gives `on_progress(done, total, stage)`; the bar goes away at the end."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total, stage: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        stage_now = ""

        def show(done: int, total: int, stage: str) -> None:
            nonlocal stage_now
            if stage != stage_now:
                stage_now = stage
                bar.reset(task)
            bar.update(task, completed=done, total=total, description=stage)

        yield show
