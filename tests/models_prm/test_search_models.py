"""Search with real samplers and a real scorer: steps one at a time, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from models_prm.__main__ import main
from models_prm.errors import SearchError
from models_prm.fakes import FakeSampler
from models_prm.interfaces import Proposal, StepProposer
from models_prm.sampling.local import LocalSampler
from models_prm.sampling.prompts import Example, prefix_prompt
from models_prm.sampling.proposer import SamplerProposer, open_at_end
from models_prm.sampling.server import Retry, ServerSampler
from models_prm.scoring import PrmScorer
from models_prm.search import BeamConfig, BestOfNConfig, MctsConfig, SearchProblem, SearchRecord, search
from models_prm.search.replay import replay
from tests.models_prm.fake_server import FakeServer
from tests.models_prm.prm_make import random_prm, write_lines
from tests.models_prm.sampling_make import qwen, save_model, tokenizer

P = ("What is 1 + 1?", ())


def writer(text: str, **changes: Any) -> SamplerProposer:
    """A proposer whose model has only this to say after the prompt."""
    start = prefix_prompt(*P, **({"examples": changes["examples"]} if "examples" in changes else {}))
    return SamplerProposer(FakeSampler(write=lambda r: text[len(r.prompt) - len(start) :]), **changes)


def test_a_step_ends_at_the_separator_and_a_solution_at_the_end_of_the_text() -> None:
    proposer = writer("one\ntwo")
    assert isinstance(proposer, StepProposer)
    assert proposer.propose([P], 2, 0) == [[Proposal("one", False, False, 4)] * 2]
    assert proposer.propose([(P[0], ("one",))], 1, 0) == [[Proposal("two", True, False, 4)]]


def test_a_step_cut_off_by_the_limit_is_truncated() -> None:
    [[proposal]] = writer("a long step\n", max_step_tokens=6).propose([P], 1, 0)
    assert proposal == Proposal("a long", False, True, 6)


def test_blank_lines_before_a_step_are_no_step() -> None:
    [[proposal]] = writer("\n\none\ntwo").propose([P], 1, 0)
    assert (proposal.text, proposal.finished, proposal.truncated) == ("one", False, False)
    assert proposal.tokens == 6


def test_no_step_ends_inside_display_math() -> None:
    text = "We see\n\\[\n1 + 1\n= 2\n\\]\nso 2."
    assert writer(text).propose([(P[0], ("We see",))], 1, 0)[0][0].text == "\\[\n1 + 1\n= 2\n\\]"
    assert open_at_end("\\begin{align}")
    assert open_at_end("```")
    assert not open_at_end("\\[ 1 \\]")
    assert not open_at_end("plain")


def test_nothing_more_to_say_is_an_empty_finished_step() -> None:
    [[proposal]] = writer("one").propose([(P[0], ("one",))], 1, 0)
    assert (proposal.text, proposal.finished) == ("", True)


def test_with_examples_a_next_problem_is_the_end() -> None:
    examples = (Example("q", ("c",)),)
    proposer = writer("one\n\nProblem:\nmore", examples=examples)
    [[proposal]] = proposer.propose([(P[0], ("one",))], 1, 0)
    assert (proposal.text, proposal.finished, proposal.truncated) == ("", True, False)


def test_other_splitters() -> None:
    [[proposal]] = writer("one\nstill one\n\ntwo", splitter="blank_line").propose([P], 1, 0)
    assert proposal.text == "one\nstill one"
    with pytest.raises(SearchError, match="separator"):
        writer("x", splitter="numbered")


def test_equal_prefixes_get_proposals_of_their_own_and_a_seed_repeats_them() -> None:
    proposer = SamplerProposer(LocalSampler(qwen(), tokenizer()), max_step_tokens=6)
    first = proposer.propose([P, P], 3, 7)
    assert first[0] != first[1]
    assert proposer.propose([P, P], 3, 7) == first
    assert proposer.propose([P, P], 3, 8) != first


def test_a_server_proposes_steps_too() -> None:
    def answer(body: dict[str, Any], index: int) -> dict[str, Any]:
        assert "stop" not in body
        return {"text": f"step {body['seed'] % 7}\nand more", "index": index, "finish_reason": "length"}

    with FakeServer(answer=answer) as server:
        proposer = SamplerProposer(ServerSampler(server.url, "m", retry=Retry(2, 0.01)))
        groups = proposer.propose([P, (P[0], ("a",))], 2, 0)
        assert {body["prompt"] for body in server.seen} == {prefix_prompt(*P), prefix_prompt(P[0], ("a",))}
    assert all(p.text.startswith("step") and not p.finished and not p.truncated for g in groups for p in g)


@pytest.mark.parametrize(
    "config",
    [
        BestOfNConfig(n=4, max_depth=4),
        BeamConfig(n=4, m=2, max_depth=4),
        MctsConfig(simulations=4, m=3, max_depth=4, rollouts=1),
    ],
)
def test_methods_run_on_real_models_and_replay(config: Any) -> None:
    proposer = SamplerProposer(LocalSampler(qwen(seed=3, peaked=0.25), tokenizer()), max_step_tokens=8)
    scorer = PrmScorer(random_prm())
    problem = SearchProblem("k", "Ada has 3 pens.")
    record = search(problem, proposer, scorer, config)
    assert record.usage.generated_tokens > 0
    assert not record.usage.prm_tokens_estimated or not record.usage.scored_paths
    assert replay(SearchRecord.from_json(json.loads(record.dumps()))).dumps() == record.dumps()
    again = search(problem, proposer, scorer, config)
    assert again.steps() == record.steps()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "generator", seed=3, peaked=0.25)
    random_prm().save(tmp_path / "prm")
    for name, answers in (("one", ["3", "4"]), ("two", ["77", None])):
        lines = [{"problem": f"Ada has {i} pens.", "answer": a} for i, a in enumerate(answers)]
        write_lines(tmp_path / f"{name}.jsonl", lines)
    return tmp_path


def command(folder: Path, problems: str, output: str, *more: str) -> int:
    return main(
        [
            *("search", str(folder / problems), "--model", str(folder / "generator")),
            *("--scorer", str(folder / "prm"), "--max-step-tokens", "6", "--output", str(folder / output)),
            *("--method", "beam", "--set", "n=4", "m=2", "max_depth=3", *more),
        ]
    )


def test_the_record_is_the_same_whatever_the_answer_key_says(folder: Path) -> None:
    """No ground truth inside any search: only the answers differ between the two files."""
    assert command(folder, "one.jsonl", "a.jsonl") == 0
    assert command(folder, "two.jsonl", "b.jsonl") == 0
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()


def texts(lines: bytes) -> list[list[tuple[str, str]]]:
    """What was proposed in each record, and what became of it."""
    return [[(n["text"], n["fate"]) for n in json.loads(line)["nodes"]] for line in lines.splitlines()]


def test_the_command_goes_on_and_draws(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = folder / "pictures"
    assert command(folder, "one.jsonl", "a.jsonl", "--pictures", str(pictures)) == 0
    whole = (folder / "a.jsonl").read_bytes()
    (folder / "a.jsonl").write_bytes(whole[: len(whole) - 40])
    assert command(folder, "one.jsonl", "a.jsonl") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["added"] == 1
    # Rounding may differ where another number of problems was in work; what was written may not.
    assert texts((folder / "a.jsonl").read_bytes()) == texts(whole)
    drawn = sorted(pictures.glob("*.svg"))
    assert len(drawn) == 2
    assert ElementTree.parse(drawn[0]).getroot().tag.endswith("svg")  # noqa: S314 - our own file
    record = SearchRecord.from_json(json.loads(whole.splitlines()[0]))
    assert replay(record).dumps() == record.dumps()
    assert command(folder, "one.jsonl", "a.jsonl", "--seed", "5") == 1
    assert "seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--method", "astar"], "best_of_n"),
        (["--set", "k=3"], "known are"),
        (["--set", "n=many"], "int"),
        (["--set", "dvts=perhaps"], "bool"),
        (["--splitter", "given"], "separator"),
    ],
)
def test_the_command_names_what_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], word: str
) -> None:
    assert command(folder, "one.jsonl", "c.jsonl", *more) == 1
    error = capsys.readouterr().err
    assert word in error
    assert len(error.strip().splitlines()) == 1
