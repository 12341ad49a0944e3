"""`condor_who`: which jobs run on this machine, asked of its startds directly (R073).

The startds are found by the address files and logs in LOG. The process of a job is found below
its starter in /proc.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import UsageError
from kettle.patterns import late_pattern
from kettle.tools.options import MANY, Given, Option, read_options, run_tool
from kettle.tools.printing.columns import Columns
from kettle.tools.printing.tables import Cell, render_table
from kettle.tools.printing.times import format_span
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach

USAGE = """\
Usage: condor_who [options]
  -address HOST       the startd at this address
  -logdir DIR         startds whose address files are in this folder
  -allpids            all startds of this machine (those of LOG)
  -daemons            the daemons instead of the jobs
  -long               whole ads
  -wide               nothing is cut
  -format FORMAT EXPR, -af[:jlhVr,tngTY] EXPR...
  -help, -version
"""

OPTIONS = (
    Option("address", 4, 1),
    Option("af", 2, MANY, qualified=True),
    Option("allpids", 2),
    Option("autoformat", 5, MANY, qualified=True),
    Option("daemons", 3),
    Option("debug", 2, qualified=True),
    Option("diagnostic", 4),
    Option("format", 1, 2),
    Option("help", 1),
    Option("logdir", 3, 1),
    Option("long", 1),
    Option("verbose", 4),
    Option("version", 7),
    Option("wide", 1),
)

# Daemons and the logs in which they say who they are.
_DAEMONS = {
    "Collector": "CollectorLog",
    "Master": "MasterLog",
    "Negotiator": "NegotiatorLog",
    "Schedd": "SchedLog",
    "Startd": "StartLog",
}


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    address: str = ""
    folder: str = ""
    daemons: bool = False
    long: bool = False
    columns: Columns = field(default_factory=Columns)


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_who`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=show,
        prefix="condor_who: ",
    )


def show(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Print what runs here."""
    reach = Reach(environment)
    folder = Path(wish.folder or reach.config.get("LOG") or ".")
    text = (
        render_daemons(folder, reach.config)
        if wish.daemons
        else render(wish, fetch(reach, wish, folder))
    )
    streams.stdout.write(text)
    return 0


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    for option in read_options(words, OPTIONS):
        if option.name in ("af", "autoformat"):
            wish.columns.add_auto(option.qualifiers, list(option.values))
        else:
            _take(wish, option)
    return wish


def _take(wish: Wish, option: Given) -> None:
    name = option.name
    if name == "address":
        wish.address = option.value
    elif name == "logdir":
        wish.folder = option.value
    elif name in ("daemons", "long"):
        setattr(wish, name, True)
    elif name == "format":
        wish.columns.add_format(*option.values)
    elif not name:
        raise UsageError(f"{option.value} is not an option")


def fetch(reach: Reach, wish: Wish, folder: Path) -> list[ClassAd]:
    """Return the ads of slots that run jobs, from every startd of this machine."""
    from kettle.client.pool import make_query, query_ads
    from kettle.errors import NotFoundError
    from kettle.wire.commands import Command
    from kettle.wire.sinful import Sinful

    addresses = [wish.address] if wish.address else find_startds(folder)
    if not addresses:
        raise NotFoundError(f"Can't find the address of a startd in {folder}")
    ads = []
    query = make_query("Machine", constraints=["JobId =!= undefined"])
    for address in addresses:
        ads += query_ads(reach.connector, Sinful.parse(address), Command.QUERY_STARTD_ADS, query)
    return [ad for ad in ads if ad.string("JobId")]


def find_startds(folder: Path) -> list[str]:
    """Return the addresses in the address files of a folder."""
    found = []
    for path in sorted(folder.glob(".startd*_address")):
        with contextlib.suppress(OSError):
            line = path.read_text(encoding="utf-8", errors="replace").split("\n")[0].strip()
            if line:
                found.append(line)
    return found


