"""The files page: upload, preview, import as a job, export as a job, download."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from labeling import jobs
from labeling.models import AuditEntry, ImportedFile, Job, Label, Project, Solution
from tests import make
from tests.labeling.file_makers import human_label, record, sample

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def places(settings: Any, tmp_path: Path) -> None:
    settings.UPLOAD_DIR, settings.EXPORT_DIR = tmp_path / "uploads", tmp_path / "exports"


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def client(project: Project) -> Client:
    client = Client()
    client.force_login(make.researcher(), "django.contrib.auth.backends.ModelBackend")
    return client


def upload(client: Client, records: list[Any], kind: str, name: str = "own.jsonl", **fields: Any) -> Any:
    text = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records)
    data = {"kind": kind, "file": SimpleUploadedFile(name, text.encode()), **fields}
    return client.post("/files/", data, follow=True)


def name_of(response: Any) -> str:
    return str(response.redirect_chain[-1][0].split("/")[3])


def start(client: Client, response: Any) -> Job:
    client.post("/files/import/", {"name": name_of(response)})
    return Job.objects.latest("pk")


def test_an_upload_is_looked_at_imported_and_listed(client: Client, project: Project) -> None:
    response = upload(client, [sample(n) for n in range(7)], "solutions", pool="from a page", dataset="own")
    page = response.content.decode()
    assert "own.jsonl" in page
    assert "format: jsonl" in page
    assert "The file has 7 records; all read well." in page
    assert page.count("<tr>") == 1 + 5
    assert not Solution.objects.exists()
    job = start(client, response)
    done = jobs.run_job(job.pk)
    assert done is not None
    assert (done.status, done.error) == ("done", "")
    assert Solution.objects.count() == 7
    assert Solution.objects.filter(pool__name="from a page", problem__dataset="own").count() == 7
    assert list(settings.UPLOAD_DIR.iterdir()) == []
    listed = client.get("/files/").content.decode()
    assert "own.jsonl" in listed
    assert 'new solutions: <span class="tabular">7<' in listed
    assert ImportedFile.objects.get().imported_by == job.created_by


def test_a_bad_upload_is_shown_with_line_field_and_cure_and_cannot_be_imported(client: Client) -> None:
    page = upload(client, [record(), record(generation="x")], "labels").content.decode()
    for words in (
        "1 thing is wrong",
        "generation",
        "this is text, not whole number",
        "write a whole number here",
    ):
        assert words in page
    assert "/files/import/" not in page


def test_what_a_preview_cannot_see_fails_the_job_with_its_cure(client: Client) -> None:
    response = upload(client, [sample(1), sample(1)], "solutions", pool="a")
    done = jobs.run_job(start(client, response).pk)
    assert done is not None
    assert done.status == "failed"
    assert "line 2: this record is the same as that of line 1" in done.error
    assert "upload it again" in done.cure
    assert not ImportedFile.objects.exists()


def test_an_import_that_was_committed_before_the_worker_died_is_not_done_twice(client: Client) -> None:
    job = start(client, upload(client, [sample(1)], "solutions", pool="a"))
    jobs.run_job(job.pk)
    Job.objects.filter(pk=job.pk).update(status="queued", result={})
    again = jobs.run_job(job.pk)
    assert again is not None
    assert again.result["counts"]["solutions_new"] == 1
    assert ImportedFile.objects.count() == 1


def test_gold_gets_its_generation_from_the_form(client: Client) -> None:
    jobs.run_job(start(client, upload(client, [human_label(1)], "gold", generation="-1")).pk)
    assert Solution.objects.get().gold.generation == -1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "solutions"}, "Name the pool"),
        ({"kind": "labels", "format": "math"}, "no such format"),
        ({"kind": "else"}, "Select a valid choice"),
        ({"kind": "gold", "generation": "-2"}, "greater than or equal to -1"),
        ({"kind": "labels", "file": SimpleUploadedFile("empty.jsonl", b"")}, "empty"),
        ({"kind": "labels", "file": ""}, "required"),
    ],
)
def test_a_form_with_a_gap_says_so_and_keeps_nothing(client: Client, fields: Any, words: str) -> None:
    data = {"file": SimpleUploadedFile("a.jsonl", b"{}"), **fields}
    response = client.post("/files/", data)
    assert response.status_code == 200
    assert words in response.content.decode()
    assert not settings.UPLOAD_DIR.exists()


def test_content_of_a_file_is_never_markup(client: Client) -> None:
    line = sample(1, problem="<script>alert(1)</script>", generator="<b>pen</b>")
    page = upload(client, [line], "solutions", pool="<i>", name="<img src=x>.jsonl").content.decode()
    for markup in ("<script>alert", "<b>pen", "<i>", "<img src=x"):
        assert markup not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("name", ["..", "x", "a" * 32, "%2e%2e", "A" * 32, "0" * 31])
def test_there_is_no_way_to_a_file_that_was_not_uploaded(client: Client, name: str) -> None:
    assert client.get(f"/files/preview/{name}/").status_code == 404
    assert client.post("/files/import/", {"name": name}).status_code in {302, 404}
    assert not Job.objects.exists()


def test_an_upload_nobody_imported_goes_after_a_week(client: Client, tmp_path: Path) -> None:
    import os

    old = name_of(upload(client, [sample(1)], "solutions", pool="a"))
    for path in (tmp_path / "uploads").iterdir():
        os.utime(path, (0, 0))
    new = name_of(upload(client, [sample(1)], "solutions", pool="a"))
    assert {path.stem for path in (tmp_path / "uploads").iterdir()} == {new}
    assert client.get(f"/files/preview/{old}/").status_code == 404


def test_an_export_is_made_as_a_job_and_downloaded(client: Client, project: Project) -> None:
    label = make.label(project=project)
    client.post("/files/export/", {"format": "prm800k"})
    done = jobs.run_job(Job.objects.latest("pk").pk)
    assert done is not None
    assert (done.status, done.error) == ("done", "")
    page = client.get("/files/").content.decode()
    address = f"/files/exports/{done.result['name']}/labels.jsonl"
    assert address in page
    response = client.get(address)
    assert response.streaming
    assert response["Content-Disposition"].startswith("attachment")
    assert json.loads(response.getvalue()) == label.record
    manifest = json.loads(client.get(address.replace("labels.jsonl", "manifest.json")).getvalue())
    assert manifest["totals"]["labels"] == 1
    assert AuditEntry.objects.filter(action="export_labels").count() == 1


def test_an_export_form_that_is_wrong_starts_nothing(client: Client) -> None:
    page = client.post("/files/export/", {"format": "csv"}, follow=True).content.decode()
    assert "Choose a format" in page
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "path",
    [
        "x/../../secret_key", "../labels.jsonl", "..%2f..%2fx/labels.jsonl", "own/other.txt", "own/..",
        "%2e%2e/labels.jsonl", "own/labels.jsonl.bak", "link/labels.jsonl",
    ],
)  # fmt: skip
def test_a_download_cannot_leave_the_exports(client: Client, tmp_path: Path, path: str) -> None:
    for place in (tmp_path / "labels.jsonl", tmp_path / "exports" / "own" / "other.txt"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("secret")
    assert client.get(f"/files/exports/{path}").status_code == 404


def test_imports_are_listed_page_by_page(client: Client, project: Project) -> None:
    for n in range(45):
        ImportedFile.objects.create(
            project=project, kind="labels", format="prm800k", name=f"file-{n:02}", sha256=""
        )
    first, last = (client.get(f"/files/?page={n}").content.decode() for n in (1, 3))
    assert "file-44" in first
    assert "file-24" not in first
    assert "file-00" in last


def test_a_big_file_is_previewed_from_its_start_only(client: Client) -> None:
    page = upload(client, [sample(n) for n in range(1500)], "solutions", pool="a").content.decode()
    assert "The first 1,000 records read well" in page


def test_two_imports_of_one_file_are_two_jobs_and_change_nothing_twice(client: Client) -> None:
    for _ in range(2):
        jobs.run_job(start(client, upload(client, [record()], "labels")).pk)
    assert Label.objects.count() == 1
    assert ImportedFile.objects.count() == 2


def test_files_go_to_the_project_one_is_looking_at(client: Client, project: Project) -> None:
    other = make.project()
    session = client.session
    session["project"] = other.pk
    session.save()
    jobs.run_job(start(client, upload(client, [record()], "labels")).pk)
    assert Label.objects.get().project == other
    assert "own.jsonl" in client.get("/files/").content.decode()
    session["project"] = project.pk
    session.save()
    assert "own.jsonl" not in client.get("/files/").content.decode()


def test_without_a_project_the_page_opens_and_starts_nothing(client: Client, project: Project) -> None:
    project.delete()
    assert client.get("/files/").status_code == 200
    client.post("/files/export/", {"format": "prm800k"})
    assert not Job.objects.exists()
