"""Train the tiny recipe on PRM800K phase 1 and measure it on the phase-1 test file.

    python benchmarks/prm800k_tiny.py --data ../shared/data/prm800k --output var/models/prm800k-tiny

Prints a table and the full report as JSON. Says honestly how far a model of about a million weights, trained
from nothing in minutes, gets above the class prior and above what length and place alone tell.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # on a shared machine, waiting threads must not spin
sys.path.insert(0, str(CHECKOUT))


def arguments() -> argparse.Namespace:
    """Where the files are and where the model goes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=CHECKOUT.parent / "shared" / "data" / "prm800k")
    parser.add_argument("--output", type=Path, default=CHECKOUT / "var" / "models" / "prm800k-tiny")
    parser.add_argument("--recipe", type=Path, default=CHECKOUT / "recipes" / "tiny.toml")
    parser.add_argument("--seed", type=int)
    return parser.parse_args()


def main() -> int:
    """Train, evaluate, print."""
    args = arguments()
    from models_prm.cli.progress import shown
    from models_prm.config import load_recipe
    from models_prm.data import load_rows
    from models_prm.evaluation.evaluate import evaluate_prm
    from models_prm.train import train_prm

    test = args.data / "phase1_test_rebuilt.jsonl"
    config = load_recipe(
        args.recipe,
        data=[args.data / "phase1_train_rebuilt.jsonl.gz"],
        output_dir=args.output,
        seed=args.seed,
        refuse_problems=frozenset(row.group for row in load_rows([test])),
    )
    wall, cpu = time.monotonic(), time.process_time()
    with shown() as on_progress:
        result = train_prm(config, on_progress=on_progress)
    report = evaluate_prm(result.model_dir, [test])
    report["training_wall_seconds"] = round(time.monotonic() - wall, 1)
    report["training_cpu_seconds"] = round(time.process_time() - cpu, 1)
    report["train"] = result.card["train"]
    print(table(report))
    print(json.dumps(report, indent=2))
    return 0


def table(report: dict[str, dict[str, float]]) -> str:
    """The numbers that matter, side by side."""
    steps, length = report["steps"], report["length_only"]
    rows = [
        ("", "model", "length only", "prior"),
        ("step AUROC (bad)", steps["auroc_bad"], length["auroc_bad"], 0.5),
        (
            "average precision (bad)",
            steps["average_precision_bad"],
            length["average_precision_bad"],
            steps["prior_bad"],
        ),
        (
            "Brier score (bad), lower is better",
            steps["brier_bad"],
            length["brier_bad"],
            steps["brier_of_prior"],
        ),
        ("same-prefix pairs in order", report["same_prefix_pairs"]["accuracy"], "", 0.5),
    ]
    return "\n".join("".join(cell(value, i) for i, value in enumerate(row)) for row in rows)


def cell(value: object, column: int) -> str:
    """One cell of the table."""
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return f"{text:<36}" if column == 0 else f"{text:>13}"


if __name__ == "__main__":
    raise SystemExit(main())
