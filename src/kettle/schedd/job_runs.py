"""What a run leaves in its job's ad: at its start, and at its end.

Pure: attributes to commit, as text. Which shadow runs where is `claims`', what becomes of the job
afterwards `job_machine`'s. Names and order as in the queue log of a real schedd.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.match_words import KEPT_WITH_A_SLOT, MATCH_EXPRESSION, REMOTE_POOL
from kettle.classad import ClassAd
from kettle.classad.text import quote_line, read_count
from kettle.policy.attribute_protection import JOB_PID, JOB_PID_BIRTH
from kettle.policy.lease import RUN_LEASE, lease_to_begin_with
from kettle.schedd.job_machine import Attributes
from kettle.schedd.run_records import SHADOW_ADDRESS
from kettle.schedd.settings import round_up
from kettle.wire.security.claim_id import public_claim_id
from kettle.wire.sinful import Sinful

# How the names begin under which a job keeps what NEGOTIATOR_MATCH_EXPRS put into its slot's ad.
_MATCHED = "MATCH_EXP_"
# How long a run's transfers took, in its shadow's last report: for the schedd's ad alone.
MOVING_SECONDS = tuple(
    f"FileTransfer{what}Seconds" for what in ("FileRead", "FileWrite", "NetRead", "NetWrite")
)
# What describes the machine a job runs on, and goes when it leaves it.
_OF_THE_RUN = (
    *MOVING_SECONDS,
    "ClaimId",
    "PublicClaimId",
    "ClaimIds",
    "PublicClaimIds",
    "StartdIpAddr",
    "RemoteHost",
    REMOTE_POOL,
    "RemoteSlotID",
    "DelegatedProxyExpiration",
    "TransferringInput",
    "TransferringOutput",
    "TransferQueued",
    "ShadowBday",
    SHADOW_ADDRESS,
    "WallClockCheckpoint",
    RUN_LEASE,
    JOB_PID,
    JOB_PID_BIRTH,
)

# What a shadow says of an attribute that is to go.
_GONE = "undefined"

# What a job has of its last run until the next one begins.
_OF_THE_LAST_RUN = (
    # Until this run's program begins, which is then counted once (shadow's `is_start_counted`).
    "JobCurrentStartExecutingDate",
    "VacateReason",
    "VacateReasonCode",
    "VacateReasonSubCode",
)


def match_attributes(ad: ClassAd, now: int) -> Attributes:
    """Return what a match changes in a job."""
    changes: Attributes = {
        "NumJobMatches": str((ad.integer("NumJobMatches") or 0) + 1),
        "LastMatchTime": str(now),
    }
    if "FirstJobMatchDate" not in ad:
        changes["FirstJobMatchDate"] = str(now)
    return changes


def claim_attributes(claim_id: str, startd_address: str, slot: ClassAd) -> Attributes:
    """Return what every job that a claim runs gets of it; what the slot does not say is absent."""
    host = slot.string("Name") or slot.string("RemoteHost") or ""
    changes: Attributes = {
        "OrigMaxHosts": "1",
        "ClaimId": quote_line(claim_id),
        "PublicClaimId": quote_line(public_claim_id(claim_id)),
        "StartdIpAddr": quote_line(startd_address),
        "RemoteHost": quote_line(host),
        "StartdPrincipal": quote_line(_principal(startd_address)),
        "RemoteSlotID": str(slot.integer("SlotID") or 0),
        "MachineAttrCpus0": slot.text("Cpus") or "undefined",
        "MachineAttrSlotWeight0": str(slot.integer("SlotWeight") or slot.integer("Cpus") or 1),
    }
    # As in the reference they are the job's for good.
    for name in slot.names():
        if name.startswith(MATCH_EXPRESSION):
            changes[_MATCHED + name] = slot.text(name)
    pool = slot.text(REMOTE_POOL)
    if pool is not None:
        changes[REMOTE_POOL] = pool
    return changes


def start_attributes(ad: ClassAd, of_claim: Attributes, now: int) -> Attributes:
    """Return what the start of a shadow changes in a job; `of_claim` is `claim_attributes`'."""
    changes: Attributes = {
        **of_claim,
        "LastJobLeaseRenewal": str(now),
        RUN_LEASE: str(lease_to_begin_with(ad) or 0),
        **shadow_attributes(ad, now),
        "JobCurrentStartDate": str(now),
        "JobRunCount": str((ad.integer("JobRunCount") or 0) + 1),
        "JobCurrentReconnectAttempt": "undefined",
        **last_start(ad),
    }
    if "JobStartDate" not in ad:
        changes["JobStartDate"] = str(now)
        changes["InitialWaitDuration"] = str(now - (ad.integer("QDate") or now))
    for name in (*_OF_THE_LAST_RUN, *KEPT_WITH_A_SLOT):
        if name in ad and name not in of_claim:
            changes[name] = None
    return changes


