"""`kettle doctor`: what is wrong with this machine, installation or pool, and how to mend it.

Every check is one row of CHECKS: a function that looks at one thing and says one sentence. The
command fails if one of them found something that keeps jobs from running.
"""

from __future__ import annotations

import argparse
import grp
import importlib.util
import json
import os
import resource
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import kettle
from kettle.config.declared import check_values, find_slips
from kettle.errors import ConfigError, KettleError
from kettle.pool.making import find_loose
from kettle.runtime.process.privileges import find_account, first_closed
from kettle.runtime.process.terminals import Terminals, try_terminal
from kettle.tools.front import place
from kettle.tools.front.findings import visible
from kettle.tools.programs import Streams

GOOD, DOUBT, BAD = "ok", "warning", "problem"


@dataclass(frozen=True)
class Finding:
    """What a check found: `state` is ok, warning or problem; `mend` says what to do about it."""

    check: str
    state: str
    sentence: str
    mend: str = ""


# So little room keeps daemons and jobs from working, and so little some jobs.
_TOO_FEW_GIB, _FEW_GIB = 0.2, 2
# As whom jobs of root run.
_JOBS_ACCOUNT = "nobody"


@dataclass(frozen=True)
class Patient:
    """The pool that is meant (`given` is --dir), its folder, and the command's environment."""

    folder: Path
    environment: Mapping[str, str]
    given: str | None = None


Verdict = tuple[str, str, str]


def check_python(_: Patient) -> Verdict:
    """Which Python this is, and in root's pools whether jobs can run it as condor_chirp does.

    Too old a one does not come this far.
    """
    which = f"Python {'.'.join(map(str, sys.version_info[:3]))} in {sys.prefix}"
    closed = _closed_to_jobs((sys.executable, os.path.dirname(kettle.__file__)))
    if closed is None:
        return GOOD, which, ""
    said = f"{which}; {closed} is closed to {_JOBS_ACCOUNT}, so that condor_chirp fails in jobs"
    return DOUBT, said, f"chmod o+x {closed}, or install Kettle with another Python"


def _closed_to_jobs(paths: Iterable[str]) -> str | None:
    """Return the first folder on the way to these that is closed to who runs root's jobs."""
    if os.geteuid() != 0:
        return None
    try:
        account = find_account(_JOBS_ACCOUNT)
    except KettleError:
        return None
    return next(filter(None, (first_closed(account, path) for path in paths)), None)


def check_libraries(_: Patient) -> Verdict:
    """The libraries that every pool needs can be imported."""
    names = ("cryptography", "numpy", "psutil", "rich", "setproctitle", "uvloop")
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        return BAD, f"missing: {', '.join(missing)}", f"pip install {' '.join(missing)}"
    return GOOD, "all libraries are there", ""


def check_programs(patient: Patient) -> Verdict:
    """Programs that some features start."""
    wanted = {"sshd": "condor_ssh_to_job", "sendmail": "notification by mail"}
    path = patient.environment.get("PATH", "") + ":/usr/sbin:/sbin:/usr/lib"
    missing = [
        f"{name} (for {why})" for name, why in wanted.items() if not shutil.which(name, path=path)
    ]
    if missing:
        return DOUBT, f"not installed: {', '.join(missing)}", "only if you want these features"
    return GOOD, "sshd and a mailer are there", ""


def check_terminals(_: Patient) -> Verdict:
    """A shell beside a job can have a terminal; as root its starter sees to that."""
    found = try_terminal()
    if found is Terminals.GIVEN:
        return GOOD, "a shell beside a job gets a terminal", ""
    lacks = "a shell beside a job (condor_ssh_to_job, interactive jobs) gets no terminal"
    if found is Terminals.NONE:
        return DOUBT, f"{lacks}: none can be opened", "let everybody write /dev/ptmx"
    number = grp.getgrnam("tty").gr_gid
    why = "/dev/pts is not mounted for the group tty"
    return DOUBT, f"{lacks}: {why}", f"as root: mount -o remount,gid={number},mode=620 /dev/pts"


