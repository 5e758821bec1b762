"""`python -m models_prm targets`: step labels from other sources than people, as TRL stepwise rows."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models_prm.cli.sample import add_generator, interruptible, open_sampler

if TYPE_CHECKING:
    from models_prm.records import OnProgress, ShouldStop
    from models_prm.targets import Counts, PoolSolution, StepTargets

EXAMPLE = (
    "examples:\n"
    "  python -m models_prm targets final-answer pool.jsonl --output rows.jsonl\n"
    "  python -m models_prm targets large-prm pool.jsonl --scorer var/large --output rows.jsonl\n"
    "  python -m models_prm targets rollouts pool.jsonl --model var/generator --output rows.jsonl\n"
    "  python -m models_prm targets arithmetic pool.jsonl --output rows.jsonl"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: one sub-command a source."""
    parser.description = (
        'Label steps. Input lines are those of a pool: "problem", "steps", "answer", "ground_truth_answer".\n'
        'Output lines are TRL stepwise rows ("prompt", "completions", "labels": numbers from 0 to 1, or\n'
        "null for no label) with the evidence beside them. The same command goes on after a stop."
    )
    parser.epilog = EXAMPLE
    sources = parser.add_subparsers(dest="source", required=True)
    outcome = _source(sources, "final-answer", "every step has the grade of the final answer")
    outcome.add_argument("--spread", choices=["all", "last"], default="all", help="steps that get the label")
    large = _source(sources, "large-prm", "another reward model: wrong where p(-1) is above the threshold")
    large.add_argument("--scorer", type=Path, required=True, help="directory of that model")
    large.add_argument("--threshold", type=float, default=0.2)
    large.add_argument("--device", default="cpu")
    rollouts = _source(sources, "rollouts", "how often a generator ends right from each prefix")
    add_generator(rollouts)
    _rollout_arguments(rollouts)
    _source(sources, "arithmetic", "an extra: steps with a false equality of numbers")


def _source(sources: Any, name: str, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = sources.add_parser(name, help=what, description=f"{what}.")
    parser.add_argument("pool", type=Path, help="JSONL pool of solutions, .gz allowed")
    parser.add_argument("--output", type=Path, required=True, help="JSONL of rows, gone on with if there")
    return parser


def _rollout_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=8, help="roll-outs of a prefix (default: 8)")
    parser.add_argument("--batch", type=int, default=4, help="roll-outs at a time (default: 4)")
    parser.add_argument(
        "--labels", choices=["hard", "soft"], default="hard", help="any success, or the share"
    )
    parser.add_argument("--search", choices=["linear", "binary"], default="linear")
    parser.add_argument("--every-step", action="store_true", help="label steps after the first error, too")
    parser.add_argument("--width", type=float, default=0.3, help="soft: enough when the interval is narrower")
    parser.add_argument("--drop-wider", type=float, default=1.0, help="soft: no label when it is wider")
    parser.add_argument("--mixed-only", action="store_true", help="leave out problems that are always solved")
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--few-shot", type=Path, help='JSONL of solved examples: "problem" and "steps"')
    parser.add_argument("--splitter", default="newline", help="what the generator puts between steps")


def run(args: argparse.Namespace) -> int:
    """Label; exit code 1 with one line on stderr when something is wrong, 130 after Ctrl-C."""
    from models_prm.answers import GraderStartError
    from models_prm.cli.progress import shown
    from models_prm.errors import Cancelled, PrmError
    from models_prm.sampling.settings import check_settings, settings_of, whole_lines
    from models_prm.targets import Counts, read_solutions

    counts = Counts()
    try:
        check_settings(args.output, settings_of(args))
        lines = whole_lines(args.output)
        after = int(json.loads(lines[-1])["line"]) if lines else 0
        solutions = (s for s in read_solutions(args.pool) if s.line > after)
        with shown() as tell, interruptible() as stopped, args.output.open("a", encoding="utf-8") as file:
            for targets in _targets(args, solutions, counts, tell, stopped):
                file.write(json.dumps(targets.as_row(), ensure_ascii=True) + "\n")
                file.flush()
    except Cancelled as error:
        print(error, file=sys.stderr)
        return 130
    except (PrmError, OSError, GraderStartError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"rows": str(args.output), **dict(sorted(counts.items()))}))
    return 0


def _targets(
    args: argparse.Namespace,
    solutions: Iterable[PoolSolution],
    counts: Counts,
    tell: OnProgress,
    stopped: ShouldStop,
) -> Iterator[StepTargets]:
    with ExitStack() as stack:
        if args.source == "arithmetic":
            from models_prm.targets.arithmetic import from_arithmetic

            yield from from_arithmetic(solutions, counts)
        elif args.source == "large-prm":
            from models_prm.scoring import load_scorer
            from models_prm.targets.large_prm import from_large_prm

            scorer = load_scorer(args.scorer, args.device)
            yield from from_large_prm(solutions, scorer, counts, threshold=args.threshold, on_progress=tell)
        else:
            from models_prm.answers import GraderPool

            grader = stack.enter_context(GraderPool())
            if args.source == "final-answer":
                from models_prm.targets.outcome import from_final_answers

                yield from from_final_answers(solutions, grader, counts, args.spread)
            else:
                yield from _rollouts(args, solutions, counts, grader, tell, stopped)


def _rollouts(
    args: argparse.Namespace, solutions: Iterable[PoolSolution], counts: Counts, *others: object
) -> Iterator[StepTargets]:
    from models_prm.sampling.prompts import load_examples
    from models_prm.targets.rollouts import RolloutConfig, RolloutLabeler

    grader, tell, stopped = others
    config = RolloutConfig(
        most=args.most,
        batch=args.batch,
        labels=args.labels,
        search=args.search,
        every_step=args.every_step,
        width=args.width,
        drop_wider=args.drop_wider,
        mixed_only=args.mixed_only,
        max_tokens=args.max_tokens,
        temperature=args.temperature,
        seed=args.seed,
        splitter=args.splitter,
        examples=tuple(load_examples(args.few_shot, args.splitter)) if args.few_shot else (),
    )
    labeler = RolloutLabeler(open_sampler(args), grader, config)  # type: ignore[arg-type]
    yield from labeler.label(solutions, counts, on_progress=tell, should_stop=stopped)  # type: ignore[arg-type]


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm targets")
    configure(parser)
    return run(parser.parse_args(argv))
