"""What .job.ad and records of the startd say beside the job's ad: what it was given here.

Programs read there where they are, what they have, and what their files are called at home
(observed of real starters: vanilla jobs with and without file transfer, local ones).
"""

from __future__ import annotations

from typing import Final

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd
from kettle.policy.attribute_protection import JOB_PID, JOB_PID_BIRTH
from kettle.policy.lease import RUN_LEASE
from kettle.starter.sandbox import Sandbox
from kettle.transfer.plan import STDERR_NAME, STDOUT_NAME, count_input, streams_share_a_file

# What the startd's records have, and the job's file has not.
_SCRATCH = "CondorScratchDir"
_THE_SCHEDDS = (
    JOB_PID,
    JOB_PID_BIRTH,
    RUN_LEASE,
    "JobCurrentStartExecutingDate",
    "RemoteHost",
    "ShadowIpAddr",
    "ShadowVersion",
    "UidDomain",
)


def job_as_run(
    job: ClassAd, sandbox: Sandbox, had: ClassAd, home: str, *, transfers: bool
) -> ClassAd:
    """Return the job's ad with what .job.ad adds to it; `home` is that of the job's account.

    `had` is what it was given (`Givings`).
    """
    ad = ClassAd(parent=job)
    for name in ("Cmd", "Iwd"):
        text = job.text(name)
        if text is not None:
            ad.insert_text(f"Orig{name}", text)
    if job.integer("JobUniverse") == JobUniverse.LOCAL:
        ad.update(_of_account(_account(job)))
        return _without_the_schedds(ad)
    ad.update(had)
    ad.discard(_SCRATCH)
    if home:
        ad["OSHomeDir"] = home
    if transfers:
        ad["Iwd"] = sandbox.scratch
        ad.update(_streams(job))
    return ad


class Givings:
    """What STARTD_HISTORY has of what jobs were given on their machine, in one sandbox.

    `provisioned` is what the slot has for them, `as_shown`. Nobody changes the ads: what is the
    same for the next job is the same ad.
    """

    def __init__(self, sandbox: Sandbox, provisioned: ClassAd) -> None:
        self._sandbox: Final = sandbox
        self._provisioned: Final = provisioned
        self._last: tuple[tuple[str, object], ClassAd] | None = None

    def to(self, job: ClassAd) -> ClassAd:
        """Return what this job was given."""
        owner = _account(job)
        counts = None if "TransferInputFileCounts" in job else count_input(job)
        if self._last is not None and self._last[0] == (owner, counts):
            return self._last[1]
        ad = ClassAd()
        ad.update(self._provisioned)
        ad.update(_of_account(owner))
        ad[_SCRATCH] = self._sandbox.scratch
        if counts is not None:
            ad["TransferInputFileCounts"] = ClassAd(counts)
        self._last = ((owner, counts), ad)
        return ad


def _account(job: ClassAd) -> str:
    return job.string("OsUser") or job.string("Owner") or ""


def _of_account(owner: str) -> dict[str, object]:
    return {"OsUser": owner} if owner else {}


def _without_the_schedds(ad: ClassAd) -> ClassAd:
    """Return a local job's ad without what the schedd alone needs of it, or tells the starter.

    The reference counts the start when the program has begun.
    """
    shown = ad.flattened()
    for name in _THE_SCHEDDS:
        shown.discard(name)
    if starts := shown.integer("NumJobStarts"):
        shown["NumJobStarts"] = starts - 1
    return shown


def as_shown(provisioned: ClassAd) -> ClassAd:
    """Return what the slot has under the names that .job.ad has for it: GpusProvisioned."""
    shown = ClassAd()
    for name in provisioned:
        kind, _, _ = name.partition("Provisioned")
        text = provisioned.text(name)
        if text is not None:
            shown.insert_text(f"{kind.capitalize()}Provisioned" if kind else name, text)
    return shown


def _streams(job: ClassAd) -> ClassAd:
    """Return under which names the job writes its streams, and what they are called at home."""
    ad = ClassAd()
    error_name = STDOUT_NAME if streams_share_a_file(job) else STDERR_NAME
    for which, special in (("Out", STDOUT_NAME), ("Err", error_name)):
        name = job.string(which)
        if name and name != "/dev/null" and job.boolean(f"Stream{which}") is False:
            ad[which] = special
            ad[f"Original{which}"] = name
    return ad
