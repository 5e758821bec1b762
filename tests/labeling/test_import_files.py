"""What holds for every import: all of a file or nothing, progress, summaries, one error for each slip."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from labeling import hooks
from labeling.errors import ImportRefused
from labeling.importing import ImportOptions, engine, import_file
from labeling.models import AuditEntry, Gold, ImportedFile, Label, Pool, Problem, Project, Solution
from tests import make
from tests.labeling.file_makers import human_label, record, sample, write_lines

pytestmark = pytest.mark.django_db

GOOD: dict[str, Callable[[int], dict[str, Any]]] = {
    "problems": lambda n: {"problem": f"What is ${n}+1$?", "answer": str(n + 1)},
    "solutions": sample,
    "labels": lambda n: record(problem=f"What is ${n}+1$?"),
    "gold": lambda n: human_label(1, id=f"own-{n}", problem=f"What is ${n}+1$?"),
}
POOL = ImportOptions(pool="pool")


@pytest.fixture
def project() -> Project:
    return make.project()


def everything() -> list[int]:
    return [
        model.objects.count() for model in (Problem, Pool, Solution, Label, Gold, ImportedFile, AuditEntry)
    ]


def refused(project: Project, kind: str, path: Path, **options: Any) -> list[dict[str, Any]]:
    """The problems that the refusal names; nothing may have stayed."""
    before = everything()
    with pytest.raises(ImportRefused) as caught:
        import_file(project, kind, path, options=ImportOptions(**{"pool": "pool", **options}))
    assert everything() == before
    problems: list[dict[str, Any]] = caught.value.extra["problems"]
    assert all(problem["cure"] and problem["message"] for problem in problems)
    return problems


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("name", ["file.jsonl", "file.jsonl.gz"])
def test_a_good_file_comes_in_whole(project: Project, tmp_path: Path, kind: str, name: str) -> None:
    path = write_lines(tmp_path / name, [GOOD[kind](n) for n in range(1200)])
    summary = import_file(project, kind, path, options=POOL, user=make.lead())
    assert summary.counts[f"{kind}_new"] == summary.counts["records"] == 1200
    assert Problem.objects.filter(project=project).count() == 1200
    row = ImportedFile.objects.get()
    assert (row.kind, row.format, row.name, row.sha256) == (kind, summary.format, name, summary.sha256)
    assert row.summary["counts"] == dict(summary.counts)
    assert AuditEntry.objects.get().action == "import_file"


@pytest.mark.parametrize("kind", GOOD)
def test_one_bad_line_leaves_nothing_of_the_file(project: Project, tmp_path: Path, kind: str) -> None:
    lines: list[Any] = [GOOD[kind](n) for n in range(900)]
    path = write_lines(tmp_path / "file.jsonl", [*lines, "{broken"])
    problems = refused(project, kind, path)
    assert [(p["line"], p["message"][:22]) for p in problems] == [(901, "this is not valid JSON")]


@pytest.mark.parametrize("kind", GOOD)
def test_a_failure_while_writing_leaves_nothing_of_the_file(
    project: Project, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(engine, "_finish", fail)
    before = everything()
    with pytest.raises(RuntimeError):
        import_file(project, kind, write_lines(tmp_path / "f.jsonl", [GOOD[kind](1)]), options=POOL)
    assert everything() == before


def test_stopping_in_the_middle_leaves_nothing(project: Project, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int, stage: str) -> None:
        if stage == "writing":
            raise Stopped

    path = write_lines(tmp_path / "f.jsonl", map(sample, range(50)))
    before = everything()
    with pytest.raises(Stopped):
        import_file(project, "solutions", path, options=POOL, on_progress=stop)
    assert everything() == before


def test_bad_lines_are_named_together_and_reading_stops_after_twenty(
    project: Project, tmp_path: Path
) -> None:
    three = [sample(1), {"problem": ""}, sample(2), {"problem": 4, "steps": ["a"]}, "{"]
    problems = refused(project, "solutions", write_lines(tmp_path / "a.jsonl", three))
    assert [(p["line"], p["field"]) for p in problems] == [
        (2, "problem"),
        (2, "solution"),
        (4, "problem"),
        (5, ""),
    ]
    many = [sample(0), *[{"problem": "p", "steps": []}] * 500]
    assert len(refused(project, "solutions", write_lines(tmp_path / "b.jsonl", many))) == 20


@pytest.mark.parametrize("kind", GOOD)
def test_a_record_that_stands_twice_is_an_error_that_names_both_lines(
    project: Project, tmp_path: Path, kind: str
) -> None:
    one = GOOD[kind](1)
    path = write_lines(tmp_path / "f.jsonl", [one, GOOD[kind](2), dict(reversed(list(one.items())))])
    (problem,) = refused(project, kind, path)
    assert (problem["line"], problem["message"]) == (3, "this record is the same as that of line 1.")


def test_one_solution_has_one_gold_even_if_its_records_differ(project: Project, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "f.jsonl", [human_label(1), human_label(-1, id="own-2")])
    (problem,) = refused(project, "gold", path)
    assert (problem["line"], problem["message"]) == (2, "the solution is the same as that of line 1.")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"\x1f\x8b\x08\x00cut", "cut off"),
        (b'{"problem": "caf\xe9", "steps": ["a"]}\n', "not UTF-8"),
        (b'{"problem": "p", "steps": ["a"], "prm_score": NaN}\n', "NaN is not a JSON number"),
        (b'{"problem": "p\\u0000", "steps": ["a"]}\n', "U+0000"),
        (b'{"nothing": "known"}\n{"nothing": "more"}\n', "no format of solutions has these fields: nothing"),
    ],
)
def test_each_bad_file_is_one_clear_error(project: Project, tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(data)
    (problem,) = refused(project, "solutions", path)
    assert words in problem["message"]


def test_a_nan_score_is_named_with_line_and_field(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(
        json.dumps(sample()) + '\n{"problem": "p", "steps": ["a"], "rating_probs": [{"-1": NaN}]}\n'
    )
    (problem,) = refused(project, "solutions", path)
    assert (problem["line"], problem["field"]) == (2, "rating_probs[0].-1")
    assert problem["text"].startswith("line 2, field rating_probs[0].-1: NaN")
    assert "Cure: write null" in problem["text"]


def test_a_file_that_is_not_there_is_an_error_not_a_crash(project: Project, tmp_path: Path) -> None:
    (problem,) = refused(project, "labels", tmp_path / "nowhere.jsonl")
    assert "No such file" in problem["message"]


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("solutions", {"pool": " "}, "pool"),
        ("solutions", {"pool": "x" * 121}, "pool"),
        ("solutions", {"split": "dev"}, "split"),
        ("problems", {"dataset": "x" * 61}, "dataset"),
        ("nonsense", {}, "kind"),
    ],
)
def test_bad_options_are_refused_before_the_file_is_read(
    project: Project, tmp_path: Path, kind: str, options: dict[str, Any], field: str
) -> None:
    (problem,) = refused(project, kind, tmp_path / "not-read.jsonl", **options)
    assert problem["field"] == field


def test_a_format_of_another_kind_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused) as caught:
        import_file(project, "labels", tmp_path / "f", format="math")
    assert "auto, prm800k" in caught.value.extra["problems"][0]["cure"]


def test_progress_goes_through_the_stages_and_ends_full(project: Project, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    path = write_lines(tmp_path / "f.jsonl", map(sample, range(600)))
    import_file(project, "solutions", path, options=POOL, on_progress=lambda *step: seen.append(step))
    assert list(dict.fromkeys(stage for _, _, stage in seen)) == ["reading", "grading", "writing"]
    assert seen[-1] == (600, 600, "writing")
    assert all(0 <= done <= total for done, total, _ in seen)


def test_nothing_is_locked_while_answers_are_graded(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grading may take minutes: no row may be written before it is over."""
    counts = []

    def slow(pairs: Any, on_progress: Any = None) -> list[hooks.Graded]:
        counts.append(everything())
        return [hooks.Graded("right", "test")] * len(pairs)

    before = everything()
    monkeypatch.setattr(hooks, "grade_answers", slow)
    import_file(project, "solutions", write_lines(tmp_path / "f.jsonl", [sample()]), options=POOL)
    assert counts == [before]


def test_memory_does_not_grow_with_the_file(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tracemalloc

    monkeypatch.setattr(hooks, "grade_answers", None)

    def peak(n: int) -> int:
        path = write_lines(tmp_path / f"{n}.jsonl", (sample(i, extra="x" * 500) for i in range(n)))
        tracemalloc.start()
        import_file(project, "solutions", path, options=POOL)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(500)
    assert peak(8000) < 1.5 * peak(2000)


def test_a_solution_of_text_is_refused_where_nothing_splits_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "split_steps", None)
    path = write_lines(tmp_path / "f.jsonl", [{"problem": "p", "solution": "one\ntwo"}])
    (problem,) = refused(project, "solutions", path)
    assert problem["field"] == "solution"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", GOOD)
def test_imports_of_one_file_at_the_same_moment_bring_it_in_once(tmp_path: Path, kind: str) -> None:
    project = make.project()
    path = write_lines(tmp_path / "f.jsonl", [GOOD[kind](n) for n in range(300)])

    def run(_: int) -> int:
        try:
            return import_file(project, kind, path, options=POOL).counts[f"{kind}_new"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(run, range(4))) == [0, 0, 0, 300]
    assert Problem.objects.count() == 300
