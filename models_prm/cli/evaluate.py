"""`python -m models_prm evaluate`: reports as JSON on stdout."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

EXAMPLE = """examples:
  python -m models_prm evaluate prm var/m1 --data phase1_test.jsonl
  python -m models_prm evaluate best-of-n scored.jsonl"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Measure a reward model on rated steps, or a scored pool by best of N."
    parser.epilog = EXAMPLE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="prm|best-of-n")
    prm = kinds.add_parser(
        "prm", help="a model on rated steps", description="Steps and first errors of a model."
    )
    prm.add_argument("model", type=Path, help="directory of a trained model")
    prm.add_argument("--data", nargs="+", type=Path, default=[], help="PRM800K JSONL files")
    prm.add_argument("--processbench", nargs="+", type=Path, default=[], help="ProcessBench files")
    prm.add_argument("--threshold", type=float, default=0.5, help="a step scored below it is called bad")
    pool = kinds.add_parser(
        "best-of-n", help="a scored pool", description="Exact best of N of a scored pool."
    )
    pool.add_argument("file", type=Path, help="JSONL of scored samples")
    pool.add_argument("-n", type=int, nargs="+", help="values of N (default: powers of two)")
    pool.add_argument(
        "--slots", type=int, help="samples per problem, lost ones counted as wrong (paper: 1860)"
    )


def run(args: argparse.Namespace) -> int:
    """Evaluate; exit code 1 with one line on stderr when a file cannot be used."""
    from models_prm.errors import PrmError

    try:
        report = _prm(args) if args.kind == "prm" else _pool(args)
    except (PrmError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(report, indent=2))
    return 0


def _prm(args: argparse.Namespace) -> dict[str, Any]:
    from models_prm.errors import DataError
    from models_prm.evaluate import evaluate_prm, evaluate_processbench

    if not args.data and not args.processbench:
        raise DataError("nothing to evaluate on: give --data or --processbench")
    report: dict[str, Any] = {}
    if args.data:
        report = evaluate_prm(args.model, args.data, threshold=args.threshold)
    if args.processbench:
        report["processbench"] = [
            evaluate_processbench(args.model, path, threshold=args.threshold) for path in args.processbench
        ]
    return report


def _pool(args: argparse.Namespace) -> dict[str, Any]:
    from models_prm.best_of_n import best_of_n_report, load_pool

    return best_of_n_report(load_pool(args.file), args.n, slots=args.slots)


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm evaluate")
    configure(parser)
    return run(parser.parse_args(argv))
