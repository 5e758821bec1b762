"""``python -m models_prm.practice FOLDER [--seed N]`` writes the practice files into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from models_prm.practice.maker import GOLD_QUESTIONS, POOL_PROBLEMS, POOL_SAMPLES
from models_prm.practice.writer import write_jsonl


def main() -> None:
    """Parse the command line, write the files, say how many lines each has."""
    parser = argparse.ArgumentParser(
        prog="python -m models_prm.practice",
        description="Write made-up school problems, solutions and gold questions as JSONL.",
        epilog="example: python -m models_prm.practice var/practice --seed 7",
    )
    parser.add_argument("folder", type=Path, help="where problems.jsonl, pool.jsonl and gold.jsonl go")
    parser.add_argument("--seed", type=int, default=0, help="equal seeds write equal files (default 0)")
    parser.add_argument("--problems", type=int, default=POOL_PROBLEMS)
    parser.add_argument("--per-problem", type=int, default=POOL_SAMPLES)
    parser.add_argument("--gold", type=int, default=GOLD_QUESTIONS)
    options = parser.parse_args()
    written = write_jsonl(options.folder, options.seed, options.problems, options.per_problem, options.gold)
    for name, lines in written.items():
        print(f"{options.folder / name}: {lines} lines")


if __name__ == "__main__":
    main()
