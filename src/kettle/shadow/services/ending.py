"""The end of a run: judged, written into the job's logs, told to the schedd.

The judgement itself is `endings.py`'s; here it is carried out.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from kettle.attributes.codes import JobStatus, ShadowExit, VacateReasonCode
from kettle.attributes.job import STARTER_ADDRESS
from kettle.classad import ClassAd
from kettle.errors import KettleError, WireError
from kettle.policy.hold_reasons import REFUSALS
from kettle.policy.job_policy import ON_A_MACHINE
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_kinds import JobHeldEvent, ShadowExceptionEvent
from kettle.records.job_trace import Step
from kettle.records.unwritten_events import SHADOW_EVENTS, decode
from kettle.shadow import job_events
from kettle.shadow.endings import (
    HOLD_ATTRIBUTES,
    Ending,
    ExitReport,
    Last,
    Wish,
    completion_attributes,
    core_attributes,
    decide_ending,
    exit_attributes,
    has_ended,
)
from kettle.shadow.job_updates import texts
from kettle.shadow.services.run import Run
from kettle.shadow.services.spooled_output import bring_output_in
from kettle.shadow.services.transfers import note_broken_off
from kettle.wire.messages.claims import DeactivateClaimForcibly
from kettle.wire.messages.shadow_host import ShadowExited

# How often a startd is told again that does not answer.
_AGAIN_SECONDS = 10.0


def recall_events(run: Run) -> None:
    """Write the events for which the schedd, or an earlier shadow of the job, had no room."""
    events = decode(run.job.string(SHADOW_EVENTS))
    if not events:
        return
    logs = run.host.logs
    logs.recall(run.job, events)
    if not logs.unwritten((run.cluster, run.proc)):
        run.update({SHADOW_EVENTS: "undefined"})


def recall_end(run: Run) -> bool:
    """Take over a run whose end is in the job's log; False if the log does not tell of one.

    The shadow that wrote it died before the schedd had its word, and must not be believed less
    than its event: the program is not run again.
    """
    event = run.host.logs.told.last_of(run.job)
    if isinstance(event, JobHeldEvent):
        return _recall_last_hold(run, event)
    if isinstance(event, JobEvictedEvent) and event.requeued:
        # The last run's, or this one's: the queue has counted those that it knows of.
        told = run.host.logs.told.requeues_told(run.job)
        if told <= (run.job.integer("NumJobCompletions") or 0):
            return False
        reason = event.reason or ""
        run.told = Ending(
            ShadowExit.SHOULD_REQUEUE, reason=reason, attributes={"RequeueReason": reason}
        )
    elif isinstance(event, JobTerminatedEvent):
        run.told = Ending(ShadowExit.EXITED, attributes={"TerminationPending": True})
    else:
        return False
    status = event.signal or 0 if not event.normal else (event.return_value or 0) << 8
    run.report = ExitReport(status, int(ShadowExit.EXITED), ClassAd())
    run.log("The job's log tells of its end already")
    return True


def _recall_last_hold(run: Run, event: JobHeldEvent) -> bool:
    """Take over a run that ended with a hold; one that the queue has is carried out already."""
    if run.job.integer("JobStatus") not in ON_A_MACHINE:
        return False
    reason = event.reason or ""
    said = dict(zip(HOLD_ATTRIBUTES, (reason, event.code, event.subcode), strict=True))
    run.told = Ending(ShadowExit.SHOULD_HOLD, reason=reason, attributes=said)
    run.log("The job's log tells of its hold already")
    return True


def recall_hold(run: Run) -> None:
    """See whether the log has the hold of a job that had not left its machine by then."""
    known = run.job.integer("JobStatus") in {JobStatus.HELD, JobStatus.IDLE}
    if known and run.state.executed:
        run.left_told, run.hold_told = run.host.logs.told.hold_told(run.job)


async def hold_at_once(run: Run) -> None:
    """Hold a job whose machine wants that, though its program has still to leave (WANT_HOLD).

    As with a user's hold the queue has it first, then the log; the run goes on until it is over.
    """
    ending = decide_ending(run.job, None, run.request, run.host.now(), run.host.system_policy)
    if run.request is None or ending.exit is not ShadowExit.SHOULD_HOLD:
        return
    run.request = replace(run.request, wish=Wish.HOLD)
    held: dict[str, object] = {"JobStatus": int(JobStatus.HELD)}
    run.update(texts(held | {name: ending.attributes[name] for name in HOLD_ATTRIBUTES}))
    await run.keep()
    # Somebody may have released it, or removed it, since.
    if run.request.wish is Wish.HOLD:
        with run.events_together():
            _write_last_events(run, ending, run.host.now())
        run.left_told = run.hold_told = True


async def finish(run: Run) -> None:
    """Judge the run, write its last events, bring in what it sent, tell the schedd."""
    if run.report is not None:
        lost = run.transfer_failure is not None and run.transfer_failure.code
        counts = {} if run.skipped or lost else completion_attributes(run.job, run.report)
        unsaid = "NumJobStarts" in counts and run.told is None
        if unsaid and not run.host.logs.told.tell_of_start(run.job):
            # The shadow that heard of the start died before it could say so.
            run.write_event(job_events.execute_event(run.startd_address, run.info, run.job))
        ended = core_attributes(run.job, run.report) | counts
        ended |= run.activation.end(int(run.host.now()))
        run.update(texts(ended) | _exit_of(run, run.report))
    if run.transfer_failure is not None and run.request is None and not _was_broken_off(run):
        run.request = run.transfer_failure
    now = run.host.now()
    ending = decide_ending(run.job, run.report, run.request, now, run.host.system_policy)
    if run.report is None and run.request is None:
        ending = _unstarted(run)
    if run.told is not None:
        ending = run.told
    if run.hold_told:
        ending.events = ()
    _write_last_events(run, ending, now)
    await bring_output_in(run, ending)
    _report_exit(run, ending)


def _exit_of(run: Run, report: ExitReport) -> dict[str, str]:
    """Return how the program ended; of one that was never started nobody can say that.

    What an earlier run left of the other kind of end stays, as in the reference: ExitBySignal says
    which of ExitCode and ExitSignal is meant.
    """
    if not run.state.executed and not has_ended(report):
        return {}
    return texts(exit_attributes(report))


def _was_broken_off(run: Run) -> bool:
    """Whether the starter broke off a transfer as it had to leave: its own reason counts."""
    failure, report = run.transfer_failure, run.report
    told = report is not None and report.info.lookup("VacateReason") is not None
    return told and failure is not None and failure.code == 0


def _unstarted(run: Run) -> Ending:
    """Judge a run that was refused, or whose starter is lost: that one is evicted, too."""
    reconnecting = run.state.executed or run.state.reconnecting
    code = int(VacateReasonCode.FailedToActivateClaim)
    if reconnecting:
        code = int(VacateReasonCode.ReconnectFailed)
    elif run.refusal in REFUSALS:
        code = run.refusal
    return Ending(
        ShadowExit.RECONNECT_FAILED if reconnecting else ShadowExit.NOT_STARTED,
        (Last.EVICTED,) if reconnecting else (),
        run.reason,
        code,
        has_code=True,
        attributes={"VacateReason": run.reason, "VacateReasonCode": code},
    )


def _write_last_events(run: Run, ending: Ending, now: float) -> None:
    sent, received = run.received_bytes, run.sent_bytes
    if ending.events:
        note_broken_off(run)
    for last in ending.events:
        match last:
            case Last.TERMINATED:
                run.write_event(job_events.terminated_event(run.job, sent, received, now))
            case Last.REQUEUED | Last.EVICTED:
                requeued = last is Last.REQUEUED
                event = job_events.evicted_event(
                    run.job, ending, sent, received, now, requeued=requeued
                )
                run.write_event(event)
            case Last.HELD:
                run.write_event(job_events.held_event(ending))
            case Last.EXCEPTION:
                message = ShadowExceptionEvent(
                    message=ending.reason, sent_bytes=sent, received_bytes=received
                )
                run.write_event(message)


def _report_exit(run: Run, ending: Ending) -> None:
    sent = (run.job.real("BytesSent") or 0.0) + run.received_bytes
    received = (run.job.real("BytesRecvd") or 0.0) + run.sent_bytes
    attributes = run.take_pending()
    attributes |= texts({**ending.attributes, "BytesSent": sent, "BytesRecvd": received})
    attributes |= texts({name: spent for name, spent in run.spent_seconds.items() if spent})
    attributes[STARTER_ADDRESS] = "undefined"
    said = f": {ending.reason}" if ending.reason else ""
    run.log(f"Reporting job exit reason {int(ending.exit)}{said}")
    reason = int(ending.exit)
    run.end_told = True
    run.trace(Step.ENDED, f"reason {reason}")
    run.host.tell_schedd(ShadowExited(run.cluster, run.proc, reason, run.reusable, attributes))


async def fail_run(run: Run, error: Exception) -> None:
    """End a shadow that met a bug: the job must neither hang nor be lost."""
    run.host.runtime.log.problem(f"({run.name}) {type(error).__name__}: {error}")
    run.host.report_bug(error)
    reason = str(error) if isinstance(error, KettleError) else f"{type(error).__name__}: {error}"
    await _see_ended(run)
    ending = Ending(ShadowExit.EXCEPTION, (Last.EXCEPTION,), reason, attributes=fault_words(reason))
    try:
        _write_last_events(run, ending, run.host.now())
    except Exception as trouble:  # noqa: BLE001 - the schedd must hear of the end all the same
        run.host.report_bug(trouble)
    _report_exit(run, ending)


def fault_words(reason: str) -> dict[str, object]:
    """Return what the schedd is told of a run that ended as its shadow met a bug.

    After some of them in a row it lets the job rest.
    """
    code = int(VacateReasonCode.ShadowException)
    return {"VacateReason": reason, "VacateReasonCode": code}


async def _see_ended(run: Run) -> None:
    """Have the startd end the run; one that cannot be told does so itself when the lease is over.

    Until then the program may live on, and must not get a second one beside it.
    """
    if run.stream is not None:
        # From now on the starter hears nobody.
        run.stream.close()
    over = run.host.steady() + run.lease_seconds
    while True:
        try:
            await run.link.command(DeactivateClaimForcibly(run.claim.text))
            return
        except (WireError, OSError) as trouble:
            run.log(f"The claim could not be deactivated: {trouble}")
        left = over - run.host.steady()
        if left <= 0 or not run.may_live_on:
            return
        await asyncio.sleep(min(_AGAIN_SECONDS, left))
