"""What becomes of a job whose user can have no shadow host, as nobody can say who he is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.attributes.codes import ShadowExit, VacateReasonCode
from kettle.bounded_texts import bounded_reason
from kettle.classad import ClassAd
from kettle.errors import NotForked
from kettle.runtime import tasks
from kettle.schedd.beside import NotStarted, lost_attributes

if TYPE_CHECKING:
    from kettle.schedd.queue.job_ids import JobId
    from kettle.schedd.services.parts import Schedd


def report_refusal(
    schedd: Schedd, job: JobId, failure: NotStarted | NotForked, *, ran: bool = False
) -> None:
    """Report the end of a run that no shadow served: the job is held, or waits if that may pass.

    One that `ran` when the schedd began has ended by its lease. Its log cannot be told, as nobody
    may write it.
    """
    schedd.runtime.log.problem(f"Job {job} was not {'looked for' if ran else 'started'}: {failure}")
    if isinstance(failure, NotStarted):
        reason = ShadowExit.SHOULD_HOLD
        said: dict[str, object] = {
            "HoldReason": bounded_reason(str(failure)),
            "HoldReasonCode": failure.code,
            "HoldReasonSubCode": failure.subcode,
        }
    else:
        reason, said = ShadowExit.NOT_STARTED, lost_attributes(failure)
        if ran:
            reason = ShadowExit.RECONNECT_FAILED
            said["VacateReasonCode"] = int(VacateReasonCode.ReconnectFailed)
    report = dict(ClassAd(said).own_texts())
    scheduler = schedd.scheduler
    with tasks.reported(f"The end of job {job}"):
        scheduler.on_shadow_exited(job, int(reason), report, reusable=False)
        # It may have got them for the shadow.
        scheduler.on_events_left([job])
