"""Answers that graders leave in doubt: kept for a person, whose word goes before every grader's."""

import hashlib

from labeling.importing.batch import Batch
from labeling.importing.spool import SpooledItem
from labeling.models import AnswerCheck
from labeling.services.answers import BY_PERSON

Key = tuple[int, str]


def settled(chunk: list[SpooledItem], batch: Batch) -> list[SpooledItem]:
    """The rows with a person's grade where there is one; a new doubt becomes a row for a person to settle.

    Checks of these problems stay locked until the import ends, so that nobody decides between reading and
    writing. Call it inside the transaction that writes the rows.
    """
    known = {
        (check.problem_id, check.answer): check
        for check in AnswerCheck.objects.select_for_update(no_key=True).filter(
            problem__in={item.problem_pk for item in chunk}
        )
    }
    _keep_doubts([item for item in chunk if item.votes], known, batch)
    return [_graded(item, known.get((item.problem_pk, item.answer or ""))) for item in chunk]


def _graded(item: SpooledItem, check: AnswerCheck | None) -> SpooledItem:
    if check is None or not check.decision:
        return item
    return item._replace(grade=check.decision, graded_by=BY_PERSON)


def _keep_doubts(doubtful: list[SpooledItem], known: dict[Key, AnswerCheck], batch: Batch) -> None:
    """One row per problem and answer. A known one keeps its decision and hears what the graders say now."""
    checks = {(item.problem_pk, item.answer or ""): _check(item) for item in doubtful}
    AnswerCheck.objects.bulk_create(
        checks.values(),
        update_conflicts=True,
        unique_fields=["problem", "answer_hash"],
        update_fields=["votes", "grade", "graded_by"],
    )
    batch.counts["answers_to_check"] += len(checks.keys() - known.keys())


def _check(item: SpooledItem) -> AnswerCheck:
    answer = item.answer or ""
    return AnswerCheck(
        problem_id=item.problem_pk,
        answer=answer,
        answer_hash=hashlib.sha256(answer.encode()).hexdigest(),
        votes=item.votes,
        grade=item.grade,
        graded_by=item.graded_by[:60],
    )