def last_start(ad: ClassAd) -> Attributes:
    """Return when the run before the one that begins now began; nothing for the first."""
    began = ad.text("JobCurrentStartDate")
    return {} if began is None else {"JobLastStartDate": began}


def _principal(startd_address: str) -> str:
    """Return whom the sessions that come with claims take the startd for."""
    return f"execute-side@matchsession/{Sinful.parse(startd_address).host}"


def shadow_attributes(ad: ClassAd, now: int) -> Attributes:
    """Return what a new shadow changes, also one that takes over a running job."""
    return {
        "ShadowBday": str(now),
        "NumShadowStarts": str((ad.integer("NumShadowStarts") or 0) + 1),
    }


def reported_attributes(report: Mapping[str, str]) -> Attributes:
    """Return a shadow's last report as changes, without what goes when the job leaves its machine.

    An attribute that is literally undefined goes.
    """
    changes = texts(report)
    for name in _OF_THE_RUN:
        changes.pop(name, None)
    return changes


def texts(report: Mapping[str, str]) -> Attributes:
    """Return a shadow's report as changes; an attribute that is literally undefined goes."""
    length = len(_GONE)
    return {
        name: None if len(text) == length and text.lower() == _GONE else text
        for name, text in report.items()
    }


# Sizes of which a job keeps the largest that any of its runs came to.
_PEAKS = {"imagesize": "ImageSize", "residentsetsize": "ResidentSetSize_RAW"}


def coarse(ad: ClassAd, changes: Attributes, rounded: Mapping[str, int]) -> Attributes:
    """Return changes with the sizes that are kept coarse and, as `_RAW`, exact.

    `rounded` has the percent for names in lower case, as everywhere in the queue.
    """
    kept: Attributes = {}
    for name, text in changes.items():
        lower = name.lower()
        percent = rounded.get(lower)
        exact = None if percent is None or text is None else read_count(text)
        if percent is None or exact is None:
            kept[name] = text
        elif lower not in _PEAKS or exact > (ad.integer(_PEAKS[lower]) or -1):
            kept[f"{name}_RAW"] = text
            kept[name] = str(round_up(exact, percent))
    return kept


def reported_ad(report: Mapping[str, str]) -> ClassAd:
    """Return a shadow's report as an ad."""
    ad = ClassAd()
    for name, text in report.items():
        ad.insert_text(name, text)
    return ad


def end_attributes(ad: ClassAd, now: int) -> Attributes:
    """Return what the end of a run changes in a job, however it ended."""
    began = ad.integer("ShadowBday") or ad.integer("JobCurrentStartDate") or now
    wall_seconds = max(0, now - began)
    total = (ad.real("RemoteWallClockTime") or 0.0) + wall_seconds
    weight = ad.real("MachineAttrSlotWeight0") or 1.0
    slot_seconds = (ad.real("CumulativeSlotTime") or 0.0) + wall_seconds * weight
    changes: Attributes = {
        "LastRemoteWallClockTime": f"{float(wall_seconds):f}",
        "RemoteWallClockTime": f"{total:f}",
        "CumulativeSlotTime": f"{slot_seconds:f}",
    }
    for name, last in (("RemoteHost", "LastRemoteHost"), ("PublicClaimId", "LastPublicClaimId")):
        text = ad.text(name)
        if text is not None:
            changes[last] = text
    for name in _OF_THE_RUN:
        if name in ad:
            changes[name] = None
    return changes


def committed_attributes(ad: ClassAd, now: int) -> Attributes:
    """Return what a run that counted (the job ended by itself) adds to the committed times.

    What lay before its last checkpoint was counted then.
    """
    began = max(ad.integer("ShadowBday") or now, ad.integer("LastCkptTime") or 0)
    wall_seconds = max(0, now - began)
    weight = ad.real("MachineAttrSlotWeight0") or 1.0
    return {
        "CommittedTime": str((ad.integer("CommittedTime") or 0) + wall_seconds),
        "CommittedSlotTime": str((ad.real("CommittedSlotTime") or 0.0) + wall_seconds * weight),
    }
