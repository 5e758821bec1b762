"""`python -m models_prm`: the list of commands, and `grade` line by line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from models_prm.__main__ import COMMANDS, main


def lines_of(*records: object) -> str:
    return "".join(
        record + "\n" if isinstance(record, str) else json.dumps(record) + "\n" for record in records
    )


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom models_prm.__main__ import main\nmain(['--help'])\n"
        "print([name for name in ('torch', 'sympy', 'rich', 'django') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *text, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert [line.split()[0] for line in text if line.startswith("  ")] == list(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    assert f"python -m models_prm {name} " in capsys.readouterr().out.split("example", 1)[1]


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["fly"], 2), (["--help"], 0), (["help"], 0)])
def test_only_help_and_commands_succeed(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    if arguments == ["fly"]:
        said = capsys.readouterr().err
        assert said == f"no command 'fly': choose one of {', '.join(COMMANDS)}\n"


def test_each_line_comes_back_with_its_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        {"given": "x^2-1", "truth": "(x+1)(x-1)", "id": 7, "note": "é"},
        {"given": "1", "truth": "2"},
        {"given": None, "truth": "2"},
        {"given": "2", "truth": None},
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\ufeff" + lines_of(records[0], "", *records[1:]), encoding="utf-8")
    assert main(["grade", str(file)]) == 0
    out = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.pop("verdict") for line in out] == ["right", "wrong", "wrong", "unknown"]
    assert out == records


def test_votes_are_shown_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(lines_of({"given": "0.5", "truth": "\\frac{1}{2}"}))
    assert main(["grade", str(file), "--votes"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert (line["by"], line["votes"]["number"]) == ("number", "right")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ('{"given": "1"', ["line 2", "not JSON", "one JSON object a line"]),
        ("[1, 2]", ["line 2", "not an object"]),
        ('{"given": "1"}', ["line 2", '"truth" is missing', "add it"]),
        ('{"given": 1, "truth": "1"}', ["line 2", '"given" is int', "put it in quotes"]),
        ("[" * 100_000, ["line 2", "not JSON"]),
    ],
)
def test_a_bad_line_is_named_with_its_cure_and_nothing_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bad: str, words: list[str]
) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(lines_of({"given": "1", "truth": "1"}, bad))
    assert main(["grade", str(file)]) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert all(word in error for word in words)


def test_text_that_is_not_utf8_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(b'{"given": "\xff", "truth": "1"}\n')
    assert main(["grade", str(file)]) == 1
    assert "line 1: not UTF-8 text; save the file as UTF-8" in capsys.readouterr().err


def test_a_missing_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", str(tmp_path / "none.jsonl")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_disagreements_between_graders_are_written_for_a_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Math-Verify drops the units; the verdict stands, and a person may look."""
    pairs = [
        {"given": "32 m", "truth": "32\\text{ cm}", "id": 3},
        {"given": "x+1", "truth": "1+x"},
        {"given": "7", "truth": "8"},
    ]
    file, kept = tmp_path / "pairs.jsonl", tmp_path / "look.jsonl"
    file.write_text(lines_of(*pairs))
    assert main(["grade", str(file), "--disagreements", str(kept)]) == 0
    out = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["verdict"] for line in out] == ["wrong", "right", "wrong"]
    assert "votes" not in out[0]
    (disputed,) = [json.loads(line) for line in kept.read_text().splitlines()]
    assert (disputed["id"], disputed["verdict"]) == (3, "wrong")
    assert (disputed["votes"]["exact"], disputed["votes"]["math-verify"]) == ("wrong", "right")
    assert main(["grade", str(kept)]) == 0, "it is a file of pairs like any other"


def test_strictness_and_a_cache_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, cache = tmp_path / "pairs.jsonl", tmp_path / "grades.sqlite3"
    file.write_text(lines_of({"given": "\\frac{2}{4}", "truth": "\\frac{1}{2}"}))
    for strictness, verdict in (("value", "right"), ("form", "wrong"), ("form", "wrong")):
        assert main(["grade", str(file), "--strictness", strictness, "--cache", str(cache)]) == 0
        assert json.loads(capsys.readouterr().out)["verdict"] == verdict
    file.write_text("not a database" * 100)
    good = tmp_path / "good.jsonl"
    good.write_text(lines_of({"given": "1", "truth": "1"}))
    assert main(["grade", str(good), "--cache", str(file)]) == 1
    assert "delete it, or name another file" in capsys.readouterr().err


def test_pairs_may_come_by_pipe() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "models_prm", "grade", "-"],
        input='{"given": "1/2", "truth": "0.5"}\n',
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["verdict"] == "right"
