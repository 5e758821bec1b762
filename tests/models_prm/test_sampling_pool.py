"""Pool files: one line per (problem, sample index), whatever happens in between."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from models_prm.__main__ import main
from models_prm.errors import Cancelled, DataError
from models_prm.evaluation.best_of_n import load_pool
from models_prm.fakes import FakeSampler
from models_prm.sampling.pool import PoolConfig, load_problems, write_pool
from models_prm.sampling.prompts import Example, build_prompt, load_examples, prefix_prompt
from tests.models_prm.fake_server import FakeServer
from tests.models_prm.prm_make import write_lines
from tests.models_prm.sampling_make import save_model

PROBLEMS: list[dict[str, Any]] = [
    {"problem": "What is 1 + 1?", "answer": "2", "unique_id": "one", "level": 1, "subject": "sums"},
    {"problem": "What is 2 + 2?", "answer": "4"},
    {"problem": "What is 2 + 2?", "answer": "four"},
]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def places(path: Path) -> list[tuple[str, int]]:
    return sorted((line["unique_id"], line["sample_index"]) for line in lines_of(path))


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "problems.jsonl", PROBLEMS)


def test_a_prompt_is_the_stated_template() -> None:
    shown = [Example("What is 1 + 1?", ("1 + 1 = 2", "# Answer", "2"))]
    assert build_prompt("P? ", shown) == (
        "Problem:\nWhat is 1 + 1?\n\nSolution:\n1 + 1 = 2\n# Answer\n2\n\nProblem:\nP?\n\nSolution:\n"
    )
    assert build_prompt("P?") == "Problem:\nP?\n\nSolution:\n"
    assert prefix_prompt("P?", ("a", "b")) == "Problem:\nP?\n\nSolution:\na\nb\n"
    assert prefix_prompt("P?", ()) == build_prompt("P?")


def test_examples_come_with_steps_or_a_solution(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "few.jsonl", [{"problem": "p", "solution": "a\n\nb"}, {"problem": "q", "steps": ["c"]}]
    )
    assert load_examples(path) == [Example("p", ("a", "b")), Example("q", ("c",))]
    bad = write_lines(tmp_path / "bad.jsonl", [{"problem": "p"}])
    with pytest.raises(DataError, match="line 1"):
        load_examples(bad)


def test_a_line_has_what_the_other_commands_read(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool.jsonl"
    texts = {0: "1 + 1 = 2\n\nSo it is \\boxed{2}", 1: "It is \\boxed{3}" + "." * 40}
    sampler = FakeSampler(write=lambda r: texts[r.index])
    write_pool(out, load_problems(problems), sampler, PoolConfig(n=2, max_tokens=45, temperature=0.5))
    first, second = lines_of(out)[:2]
    assert first["steps"] == ["1 + 1 = 2", "So it is \\boxed{2}"]
    assert (first["answer"], first["finish"], first["is_correct"]) == ("2", "stop", None)
    assert (second["answer"], second["finish"]) == (None, "length")
    assert (first["ground_truth_answer"], first["level"], first["subject"]) == ("2", 1, "sums")
    assert (first["splitter"], first["temperature"], first["generator"]) == ("newline", 0.5, "fake")
    assert [len(p.correct) for p in load_pool(out)] == [2, 2, 2]


def test_b10_problems_with_the_same_text_keep_their_own_samples(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool.jsonl"
    write_pool(out, load_problems(problems), FakeSampler(), PoolConfig(n=3))
    assert len(set(places(out))) == 9
    truths = {line["unique_id"]: line["ground_truth_answer"] for line in lines_of(out)}
    assert sorted(truths.values()) == ["2", "4", "four"]
    assert len({line["seed"] for line in lines_of(out)}) == 9


def test_a_crash_doubles_nothing_and_loses_nothing(problems: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "pool.jsonl", tmp_path / "whole.jsonl"
    config = PoolConfig(n=4)
    write_pool(whole, load_problems(problems), FakeSampler(), config)
    with pytest.raises(RuntimeError):
        write_pool(out, load_problems(problems), FakeSampler(fail_at=5), config)
    with out.open("ab") as file:
        file.write(b'{"problem": "half a li')
    again = FakeSampler()
    result = write_pool(out, load_problems(problems), again, config)
    assert (result.samples, result.added, len(again.seen)) == (12, 7, 7)
    assert sorted(out.read_text().splitlines()) == sorted(whole.read_text().splitlines())
    assert write_pool(out, load_problems(problems), again, config).added == 0


def test_a_pool_grows_and_the_samples_there_stay(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool.jsonl"
    write_pool(out, load_problems(problems), FakeSampler(), PoolConfig(n=2))
    before = out.read_text()
    assert write_pool(out, load_problems(problems), FakeSampler(), PoolConfig(n=3)).added == 3
    assert out.read_text().startswith(before)


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"temperature": 0.5}, "temperature"), ({"seed": 1}, "seed"), ({"max_tokens": 3}, "max_tokens")],
)
def test_other_settings_do_not_mix(problems: Path, tmp_path: Path, changes: Any, word: str) -> None:
    out = tmp_path / "pool.jsonl"
    write_pool(out, load_problems(problems), FakeSampler(), PoolConfig(n=2))
    with pytest.raises(DataError, match=word):
        write_pool(out, load_problems(problems), FakeSampler(), PoolConfig(n=2, **changes))
    with pytest.raises(DataError, match="model"):
        write_pool(out, load_problems(problems), FakeSampler(name="other"), PoolConfig(n=2))


def test_a_file_that_is_being_written_is_left_alone(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool.jsonl"

    class Nosy(FakeSampler):
        def sample(self, requests: Any, **kwargs: Any) -> Any:
            with pytest.raises(DataError, match="another process"):
                write_pool(out, load_problems(problems), FakeSampler(name="nosy"), PoolConfig(n=1))
            return super().sample(requests, **kwargs)

    assert write_pool(out, load_problems(problems), Nosy(name="nosy"), PoolConfig(n=1)).added == 3


def test_a_stop_request_leaves_the_finished_samples(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool.jsonl"
    with pytest.raises(Cancelled):
        write_pool(out, load_problems(problems), FakeSampler(), PoolConfig(n=4), should_stop=lambda: True)
    assert len(lines_of(out)) == 1


def test_few_shot_samples_end_where_the_next_problem_begins(problems: Path, tmp_path: Path) -> None:
    out = tmp_path / "pool.jsonl"
    sampler = FakeSampler(write=lambda r: "1 + 1 = 2\n\nProblem:\nAnother one?")
    config = PoolConfig(n=1, examples=(Example("q", ("c",)),))
    write_pool(out, load_problems(problems), sampler, config)
    assert lines_of(out)[0]["steps"] == ["1 + 1 = 2"]
    assert lines_of(out)[0]["finish"] == "stop"
    assert sampler.seen[0].prompt.startswith("Problem:\nq\n\nSolution:\nc\n\nProblem:\n")


def test_the_command_killed_at_any_moment_goes_on(problems: Path, tmp_path: Path) -> None:
    """kill -9 in the middle of sampling from a server; the same command then fills the pool."""
    out = tmp_path / "pool.jsonl"
    with FakeServer(delay=lambda body: 0.02) as server:
        command = [
            *(sys.executable, "-m", "models_prm", "sample", str(problems), "--output", str(out)),
            *("--model", "tiny", "--server", server.url, "-n", "20", "--concurrency", "2"),
        ]
        root = Path(__file__).parents[2]
        process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ends = time.monotonic() + 60
        while not (out.exists() and out.read_bytes().count(b"\n") >= 7):
            assert process.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = len(places(out))
        assert before < 60
        time.sleep(0.5)  # what the killed process had sent may still be on its way to the server
        asked = len(server.seen)
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        assert len(server.seen) - asked == 60 - before
    assert json.loads(done.stdout)["samples"] == 60
    assert len(places(out)) == len(set(places(out))) == 60


def test_the_command_samples_from_a_model_directory(
    problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pool.jsonl"
    model = save_model(tmp_path / "generator")
    arguments = [
        "sample",
        str(problems),
        "--model",
        str(model),
        "-n",
        "2",
        "--max-tokens",
        "8",
        "--output",
        str(out),
    ]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == {"pool": str(out), "samples": 6, "added": 6}
    first = out.read_text()
    out.unlink()
    assert main(arguments) == 0
    assert sorted(out.read_text().splitlines()) == sorted(first.splitlines())


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--splitter", "none"], "newline"),
        (["-n", "0"], "at least 1"),
        (["--server", "nowhere"], "http://"),
        (["--few-shot", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_the_command_names_what_is_wrong(
    problems: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    given = ["sample", str(problems), "--model", "m", "--output", str(tmp_path / "o"), *arguments]
    assert main(given) in (1, 2)
    error = capsys.readouterr().err
    assert word in error
    assert len(error.strip().splitlines()) == 1
