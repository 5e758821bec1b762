"""`python -m models_prm evaluate`: reports as JSON on stdout, and as Markdown and SVG files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models_prm.evaluation.report import Report

EXAMPLE = """examples:
  python -m models_prm evaluate best-of-n scored.jsonl --plot curve.svg --markdown report.md
  python -m models_prm evaluate steps scored.jsonl --validation validation.jsonl --plot reliability.svg
  python -m models_prm evaluate processbench gsm8k.json math.json --model var/m1 --fit-on gsm8k
  python -m models_prm evaluate prm var/m1 --data phase1_test.jsonl"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Measure a scored pool by best of N, scored steps by people's ratings, or a model."
    parser.epilog = EXAMPLE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="best-of-n|steps|processbench|prm")
    _configure_pool(
        _kind(kinds, "best-of-n", "a scored pool", "Exact best of N, votes and oracle of a pool.")
    )
    _configure_steps(_kind(kinds, "steps", "scored steps", "Scored steps beside people's ratings."))
    _configure_bench(_kind(kinds, "processbench", "first errors", "ProcessBench's protocol over its files."))
    prm = kinds.add_parser(
        "prm", help="a model on rated steps", description="Steps and first errors of a model."
    )
    prm.add_argument("model", type=Path, help="directory of a trained model")
    prm.add_argument("--data", nargs="+", type=Path, default=[], help="PRM800K JSONL files")
    prm.add_argument("--processbench", nargs="+", type=Path, default=[], help="ProcessBench files")
    prm.add_argument("--threshold", type=float, default=0.5, help="a step scored below it is called bad")


def _kind(kinds: Any, name: str, short: str, long: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = kinds.add_parser(name, help=short, description=long)
    parser.add_argument("--plot", type=Path, help="SVG file to write")
    parser.add_argument("--markdown", type=Path, help="Markdown file to write; its plots go beside it")
    return parser


def _configure_pool(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="JSONL of scored samples")
    parser.add_argument("-n", type=int, nargs="+", help="values of N (default: powers of two)")
    parser.add_argument(
        "--slots", type=int, help="samples per problem, lost ones counted as wrong (paper: 1860)"
    )
    parser.add_argument(
        "--equality",
        choices=["notation", "grader"],
        default="notation",
        help="which answers vote together: same notation or number, or all that the grader calls equal",
    )
    parser.add_argument("--resamples", type=int, default=1000, help="bootstrap draws of problems")
    parser.add_argument("--draws", type=int, help="random subsets for votes of large pools")


def _configure_steps(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="JSONL with rating_probs or step_scores, ratings or label")
    parser.add_argument("--validation", type=Path, help="the same of other problems: fits a temperature")
    parser.add_argument("--threshold", type=float, default=0.5, help="a step scored below it is called bad")


def _configure_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, help="subsets, JSON lists or JSON lines")
    parser.add_argument("--model", type=Path, help="model that scores them (default: they hold step_scores)")
    parser.add_argument("--threshold", type=float, default=0.5, help="a step scored below it is called bad")
    parser.add_argument("--fit-on", metavar="NAME", help="subset to choose the threshold on instead")


def run(args: argparse.Namespace) -> int:
    """Evaluate; exit code 1 with one line on stderr when a file cannot be used."""
    import json

    from models_prm.answers import GraderStartError
    from models_prm.errors import PrmError

    reports: dict[str, Callable[[argparse.Namespace], Report]] = {
        "best-of-n": _pool,
        "steps": _steps,
        "processbench": _bench,
    }
    try:
        if args.kind == "prm":
            print(json.dumps(_prm(args), indent=2))
            return 0
        report = reports[args.kind](args)
        _write(report, args.plot, args.markdown)
    except (PrmError, OSError, GraderStartError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    sys.stdout.write(report.json())
    return 0


def _write(report: Report, plot: Path | None, markdown: Path | None) -> None:
    """The first chart as `plot`; the text as `markdown`, with all charts beside it under its name."""
    charts = report.charts()
    if plot is not None and charts:
        plot.write_text(next(iter(charts.values())), encoding="utf-8")
    if markdown is not None:
        prefix = f"{markdown.stem}-"
        markdown.write_text(report.markdown(prefix), encoding="utf-8")
        for name, svg in charts.items():
            markdown.with_name(f"{prefix}{name}.svg").write_text(svg, encoding="utf-8")


def _pool(args: argparse.Namespace) -> Report:
    from models_prm.answers import GraderPool
    from models_prm.cli.progress import shown
    from models_prm.evaluation.best_of_n import load_pool
    from models_prm.evaluation.pool_report import best_of_n_report
    from models_prm.evaluation.report import Report
    from models_prm.evaluation.votes import equal_by

    problems = load_pool(args.file)
    with GraderPool() as graders, shown() as on_progress:
        data = best_of_n_report(
            problems,
            args.n,
            slots=args.slots,
            resamples=args.resamples,
            draws=args.draws,
            equal=equal_by(graders.grade) if args.equality == "grader" else None,
            on_progress=on_progress,
        )
    return Report("best-of-n", data, title=args.file.name, facts={"answers vote by": args.equality})


def _steps(args: argparse.Namespace) -> Report:
    from models_prm.evaluation.rated import load_rated, rated_report
    from models_prm.evaluation.report import Report

    validation = load_rated(args.validation) if args.validation else []
    data = rated_report(load_rated(args.file), validation=validation, threshold=args.threshold)
    return Report("steps", data, title=args.file.name)


def _bench(args: argparse.Namespace) -> Report:
    from models_prm.evaluation.report import Report

    limits = {"threshold": args.threshold, "fit_on": args.fit_on}
    if args.model is None:
        from models_prm.evaluation.rated import scored_bench

        return Report("processbench", scored_bench(args.files, **limits), title="ProcessBench")
    from models_prm.cli.progress import shown
    from models_prm.evaluation.evaluate import evaluate_processbench
    from models_prm.scoring import load_scorer

    with shown() as on_progress:
        scorer = load_scorer(args.model)
        data = evaluate_processbench(scorer, args.files, on_progress=on_progress, **limits)
    return Report("processbench", data, title=f"ProcessBench, {data['model']}")


def _prm(args: argparse.Namespace) -> dict[str, Any]:
    from models_prm.errors import DataError
    from models_prm.evaluation.evaluate import evaluate_prm, evaluate_processbench
    from models_prm.scoring import load_scorer

    if not args.data and not args.processbench:
        raise DataError("nothing to evaluate on: give --data or --processbench")
    report: dict[str, Any] = {}
    if args.data:
        report = evaluate_prm(args.model, args.data, threshold=args.threshold)
    if args.processbench:
        scorer = load_scorer(args.model)
        report["processbench"] = evaluate_processbench(scorer, args.processbench, threshold=args.threshold)
    return report


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm evaluate")
    configure(parser)
    return run(parser.parse_args(argv))
