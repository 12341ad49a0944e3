"""The tables of `condor_who`: slots that run jobs, the jobs themselves, or the startds.

The process of a job is found below its starter in /proc where the slot's ad does not say it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.tools.phrases import SaidError
from kettle.tools.printing.columns import Columns
from kettle.tools.printing.print_format import PrintFormat
from kettle.tools.printing.tables import Cell, render_table
from kettle.tools.printing.times import format_span, readable
from kettle.tools.status.ospool import banner, startd_name
from kettle.tools.status.ospool import cells as ospool_cells


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    address: str = ""
    folder: str = ""
    daemons: bool = False
    startd: bool = False
    quick: bool = False
    wait_seconds: int = 0
    condition: str = ""
    limit: int = 0
    ospool: bool = False
    long: bool = False
    # The jobs of claims as the startd knows them, instead of the slots.
    jobs: bool = False
    # Whether it is said where was looked, and whom was asked.
    verbose: bool = False
    width: int = 0
    pid: int = 0
    every_process: bool = False
    # Which process a startd's address is of, where that was asked for.
    pids: dict[str, int] = field(default_factory=dict)
    # The print formats that were read.
    formats: list[PrintFormat] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    added: Columns = field(default_factory=Columns)
    print_format: str = ""
    banner_format: str = ""
    columns: Columns = field(default_factory=Columns)


def render(wish: Wish, found: Mapping[str, Sequence[ClassAd]]) -> str:
    """Return what is printed about what the startds at these addresses answered."""
    if wish.long:
        from kettle.classad.forms import render_ads

        return render_ads([ad for ads in found.values() for ad in ads], "long")
    form = _read_format(wish, wish.print_format) if wish.print_format else None
    found = _chosen(form, found)
    show, parts = _table_of(wish, form), []
    for address, answer in found.items():
        ads = sorted(answer, key=_slot_number)
        if wish.columns and not wish.columns.headings:
            parts += [wish.columns.render(ad).removesuffix("\n") for ad in ads]
        elif wish.startd:
            parts += [line for ad in ads for line in ("", *show([ad]), "")]
        elif ads:
            parts += ["", *_banner(wish, address, ads), *show(ads), ""]
    return "".join(f"{line}\n" for line in parts)


def _chosen(
    form: PrintFormat | None, found: Mapping[str, Sequence[ClassAd]]
) -> Mapping[str, Sequence[ClassAd]]:
    """Return the ads that a print format's WHERE chooses."""
    if form is None or not form.constraint:
        return found
    try:
        condition = parse_expression(form.constraint)
    except ClassAdSyntaxError as error:
        said = f"WHERE expression is not valid: {form.constraint}\nError: invalid constraint\n"
        raise SaidError(said) from error
    return {
        address: [ad for ad in ads if ad.satisfies(condition)] for address, ads in found.items()
    }


def _banner(wish: Wish, address: str, ads: Sequence[ClassAd]) -> list[str]:
    """Return what stands above a startd's table: whose it is, and how many jobs run there."""
    first = ads[0]
    name = first.string("Machine") or _host(first)
    if wish.banner_format:
        above = _read_format(wish, wish.banner_format).mask.render(first).split("\n")
    elif wish.ospool:
        above = [*banner(first), f"Startd : {startd_name(first, name)}"]
    else:
        above = [f"--Startd : {name}"]
    who = f" PID {wish.pids[address]}" if address in wish.pids else ""
    return [*above[:-1], f"{above[-1]}{who} has {len(ads)} job(s) running:"]


def _host(ad: ClassAd) -> str:
    """Return the machine of a job's slot: `vm` of slot1_1@vm."""
    return (ad.string("RemoteHost") or "").rpartition("@")[2]


