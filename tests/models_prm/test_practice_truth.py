"""What practice solutions claim is true or false exactly where they say so."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pytest

from models_prm.practice import CATALOGUE, PracticeSolution, Problem, make_gold, make_pool, make_problems
from models_prm.practice.solutions import instance_of
from tests.models_prm.test_practice_calculator import judged

SEED = 20


@pytest.fixture(scope="module")
def made() -> list[tuple[Problem, PracticeSolution]]:
    problems = make_problems(200, SEED)
    by_key = {problem.key: problem for problem in problems}
    pool = [(by_key[solution.problem_key], solution) for solution in make_pool(problems, 10, SEED)]
    return pool + make_gold(80, SEED)


def unknowns_of(problem: Problem) -> Mapping[str, tuple[Fraction, ...]]:
    letters = instance_of(problem.key).unknowns()
    return {letter: tuple(Fraction(value) for value in values) for letter, values in letters.items()}


def test_every_equality_of_a_right_step_is_true(made: list[tuple[Problem, PracticeSolution]]) -> None:
    checked = Counter[str]()
    for problem, solution in made:
        unknowns = unknowns_of(problem)
        for step, rating in zip(solution.steps, solution.ratings, strict=True):
            if rating in (0, 1):
                for chain, truth in judged(step, unknowns):
                    assert truth, (problem.text, step, chain)
                    checked[problem.topic] += 1
    assert sum(checked.values()) > 5_000
    assert min(checked.values()) > 200, checked


def test_the_first_error_of_a_shown_mistake_holds_a_false_equality(
    made: list[tuple[Problem, PracticeSolution]],
) -> None:
    exposed = Counter[str]()
    for problem, solution in made:
        if solution.first_error is not None and solution.mistake and CATALOGUE[solution.mistake].shown:
            step = solution.steps[solution.first_error]
            truths = [truth for _, truth in judged(step, unknowns_of(problem))]
            assert False in truths, (problem.text, step, solution.mistake, solution.explanation)
            exposed[solution.mistake] += 1
    assert sum(exposed.values()) > 500
    assert set(exposed) == {name for name, mistake in CATALOGUE.items() if mistake.shown}


def test_a_solution_without_an_error_reaches_the_true_answer(
    made: list[tuple[Problem, PracticeSolution]],
) -> None:
    right = [(p, s) for p, s in made if s.first_error is None]
    assert len(right) > 500
    assert all(solution.answer == problem.answer for problem, solution in right)


def test_about_one_in_ten_flawed_solutions_reaches_the_true_answer(
    made: list[tuple[Problem, PracticeSolution]],
) -> None:
    flawed = [(p, s) for p, s in made if s.first_error is not None]
    lucky = [s for p, s in flawed if s.answer == p.answer]
    assert 0.06 < len(lucky) / len(flawed) < 0.16
    assert all("right all the same" in solution.explanation for solution in lucky)
    wrong = [s for p, s in flawed if s.answer != p.answer]
    assert not any("right all the same" in solution.explanation for solution in wrong)


def test_every_explanation_names_its_step(made: list[tuple[Problem, PracticeSolution]]) -> None:
    for _, solution in made:
        if solution.first_error is None:
            assert f"step {len(solution.steps)}" in solution.explanation
        else:
            assert solution.explanation.startswith(f"Step {solution.first_error + 1} is wrong: ")
            assert len(solution.explanation) > 40