def check_folder(patient: Patient) -> Verdict:
    """The pool's folder can be written."""
    folder = patient.folder
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        return BAD, f"{folder} cannot be written", "choose another folder: kettle up --dir D"
    with tempfile.NamedTemporaryFile(dir=folder) as probe:
        age = abs(os.fstat(probe.fileno()).st_mtime - time.time())
    if age > 5:
        return (
            DOUBT,
            f"{folder}'s clock is {age:.0f} s away from this machine's",
            "synchronise the clocks",
        )
    return GOOD, f"{folder} can be written", ""


def check_disk(patient: Patient) -> Verdict:
    """There is room for the spool and for jobs, wherever they are."""
    folder = patient.folder
    while not folder.exists():
        folder = folder.parent
    # Of each disk its first folder.
    disks: dict[tuple[int, int], Path] = {}
    for each in (folder, *_places(patient)):
        disks.setdefault((shutil.disk_usage(each).free, os.stat(each).st_dev), each)
    found = sorted((free / 2**30, place) for (free, _), place in disks.items())
    full = [f"{free:.2f} GiB free in {place}" for free, place in found if free < _TOO_FEW_GIB]
    if full:
        return BAD, "; ".join(full), "make room, or choose another folder"
    few = [f"only {free:.1f} GiB free in {place}" for free, place in found if free < _FEW_GIB]
    if few:
        return DOUBT, "; ".join(few), "jobs that need more will not match"
    free, folder = found[0]
    return GOOD, f"{free:.0f} GiB free in {folder}", ""


def _places(patient: Patient) -> list[Path]:
    """Return the folders that the daemons write to, as far as they are known and there."""
    try:
        config = place.read_configuration(patient.given, patient.environment)[1]
    except KettleError:
        return []
    named = [] if config is None else [config.get(name) for name in ("LOG", "SPOOL", "EXECUTE")]
    return [Path(name) for name in named if name and os.path.isdir(name)]


def check_clock(_: Patient) -> Verdict:
    """The clock is not plainly wrong: tokens and leases depend on it."""
    newest = max(path.stat().st_mtime for path in Path(__file__).parent.glob("*.py"))
    if time.time() < newest - 86400:
        return BAD, "the clock is before the time this program was installed", "set the clock"
    return GOOD, time.strftime("%Y-%m-%d %H:%M:%S %Z"), ""


def check_limits(_: Patient) -> Verdict:
    """Enough descriptors for the daemons."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1024:
        return DOUBT, f"at most {hard} open files", "raise it: ulimit -n 4096"
    return GOOD, f"{soft} open files, {hard} at most", ""


def check_ports(_: Patient) -> Verdict:
    """The loopback interface carries connections."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=2).close()
    except OSError as error:
        return BAD, f"127.0.0.1 does not answer itself: {error}", "bring up the loopback interface"
    return GOOD, "127.0.0.1 answers", ""


