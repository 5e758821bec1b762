"""The state machine: which moves there are, and that only one caller makes each."""

import threading

import pytest
from django.db import connection

from labeling.errors import NotAllowedNow
from labeling.models import Project
from selection import generations
from selection.generations import S
from selection.models import Generation
from tests import make
from tests.selection import world

ALLOWED = {
    ("drafted", "sampling"),
    ("drafted", "scoring"),
    ("drafted", "picking"),
    ("sampling", "scoring"),
    ("sampling", "picking"),
    ("scoring", "picking"),
    ("picking", "labeling"),
    ("labeling", "training"),
    ("training", "evaluating"),
    ("evaluating", "promoted"),
    ("evaluating", "rejected"),
    ("promoted", "rejected"),
    ("rejected", "promoted"),
    *((state, "failed") for state in ("drafted", "sampling", "scoring", "picking")),
    *((state, "failed") for state in ("labeling", "training", "evaluating")),
    *(("failed", state) for state in ("drafted", "sampling", "scoring", "picking")),
    *(("failed", state) for state in ("training", "evaluating")),
}


def generation(state: str = S.DRAFTED, project: Project | None = None) -> Generation:
    project = project or make.project()
    pool = world.pool(project, problems=1, samples=1)
    return Generation.objects.create(
        project=project, number=0, pool=pool, strategy="uniform", size=1, state=state
    )


@pytest.mark.parametrize("before", S.values)
@pytest.mark.parametrize("after", S.values)
def test_only_the_moves_of_the_table_are_allowed(before: str, after: str) -> None:
    assert generations.may(before, after) == ((before, after) in ALLOWED)


@pytest.mark.django_db
def test_a_move_takes_its_columns_along() -> None:
    row = generation(S.EVALUATING)
    generations.advance(row, S.EVALUATING, S.PROMOTED, evaluation={"verdict": "fine"})
    row.refresh_from_db()
    assert (row.state, row.evaluation) == (S.PROMOTED, {"verdict": "fine"})


@pytest.mark.django_db
def test_a_move_from_a_state_it_has_left_is_refused() -> None:
    row = generation(S.LABELING)
    generations.advance(row, S.LABELING, S.TRAINING)
    with pytest.raises(NotAllowedNow, match="Generation 0"):
        generations.advance(row, S.LABELING, S.TRAINING)


@pytest.mark.django_db
def test_a_move_that_the_table_forbids_changes_nothing() -> None:
    row = generation(S.DRAFTED)
    with pytest.raises(NotAllowedNow):
        generations.advance(row, S.DRAFTED, S.LABELING)
    row.refresh_from_db()
    assert row.state == S.DRAFTED


@pytest.mark.django_db(transaction=True)
def test_of_many_who_close_at_once_one_wins() -> None:
    row = generation(S.LABELING)
    won: list[bool] = []
    gate = threading.Barrier(4)

    def close() -> None:
        mine = Generation.objects.get(pk=row.pk)
        try:
            gate.wait()
            generations.advance(mine, S.LABELING, S.TRAINING)
            won.append(True)
        except NotAllowedNow:
            won.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False, False, False, True]


@pytest.mark.django_db
@pytest.mark.parametrize("state", [S.DRAFTED, S.SCORING, S.PICKING, S.TRAINING, S.EVALUATING])
def test_a_failure_remembers_where_it_was_and_goes_on_from_there(state: str) -> None:
    row = generation(state)
    generations.fail(row, "no disk")
    assert (row.state, row.failed_in, row.failure) == (S.FAILED, state, "no disk")
    generations.go_on(row)
    assert (row.state, row.failed_in, row.failure) == (state, "", "")


@pytest.mark.django_db
@pytest.mark.parametrize("state", [S.LABELING, S.PROMOTED, S.REJECTED])
def test_nothing_fails_that_is_over_or_waits_for_people(state: str) -> None:
    row = generation(state)
    generations.fail(row, "no disk")
    assert row.state == state
