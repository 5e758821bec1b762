"""Real files, beside the checkout: every record comes in, and every judgement goes out as it came."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labeling.exporting import validate_export, write_export
from labeling.importing import ImportOptions, import_file
from labeling.models import Gold, Label, Problem, Project, Solution
from tests import make
from tests.labeling.file_makers import read_lines

pytestmark = [pytest.mark.django_db, pytest.mark.data]

PRM800K = {
    "phase1_raw_sample.jsonl": 6,
    "phase2_raw_example.jsonl": 1,
    "phase1_test_rebuilt.jsonl": 106,
    "phase1_train_rebuilt.jsonl.gz": 942,
}
PROCESSBENCH = {"gsm8k": 400, "math": 1000, "olympiadbench": 1000, "omnimath": 1000}
# (+1, 0, -1, unrated) completions of models, as the data sets' README counts them.
RATINGS = {
    "phase1_test_rebuilt.jsonl": (2245, 867, 1970, 110),
    "phase1_train_rebuilt.jsonl.gz": (18782, 10234, 19656, 822),
}


@pytest.fixture
def project() -> Project:
    return make.project()


def plain(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "rebuilt_from"}


@pytest.mark.parametrize("name", PRM800K)
def test_every_prm800k_line_comes_back_equal_and_a_second_import_changes_nothing(
    project: Project, shared_data: Path, tmp_path: Path, name: str
) -> None:
    path = shared_data / "prm800k" / name
    lines = read_lines(path)
    assert import_file(project, "labels", path).counts["labels_new"] == len(lines) == PRM800K[name]
    manifest = write_export(project, "prm800k", tmp_path / "out")
    exported = read_lines(manifest.labels)
    assert exported == [plain(line) for line in lines]
    # Names in their order, too: the lines are the same texts.
    assert list(map(json.dumps, exported)) == [json.dumps(plain(line)) for line in lines]
    sides = read_lines(manifest.side)
    assert [side["side"].get("rebuilt_from") for side in sides] == [
        line.get("rebuilt_from") for line in lines
    ]
    assert validate_export(tmp_path / "out").problems == []
    for again in (path, manifest.labels):
        counts = import_file(project, "labels", again).counts
        assert (counts["labels_new"], counts["labels_unchanged"]) == (0, len(lines))


def test_all_prm800k_files_go_round_together(project: Project, shared_data: Path, tmp_path: Path) -> None:
    """One raw line stands in two of the files: it is one judgement, so 1,055 lines are 1,054 labels."""
    wanted: list[str] = []
    for name in PRM800K:
        import_file(project, "labels", shared_data / "prm800k" / name)
        lines = [
            json.dumps(plain(line), sort_keys=True) for line in read_lines(shared_data / "prm800k" / name)
        ]
        wanted += [line for line in lines if name != "phase2_raw_example.jsonl" or line not in wanted]
    assert len(wanted) == Label.objects.count() == 1054
    manifest = write_export(project, "prm800k", tmp_path / "out")
    assert [json.dumps(line, sort_keys=True) for line in read_lines(manifest.labels)] == wanted
    assert manifest.content["lines"]["by_origin"] == {"file": 1054}
    assert import_file(project, "labels", manifest.labels).counts["labels_unchanged"] == 1054
    assert Label.objects.count() == 1054


@pytest.mark.parametrize("name", RATINGS)
def test_the_counted_ratings_are_those_of_the_published_tables(
    project: Project, shared_data: Path, name: str
) -> None:
    import_file(project, "labels", shared_data / "prm800k" / name)
    columns = ("n_good", "n_neutral", "n_bad", "n_unrated")
    rows = Label.objects.values_list(*columns)
    assert tuple(map(sum, zip(*rows, strict=True))) == RATINGS[name]


@pytest.mark.parametrize("name", ["trl", "math-shepherd", "processbench"])
def test_real_labels_make_good_training_files(
    project: Project, shared_data: Path, tmp_path: Path, name: str
) -> None:
    for file in ("phase1_raw_sample.jsonl", "phase1_test_rebuilt.jsonl"):
        import_file(project, "labels", shared_data / "prm800k" / file)
    write_export(project, name, tmp_path / name)
    check = validate_export(tmp_path / name)
    assert check.problems == []
    assert check.lines > 0


@pytest.mark.slow
def test_all_processbench_solutions_come_in_as_a_pool_and_as_gold(
    project: Project, shared_data: Path
) -> None:
    for name, n in PROCESSBENCH.items():
        path = shared_data / "processbench" / f"{name}.json"
        counts = import_file(
            project, "solutions", path, options=ImportOptions(pool="bench", dataset=name)
        ).counts
        assert counts["solutions_new"] == counts["records"] == n
        assert import_file(project, "gold", path).counts["gold_new"] == n
        items = json.loads(path.read_text(encoding="utf-8"))
        first_errors = {item["id"]: item["label"] if item["label"] >= 0 else None for item in items}
        gold = Gold.objects.filter(solution__problem__dataset=name).values_list(
            "solution__external_id", "first_error"
        )
        assert dict(gold) == first_errors
    assert Solution.objects.filter(pool__name="bench").count() == 3400
    assert Gold.objects.count() == 3400


@pytest.mark.slow
def test_gsm8k_model_solutions_come_in_with_the_grades_of_their_file(
    project: Project, shared_data: Path
) -> None:
    path = shared_data / "gsm8k" / "example_model_solutions.jsonl"
    counts = import_file(project, "solutions", path, options=ImportOptions(pool="gsm8k")).counts
    assert (counts["records"], counts["solutions_new"]) == (1319, 5276)
    rows = Solution.objects.values_list("grade", "extra__is_correct")
    agree = Counter(grade == ("right" if is_correct else "wrong") for grade, is_correct in rows)
    assert agree[True] >= 0.995 * 5276, agree
    assert Solution.objects.filter(graded_by="file").count() == 0
    assert sorted(Solution.objects.values_list("generator", flat=True).distinct()) == [
        "175b_finetuning", "175b_verification", "6b_finetuning", "6b_verification"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "counted"),
    [
        # One text stands twice with two answers; two problems have none.
        ("math/train_problems_and_answers.json", {"records": 7500, "problems_new": 7499, "no_answer": 2}),
        ("math/math500.jsonl", {"records": 500, "problems_new": 500}),
        ("gsm8k/test.jsonl", {"records": 1319, "problems_new": 1319}),
        ("gsm8k/train.jsonl", {"records": 7473, "problems_new": 7473}),
    ],
)
def test_problem_sets_come_in_whole(
    project: Project, shared_data: Path, file: str, counted: dict[str, int]
) -> None:
    counts = import_file(project, "problems", shared_data / file).counts
    assert {name: n for name, n in counts.items() if name != "answers_differ"} == counted
    assert Problem.objects.count() == counted["problems_new"]


def test_the_scored_sample_comes_in_with_its_scores(project: Project, shared_data: Path) -> None:
    path = shared_data / "prm800k" / "scored_sample_example.json"
    import_file(project, "solutions", path, options=ImportOptions(pool="scored"))
    solution = Solution.objects.get()
    assert solution.grade == "right"
    product = 1.0
    for probs in solution.extra["rating_probs"]:
        product *= 1 - probs["-1"]
    assert solution.extra["prm_score"] == pytest.approx(product, rel=1e-12)


@pytest.mark.parametrize(
    ("file", "kind", "words"),
    [
        ("game24-tot/24.csv", "problems", "not valid JSON"),
        ("math-shepherd/samples.jsonl", "labels", "no format of labels"),
        ("prm800k/phase1_train_rebuilt.jsonl.gz", "gold", "labels (prm800k)"),
    ],
)
def test_other_files_are_refused_with_a_reason(
    project: Project, shared_data: Path, file: str, kind: str, words: str
) -> None:
    from labeling.errors import ImportRefused

    with pytest.raises(ImportRefused) as caught:
        import_file(project, kind, shared_data / file)
    assert any(words in problem["text"] for problem in caught.value.extra["problems"])
