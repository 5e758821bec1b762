"""`python -m models_prm train`: a recipe and PRM800K lines in, a model directory out."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

EXAMPLE = (
    "example: python -m models_prm train --recipe recipes/tiny.toml --data labels.jsonl.gz --output var/m1"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Train a process reward model. The same command goes on after a stop or a crash."
    parser.epilog = EXAMPLE
    parser.add_argument("--recipe", required=True, type=Path, help="TOML file with the settings")
    parser.add_argument("--data", nargs="+", type=Path, help="PRM800K JSONL files, .gz allowed")
    parser.add_argument("--output", required=True, type=Path, help="directory of the model")
    parser.add_argument(
        "--held-out", nargs="+", type=Path, help="PRM800K files to measure on, never to train on"
    )
    parser.add_argument(
        "--corpus", nargs="+", type=Path, help='JSONL of {"problem", "steps"} for the warm-up'
    )
    parser.add_argument("--base", help="directory or hub name of a causal language model to start from")
    parser.add_argument("--name", help="name of the model")
    parser.add_argument("--seed", type=int, help="seed of everything random")
    parser.add_argument("--device", help="cpu, cuda, ...")
    parser.add_argument(
        "--refuse",
        nargs="+",
        type=Path,
        default=[],
        help="files whose problems must not be trained on (test split)",
    )


def run(args: argparse.Namespace) -> int:
    """Train; prints where the model is and its held-out numbers as JSON."""
    from models_prm.cli.progress import shown
    from models_prm.config import load_recipe
    from models_prm.data import load_rows
    from models_prm.errors import Cancelled, PrmError

    stop = False

    def ask_to_stop(number: int, frame: object) -> None:
        nonlocal stop
        stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C stops at once

    before = signal.signal(signal.SIGINT, ask_to_stop)
    try:
        refused = frozenset(row.group for row in load_rows(args.refuse))
        config = load_recipe(
            args.recipe,
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

        with shown() as on_progress:
            result = train_prm(config, on_progress=on_progress, should_stop=lambda: stop)
    except Cancelled as error:
        print(error, file=sys.stderr)
        return 130
    except PrmError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        signal.signal(signal.SIGINT, before)
    print(json.dumps({"model": str(result.model_dir), "held_out": result.metrics}, indent=2))
    return 0


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm train")
    configure(parser)
    return run(parser.parse_args(argv))
