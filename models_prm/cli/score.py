"""`python -m models_prm score`: every line of a JSONL file again, with the scores of its steps."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models_prm.interfaces import StepScorer

EXAMPLE = "example: python -m models_prm score var/m1 solutions.jsonl --output scored.jsonl"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        'Score solutions. Lines need "problem" and "steps"; they come out in order with "rating_probs" '
        'and "prm_score" added, as in the paper\'s scored samples. With --output, the same command goes on '
        "after a kill where it was."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("model", help="directory of a trained model, or a public one's directory or hub name")
    parser.add_argument("file", type=Path, help="JSONL file, .gz allowed")
    parser.add_argument("--output", type=Path, help="file to write (default: stdout)")
    parser.add_argument("--kind", default="auto", help="family of a public model where its files do not tell")
    parser.add_argument("--method", default="product", help="product, minimum, last, mean, geometric_mean")
    parser.add_argument(
        "--neutral", choices=["good", "bad"], default="good", help="what an okay step counts as"
    )
    parser.add_argument(
        "--no-self-test", action="store_true", help="open a public model that fails the two examples at load"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--batch-tokens", type=int, default=4096, help="tokens in one forward pass")


def run(args: argparse.Namespace) -> int:
    """Score; exit code 1 with one line on stderr when a line cannot be used (no output file is left then)."""
    from models_prm.aggregate import REDUCTIONS
    from models_prm.errors import DataError, PrmError
    from models_prm.scoring import load_scorer

    if args.method not in REDUCTIONS:
        print(f"error: no method {args.method!r}: choose one of {', '.join(REDUCTIONS)}", file=sys.stderr)
        return 2
    partial: Path | None = None
    try:
        scorer = load_scorer(args.model, args.device, args.dtype, args.kind, not args.no_self_test)
        if args.output is None:
            _score(args, scorer, sys.stdout.buffer, 0)
        else:
            partial = _partial(args)
            with partial.open("ab+") as file:
                _score(args, scorer, file, _done(file, getattr(scorer, "window", 1)))
            partial.replace(args.output)
    except (PrmError, OSError) as error:
        if isinstance(error, DataError) and partial is not None:
            partial.unlink(missing_ok=True)
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _partial(args: argparse.Namespace) -> Path:
    """The unfinished output, named after everything its lines depend on; those of other runs are removed."""
    from models_prm.data import file_sha256
    from models_prm.errors import DataError

    if not args.file.is_file():
        raise DataError(f"{args.file}: cannot read (no such file)")
    told = [
        args.method,
        args.neutral,
        args.device,
        args.dtype,
        args.kind,
        str(args.batch_tokens),
        str(args.model),
    ]
    told.append(file_sha256(args.file))
    for path in sorted(Path(args.model).glob("*")):
        if path.suffix in {".json", ".safetensors"}:
            state = path.stat()
            told.append(f"{path.name} {state.st_size} {state.st_mtime_ns}")
    mark = hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
    partial: Path = args.output.with_name(f".{args.output.name}.{mark}.partial")
    for other in args.output.parent.glob(f".{args.output.name}.*.partial"):
        if other != partial:
            other.unlink(missing_ok=True)
    return partial


def _done(file: IO[bytes], window: int) -> int:
    """Lines of an unfinished output that are kept: whole windows, so that the rest meets the same batches.

    What follows them is cut off.
    """
    file.seek(0)
    count = kept = end = kept_end = 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        count, end = count + 1, end + len(line)
        if count % window == 0:
            kept, kept_end = count, end
    file.truncate(kept_end)
    file.seek(0, 2)
    if kept:
        print(f"going on after {kept} lines that were scored before", file=sys.stderr)
    return kept


def _score(args: argparse.Namespace, scorer: StepScorer, out: IO[bytes], done: int) -> None:
    from models_prm.aggregate import score_of
    from models_prm.cli.progress import shown
    from models_prm.data import corpus_text, read_jsonl
    from models_prm.errors import DataError
    from models_prm.records import CLASSES, ScoringItem

    waiting: deque[dict[str, Any]] = deque()

    def items() -> Iterator[ScoringItem]:
        for number, record in islice(read_jsonl(args.file), done, None):
            try:
                text = corpus_text(record)
            except DataError as error:
                raise DataError(f"{args.file}: line {number}: {error}") from error
            waiting.append(record)
            yield ScoringItem(str(number), text.problem, text.steps)

    with shown() as on_progress:
        for result in scorer.score(items(), batch_tokens=args.batch_tokens, on_progress=on_progress):
            record = waiting.popleft()
            record["rating_probs"] = [dict(zip(map(str, CLASSES), p, strict=True)) for p in result.probs]
            record["prm_score"] = score_of(result, args.method, args.neutral)
            record["model"] = scorer.name
            if result.dropped:
                record["steps_too_long"] = result.dropped
            out.write((json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass"))
            if not waiting:
                out.flush()


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm score")
    configure(parser)
    return run(parser.parse_args(argv))
