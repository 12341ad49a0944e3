"""A job as it was in a run, for that run's record: what its end made of it is not in there.

Pure. The reference's shadow writes the record, from the job's ad as it has it: the job runs, on
this machine, and what the queue decides of it comes later (observed beside it: runs that completed,
that failed, that were held, vacated and removed).
"""

from __future__ import annotations

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.policy.attribute_protection import JOB_PID, JOB_PID_BIRTH
from kettle.policy.lease import RUN_LEASE
from kettle.schedd.job_machine import Attributes

SHADOW_ADDRESS = "ShadowIpAddr"

# Under which names the record has where its shadow listened.
_ADDRESSES = (SHADOW_ADDRESS, "MyAddress", "TransferSocket")
# Why a job is on hold stays in the record of the run that was the cause.
_CAUSES = ("HoldReason", "HoldReasonCode", "HoldReasonSubCode")
# What an end says that the record of its run has.
_TOLD = (*_CAUSES, "LastVacateTime")
# What the schedd alone needs.
_OWN = (RUN_LEASE, JOB_PID, JOB_PID_BIRTH, "TerminationPending")
# What a job has when somebody has decided of it while it ran.
_DECIDED = (*_CAUSES, "RemoveReason")
# What a transfer that is over has left in the shadow's ad.
_TRANSFERS = {
    "TransferInFinished": ("TransferQueued", "TransferringInput"),
    "TransferOutFinished": ("TransferringOutput",),
}


def as_it_ran(
    ad: ClassAd, changes: Attributes, reported: Attributes, shadow_address: str = ""
) -> Attributes:
    """Return what a job's ad says otherwise, once `changes` are made, than it did in the run.

    `ad` is that before the changes of the run's end, `reported` what of these the shadow said,
    whose address is the text of an expression, empty if nobody knows it; None stands for an
    attribute that was not there.
    """
    # What the shadow said and the queue keeps was so in the run, and is so now.
    was = {
        name: reported[name] if name in reported else ad.text(name)
        for name, text in changes.items()
        if name not in reported or reported[name] != text
    }
    for name in _TOLD:
        was.pop(name, None)
    if ad.integer("JobStatus") != JobStatus.RUNNING:
        was |= {name: None for name in _DECIDED if name in ad}
        was |= {
            "JobStatus": str(int(JobStatus.RUNNING)),
            "LastJobStatus": str(int(JobStatus.IDLE)),
            "EnteredCurrentStatus": ad.text("JobCurrentStartDate"),
        }
    was |= dict.fromkeys(_OWN)
    if shadow_address:
        was |= dict.fromkeys(_ADDRESSES, shadow_address)
        for over, names in _TRANSFERS.items():
            if over in ad or over in reported:
                was |= dict.fromkeys(names, "false")
    return was
