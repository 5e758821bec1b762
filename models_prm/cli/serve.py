"""`python -m models_prm serve`: a reward model behind HTTP, JSON in and step scores out."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

EXAMPLE = """example: python -m models_prm serve var/m1 --port 8200
         curl localhost:8200/score -d '{"problem": "2 + 3?", "steps": ["2 + 3 = 5"]}'"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Serve step scores: POST /score, GET /health. Requests that arrive together share a forward pass. "
        "There is no sign-in: bind it to an address that only its users reach."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("model", help="directory of a trained model, or a public one's directory or hub name")
    parser.add_argument("--kind", default="auto", help="family of a public model where its files do not tell")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8200, help="0: any free one; the address is printed")
    parser.add_argument(
        "--no-self-test", action="store_true", help="open a public model that fails the two examples at load"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--max-tokens", type=int, default=4096, help="tokens in one forward pass")
    parser.add_argument("--max-batch", type=int, default=256, help="solutions scored in one round")
    parser.add_argument("--max-wait-ms", type=float, default=5.0, help="how long a request waits for company")
    parser.add_argument("--max-queue", type=int, default=1024, help="waiting solutions; beyond them: 503")
    parser.add_argument("--max-body", type=int, default=1 << 20, help="bytes of a request; beyond them: 413")
    parser.add_argument("--max-items", type=int, default=64, help="solutions in a request")
    parser.add_argument("--max-steps", type=int, default=256, help="steps of a solution")


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; what was accepted by then is still answered, and the exit code is 0."""
    from models_prm.errors import PrmError
    from models_prm.scoring import load_scorer
    from models_prm.serve.batching import Batcher
    from models_prm.serve.requests import Limits
    from models_prm.serve.server import ScoreServer

    limits = Limits(args.max_body, args.max_items, args.max_steps)
    try:
        scorer = load_scorer(args.model, args.device, args.dtype, args.kind, not args.no_self_test)
        batcher = Batcher(
            scorer,
            max_tokens=args.max_tokens,
            max_batch=args.max_batch,
            max_wait=args.max_wait_ms / 1000,
            max_queue=args.max_queue,
        )
        server = ScoreServer((args.host, args.port), batcher, limits)
    except (PrmError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    thread = threading.Thread(target=server.serve_forever, name="http")
    thread.start()
    print(f"serving {scorer.name} at {server.url}", flush=True)
    ending.wait()
    print("stopping: what was accepted is still answered", flush=True)
    server.stop()
    thread.join()
    return 0
