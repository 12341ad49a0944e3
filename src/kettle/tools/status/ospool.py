"""`condor_who -ospool`: the columns, and what stands above them, for pilots of the OSPool.

The names and orders are the reference's. A banner is of one startd: its batch system, since when
it runs, where its files are.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kettle.classad import ClassAd
from kettle.tools.printing.tables import Cell
from kettle.tools.printing.times import readable


def _user(ad: ClassAd) -> str | None:
    who = ad.string("RemoteUser")
    return None if who is None else who.partition("@")[0]


def _number(name: str, form: str = "{}") -> Callable[[ClassAd], str | None]:
    def show(ad: ClassAd) -> str | None:
        value = ad.evaluate(name)
        return form.format(value) if isinstance(value, int | float) else None

    return show


def cells(runtime: Cell, process: Callable[[ClassAd], str | None]) -> tuple[Cell, ...]:
    """Return the columns; what is the same in the usual table is given."""
    memory, disk = readable(1024 * 1024), readable(1024)
    return (
        Cell("PROJECT", 7, lambda ad: ad.string("ProjectName") or "undefined", grows=True),
        Cell("USER", 4, lambda ad: _user(ad) or "undefined", grows=True),
        Cell("AP_HOSTNAME", 11, lambda ad: ad.string("ClientMachine"), grows=True),
        Cell("JOBID", 5, lambda ad: ad.string("JobId"), grows=True),
        runtime,
        Cell("MEMORY", 9, memory("Memory"), left=False),
        Cell("DISK", 9, disk("Disk"), left=False),
        Cell("CPUs", 4, _number("Cpus"), left=False),
        Cell("EFCY", 4, _number("CpusUsage", "{:.2f}"), grows=True),
        Cell("PID", 3, process, grows=True),
        Cell("STARTER", 7, _number("StarterPid"), grows=True),
    )


def banner(ad: ClassAd) -> list[str]:
    """Return the lines above the table of the startd that an ad is of; its name comes last."""
    born = ad.integer("DaemonStartTime")
    rows = (
        ("Batch System", ad.string("GLIDEIN_SiteWMS") or ""),
        ("Batch Job   ", ad.string("GLIDEIN_SiteWMS_JobId") or ""),
        (
            "Birthdate   ",
            "" if born is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(born)),
        ),
        ("Temp Dir    ", ad.string("GLIDEIN_Tmp_Dir") or ""),
    )
    return [f"{name} : {value}" for name, value in rows]


def startd_name(ad: ClassAd, machine: str) -> str:
    """Return how the banner calls a startd."""
    return ad.string("GLIDEIN_MASTER_NAME") or machine
