"""`python -m models_prm train`: a recipe and labelled lines in, a model directory out."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

EXAMPLE = """examples:
  python -m models_prm train --recipe recipes/tiny.toml --data labels.jsonl.gz --output var/m1
  python -m models_prm train --kind orm --recipe recipes/demo.toml --data graded-pool.jsonl --output var/orm
  python -m models_prm train --processes 2 --recipe recipes/tiny.toml --data labels.jsonl --output var/m2"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Train a reward model. The same command goes on after a stop or a crash."
    parser.epilog = EXAMPLE
    parser.add_argument("--recipe", required=True, type=Path, help="TOML file with the settings")
    parser.add_argument(
        "--kind",
        choices=["prm", "orm"],
        help="prm: labels of steps; orm: verdicts on final answers (default: the recipe's, else prm)",
    )
    parser.add_argument(
        "--data",
        nargs="+",
        type=Path,
        help="JSONL files, .gz allowed: PRM800K, TRL stepwise rows, rows with targets; for orm a graded pool",
    )
    parser.add_argument("--output", required=True, type=Path, help="directory of the model")
    parser.add_argument(
        "--held-out", nargs="+", type=Path, help="files of the same kind to measure on, never to train on"
    )
    parser.add_argument(
        "--corpus", nargs="+", type=Path, help='JSONL of {"problem", "steps"} for the warm-up'
    )
    parser.add_argument("--base", help="directory or hub name of a causal language model to start from")
    parser.add_argument("--name", help="name of the model")
    parser.add_argument("--seed", type=int, help="seed of everything random")
    parser.add_argument("--device", help="cpu, cuda, ...")
    parser.add_argument(
        "--processes", type=int, default=1, help="processes on this machine that share every step"
    )
    parser.add_argument(
        "--refuse",
        nargs="+",
        type=Path,
        default=[],
        help="files whose problems must not be trained on (test split)",
    )


def run(args: argparse.Namespace) -> int:
    """Train; prints where the model is and its held-out numbers as JSON."""
    from models_prm.training import distributed

    if args.processes > 1 and not distributed.is_launched():
        return subprocess.call(_launched(args))
    stop = False

    def ask_to_stop(number: int, frame: object) -> None:
        nonlocal stop
        stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C stops at once

    before = signal.signal(signal.SIGINT, ask_to_stop)
    group = distributed.join_launched(args.device or "cpu")
    try:
        code, text = _train(args, lambda: stop, group.main)
    finally:
        signal.signal(signal.SIGINT, before)
        distributed.leave()
    if group.main:
        print(text, file=sys.stderr if code else sys.stdout)
    return code


def _train(args: argparse.Namespace, should_stop: Callable[[], bool], main: bool) -> tuple[int, str]:
    """Exit code, and what to say at the end."""
    from models_prm.cli.progress import shown
    from models_prm.config import load_recipe
    from models_prm.data import load_problem_keys
    from models_prm.errors import Cancelled, PrmError

    shows: Any = shown() if main else nullcontext()
    try:
        refused = load_problem_keys(args.refuse)
        config = load_recipe(
            args.recipe,
            kind=args.kind,
            data=args.data,
            output_dir=args.output,
            held_out=args.held_out,
            corpus=args.corpus,
            base=args.base,
            name=args.name,
            seed=args.seed,
            device=args.device,
            refuse_problems=refused or None,
        )
        from models_prm.train import train_prm

        with shows as on_progress:
            result = train_prm(config, on_progress=on_progress, should_stop=should_stop)
    except Cancelled as error:
        return 130, str(error)
    except PrmError as error:
        return 1, f"error: {error}"
    return 0, json.dumps({"model": str(result.model_dir), "held_out": result.metrics}, indent=2)


def _launched(args: argparse.Namespace) -> list[str]:
    """The same command under torch's launcher."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={args.processes}"]
    command = [sys.executable, *launcher, "-m", "models_prm", "train"]
    for name, value in vars(args).items():
        if name != "processes" and value not in (None, []):
            values = value if isinstance(value, list) else [value]
            command += [f"--{name.replace('_', '-')}", *map(str, values)]
    return command


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm train")
    configure(parser)
    return run(parser.parse_args(argv))
