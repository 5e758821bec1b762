"""Freezing the labels that one training run sees: files named by their content, and why a label is left out.

Held-out problems are chosen by a digest of their text: the same in every generation, so that "before"
and "after" are compared on problems that neither model was trained on.
"""

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from labeling.jobs import JobFailure
from labeling.models import Label, Problem, Project, QueueItem
from labeling.queries.labels import usable_labels
from models_prm.records import problem_key
from selection.models import TrainingSnapshot

HELD_OUT_SHARE = 0.15
FOLDER = "snapshots"
TRAIN, HELD_OUT, MANIFEST = "train.jsonl", "held_out.jsonl", "manifest.json"


@dataclass
class _Plan:
    """What goes where: problem identifiers held out, and counts of labels used and left out."""

    held_out: set[int]
    refused: frozenset[str]
    counts: Counter[str] = field(default_factory=Counter)
    train_ids: list[int] = field(default_factory=list)
    held_out_ids: list[int] = field(default_factory=list)


def freeze(project: Project) -> TrainingSnapshot:
    """Write the project's usable labels to files; the same labels give the same snapshot again.

    Raises JobFailure when there is nothing to train on.
    """
    plan = _plan(project)
    folder = settings.HOME / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".part-", dir=folder))
    try:
        digest = _write(project, plan, work)
        final = folder / digest[:20]
        if not (final / MANIFEST).exists():
            shutil.rmtree(final, ignore_errors=True)
            work.replace(final)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    known = TrainingSnapshot.objects.filter(project=project, sha256=digest).first()
    return known or TrainingSnapshot.objects.create(
        project=project,
        sha256=digest,
        label_ids=plan.train_ids + plan.held_out_ids,
        counts=dict(plan.counts),
        held_out=sorted(plan.held_out),
        path=f"{FOLDER}/{digest[:20]}",
    )


def files_of(snapshot: TrainingSnapshot) -> tuple[Path, Path | None]:
    """Training file, and held-out file or None where no problem is held out. Raises JobFailure if lost."""
    folder = settings.HOME / snapshot.path
    if not (folder / TRAIN).is_file():
        raise JobFailure(
            _("The frozen labels of snapshot %d are not there.") % snapshot.pk,
            _("Put back %s from your backup, or train under a new name, which freezes the labels anew.")
            % snapshot.path,
        )
    held_out = folder / HELD_OUT
    return folder / TRAIN, held_out if held_out.stat().st_size else None


def refused_problems(project: Project) -> frozenset[str]:
    """Keys of all problems of the test split: they may be in no training text."""
    texts = Problem.objects.filter(project=project, split=Problem.Split.TEST).values_list("text", flat=True)
    return frozenset(problem_key(text) for text in texts.iterator())


def _plan(project: Project) -> _Plan:
    refused = refused_problems(project)
    texts = dict(
        Problem.objects.filter(pk__in=usable_labels(project).values("problem_id"), status=Problem.Status.OK)
        .exclude(split=Problem.Split.TEST)
        .values_list("pk", "text")
    )
    keys = {pk: key for pk, text in texts.items() if (key := problem_key(text)) not in refused}
    before: set[int] = set()
    for ids in TrainingSnapshot.objects.filter(project=project).values_list("held_out", flat=True):
        before.update(ids)
    plan = _Plan(choose_held_out(keys, before), refused, _left_out(project))
    _sort_labels(project, plan, keys)
    if not plan.train_ids:
        raise JobFailure(
            _("There are no labels to train on (%s).") % _told(plan.counts),
            _("Label some solutions or import labels first; labels of test problems are never used."),
        )
    return plan


def choose_held_out(keys: dict[int, str], before: Iterable[int] = ()) -> set[int]:
    """Problems to hold out of {identifier: key}: a share by digest, and whichever were held out before.

    Problems with one key stay together. At least one key of two or more is held out; never all.
    """
    marks = {key: hashlib.sha256(f"held out:{key}".encode()).hexdigest() for key in keys.values()}
    limit = HELD_OUT_SHARE * 16**8
    chosen = {key for key, mark in marks.items() if int(mark[:8], 16) < limit}
    chosen |= {keys[pk] for pk in before if pk in keys}
    by_mark = sorted(marks, key=lambda key: marks[key])
    if not chosen and len(by_mark) > 1:
        chosen = {by_mark[0]}
    if by_mark and len(chosen) == len(by_mark):
        chosen.discard(by_mark[-1])
    return {pk for pk, key in keys.items() if key in chosen}


def _sort_labels(project: Project, plan: _Plan, keys: dict[int, str]) -> None:
    for pk, problem in usable_labels(project).order_by("pk").values_list("pk", "problem_id").iterator():
        if problem not in keys:
            plan.counts["test_or_bad_problem"] += 1
        elif problem in plan.held_out:
            plan.held_out_ids.append(pk)
        else:
            plan.train_ids.append(pk)
    plan.counts["train"] = len(plan.train_ids)
    plan.counts["held_out"] = len(plan.held_out_ids)


def _left_out(project: Project) -> Counter[str]:
    """Current labels that are not usable, each counted once, by the first reason that holds."""
    counts: Counter[str] = Counter()
    rows = (
        Label.objects.filter(project=project, is_current=True)
        .exclude(pk__in=usable_labels(project).values("pk"))
        .values_list("purpose", "finish_reason", "quarantined_at", "is_extra")
    )
    for purpose, finish, quarantined, extra in rows.iterator():
        if purpose != QueueItem.Purpose.WORK:
            counts["gold_or_screening"] += 1
        elif finish in (Label.FinishReason.GIVE_UP, Label.FinishReason.BAD_PROBLEM):
            counts[finish] += 1
        elif quarantined is not None:
            counts["quarantined"] += 1
        else:
            counts["extra" if extra else "unfinished"] += 1
    return counts


def _write(project: Project, plan: _Plan, folder: Path) -> str:
    """Both files and their manifest; the digest of the manifest, which names the digests of the files."""
    sums = {
        name: _write_records(folder / name, ids)
        for name, ids in ((TRAIN, plan.train_ids), (HELD_OUT, plan.held_out_ids))
    }
    manifest = {
        "project": project.slug,
        "files": sums,
        "labels": {"train": plan.train_ids, "held_out": plan.held_out_ids},
        "held_out_problems": sorted(plan.held_out),
        "counts": dict(sorted(plan.counts.items())),
    }
    text = json.dumps(manifest, sort_keys=True, indent=1)
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def _write_records(path: Path, ids: list[int]) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for record in _records(ids):
            line = (json.dumps(record) + "\n").encode()
            file.write(line)
            digest.update(line)
    return digest.hexdigest()


def _records(ids: list[int], chunk: int = 500) -> Iterator[dict[str, Any]]:
    for start in range(0, len(ids), chunk):
        part = ids[start : start + chunk]
        records = dict(Label.objects.filter(pk__in=part).values_list("pk", "record"))
        yield from (records[pk] for pk in part if pk in records)


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()) if n) or _("none at all")
