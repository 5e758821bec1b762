"""The kinds of background work of the people side: reading an uploaded file, writing an export."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from labeling.errors import ImportRefused
from labeling.exporting import ExportRefused, write_export
from labeling.importing import import_file, uploads
from labeling.importing.uploads import NoSuchUpload
from labeling.jobs import JobFailure, JobRun, register
from labeling.models import ImportedFile, Job
from labeling.services import audit


def _files_page(job: Job) -> str:
    return reverse("files")


@register("import_file", page=_files_page, title=gettext_lazy("Import a file"))
def run_import(job: JobRun) -> dict[str, Any]:
    """Import the upload `params["upload"]`. A run that was killed after its commit is not done twice."""
    done = ImportedFile.objects.filter(project=job.project, summary__job=job.job.pk).first()
    if done is not None:
        return {"imported_file": done.pk, "counts": done.summary["counts"]}
    try:
        upload = uploads.find(job.params["upload"])
        summary = import_file(
            job.project,
            upload.kind,
            upload.path,
            format=upload.options.format,
            options=upload.options,
            name=upload.file,
            user=job.job.created_by,
            job=job.job.pk,
            on_progress=job.progress,
        )
    except NoSuchUpload as missing:
        raise JobFailure(missing.message, _("Upload the file again.")) from missing
    except ImportRefused as refused:
        lines = [problem["text"] for problem in refused.extra.get("problems", [])]
        cure = _("Correct the file and upload it again; nothing of it was imported.")
        raise JobFailure("\n".join([refused.message, *lines]), cure) from refused
    uploads.drop(upload)
    return {"imported_file": summary.imported_file, "counts": dict(summary.counts)}


@register("export_file", page=_files_page, title=gettext_lazy("Export labels"))
def run_export(job: JobRun) -> dict[str, Any]:
    """Write an export to the folder `params["name"]`; a second run writes it again."""
    params = job.params
    try:
        manifest = write_export(
            job.project,
            params["format"],
            settings.EXPORT_DIR / params["name"],
            generation=params.get("generation"),
            only_usable=params.get("only_usable", False),
            on_progress=job.progress,
        )
    except ExportRefused as refused:
        raise JobFailure(refused.message, _("Make room on the disk and export again.")) from refused
    labels = manifest.content["labels"]
    audit.note("export_labels", params["name"], project=job.project, by=job.job.created_by, labels=labels)
    return {"name": params["name"], "format": params["format"], "labels": labels, "lines": manifest.lines}
