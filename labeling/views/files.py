"""Pages: files in (upload, preview, import) and out (export, download)."""

import re
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling import jobs
from labeling.access import role_required
from labeling.exporting import FILES, new_name
from labeling.importing import preview as previews
from labeling.importing import uploads
from labeling.importing.options import KIND_TITLES
from labeling.importing.summary import headline, titled
from labeling.importing.uploads import NoSuchUpload, Upload
from labeling.models import ImportedFile, Job, User
from labeling.scope import current_project
from labeling.views.file_forms import ConfirmForm, ExportForm, ImportForm

PER_PAGE = 20
# As `new_name` makes them: no dot and no slash, so a name cannot lead out of the folder.
EXPORT_NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}")


@role_required("lead", "researcher")
@require_http_methods(["GET", "POST"])
def files(request: HttpRequest) -> HttpResponse:
    """The upload form, what was imported, the export form, what was exported."""
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if form.is_bound and form.is_valid():
        upload = uploads.keep(form.cleaned_data["file"], form.cleaned_data["kind"], form.options())
        return redirect("file-preview", name=upload.name)
    return render(request, "labeling/files/files.html", _page(request, form))


@role_required("lead", "researcher")
@require_GET
def preview(request: HttpRequest, name: str) -> HttpResponse:
    upload = _upload_or_404(name)
    seen = previews.preview(upload.kind, upload.path, upload.options.format)
    context = {
        "upload": upload,
        "kind_title": KIND_TITLES[upload.kind],
        "preview": seen,
        "form": ConfirmForm(initial={"name": name}),
    }
    return render(request, "labeling/files/preview.html", context)


@role_required("lead", "researcher")
@require_POST
def start_import(request: HttpRequest) -> HttpResponse:
    """Import an upload that was looked at: as a job, since a big file takes a while."""
    form = ConfirmForm(request.POST)
    project = current_project(request)
    if not form.is_valid() or project is None:
        messages.error(request, _("Choose a file first."))
        return redirect("files")
    upload = _upload_or_404(form.cleaned_data["name"])
    params = {"upload": upload.name, "file": upload.file, "what": upload.kind}
    job = jobs.enqueue("import_file", params, project=project, user=_person(request))
    return redirect("job-detail", pk=job.pk)


@role_required("lead", "researcher")
@require_POST
def start_export(request: HttpRequest) -> HttpResponse:
    form = ExportForm(request.POST)
    project = current_project(request)
    if not form.is_valid() or project is None:
        messages.error(request, _("Choose a format, and a generation from -1 on or none."))
        return redirect("files")
    name = new_name(project, form.cleaned_data["format"])
    params = form.cleaned_data | {"name": name}
    job = jobs.enqueue("export_file", params, project=project, user=_person(request))
    return redirect("job-detail", pk=job.pk)


@role_required("lead", "researcher")
@require_GET
def download(request: HttpRequest, name: str, file: str) -> FileResponse:
    """One file of a finished export, streamed."""
    place = settings.EXPORT_DIR / name / file
    if not EXPORT_NAME.fullmatch(name) or file not in FILES or not place.is_file():
        raise Http404
    return FileResponse(place.open("rb"), as_attachment=True, filename=f"{name}.{file}")


def _page(request: HttpRequest, form: ImportForm) -> dict[str, Any]:
    project = current_project(request)
    imported = ImportedFile.objects.filter(project=project).select_related("imported_by")
    page = Paginator(imported, PER_PAGE).get_page(request.GET.get("page"))
    exported = Job.objects.filter(project=project, kind="export_file", status=Job.Status.DONE)
    return {
        "form": form,
        "export_form": ExportForm(auto_id="export_%s"),
        "page": page,
        "imports": [
            {
                "file": file,
                "kind": KIND_TITLES.get(file.kind, file.kind),
                "headline": headline(file.kind, file.summary.get("counts", {})),
                "outcomes": titled(file.summary.get("counts", {})),
            }
            for file in page
        ],
        "exports": exported.select_related("created_by")[:PER_PAGE],
        "export_files": FILES,
    }


def _upload_or_404(name: str) -> Upload:
    try:
        return uploads.find(name)
    except NoSuchUpload:
        raise Http404 from None


def _person(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


urlpatterns = [
    path("files/", files, name="files"),
    path("files/preview/<str:name>/", preview, name="file-preview"),
    path("files/import/", start_import, name="file-import"),
    path("files/export/", start_export, name="export-start"),
    path("files/exports/<str:name>/<str:file>", download, name="export-download"),
]
