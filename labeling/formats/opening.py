"""Opens a file as a stream of bytes: plain or gzip, told by its first bytes, and says what else it may be."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from django.utils.translation import gettext as _

from labeling.formats.faults import BadRecord, Fault

GZIP = b"\x1f\x8b"
LFS = b"version https://git-lfs"
BOM = b"\xef\xbb\xbf"
PACKED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
BROKEN = (EOFError, gzip.BadGzipFile, zlib.error)
"""What a damaged gzip file raises in the middle of reading."""


@dataclass(frozen=True)
class Source:
    """An open file: `stream` gives the unpacked bytes, `position()` the share of the file that was read."""

    stream: BinaryIO
    raw: BinaryIO
    size: int

    def position(self) -> int:
        return min(self.raw.tell(), self.size)


@contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """Open `path`. Raises BadRecord with one fault for what is no JSON at all."""
    with path.open("rb") as raw:
        head = raw.read(64)
        _refuse_head(head)
        raw.seek(0)
        size = path.stat().st_size
        if not head.startswith(GZIP):
            yield Source(raw, raw, size)
            return
        with gzip.GzipFile(fileobj=raw) as packed:
            stream = cast(BinaryIO, packed)
            _refuse_head(peek(stream, 64))
            yield Source(stream, raw, size)


def peek(stream: BinaryIO, size: int) -> bytes:
    """The first bytes of a stream, which is then back at its start. Raises BadRecord for a damaged file."""
    try:
        head = stream.read(size)
    except BROKEN:
        raise BadRecord([broken_gzip(0)]) from None
    stream.seek(0)
    return head


def broken_gzip(last_line: int) -> Fault:
    """The fault of a gzip file that ends early or is damaged after its line `last_line`."""
    return Fault(
        _("the gzip file is cut off or damaged."),
        _("download or copy the file again; `gzip -t FILE` must say nothing."),
        line=last_line + 1,
    )


def _refuse_head(head: bytes) -> None:
    if not head:
        raise BadRecord([Fault(_("the file is empty."), _("choose a file with at least one record."))])
    if head.startswith(LFS):
        message = _(
            "this is a Git LFS pointer, not the data: the repository was cloned without its large files."
        )
        raise BadRecord(
            [Fault(message, _("run `git lfs pull` in that repository and import the real file."))]
        )
    for start, name in PACKED.items():
        if head.startswith(start):
            message = _("this is a {name} archive.").format(name=name)
            raise BadRecord([Fault(message, _("unpack it first; only gzip is read directly."))])
    if head.startswith(b"PAR1"):
        cure = _("write its rows as JSON lines first.")
        raise BadRecord([Fault(_("this is a Parquet file."), cure)])
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadRecord([Fault(_("the file is UTF-16."), _("save it as UTF-8."))])
