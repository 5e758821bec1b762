"""Grades the spooled solutions against their problems' answers, before any lock is taken."""

import json
from collections import Counter

from django.utils.translation import gettext as _

from labeling import hooks
from labeling.importing import problems
from labeling.importing.batch import CHUNK, Batch

# Starting the grader takes a moment, so it gets many pairs at once.
PAIRS = 20_000
BY_FILE = "file"


def grade(batch: Batch) -> None:
    """Give every spooled solution its grade: by the answer grader where the truth is known.

    What the graders said is spooled too where they leave a doubt.

    Where it is not, the file's own verdict counts (`graded_by` is then "file"); else "unknown" stays.
    """
    _look_up_truths(batch)
    total, done = batch.spool.count("item"), 0
    batch.spool.grade_by_file(BY_FILE)
    if hooks.grade_answers is None:
        return
    for chunk in batch.spool.to_grade(PAIRS):
        batch.spool.set_grades(_grades(chunk, done, total, batch, hooks.grade_answers))
        done += len(chunk)
        batch.tick(done, total, _("grading"))


def _grades(
    chunk: list[tuple[int, str | None, str]], done: int, total: int, batch: Batch, grader: hooks.GradeAnswers
) -> list[tuple[str, str, str, int]]:
    """(grade, which rule decided, votes as JSON, number of the row); equal pairs are graded once.

    The commonest pairs come first: second opinions are bought in that order.
    """
    pairs = [pair for pair, _n in Counter((answer, truth) for _row, answer, truth in chunk).most_common()]
    share = len(chunk) / len(pairs)

    def on_progress(graded: int, _of: int) -> None:
        batch.tick(done + int(graded * share), total, _("grading"))

    verdicts = {
        pair: (graded.grade, graded.by, json.dumps(graded.votes) if graded.votes else "")
        for pair, graded in zip(pairs, grader(pairs, on_progress=on_progress), strict=True)
    }
    return [(*verdicts[answer, truth], row) for row, answer, truth in chunk]


def _look_up_truths(batch: Batch) -> None:
    """The answer that the database has is the truth; only where it has none, the file's."""
    for chunk in batch.spool.problems(CHUNK):
        known = problems.find(batch, chunk)
        truths = []
        for item in chunk:
            stored = known[item.hash].ground_truth_answer if item.hash in known else None
            truths.append((stored or item.row.answer, item.id))
        batch.spool.set_problems("truth", truths)
