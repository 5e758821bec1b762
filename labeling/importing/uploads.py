"""Uploaded files between the upload page, its preview and the import: kept on disk under a random name."""

import json
import re
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from labeling.errors import LabelingError
from labeling.importing.options import ImportOptions

NAME = re.compile(r"[0-9a-f]{32}")
KEEP_DAYS = 7


class NoSuchUpload(LabelingError):
    """This upload is not here any more."""

    code = "no_such_upload"


@dataclass(frozen=True)
class Upload:
    """`name` is the random name on disk, `file` what the person called it."""

    name: str
    file: str
    size: int
    kind: str
    options: ImportOptions

    @property
    def path(self) -> Path:
        return _place(self.name, "data")


def keep(uploaded: UploadedFile, kind: str, options: ImportOptions) -> Upload:
    """Write an upload to disk, piece by piece, with what shall be done with it."""
    settings.UPLOAD_DIR.mkdir(parents=True, exist_ok=True)
    _drop_old()
    upload = Upload(
        secrets.token_hex(16), Path(uploaded.name or "upload").name[:255], uploaded.size or 0, kind, options
    )
    with upload.path.open("wb") as file:
        for chunk in uploaded.chunks():
            file.write(chunk)
    _place(upload.name, "json").write_text(json.dumps(asdict(upload)), encoding="utf-8")
    return upload


def find(name: str) -> Upload:
    """The upload of that name. Raises NoSuchUpload, also for a name that is no name."""
    try:
        content: dict[str, Any] = json.loads(_place(name, "json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise NoSuchUpload from None
    upload = Upload(**content | {"options": ImportOptions(**content["options"])})
    if not upload.path.is_file():
        raise NoSuchUpload
    return upload


def drop(upload: Upload) -> None:
    for ending in ("data", "json"):
        _place(upload.name, ending).unlink(missing_ok=True)


def _place(name: str, ending: str) -> Path:
    if not NAME.fullmatch(name):
        raise NoSuchUpload(_("This is no name of an upload."))
    path: Path = settings.UPLOAD_DIR / f"{name}.{ending}"
    return path


def _drop_old() -> None:
    """Uploads that nobody imported do not stay for ever."""
    oldest = time.time() - KEEP_DAYS * 24 * 3600
    for path in settings.UPLOAD_DIR.iterdir():
        if NAME.fullmatch(path.stem) and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
