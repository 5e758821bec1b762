"""The whole circle with no human: eight labelers, three generations, every count reconciled.

Real gunicorn and Celery, on PostgreSQL and Redis when the test run has them, else on SQLite and files.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.installation import Installation, installation

pytestmark = [pytest.mark.worker, pytest.mark.slow, pytest.mark.xdist_group("full loop")]

GENERATIONS, BATCH = 3, 40

SEED = """
from selection.demo.seed import SMALL, seed
project = seed(lambda text: None, SMALL)
# Much gold and a short window, so that a careless labeler is found within a batch of this size.
type(project).objects.filter(pk=project.pk).update(gold_share=0.6, gold_window=6, gold_mark=0.75)
result = project.slug
"""
LAST_JOB = """
import time
from labeling.models import Job
deadline = time.monotonic() + 300
while not (job := Job.objects.first()).is_over and time.monotonic() < deadline:
    time.sleep(0.5)
result = {"kind": job.kind, "status": job.status, "error": job.error, "cure": job.cure}
"""
DECIDE_HELD = """
from labeling.models import Problem, User
from labeling.services.problems import decide_problem
lead = User.objects.get(username="lead")
held = list(Problem.objects.filter(status="held"))
for problem in held:
    decide_problem(problem, by=lead, is_bad=False)
result = len(held)
"""
FACTS = """
from dataclasses import asdict
from django.db.models import Count, F, Q
from labeling.models import Assignment, Enrolment, Label, Project, QueueItem
from labeling.queries.counts import generation_counts, project_counts
from labeling.queries.labels import usable_labels
from selection.models import Generation, ModelVersion
project = Project.objects.get()
work = Assignment.objects.filter(item__purpose="work")
result = {
    "generations": {
        g.number: asdict(generation_counts(project, g.number)) | {
            "state": g.state,
            "picks": g.picks.count(),
            "picks_with_item": g.picks.filter(item__isnull=False).count(),
            "causes": sorted(set(g.picks.values_list("cause", flat=True))),
            "assignments": work.filter(item__generation=g.number, status="submitted").count(),
            "reconciles": generation_counts(project, g.number).reconciles,
        }
        for g in Generation.objects.order_by("number")
    },
    "project": asdict(project_counts(project)),
    "usable": usable_labels(project).count(),
    "twice_to_one_labeler": Assignment.objects.values("labeler", "solution").annotate(n=Count("pk"))
        .filter(n__gt=1).count(),
    "overfilled": QueueItem.objects.filter(purpose="work", taken__gt=F("wanted")).count(),
    "items_judged_too_often": QueueItem.objects.filter(purpose="work").annotate(
        n=Count("assignments__labels", filter=Q(assignments__labels__is_current=True,
                                               assignments__labels__is_extra=False))
        ).filter(n__gt=F("wanted")).count(),
    "labels_without_assignment": Label.objects.filter(assignment__isnull=True).count(),
    "submitted_without_label": Assignment.objects.filter(status="submitted", labels__isnull=True).count(),
    "people": {
        e.user.username: [e.status, e.status_reason] for e in Enrolment.objects.select_related("user")
    },
    "models": list(ModelVersion.objects.order_by("id").values("name", "status")),
}
"""
MANIFEST = """
from pathlib import Path
from django.conf import settings
from labeling.exporting import validate_export, write_export
from labeling.models import Project
folder = Path(settings.HOME) / "export"
write_export(Project.objects.get(), "prm800k", folder)
import json
result = {
    "problems": validate_export(folder).problems,
    "manifest": json.loads((folder / "manifest.json").read_text()),
    "lines": sum(1 for _ in (folder / "labels.jsonl").open()),
    "side": sum(1 for _ in (folder / "side.jsonl").open()),
}
"""


# Of the session: test processes may take tests of other modules in between, and once is costly enough.
@pytest.fixture(scope="session")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Three generations labeled and closed, each but the first picked by the model before it."""
    with installation(tmp_path_factory.mktemp("loop")) as made:
        made.run(SEED)
        with made.serving():
            for number in range(GENERATIONS):
                label_all(made)
                made.manage("close_generation", str(number), "--recipe", "smoke", "--background")
                wait_for_job(made)
                if number + 1 < GENERATIONS:
                    model = made.run(FACTS)["models"][-1]["name"]
                    rule = ["--model", model, "--size", str(BATCH), "--random-share", "0.1", "--seed", "1"]
                    made.manage("open_generation", "--pool", "practice", *rule, "--background")
                    wait_for_job(made)
        yield made


