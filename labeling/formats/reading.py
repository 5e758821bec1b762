"""Reads a file record by record in constant memory: JSON lines, a JSON array, or a JSON document.

Plain or gzip. Every record comes with the number of its line; what cannot be read comes as a `Fault` in its
place, so that the caller decides after how many faults it stops. Nothing here knows a format's fields.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from labeling.formats.arrays import read_values, too_long
from labeling.formats.decoding import decode
from labeling.formats.faults import BadRecord, Fault
from labeling.formats.opening import BOM, BROKEN, broken_gzip, open_source, peek

LINE_LIMIT = 16 * 1024 * 1024
"""Bytes that one record may have; a longer one is refused before it is in memory."""

OnBytes = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file: the line it starts on (from 1), its number in a JSON array, its fields."""

    line: int
    data: dict[str, Any]
    record: int | None = None


def read_records(path: Path, on_bytes: OnBytes | None = None) -> Iterator[Record | Fault]:
    """The records of a file in their order, and the faults between them.

    `on_bytes(read, size)` is called after every record. A fault after which nothing can be read (a damaged
    gzip file, a line over `LINE_LIMIT`) is the last item. Raises OSError where the file cannot be opened.
    """
    try:
        with open_source(path) as source:
            for item in _items(source.stream):
                if on_bytes:
                    on_bytes(source.position(), source.size)
                yield item
    except BadRecord as refused:
        yield from refused


def _items(stream: BinaryIO) -> Iterator[Record | Fault]:
    head = peek(stream, 4096).removeprefix(BOM).lstrip()
    # A line that is nothing but a brace opens a document written over many lines.
    is_document = head.startswith(b"[") or head.split(b"\n", 1)[0].strip() == b"{"
    items = _values(stream) if is_document else _json_lines(stream)
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        yield Fault(_("the file holds no record."), _("choose a file with at least one record."))


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes] | Fault]:
    """Lines with their numbers from 1. A damaged file or an endless line is the last item."""
    number = 0
    while True:
        try:
            line = stream.readline(LINE_LIMIT + 1)
        except BROKEN:
            yield broken_gzip(number)
            return
        if not line:
            return
        number += 1
        if number == 1:
            line = line.removeprefix(BOM)
        if len(line) > LINE_LIMIT:
            yield too_long(LINE_LIMIT).at(number)
            return
        yield number, line


def _json_lines(stream: BinaryIO) -> Iterator[Record | Fault]:
    for item in _lines(stream):
        if isinstance(item, Fault):
            yield item
        elif item[1].strip():
            yield from _one_line(*item)


def _one_line(number: int, line: bytes) -> Iterator[Record | Fault]:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        yield not_utf8(error.start, line).at(number)
        return
    try:
        yield as_record(decode(text), number)
    except BadRecord as refused:
        yield from (fault.at(number) for fault in refused)


def not_utf8(at: int, data: bytes) -> Fault:
    message = _("byte {at} of the line (0x{value:02x}) is not UTF-8.").format(at=at + 1, value=data[at])
    return Fault(message, _("save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`."))


def as_record(value: Any, line: int, record: int | None = None) -> Record | Fault:
    if isinstance(value, dict):
        return Record(line, value, record)
    found = {list: _("a list"), str: _("a text"), type(None): "null"}.get(type(value), _("a number"))
    message = _("a record is a JSON object, but this is {found}.").format(found=found)
    return Fault(message, _('write {"name": value, ...}.'), line=line, record=record)


def _values(stream: BinaryIO) -> Iterator[Record | Fault]:
    for line, record, value in read_values(stream, LINE_LIMIT):
        if isinstance(value, Fault):
            yield value.at(line, record)
        else:
            yield as_record(value, line, record)
