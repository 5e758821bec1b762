"""`python -m models_prm finetune`: solutions in, a generator that writes one step a line out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from models_prm.cli.sample import interruptible

EXAMPLE = "example: python -m models_prm finetune pool.jsonl --base var/base --output var/generator"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        'Fine-tune a generator on solutions ("problem", "steps") with a right final answer, for one epoch.\n'
        "The same command goes on after a stop or a crash."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("data", nargs="+", type=Path, help="JSONL files of solutions, .gz allowed")
    parser.add_argument("--output", type=Path, required=True, help="directory of the generator")
    parser.add_argument("--base", default="", help="directory or hub name to start from (default: scratch)")
    parser.add_argument("--keep", choices=["right", "all"], default="right", help="which solutions")
    parser.add_argument("--splitter", default="newline", help="what stands between steps")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--batch-tokens", type=int, default=8192, help="tokens of one optimizer step")
    parser.add_argument("--max-length", type=int, default=1024, help="longest prompt and solution in tokens")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--refuse", nargs="+", type=Path, default=[], help="problems of the test split")
    sizes = {"vocab-size": 4096, "layers": 4, "width": 192, "heads": 4, "feed-forward": 512}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help="from scratch only")


def run(args: argparse.Namespace) -> int:
    """Fine-tune; exit code 1 with one line on stderr when something is wrong, 130 after Ctrl-C."""
    from models_prm.cli.progress import shown
    from models_prm.config import ModelShape, Stage
    from models_prm.errors import Cancelled, PrmError
    from models_prm.records import problem_key
    from models_prm.sampling.pool import load_problems

    try:
        refused = frozenset(problem_key(p.text) for path in args.refuse for p in load_problems(path))
        from models_prm.sampling.finetune import FinetuneConfig, finetune

        config = FinetuneConfig(
            data=tuple(args.data),
            output_dir=args.output,
            base=args.base,
            keep=args.keep,
            splitter=args.splitter,
            max_length=args.max_length,
            seed=args.seed,
            device=args.device,
            refuse_problems=refused,
            shape=ModelShape(args.vocab_size, args.layers, args.width, args.heads, args.feed_forward),
            train=Stage(epochs=args.epochs, lr=args.lr, batch_tokens=args.batch_tokens),
        )
        with shown() as on_progress, interruptible() as should_stop:
            result = finetune(config, on_progress=on_progress, should_stop=should_stop)
    except Cancelled as error:
        print(error, file=sys.stderr)
        return 130
    except (PrmError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    last = result.losses[-1] if result.losses else None
    print(json.dumps({"model": str(result.model_dir), "counts": result.card["counts"], "last_loss": last}))
    return 0


def main(argv: Sequence[str]) -> int:
    """Parse and run."""
    parser = argparse.ArgumentParser(prog="python -m models_prm finetune")
    configure(parser)
    return run(parser.parse_args(argv))
