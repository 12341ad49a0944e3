"""Chirp where access point and execution point are each ours or the real HTCondor's.

One job asks everything there is to ask, word by word, with the real condor_chirp and with ours;
what it hears is the same, whoever answers at either end.

Known by: PASSWORD; who submits by FS.
"""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import kettle
from interop.real_pool import peer_root, real_pool
from interop.test_mixed_pools import (
    AS_ACCOUNT,
    Mixture,
    has_event,
    mixed,
    our_part,
)
from pool_jobs import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HERE = Path(__file__).parent
# Access point and execution point.
REAL = ("real", "real")
PAIRINGS = [("ours", "ours"), ("ours", "real"), ("real", "ours")]
INSIDE = "/usr/libexec/condor/condor_chirp"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PROGRAM = ["libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"]
ALONE = """\
SEC_DEFAULT_AUTHENTICATION_METHODS=FS
STARTER_ALLOW_RUNAS_OWNER=false
DAEMON_LIST=MASTER, COLLECTOR, NEGOTIATOR, SCHEDD, STARTD
"""
JOB = """\
executable = /bin/sh
transfer_executable = false
arguments = "-c '{command}'"
transfer_input_files = {inputs}
should_transfer_files = yes
output = said.txt
error = said.txt
log = job.log
request_memory = 10
request_disk = 10MB
+WantIOProxy = true
+ChirpTestNumber = 42
+ChirpTestText = "a text"
+ChirpTestMark = "<<mark>>"
"""
# What is knowingly answered otherwise: by our starter, whose delayed attributes can be read again;
# by our shadow, which says what cannot be an expression.
READ_AGAIN = {
    "get_job_attr_delayed ChirpStep: b'9\\nUNDEFINED'": "get_job_attr_delayed ChirpStep: b'1\\n7'"
}
REFUSED = {"set_job_attr ChirpTestBad 1+: b'0\\n'": "set_job_attr ChirpTestBad 1+: b'-8\\n'"}


OURS = """\
import sys
sys.path.insert(0, "kettle.zip")
from kettle.tools.programs import run_program
sys.argv[0] = "condor_chirp"
sys.exit(run_program("condor_chirp"))
"""
SOURCE = Path(kettle.__file__).parent


class Place:
    """Where jobs are submitted, and whose they are."""

    def __init__(self, folder: Path, account: str, submit: Callable[[Path], object]) -> None:
        self.folder = folder
        self.account = account
        self.submit = submit


@contextmanager
def place(pairing: tuple[str, str]) -> Iterator[Place]:
    """Bring a pool up."""
    access, _ = pairing
    with ExitStack() as stack:
        if pairing == REAL:
            pool = stack.enter_context(real_pool("kettle-chirp-real"))
            user = pool.folder / "user"
            user.mkdir(exist_ok=True)
            user.chmod(0o777)
            yield Place(user, "tester", lambda home: really_submit(pool.run_as_tester, home))
            return
        if "real" not in pairing:
            folder = Path(tempfile.mkdtemp(prefix="kettle-chirp-"))
            folder.chmod(0o755)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            stack.enter_context(our_part(folder, ALONE))
            wait_until((folder / "log/.collector_address").exists, 30, lambda: "a collector")
            # The real part is not there.
            ours = Mixture(folder, None, "ours")  # type: ignore[arg-type]
            wait_until(lambda: ours.kinds() >= {"Scheduler", "Machine"}, 30, lambda: "ads")
        else:
            theirs = "access point" if access == "real" else "execution point"
            ours = stack.enter_context(mixed("PASSWORD", (theirs,)))
        if access == "real":
            run = ours.real.run_as_tester
            yield Place(ours.real.folder / "user", "tester", lambda home: really_submit(run, home))
        else:
            yield Place(ours.ours / "user", "root", lambda home: submit_here(ours, home))


def really_submit(run: Callable[..., str], home: Path) -> None:
    """Submit with the real tool."""
    run(f"cd {home.name} && {AS_ACCOUNT} condor_submit job.sub")


def submit_here(pool: Mixture, home: Path) -> None:
    """Submit with our tool."""
    pool.ask("condor_submit", str(home / "job.sub"), **dict([AS_ACCOUNT.split("=")]))


def make_files(home: Path, account: str) -> None:
    """Write what the job asks for; one folder is not its owner's."""
    for name in ("sub", "empty", "tree/x", "closed"):
        (home / name).mkdir(parents=True)
        (home / name).chmod(0o755)
    texts = {"in.dat": "abcdefghijklmnopqrstuvwxyz", "cut.dat": "0123456789", "closed/in": "c",
             "sub/one": "hello", "sub/two": "hi", "tree/x/y": "t"}  # fmt: skip
    for name, text in texts.items():
        (home / name).write_text(text)
        (home / name).chmod(0o644)
    (home / "way").symlink_to("in.dat")
    owner = pwd_of(account)
    for path in (home, *home.rglob("*")):
        os.chown(path, *owner, follow_symlinks=False)
    os.chown(home / "closed", 0, 0)
    (home / "closed").chmod(0o700)