def _read_format(wish: Wish, path: str) -> PrintFormat:
    from kettle.tools.printing.print_format import read_print_format
    from kettle.tools.queue import job_ways as jobs
    from kettle.tools.status import machine_ways as slots

    try:
        found = read_print_format(
            path,
            {**jobs.WAYS, **slots.WAYS},
        )
    except UsageError as error:
        raise SaidError(str(error)) from None
    wish.formats.append(found)
    return found


def _table_of(wish: Wish, form: PrintFormat | None) -> Callable[[Sequence[ClassAd]], list[str]]:
    """Return what lays out the heading and rows of one machine's slots."""
    mask = form.mask if form is not None else None
    # A format that chooses nothing leaves the usual table.
    chosen = mask if mask is not None and mask.columns else wish.columns or None
    if chosen is not None:

        def by_columns(ads: Sequence[ClassAd]) -> list[str]:
            chosen.measure(ads)
            if mask is not None:
                # What is printed makes columns wider, those of the headings too.
                _ = [chosen.render(ad) for ad in ads]
            return [chosen.render_headings(), *map(chosen.render, ads)]

        show = by_columns
    else:
        cells = _cells_of(wish)

        def by_cells(ads: Sequence[ClassAd]) -> list[str]:
            heading, _, *rows = render_table(cells, ads, wish.added or None)
            return [heading, *rows]

        show = by_cells

    def cut(ads: Sequence[ClassAd]) -> list[str]:
        lines = [line.rstrip("\n") for line in show(ads)]
        return [line[: wish.width - 1] for line in lines] if wish.width else lines

    return cut


def _cells_of(wish: Wish) -> tuple[Cell, ...]:
    if wish.jobs:
        return JOB_CELLS
    if wish.startd:
        return STARTD_CELLS
    return ospool_cells(_RUNTIME, _process) if wish.ospool else CELLS


def _slot_number(ad: ClassAd) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", _slot(ad) or ""))


def _slot(ad: ClassAd) -> str | None:
    """Return the number of a slot: `1_2` of slot1_2@host."""
    name = (ad.string("Name") or ad.string("RemoteHost") or "").partition("@")[0]
    return name.removeprefix("slot") or None


def _text(name: str) -> Callable[[ClassAd], str]:
    return lambda ad: ad.string(name) or "undefined"


def _runtime(ad: ClassAd) -> str | None:
    seconds = ad.integer("TotalJobRunTime")
    if seconds is None:
        start, now = ad.integer("JobStart"), ad.integer("MyCurrentTime")
        if start is None or now is None:
            return None
        seconds = max(0, now - start)
    return format_span(seconds).strip().rjust(12)


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


_RUNTIME = Cell("  RUNTIME", 12, _runtime, grows=True)
CELLS = (
    Cell("OWNER", 5, lambda ad: ad.string("RemoteOwner"), grows=True),
    Cell("CLIENT", 6, lambda ad: ad.string("ClientMachine"), grows=True),
    Cell("SLOT", 4, _slot, grows=True),
    Cell("JOB", 3, lambda ad: ad.string("JobId"), grows=True),
    _RUNTIME,
    Cell("PID", 3, _process, grows=True),
    Cell("JOB_DIR", 7, _folder, grows=True),
)
# What there is of each startd.
STARTD_CELLS = (
    Cell("NAME", 4, lambda ad: ad.string("Name"), grows=True),
    Cell("ADDRESS", 7, lambda ad: ad.string("MyAddress"), grows=True),
)
_MEMORY = readable(1024 * 1024)
# The jobs; MEM_USE is what a job asked for, as in the reference.
JOB_CELLS = (
    Cell("SLOT", 4, lambda ad: (ad.string("RemoteHost") or "").partition("@")[0], grows=True),
    Cell("USER", 4, _text("User"), grows=True),
    Cell("PID", 3, lambda ad: str(ad.integer("JobPid") or "undefined"), grows=True),
    Cell("MEM_USE", 7, _MEMORY("RequestMemory"), grows=True),
    Cell("PROGRAM", 7, _text("Cmd"), grows=True),
)
