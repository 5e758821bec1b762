"""Sampling into a pool file that a kill at any moment neither doubles nor thins out.

One JSON line per sample, appended as it comes. A later run with the same settings reads the file, cuts off a
half-written last line, and asks only for the (problem, sample index) pairs that are missing.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from models_prm.answers.extract import extract_answer
from models_prm.data import read_jsonl
from models_prm.errors import DataError
from models_prm.interfaces import Sampler
from models_prm.records import OnProgress, Progress, ShouldStop, problem_key
from models_prm.sampling.prompts import FEW_SHOT_STOPS, Example, build_prompt
from models_prm.sampling.records import Sample, SampleRequest, sample_seed
from models_prm.sampling.settings import check_settings
from models_prm.steps import split_steps

KEPT_FIELDS = ("subject", "level", "dataset", "split")
"""What a problem's line may say about it, copied to each of its samples."""


@dataclass(frozen=True)
class PoolProblem:
    """A problem to sample for; `key` is unique in its file, also where two problems have the same text."""

    key: str
    text: str
    truth: str | None = None
    about: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class PoolConfig:
    """What decides the samples, beside the model. `n`: samples per problem.

    A run goes on only with the settings it began with, but `n` may grow: the samples there are stay.
    """

    n: int
    max_tokens: int = 512
    temperature: float = 1.0
    seed: int = 0
    splitter: str = "newline"
    examples: tuple[Example, ...] = ()
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n < 1 or self.max_tokens < 1:
            raise DataError("the number of samples and max tokens must be at least 1")
        if self.temperature < 0:
            raise DataError("the temperature must not be negative")

    @property
    def stops(self) -> tuple[str, ...]:
        """The stop strings in force: a few-shot prompt adds the beginning of a next problem."""
        return (*self.stop, *(FEW_SHOT_STOPS if self.examples else ()))

    def as_json(self, model: str) -> dict[str, Any]:
        """What a resumed run must have in common with the first one."""
        plain = asdict(self)
        del plain["n"]
        examples = json.dumps(plain.pop("examples"), sort_keys=True)
        return {
            "model": model,
            **plain,
            "stop": list(self.stop),
            "examples": hashlib.sha256(examples.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        }


@dataclass(frozen=True)
class PoolResult:
    """How many samples the file holds for these problems, and how many of them this run added."""

    samples: int
    added: int


def load_problems(path: Path) -> list[PoolProblem]:
    """Problems of a JSONL file, in order: `problem` or `question`; `ground_truth_answer` or `answer`;
    `unique_id` or `id`. Raises DataError naming the line.
    """
    problems, seen = [], Counter[str]()
    for number, record in read_jsonl(path):
        text = record.get("problem", record.get("question"))
        if not isinstance(text, str) or not text.strip():
            raise DataError(f'{path}: line {number}: "problem" must be a text')
        base = str(record.get("unique_id") or record.get("id") or problem_key(text)[:16])
        seen[base] += 1
        key = base if seen[base] == 1 else f"{base}#{seen[base]}"
        truth = record.get("ground_truth_answer", record.get("answer"))
        about = tuple((name, record[name]) for name in KEPT_FIELDS if record.get(name) is not None)
        problems.append(PoolProblem(key, text, None if truth is None else str(truth), about))
    if not problems:
        raise DataError(f"{path}: no problems in the file")
    return problems


def missing_requests(
    problems: Iterable[PoolProblem], config: PoolConfig, have: set[tuple[str, int]]
) -> Iterator[SampleRequest]:
    """The samples that are not there yet, those of one problem after each other."""
    for problem in problems:
        prompt = build_prompt(problem.text, config.examples, config.splitter)
        for index in range(config.n):
            if (problem.key, index) not in have:
                seed = sample_seed(config.seed, problem.key, index)
                yield SampleRequest(problem.key, prompt, index, seed)


def pool_line(problem: PoolProblem, sample: Sample, config: PoolConfig) -> dict[str, Any]:
    """The line of a sample, as `score`, `grade` and `evaluate best-of-n` read it.

    An unfinished sample states no answer: what it seems to say may not be where it was going.
    """
    return {
        "problem": problem.text,
        "steps": split_steps(sample.text, config.splitter),
        "answer": extract_answer(sample.text) if sample.finish == "stop" else None,
        "is_correct": None,
        "ground_truth_answer": problem.truth,
        "unique_id": problem.key,
        "sample_index": sample.index,
        "finish": sample.finish,
        "splitter": config.splitter,
        "generator": sample.model,
        "temperature": config.temperature,
        "seed": sample.seed,
        "tokens": sample.tokens,
        "logprob": sample.logprob,
        **dict(problem.about),
    }


def write_pool(
    path: Path,
    problems: Sequence[PoolProblem],
    sampler: Sampler,
    config: PoolConfig,
    *,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> PoolResult:
    """Bring the pool file up to `config.n` samples for every problem; going on where it was left.

    Raises DataError if the file was begun with other settings or is being written by someone else, and
    whatever the sampler raises (Cancelled included): the file then holds all samples that were finished.
    """
    check_settings(path, config.as_json(sampler.name))
    by_key = {problem.key: problem for problem in problems}
    total = len(problems) * config.n
    with _opened(path) as file:
        have = _read_back(path, file)
        wanted = {(key, index) for key in by_key for index in range(config.n)}
        before = len(wanted & have)
        added = 0
        for sample in sampler.sample(
            missing_requests(problems, config, have),
            max_tokens=config.max_tokens,
            temperature=config.temperature,
            stop=config.stops,
            should_stop=should_stop,
        ):
            line = pool_line(by_key[sample.key], sample, config)
            file.write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
            file.flush()
            added += 1
            if on_progress is not None:
                on_progress(Progress("sample", before + added, total))
    return PoolResult(before + added, added)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, ours alone: two writers would double samples."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"{path} is being written by another process: wait for it to end") from None
        yield file


def _read_back(path: Path, file: BinaryIO) -> set[tuple[str, int]]:
    """(key, index) of the samples in the file; a last line without its newline is cut off."""
    file.seek(0)
    have: set[tuple[str, int]] = set()
    good = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        good += len(line)
        try:
            record = json.loads(line)
            place = str(record["unique_id"]), int(record["sample_index"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{path}: line {number} is no sample of ours ({error!r}): choose another output file"
            ) from error
        have.add(place)
    file.truncate(good)
    file.seek(0, 2)
    return have
