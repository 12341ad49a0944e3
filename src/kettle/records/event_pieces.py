"""Cuts a growing log into pieces: at a line that nothing inside one can be, or where an ad ends."""

from __future__ import annotations

import re

# Limit: an event longer than this is no event; a reader would otherwise keep all of a wrong file.
MAX_EVENT_BYTES = 4 * 1024 * 1024
# Limit: ads inside of one another, more than can be read; where one more begins, all were torn.
MAX_DEPTH = 200


class Pieces:
    """The bytes of a growing log that no piece covers yet.

    A byte is looked at once, however often a log is asked for more and however long what it
    writes stays unfinished.
    """

    def __init__(self, end: bytes) -> None:
        """Take the line that ends a piece, without its newline, before which a return may stand."""
        self._end = end
        self._inner = b"\n" + end
        self._buffer = bytearray()
        # Up to where the buffer has no end.
        self._seen = 0
        # Offset in the log of the first byte that no piece covers.
        self.offset = 0
        # How often more than an event can have was thrown away.
        self.thrown = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take more bytes and return the pieces that are now complete, each with its end."""
        self._buffer += data
        pieces = []
        start = 0
        while (stop := self._find_end(start)) >= 0:
            pieces.append(bytes(self._buffer[start:stop]))
            start = stop
        del self._buffer[:start]
        self.offset += start
        # An end may have begun.
        self._seen = max(0, len(self._buffer) - len(self._inner) - 1)
        if len(self._buffer) > MAX_EVENT_BYTES:
            self.thrown += 1
            self.offset += len(self._buffer)
            self._buffer.clear()
            self._seen = 0
        return pieces

    def _find_end(self, start: int) -> int:
        """Return where the piece that begins there ends, -1 if that has not come yet."""
        if self._buffer.startswith(self._end, start):
            stop = self._end_of_line(start + len(self._end))
            if stop >= 0:
                return stop
        position = max(start, self._seen)
        while (found := self._buffer.find(self._inner, position)) >= 0:
            stop = self._end_of_line(found + len(self._inner))
            if stop >= 0:
                return stop
            position = found + 1
        return -1

    def _end_of_line(self, position: int) -> int:
        """Return what is behind the end of a line that stands there, -1 if none does."""
        for end in (b"\n", b"\r\n"):
            if self._buffer.startswith(end, position):
                return position + len(end)
        return -1


# An ad or a list begins or ends, a string of JSON or a comment of XML; or the name of an event's
# number, which is a string in JSON.
_MARKS = {
    "json": re.compile(rb'["{}[\]]'),
    "xml": re.compile(
        rb"<c(?:\s[^<>]{0,40})?>|</c\s?>|</?l\s?>|<!--"
        rb"|(?i:<a\s{1,4}n\s{0,4}=\s{0,4}[\"']?EventTypeNumber[\"']?\s{0,4}>)"
    ),
}
# All but one byte of the longest mark.
_PART_OF_MARK = {"json": 0, "xml": len(b"<c >") + 39}
_BLANKS = frozenset(b" \t\r\n")
_COMMENT, _COMMENT_END = b"<!--", b"-->"
# What an event's own ad says, however it is spelled.
_NUMBER = b"eventtypenumber"
# What goes on with an ad behind one that is inside it, and how many bytes show that.
_GOES_ON = {"json": re.compile(rb"[],}]"), "xml": re.compile(rb"</[alAL]|<!-")}
_SHOWING = {"json": 1, "xml": 3}
_NO_BLANK = re.compile(rb"[^ \t\r\n]")
# Where a string ends, what takes the next byte's meaning away, and a newline, which is in none.
_IN_STRING = re.compile(rb'["\\\n]')
# What may stand between ads: blanks, and what makes one document of all.
_BETWEEN = re.compile(rb"(?:\s|[][,]|<\?xml[^>\n]*>|<!DOCTYPE[^>\n]*>|</?classads>)*")


class _Begun:
    """An ad that has begun: its offset in the log, and how many lists are open in it."""

    __slots__ = ("is_event", "lists", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.lists = 0
        # Whether it says an event's number itself.
        self.is_event = False


class AdPieces:
    """The bytes of a growing log of ads in XML or JSON that no ad covers yet.

    An ad may have lines of its own or share them with others. One that begins a line, or goes on
    from what no ad inside another goes on from, ends what has not ended before it; but in a list of
    JSON it may begin a line where one more has to stand. An event where another's attribute could
    be an ad ends that one, too, if its own last line is not indented and what stands behind it goes
    on with no other ad. What stands in a comment between ads is none. A byte is looked at a few
    times and no more.

    Compat: for the reference an ad of JSON that begins the line behind its name and colon is inside
    the other; here an event was torn there (test_an_ad_in_a_line_behind_its_colon_is_another).

    Compat: the reference loses the event behind a torn one, be it in XML or JSON
    (test_an_event_that_was_torn_costs_no_other). It waits for no more than an event's end; ours for
    what stands behind an event that could be an attribute of another, so that whole ones stay whole
    (test_an_event_that_could_be_an_attribute_is_told_with_the_next).
    """

    def __init__(self, form: str) -> None:
        """Take the form, "xml" or "json"."""
        self._mark = _MARKS[form]
        self._part = _PART_OF_MARK[form]
        self._goes_on, self._showing = _GOES_ON[form], _SHOWING[form]
        self._may_follow = {"json": self._may_follow_json, "xml": self._may_follow_xml}[form]
        self._buffer = bytearray()
        # Offset in the log of the buffer's first byte.
        self._gone = 0
        # Up to where all marks were seen, the ads that are open there, and where the one begins
        # that is an event.
        self._seen = 0
        self._open: list[_Begun] = []
        self._begin = 0
        # The event behind which may show whether it is another's attribute, by its offsets.
        self._doubt: tuple[int, int] | None = None
        # Offset of the string that began last.
        self._string = 0
        self._in_string = False
        # Whether the string was torn that ended last.
        self._is_torn = False
        self._in_comment = False
        # Where what is between two ads begins; whether it is more than may be there.
        self._between = 0
        self._is_odd = False
        # How many pieces were no ads.
        self.thrown = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take more bytes and return the ads that are now complete."""
        known = len(self._buffer)
        self._buffer += data
        ads = []
        while (end := self._next_end()) >= 0:
            ads.append(bytes(self._buffer[self._begin : end]))
            self._between = end
        self._forget(known)
        return ads

    def _next_end(self) -> int:
        """Return where the next ad ends, -1 if that has not come yet."""
        while self._leave_comment() and self._leave_string() and self._shows_what_follows():
            if (end := self._settle_doubt()) >= 0:
                return end
            found = self._mark.search(self._buffer, self._seen)
            if found is None:
                self._seen = max(self._seen, len(self._buffer) - self._part)
                return -1
            self._seen = found.end()
            if self._take(found[0], found.start()):
                return self._seen
        return -1

    def _take(self, mark: bytes, at: int) -> bool:
        """Take a mark, at its place; tell whether an ad ends there that is no other's attribute."""
        if mark == b'"':
            self._in_string = bool(self._open)
            self._string = self._gone + at
        elif mark == _COMMENT:
            if not self._open:
                self._in_comment = True
                self._look_between(at)
        elif mark.startswith((b"{", b"<c")):
            self._begin_ad(at)
        elif mark.startswith((b"[", b"<l")):
            self._step_list(1)
        elif mark.startswith((b"]", b"</l")):
            self._step_list(-1)
        elif mark.startswith((b"<a", b"<A")):
            self._note_number()
        else:
            return bool(self._open) and self._ends_event(at)
        return False

    def _step_list(self, step: int) -> None:
        if self._open:
            self._open[-1].lists = max(0, self._open[-1].lists + step)

    def _note_number(self) -> None:
        """Take the name of an event's number: the ad that is open says it, but not one's list."""
        if self._open and not self._open[-1].lists:
            self._open[-1].is_event = True

    def _ends_event(self, at: int) -> bool:
        """Take the end of an ad, at its place; tell whether it is surely no attribute."""
        ended = self._open.pop()
        if not self._open:
            return True
        if ended.is_event and self._buffer[at - 1] == _NEWLINE:
            self._doubt = ended.start, self._gone + self._seen
        return False

    def _shows_what_follows(self) -> bool:
        """Go on to what is behind an event in doubt, if there is one; False if it is not there."""
        if self._doubt is None:
            return True
        found = _NO_BLANK.search(self._buffer, self._seen)
        self._seen = found.start() if found else len(self._buffer)
        return self._seen + self._showing <= len(self._buffer)

    def _settle_doubt(self) -> int:
        """Return where the event in doubt ends; -1 if there is none, or it is an attribute."""
        if self._doubt is None:
            return -1
        start, end = self._doubt
        self._doubt = None
        if self._goes_on.match(self._buffer, self._seen):
            return -1
        if self._buffer.startswith(b"<c", self._seen) and self._is_inner(self._seen):
            return -1
        # What it seemed to be inside was torn.
        self.thrown += 1
        self._open = []
        self._begin = start - self._gone
        return end - self._gone

    def _leave_comment(self) -> bool:
        """Go on to behind the comment, if there is one; False if it has not ended yet."""
        if not self._in_comment:
            return True
        end = self._buffer.find(_COMMENT_END, self._seen)
        self._in_comment = end < 0
        if end < 0:
            self._seen = max(self._seen, len(self._buffer) - len(_COMMENT_END) + 1)
        else:
            self._seen = end + len(_COMMENT_END)
        self._between = self._seen
        return not self._in_comment

    def _leave_string(self) -> bool:
        """Go on to behind the string, if there is one; False if it has not ended yet."""
        if not self._in_string:
            return True
        while (found := _IN_STRING.search(self._buffer, self._seen)) is not None:
            if found[0] != b"\\":
                self._seen = found.end()
                if found[0] == b"\n" and self._buffer[found.start() - 1] == _BRACE:
                    # The string was torn, and an ad begins behind it.
                    self._seen = found.start() - 1
                    self._is_torn = True
                elif found[0] == b'"' and self._is_number(self._string - self._gone, found.start()):
                    self._note_number()
                self._in_string = False
                return True
            if found.end() == len(self._buffer):
                self._seen = found.start()
                return False
            self._seen = found.end() + (self._buffer[found.end()] != _NEWLINE)
        self._seen = len(self._buffer)
        return False

    def _is_number(self, start: int, end: int) -> bool:
        """Tell whether the string between these quotes is the name of an event's number."""
        if end - start - 1 != len(_NUMBER):
            return False
        if self._buffer[start + 1 : end].lower() != _NUMBER:
            return False
        return self._buffer[self._before(start) - 1] in b"{,"

    def _before(self, at: int) -> int:
        """Return where what stands before the blanks there ends."""
        while self._buffer[at - 1] in _BLANKS:
            at -= 1
        return at

    def _is_inner(self, at: int) -> bool:
        """Tell whether the ad that begins there is inside another one."""
        torn, self._is_torn = self._is_torn, False
        if torn or not 0 < len(self._open) < MAX_DEPTH:
            return False
        return self._may_follow(self._before(at), begins_line=self._buffer[at - 1] == _NEWLINE)

    def _may_follow_json(self, end: int, *, begins_line: bool) -> bool:
        """Tell whether an ad may be inside another one behind what ends there."""
        if self._open[-1].lists:
            return self._buffer[end - 1] in b"[,"
        return self._buffer[end - 1] in b":" and not begins_line

    def _may_follow_xml(self, end: int, *, begins_line: bool) -> bool:
        """Tell whether an ad may be inside another one behind what ends there."""
        if begins_line or not self._buffer.startswith(b">", end - 1):
            return False
        tag = bytes(self._buffer[self._buffer.rfind(b"<", 0, end) : end])
        if tag.startswith((b"</a", b"<c")):
            return False
        return self._open[-1].lists > 0 or tag.startswith(b"<a") or tag.endswith(b"-->")

    def _begin_ad(self, at: int) -> None:
        if self._is_inner(at):
            self._open.append(_Begun(self._gone + at))
            return
        if not self._open:
            self._look_between(at)
        if self._open or self._is_odd:
            self.thrown += 1
        self._open = [_Begun(self._gone + at)]
        self._begin = at
        self._is_odd = False

    def _look_between(self, end: int) -> None:
        found = _BETWEEN.match(self._buffer, self._between, end)
        self._is_odd |= found is None or found.end() < end
        self._between = end

    def _forget(self, known: int) -> None:
        """Let go of what is read, and of what is too long; `known` bytes were there before."""
        keep = self._begin
        if not self._open:
            # What is between two ads is looked at by lines.
            line = self._buffer.rfind(b"\n", max(known, self._between), self._seen) + 1
            if line:
                self._look_between(line)
            keep = self._between
        if len(self._buffer) - keep > MAX_EVENT_BYTES:
            self.thrown += 1
            self._open, self._in_string, self._is_odd = [], False, False
            self._is_torn, self._doubt = False, None
            keep = self._seen = self._between = len(self._buffer)
        del self._buffer[:keep]
        self._seen -= keep
        self._begin -= keep
        self._between -= keep
        self._gone += keep


_NEWLINE = 0x0A
_BRACE = 0x7B
