"""`python -m models_prm evaluate`: JSON on stdout, Markdown and SVG on request, one line when it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models_prm.cli import evaluate
from tests.models_prm.prm_make import write_lines

POOL = [
    {"problem": f"p{p}", "is_correct": i % 2 == p % 2, "answer": answer, "prm_score": (i + 1) / 9}
    for p in range(6)
    for i, answer in enumerate(["x^2-1", "(x+1)(x-1)", "3", "4"])
]


def test_a_pool_is_reported_drawn_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, svg, text = (tmp_path / name for name in ("pool.jsonl", "a.svg", "a.md"))
    write_lines(file, POOL)
    arguments = ["best-of-n", str(file), "--plot", str(svg), "--markdown", str(text), "--resamples", "50"]
    assert evaluate.main(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kind"], report["title"], report["problems"]) == ("best-of-n", "pool.jsonl", 6)
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert "](a-curve.svg)" in text.read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {
        "pool.jsonl",
        "a.svg",
        "a.md",
        "a-curve.svg",
        "a-quintiles.svg",
    }


def test_the_grader_may_say_which_answers_vote_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of four answers are one by algebra: together they win every vote."""
    file = write_lines(tmp_path / "pool.jsonl", POOL)
    accuracies = []
    for equality in ("notation", "grader"):
        assert evaluate.main(["best-of-n", str(file), "-n", "4", "--equality", equality]) == 0
        accuracies.append(json.loads(capsys.readouterr().out)["majority"][0]["accuracy"])
    assert accuracies == [0.5, 0.5]
    one = [line for line in POOL if line["problem"] == "p0"]
    one = [{**line, "is_correct": line["answer"] in {"x^2-1", "(x+1)(x-1)"}} for line in one]
    write_lines(file, one)
    accuracies = []
    for equality in ("notation", "grader"):
        assert evaluate.main(["best-of-n", str(file), "-n", "4", "--equality", equality]) == 0
        accuracies.append(json.loads(capsys.readouterr().out)["majority"][0]["accuracy"])
    assert accuracies == [0.5, 1.0]


def test_rated_steps_are_reported_with_a_temperature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def lines(letter: str) -> list[dict[str, Any]]:
        return [
            {
                "problem": f"{letter}{i}",
                "step_scores": [0.9, 0.2 + i / 20],
                "ratings": [1, -1 if i < 6 else 1],
            }
            for i in range(8)
        ]

    test, validation = (
        write_lines(tmp_path / "t.jsonl", lines("t")),
        write_lines(tmp_path / "v.jsonl", lines("v")),
    )
    plot = tmp_path / "r.svg"
    assert evaluate.main(["steps", str(test), "--validation", str(validation), "--plot", str(plot)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["calibration"]["temperature"] > 0
    assert plot.exists()
    assert evaluate.main(["steps", str(test), "--validation", str(test)]) == 1
    assert capsys.readouterr().err.startswith("error: validation and test share 8 problems")


def test_processbench_files_with_scores_need_no_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        {"problem": "q", "steps": ["a", "b"], "label": label, "step_scores": [0.9, score]}
        for label, score in ((1, 0.7), (-1, 0.95))
    ]
    files = [tmp_path / "gsm8k.json", tmp_path / "math.json"]
    for file in files:
        file.write_text(json.dumps(records), encoding="utf-8")
    assert evaluate.main(["processbench", *map(str, files)]) == 0
    assert json.loads(capsys.readouterr().out)["mean_f1"] == 0.0
    assert evaluate.main(["processbench", *map(str, files), "--fit-on", "gsm8k"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["mean_f1"], report["mean_f1_elsewhere"]) == (1.0, 1.0)
    assert 0.7 < report["threshold"] < 0.95
    assert evaluate.main(["processbench", str(files[0]), "--fit-on", "omni"]) == 1
    assert "choose one of gsm8k" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["best-of-n", "steps", "processbench"])
def test_a_bad_file_is_one_line(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_lines(tmp_path / "x.jsonl", [{"nothing": 1}])
    assert evaluate.main([kind, str(file)]) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
