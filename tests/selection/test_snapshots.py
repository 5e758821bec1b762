"""The labels of a training run are frozen exactly, and no problem is on two sides."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from labeling.jobs import JobFailure
from labeling.models import Label, Problem, Project, QueueItem, Solution
from models_prm.records import problem_key
from selection import snapshots
from selection.models import TrainingSnapshot
from tests import make
from tests.selection import world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.HOME = tmp_path
    return tmp_path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def canonical(records: Iterable[dict[str, Any]]) -> list[str]:
    """Records in an order of their own: PostgreSQL keeps no order of keys."""
    return sorted(json.dumps(record, sort_keys=True) for record in records)


def labelled(problems: int = 12, samples: int = 2) -> tuple[Project, list[Label]]:
    project = make.project()
    pool = world.pool(project, problems=problems, samples=samples)
    return project, world.label_all(Solution.objects.filter(pool=pool).order_by("pk"))


def test_every_usable_label_is_in_exactly_one_file_as_its_own_record() -> None:
    project, labels = labelled()
    snapshot = snapshots.freeze(project)
    train, held_out = snapshots.files_of(snapshot)
    assert held_out is not None
    frozen = lines(train) + lines(held_out)
    assert canonical(frozen) == canonical(label.record for label in labels)
    assert sorted(snapshot.label_ids) == [label.pk for label in labels]
    assert snapshot.counts["train"] + snapshot.counts["held_out"] == len(labels)


def test_no_problem_is_on_both_sides() -> None:
    project, _labels = labelled()
    train, held_out = snapshots.files_of(snapshots.freeze(project))
    assert held_out is not None
    sides = [{line["question"]["problem"] for line in lines(path)} for path in (train, held_out)]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]


def test_the_same_labels_give_the_same_snapshot_and_a_new_label_another() -> None:
    project, labels = labelled()
    first, again = snapshots.freeze(project), snapshots.freeze(project)
    assert first == again
    assert TrainingSnapshot.objects.count() == 1
    other = Solution.objects.exclude(pk__in=[label.solution_id for label in labels]).first()
    world.label(other or world_solution(project))
    assert snapshots.freeze(project).sha256 != first.sha256


def world_solution(project: Project) -> Solution:
    world.pool(project, problems=1, samples=1, name="more")
    return Solution.objects.filter(pool__name="more").get()


def test_the_digest_covers_the_files_and_the_files_their_content(home: Path) -> None:
    project, _labels = labelled()
    snapshot = snapshots.freeze(project)
    folder = home / snapshot.path
    manifest = (folder / "manifest.json").read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == snapshot.sha256
    for name, digest in json.loads(manifest)["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert world.folder_names(home / "snapshots") == [folder.name], "no half-written folder is left"


def test_what_is_left_out_is_counted_by_reason() -> None:
    project, labels = labelled(problems=8, samples=2)
    changes: list[dict[str, Any]] = [
        {"quarantined_at": timezone.now()},
        {"is_extra": True},
        {"finish_reason": "give_up"},
        {"finish_reason": "bad_problem"},
        {"purpose": QueueItem.Purpose.GOLD},
        {"is_current": False},
    ]
    for label, change in zip(labels, changes, strict=False):
        Label.objects.filter(pk=label.pk).update(**change)
    bad = Problem.objects.order_by("pk")[6]
    Problem.objects.filter(pk=bad.pk).update(status=Problem.Status.BAD)
    counts = snapshots.freeze(project).counts
    for reason in ("quarantined", "extra", "give_up", "bad_problem", "gold_or_screening"):
        assert counts[reason] == 1, reason
    assert counts["test_or_bad_problem"] == 2
    assert counts["train"] + counts["held_out"] == 16 - len(changes) - 2


def test_labels_of_test_problems_are_never_frozen_however_they_are_spaced() -> None:
    project, labels = labelled()
    leaked = labels[0].problem
    make.problem(project, text=leaked.text.upper().replace(" ", "   "), split=Problem.Split.TEST)
    snapshot = snapshots.freeze(project)
    frozen = Label.objects.filter(pk__in=snapshot.label_ids)
    assert not frozen.filter(problem=leaked).exists()
    assert problem_key(leaked.text) in snapshots.refused_problems(project)


def test_held_out_problems_stay_held_out_as_labels_come_in() -> None:
    project, _labels = labelled(problems=4)
    before = set(snapshots.freeze(project).held_out)
    more = world.pool(project, problems=30, samples=1, name="later")
    world.label_all(Solution.objects.filter(pool=more))
    after = set(snapshots.freeze(project).held_out)
    assert before
    assert before < after


def test_nothing_to_train_on_is_said_with_its_reasons() -> None:
    project, labels = labelled(problems=1, samples=1)
    Label.objects.update(finish_reason="give_up")
    assert labels
    with pytest.raises(JobFailure, match="give_up 1") as caught:
        snapshots.freeze(project)
    assert "Label some solutions" in caught.value.cure


def test_one_problem_is_trained_on_and_nothing_is_held_out() -> None:
    project, _labels = labelled(problems=1, samples=3)
    train, held_out = snapshots.files_of(snapshots.freeze(project))
    assert len(lines(train)) == 3
    assert held_out is None


def test_lost_files_are_named_with_a_cure(home: Path) -> None:
    project, _labels = labelled()
    snapshot = snapshots.freeze(project)
    (home / snapshot.path / "train.jsonl").unlink()
    with pytest.raises(JobFailure, match="frozen labels") as caught:
        snapshots.files_of(snapshot)
    assert "backup" in caught.value.cure


texts = st.text(alphabet="abcdefgh", min_size=1, max_size=12)


@given(st.dictionaries(st.integers(1, 500), texts.map(problem_key), min_size=2, max_size=60))
def test_some_problems_are_held_out_and_never_all(keys: dict[int, str]) -> None:
    chosen = snapshots.choose_held_out(keys)
    sides = {keys[pk] for pk in chosen}, {keys[pk] for pk in keys.keys() - chosen}
    assert not sides[0] & sides[1]
    assert sides[1]
    assert sides[0] or len(set(keys.values())) == 1
    assert snapshots.choose_held_out(dict(reversed(keys.items()))) == chosen


def test_the_share_held_out_is_near_what_is_stated() -> None:
    keys = {n: problem_key(f"problem {n}") for n in range(4000)}
    # Standard deviation: sqrt(4000 * 0.15 * 0.85) = 22.6.
    assert abs(len(snapshots.choose_held_out(keys)) - 600) < 100
