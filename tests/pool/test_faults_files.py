"""Files of jobs that vanish or are something else: held with code, errno and a sentence, and on.

Each case submits a job on hold, spoils something, and lets the job go.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit, wait_until

Change = Callable[[Path], None]

TRUE = "executable = /bin/true\ntransfer_executable = false\n"
OWN = "executable = {0}/program\n"
HERE = "should_transfer_files = no\n"
THERE = "should_transfer_files = yes\n"
SCRIPT = b"#!/bin/sh\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("files"), "NUM_CPUS = 4\n") as made:
        yield made


def nothing(_: Path) -> None:
    pass


def program(data: bytes) -> Change:
    def write(folder: Path) -> None:
        (folder / "program").write_bytes(data)
        (folder / "program").chmod(0o755)

    return write


def file(name: str) -> Change:
    return lambda folder: (folder / name).write_bytes(b"x") and None


def folder(name: str) -> Change:
    return lambda place: (place / name).mkdir()


def gone(name: str) -> Change:
    def remove(place: Path) -> None:
        path = place / name
        path.rmdir() if path.is_dir() else path.unlink()

    return remove


def pipe(name: str) -> Change:
    return lambda place: os.mkfifo(place / name)


def instead(name: str, make: Change) -> Change:
    def change(place: Path) -> None:
        gone(name)(place)
        make(place)

    return change


def without_right(name: str) -> Change:
    return lambda place: (place / name).chmod(0o644)


def foreign_program() -> bytes:
    """Return a program of this machine, said to be for another kind of processor."""
    data = bytearray(Path("/bin/true").read_bytes())
    data[18:20] = (2).to_bytes(2, "little")
    return bytes(data)


# What is asked for; what is there before; what happens then; code, errno and words of the hold.
# fmt: off
CASES: dict[str, tuple[str, Change, Change, int, int, str]] = {
    "log is a folder": (
        TRUE,
        nothing,
        instead("job.log", folder("job.log")),
        22,
        21,
        "cannot open the event log {0}/job.log: Is a directory (errno 21)",
    ),
    "log is a pipe": (
        TRUE,
        nothing,
        instead("job.log", pipe("job.log")),
        22,
        6,
        "cannot open the event log {0}/job.log: No such device or address (errno 6)",
    ),
    "folder of the log is a file now": (
        TRUE + "log = {0}/x/log\n",
        folder("x"),
        lambda at: (gone("x/log")(at), gone("x")(at), (at / "x").touch())[2],
        22,
        20,
        "cannot open the event log {0}/x/log: Not a directory (errno 20)",
    ),
    "output is a folder": (
        TRUE + THERE + "output = out\n",
        nothing,
        folder("out"),
        12,
        21,
        "writing to file {0}/out: (errno 21) Is a directory",
    ),
    "output is a pipe that nobody reads": (
        TRUE + THERE + "output = out\n",
        nothing,
        pipe("out"),
        12,
        6,
        "writing to file {0}/out: (errno 6) No such device or address",
    ),
    "no room for the output": (
        "executable = /bin/echo\ntransfer_executable = false\narguments = words\n"
        "output = /dev/full\n" + THERE, nothing, nothing,
        12, 28, "writing to file /dev/full: (errno 28) No space left on device"),
    "output has a folder that cannot be made": (
        "executable = /bin/mkdir\ntransfer_executable = false\narguments = d\n"
        'transfer_output_files = d\ntransfer_output_remaps = "d=x/d"\n' + THERE,
        nothing, lambda at: (at / "x").touch(), 12, 20,
        "; SHADOW at 127.0.0.1 failed to create directory {0}/x/d: Not a directory (errno 20)"),
    "shared output is a folder": (
        TRUE + HERE + "output = out\n",
        nothing,
        folder("out"),
        7,
        21,
        "Failed to open '{0}/out' as standard output: Is a directory (errno 21)",
    ),
    "initial folder vanished": (
        TRUE + HERE + "initialdir = {0}/x\n",
        folder("x"),
        gone("x"),
        14,
        2,
        "Cannot access initial working directory {0}/x: No such file or directory",
    ),
    "initial folder vanished, output to be brought": (
        TRUE + THERE + "initialdir = {0}/x\noutput = out\n",
        folder("x"),
        gone("x"),
        14,
        2,
        "Cannot access initial working directory {0}/x: No such file or directory",
    ),
    "initial folder is closed": (
        TRUE + HERE + "initialdir = {0}/x\n", folder("x"), without_right("x"),
        14, 13, "Cannot access initial working directory {0}/x: Permission denied"),
    "initial folder of a local job is closed": (
        TRUE + "universe = local\ninitialdir = {0}/x\n", folder("x"), without_right("x"),
        14, 13, "Cannot access initial working directory {0}/x: Permission denied"),
    "input was never there": (
        TRUE + THERE + "transfer_input_files = data\n",
        nothing,
        nothing,
        13,
        2,
        "reading from file {0}/data: (errno 2) No such file or directory",
    ),
    "input vanished": (
        TRUE + THERE + "transfer_input_files = data\n",
        file("data"),
        gone("data"),
        13,
        2,
        "reading from file {0}/data: (errno 2) No such file or directory",
    ),
    "standard input vanished": (
        TRUE + THERE + "input = data\n",
        file("data"),
        gone("data"),
        13,
        2,
        "reading from file {0}/data: (errno 2) No such file or directory",
    ),
    "program vanished before it was sent": (
        OWN + THERE,
        program(SCRIPT),
        gone("program"),
        13,
        2,
        "reading from file {0}/program: (errno 2) No such file or directory",
    ),
    "shared program vanished": (
        OWN + HERE,
        program(SCRIPT),
        gone("program"),
        6,
        2,
        "Failed to execute '{0}/program': (errno=2: 'No such file or directory')",
    ),
    "shared program may not be executed": (
        OWN + HERE,
        program(SCRIPT),
        without_right("program"),
        6,
        13,
        "Failed to execute '{0}/program': (errno=13: 'Permission denied')",
    ),
    "program is a folder": (
        OWN + HERE,
        program(SCRIPT),
        instead("program", folder("program")),
        6,
        13,
        "Failed to execute '{0}/program': (errno=13: 'Permission denied')",
    ),
    "interpreter is missing": (
        OWN + THERE,
        program(b"#!/no/such/shell\n"),
        nothing,
        6,
        2,
        "invalid interpreter (/no/such/shell) specified on first line of script (errno=2",
    ),
    "program is torn": (
        OWN + THERE,
        program(b"\x7fELF\x02\x01\x01" + bytes(60)),
        nothing,
        6,
        8,
        "(errno=8: 'Exec format error')",
    ),
    "program is a letter": (
        OWN + THERE,
        program(b"Dear pool,\n"),
        nothing,
        6,
        8,
        "(errno=8: 'Exec format error')",
    ),
    "program is empty": (
        OWN + THERE,
        program(b"x"),
        program(b""),
        6,
        8,
        "(errno=8: 'Exec format error')",
    ),
    "program is for another processor": (
        OWN + THERE,
        program(foreign_program()),
        nothing,
        6,
        8,
        "(errno=8: 'Exec format error')",
    ),
}
# fmt: on


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_with_a_job_s_files_is_said_in_its_hold(
    pool: PersonalPool, work: Path, case: str
) -> None:
    text, before, after, code, number, words = CASES[case]
    before(work)
    jobs = submit(pool, work, f"{text.format(work)}hold = true\nqueue\n")
    after(work)
    assert run_tool(pool, "condor_release", str(jobs.cluster))[0] == 0
    names = ("HoldReasonCode", "HoldReasonSubCode", "HoldReason")
    said_code, said_number, reason = jobs.wait_for_status(5, *names)
    assert (said_code, said_number) == (str(code), str(number)), reason
    assert words.format(work) in reason
    # And on: the next job of the same slot runs.
    submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0


# Deeper than Python's stack; the path of the last one is longer than the system takes.
NEST = """\
import os
for _ in range(1010):
    os.mkdir("longish")
    os.chdir("longish")
open("file", "w").close()
"""


def test_folders_nested_without_end_are_removed_and_held_where_they_are_to_come_home(
    pool: PersonalPool, work: Path
) -> None:
    (work / "nest.py").write_text(NEST)
    text = (
        f"executable = /usr/bin/env\narguments = python3 -I nest.py\n{THERE}"
        f"transfer_executable = false\ntransfer_input_files = {work}/nest.py\nrequest_disk = 8MB\n"
    )
    left = submit(pool, work / "left", text + "queue\n")
    wanted = submit(pool, work / "wanted", text + "transfer_output_files = longish\nqueue\n")
    left.wait_for(5, 90)
    code, reason = wanted.wait_for_status(5, "HoldReasonCode", "HoldReason")
    assert code == "12", reason
    assert "longish" in reason
    execute = Path(pool.folder, "execute")
    wait_until(lambda: not list(execute.glob("dir_*/")), 90)
