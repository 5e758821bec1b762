"""`python -m models_prm COMMAND ...`: the machine side without a database.

Every command lives in its own module of `models_prm.cli` and offers `configure(parser)` and `run(arguments)`
-> exit code; it is imported only when asked for, so that `--help` answers at once and never loads torch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple


class Command(NamedTuple):
    """Where a command lives and what it does, in one line."""

    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "train": Command("models_prm.cli.train", "train a process or outcome reward model from a recipe"),
    "score": Command("models_prm.cli.score", "score every step of solutions with a trained model"),
    "serve": Command("models_prm.cli.serve", "serve step scores over HTTP"),
    "evaluate": Command("models_prm.cli.evaluate", "measure a model or a scored pool; JSON report"),
    "finetune": Command("models_prm.cli.finetune", "teach a language model to write one step a line"),
    "sample": Command("models_prm.cli.sample", "sample solutions into a pool; local weights or a server"),
    "search": Command("models_prm.cli.search", "search for solutions: best of N, beam, MCTS; full records"),
    "targets": Command("models_prm.cli.targets", "step labels from answers, a large model or roll-outs"),
    "grade": Command("models_prm.cli.grade", "compare given answers with true ones: right, wrong, unknown"),
}

EXIT_USAGE = 2


def usage() -> str:
    """The help text: one line for each command, and an example."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: python -m models_prm COMMAND [OPTIONS]",
            "",
            *lines,
            "",
            "example: python -m models_prm grade pairs.jsonl",
            "`python -m models_prm COMMAND --help` explains one command.",
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (0 only on success)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0 if arguments else EXIT_USAGE
    command = COMMANDS.get(arguments[0])
    if command is None:
        print(f"no command {arguments[0]!r}: choose one of {', '.join(COMMANDS)}", file=sys.stderr)
        return EXIT_USAGE
    if find_spec(command.module) is None:
        print(f"{arguments[0]} is not part of this installation", file=sys.stderr)
        return EXIT_USAGE
    module = import_module(command.module)
    parser = argparse.ArgumentParser(
        prog=f"python -m models_prm {arguments[0]}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    module.configure(parser)
    return int(module.run(parser.parse_args(arguments[1:])))


if __name__ == "__main__":
    raise SystemExit(main())
