"""The three standard streams, whatever this process was given for them.

A descriptor that is closed becomes /dev/null before anything else is opened: else the next file or
socket would get its number, and what is meant for people would go into it. Output that cannot be
written is lost, and told once on standard error: neither what a program does nor its exit code is
another for it, because who asks again after a failure may ask for the same jobs twice. A reader
that has gone away (a broken pipe) is not that: it is for the program to end then, unless what it
does is no answer to anybody.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer


def settle_streams(program: str, *, ends_unheard: bool = True) -> None:
    """Make sys.stdin, sys.stdout and sys.stderr streams that are open and never in the way.

    For the first moment of a process, whose program's name is `program`. Unless it `ends_unheard`,
    output whose reader has gone away is lost, too.
    """

    def tell(error: OSError) -> None:
        sys.stderr.write(f"{program}: the standard output cannot be written: {error.strerror}\n")

    _open_closed()
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives
    sys.stderr = _tolerant(sys.stderr, _Output(2, lambda _: None, ends_unheard))
    sys.stdout = _tolerant(sys.stdout, _Output(1, tell, ends_unheard))


def _open_closed() -> None:
    """Let descriptors 0, 1 and 2 be /dev/null where they are closed, here and in what we start."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _tolerant(stream: TextIO | None, raw: _Output) -> TextIO:
    """Return a stream like that of this descriptor whose writing does not fail.

    What is no plain stream (a test's) stays what it is.
    """
    if stream is None:
        is_stderr = raw.fileno() == 2
        errors = "backslashreplace" if is_stderr else "strict"
        return io.TextIOWrapper(io.BufferedWriter(raw), errors=errors, line_buffering=is_stderr)
    if type(stream) is not io.TextIOWrapper:
        return stream
    stream.flush()
    return io.TextIOWrapper(
        # Python is asked for output without a buffer (-u) by this one word.
        raw if stream.write_through else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class _Output(io.FileIO):
    """A descriptor for output: what it cannot take is lost, and `tell` hears of the first time."""

    def __init__(self, number: int, tell: Callable[[OSError], None], ends_unheard: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self._tell = tell
        self._ends_unheard = ends_unheard
        self._told = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of it, or lose what cannot be written: nothing needs a second try."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                written: int | None = super().write(rest)
                if written is None:
                    self._wait()
                else:
                    rest = rest[written:]
        except OSError as error:
            unheard = isinstance(error, BrokenPipeError)
            if unheard and self._ends_unheard:
                raise
            if not (self._told or unheard):
                self._told = True
                self._tell(error)
        return size

    def _wait(self) -> None:
        """Wait until a descriptor that others have made one that does not wait takes more."""
        import select

        poll = select.poll()
        poll.register(self.fileno(), select.POLLOUT)
        poll.poll()
