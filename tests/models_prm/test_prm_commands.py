"""The commands train, score and evaluate, and what may be imported without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from models_prm.cli import evaluate, score, train
from tests.models_prm.prm_make import random_prm, sum_record, sums_file, write_lines

CHECKOUT = Path(__file__).resolve().parents[2]
LIGHT = (
    "records",
    "interfaces",
    "config",
    "aggregate",
    "evaluation.metrics",
    "errors",
    "data",
    "encoding.tree",
    "evaluation.best_of_n",
    "fakes",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    prm = random_prm()
    prm.save(folder)
    return folder


@pytest.mark.parametrize("names", [LIGHT, ("cli.train", "cli.score", "cli.evaluate")])
def test_light_modules_import_neither_torch_nor_transformers_nor_django(names: tuple[str, ...]) -> None:
    lines = [f"import models_prm.{name}" for name in names]
    lines.append("import sys; print([m for m in ('torch', 'transformers', 'django') if m in sys.modules])")
    done = subprocess.run(
        [sys.executable, "-c", "; ".join(lines)], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_train_prints_held_out_numbers_and_repeats_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--recipe", str(CHECKOUT / "recipes" / "smoke.toml"), "--data", str(sums_file(tmp_path))]
    arguments += ["--output", str(tmp_path / "model"), "--seed", "3"]
    assert train.main(arguments) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["held_out"]["ratings"] == 48
    assert train.main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert train.main([*arguments[:-1], "4"]) == 1
    assert "already holds the model 'smoke'" in capsys.readouterr().err


def test_train_refuses_the_problems_of_a_test_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = write_lines(tmp_path / "test.jsonl", [sum_record(2)])
    code = train.main(
        [
            *("--recipe", str(CHECKOUT / "recipes" / "smoke.toml"), "--data", str(sums_file(tmp_path))),
            *("--output", str(tmp_path / "model"), "--refuse", str(test)),
        ]
    )
    assert code == 1
    assert "1 problem(s) of the training data belong to the held-out or test split" in capsys.readouterr().err


def test_score_echoes_every_line_in_order_with_its_scores(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"id": i, "problem": f"q{i % 2}", "steps": ["a", "b"][: i % 3]} for i in range(7)]
    file = write_lines(tmp_path / "s.jsonl", lines)
    assert score.main([str(model), str(file)]) == 0
    scored = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["id"] for record in scored] == list(range(7))
    assert [len(record["rating_probs"]) for record in scored] == [i % 3 for i in range(7)]
    assert [record["prm_score"] is None for record in scored] == [i % 3 == 0 for i in range(7)]
    for record in scored:
        product = 1.0
        for probs in record["rating_probs"]:
            product *= 1 - probs["-1"]
        assert record["prm_score"] in (None, pytest.approx(product))


def test_score_leaves_no_output_of_a_file_with_a_bad_line(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_lines(tmp_path / "s.jsonl", [{"problem": "q", "steps": ["a"]}, {"problem": "q"}])
    output = tmp_path / "out.jsonl"
    assert score.main([str(model), str(file), "--output", str(output)]) == 1
    assert "s.jsonl: line 2: steps must be a list of texts" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl"]


def test_score_refuses_a_directory_without_a_card_and_an_unknown_method(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_lines(tmp_path / "s.jsonl", [{"problem": "q", "steps": ["a"]}])
    assert score.main([str(tmp_path), str(file)]) == 1
    assert "no stepmark_prm.json here" in capsys.readouterr().err
    assert score.main([str(model), str(file), "--method", "median"]) == 2
    assert "choose one of product" in capsys.readouterr().err


def test_evaluate_best_of_n_prints_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"problem": "p", "is_correct": i == 1, "answer": "1", "prm_score": i} for i in range(2)]
    assert evaluate.main(["best-of-n", str(write_lines(tmp_path / "p.jsonl", lines)), "-n", "1", "2"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [point["accuracy"] for point in report["best_of_n"]["prm_score"]] == [0.5, 1.0]
    assert evaluate.main(["best-of-n", str(tmp_path / "p.jsonl"), "-n", "3"]) == 1
    assert "N must lie between 1 and 2" in capsys.readouterr().err


def test_evaluate_prm_reads_processbench_files(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [{"id": str(i), "problem": "q", "steps": ["a", "b"], "label": i - 1} for i in range(3)]
    file = tmp_path / "pb.json"
    file.write_text(json.dumps(records), encoding="utf-8")
    assert evaluate.main(["prm", str(model), "--processbench", str(file), "--threshold", "0"]) == 0
    report = json.loads(capsys.readouterr().out)["processbench"]["subsets"]["pb"]
    assert report["correct_accuracy"] == 1.0
    assert report["error_accuracy"] == 0.0
    assert report["f1"] == 0.0
    assert evaluate.main(["prm", str(model)]) == 1
    assert "give --data or --processbench" in capsys.readouterr().err
