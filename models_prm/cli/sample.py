"""`python -m models_prm sample`: problems in, a pool of sampled solutions out."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models_prm.interfaces import Sampler

EXAMPLE = (
    "examples:\n"
    "  python -m models_prm sample problems.jsonl --model var/generator -n 16 --output pool.jsonl\n"
    "  python -m models_prm sample problems.jsonl --server http://localhost:8000 --model NAME -n 16 "
    "--output pool.jsonl"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        'Sample solutions. Lines of the input need "problem"; "answer" and "unique_id" are kept. The same\n'
        "command goes on after a stop or a crash, without doubling or losing a sample."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("problems", type=Path, help="JSONL file of problems, .gz allowed")
    parser.add_argument("--output", type=Path, required=True, help="pool file to write or to go on with")
    add_generator(parser)
    parser.add_argument("-n", type=int, default=1, help="samples per problem (default: 1)")
    parser.add_argument("--temperature", type=float, default=1.0, help="0 is greedy (default: 1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=512, help="longest sample (default: 512)")
    parser.add_argument("--few-shot", type=Path, help='JSONL of solved examples: "problem" and "steps"')
    parser.add_argument("--splitter", default="newline", help="how a sample falls into steps")
    parser.add_argument("--stop", action="append", default=[], help="end a sample before this text")


def add_generator(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what writes: shared by `sample`, `search` and `targets`."""
    parser.add_argument("--model", required=True, help="model directory; with --server its name there")
    parser.add_argument("--server", help="address of an OpenAI-compatible server (key: STEPMARK_API_KEY)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", help="number format of local weights")
    parser.add_argument("--rows", type=int, default=128, help="local samples in flight (default: 128)")
    parser.add_argument("--concurrency", type=int, default=8, help="server requests in flight (default: 8)")
    parser.add_argument(
        "--per-request", type=int, default=1, help="samples in one server request, where it allows `n`"
    )
    parser.add_argument(
        "--server-reports-stop", action="store_true", help="the server sends stop_reason (vLLM does)"
    )


def open_sampler(args: argparse.Namespace) -> Sampler:
    """The sampler that the arguments name. Raises ModelError or SamplingError with the cure."""
    if args.server:
        from models_prm.sampling.server import ServerSampler

        return ServerSampler(
            args.server,
            args.model,
            concurrency=args.concurrency,
            per_request=args.per_request,
            reports_stop=args.server_reports_stop,
        )
    from models_prm.sampling.local import LocalSampler

    return LocalSampler.load(args.model, args.device, args.dtype, rows=args.rows)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: the work ends in order; a second Ctrl-C ends it at once."""
    stop = False

    def ask_to_stop(number: int, frame: object) -> None:
        nonlocal stop
        stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, ask_to_stop)
    try:
        yield lambda: stop
    finally:
        signal.signal(signal.SIGINT, before)


def run(args: argparse.Namespace) -> int:
    """Sample; exit code 1 with one line on stderr when something is wrong, 130 after Ctrl-C."""
    from models_prm.cli.progress import shown
    from models_prm.errors import Cancelled, PrmError
    from models_prm.sampling.pool import PoolConfig, load_problems, write_pool
    from models_prm.sampling.prompts import load_examples
    from models_prm.steps import SPLITTERS

    if args.splitter not in SPLITTERS:
        print(f"error: no splitter {args.splitter!r}: choose one of {', '.join(SPLITTERS)}", file=sys.stderr)
        return 2
    try:
        config = PoolConfig(
            n=args.n,
            max_tokens=args.max_tokens,
            temperature=args.temperature,
            seed=args.seed,
            splitter=args.splitter,
            examples=tuple(load_examples(args.few_shot, args.splitter)) if args.few_shot else (),
            stop=tuple(args.stop),
        )
        problems = load_problems(args.problems)
        with shown() as on_progress, interruptible() as should_stop:
            result = write_pool(
                args.output,
                problems,
                open_sampler(args),
                config,
                on_progress=on_progress,
                should_stop=should_stop,
            )
    except Cancelled as error:
        print(error, file=sys.stderr)
        return 130
    except (PrmError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"pool": str(args.output), "samples": result.samples, "added": result.added}))
    return 0


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm sample")
    configure(parser)
    return run(parser.parse_args(argv))
