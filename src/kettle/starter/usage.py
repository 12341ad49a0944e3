"""What a job used, as update ads say it: periodic, final, and at the exit.

Arithmetic over samples of the process table; `services/use.py` takes the samples (R091).
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.classad.text import render_real
from kettle.named_tuples import NamedTuple

MEMORY_USAGE_EXPRESSION = "((ResidentSetSize + 1023) / 1024)"


class Sample(NamedTuple):
    """The job's processes at one moment. Sizes in KiB, times in seconds."""

    pids: int = 0
    image_kib: int = 0
    resident_kib: int = 0
    user_seconds: float = 0.0
    system_seconds: float = 0.0
    read_kib: int = 0
    write_kib: int = 0
    reads: int = 0
    writes: int = 0


_NOTHING = Sample()


class Usage(NamedTuple):
    """The highest and last values of a job, and its times."""

    started_at: float = 0.0
    peak: Sample = _NOTHING
    last: Sample = _NOTHING
    disk_kib: int = 0

    def observe(self, sample: Sample) -> Usage:
        """Take in a sample; sizes keep their peak, times never go down."""
        peak = Sample._make(map(max, self.peak, sample))
        return Usage(self.started_at, peak, sample, self.disk_kib)


def update_ad(usage: Usage, pid: int, state: str, now: float) -> ClassAd:
    """Return a periodic update (register_job_info)."""
    peak = usage.peak
    ran_seconds = int(now - usage.started_at)
    figures: dict[str, int] = {
        "JobPid": pid,
        "NumPids": usage.last.pids,
        "ImageSize": peak.image_kib,
        "ResidentSetSize": peak.resident_kib,
        "DiskUsage": usage.disk_kib,
        "BlockReads": peak.reads,
        "BlockWrites": peak.writes,
        "BlockReadKbytes": peak.read_kib,
        "BlockWriteKbytes": peak.write_kib,
        "RecentBlockReads": 0,
        "RecentBlockWrites": 0,
        "RecentBlockReadKbytes": 0,
        "RecentBlockWriteKbytes": 0,
        "JobStartDate": int(usage.started_at),
        "StatsLifetime": ran_seconds,
        "RecentStatsLifetime": ran_seconds,
    }
    ad = ClassAd()
    for name, figure in figures.items():
        # As text: it is only ever sent on.
        ad.insert_text(name, str(figure))
    ad["JobState"] = state
    ad.insert_text("MemoryUsage", MEMORY_USAGE_EXPRESSION)
    ad.insert_text("RemoteUserCpu", _real(peak.user_seconds))
    ad.insert_text("RemoteSysCpu", _real(peak.system_seconds))
    return ad


def final_figures(usage: Usage, now: float, files: int) -> dict[str, str]:
    """Return, as texts, what only a last update says; `files` are those in the sandbox."""
    figures = {"NumPids": "0", "CpusUsage": _real(cpus_usage(usage, now))}
    if usage.started_at:
        figures["JobDuration"] = _real(max(0.0, now - usage.started_at))
    figures["ScratchDirFileCount"] = str(files)
    figures["ExecuteDirWasEncrypted"] = "false"
    return figures


def _real(number: float) -> str:
    return render_real(round(number, 6), old=True)


def cpus_usage(usage: Usage, now: float) -> float:
    """Return the cores the job kept busy on average."""
    spent = usage.peak.user_seconds + usage.peak.system_seconds
    seconds = now - usage.started_at
    return round(spent / seconds, 6) if seconds > 0 else 0.0
