"""Small files and records for the tests of import and export; all content is our own."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """Records as JSON lines; a text is written as it stands. gzip where the name ends in .gz."""
    text = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.split("\n") if line]


def completion(text: str, rating: int | None = 1, **fields: Any) -> dict[str, Any]:
    return {"text": text, "rating": rating, "flagged": False, **fields}


def step(
    *completions: dict[str, Any], chosen: int | None = 0, human: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {"completions": list(completions), "human_completion": human, "chosen_completion": chosen}


def record(
    *steps: dict[str, Any], problem: str = "What is $2+3$?", labeler: str | None = "ann", **fields: Any
) -> dict[str, Any]:
    """A PRM800K line of phase 1 unless `fields` say otherwise; `question` and `label` fields are merged."""
    question = {"problem": problem, "ground_truth_answer": "5", **fields.pop("question", {})}
    label = {
        "steps": list(steps) or [step(completion("It is $5$."))],
        "total_time": 5000,
        "finish_reason": "solution",
        **fields.pop("label", {}),
    }
    return {
        "labeler": labeler,
        "timestamp": None if labeler is None else "2022-07-30T23:23:32.118856",
        "generation": None,
        "is_quality_control_question": False,
        "is_initial_screening_question": False,
        **fields,
        "question": question,
        "label": label,
    }


def sample(n: int = 1, **fields: Any) -> dict[str, Any]:
    """A plain solution of the n-th problem."""
    return {
        "problem": f"What is ${n}+1$?",
        "answer": str(n + 1),
        "steps": ["We add.", f"# Answer\n\n{n + 1}"],
    } | fields


def human_label(label: int = -1, **fields: Any) -> dict[str, Any]:
    """A ProcessBench item."""
    values = {
        "id": "own-1",
        "generator": "pen",
        "problem": "What is $4\\cdot 3$?",
        "steps": ["We multiply.", "So $12$."],
    }
    return values | {"final_answer_correct": label < 0, "label": label} | fields
