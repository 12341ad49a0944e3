"""What a job used, as update ads say it: periodic, final, and at the exit.

Arithmetic over samples of the process table; `services/job.py` takes the samples (R091).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kettle.classad import ClassAd

MEMORY_USAGE_EXPRESSION = "((ResidentSetSize + 1023) / 1024)"


@dataclass(frozen=True)
class Sample:
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


@dataclass(frozen=True)
class Usage:
    """The highest and last values of a job, and its times."""

    started_at: float = 0.0
    peak: Sample = field(default_factory=Sample)
    last: Sample = field(default_factory=Sample)
    disk_kib: int = 0

    def observe(self, sample: Sample) -> Usage:
        """Take in a sample; sizes keep their peak, times never go down."""
        peak = Sample(
            pids=max(self.peak.pids, sample.pids),
            image_kib=max(self.peak.image_kib, sample.image_kib),
            resident_kib=max(self.peak.resident_kib, sample.resident_kib),
            user_seconds=max(self.peak.user_seconds, sample.user_seconds),
            system_seconds=max(self.peak.system_seconds, sample.system_seconds),
            read_kib=max(self.peak.read_kib, sample.read_kib),
            write_kib=max(self.peak.write_kib, sample.write_kib),
            reads=max(self.peak.reads, sample.reads),
            writes=max(self.peak.writes, sample.writes),
        )
        return replace(self, peak=peak, last=sample)


def update_ad(usage: Usage, pid: int, state: str, now: float) -> ClassAd:
    """Return a periodic update (register_job_info)."""
    peak = usage.peak
    ad = ClassAd()
    ad["JobPid"] = pid
    ad["NumPids"] = usage.last.pids
    ad["JobState"] = state
    ad["ImageSize"] = peak.image_kib
    ad["ResidentSetSize"] = peak.resident_kib
    ad.insert_text("MemoryUsage", MEMORY_USAGE_EXPRESSION)
    ad["RemoteUserCpu"] = round(peak.user_seconds, 6)
    ad["RemoteSysCpu"] = round(peak.system_seconds, 6)
    ad["DiskUsage"] = usage.disk_kib
    ad["BlockReads"] = peak.reads
    ad["BlockWrites"] = peak.writes
    ad["BlockReadKbytes"] = peak.read_kib
    ad["BlockWriteKbytes"] = peak.write_kib
    for name in ("Reads", "Writes", "ReadKbytes", "WriteKbytes"):
        ad[f"RecentBlock{name}"] = 0
    ad["JobStartDate"] = int(usage.started_at)
    ad["StatsLifetime"] = int(now - usage.started_at)
    ad["RecentStatsLifetime"] = int(now - usage.started_at)
    return ad


def cpus_usage(usage: Usage, now: float) -> float:
    """Return the cores the job kept busy on average."""
    spent = usage.peak.user_seconds + usage.peak.system_seconds
    seconds = now - usage.started_at
    return round(spent / seconds, 6) if seconds > 0 else 0.0