def pwd_of(account: str) -> tuple[int, int]:
    """Return user and group of an account: here, or of those that the real one knows."""
    if account != "tester":
        entry = pwd.getpwnam(account)
        return entry.pw_uid, entry.pw_gid
    lines = (peer_root() / "etc/passwd").read_text().splitlines()
    words = next(line for line in lines if line.startswith("tester:")).split(":")
    return int(words[2]), int(words[3])


def hear(where: Place, name: str, command: str, inputs: list[Path]) -> list[str]:
    """Run a job and return the lines it has said."""
    home = where.folder / name
    home.mkdir()
    text = JOB.format(command=command, inputs=", ".join(path.name for path in inputs))
    (home / "job.sub").write_text(f"initialdir = {seen(home)}\n{text}queue\n")
    for path in inputs:
        shutil.copy(path, home / path.name)
    make_files(home, where.account)
    where.submit(home)
    log = home / "job.log"
    wait_until(lambda: has_event(log, "005"), 90, lambda: heard_so_far(home))
    assert log.read_text().count("\n001 (") == 1, log.read_text()
    return (home / "said.txt").read_text().splitlines()


def seen(home: Path) -> str:
    """Return a folder's name as its daemons know it."""
    root = peer_root()
    return f"/{home.relative_to(root)}" if home.is_relative_to(root) else str(home)


def heard_so_far(home: Path) -> str:
    """What there is of a job."""
    return "".join(path.read_text() for path in sorted(home.glob("*.[lt][ox][gt]")))


def interpreter(execute: str) -> str:
    """Return the Python that a job of this side has."""
    common = "/usr/bin/python3"
    return (
        common
        if execute == "real" or os.path.exists(common)
        else os.path.realpath("/proc/self/exe")
    )


def everything(pairing: tuple[str, str]) -> dict[str, list[str]]:
    """Return what both programs hear in one pool."""
    with place(pairing) as where:
        script = HERE / "chirp_script.py"
        command = f"exec {interpreter(pairing[1])} {script.name}"
        word = "" if pairing == REAL else " all"
        told = {"words": hear(where, "words", command + word, [script])}
        tool = HERE / "chirp_tool.sh"
        root = peer_root()
        parts = [root / INSIDE.removeprefix("/"), *(root / LIBRARIES / part for part in PROGRAM)]
        started = f"./{PROGRAM[-1]} --library-path . ./condor_chirp"
        command = f"chmod +x {PROGRAM[-1]} condor_chirp; exec sh {tool.name} {started}"
        told["tool"] = hear(where, "tool", command, [tool, *parts])
        ours = make_ours(where.folder)
        command = f"exec sh {tool.name} {interpreter(pairing[1])} {ours[0].name}"
        told["ours"] = hear(where, "ours", command, [tool, *ours])
        return told


def make_ours(folder: Path) -> list[Path]:
    """Write our condor_chirp as a program that a job of any machine can take along."""
    program, library = folder / "our_chirp.py", folder / "kettle.zip"
    program.write_text(OURS)
    with zipfile.ZipFile(library, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(SOURCE.rglob("*.py")):
            archive.write(path, path.relative_to(SOURCE.parent))
    return [program, library]


def opened(lines: list[str]) -> list[str]:
    """Return the lines that are not about what is closed."""
    return [line for line in lines if "closed" not in line.partition(":")[0]]


@pytest.fixture(scope="module")
def really() -> dict[str, list[str]]:
    """What is heard where everything is the real one's."""
    return everything(REAL)


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
def test_a_job_hears_the_same_through_chirp_whoever_answers(
    pairing: tuple[str, str], really: dict[str, list[str]]
) -> None:
    told = everything(pairing)
    expected = really["words"]
    if pairing[0] == "ours":
        # Whose job it is here is root, to whom nothing is closed.
        told["words"], expected = opened(told["words"]), opened(expected)
    known: dict[str, str] = {}
    known |= READ_AGAIN if pairing[1] == "ours" else {}
    known |= REFUSED if pairing[0] == "ours" else {}
    refused = [line for line in told["words"] if line.startswith("putfile") and "refused" in line]
    told["words"] = [line for line in told["words"] if line not in refused]
    assert told["words"] == [known.get(line, line) for line in expected]
    assert told["tool"] == really["tool"]
    assert told["ours"] == really["tool"]
    # Real shadow and real starter lose each other over such a file.
    assert refused[0] == "putfile nowhere/f 384: refused b''"


def test_our_tool_hears_of_the_real_ones_what_theirs_does(really: dict[str, list[str]]) -> None:
    assert really["ours"] == really["tool"]
