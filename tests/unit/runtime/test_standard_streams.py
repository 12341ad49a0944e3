"""The standard streams of a process: which are open, and what becomes of what they cannot take."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

SETTLE = """
import os, sys
from kettle.runtime.standard_streams import settle_streams
settle_streams("me")
"""


def run(code: str, *options: str, **descriptors: object) -> subprocess.CompletedProcess[str]:
    """Run this in an interpreter of its own, after its streams are settled."""
    return subprocess.run(
        [sys.executable, *options, "-c", SETTLE + code],
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        text=True, timeout=60, check=False, stderr=subprocess.PIPE, **descriptors,  # type: ignore[call-overload]
    )  # fmt: skip


def shell(redirection: str, code: str) -> str:
    """Run this with a shell's redirections; return what the shell's own descriptor 3 took."""
    line = f'exec 3>&1; "$@" {redirection}'
    argv = ["/bin/sh", "-c", line, "sh", sys.executable, "-c", SETTLE + code]
    return subprocess.run(argv, text=True, timeout=60, check=True, stdout=subprocess.PIPE).stdout


LINKS = """
import os
os.write(3, " ".join(os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)).encode())
"""


def test_closed_descriptors_are_dev_null_here_and_in_what_is_started() -> None:
    code = f"import subprocess; subprocess.run([sys.executable, '-c', {LINKS!r}], pass_fds=[3])"
    assert shell("<&- >&- 2>&-", code) == "/dev/null /dev/null /dev/null"


def test_no_file_that_is_opened_later_has_the_number_of_a_stream() -> None:
    code = "file = open('/dev/zero'); os.write(3, str(file.fileno() > 2).encode())"
    assert shell("<&- >&- 2>&-", code) == "True"


def test_what_is_closed_can_be_read_and_written() -> None:
    code = "print('a', file=sys.stderr); print('b'); os.write(3, repr(sys.stdin.read()).encode())"
    assert shell("<&- >&- 2>&-", code) == "''"


def test_a_full_output_is_told_of_once() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run("[print('x' * 10000) for _ in range(5)]", stdout=full)
    assert done.returncode == 0
    assert done.stderr == "me: the standard output cannot be written: No space left on device\n"


def test_what_is_written_keeps_its_order_and_its_encoding() -> None:
    code = "print('ä'); sys.stdout.flush(); os.write(1, b'b'); print('c', end='')"
    assert run(code, "-X", "utf8", stdout=subprocess.PIPE).stdout == "ä\nbc"


def test_an_output_without_a_buffer_has_none() -> None:
    code = "sys.stdout.write('a'); os.write(1, b'b')"
    assert run(code, "-u", stdout=subprocess.PIPE).stdout == "ab"


@pytest.mark.parametrize("options", [(), ("-u",)])
def test_an_output_that_does_not_wait_is_waited_for(options: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    taken = []

    def read() -> None:
        with open(reader, "rb") as file:
            taken.append(len(file.read()))

    thread = threading.Thread(target=read)
    thread.start()
    done = run("sys.stdout.write('x' * 500000)", *options, stdout=writer)
    os.close(writer)
    thread.join()
    assert (done.returncode, done.stderr, taken) == (0, "", [500000])


def test_a_broken_pipe_stays_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run("print('x' * 100000)", stdout=writer)
    os.close(writer)
    assert "BrokenPipeError" in done.stderr
