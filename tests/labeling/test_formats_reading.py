"""Reading files: what comes out record by record, and one clear error for everything that can be wrong."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from labeling.formats import reading
from labeling.formats.faults import Fault
from labeling.formats.reading import Record, read_records


def read(path: Path) -> tuple[list[Record], list[Fault]]:
    items = list(read_records(path))
    return [i for i in items if isinstance(i, Record)], [i for i in items if isinstance(i, Fault)]


def written(tmp_path: Path, data: bytes | str, name: str = "file.jsonl") -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


TWO = [{"a": 1, "ж": "é"}, {"a": 2, "list": [None, 0.5]}]
LINES = "\n".join(json.dumps(r, ensure_ascii=False) for r in TWO)


@pytest.mark.parametrize(
    "data",
    [
        LINES,
        LINES + "\n",
        LINES.replace("\n", "\r\n") + "\r\n",
        "\ufeff" + LINES,
        "\n\n" + LINES.replace("\n", "\n\n \n"),
        json.dumps(TWO),
        json.dumps(TWO, indent=4),
        "  \n" + json.dumps(TWO),
        "\ufeff" + json.dumps(TWO),
        json.dumps(TWO[0], indent=1) + "\n" + json.dumps(TWO[1], indent=1),
    ],
    ids=["lines", "final line end", "crlf", "bom", "blank lines", "array", "indented array", "blanks before",
         "array with bom", "documents over many lines"],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_the_same_records_come_out_however_they_are_written(tmp_path: Path, data: str, packed: bool) -> None:
    raw = data.encode()
    records, faults = read(written(tmp_path, gzip.compress(raw) if packed else raw))
    assert not faults
    assert [record.data for record in records] == TWO


def test_gzip_is_told_by_its_first_bytes_not_by_its_name(tmp_path: Path) -> None:
    records, _ = read(written(tmp_path, gzip.compress(LINES.encode()), "file.data"))
    assert len(records) == 2


def test_records_carry_their_line_and_in_an_array_their_number(tmp_path: Path) -> None:
    records, _ = read(written(tmp_path, "\n" + LINES))
    assert [(r.line, r.record) for r in records] == [(2, None), (3, None)]
    records, _ = read(written(tmp_path, '[\n{"a": 1},\n\n{"a":\n2}, {"a": 3}]'))
    assert [(r.line, r.record) for r in records] == [(2, 1), (4, 2), (5, 3)]


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path) -> None:
    records, faults = read(written(tmp_path, '{"a": "x\u2028y\x85z"}\n'))
    assert not faults
    assert records[0].data == {"a": "x\u2028y\x85z"}


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        ('{"a": NaN}', "a", "NaN is not a JSON number"),
        ('{"b": {"c": [1, {"d": -Infinity}]}}', "b.c[1].d", "Infinity is not a JSON number"),
        ('{"score": 1e999}', "score", "1e999 is beyond"),
        ('{"a": {"b": "x\\u0000y"}}', "a.b", "U+0000"),
        ('{"a": ["fine", "\\ud83d"]}', "a[1]", "surrogate"),
        ('{"a": 1, "a": 2}', "a", "twice"),
        ('{"a": 1', "", "not valid JSON"),
        ('{"a": 1} {"a": 2}', "", "Extra data"),
        ("[1]", "", "found"),
        ('"text"', "", "a text"),
        ("null", "", "null"),
        ("17", "", "a number"),
        ('{"a": ' + "9" * 5000 + "}", "", "too long"),
        ('{"a": ' + "[" * 100_000, "", "nested too deeply"),
        ('{"a": "tab\there"}', "", "not valid JSON"),
    ],
)
def test_each_bad_line_is_named_with_its_field(tmp_path: Path, line: str, field: str, words: str) -> None:
    if line == "[1]":
        line, words = "[1]", "this is a list"
    records, faults = read(written(tmp_path, f'{{"a": 0}}\n{line}\n{{"a": 3}}\n'))
    assert [record.line for record in records] == [1, 3]
    assert [(fault.line, fault.field) for fault in faults] == [(2, field)]
    assert words in faults[0].message
    assert faults[0].cure


def test_a_pair_of_surrogate_escapes_is_one_character(tmp_path: Path) -> None:
    records, faults = read(written(tmp_path, '{"a": "\\ud83d\\ude00 and \\\\u0000"}\n'))
    assert not faults
    assert records[0].data == {"a": "😀 and \\u0000"}


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"", None, "empty"),
        (b"\n \n", None, "no record"),
        (b"[]", None, "no record"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", None, "Git LFS pointer"),
        (gzip.compress(b"version https://git-lfs.github.com/spec/v1\noid", mtime=0), None, "Git LFS pointer"),
        (gzip.compress(LINES.encode(), mtime=0)[:-20], None, "cut off"),
        (b"\x1f\x8b\x08", None, "cut off"),
        (b"\x1f\x8bnot gzip at all", None, "cut off"),
        (b'{"a": 1}\n{"a": "caf\xe9"}\n', 2, "byte 11 of the line (0xe9)"),
        (b'[{"a": 1},\n{"a": "caf\xe9"}]', 2, "0xe9"),
        ("\ufeff".encode("utf-16-le") + LINES.encode("utf-16-le"), None, "UTF-16"),
        (b"PK\x03\x04 and more", None, "zip"),
        (b"PAR1 and more", None, "Parquet"),
        (b'[{"a": 1}, {"a": 2}', 1, "ends inside"),
        (b'[{"a": 1} {"a": 2}]', 1, "comma"),
        (b'[{"a": 1},]', 1, "comma"),
        (b'[{"a": 1}]\n{"a": 2}', 2, "after the array"),
        (b'[\n{"a": 1},\n{"a": tru}\n]', 3, "not valid JSON"),
        (b'[\n{"a": "no end}\n]', 2, "not valid JSON"),
    ],
)
def test_each_bad_file_has_one_clear_error(tmp_path: Path, data: bytes, line: int | None, words: str) -> None:
    _, faults = read(written(tmp_path, data))
    assert len(faults) == 1
    assert words in faults[0].message
    assert faults[0].cure
    if line is not None:
        assert faults[0].line == line


def test_an_array_goes_on_behind_a_refused_value(tmp_path: Path) -> None:
    text = '[{"a": NaN}, {"a": 1},\n {"a": "\\u0000"}, {"a": 2, "a": 3}, {"a": 4}, 5]'
    records, faults = read(written(tmp_path, text))
    assert [record.data["a"] for record in records] == [1, 4]
    assert [(f.line, f.record, f.field) for f in faults] == [
        (1, 1, "a"),
        (2, 3, "a"),
        (2, 4, "a"),
        (2, 6, ""),
    ]


def test_a_truncated_gzip_says_after_which_line(tmp_path: Path) -> None:
    import random

    rows = [json.dumps({"n": n, "noise": random.Random(n).random()}) for n in range(20_000)]
    packed = gzip.compress("\n".join(rows).encode())
    records, faults = read(written(tmp_path, packed[: len(packed) // 2]))
    assert 1000 < len(records) < 20_000
    assert faults[0].line == len(records) + 1
    assert "cut off" in faults[0].message


def test_a_50_mb_line_is_refused_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("w") as file:
        file.write('{"a": 1}\n{"a": "')
        for _ in range(50):
            file.write("x" * 1024 * 1024)
        file.write('"}\n')
    tracemalloc.start()
    records, faults = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(records) == 1
    assert [(f.line, f.message) for f in faults] == [(2, "the record is longer than 16 MB.")]
    assert peak < 40 * 1024 * 1024


def test_a_50_mb_value_in_an_array_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text('[\n{"a": 1},\n{"a": "' + "x" * (50 * 1024 * 1024) + '"}]')
    records, faults = read(path)
    assert len(records) == 1
    assert [(f.line, f.message) for f in faults] == [(3, "the record is longer than 16 MB.")]


def test_an_array_on_one_long_line_is_read_in_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "array.json"
    with path.open("w") as file:
        file.write("[" + ",".join(json.dumps({"n": n, "text": "y" * 200}) for n in range(100_000)) + "]")
    assert path.stat().st_size > reading.LINE_LIMIT
    tracemalloc.start()
    count = sum(isinstance(item, Record) for item in read_records(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 100_000
    assert peak < 8 * 1024 * 1024


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_an_array_reads_the_same_in_pieces_of_any_size(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labeling.formats.arrays.CHUNK", chunk)
    values: list[dict[str, Any]] = [
        {"n": -12.5e3, "t": "ü\\u20ac\n", "x": [True, None, {}]},
        {},
        {"n": 1234567890},
    ]
    records, faults = read(written(tmp_path, json.dumps(values, indent=2)))
    assert not faults
    assert [record.data for record in records] == values


def test_progress_counts_bytes_of_the_file_up_to_its_size(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress((LINES + "\n").encode() * 2000))
    seen: list[tuple[int, int]] = []
    list(read_records(path, lambda done, size: seen.append((done, size))))
    assert seen[-1] == (path.stat().st_size,) * 2
    assert seen == sorted(seen)
