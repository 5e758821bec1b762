"""The practice project: made-up school problems through the real import services, seeded once.

Every part looks at what is there before it begins, so an interrupted seed goes on where it stopped.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils.text import slugify

from labeling import jobs
from labeling.importing import ImportOptions, import_file
from labeling.jobs import JobFailure
from labeling.models import Gold, Pool, Project, QueueItem, User
from labeling.services import people
from labeling.services.queue import open_screening
from models_prm.practice import write_jsonl
from selection.generations import CLOSING, OPENING, S
from selection.models import Generation
from selection.requests import draft_generation

NAME, POOL, SEED = "Practice school", "practice", 0
SCREENING = -1
PEOPLE = {"labeler": "Practice labeler", "lead": "Practice lead", "researcher": "Practice researcher"}
GUIDELINES = """\
This is practice content: the problems and their solutions are made up by Stepmark itself.

Read the problem, then the steps from the top. Rate each step by what stands in it:
great: right, and it brings the solution forward;
okay: right, but it only repeats or says what it is going to do;
bad: it holds a mistake, or does not follow from the problem and the steps before it.

The first bad step ends your judgement: what comes after it is not rated.
A step that goes on correctly from a false value cannot come before you: you have stopped already.
Give up when you cannot decide. Report a bad problem when the problem itself makes no sense. Say why.
"""


@dataclass(frozen=True)
class Size:
    """How much practice content: the demo's, or little for tests."""

    problems: int = 200
    per_problem: int = 10
    gold: int = 80
    batch: int = 60
    screening: int = 5


FULL = Size()
SMALL = Size(problems=60, per_problem=6, gold=40, batch=24)
SIZES = {"full": FULL, "small": SMALL}

Say = Callable[[str], None]


def seed(say: Say, size: Size = FULL) -> Project:
    """Make what is missing of the practice project; nothing is made twice or changed."""
    project = _project(size)
    files = _files(size)
    _import_pool(project, files, say)
    _import_gold(project, files, size, say)
    _make_people(project)
    _open_first_generation(project, size, say)
    return project


def _project(size: Size) -> Project:
    project, _made = Project.objects.get_or_create(
        slug=slugify(NAME),
        defaults={
            "name": NAME,
            "is_practice": True,
            "guidelines": GUIDELINES,
            "screening_questions": size.screening,
            # Sixty solutions shared by a few people: with the usual share nobody would meet enough gold to be
            # found careless before all is done.
            "gold_share": 0.4,
        },
    )
    return project


@dataclass(frozen=True)
class Files:
    problems: Path
    pool: Path
    gold: Path


def _files(size: Size) -> Files:
    folder = settings.HOME / "practice" / f"{size.problems}x{size.per_problem}"
    files = Files(folder / "problems.jsonl", folder / "pool.jsonl", folder / "gold.jsonl")
    if not (folder / "complete").exists():
        write_jsonl(folder, SEED, size.problems, size.per_problem, size.gold)
        (folder / "complete").touch()
    return files


def _import_pool(project: Project, files: Files, say: Say) -> None:
    if Pool.objects.filter(project=project, name=POOL).exists():
        return
    say("Importing practice problems and grading their solutions ...")
    import_file(project, "problems", files.problems, options=ImportOptions(dataset=POOL))
    summary = import_file(project, "solutions", files.pool, options=ImportOptions(pool=POOL))
    say(f"  {summary.counts['solutions_new']:,} solutions in {summary.seconds:.0f} s")


def _import_gold(project: Project, files: Files, size: Size, say: Say) -> None:
    """The first questions are the screening, the others gold of any generation."""
    if Gold.objects.filter(solution__problem__project=project, generation=None).exists():
        return
    say("Importing gold questions ...")
    with files.gold.open(encoding="utf-8") as lines:
        for name, count, generation in (("screening", size.screening, SCREENING), ("gold", None, None)):
            part = files.gold.with_name(f"gold-{name}.jsonl")
            part.write_text("".join(itertools.islice(lines, count)), encoding="utf-8")
            import_file(project, "gold", part, options=ImportOptions(generation=generation))
    if not QueueItem.objects.filter(project=project, generation=SCREENING).exists():
        open_screening(project)


def _make_people(project: Project) -> None:
    for role, name in PEOPLE.items():
        if not User.objects.filter(username=role).exists():
            people.create_person(role, role, project=project, first_name=name)


def _open_first_generation(project: Project, size: Size, say: Say) -> None:
    generation = Generation.objects.filter(project=project, number=0).first()
    if generation is None:
        pool = Pool.objects.get(project=project, name=POOL)
        generation = draft_generation(project, pool, strategy="uniform", size=size.batch, seed=SEED)
    elif generation.state not in (*OPENING, S.FAILED) or generation.failed_in in CLOSING:
        return
    say("Opening generation 0 ...")
    job = jobs.create("open_generation", {"generation": generation.pk}, project=project)
    Generation.objects.filter(pk=generation.pk).update(open_job=job)
    done = jobs.run_job(job.pk)
    if done is None or done.status != done.Status.DONE:
        raise JobFailure(done.error if done else "", done.cure if done else "")


def sign_in_links(project: Project) -> dict[str, str]:
    """A fresh token for each of the three people, by role, good for a week."""
    return {role: people.make_sign_in_link(User.objects.get(username=role)) for role in PEOPLE}
