"""How often a job was held, left a machine early, and lost its shadow to a failure.

Pure: attributes to commit, as text. What is counted and where, in a table of the reference's:

| Attribute                                 | counts                                              |
|-------------------------------------------|-----------------------------------------------------|
| NumHolds, NumHoldsByReason                | every hold, by the name of its code                 |
| NumSystemHolds                            | those that the schedd made of a fault it found      |
| NumVacates, NumVacatesByReason            | every run that ended with a VacateReasonCode, by    |
|                                           | its name; of files that did not travel (12 and 13)  |
|                                           | also by the name and the protocol                   |
| NumVacates…PreExecution                   | those of them whose program had not begun           |
| LastVacateTime                            | when the last of them was that left a machine       |
| NumShadowExceptions                       | every run that ended with a failure of its shadow   |

A job that its own OnExitRemove sends back was not vacated. Source: queues of a real schedd.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import HoldReasonCode, JobUniverse, ShadowExit
from kettle.classad import ClassAd
from kettle.classad.text import read_count
from kettle.patterns import late_pattern
from kettle.policy.hold_reasons import REFUSALS, counted, reason_label

# Attributes to set, as text in old syntax.
Counts = dict[str, str]

# Faults that the schedd itself holds a job for; a shadow's are none of the system's here.
_SYSTEM_HOLDS = frozenset(
    (
        HoldReasonCode.JobPolicyUndefined,
        HoldReasonCode.FailedToAccessUserAccount,
        HoldReasonCode.InvalidCronSettings,
    )
)
_BESIDE = frozenset((JobUniverse.LOCAL, JobUniverse.SCHEDULER))
_TRANSFERS = frozenset((HoldReasonCode.TransferOutputError, HoldReasonCode.TransferInputError))
_URL = late_pattern(r"\b([A-Za-z][A-Za-z0-9]*)://")


def render_counts(counts: Mapping[str, int]) -> str:
    """Return counts by name as the nested ad the queue log holds."""
    inner = "; ".join(f"{name} = {count}" for name, count in counts.items())
    return f"[ {inner} ]"


def count_hold(ad: ClassAd, code: int) -> Counts:
    """Return the counts of a job that is held, with a hold code."""
    changes = _count(ad, "NumHolds", "NumHoldsByReason", (reason_label(code),))
    beside = code == HoldReasonCode.FailedToCreateProcess and ad.integer("JobUniverse") in _BESIDE
    if code in _SYSTEM_HOLDS or beside:
        changes["NumSystemHolds"] = _one_more(ad, "NumSystemHolds")
    return changes


def count_end(ad: ClassAd, report: Mapping[str, str], exit_reason: int, now: int) -> Counts:
    """Return the counts of a job whose run has ended.

    `report` is the shadow's last word, as text, `exit_reason` what it ended with (`ShadowExit`).
    """
    changes: Counts = {}
    if exit_reason == ShadowExit.EXCEPTION:
        changes["NumShadowExceptions"] = _one_more(ad, "NumShadowExceptions")
    code = read_count(report.get("VacateReasonCode", ""))
    if code is None:
        return changes
    labels = [reason_label(code)]
    if code in _TRANSFERS:
        labels.append(labels[0] + _protocol(report.get("VacateReason", "")))
    changes |= _count(ad, "NumVacates", "NumVacatesByReason", labels)
    if not _began(ad, report):
        name = "NumVacatesByReasonPreExecution"
        changes |= _count(ad, "NumVacatesPreExecution", name, labels)
    if code not in REFUSALS:
        changes["LastVacateTime"] = str(now)
    return changes


def _count(ad: ClassAd, total: str, by_reason: str, labels: list[str] | tuple[str, ...]) -> Counts:
    found = ad.evaluate(by_reason)
    tally: dict[str, int] = {}
    if isinstance(found, ClassAd):
        tally = {name: found.integer(name) or 0 for name in found}
    for label in labels:
        tally = counted(tally, label)
    return {total: _one_more(ad, total), by_reason: render_counts(tally)}


def _one_more(ad: ClassAd, name: str) -> str:
    return str((ad.integer(name) or 0) + 1)


def _began(ad: ClassAd, report: Mapping[str, str]) -> bool:
    """Whether this run's program was started; the last run's start is not in the ad any more."""
    name = "JobCurrentStartExecutingDate"
    return name in ad or name in report


def _protocol(reason: str) -> str:
    """Return what a transfer that failed used: the kind of the URL that its reason names."""
    found = _URL.search(reason)
    scheme = found[1].capitalize() if found is not None else "Cedar"
    return "Pelican" if scheme == "Osdf" else scheme