def check_name(_: Patient) -> Verdict:
    """The host's name resolves."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return DOUBT, f"the host name {name} does not resolve", "add it to /etc/hosts"
    return GOOD, f"{name} resolves", ""


def check_configuration(patient: Patient) -> Verdict:
    """The configuration that the tools would read parses, and means what it seems to."""
    try:
        where, config = place.read_configuration(patient.given, patient.environment)
        if config is None:
            return GOOD, where, ""
        check_values(config)
    except KettleError as error:
        return BAD, str(error), "mend the line, then: kettle doctor"
    loose = find_loose(each for file in config.files for each in (os.path.dirname(file), file))
    if loose is not None:
        return DOUBT, f"everybody can write {loose}", f"look at it, then: chmod go-w {loose}"
    for name, origin, near in find_slips(config):
        return DOUBT, f"{origin}: nothing reads {name}", f"did you mean {near}?"
    return GOOD, where, ""


def check_places(patient: Patient) -> Verdict:
    """The folders that the daemons write to can be written."""
    try:
        config = place.read_configuration(patient.given, patient.environment)[1]
    except KettleError:
        return DOUBT, "not known while the configuration is broken", ""
    if config is None:
        return GOOD, "kettle up makes them", ""
    for name in ("LOG", "SPOOL", "EXECUTE"):
        folder = config.get(name) or ""
        if not os.path.isdir(folder):
            return BAD, f"{name} is {folder or 'nowhere'}, which is no folder", f"mkdir -p {folder}"
        if not os.access(folder, os.W_OK | os.X_OK):
            return BAD, f"{name}, {folder}, cannot be written", f"chmod u+rwx {folder}"
    return GOOD, "LOG, SPOOL and EXECUTE can be written", ""


def check_pool(patient: Patient) -> Verdict:
    """Every daemon that the pool should have is there and answers."""
    try:
        missing = place.find_missing(patient.given, patient.environment)
    except ConfigError:
        return DOUBT, "not asked while the configuration is broken", ""
    except KettleError as error:
        return DOUBT, str(error), "kettle up"
    if missing:
        first, *_ = missing
        said = "; ".join(f"the {name} {why}" for name, why in missing.items())
        log = f"its log says why (condor_fetchlog {socket.gethostname()} {first.upper()})"
        return BAD, said, f"condor_restart -daemon {first}; {log}"
    return GOOD, "its daemons answer", ""


CHECKS: tuple[tuple[str, Callable[[Patient], Verdict]], ...] = (
    ("Python", check_python),
    ("libraries", check_libraries),
    ("programs", check_programs),
    ("terminals", check_terminals),
    ("folder", check_folder),
    ("disk", check_disk),
    ("clock", check_clock),
    ("limits", check_limits),
    ("ports", check_ports),
    ("host name", check_name),
    ("configuration", check_configuration),
    ("places", check_places),
    ("pool", check_pool),
)


def examine(patient: Patient) -> list[Finding]:
    """Run every check; one that falls over is itself a finding."""
    findings = []
    for name, check in CHECKS:
        try:
            findings.append(Finding(name, *check(patient)))
        except Exception as error:  # noqa: BLE001 - what is wrong with a machine is not foreseen
            findings.append(Finding(name, BAD, f"could not be checked: {error}"))
    return findings


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle doctor`."""
    parser = argparse.ArgumentParser(
        description="Check installation, configuration, clock, disk, permissions, ports, peers."
    )
    place.add_folder_option(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Examine and print; 1 if there is a problem that keeps jobs from running."""
    folder = place.choose_folder(arguments.dir, environment)
    if place.is_configured(arguments.dir, environment):
        # Somebody else's pool: what can be looked at is where its configuration lies.
        folder = Path(environment["CONDOR_CONFIG"]).parent
    findings = examine(Patient(folder, environment, arguments.dir))
    if arguments.json:
        streams.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2) + "\n")
    else:
        streams.stdout.write(
            render_findings(findings, colour=place.may_colour(environment, streams))
        )
    return 1 if any(finding.state == BAD for finding in findings) else 0


def render_findings(findings: list[Finding], *, colour: bool) -> str:
    """Return one line a finding, and below each that is not ok how to mend it."""
    marks = {GOOD: ("✔", "32"), DOUBT: ("!", "33"), BAD: ("✘", "31")}
    width = max(len(finding.check) for finding in findings)
    lines = []
    for finding in findings:
        mark, code = marks[finding.state]
        shown = f"\x1b[{code}m{mark}\x1b[0m" if colour else mark
        first, *more = visible(finding.sentence).splitlines()
        lines.append(f"{shown} {finding.check:<{width}}  {first}")
        lines += [f"  {'':<{width}}  {line}" for line in more]
        if finding.mend:
            lines.append(f"  {'':<{width}}  → {visible(finding.mend)}")
    return "\n".join(lines) + "\n"
