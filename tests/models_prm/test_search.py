"""The rules of search (prm-ecosystem 1.11, 1.12): what may win, what is kept, what is counted."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from models_prm.errors import SearchError
from models_prm.fakes import FakeProposer
from models_prm.interfaces import StepProposer
from models_prm.search import (
    METHODS,
    BeamConfig,
    BestOfNConfig,
    MctsConfig,
    SearchConfig,
    SearchProblem,
    SearchRecord,
    search,
)
from models_prm.search.picture import tree_svg
from models_prm.search.replay import replay
from tests.models_prm.search_make import PROBLEM, cut, end, rambler, scorer, step, table

EVERY: list[SearchConfig] = [
    BestOfNConfig(n=6),
    BeamConfig(n=6, m=2),
    BeamConfig(n=6, m=2, dvts=True),
    MctsConfig(simulations=12, m=3),
    MctsConfig(simulations=9, m=2, rollouts=2, backup="max", choice="visits"),
    MctsConfig(simulations=9, m=2, choice="value"),
]
NAMES = ["best_of_n", "beam", "dvts", "mcts", "mcts rollouts", "mcts value"]
every_method = pytest.mark.parametrize("config", EVERY, ids=NAMES)


def run(proposer: StepProposer, config: SearchConfig, problem: SearchProblem = PROBLEM) -> SearchRecord:
    return search(problem, proposer, scorer(), config)


def fates(record: SearchRecord) -> dict[str, str]:
    return {" / ".join(record.steps(n.id)): n.fate for n in record.nodes if n.id and not n.rollout}


@every_method
def test_the_winner_is_finished_scored_and_the_best_or_there_is_none(config: SearchConfig) -> None:
    for seed in range(6):
        record = run(rambler(), type(config)(**{**vars(config), "seed": seed}))
        finished = record.finished()
        assert (record.chosen is None) == (not finished)
        if record.chosen is not None and getattr(config, "choice", "leaf") == "leaf":
            assert record.chosen == finished[0]
        for node in record.nodes:
            assert not (node.truncated and node.fate in ("finished", "chosen", "kept"))
            assert node.fate != "open"
        assert [n.fate for n in record.nodes].count("chosen") == (record.chosen is not None)


@every_method
def test_the_same_seed_gives_the_same_record_and_another_one_another(config: SearchConfig) -> None:
    first, again = run(rambler(), config), run(rambler(), config)
    assert first.dumps() == again.dumps()
    other = run(rambler(), type(config)(**{**vars(config), "seed": 1}))
    assert other.dumps() != first.dumps()


@every_method
def test_two_problems_with_the_same_text_never_share_anything(config: SearchConfig) -> None:
    one, two = (run(rambler(), config, SearchProblem(key, PROBLEM.text)) for key in ("a", "b"))
    assert one.problem.text == two.problem.text
    assert not {c.seed for c in one.calls} & {c.seed for c in two.calls}


@every_method
def test_a_record_is_plain_json_and_replays_without_its_models(config: SearchConfig) -> None:
    for seed in range(4):
        record = run(rambler(), type(config)(**{**vars(config), "seed": seed}))
        read = SearchRecord.from_json(json.loads(record.dumps()))
        assert read == record
        assert replay(read).dumps() == record.dumps()


def test_a_changed_record_does_not_replay() -> None:
    record = run(rambler(), EVERY[1])
    record.calls.pop()
    with pytest.raises(SearchError, match="does not hold"):
        replay(record)
    with pytest.raises(SearchError, match="format"):
        SearchRecord.from_json({**record.as_json(), "format": 99})
    with pytest.raises(SearchError, match="damaged"):
        SearchRecord.from_json({**record.as_json(), "nodes": [{"no": 1}]})


@every_method
def test_nothing_that_finishes_is_no_winner_and_no_error(config: SearchConfig) -> None:
    """No division by zero, no copies, no unfinished winner: all steps are cut off by a limit."""
    record = run(table({(): [cut("half a st")]}), config)
    assert record.chosen is None
    assert record.steps() == []
    assert set(fates(record).values()) == {"unfinished"}


@every_method
def test_endless_solutions_stop_at_the_depth_limit_and_cannot_win(config: SearchConfig) -> None:
    proposer = FakeProposer(write=lambda p, steps, k, seed: step(f"step {len(steps)}.{k} 0.0"))
    record = run(proposer, type(config)(**{**vars(config), "max_depth": 3}))
    assert record.chosen is None
    assert max(n.depth for n in record.nodes) == 3
    assert all(n.fate != "finished" for n in record.nodes)


@every_method
def test_a_solution_without_steps_has_no_score_and_cannot_win(config: SearchConfig) -> None:
    record = run(table({(): [end(""), end("")]}), config)
    assert record.chosen is None


@every_method
@pytest.mark.parametrize("limit", ["max_generated_tokens", "max_prm_tokens"])
def test_a_token_budget_ends_the_search_after_the_round_that_passes_it(config: Any, limit: str) -> None:
    proposer = FakeProposer(write=lambda p, s, k, seed: step(f"a{k} 0.1") if len(s) < 8 else end(f"z{k}"))
    free = run(proposer, config)
    used = {"max_generated_tokens": free.usage.generated_tokens, "max_prm_tokens": free.usage.prm_tokens}
    bound = used[limit] // 3
    if isinstance(config, BestOfNConfig) and limit == "max_prm_tokens":
        return  # scored once, at the end: there is no round to stop before
    record = run(proposer, type(config)(**{**vars(config), limit: bound}))
    spent = {"max_generated_tokens": record.usage.generated_tokens, "max_prm_tokens": record.usage.prm_tokens}
    assert record.stopped == "budget"
    assert bound <= spent[limit] < used[limit]


@every_method
def test_costs_are_counted(config: SearchConfig) -> None:
    record = run(rambler(), config)
    proposals = [p for call in record.calls for group in call.proposals for p in group]
    assert record.usage.generated_tokens == sum(p.tokens for p in proposals)
    assert record.usage.proposals == len(proposals)
    assert record.usage.scored_paths > 0
    assert record.usage.prm_tokens_estimated
    assert sum(n.count for n in record.nodes[1:]) == len(proposals)


@every_method
def test_no_path_is_scored_twice(config: SearchConfig) -> None:
    judge = scorer()
    search(PROBLEM, rambler(), judge, config)
    paths = [item.steps for item in judge.seen]
    assert len(paths) == len(set(paths))


@every_method
def test_the_picture_shows_every_node_and_is_sound_xml(config: SearchConfig) -> None:
    problem = SearchProblem("p<1>", 'Is 1 < 2 & "3" > 2? \x00\ud800')
    record = search(problem, rambler(), scorer(), config)
    root = ElementTree.fromstring(tree_svg(record))  # noqa: S314 - our own text
    groups = root.findall("{http://www.w3.org/2000/svg}g")
    assert len(groups) == len(record.nodes)
    numbers = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {f"{n.value:.2f}" for n in record.nodes if n.value is not None} <= numbers
    squares = [g for g in groups if g.find("{http://www.w3.org/2000/svg}rect") is not None]
    assert len(squares) == sum(n.finished for n in record.nodes)


def test_b11_of_a_subtree_one_proposal_ended_and_the_other_one_goes_on() -> None:
    """prm-ecosystem B11: one subtree, M = 2; never both, never the cut one as a result."""
    ended_better = table({(): [end("done 0.1"), step("on 0.4")]})
    record = run(ended_better, BeamConfig(n=2, m=2, dvts=True))
    assert fates(record) == {"done 0.1": "chosen", "on 0.4": "pruned"}
    assert record.finished() == [record.chosen]

    going_on_better = table(
        {(): [end("done 0.4"), step("on 0.1")], ("on 0.1",): [end("well done 0.1"), step("and on 0.9")]}
    )
    record = run(going_on_better, BeamConfig(n=2, m=2, dvts=True))
    assert record.steps() == ["on 0.1", "well done 0.1"]
    assert len(record.finished()) == 2

    cut_off = table({(): [end("done 0.4"), cut("on 0.0")]})
    record = run(cut_off, BeamConfig(n=2, m=2, dvts=True))
    assert record.steps() == ["done 0.4"]
    assert fates(record)["on 0.0"] == "unfinished"


def test_finished_beams_keep_competing_with_live_ones() -> None:
    """A beam that ended early stays in the race and wins against a later, worse one."""
    world = table(
        {
            (): [end("early 0.2"), step("live 0.1")],
            ("live 0.1",): [step("worse 0.5"), step("worst 0.6")],
        }
    )
    record = run(world, BeamConfig(n=4, m=2))
    assert record.steps() == ["early 0.2"]
    # Two places: one is held by the finished beam, so only one live beam goes on at a time.
    assert [len(c.parents) for c in record.calls] == [1, 1, 1][: len(record.calls)]
    assert fates(record)["live 0.1 / worst 0.6"] == "pruned"


def test_a_finished_beam_that_lost_its_place_may_still_win_in_the_end() -> None:
    world = table(
        {
            (): [end("early 0.2"), step("live 0.1"), step("other 0.15")],
            ("live 0.1",): [end("late 0.9"), end("late 0.8")],
            ("other 0.15",): [end("late 0.9"), end("late 0.8")],
        }
    )
    record = run(world, BeamConfig(n=6, m=3))
    assert record.steps() == ["early 0.2"]


def test_what_is_kept_is_what_was_scored() -> None:
    record = run(rambler(depth=5), BeamConfig(n=6, m=2))
    scored = {n.id for n in record.nodes if n.value is not None}
    for round_ in record.rounds:
        assert set(round_.kept) <= scored
        values = [record.nodes[n].value for n in round_.kept]
        assert values == sorted(values, reverse=True)  # type: ignore[type-var]


def test_duplicates_are_merged_with_their_number_and_scored_once() -> None:
    world = table(
        {
            (): [step("same 0.1"), step("same 0.1"), step("else 0.2")],
            ("same 0.1",): [end("x")],
            ("else 0.2",): [end("y")],
        }
    )
    judge = scorer()
    record = search(PROBLEM, world, judge, BeamConfig(n=3, m=1))
    counts = {n.text: n.count for n in record.nodes if n.depth == 1}
    assert counts == {"same 0.1": 2, "else 0.2": 1}
    assert [item.steps for item in judge.seen].count(("same 0.1",)) == 1
    best = run(world, BestOfNConfig(n=3))
    # Every one of the N asks with its own place in the list, here all with the first proposal.
    assert [(n.text, n.count) for n in best.nodes[1:]] == [("same 0.1", 3), ("x", 3)]


def test_a_finished_and_an_unfinished_step_of_equal_text_are_two() -> None:
    world = table({(): [end("so 0.1"), step("so 0.1")], ("so 0.1",): [end("it is 0.1")]})
    record = run(world, BeamConfig(n=2, m=1))
    assert [n.finished for n in record.nodes if n.text == "so 0.1"] == [True, False]


def test_the_beam_is_never_padded_with_copies() -> None:
    world = table({(): [step("only 0.1")], ("only 0.1",): [end("end 0.1")]})
    record = run(world, BeamConfig(n=8, m=2))
    assert len(record.finished()) == 1
    assert [len(c.parents) for c in record.calls] == [1, 1]


def test_subtrees_of_dvts_do_not_compete() -> None:
    """The second subtree sees only bad steps, and keeps one all the same."""
    calls: list[int] = []

    def write(problem: str, steps: tuple[str, ...], k: int, seed: int) -> Any:
        if steps:
            return end("fin 0.1")
        calls.append(k)
        return step(f"good{k} 0.1") if len(calls) <= 2 else step(f"bad{k} 0.8")

    record = run(FakeProposer(write=write), BeamConfig(n=4, m=2, dvts=True))
    assert {record.nodes[n].text[:3] for n in record.rounds[0].kept} == {"goo", "bad"}
    calls.clear()
    record = run(FakeProposer(write=write), BeamConfig(n=4, m=2))
    assert {record.nodes[n].text[:3] for n in record.rounds[0].kept} == {"goo"}


def test_best_of_n_takes_the_best_of_n_whole_solutions() -> None:
    scores = iter(["0.5", "0.2", "0.4", "0.3"])
    world = FakeProposer(write=lambda p, s, k, seed: end(f"answer {next(scores)}"))
    record = run(world, BestOfNConfig(n=4))
    assert record.steps() == ["answer 0.2"]
    assert record.nodes[record.chosen or 0].value == pytest.approx(0.8)


def test_best_of_n_does_not_score_what_did_not_finish() -> None:
    judge = scorer()
    kinds = iter([end("a 0.2"), cut("b 0.0"), end("c 0.3")])
    record = search(PROBLEM, FakeProposer(write=lambda *_: next(kinds)), judge, BestOfNConfig(n=3))
    assert sorted(item.steps for item in judge.seen) == [("a 0.2",), ("c 0.3",)]
    assert record.steps() == ["a 0.2"]


def test_finished_nodes_of_mcts_are_visited_again_and_never_expanded() -> None:
    world = table({(): [end("fin 0.05"), step("on 0.3")], ("on 0.3",): [step("deeper 0.9"), end("bad 0.9")]})
    proposer = world
    record = run(proposer, MctsConfig(simulations=20, m=2, max_depth=4, exploration=0.5))
    node = next(n for n in record.nodes if n.text == "fin 0.05")
    assert node.visits > 5
    assert all(n.parent != node.id for n in record.nodes)
    assert not any(prefix[1] == ("fin 0.05",) for prefix, _, _ in proposer.seen)
    assert record.chosen == node.id
    assert record.nodes[0].visits == len([r for r in record.rounds if r.value is not None])


def test_mcts_explores_more_with_a_larger_constant() -> None:
    world = table(
        {
            (): [step("a 0.1"), step("b 0.3")],
            ("a 0.1",): [end("x 0.1"), end("y 0.2")],
            ("b 0.3",): [end("x 0.1"), end("y 0.2")],
        }
    )
    share = []
    for constant in (0.0, 20.0):
        record = run(world, MctsConfig(simulations=40, m=2, exploration=constant))
        share.append(next(n for n in record.nodes if n.text == "b 0.3").visits)
    assert share[0] <= 1
    assert share[1] > 10


def test_priors_of_mcts_are_the_shares_of_the_proposals() -> None:
    world = table(
        {
            (): [step("a 0.2"), step("a 0.2"), step("a 0.2"), step("b 0.2")],
            ("a 0.2",): [end("x 0.2")],
            ("b 0.2",): [end("x 0.2")],
        }
    )
    record = run(world, MctsConfig(simulations=60, m=4, exploration=5.0))
    visits = {n.text: n.visits for n in record.nodes if n.depth == 1}
    assert visits["a 0.2"] / visits["b 0.2"] == pytest.approx(3, rel=0.25)


def test_rolled_out_solutions_may_win_but_are_no_children() -> None:
    world = table({(): [step("a 0.1")], ("a 0.1",): [end("x 0.1")]})
    record = run(world, MctsConfig(simulations=2, m=1, rollouts=1))
    rolled = [n for n in record.nodes if n.rollout]
    assert rolled
    assert all(n.visits == 0 for n in rolled)
    assert record.steps() == ["a 0.1", "x 0.1"]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (BestOfNConfig, {"n": 0}),
        (BeamConfig, {"n": 5, "m": 2}),
        (BeamConfig, {"n": 2, "m": 4}),
        (MctsConfig, {"simulations": 0}),
        (MctsConfig, {"backup": "median"}),
        (MctsConfig, {"choice": "truth"}),
        (BeamConfig, {"max_depth": 0}),
        (BeamConfig, {"score_method": "sum"}),
        (BeamConfig, {"max_prm_tokens": -1}),
    ],
)
def test_settings_check_themselves(kind: type[SearchConfig], values: dict[str, Any]) -> None:
    with pytest.raises(SearchError):
        kind(**values)


def test_settings_of_another_method_are_refused() -> None:
    for name, (_, method) in METHODS.items():
        others = [kind for other, (kind, _) in METHODS.items() if other != name]
        with pytest.raises(SearchError):
            method(PROBLEM, rambler(), scorer(), others[0]())
    with pytest.raises(SearchError, match="no method"):
        search(PROBLEM, rambler(), scorer(), SearchConfig())


def test_a_proposer_or_scorer_that_answers_too_little_is_named() -> None:
    class Lazy(FakeProposer):
        def propose(self, prefixes: Any, m: int, seed: int) -> Any:
            return super().propose(prefixes, m, seed)[:-1]

    with pytest.raises(SearchError, match="did not give 6 proposals"):
        run(Lazy(write=lambda *_: end("x")), BeamConfig(n=6, m=2))
    silent = scorer()
    silent.score = lambda items, **kwargs: iter(())  # type: ignore[method-assign]
    with pytest.raises(SearchError, match="one result per path"):
        search(PROBLEM, rambler(), silent, BeamConfig(n=6, m=2))
