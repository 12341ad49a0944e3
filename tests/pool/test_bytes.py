"""A job of bytes that are no UTF-8 goes through submit, run, transfer, hold, log and history."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import wait_until

pytestmark = pytest.mark.timeout(180)

_RUN = """
import sys
from kettle.tools.programs import run_program
sys.exit(run_program(sys.argv.pop(1)))
"""
# All the events of the pool once more, in another form.
CONFIG = "EVENT_LOG = $(LOG)/Events\nEVENT_LOG_FORMAT_OPTIONS = JSON\n"
# No character of UTF-8: "é" of Latin-1.
ODD = b"\xe9"
PROGRAM = b"""#!/bin/sh
printf '%s|%s|' "$1" "$FOO"
cat b\xe9d.dat
printf made >m\xe9de
"""
JOB = b"""executable = p\xe9.sh
arguments = \xe9 two
environment = "FOO=v\xe9"
should_transfer_files = yes
transfer_input_files = b\xe9d.dat
batch_name = ba\xe9tch
output = o\xe9ut
error = e\xe9rr
log = l\xe9og
request_memory = 10MB
request_disk = 1MB
+Foo = "f\xe9o"
requirements = TARGET.Machine =!= "m\xe9"
on_exit_hold = true
on_exit_hold_reason = "why \xe9"
queue
"""
MANY = b"""executable = /bin/echo
transfer_executable = false
arguments = $(Item)
output = out.$(Process)
max_materialize = 1
request_memory = 10MB
request_disk = 1MB
queue Item in (a\xe9 b\xe9)
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("bytes"), CONFIG) as pool:
        yield pool


def run(pool: PersonalPool, work: Path, *words: str | bytes) -> bytes:
    """Run a tool in a process of its own, whose streams are real ones; return what it printed."""
    environment = {**pool.environment(), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *words],
        cwd=work,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert b"Traceback" not in done.stderr, done.stderr
    return done.stdout


def count_of(pool: PersonalPool, work: Path, tool: str, constraint: str) -> int:
    return len(run(pool, work, tool, "-af", "ProcId", "-constraint", constraint).split())


def written(work: Path, name: bytes) -> bytes:
    return Path(os.fsdecode(os.path.join(os.fsencode(work), name))).read_bytes()


def test_a_job_of_odd_bytes_runs_and_is_told_of(pool: PersonalPool, work: Path) -> None:
    place = os.fsencode(work)
    for name, content in ((b"p\xe9.sh", PROGRAM), (b"b\xe9d.dat", b"data"), (b"a.sub", JOB)):
        path = os.path.join(place, name)
        Path(os.fsdecode(path)).write_bytes(content)
        os.chmod(path, 0o755)
    run(pool, work, "condor_submit", "a.sub")
    wait_until(lambda: count_of(pool, work, "condor_q", "JobStatus == 5") == 1, 30)
    assert written(work, b"o\xe9ut") == b"\xe9|v\xe9|data"
    assert written(work, b"m\xe9de") == b"made"
    log = written(work, b"l\xe9og")
    assert b"012 (" in log
    assert b"\n\twhy \xe9\n" in log
    assert not any(b"\n%s (" % number in log for number in (b"007", b"021", b"022", b"024"))
    # Every way to ask for it.
    for words in ([], ["-nobatch"], ["-hold"], ["-batch"], ["-l"], ["-af", "Args"]):
        assert ODD in run(pool, work, "condor_q", *words), words
    # The reference writes it so into XML and new ads, and as it is everywhere else.
    for word in ("-xml", "-l:new"):
        assert rb"f\351o" in run(pool, work, "condor_q", word)
    for words in (["-json"], ["-l:json"]):
        (ad,) = json.loads(run(pool, work, "condor_q", *words).decode("utf-8", "surrogateescape"))
        assert ad["Foo"] == "f\udce9o"
    run(pool, work, "condor_q", "-better-analyze")
    assert count_of(pool, work, "condor_q", 'Foo == "f\udce9o"') == 1
    for tool in (["status"], ["status", "--json"], ["why", "1.0"], ["why", "1.0", "--json"]):
        run(pool, work, "kettle", *tool)
    run(pool, work, "condor_rm", "-all", "-reason", b"gone \xe9")
    wait_until(lambda: count_of(pool, work, "condor_history", 'Foo == "f\udce9o"') == 1, 30)
    for words in (["-l"], ["-json"], ["-af", "Args"], [], ["-wide"]):
        assert ODD in run(pool, work, "condor_history", *words), words
    assert rb"f\351o" in run(pool, work, "condor_history", "-xml")
    assert b"gone \xe9" in written(work, b"l\xe9og")
    run(pool, work, "kettle", "trace", "1.0")
    assert b"why \xe9" in Path(pool.log_folder, "Events").read_bytes()
    run(pool, work, "condor_wait", b"l\xe9og")


def test_items_of_odd_bytes_are_materialized(pool: PersonalPool, work: Path) -> None:
    (work / "many.sub").write_bytes(MANY)
    run(pool, work, "condor_submit", "many.sub")
    wait_until(lambda: count_of(pool, work, "condor_q", 'Cmd == "/bin/echo"') == 0, 30)
    assert written(work, b"out.0") == b"a\xe9\n"
    assert written(work, b"out.1") == b"b\xe9\n"
