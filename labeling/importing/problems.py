"""Problems of a file: one row per text and project; what is here already is completed, never changed."""

from django.utils.translation import gettext as _

from labeling import hooks
from labeling.formats.rows import ProblemRow, Row
from labeling.importing.batch import CHUNK, Batch
from labeling.importing.spool import SpooledProblem
from labeling.models import Problem

FILLED = ("ground_truth_answer", "ground_truth_solution", "dataset", "external_id", "subject", "level")


def take(row: Row, line: int, batch: Batch) -> None:
    assert isinstance(row, ProblemRow)  # noqa: S101 - the registry gives problem rows to this kind
    if row.answer is None and row.solution is not None and hooks.extract_answer is not None:
        row = _with_answer(row, hooks.extract_answer(row.solution))
    add_problem(row, line, batch)


def add_problem(row: ProblemRow, line: int, batch: Batch) -> int:
    """Spool the problem of any kind of row; its number in the spool."""
    if batch.last_problem is not None and batch.last_problem[0] is row:
        return batch.last_problem[1]
    number, differs = batch.spool.add_problem(row, line)
    batch.counts["answers_differ"] += differs
    batch.last_problem = row, number
    return number


def write(batch: Batch) -> None:
    """Write the spooled problems, and tell the spool their keys."""
    total, done = batch.spool.count("problem"), 0
    for chunk in batch.spool.problems(CHUNK):
        _write_chunk(chunk, batch)
        done += len(chunk)
        batch.tick(done, total, _("writing"))


def find(batch: Batch, chunk: list[SpooledProblem]) -> dict[str, Problem]:
    """The problems of the chunk that are in the database, by text hash."""
    known = Problem.objects.filter(project=batch.project, text_hash__in=[item.hash for item in chunk])
    return {problem.text_hash: problem for problem in known}


def _write_chunk(chunk: list[SpooledProblem], batch: Batch) -> None:
    known = find(batch, chunk)
    new = [_new(item, batch) for item in chunk if item.hash not in known]
    # Another import may add the same problem at this moment: its row is then taken.
    Problem.objects.bulk_create(new, ignore_conflicts=True)
    _complete([(known[item.hash], item) for item in chunk if item.hash in known], batch)
    keys = dict(
        Problem.objects.filter(
            project=batch.project, text_hash__in=[item.hash for item in chunk]
        ).values_list("text_hash", "pk")
    )
    batch.spool.set_problems("pk", [(keys[item.hash], item.id) for item in chunk])
    batch.counts["problems_new"] += len(new)
    batch.counts["problems_known"] += len(known)
    batch.counts["no_answer"] += sum(problem.ground_truth_answer is None for problem in new)


def _new(item: SpooledProblem, batch: Batch) -> Problem:
    row = item.row
    return Problem(
        project=batch.project,
        text=row.text,
        text_hash=item.hash,
        ground_truth_answer=row.answer,
        ground_truth_solution=row.solution,
        dataset=batch.options.dataset,
        external_id=row.external_id,
        split=batch.options.split or Problem.Split.TRAIN,
        subject=row.subject,
        level=row.level,
        source=batch.source,
    )


def _complete(pairs: list[tuple[Problem, SpooledProblem]], batch: Batch) -> None:
    changed = []
    for problem, item in pairs:
        filled = _fill(problem, item, batch)
        moved = _move_to_test(problem, batch)
        if filled or moved:
            changed.append(problem)
    Problem.objects.bulk_update(changed, [*FILLED, "split"], batch_size=CHUNK)


def _fill(problem: Problem, item: SpooledProblem, batch: Batch) -> bool:
    """Fill what is empty; a different answer is kept and counted."""
    offered = _new(item, batch)
    filled = [name for name in FILLED if not getattr(problem, name) and getattr(offered, name)]
    if "ground_truth_answer" in filled:
        batch.counts["answers_filled"] += 1
    elif item.row.answer and _folded(item.row.answer) != _folded(problem.ground_truth_answer):
        batch.counts["answers_differ"] += 1
    for name in filled:
        setattr(problem, name, getattr(offered, name))
    return bool(filled)


def _move_to_test(problem: Problem, batch: Batch) -> bool:
    """A problem that any file calls test stays test: it must never be trained on."""
    wanted = batch.options.split
    if problem.split == Problem.Split.TEST:
        batch.counts["test_kept"] += wanted == Problem.Split.TRAIN
        return False
    if wanted != Problem.Split.TEST:
        return False
    problem.split = Problem.Split.TEST
    batch.counts["moved_to_test"] += 1
    return True


def _with_answer(row: ProblemRow, answer: str | None) -> ProblemRow:
    return ProblemRow(row.text, answer, row.solution, row.external_id, row.subject, row.level)


def _folded(answer: str | None) -> str:
    """Answers that differ in white space only are the same."""
    return "".join((answer or "").split())
