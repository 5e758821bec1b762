"""`python -m models_prm score`: every line of a JSONL file again, with the scores of its steps."""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

EXAMPLE = "example: python -m models_prm score var/m1 solutions.jsonl --output scored.jsonl"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        'Score solutions. Lines need "problem" and "steps"; they come out in order with "rating_probs" '
        'and "prm_score" added, as in the paper\'s scored samples.'
    )
    parser.epilog = EXAMPLE
    parser.add_argument("model", type=Path, help="directory of a trained model")
    parser.add_argument("file", type=Path, help="JSONL file, .gz allowed")
    parser.add_argument("--output", type=Path, help="file to write (default: stdout)")
    parser.add_argument("--method", default="product", help="product, minimum, last, mean, geometric_mean")
    parser.add_argument(
        "--neutral", choices=["good", "bad"], default="good", help="what an okay step counts as"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch-tokens", type=int, default=8192, help="tokens in one forward pass")


def run(args: argparse.Namespace) -> int:
    """Score; exit code 1 with one line on stderr when a line cannot be used (no output file is left then)."""
    from models_prm.aggregate import REDUCTIONS
    from models_prm.errors import PrmError

    if args.method not in REDUCTIONS:
        print(f"error: no method {args.method!r}: choose one of {', '.join(REDUCTIONS)}", file=sys.stderr)
        return 2
    try:
        if args.output is None:
            _score(args, sys.stdout)
        else:
            partial = args.output.with_name(f".{args.output.name}.partial")
            try:
                with partial.open("w", encoding="utf-8") as file:
                    _score(args, file)
                partial.replace(args.output)
            finally:
                partial.unlink(missing_ok=True)
    except (PrmError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _score(args: argparse.Namespace, out: TextIO) -> None:
    from models_prm.aggregate import score_of
    from models_prm.cli.progress import shown
    from models_prm.data import corpus_text, read_jsonl
    from models_prm.errors import DataError
    from models_prm.records import CLASSES, ScoringItem
    from models_prm.scoring import PrmScorer

    waiting: deque[dict[str, Any]] = deque()

    def items() -> Iterator[ScoringItem]:
        for number, record in read_jsonl(args.file):
            try:
                text = corpus_text(record)
            except DataError as error:
                raise DataError(f"{args.file}: line {number}: {error}") from error
            waiting.append(record)
            yield ScoringItem(str(number), text.problem, text.steps)

    scorer = PrmScorer.load(args.model, args.device)
    with shown() as on_progress:
        for result in scorer.score(items(), batch_tokens=args.batch_tokens, on_progress=on_progress):
            record = waiting.popleft()
            record["rating_probs"] = [dict(zip(map(str, CLASSES), p, strict=True)) for p in result.probs]
            record["prm_score"] = score_of(result, args.method, args.neutral)
            record["model"] = scorer.name
            if result.dropped:
                record["steps_too_long"] = result.dropped
            out.write(json.dumps(record, ensure_ascii=False) + "\n")


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm score")
    configure(parser)
    return run(parser.parse_args(argv))
