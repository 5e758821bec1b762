"""Solutions of a pool: split into steps where they come as text, and numbered within their problem."""

from collections import Counter
from typing import Any

from django.db.models import Count, Max
from django.utils.translation import gettext as _

from labeling import hooks
from labeling.formats.faults import BadRecord, Fault
from labeling.formats.rows import Row, SolutionRow
from labeling.importing import doubts, problems
from labeling.importing.batch import CHUNK, Batch
from labeling.importing.inserting import insert_rows
from labeling.importing.spool import SpooledItem
from labeling.models import Pool, Solution
from labeling.records import steps_hash, text_hash

SPLITTER = "newline"


def take(row: Row, line: int, batch: Batch) -> None:
    assert isinstance(row, SolutionRow)  # noqa: S101 - the registry gives solution rows to this kind
    payload, answer = prepare(row)
    key = f"{text_hash(row.problem.text)} {payload['hash']}"
    _first, times = batch.spool.see(key.encode(), line)
    payload["times"] = times
    if times > 1 and payload.pop("once", False):
        batch.counts["solutions_repeated"] += 1
        return
    number = problems.add_problem(row.problem, line, batch)
    batch.spool.add_item(line, number, payload, answer)


def prepare(row: SolutionRow) -> tuple[dict[str, Any], str | None]:
    """What the spool keeps of a solution, and its final answer. Raises BadRecord."""
    steps, splitter = _steps(row)
    answer = row.answer
    if answer is None and hooks.extract_answer is not None:
        answer = hooks.extract_answer(row.text or "\n".join(steps))
    payload: dict[str, Any] = {
        "steps": steps,
        "hash": steps_hash(steps),
        "splitter": splitter,
        "external_id": row.external_id,
        "generator": row.generator,
        "extra": row.extra,
        "once": row.once,
    }
    if row.is_correct is not None:
        payload["is_correct"] = row.is_correct
    return payload, answer


def _steps(row: SolutionRow) -> tuple[list[str], str]:
    if row.steps is not None:
        return list(row.steps), row.splitter or "given"
    if hooks.split_steps is None:
        cure = _("give the solution as a list of steps.")
        raise BadRecord([Fault(_("no step splitter is plugged in."), cure, "solution")])
    steps = hooks.split_steps(row.text or "", SPLITTER)
    if not steps:
        raise BadRecord([Fault(_("the solution has no step."), _("leave the record out."), "solution")])
    return steps, SPLITTER


def write(batch: Batch) -> None:
    problems.write(batch)
    pool, _made = Pool.objects.get_or_create(project=batch.project, name=batch.options.pool)
    # Two imports into one pool at a time: the second waits here, so that numbers stay unique.
    pool = Pool.objects.select_for_update().get(pk=pool.pk)
    total, done = batch.spool.count("item"), 0
    generators: set[str] = set()
    for chunk in batch.spool.items(CHUNK):
        _write_chunk(chunk, pool, batch)
        generators.update(item.payload["generator"] for item in chunk)
        done += len(chunk)
        batch.tick(done, total, _("writing"))
    if not pool.generator and len(generators) == 1:
        pool.generator = generators.pop()
        pool.save(update_fields=["generator"])


def _write_chunk(chunk: list[SpooledItem], pool: Pool, batch: Batch) -> None:
    """The n-th equal solution of a file is known when the pool held n of them before this file."""
    chunk = doubts.settled(chunk, batch)
    keys = {item.problem_pk for item in chunk}
    here = Solution.objects.filter(pool=pool, problem__in=keys)
    before: Counter[tuple[int, str]] = Counter()
    for problem, digest, n in (
        here.exclude(source=batch.source).values_list("problem", "text_hash").annotate(Count("pk"))
    ):
        before[problem, digest] = n
    following = {
        problem: last + 1 for problem, last in here.values_list("problem").annotate(Max("sample_index"))
    }
    new = []
    for item in chunk:
        if item.payload["times"] <= before[item.problem_pk, item.payload["hash"]]:
            continue
        index = following.get(item.problem_pk, 0)
        following[item.problem_pk] = index + 1
        new.append(values(item, batch) | {"pool_id": pool.pk, "sample_index": index})
    insert_rows(Solution, new)
    count([row["grade"] for row in new], batch)
    batch.counts["solutions_known"] += len(chunk) - len(new)


def values(item: SpooledItem, batch: Batch) -> dict[str, Any]:
    """The columns of a solution; without a pool it is number 0 of none."""
    payload = item.payload
    return {
        "problem_id": item.problem_pk,
        "pool_id": None,
        "sample_index": 0,
        "external_id": payload["external_id"],
        "steps": payload["steps"],
        "text_hash": payload["hash"],
        "splitter": payload["splitter"],
        "answer": item.answer,
        "grade": item.grade,
        "graded_by": item.graded_by[:60],
        "generator": payload["generator"],
        "extra": payload["extra"],
        "source_id": batch.source.pk if batch.source else None,
        "source_line": item.line,
    }


def count(grades: list[str], batch: Batch) -> None:
    batch.counts["solutions_new"] += len(grades)
    for grade in grades:
        batch.counts[f"grade_{grade}"] += 1
