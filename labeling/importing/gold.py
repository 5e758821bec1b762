"""Gold questions: a solution outside every pool, with the ratings accepted for each of its steps."""

from django.utils.translation import gettext as _

from labeling.formats.faults import BadRecord, Fault
from labeling.formats.rows import GoldRow, Row
from labeling.importing import doubts, problems, solutions
from labeling.importing.batch import CHUNK, Batch
from labeling.importing.spool import SpooledItem
from labeling.models import Gold, Solution
from labeling.records import text_hash
from labeling.services.batches import SCREENING_GENERATION, open_screening


def take(row: Row, line: int, batch: Batch) -> None:
    assert isinstance(row, GoldRow)  # noqa: S101 - the registry gives gold rows to this kind
    payload, answer = solutions.prepare(row.solution)
    _refuse_twice(text_hash(row.solution.problem.text) + payload["hash"], line, batch)
    payload["accepted"] = [list(ratings) for ratings in row.accepted]
    payload["first_error"] = row.first_error
    payload["explanation"] = row.explanation
    number = problems.add_problem(row.solution.problem, line, batch)
    batch.spool.add_item(line, number, payload, answer)


def _refuse_twice(key: str, line: int, batch: Batch) -> None:
    """One solution has one gold, whatever else its two records say."""
    first, times = batch.spool.see(key.encode(), line)
    if times > 1:
        message = _("the solution is the same as that of line {line}.").format(line=first)
        raise BadRecord([Fault(message, _("keep one of the two."), "steps")])


def write(batch: Batch) -> None:
    problems.write(batch)
    total, done = batch.spool.count("item"), 0
    for chunk in batch.spool.items(CHUNK):
        _write_chunk(chunk, batch)
        done += len(chunk)
        batch.tick(done, total, _("writing"))
    if batch.options.generation == SCREENING_GENERATION:
        # Screening has no round that is opened: new questions are asked from now on.
        open_screening(batch.project)


def _write_chunk(chunk: list[SpooledItem], batch: Batch) -> None:
    """A solution that is gold already keeps its gold; a difference is counted, for the lead to decide."""
    chunk = doubts.settled(chunk, batch)
    keys = {item.problem_pk for item in chunk}
    here = Gold.objects.filter(solution__problem__in=keys).select_related("solution")
    known = {(gold.solution.problem_id, gold.solution.text_hash): gold for gold in here}
    new = []
    for item in chunk:
        gold = known.get((item.problem_pk, item.payload["hash"]))
        if gold is None:
            new.append(item)
        elif gold.accepted == item.payload["accepted"]:
            batch.counts["gold_unchanged"] += 1
        else:
            batch.counts["gold_differ"] += 1
    made = Solution.objects.bulk_create([Solution(**solutions.values(item, batch)) for item in new])
    Gold.objects.bulk_create(_gold(item, solution, batch) for item, solution in zip(new, made, strict=True))
    batch.counts["gold_new"] += len(new)
    solutions.count([item.grade for item in new], batch)


def _gold(item: SpooledItem, solution: Solution, batch: Batch) -> Gold:
    return Gold(
        solution=solution,
        accepted=item.payload["accepted"],
        first_error=item.payload["first_error"],
        explanation=item.payload["explanation"],
        generation=batch.options.generation,
        origin=batch.source.format[:40] if batch.source else "",
    )
