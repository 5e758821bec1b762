"""Grades kept in a file: asked once, for one version of the grader, from any thread or process."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from models_prm.answers import Grade, GradeCache, GraderPool, Verdict
from models_prm.answers import cache as cache_module
from models_prm.answers import pool as pool_module
from models_prm.errors import DataError

EASY = ("(x+1)(x-1)", "x^2-1")


def test_a_pair_is_asked_once_for_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grades.sqlite3"
    with GraderPool(time_limit_s=30, cache=GradeCache(path)) as pool:
        first = pool.grade(*EASY)
    monkeypatch.setattr(pool_module._Worker, "__init__", lambda worker: pytest.fail("asked again"))
    with GraderPool(time_limit_s=30, cache=GradeCache(path)) as pool:
        assert pool.grade(*EASY) == first
        assert pool.grade_many([EASY, EASY]) == [first, first]


def test_plain_pairs_do_not_fill_the_cache(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path / "grades.sqlite3")
    with GraderPool(cache=cache) as pool:
        pool.grade_many([(str(i), "3") for i in range(50)])
    assert len(cache) == 0


def test_another_version_or_way_of_grading_is_another_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = GradeCache(tmp_path / "grades.sqlite3")
    grade = Grade(Verdict.WRONG, "exact", {"exact": Verdict.WRONG})
    cache.put("a", "b", "value", grade)
    assert cache.get("a", "b", "value") == grade
    assert cache.get("a", "b", "form") is None
    assert cache.get("b", "a", "value") is None
    monkeypatch.setattr(cache_module, "GRADER_VERSION", "next")
    assert cache.get("a", "b", "value") is None


def test_a_pair_that_ran_out_of_time_is_asked_again(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path / "grades.sqlite3")
    with GraderPool(time_limit_s=30, cache=cache) as pool:
        pool.grade(*EASY)
        pool.time_limit_s = 0.5
        assert pool.grade(r"3^{10^{10}}-9^{5\cdot10^{9}}+1", "1").by == "timed out"
    assert len(cache) == 1


def test_threads_share_a_cache_and_odd_texts_pass_by(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path / "grades.sqlite3")
    grade = Grade(Verdict.RIGHT, "exact")

    def fill(number: int) -> None:
        for k in range(30):
            cache.put(f"{number}:{k}", "x", "value", grade)
            assert cache.get(f"{number}:{k}", "x", "value") == grade

    threads = [threading.Thread(target=fill, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(cache) == 120
    cache.put("\ud800", "x", "value", grade)
    assert cache.get("\ud800", "x", "value") is None


def test_a_file_of_another_kind_is_refused_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not grades\n" * 50)
    with pytest.raises(DataError, match="delete it, or name another file"):
        GradeCache(path)
