"""What a schedd tells of the matches of whole autoclusters, for `condor_q -better-analyze`.

A job that was not looked at by itself learns from those like it why none was matched. Pure; asked
for by `ForAnalysis` in a query. Source: wire notes, QUERY_JOB_ADS.
"""

from __future__ import annotations

from collections.abc import Iterable

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.schedd.queue.jobs import Job

_BUSY = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT)


class MatchNews:
    """The first job of each autocluster among those of an answer."""

    def __init__(self) -> None:
        self._firsts: dict[int, Job] = {}

    def see(self, job: Job) -> None:
        """Take notice of a job of the answer."""
        number = job.ad.integer("AutoClusterId") or 0
        if number > 0:
            self._firsts.setdefault(number, job)

    def tell(self, jobs: Iterable[Job]) -> ClassAd | None:
        """Return an ad with one for each autocluster seen; `jobs` are all of the queue."""
        news = {}
        asked: dict[int, list[Job]] = {}
        for number, job in self._firsts.items():
            if "LastRejMatchReason" in job.ad:
                news[number] = _of_one(number, job.ad)
            else:
                asked[number] = []
        for job in jobs if asked else ():
            members = asked.get(job.ad.integer("AutoClusterId") or 0)
            if members is not None:
                members.append(job)
        news |= {number: _of_all(number, members) for number, members in asked.items()}
        return ClassAd({f"ac{number}": ad for number, ad in news.items()}) if news else None


def _of_one(number: int, job: ClassAd) -> ClassAd:
    ad = ClassAd({"AutoClusterId": number})
    _add_failure(ad, job)
    return ad


def _of_all(number: int, members: list[Job]) -> ClassAd:
    """Return the latest success and failure among jobs alike, and how many there are."""
    ad = ClassAd({"AutoClusterId": number})
    matched = max((job.ad.integer("LastMatchTime") or 0 for job in members), default=0)
    if matched:
        ad["LastMatchTime"] = matched
    failed = max(members, key=lambda job: job.ad.integer("LastRejMatchTime") or 0, default=None)
    if failed is not None and failed.ad.integer("LastRejMatchTime"):
        _add_failure(ad, failed.ad)
    statuses = [job.status for job in members]
    running = sum(statuses.count(status) for status in _BUSY)
    if running:
        ad["NumRunning"] = running
    completed = statuses.count(JobStatus.COMPLETED)
    if completed:
        ad["NumCompleted"] = completed
    ad["NumIdle"] = statuses.count(JobStatus.IDLE)
    ad["NumJobs"] = len(members)
    return ad


def _add_failure(ad: ClassAd, job: ClassAd) -> None:
    """Copy when, why and by which negotiator a job was not matched."""
    for name in ("LastRejMatchReason", "LastRejMatchNegotiator", "LastRejMatchTime"):
        expression = job.lookup(name)
        if expression is not None:
            ad.insert(name, expression)
