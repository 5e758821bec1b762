"""The pool, the gold questions, the oracle and the files of practice content."""

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from models_prm.practice import (
    CATALOGUE,
    Oracle,
    PracticeSolution,
    Problem,
    make_gold,
    make_pool,
    make_problems,
    write_jsonl,
)
from models_prm.practice.solutions import normal_text, run
from models_prm.practice.template import TEMPLATES
from tests.models_prm.test_practice_calculator import MATH

SEED = 7
TOPICS = {
    "arithmetic",
    "averages",
    "fractions",
    "linear equations",
    "measuring",
    "percent",
    "quadratic equations",
}
ANSWER = r"-?(?:\d+(?:\.\d+)?|\\frac\{\d+\}\{\d+\})"


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    return make_problems(200, SEED)


@pytest.fixture(scope="module")
def pool(problems: list[Problem]) -> list[PracticeSolution]:
    return make_pool(problems, 10, SEED)


@pytest.fixture(scope="module")
def gold() -> list[tuple[Problem, PracticeSolution]]:
    return make_gold(80, SEED)


def test_the_pool_has_the_size_asked_for(problems: list[Problem], pool: list[PracticeSolution]) -> None:
    assert len({problem.text for problem in problems}) == len({p.key for p in problems}) == 200
    assert Counter(solution.problem_key for solution in pool) == {p.key: 10 for p in problems}
    assert all([s.sample_index for s in pool[i : i + 10]] == list(range(10)) for i in range(0, 2000, 10))


def test_all_topics_levels_and_templates_appear(problems: list[Problem]) -> None:
    assert {problem.topic for problem in problems} == TOPICS
    assert {problem.level for problem in problems} == {1, 2, 3, 4, 5}
    assert {problem.key.partition(".")[0] for problem in problems} == set(TEMPLATES)


@pytest.mark.parametrize("seed", [7, 8])
def test_every_mistake_of_the_catalogue_appears(seed: int) -> None:
    made = Counter(s.mistake for s in make_pool(make_problems(200, seed), 10, seed) if s.mistake)
    assert len(CATALOGUE) >= 20
    assert set(made) == set(CATALOGUE)


def test_solutions_of_one_problem_differ(pool: list[PracticeSolution]) -> None:
    by_problem: dict[str, set[str]] = {}
    for solution in pool:
        by_problem.setdefault(solution.problem_key, set()).add(normal_text(solution.steps))
    assert min(len(texts) for texts in by_problem.values()) >= 9


def test_equal_seeds_make_equal_content_and_other_seeds_other_content(
    problems: list[Problem], pool: list[PracticeSolution], gold: list[tuple[Problem, PracticeSolution]]
) -> None:
    assert make_problems(200, SEED) == problems
    assert make_pool(problems, 10, SEED) == pool
    assert make_gold(80, SEED) == gold
    assert len({p.text for p in problems} & {p.text for p in make_problems(200, SEED + 1)}) < 20


def test_a_smaller_pool_is_a_part_of_a_larger_one(
    problems: list[Problem], pool: list[PracticeSolution]
) -> None:
    assert make_problems(30, SEED) == problems[:30]
    assert make_pool(problems[:3], 10, SEED) == pool[:30]


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_hash_randomisation_changes_nothing(
    hash_seed: str, tmp_path: Path, problems: list[Problem], pool: list[PracticeSolution]
) -> None:
    code = "import sys; from models_prm.practice.__main__ import main; main()"
    command = [sys.executable, "-c", code, str(tmp_path / "other"), "--seed", str(SEED), "--problems", "40"]
    root = Path(__file__).resolve().parents[2]
    subprocess.run(command, check=True, cwd=root, env={"PYTHONHASHSEED": hash_seed}, capture_output=True)
    write_jsonl(tmp_path / "here", SEED, problems=40)
    for name in ("problems.jsonl", "pool.jsonl", "gold.jsonl"):
        digests = {hashlib.sha256((tmp_path / x / name).read_bytes()).digest() for x in ("other", "here")}
        assert len(digests) == 1, name


