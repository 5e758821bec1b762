"""What the picking rule gets to see of the tables."""

import pytest

from labeling.models import AnswerCheck, Label, Problem, QueueItem, Solution
from labeling.services.answers import settle_answer
from selection.candidates import candidates
from selection.picking import PickRule, pick
from tests import make
from tests.selection import world

pytestmark = pytest.mark.django_db


def test_every_solution_becomes_a_candidate_with_its_score() -> None:
    pool = world.pool(make.project(), problems=2, samples=3)
    score_set = world.scores(pool, world.model(pool.project))
    found = {c.solution_id: c for c in candidates(pool, score_set)}
    for row in Solution.objects.filter(pool=pool).select_related("problem"):
        one = found.pop(row.pk)
        score = score_set.scores.get(solution=row).value
        assert (one.problem_id, one.grade, one.score) == (row.problem_id, row.grade, score)
        assert not one.is_labeled
    assert not found


def test_without_scores_candidates_have_none() -> None:
    pool = world.pool(make.project(), problems=1, samples=2)
    assert [c.score for c in candidates(pool, None)] == [None, None]


def test_queued_labeled_and_gold_texts_are_taken() -> None:
    project = make.project()
    pool = world.pool(project, problems=1, samples=4)
    queued, judged, gold, free = Solution.objects.filter(pool=pool).order_by("pk")
    make.item(queued)
    world.label(judged)
    make.gold(gold)
    taken = {c.solution_id: c.is_labeled for c in candidates(pool, None)}
    assert taken == {queued.pk: True, judged.pk: True, gold.pk: True, free.pk: False}


def test_a_copy_in_another_pool_takes_the_text_too() -> None:
    project = make.project()
    pool = world.pool(project, problems=1, samples=1)
    row = Solution.objects.get(pool=pool)
    copy = make.solution(row.problem, steps=row.steps)
    make.item(copy)
    assert [c.is_labeled for c in candidates(pool, None)] == [True]


def test_an_item_that_a_closed_batch_left_unjudged_is_free_again() -> None:
    pool = world.pool(make.project(), problems=1, samples=1)
    make.item(Solution.objects.get(pool=pool), state=QueueItem.State.CLOSED)
    assert [c.is_labeled for c in candidates(pool, None)] == [False]


def test_an_imported_label_takes_its_text_by_its_record() -> None:
    pool = world.pool(make.project(), problems=1, samples=2)
    first, _second = Solution.objects.filter(pool=pool).order_by("pk")
    label = world.label(first)
    Label.objects.filter(pk=label.pk).update(solution=None)
    assert [c.is_labeled for c in candidates(pool, None)] == [True, False]


def test_problems_that_are_held_or_bad_give_no_candidates_and_test_problems_are_marked() -> None:
    project = make.project()
    pool = world.pool(project, problems=4, samples=1)
    held, bad, test, fine = Problem.objects.filter(project=project).order_by("pk")
    Problem.objects.filter(pk=held.pk).update(status="held")
    Problem.objects.filter(pk=bad.pk).update(status="bad")
    Problem.objects.filter(pk=test.pk).update(split="test")
    assert [(c.problem_id, c.split) for c in candidates(pool, None)] == [
        (test.pk, "test"),
        (fine.pk, "train"),
    ]


def test_a_sample_that_was_cut_off_is_no_candidate() -> None:
    pool = world.pool(make.project(), problems=1, samples=3)
    cut, ended, unknown = Solution.objects.filter(pool=pool).order_by("pk")
    Solution.objects.filter(pk=cut.pk).update(extra={"finish": "length"})
    Solution.objects.filter(pk=ended.pk).update(extra={"finish": "stop"})
    assert {c.solution_id for c in candidates(pool, None)} == {ended.pk, unknown.pk}


def test_an_answer_that_a_person_settled_as_right_is_no_convincing_wrong_any_more() -> None:
    pool = world.pool(make.project(), problems=3, samples=4)
    score_set = world.scores(pool, world.model(pool.project))
    wrong = Solution.objects.filter(pool=pool, grade="wrong").order_by("-scores__value").first()
    assert wrong is not None
    rule = PickRule(strategy="convincing_wrong", size=4, random_share=0, wrong_share=1, seed=1)

    def convincing_wrong() -> set[int]:
        picks = pick(candidates(pool, score_set), rule)
        return {one.solution_id for one in picks if one.cause == "convincing_wrong"}

    assert wrong.pk in convincing_wrong()
    doubt = AnswerCheck.objects.create(problem=wrong.problem, answer=str(wrong.answer), grade="wrong")
    settle_answer(doubt, by=make.lead(), grade="right")
    assert wrong.pk not in convincing_wrong()
    assert len(convincing_wrong()) == 4
