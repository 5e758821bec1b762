"""Many problems searched together leave the records that each would leave alone."""

from __future__ import annotations

import threading

import pytest

from models_prm.search import BeamConfig, SearchConfig, SearchProblem
from models_prm.search.many import search_many
from tests.models_prm.search_make import PROBLEM, rambler, scorer
from tests.models_prm.test_search import every_method, run


@every_method
@pytest.mark.parametrize("together", [1, 3, 8])
def test_searching_many_problems_together_leaves_the_records_of_each_alone(
    config: SearchConfig, together: int
) -> None:
    problems = [SearchProblem(f"p{i}", PROBLEM.text) for i in range(6)]
    records = list(search_many(problems, rambler(), scorer(), config, together=together))
    assert [r.dumps() for r in records] == [run(rambler(), config, p).dumps() for p in problems]


def test_the_questions_of_many_searches_go_to_the_scorer_in_common_batches() -> None:
    problems = [SearchProblem(f"p{i}", PROBLEM.text) for i in range(4)]
    sizes: list[int] = []
    judge = scorer()
    ask = judge.score
    judge.score = lambda items, **kwargs: sizes.append(len(list(items))) or ask(items, **kwargs)  # type: ignore[method-assign,func-returns-value]
    list(search_many(problems, rambler(), judge, BeamConfig(n=4, m=2), together=4))
    assert sizes[0] > 4
    assert len(sizes) < 4 * 3


@pytest.mark.parametrize("broken", ["proposer", "scorer"])
def test_an_error_in_a_model_ends_all_searches_with_it(broken: str) -> None:
    problems = [SearchProblem(f"p{i}", PROBLEM.text) for i in range(5)]
    proposer, judge = rambler(), scorer()
    if broken == "scorer":
        judge.fail_at = 2
    else:
        proposer.write = lambda p, s, k, seed: [][k]
    with pytest.raises((RuntimeError, IndexError)):
        list(search_many(problems, proposer, judge, BeamConfig(n=4, m=2), together=2))


def test_who_reads_no_further_leaves_no_thread_behind() -> None:
    problems = (SearchProblem(f"p{i}", PROBLEM.text) for i in range(10**6))
    stream = search_many(problems, rambler(), scorer(), BeamConfig(n=4, m=2), together=3)
    assert next(stream).problem.key == "p0"
    stream.close()  # type: ignore[attr-defined]
    assert not [t for t in threading.enumerate() if t.name.startswith("search")]
