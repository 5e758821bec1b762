"""New solutions for a pool from a generator: sampled into a file that is gone on with, then imported.

The file is the truth while it grows: a killed run goes on from it, and importing it again adds only what the
pool does not hold yet. So the same request may be made, or its job run, any number of times.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from labeling import jobs
from labeling.errors import ImportRefused
from labeling.importing import ImportOptions, import_file
from labeling.jobs import JobFailure
from labeling.models import Job, Pool, Problem, Project, User
from models_prm.interfaces import Sampler
from models_prm.records import Progress
from models_prm.sampling.pool import PoolConfig, PoolProblem, write_pool

Told = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Request:
    """What is asked for. `generator`: a model directory, or a server's address with `model`, its name there.

    `n`: samples per problem from this generator with these settings; a larger one later adds the difference.
    `split`: whose problems a pool that is still empty begins with; another pool keeps to its own problems.
    """

    generator: str
    n: int
    model: str = ""
    split: str = "train"
    temperature: float = 1.0
    max_tokens: int = 512
    seed: int = 0

    @property
    def is_served(self) -> bool:
        return self.generator.startswith(("http://", "https://"))

    @property
    def config(self) -> PoolConfig:
        """The sampler's settings. Raises DataError for numbers that make no sense."""
        return PoolConfig(n=self.n, max_tokens=self.max_tokens, temperature=self.temperature, seed=self.seed)

    def digest(self) -> str:
        """Names the file: everything that decides a sample, so not how many there are."""
        decides = [self.generator, self.model, self.temperature, self.max_tokens, self.seed]
        return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:16]


def checked(asked: Request) -> Request:
    """The request with its generator found. Raises JobFailure with the cure."""
    if asked.n < 1 or asked.max_tokens < 1 or asked.temperature < 0:
        raise JobFailure(
            _("The numbers of samples and of tokens must be at least 1, the temperature not negative.")
        )
    if asked.is_served:
        if not asked.model:
            raise JobFailure(_("A server has many models."), _("Name the one to ask: --served-model."))
        return asked
    for folder in (Path(asked.generator), settings.HOME / "generators" / asked.generator):
        if (folder / "config.json").is_file():
            return Request(**{**vars(asked), "generator": str(folder.resolve())})
    raise JobFailure(
        _("There is no generator “%s”.") % asked.generator,
        _("Give the directory of a model (config.json, weights, tokenizer) or the address of a server."),
    )


def create_job(project: Project, pool: Pool, asked: Request, *, user: User | None = None) -> Job:
    """The row of the job that samples, for a command that runs it here."""
    return jobs.create("sample_solutions", _params(pool, asked), project=project, user=user)


def request_sampling(project: Project, pool: Pool, asked: Request, *, user: User | None = None) -> Job:
    """Queue the job that samples."""
    return jobs.enqueue("sample_solutions", _params(pool, asked), project=project, user=user)


def _params(pool: Pool, asked: Request) -> dict[str, Any]:
    return {"pool": pool.pk, **vars(checked(asked))}


def sample_into(
    pool: Pool,
    asked: Request,
    *,
    on_progress: Told,
    should_stop: Callable[[], bool],
    load: Callable[[Request], Sampler] | None = None,
    job: Job | None = None,
) -> dict[str, Any]:
    """Sample, import and grade. Counts: `samples` in the file, `sampled` now, `imported` now, `unfinished`.

    Raises JobFailure, PrmError (Cancelled when asked to stop) and JobCancelled; samples that were finished
    stay in the file in any case.
    """
    problems = _problems(pool, asked.split)
    path = samples_file(pool, asked)

    def tell(progress: Progress) -> None:
        on_progress(progress.done, progress.total, _("sampling"))

    sampler = (load or open_sampler)(asked)
    written = write_pool(path, problems, sampler, asked.config, on_progress=tell, should_stop=should_stop)
    counts, unfinished = _import(pool, path, sampler.name, job, on_progress)
    return {
        "pool": pool.pk,
        "samples": written.samples,
        "sampled": written.added,
        "imported": counts.get("solutions_new", 0),
        "unfinished": unfinished,
    }


def samples_file(pool: Pool, asked: Request) -> Path:
    """Where the samples of this pool, generator and settings are kept, below STEPMARK_HOME."""
    path: Path = settings.HOME / "samples" / f"{pool.pk}-{asked.digest()}.jsonl"
    return path


def open_sampler(asked: Request) -> Sampler:
    """The real sampler; torch is loaded here, in a worker or command, and only for local weights."""
    if asked.is_served:
        from models_prm.sampling.server import ServerSampler

        return ServerSampler(asked.generator, asked.model)
    from models_prm.sampling.local import LocalSampler

    return LocalSampler.load(asked.generator)


def _problems(pool: Pool, split: str) -> list[PoolProblem]:
    """The pool's own problems; for an empty pool those of the project. None that is held or bad."""
    usable = Problem.objects.filter(project=pool.project, status=Problem.Status.OK)
    own = usable.filter(solutions__pool=pool).distinct()
    chosen = own if own.exists() else usable.filter(split=split)
    rows = chosen.order_by("pk").values_list("pk", "text", "ground_truth_answer")
    found = [PoolProblem(str(pk), text, truth) for pk, text, truth in rows]
    if not found:
        raise JobFailure(
            _("There is no problem to sample for."), _("Import problems first: import_problems.")
        )
    return found


def _import(
    pool: Pool, path: Path, generator: str, job: Job | None, on_progress: Told
) -> tuple[dict[str, int], int]:
    """Import the file's samples that have a step. Equal ones are samples of their own."""
    unfinished = 0
    plain = path.with_suffix(".import.jsonl")
    try:
        with path.open(encoding="utf-8") as lines, plain.open("w", encoding="utf-8") as out:
            for line in lines:
                sample = json.loads(line)
                unfinished += sample["finish"] == "length"
                if sample["steps"]:
                    out.write(json.dumps(_record(sample, generator)) + "\n")
        if not plain.stat().st_size:
            return {}, unfinished
        summary = import_file(
            pool.project,
            "solutions",
            plain,
            format="jsonl",
            options=ImportOptions(pool=pool.name, repeats=True),
            name=path.name,
            user=job.created_by if job is not None else None,
            job=job.pk if job is not None else None,
            on_progress=on_progress,
        )
    except ImportRefused as refused:
        faults = [problem["text"] for problem in refused.extra.get("problems", [])]
        raise JobFailure("\n".join([refused.message, *faults])) from refused
    finally:
        plain.unlink(missing_ok=True)
    return dict(summary.counts), unfinished


def _record(sample: dict[str, Any], generator: str) -> dict[str, Any]:
    """A line of the plain format: the answer is given where the sample finished."""
    return {
        "problem": sample["problem"],
        "steps": sample["steps"],
        "given_answer": sample["answer"],
        "generator": generator[:200],
        "splitter": sample["splitter"],
        "finish": sample["finish"],
    }
