"""`python -m models_prm search`: problems, a generator and a reward model in; records of a search out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from models_prm.cli.sample import add_generator, interruptible, open_sampler

if TYPE_CHECKING:
    from models_prm.interfaces import StepProposer, StepScorer
    from models_prm.search.records import SearchConfig, SearchRecord

EXAMPLE = (
    "example: python -m models_prm search problems.jsonl --model var/generator --scorer var/m1 "
    "--method beam --set n=16 m=4 --output records.jsonl"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Search for solutions. Writes one record a problem: every proposal, score and decision, with the\n"
        "chosen solution. Answers in the input are not read. The same command goes on after a stop."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("problems", type=Path, help="JSONL file of problems, .gz allowed")
    parser.add_argument("--output", type=Path, required=True, help="JSONL of records, gone on with if there")
    add_generator(parser)
    parser.add_argument(
        "--scorer", type=Path, required=True, help="directory of a reward model, ours or public"
    )
    parser.add_argument("--method", default="beam", help="best_of_n, beam or mcts (default: beam)")
    parser.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="settings of the method, such as n=16 dvts=true",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-step-tokens", type=int, default=128, help="longest step (default: 128)")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--few-shot", type=Path, help='JSONL of solved examples: "problem" and "steps"')
    parser.add_argument("--splitter", default="newline", help="newline or blank_line")
    parser.add_argument("--together", type=int, default=8, help="problems in work at a time (default: 8)")
    parser.add_argument("--pictures", type=Path, help="directory for a picture (SVG) of each tree")


def run(args: argparse.Namespace) -> int:
    """Search; exit code 1 with one line on stderr when something is wrong, 130 after Ctrl-C."""
    from models_prm.cli.progress import shown
    from models_prm.errors import Cancelled, PrmError
    from models_prm.records import Progress
    from models_prm.sampling.pool import load_problems
    from models_prm.sampling.settings import check_settings, settings_of, whole_lines
    from models_prm.search.many import search_many
    from models_prm.search.records import SearchProblem

    try:
        config = read_config(args.method, args.set, args.seed)
        problems = load_problems(args.problems)
        check_settings(args.output, settings_of(args))
        known = {json.loads(line)["problem"]["key"] for line in whole_lines(args.output)}
        left = [SearchProblem(p.key, p.text) for p in problems if p.key not in known]
        models = _models(args) if left else None
        with shown() as tell, interruptible() as stopped, args.output.open("a", encoding="utf-8") as file:
            records = search_many(left, *models, config=config, together=args.together) if models else ()
            for done, record in enumerate(records, len(problems) - len(left) + 1):
                _write(args, file, record)
                tell(Progress("search", done, len(problems)))
                if stopped():
                    raise Cancelled(f"stopped after {done} problems; the same command goes on from them")
    except Cancelled as error:
        print(error, file=sys.stderr)
        return 130
    except (PrmError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"records": str(args.output), "problems": len(problems), "added": len(left)}))
    return 0


def read_config(method: str, settings: Sequence[str], seed: int) -> SearchConfig:
    """Settings of a method from NAME=VALUE words. Raises SearchError naming what is allowed."""
    from models_prm.errors import SearchError
    from models_prm.search import METHODS

    if method not in METHODS:
        raise SearchError(f"no method {method!r}: choose one of {', '.join(METHODS)}")
    kind = METHODS[method][0]
    defaults = {f.name: f.default for f in fields(kind)}
    values: dict[str, Any] = {"seed": seed}
    for word in settings:
        name, _, text = word.partition("=")
        if name not in defaults:
            raise SearchError(f"{method} has no setting {name!r}: known are {', '.join(defaults)}")
        try:
            values[name] = _value(text, type(defaults[name]))
        except ValueError:
            raise SearchError(f"{name} must be a {type(defaults[name]).__name__}, not {text!r}") from None
    return kind(**values)


def _value(text: str, kind: type) -> Any:
    if kind is not bool:
        return kind(text)
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _models(args: argparse.Namespace) -> tuple[StepProposer, StepScorer]:
    from models_prm.sampling.prompts import load_examples
    from models_prm.sampling.proposer import SamplerProposer
    from models_prm.scoring import load_scorer

    proposer = SamplerProposer(
        open_sampler(args),
        max_step_tokens=args.max_step_tokens,
        temperature=args.temperature,
        splitter=args.splitter,
        examples=tuple(load_examples(args.few_shot, args.splitter)) if args.few_shot else (),
    )
    return proposer, load_scorer(args.scorer, args.device)


def _write(args: argparse.Namespace, file: TextIO, record: SearchRecord) -> None:
    """Write a record with its solution, and its picture where one is wanted."""
    from models_prm.search.picture import tree_svg

    if args.pictures is not None:
        args.pictures.mkdir(parents=True, exist_ok=True)
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in record.problem.key)
        (args.pictures / f"{name}.svg").write_text(tree_svg(record), encoding="utf-8")
    file.write(json.dumps({**record.as_json(), "solution": record.steps()}, ensure_ascii=False) + "\n")
    file.flush()


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm search")
    configure(parser)
    return run(parser.parse_args(argv))
