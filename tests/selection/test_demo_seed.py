"""The practice project is seeded once: a second time changes nothing, an interrupted time is finished."""

from pathlib import Path
from typing import Any

import pytest

from labeling.models import Enrolment, Gold, Pool, Project, QueueItem, Solution, User
from labeling.services import people
from selection.demo import seed as seeding
from selection.demo.seed import PEOPLE, Size, seed, sign_in_links
from selection.models import Generation, Pick
from selection.simulate.judgement import Truth

pytestmark = pytest.mark.django_db(transaction=True)

TINY = Size(problems=10, per_problem=3, gold=9, batch=6, screening=4)


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.HOME = tmp_path
    return tmp_path


def quiet(text: str) -> None:
    pass


def contents() -> dict[str, int]:
    models = (Project, Pool, Solution, Gold, QueueItem, User, Enrolment, Generation, Pick)
    return {model.__name__: model.objects.count() for model in models}


def test_everything_a_first_look_needs_is_there() -> None:
    project = seed(quiet, TINY)
    assert project.is_practice
    assert project.guidelines
    assert Solution.objects.filter(pool__name="practice").count() == 30
    assert set(Solution.objects.values_list("grade", flat=True)) == {"right", "wrong"}
    assert Gold.objects.filter(generation=-1).count() == TINY.screening == project.screening_questions
    assert Gold.objects.filter(generation=None).count() == TINY.gold - TINY.screening
    assert QueueItem.objects.filter(generation=-1, purpose="screening").count() == TINY.screening
    assert Generation.objects.get().state == Generation.State.LABELING
    assert QueueItem.objects.filter(generation=0, purpose="work").count() == TINY.batch


def test_the_screening_holds_right_and_wrong_solutions() -> None:
    seed(quiet, TINY)
    errors = Gold.objects.filter(generation=-1).values_list("first_error", flat=True)
    assert None in errors
    assert any(error is not None for error in errors)


def test_a_second_time_changes_nothing() -> None:
    seed(quiet, TINY)
    before = contents()
    seed(quiet, TINY)
    assert contents() == before


@pytest.mark.parametrize("part", ["_import_gold", "_make_people", "_open_first_generation"])
def test_an_interrupted_time_is_finished_by_the_next(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(seeding, part, interrupted)
        with pytest.raises(KeyboardInterrupt):
            seed(quiet, TINY)
    seed(quiet, TINY)
    whole = contents()
    assert (whole["Solution"], whole["Gold"], whole["Pick"]) == (39, 9, TINY.batch)
    assert whole["User"] == len(PEOPLE)
    assert Enrolment.objects.get().user.username == "labeler"


def test_each_link_signs_its_own_person_in() -> None:
    project = seed(quiet, TINY)
    for role, token in sign_in_links(project).items():
        user = people.user_of_link(token)
        assert user is not None
        assert (user.username, user.role) == (role, role)


def test_the_oracle_agrees_with_the_gold_of_every_question() -> None:
    """What simulated labelers hold for true is what quality control expects of them."""
    from models_prm.practice import Oracle
    from selection.demo.seed import SEED

    seed(quiet, TINY)
    oracle = Oracle.for_seed(SEED, TINY.problems, TINY.per_problem, TINY.gold)
    golds = list(Gold.objects.select_related("solution__problem"))
    assert len(golds) == TINY.gold
    for gold in golds:
        known = oracle.judge(gold.solution.problem.text, gold.solution.steps)
        assert known is not None
        through = len(gold.accepted)
        truth = Truth(tuple(r or 0 for r in known.ratings[:through]), known.first_error, len(known.steps))
        assert truth.first_error == gold.first_error
        assert all(rating in accepted for rating, accepted in zip(truth.ratings, gold.accepted, strict=True))