def test_the_truth_of_the_steps_is_told_up_to_the_first_error(pool: list[PracticeSolution]) -> None:
    for solution in pool:
        assert len(solution.ratings) == len(solution.steps)
        end = solution.first_error
        if end is None:
            assert solution.mistake is None
            assert set(solution.ratings) <= {0, 1}
            assert len(solution.accepted) == len(solution.steps)
        else:
            assert solution.mistake in CATALOGUE
            assert set(solution.ratings[:end]) <= {0, 1}
            assert solution.ratings[end] == -1
            assert set(solution.ratings[end + 1 :]) <= {None}
            assert len(solution.accepted) == end + 1
            assert solution.accepted[end] == (-1,)
        for rating, accepted in zip(solution.ratings, solution.accepted, strict=False):
            assert rating in accepted
            assert rating != 0 or accepted == (0, 1)


def test_solutions_have_three_to_nine_steps_and_end_in_the_answer(pool: list[PracticeSolution]) -> None:
    for solution in pool:
        assert 3 <= len(solution.steps) <= 9
        assert solution.steps[-1].endswith(f"\n\n# Answer\n\n{solution.answer}")
        assert not any("\n" in step for step in solution.steps[:-1])
        assert all(step == step.strip() and "  " not in step for step in solution.steps)
        assert re.fullmatch(rf"{ANSWER}(?:, {ANSWER})*", solution.answer), solution.answer


