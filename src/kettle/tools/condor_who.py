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
from kettle.errors import KettleError, UsageError
from kettle.tools.condor_version import version_text
from kettle.tools.options import Given, Option, read_options
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
    Option("af", 2, qualified=True),
    Option("allpids", 2),
    Option("autoformat", 5, qualified=True),
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

_DAEMONS = ("Collector", "Master", "Negotiator", "Schedd", "Startd")


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    address: str = ""
    folder: str = ""
    daemons: bool = False
    long: bool = False
    columns: Columns = field(default_factory=Columns)
    information: str = ""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_who`."""
    try:
        wish = read_wish(argv[1:])
    except UsageError as error:
        streams.stderr.write(f"{error}\n{USAGE}")
        return 1
    if wish.information:
        streams.stdout.write(wish.information)
        return 0
    try:
        reach = Reach(environment)
        folder = Path(wish.folder or reach.config.get("LOG") or ".")
        if wish.daemons:
            streams.stdout.write(render_daemons(folder))
            return 0
        ads = fetch(reach, wish, folder)
    except KettleError as error:
        streams.stderr.write(f"condor_who: {error}\n")
        return 1
    streams.stdout.write(render(wish, ads))
    return 0


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    taken: set[int] = set()
    for option in read_options(words, OPTIONS):
        if option.index in taken:
            continue
        if option.name in ("af", "autoformat"):
            texts = []
            for index in range(option.index + 1, len(words)):
                if words[index].startswith("-"):
                    break
                texts.append(words[index])
                taken.add(index)
            wish.columns.add_auto(option.qualifiers, texts)
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
    elif name == "help":
        wish.information = USAGE
    elif name == "version":
        wish.information = version_text()
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


def render_daemons(folder: Path) -> str:
    """Return which daemons have left an address in a log folder, and whether they live."""
    lines = [
        f'\nLOG directory "{folder}"\n',
        "Daemon       Alive  PID    Addr",
        "------       -----  ---    ----",
    ]
    for name in _DAEMONS:
        try:
            text = (folder / f".{name.lower()}_address").read_text(encoding="utf-8")
        except OSError:
            continue
        pid = _pid_of(folder / f"{name}Log")
        alive = pid is not None and Path(f"/proc/{pid}").exists()
        shown = "yes" if alive else "no"
        lines.append(f"{name:<12} {shown:<6} {pid or '':<6} {text.split(chr(10))[0]}")
    return "".join(f"{line}\n" for line in lines)


_PID = re.compile(r"\bPID = (\d+)")


def _pid_of(log: Path) -> int | None:
    """Return the process that began a log last."""
    try:
        found = _PID.findall(log.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return int(found[-1]) if found else None