def render(wish: Wish, ads: list[ClassAd]) -> str:
    """Return what is printed about the jobs, startd after startd."""
    if wish.long:
        from kettle.classad.forms import render_ads

        return render_ads(ads, "long")
    ads = sorted(ads, key=lambda ad: (ad.string("Machine") or "", _slot_number(ad)))
    if wish.columns:
        if wish.columns.headings:
            wish.columns.measure(ads)
        heading = wish.columns.render_headings() if wish.columns.headings else ""
        return heading + "".join(wish.columns.render(ad) for ad in ads)
    machines = dict.fromkeys(ad.string("Machine") or "" for ad in ads)
    parts = []
    for machine in machines:
        own = [ad for ad in ads if (ad.string("Machine") or "") == machine]
        heading, _, *rows = render_table(CELLS, own)
        parts += ["", f"--Startd : {machine} has {len(own)} job(s) running:", heading, *rows, ""]
    return "".join(f"{line}\n" for line in parts)


def _slot_number(ad: ClassAd) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", _slot(ad) or ""))


def _slot(ad: ClassAd) -> str | None:
    """Return the number of a slot: `1_2` of slot1_2@host."""
    name = (ad.string("Name") or "").partition("@")[0]
    return name.removeprefix("slot") or None


def _runtime(ad: ClassAd) -> str | None:
    seconds = ad.integer("TotalJobRunTime")
    if seconds is None:
        start, now = ad.integer("JobStart"), ad.integer("MyCurrentTime")
        if start is None or now is None:
            return None
        seconds = max(0, now - start)
    return format_span(seconds).strip()


def job_process(ad: ClassAd) -> int | None:
    """Return the process of a slot's job: what its ad says, else the starter's first child."""
    told = ad.integer("JobPid")
    if told is not None:
        return told
    starter = ad.integer("StarterPid")
    if starter is None:
        return None
    try:
        text = Path(f"/proc/{starter}/task/{starter}/children").read_text(encoding="ascii")
    except OSError:
        return None
    words = text.split()
    return int(words[0]) if words else None


def _process(ad: ClassAd) -> str | None:
    pid = job_process(ad)
    return None if pid is None else str(pid)


def _folder(ad: ClassAd) -> str | None:
    pid = job_process(ad)
    try:
        return None if pid is None else os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


CELLS = (
    Cell("OWNER", 5, lambda ad: ad.string("RemoteOwner"), grows=True),
    Cell("CLIENT", 6, lambda ad: ad.string("ClientMachine"), grows=True),
    Cell("SLOT", 4, _slot, grows=True),
    Cell("JOB", 5, lambda ad: ad.string("JobId"), grows=True),
    Cell("RUNTIME", 10, _runtime, grows=True),
    Cell("PID", 5, _process, grows=True),
    Cell("JOB_DIR", 7, _folder, grows=True),
)


def render_daemons(folder: Path, config: Config) -> str:
    """Return which daemons have left an address in a log folder, and whether they live."""
    lines = [
        f'\nLOG directory "{folder}"\n',
        "Daemon       Alive  PID    PPID   Exit   Addr                     Executable",
        "------       -----  ---    ----   ----   ----                     ----------",
    ]
    for name, log in _DAEMONS.items():
        configured = config.get(f"{name.upper()}_ADDRESS_FILE") or ""
        places = (folder / f".{name.lower()}_address", Path(configured))
        file = next((place for place in places if place.is_file()), None)
        if file is None:
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        begun = read_beginning(folder / log)
        parent = _parent_of(begun.pid) if begun.pid else 0
        alive, ended = ("yes", "no") if parent else ("no", "???")
        lines.append(
            f"{name:<12} {alive:<6} {begun.pid or 'no':<6} {parent or 'no':<6} {ended:<6} "
            f"{text.split(chr(10))[0]} {begun.program}"
        )
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a daemon wrote to its log when it began last."""

    pid: int = 0
    program: str = ""


_PID = late_pattern(r"\*\* PID = (\d+)")
_PROGRAM = late_pattern(r"\*\* (/.*)")


def read_beginning(log: Path) -> Beginning:
    """Return which process of which program began a log last."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Beginning()
    pids, programs = _PID.findall(text), _PROGRAM.findall(text)
    return Beginning(int(pids[-1]) if pids else 0, programs[-1] if programs else "")


def _parent_of(pid: int) -> int:
    """Return the parent of a process, 0 if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])
