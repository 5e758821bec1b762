"""Reading training files, splitting by problem, refusing leaks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from models_prm.data import load_corpus, read_jsonl, refuse_overlap, split_rows
from models_prm.errors import DataError, LeakError
from models_prm.records import LabeledSolution, problem_key


def test_plain_and_gzip_files_give_numbered_objects(tmp_path: Path) -> None:
    plain = tmp_path / "a.jsonl"
    plain.write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_jsonl(plain)) == list(read_jsonl(packed)) == [(1, {"a": 1}), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS pointer"),
        (b'{"a": "\xff"}\n', "line 1 is not UTF-8"),
        (b'{"a": 1}\n{"a": \n', "line 2 is not valid JSON"),
        (b'{"a": NaN}\n', "NaN is not JSON"),
        (b"[1]\n", "line 1 is a list"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_jsonl(path))


def test_a_truncated_gzip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps({"a": list(range(5000))}).encode())[:-20])
    with pytest.raises(DataError, match="damaged gzip"):
        list(read_jsonl(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.jsonl: cannot read"):
        list(read_jsonl(tmp_path / "absent.jsonl"))


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models_prm.data.MAX_LINE", 1 << 20)
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "' + "x" * (1 << 21) + '"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 1 is longer than 1 MiB"):
        list(read_jsonl(path))


def test_corpus_lines_need_problem_and_steps(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"problem": "p", "steps": ["a"]}\n{"problem": "p"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="line 2: steps must be a list"):
        load_corpus([path])


def rows(count: int) -> list[LabeledSolution]:
    return [LabeledSolution(f"p{i // 3}", ("a",), (1,), problem_key(f"p{i // 3}")) for i in range(count)]


def test_no_problem_is_on_both_sides_of_a_split() -> None:
    split = split_rows(rows(90), 0.2, seed=3)
    assert {r.group for r in split.train} & {r.group for r in split.held_out} == set()
    assert len({r.group for r in split.held_out}) == 6
    assert len(split.train) + len(split.held_out) == 90


def test_a_split_depends_on_the_seed_and_not_on_the_order() -> None:
    chosen = {r.group for r in split_rows(rows(90), 0.2, seed=3).held_out}
    assert chosen == {r.group for r in split_rows(rows(90)[::-1], 0.2, seed=3).held_out}
    assert chosen != {r.group for r in split_rows(rows(90), 0.2, seed=4).held_out}


def test_a_single_problem_stays_in_training() -> None:
    assert split_rows(rows(3), 0.5, seed=0).held_out == []


def test_a_refused_problem_is_an_error_that_names_it() -> None:
    with pytest.raises(LeakError, match="1 problem.*'What  is 2'"):
        refuse_overlap(["What  is 2", "other"], {problem_key("what is 2")}, "the training data")