def test_harder_problems_are_solved_less_often(problems: list[Problem], pool: list[PracticeSolution]) -> None:
    right: dict[int, list[bool]] = {}
    for i, solution in enumerate(pool):
        problem = problems[i // 10]
        right.setdefault(problem.level, []).append(solution.answer == problem.answer)
    share = {level: sum(found) / len(found) for level, found in sorted(right.items())}
    assert 0.7 < share[1] < 0.9
    assert 0.2 < share[5] < 0.4
    assert share[1] > share[3] > share[5], share


def test_neutral_steps_are_rare_but_present(pool: list[PracticeSolution]) -> None:
    assert 0.1 < sum(0 in solution.ratings for solution in pool) / len(pool) < 0.2


def test_the_first_error_is_where_the_text_departs_from_the_right_derivation() -> None:
    """A slipped run shares all steps before its error with the clean run, and no other place does."""
    compared = 0
    for name in sorted(TEMPLATES):
        for k in range(8):
            instance = TEMPLATES[name].draw(Random(f"{name}{k}"))
            clean = run(instance, f"style {k}")
            assert clean is not None
            for place in range(len(clean.places)):
                slipped = run(instance, f"style {k}", slip_at=place)
                if slipped is None:
                    continue
                error = slipped.error
                assert error is not None, (name, clean.places[place])
                assert slipped.lines[:error] == clean.lines[:error], (name, clean.places[place])
                assert error >= len(clean.lines) or slipped.lines[error] != clean.lines[error], (name, place)
                compared += 1
    assert compared > 1_500


def test_gold_questions_share_no_problem_with_any_pool(gold: list[tuple[Problem, PracticeSolution]]) -> None:
    def plain(text: str) -> str:
        return "".join(letter for letter in text if letter.isalnum())

    golden = {plain(problem.text) for problem, _ in gold}
    assert len(golden) == 80
    for seed in range(5):
        assert golden.isdisjoint(plain(problem.text) for problem in make_problems(400, seed))


def test_gold_questions_mix_right_and_wrong_and_spread_the_mistakes(
    gold: list[tuple[Problem, PracticeSolution]],
) -> None:
    right = [s for _, s in gold if s.first_error is None]
    assert 15 <= len(right) <= 32
    mistakes = Counter(s.mistake for _, s in gold if s.mistake)
    assert len(mistakes) >= 25
    assert max(mistakes.values()) <= 6


def test_the_oracle_finds_every_solution_by_its_text(
    problems: list[Problem],
    pool: list[PracticeSolution],
    gold: list[tuple[Problem, PracticeSolution]],
) -> None:
    oracle = Oracle.for_seed(SEED)
    assert len(oracle) == 2080
    by_key = {problem.key: problem for problem in problems}
    for solution in pool:
        assert oracle.judge(by_key[solution.problem_key].text, solution.steps) == solution
    for problem, solution in gold:
        spaced = [step.replace(" ", "\n  ") for step in solution.steps]
        assert oracle.judge(f" {problem.text}\r\n", spaced) == solution


def test_the_oracle_knows_no_other_text(problems: list[Problem], pool: list[PracticeSolution]) -> None:
    oracle = Oracle([(problems[0], pool[0])])
    assert oracle.judge(problems[0].text, pool[0].steps) == pool[0]
    assert oracle.judge(problems[0].text, pool[0].steps[:-1]) is None
    assert oracle.judge(problems[0].text, ["".join(pool[0].steps)]) is None
    assert oracle.judge(problems[1].text, pool[0].steps) is None


def fenced(text: str) -> tuple[list[str], str]:
    """The mathematics of a text and the rest; fails where a fence is left over once prices are set aside."""
    without = re.sub(r"(?:^|(?<=[ (]))\$(?=\d+(?:\.\d+)?(?:[ ,;?)]|\.(?:\s|$)|$))", "", text)
    for candidate in (text, without):
        plain = MATH.sub("", candidate)
        inside = [found[1] or found[2] for found in MATH.finditer(candidate)]
        fences = re.search(r"(?<!\\)\$|\\\(|\\\)", plain)
        if not fences and not any(re.search(r"(?<![\\a-z])[a-z]{3,}", span) for span in inside):
            return inside, plain
    raise AssertionError(text)


def test_mathematics_is_fenced_and_braces_balance(
    problems: list[Problem], pool: list[PracticeSolution], gold: list[tuple[Problem, PracticeSolution]]
) -> None:
    texts = [problem.text for problem in problems]
    texts += [step for solution in pool for step in solution.steps]
    texts += [solution.explanation for solution in pool]
    texts += [text for p, s in gold for text in (p.text, s.explanation, *s.steps)]
    found = 0
    for text in texts:
        inside, outside = fenced(text)
        for span in inside:
            assert span.count("{") == span.count("}"), text
            assert span.count("(") == span.count(")"), text
            found += 1
        assert r"\frac" not in outside.split("# Answer")[0], text
        assert "\N{CURRENCY SIGN}" not in text
    assert found > 5_000


def test_prices_are_written_in_every_way_that_a_delimiter_parser_must_stand(
    problems: list[Problem], pool: list[PracticeSolution]
) -> None:
    texts = [problem.text for problem in problems]
    steps = [step for solution in pool for step in solution.steps]
    assert any(re.search(r"(?<!\\)\$\d+ [a-z].*(?<!\\)\$\d+", text) for text in texts)
    assert any(re.search(r"(?<![\\$])\\\$\d+", text) for text in texts)
    assert any(re.search(r"\$\\\$\d+\$", text) for text in texts)
    assert any(re.search(r"(?:^| )\$\d+\.$", step) for step in steps)
    assert any(r"\times \$" in step for step in steps)
    assert any(r"\(" in step for step in steps)


def test_the_files_hold_what_was_made(
    tmp_path: Path,
    problems: list[Problem],
    pool: list[PracticeSolution],
    gold: list[tuple[Problem, PracticeSolution]],
) -> None:
    counts = write_jsonl(tmp_path / "new" / "folder", SEED)
    assert counts == {"problems.jsonl": 200, "pool.jsonl": 2000, "gold.jsonl": 80}
    rows = {
        name: [
            json.loads(line) for line in (tmp_path / "new" / "folder" / name).read_text("utf-8").splitlines()
        ]
        for name in counts
    }
    assert [row["problem"] for row in rows["problems.jsonl"]] == [problem.text for problem in problems]
    assert all(rf"\boxed{{{row['answer']}}}" in row["solution"] for row in rows["problems.jsonl"])
    assert len({row["unique_id"] for row in rows["problems.jsonl"]}) == 200
    assert [tuple(row["steps"]) for row in rows["pool.jsonl"]] == [solution.steps for solution in pool]
    assert {row["generator"] for row in rows["pool.jsonl"]} == {"practice"}
    for row, (problem, solution) in zip(rows["gold.jsonl"], gold, strict=True):
        assert row["problem"] == problem.text
        assert row["first_error"] == solution.first_error
        assert [tuple(ratings) for ratings in row["accepted"]] == list(solution.accepted)
        assert row["explanation"] == solution.explanation
