"""Scores of a pool: each solution once, and all of them seen at one moment."""

from typing import Any

import pytest

from labeling.models import Pool, Solution
from models_prm.fakes import FakeScorer
from selection import scores
from selection.models import ModelVersion, Score, ScoreSet
from tests import make
from tests.selection import world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "CHUNK", 7)


@pytest.fixture
def pool() -> Pool:
    return world.pool(make.project(), problems=4, samples=5)


def score(pool: Pool, version: ModelVersion, scorer: FakeScorer, **options: Any) -> ScoreSet:
    def quiet(done: int, total: int, stage: str) -> None:
        return None

    return scores.score_pool(pool, version, load=lambda _: scorer, **({"on_progress": quiet} | options))


def test_every_solution_gets_one_score_the_product_over_its_steps(pool: Pool) -> None:
    scorer = FakeScorer(judge=lambda _problem, _steps, index: 0.1 * (index + 1))
    score_set = score(pool, world.model(pool.project), scorer)
    assert score_set.is_complete
    assert score_set.n_scored == score_set.scores.count() == 20
    row = score_set.scores.first()
    assert row is not None
    assert row.value == pytest.approx(0.9 * 0.8 * 0.7)
    assert row.step_probs[1] == pytest.approx([0.2, 0.16, 0.64])


def test_a_run_that_broke_goes_on_where_it_stopped_and_scores_nothing_twice(pool: Pool) -> None:
    version, before, after = world.model(pool.project), FakeScorer(), FakeScorer()

    class Killed(FakeScorer):
        calls = 0

        def score(self, *args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == 3:
                raise RuntimeError("killed")
            return before.score(*args, **kwargs)

    with pytest.raises(RuntimeError):
        score(pool, version, Killed())
    half = ScoreSet.objects.get()
    assert (half.is_complete, half.n_scored) == (False, 14)
    done = score(pool, version, after)
    assert (done.pk, done.is_complete, done.n_scored) == (half.pk, True, 20)
    keys = [item.key for item in (*before.seen, *after.seen)]
    assert sorted(keys) == sorted(set(keys))
    assert Score.objects.count() == 20


def test_solutions_of_one_problem_are_scored_together(pool: Pool) -> None:
    scorer = FakeScorer()
    score(pool, world.model(pool.project), scorer)
    problems = [item.problem for item in scorer.seen]
    changes = sum(a != b for a, b in zip(problems, problems[1:], strict=False))
    # Chunks keep the problems in order; inside a chunk the database may shuffle them.
    assert changes <= 4 + len(problems) // 7


def test_progress_counts_from_what_is_there_to_all(pool: Pool) -> None:
    said: list[tuple[int, int, str]] = []
    score(
        pool,
        world.model(pool.project),
        FakeScorer(),
        on_progress=lambda done, total, stage: said.append((done, total, stage)),
    )
    scoring = [(done, total) for done, total, stage in said if stage == "scoring"]
    assert scoring == [(0, 20), (7, 20), (14, 20), (20, 20)]
    assert said[-1] == (4, 4, "evaluating")


def test_a_pool_that_grew_gets_the_missing_scores_only(pool: Pool) -> None:
    version = world.model(pool.project)
    score(pool, version, FakeScorer())
    make.solution(make.problem(pool.project), pool=pool)
    second = FakeScorer()
    done = score(pool, version, second)
    assert len(second.seen) == 1
    assert done.n_scored == 21


def test_a_solution_without_steps_has_no_score_and_is_not_asked_for_again(pool: Pool) -> None:
    empty = make.solution(make.problem(pool.project), steps=[], pool=pool)
    done = score(pool, world.model(pool.project), FakeScorer())
    assert Score.objects.get(score_set=done, solution=empty).value is None
    assert scores.unscored(done) == ([], 21)


def test_scores_of_two_models_stand_side_by_side(pool: Pool) -> None:
    for name in ("a", "b"):
        score(pool, world.model(pool.project, name), FakeScorer())
    assert Score.objects.count() == 2 * Solution.objects.filter(pool=pool).count()
