"""Exports: lines that come back exactly, a manifest that agrees with the dashboard, rows for training."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from labeling.exporting import ExportRefused, formats, iter_lines, places, validate_export, write_export
from labeling.importing import ImportOptions, import_file
from labeling.models import Label, Project
from labeling.queries.counts import generation_counts, project_counts
from tests import make
from tests.labeling.file_makers import completion, read_lines, record, step, write_lines

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(slug="own")


@pytest.fixture
def busy(project: Project, tmp_path: Path) -> Project:
    """A project with labels of every sort, in this order; the last one is imported."""
    make.label(project=project)
    make.label(project=project, ratings=[1, -1], step_reasons={"1": "wrong rule"})
    make.label(make.item(project=project, generation=1), ratings=[1, 0, -1])
    make.label(project=project, ratings=[1], finish_reason="give_up", note="too hard")
    make.label(project=project, ratings=[], finish_reason="bad_problem", note="no picture")
    make.label(make.gold_item(project), ratings=[1, -1])
    make.label(
        make.gold_item(project, screening=True),
        labeler=make.labeler(project, status="screening"),
        ratings=[1, -1],
    )
    extra, aside = make.label(project=project), make.label(project=project)
    Label.objects.filter(pk=extra.pk).update(is_extra=True)
    Label.objects.filter(pk=aside.pk).update(quarantined_at=timezone.now(), quarantine_reason="slipping")
    write = write_lines(tmp_path / "in.jsonl", [record() | {"rebuilt_from": "x[0]"}])
    import_file(project, "labels", write)
    return project


def test_an_imported_file_comes_back_line_by_line(project: Project, tmp_path: Path) -> None:
    lines = [
        record(
            step(completion("ж", None), chosen=None), label={"finish_reason": "give_up", "total_time": None}
        ),
        record(
            step(completion("a", flagged=None)),
            {"completions": None, "human_completion": None, "chosen_completion": None},
        ),
        record(labeler=None),
        record(labeler=None),
        record(
            question={
                "pre_generated_steps": ["a"],
                "pre_generated_answer": None,
                "pre_generated_verifier_score": 1e-05,
            }
        ),
    ]
    path = write_lines(tmp_path / "in.jsonl", [line | {"rebuilt_from": n} for n, line in enumerate(lines)])
    import_file(project, "labels", path)
    manifest = write_export(project, "prm800k", tmp_path / "out")
    assert read_lines(manifest.labels) == lines
    assert [side["side"]["rebuilt_from"] for side in read_lines(manifest.side)] == [0, 1, 2, 3, 4]
    # Names stand in the order of PRM800K on every database.
    assert [json.dumps(line) for line in read_lines(manifest.labels)] == [json.dumps(line) for line in lines]
    assert import_file(project, "labels", manifest.labels).counts["labels_unchanged"] == 5


def test_native_lines_come_back_and_change_nothing(busy: Project, tmp_path: Path) -> None:
    manifest = write_export(busy, "prm800k", tmp_path / "out")
    records = [label.record for label in Label.objects.filter(project=busy).order_by("pk")]
    assert read_lines(manifest.labels) == records
    summary = import_file(busy, "labels", manifest.labels)
    assert (summary.counts["labels_new"], summary.counts["labels_unchanged"]) == (0, len(records))


def test_the_manifest_says_what_the_dashboard_says(busy: Project, tmp_path: Path) -> None:
    content = write_export(busy, "prm800k", tmp_path / "out").content
    assert content["totals"] == asdict(project_counts(busy))
    assert content["lines"] == {
        "total": 10,
        "by_purpose": {"work": 8, "gold": 1, "screening": 1},
        "by_finish_reason": {"solution": 4, "found_error": 4, "give_up": 1, "bad_problem": 1},
        "by_origin": {"stepmark": 9, "file": 1},
    }
    assert content["excluded"] == {}
    one = write_export(busy, "prm800k", tmp_path / "one", generation=1).content
    assert one["totals"] == asdict(generation_counts(busy, 1))
    assert one["lines"]["total"] == 1
    assert json.loads((tmp_path / "one" / "manifest.json").read_text())["totals"] == one["totals"]


def test_the_side_file_says_what_goes_beyond_the_line(busy: Project, tmp_path: Path) -> None:
    sides = read_lines(write_export(busy, "prm800k", tmp_path / "out").side)
    assert sides[1]["step_reasons"] == {"1": "wrong rule"}
    assert sides[3]["note"] == "too hard"
    assert [side["purpose"] for side in sides[5:7]] == ["gold", "screening"]
    assert [side["is_extra"] for side in sides[7:9]] == [True, False]
    assert datetime.fromisoformat(sides[8]["quarantined_at"]).tzinfo is not None
    assert sides[8]["quarantine_reason"] == "slipping"
    assert sides[1]["splitter"] == "given"
    assert sides[9]["splitter"] is None, "the line came without a solution of ours"
    assert (sides[9]["origin"], sides[9]["side"], sides[9]["source"]["line"]) == (
        "file",
        {"rebuilt_from": "x[0]"},
        1,
    )


def test_labels_left_out_of_an_export_are_counted_by_reason(busy: Project, tmp_path: Path) -> None:
    content = write_export(busy, "prm800k", tmp_path / "out", only_usable=True).content
    assert content["labels"] == content["lines"]["total"] == 4
    assert content["excluded"] == {
        "give_up": 1, "bad_problem": 1, "gold": 1, "screening": 1, "extra": 1, "quarantined": 1
    }  # fmt: skip
    assert write_export(busy, "trl", tmp_path / "trl").content["excluded"] == content["excluded"]


def test_only_the_final_revision_of_a_label_goes_out(project: Project) -> None:
    label = make.label(project=project)
    Label.objects.filter(pk=label.pk).update(is_current=False)
    assert list(iter_lines(project, "prm800k")) == []


def test_an_empty_export_is_whole_too(project: Project, tmp_path: Path) -> None:
    assert write_export(project, "prm800k", tmp_path / "out").lines == 0
    assert validate_export(tmp_path / "out").ok


def test_no_half_written_file_stays_after_a_failure(
    busy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(label: Label) -> Any:
        raise RuntimeError

    monkeypatch.setitem(formats.WRITERS, "prm800k", fail)
    with pytest.raises(RuntimeError):
        write_export(busy, "prm800k", tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_place_that_cannot_be_written_is_an_error_a_person_can_read(
    project: Project, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ExportRefused, match="cannot be written"):
        write_export(project, "prm800k", tmp_path / "file" / "out")
    with pytest.raises(ExportRefused, match="no format csv"):
        write_export(project, "csv", tmp_path)


def test_an_export_to_a_named_file_has_its_companions_beside_it(project: Project, tmp_path: Path) -> None:
    make.label(project=project)
    manifest = write_export(project, "prm800k", tmp_path / "round1.jsonl")
    assert sorted(p.name for p in tmp_path.glob("round1*")) == [
        "round1.jsonl", "round1.manifest.json", "round1.side.jsonl"
    ]  # fmt: skip
    assert places(tmp_path / "round1.jsonl") == (manifest.labels, manifest.side, manifest.path)
    assert validate_export(manifest.path).ok


def test_an_export_takes_a_fixed_number_of_queries_per_piece(
    busy: Project, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(30):
        list(iter_lines(busy, "math-shepherd"))


# --- Rows for training ------------------------------------------------------------------------

WALKED = record(
    step(completion("a"), completion("a2", -1), completion("a3", None), chosen=0),
    step(completion("b", -1), chosen=None, human=completion("b2", None, source="human")),
    step(completion("c", 0), chosen=0),
    step(completion("d", -1), completion("d2", 1), chosen=None),
)


def rows(project: Project, tmp_path: Path, name: str, *lines: Any) -> list[dict[str, Any]]:
    import_file(
        project, "labels", write_lines(tmp_path / "in.jsonl", lines), options=ImportOptions(dataset="own")
    )
    manifest = write_export(project, name, tmp_path / name)
    assert validate_export(tmp_path / name).problems == []
    return read_lines(manifest.labels)


def test_trl_rows_are_the_path_and_each_rated_alternative_with_its_prefix(
    project: Project, tmp_path: Path
) -> None:
    found = {tuple(row["completions"]): row["labels"] for row in rows(project, tmp_path, "trl", WALKED)}
    assert found == {
        ("a2",): [False],
        ("a", "b"): [True, False],
        ("a", "b2", "c", "d2"): [True, True, True, True],
        ("a", "b2", "c", "d"): [True, True, True, False],
    }


def test_nothing_goes_out_beyond_an_unrated_step(project: Project, tmp_path: Path) -> None:
    line = record(step(completion("a")), step(completion("b", None)), step(completion("c")))
    assert [row["completions"] for row in rows(project, tmp_path, "trl", line)] == [["a"]]


def test_in_full_mode_nothing_goes_out_beyond_the_first_error(tmp_path: Path) -> None:
    project = make.project(mode=Project.Mode.FULL)
    make.label(project=project, ratings=[1, -1, 1], finish_reason="found_error")
    (row,) = (exported.line for exported in iter_lines(project, "trl"))
    assert row["labels"] == [True, False]


def test_math_shepherd_lines_carry_one_tag_for_each_step(project: Project, tmp_path: Path) -> None:
    line = record(step(completion("Add.", 0)), step(completion("So $6$.", -1), chosen=None))
    (row,) = rows(project, tmp_path, "math-shepherd", line)
    assert row == {
        "input": "What is $2+3$? Step 1: Add. ки\nStep 2: So $6$. ки",
        "label": "What is $2+3$? Step 1: Add. +\nStep 2: So $6$. -",
        "task": "own",
    }


def test_processbench_rows_hold_the_whole_solution_and_its_first_error(
    project: Project, tmp_path: Path
) -> None:
    solution = make.solution(project=project, grade="wrong", generator="pen")
    label = make.label(make.item(solution), ratings=[1, -1])
    (row,) = (exported.line for exported in iter_lines(project, "processbench"))
    assert row == {
        "id": f"own-{label.pk}",
        "generator": "pen",
        "problem": solution.problem.text,
        "steps": solution.steps,
        "final_answer_correct": False,
        "label": 1,
    }
    assert rows(project, tmp_path, "processbench", record(label={"finish_reason": None}, labeler=None)) == [
        row
    ]


def test_a_processbench_export_comes_in_again_as_gold(project: Project, tmp_path: Path) -> None:
    make.label(project=project, ratings=[1, -1])
    manifest = write_export(project, "processbench", tmp_path / "out")
    assert import_file(make.project(), "gold", manifest.labels).counts["gold_new"] == 1


# --- Checking ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", formats.WRITERS)
def test_a_fresh_export_passes_its_check(busy: Project, tmp_path: Path, name: str) -> None:
    write_export(busy, name, tmp_path / "out")
    check = validate_export(tmp_path / "out")
    assert check.problems == []
    assert (check.format, check.lines > 0) == (name, True)


def resealed(folder: Path, change: Any) -> None:
    """Change the lines and give the manifest the new sums, so that only the content is wrong."""
    import hashlib

    manifest = json.loads((folder / "manifest.json").read_text())
    lines = change(
        [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()], manifest
    )
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    (folder / "labels.jsonl").write_bytes(data)
    manifest["files"]["labels.jsonl"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines, m: lines[:-1], "labels has 9 lines, the manifest says 10"),
        (lambda lines, m: [lines[0] | {"generation": "x"}, *lines[1:]], "line 1"),
        (lambda lines, m: [lines[0] | {"new": 1}, *lines[1:]], "unknown name new"),
        (lambda lines, m: (m["totals"].update(labels=99), lines)[1], "99 on the dashboard"),
        (lambda lines, m: (m["lines"]["by_purpose"].update(work=3), lines)[1], "by_purpose work"),
    ],
)
def test_a_spoiled_export_does_not_pass(busy: Project, tmp_path: Path, change: Any, words: str) -> None:
    write_export(busy, "prm800k", tmp_path / "out")
    resealed(tmp_path / "out", change)
    check = validate_export(tmp_path / "out")
    assert not check.ok
    assert any(words in problem for problem in check.problems), check.problems


def test_a_changed_or_missing_file_is_noticed(busy: Project, tmp_path: Path) -> None:
    write_export(busy, "prm800k", tmp_path / "out")
    with (tmp_path / "out" / "labels.jsonl").open("a") as file:
        file.write(" ")
    assert "sha256 differs" in validate_export(tmp_path / "out").problems[0]
    (tmp_path / "out" / "side.jsonl").unlink()
    assert "side.jsonl is missing." in validate_export(tmp_path / "out").problems
    assert not validate_export(tmp_path).ok


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("trl", {"prompt": "p", "completions": ["a"], "labels": [True, False]}),
        ("trl", {"prompt": "p", "completions": ["a", "b"], "labels": [False, True]}),
        ("trl", {"prompt": "p", "completions": ["a"], "labels": [1]}),
        ("math-shepherd", {"input": "p Step 1: a ки", "label": "p Step 1: a", "task": ""}),
        (
            "processbench",
            {
                "id": "1",
                "generator": "",
                "problem": "p",
                "steps": ["a"],
                "final_answer_correct": None,
                "label": 1,
            },
        ),
    ],
)
def test_a_line_of_the_wrong_shape_does_not_pass(
    busy: Project, tmp_path: Path, name: str, line: dict[str, Any]
) -> None:
    write_export(busy, name, tmp_path / "out")
    resealed(tmp_path / "out", lambda lines, manifest: [line, *lines[1:]])
    assert validate_export(tmp_path / "out").problems
