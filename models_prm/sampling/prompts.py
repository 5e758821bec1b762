"""The text a generator is asked with. Pure functions, one template, stated here:

    Problem:
    {problem of an example}

    Solution:
    {its steps, joined by the splitter}

    Problem:
    {the problem}

    Solution:

Every block ends with a blank line, and the prompt ends with the newline after "Solution:". Without examples
only the last block is left: the fine-tuning (`finetune.py`) uses exactly that, so a tuned model is asked
with no examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models_prm.errors import DataError
from models_prm.steps import join_steps, split_steps

PROBLEM, SOLUTION = "Problem:\n", "\n\nSolution:\n"
BLOCK_END = "\n\n"
FEW_SHOT_STOPS: tuple[str, ...] = ("\nProblem:",)
"""With examples a model goes on with a next problem: its sample ends there."""


@dataclass(frozen=True, slots=True)
class Example:
    """A solved problem shown to the model."""

    problem: str
    steps: tuple[str, ...]


def build_prompt(problem: str, examples: Sequence[Example] = (), splitter: str = "newline") -> str:
    """The prompt for a problem (see the template above)."""
    shown = "".join(
        f"{PROBLEM}{e.problem.strip()}{SOLUTION}{join_steps(e.steps, splitter)}{BLOCK_END}" for e in examples
    )
    return f"{shown}{PROBLEM}{problem.strip()}{SOLUTION}"


def prefix_prompt(
    problem: str, steps: Sequence[str], examples: Sequence[Example] = (), splitter: str = "newline"
) -> str:
    """The prompt for the step that follows `steps`: they are written, and their last separator too."""
    written = join_steps([*steps, ""], splitter) if steps else ""
    return build_prompt(problem, examples, splitter) + written


def load_examples(path: Path, splitter: str = "newline") -> list[Example]:
    """Examples of a JSONL file: `problem`, and `steps` (list) or `solution` (text, split into steps).

    Raises DataError naming file, line and field.
    """
    from models_prm.data import read_jsonl

    examples = []
    for number, record in read_jsonl(path):
        steps = _steps_of(record, splitter)
        if not isinstance(record.get("problem"), str) or not steps:
            raise DataError(
                f'{path}: line {number}: an example needs "problem" (text) and "steps" (list of texts) '
                'or "solution" (text)'
            )
        examples.append(Example(record["problem"], steps))
    if not examples:
        raise DataError(f"{path}: no examples in the file")
    return examples


def _steps_of(record: Mapping[str, Any], splitter: str) -> tuple[str, ...]:
    steps = record.get("steps")
    if isinstance(steps, list) and all(isinstance(step, str) for step in steps):
        return tuple(step for step in steps if step.strip())
    solution = record.get("solution")
    return tuple(split_steps(solution, splitter)) if isinstance(solution, str) else ()