def label_all(made: Installation) -> None:
    """Simulated labelers until nothing is left; the lead lets held problems go on, as one would."""
    crew = ["--labelers", "8", "--careless", "1", "--accuracy", "0.97"]  # the same command every time
    work = ["--give-up", "0.04", "--bad-problem", "0.02", "--base-url", made.base_url]
    for _ in range(5):
        made.manage("simulate_labelers", *crew, *work)
        if not made.run(DECIDE_HELD):
            return
    raise AssertionError("problems are held again and again")


def wait_for_job(made: Installation) -> None:
    job = made.run(LAST_JOB)
    assert job["status"] == "done", f"{job}\n{made.logs()}"


@pytest.fixture(scope="session")
def facts(loop: Installation) -> dict[str, Any]:
    found: dict[str, Any] = loop.run(FACTS)
    return found


def test_every_generation_is_over_and_each_trained_a_model(facts: dict[str, Any]) -> None:
    assert [g["state"] in {"promoted", "rejected"} for g in facts["generations"].values()] == [
        True
    ] * GENERATIONS
    assert len(facts["models"]) == GENERATIONS


def test_later_generations_are_picked_by_the_model(facts: dict[str, Any]) -> None:
    assert facts["generations"]["0"]["causes"] == ["uniform"]
    for number in ("1", "2"):
        assert "convincing_wrong" in facts["generations"][number]["causes"]


def test_picks_are_assignments_are_labels_and_give_ups_and_bad_problems(facts: dict[str, Any]) -> None:
    for number, g in facts["generations"].items():
        assert g["picks"] == g["picks_with_item"] == g["items"] == g["wanted"], number
        assert g["picks"] == g["assignments"], number
        assert g["picks"] == g["labels"] + g["give_ups"] + g["bad_problems"], number
        assert g["in_progress"] == g["waiting"] == g["held"] == g["closed"] == g["extras"] == 0, number
        assert g["reconciles"], number
    give_ups = sum(g["give_ups"] for g in facts["generations"].values())
    assert give_ups > 0, "the trial did not meet a give-up"


def test_nothing_is_assigned_or_counted_twice(facts: dict[str, Any]) -> None:
    for name in (
        "twice_to_one_labeler",
        "overfilled",
        "items_judged_too_often",
        "labels_without_assignment",
        "submitted_without_label",
    ):
        assert facts[name] == 0, name


def test_the_careless_labeler_is_paused_with_a_reason(facts: dict[str, Any]) -> None:
    status, reason = facts["people"]["sim-careless-1"]
    assert status == "paused"
    assert "gold" in reason
    assert facts["project"]["quarantined"] > 0


def test_the_project_counts_are_the_sum_of_the_generations(facts: dict[str, Any]) -> None:
    for name in ("labels", "give_ups", "bad_problems", "extras", "quarantined"):
        assert facts["project"][name] == sum(g[name] for g in facts["generations"].values()), name


def test_the_manifest_of_the_export_says_what_the_dashboard_says(
    loop: Installation, facts: dict[str, Any]
) -> None:
    export = loop.run(MANIFEST)
    assert export["problems"] == []
    totals = export["manifest"]["totals"]
    assert export["lines"] == export["side"] == export["manifest"]["lines"]["total"]
    for name, count in facts["project"].items():
        if name != "generations":
            assert totals[name] == count, name
    for number, counts in facts["project"]["generations"].items():
        assert totals["generations"][number] == counts, number


def test_no_error_in_the_logs(loop: Installation) -> None:
    text = loop.logs()
    assert "Traceback" not in text
    assert " ERROR " not in text


def test_the_installation_of_the_test_is_its_own(loop: Installation, tmp_path_factory: Any) -> None:
    assert Path(loop.env["STEPMARK_HOME"]).is_relative_to(tmp_path_factory.getbasetemp())
