"""Reads the values of one JSON array, or of a JSON document over many lines, without holding the file."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from labeling.formats.decoding import Refused, bad_json, decode_at, end_of, fault_of, refuse_unstorable
from labeling.formats.faults import BadRecord, Fault
from labeling.formats.opening import BROKEN, broken_gzip

CHUNK = 256 * 1024
_BLANK = re.compile(r"[ \t\r\n]*")
# A value that ends within so many characters of the text's end may only lack its rest.
_MARGIN = 16


class _Skipped(BadRecord):
    """A value was refused and passed over; reading goes on behind it."""


class _Window:
    """The part of a text that is in memory: `text[at:]` is not read yet, `line` is the line of `at`."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text, self.at, self.line, self.ended = "", 0, 1, False

    def more(self) -> None:
        """Take in as much again as there is. Raises BadRecord at a byte that is no UTF-8 and on damage."""
        try:
            data = self.stream.read(max(CHUNK, len(self.text) - self.at))
        except BROKEN:
            raise BadRecord([broken_gzip(self._last_line())]) from None
        self.ended = not data
        try:
            decoded = self.decoder.decode(data, final=self.ended)
        except UnicodeDecodeError as error:
            raise BadRecord([self._not_utf8(error)]) from None
        self.text = self.text[self.at :] + decoded
        self.at = 0

    def skip(self, end: int) -> None:
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def peek(self) -> str:
        """The next character that is not blank, or "" at the end."""
        while True:
            found = _BLANK.match(self.text, self.at)
            self.skip(found.end() if found else self.at)
            if self.at < len(self.text) or self.ended:
                return self.text[self.at : self.at + 1]
            self.more()

    def value(self, limit: int) -> Any:
        """The value that starts here. Raises _Skipped behind a refused value, BadRecord where all ends."""
        while True:
            try:
                return self._try_value()
            except (json.JSONDecodeError, RecursionError) as error:
                self._go_on_or_give_up(error, limit)
            except ValueError as error:
                raise BadRecord([fault_of(error, "")]) from None

    def _try_value(self) -> Any:
        refused: Refused | None = None
        value = None
        try:
            value, end = decode_at(self.text, self.at)
        except Refused as error:
            refused, end = error, end_of(self.text, self.at)
        raw = self.text[self.at : end]
        self.skip(end)
        try:
            if refused:
                raise BadRecord([fault_of(refused, raw)])
            refuse_unstorable(value, raw)
        except BadRecord as bad:
            raise _Skipped(bad.faults) from None
        return value

    def _go_on_or_give_up(self, error: Exception, limit: int) -> None:
        size = len(self.text) - self.at
        position = getattr(error, "pos", None)
        if position is None:
            raise BadRecord([fault_of(error, "")])
        cut_off = getattr(error, "msg", "").startswith(("Unterminated string", "Invalid \\u"))
        may_go_on = cut_off or position + _MARGIN >= len(self.text)
        if may_go_on and not self.ended:
            if size > limit:
                raise BadRecord([too_long(limit)])
            self.more()
            return
        line = self.line + self.text.count("\n", self.at, position)
        column = position - self.text.rfind("\n", 0, position)
        raise BadRecord([bad_json(getattr(error, "msg", ""), column).at(line)])

    def _last_line(self) -> int:
        return self.line + self.text.count("\n", self.at) - 1

    def _not_utf8(self, error: UnicodeDecodeError) -> Fault:
        line = self.line + self.text.count("\n", self.at) + error.object[: error.start].count(b"\n")
        message = _("a byte (0x{value:02x}) is not UTF-8.").format(value=error.object[error.start])
        return Fault(message, _("save the file as UTF-8."), line=line)


def read_values(stream: BinaryIO, limit: int) -> Iterator[tuple[int, int, Any]]:
    """(line, number from 1, value) of each value, with a Fault in the place of a value that is refused.

    After text that is not JSON there is no safe place to go on, so such a fault is the last item.
    """
    window = _Window(stream)
    number = 0
    try:
        array = window.peek() == "["
        if array:
            window.skip(window.at + 1)
        while window.peek() not in {"]" if array else "", ""}:
            number += 1
            line = window.line
            try:
                yield line, number, window.value(limit)
            except _Skipped as skipped:
                for fault in skipped:
                    yield line, number, fault
            if array:
                _comma(window)
        _end(window, array)
    except BadRecord as refused:
        fault = refused.faults[0]
        yield fault.line or window.line, max(number, 1), fault


def _comma(window: _Window) -> None:
    following = window.peek()
    if following == ",":
        window.skip(window.at + 1)
        if window.peek() != "]":
            return
    elif following in {"]", ""}:
        return
    raise BadRecord(
        [Fault(_("a comma is missing or left over here."), _("put one comma between two records."))]
    )


def _end(window: _Window, array: bool) -> None:
    if array and window.peek() == "":
        raise BadRecord([Fault(_("the file ends inside its array."), _("download or copy the file again."))])
    if array:
        window.skip(window.at + 1)
        if window.peek() != "":
            cure = _("a file holds one array, or one object a line.")
            raise BadRecord([Fault(_("there is more text after the array."), cure)])


def too_long(limit: int) -> Fault:
    return Fault(
        _("the record is longer than {limit} MB.").format(limit=limit // (1024 * 1024)),
        _("no real record is so long: look for a missing line end or quote."),
    )
