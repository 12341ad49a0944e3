"""The starter's calls about its job, answered: one function per call, in a table.

The numbers and fields are `wire.messages.syscalls`'; calls on files go to `services/files.py`.
Source: wire notes, Remote system calls.
"""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from kettle.attributes.codes import HoldReasonCode, ULogEvent
from kettle.attributes.job import STARTER_ADDRESS
from kettle.classad import ClassAd, parse_expression, unparse
from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import ClassAdSyntaxError, ConnectionLost, RefusedError
from kettle.policy.attribute_protection import (
    MAX_EXPRESSION,
    decide_by_job,
)
from kettle.records.event_grid import AttributeUpdateEvent, RemoteErrorEvent
from kettle.shadow import job_events
from kettle.shadow.endings import ExitReport, Request, Wish
from kettle.shadow.job_updates import NOTHING_MOVED, checkpoint_times, texts
from kettle.shadow.services.ending import hold_at_once
from kettle.shadow.services.files import FILE_CALLS, RemoteFiles, put_data, remove_all
from kettle.shadow.services.plugin_records import record_plugins
from kettle.shadow.services.transfers import note_counts, note_nothing
from kettle.shadow.services.url_checkpoints import UrlCheckpoints
from kettle.shadow.shadow_machine import Event, Phase
from kettle.wire.codec import is_private_attribute
from kettle.wire.messages import short_way
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

if TYPE_CHECKING:
    from kettle.shadow.services.run import Run

Handler = Callable[["Run", Any], Awaitable[Reply]]
# A program that has ended within so long costs the queue one transaction, not two: the shadow that
# follows one that dies meanwhile reads of the start in the job's log.
SHORT_RUN_SECONDS = 0.1
# Limit: a starter that asks whether its input is there has it; our side may lag behind so long.
INPUT_SECONDS = 60.0
# Limit: letters of a starter's statistics in our log.
_MOST_LOGGED = 1000


async def answer(shadow: Run, call: Call) -> Reply:
    """Answer one call. A call nobody serves is ENOSYS."""
    handler = CALLS.get(type(call))
    if handler is not None:
        return await handler(shadow, call)
    file_call = FILE_CALLS.get(type(call))
    if not (file_call or isinstance(call, calls.Rmall)):
        return call.answer(-1, errno=errno.ENOSYS)
    if not shadow.rights.files:
        return call.answer(-1, errno=errno.EACCES)
    if shadow.files is None:
        directory, reserve = shadow.job.string("Iwd") or "/", shadow.host.reserve
        shadow.files = RemoteFiles(directory, shadow.access_limits(), reserve)
    # Whatever the file is, other jobs' shadows go on.
    if file_call is None:
        return await remove_all(shadow.files, cast(calls.Rmall, call), shadow.host.aside)
    return await shadow.host.aside.run(partial(shadow.files.do, file_call, call))


async def answer_data(shadow: Run, call: calls.PutFile, opened: int, data: bytes) -> Reply:
    """Answer what came after a call to put a file, which opened it."""
    assert shadow.files is not None
    return await shadow.host.aside.run(partial(put_data, shadow.files, call, opened, data))


async def _get_job_info(shadow: Run, call: calls.GetJobInfo) -> Reply:
    return call.answer(0, result=shadow.ad_for_the_starter())


async def _register_starter_info(shadow: Run, call: calls.RegisterStarterInfo) -> Reply:
    shadow.info = job_events.starter_facts(call.info, shadow.job)
    shadow.starter_address = call.info.string("StarterIpAddr") or ""
    if shadow.starter_address:
        # Kept in the queue, so that a later shadow finds the starter too.
        shadow.update(texts({STARTER_ADDRESS: shadow.starter_address}))
    if call.info.boolean(short_way.BEGINS) is not True:
        return call.answer(0)
    if shadow.state.asked:
        # Somebody wants the job gone: it does not begin.
        return call.answer(-1, errno=errno.ECANCELED)
    with shadow.events_together():
        if call.info.boolean(short_way.NO_INPUT) is True and not shadow.state.executed:
            note_nothing(shadow, "Input")
        shadow.note_report(call.info)
        await shadow.happen(Event.EXECUTING)
    return await _answer_begin(shadow, call)


async def _get_user_info(shadow: Run, call: calls.GetUserInfo) -> Reply:  # noqa: ARG001
    return call.answer(0, result=ClassAd({"Uid": os.geteuid(), "Gid": os.getegid()}))


async def _begin_execution(shadow: Run, call: calls.BeginExecution) -> Reply:
    shadow.program_ended = False
    # The program begins: a transfer that failed before, as a checkpoint's, is not the run's end.
    shadow.transfer_failure = None
    if shadow.state.executed:
        # After a checkpoint.
        shadow.activation.begin(int(shadow.host.now()))
    await shadow.happen(Event.EXECUTING)
    return await _answer_begin(shadow, call)


# What says of every run what it moved, be it nothing.
_OF_TRANSFERS = ("TransferInputStats", "TransferOutputStats")


async def _answer_begin(shadow: Run, call: Call) -> Reply:
    """Let the program begin: its start is in the log, and now on its way into the queue.

    In this order, because a shadow that takes over learns from the log what the queue missed. Where
    the log cannot tell, the program begins when the queue has its start on disk.
    """
    note_counts(shadow)
    shadow.update({name: NOTHING_MOVED for name in _OF_TRANSFERS if name not in shadow.job})
    if shadow.is_logged:
        shadow.flush_within(SHORT_RUN_SECONDS)
    else:
        await shadow.keep()
    return call.answer(0)


async def _register_job_info(shadow: Run, call: calls.RegisterJobInfo) -> Reply:
    record_plugins(shadow, call.info)
    if "ExitBySignal" in call.info:
        await shadow.note_program_end()
    shadow.note_report(call.info)
    await shadow.note_job_state(call.info)
    if "ExitBySignal" not in call.info:
        # What a job uses is what policies ask for: as the reference's shadow, not a minute later.
        shadow.look_at_policy()
    return call.answer(0)


async def _job_exit(shadow: Run, call: calls.JobExit) -> Reply:
    if call.info.boolean(short_way.LAST_REPORT) is True:
        shadow.goes_on = call.info.boolean(short_way.GOES_ON)
        with shadow.events_together():
            changes = shadow.note_report(call.info)
            if call.info.boolean(short_way.NO_OUTPUT) is True:
                note_nothing(shadow, "Output")
    else:
        changes = shadow.changes_of(call.info)
        shadow.update(changes)
    # What the machine says last must not lose what it said before about the exit.
    info = call.info
    for name in ("ExitBySignal", "ExitCode", "ExitSignal"):
        if name in changes and name not in info:
            info.insert_text(name, changes[name])
    shadow.report = ExitReport(call.status, call.reason, info)
    return call.answer(0)


async def _job_termination(shadow: Run, call: calls.JobTermination) -> Reply:
    shadow.note_report(call.info)
    return call.answer(0)


# What a starter may have written into the job's event log: nothing that says where the job is in
# its life. That is known here and in the schedd, and each end is written once.
_STARTERS_EVENTS = frozenset(
    (
        ULogEvent.CHECKPOINTED,
        ULogEvent.IMAGE_SIZE,
        ULogEvent.GENERIC,
        ULogEvent.JOB_AD_INFORMATION,
        ULogEvent.JOB_STAGE_IN,
        ULogEvent.JOB_STAGE_OUT,
        ULogEvent.RESERVE_SPACE,
        ULogEvent.RELEASE_SPACE,
        ULogEvent.FILE_COMPLETE,
        ULogEvent.FILE_USED,
        ULogEvent.FILE_REMOVED,
        ULogEvent.COMMON_FILES,
    )
)


def _left_before_it_began(shadow: Run) -> bool:
    """Tell whether a job was asked to leave before its program began.

    What fails after that is no news: the transfer of its files was broken off.
    """
    asked = shadow.request is not None and shadow.request.wish is not Wish.ERROR
    return asked and not shadow.state.executed


async def _user_log(shadow: Run, call: calls.UserLog) -> Reply:
    ad = call.event
    if ad.string("MyType") == "RemoteErrorEvent":
        if _left_before_it_began(shadow):
            shadow.log("The starter of a job that was to leave before it began says why it did not")
            return call.answer()
        event = job_events.remote_error_event(ad)
        event.host = event.host or shadow.slot_name
        shadow.write_event(event)
        if event.critical:
            runs = shadow.state.executed and not shadow.program_ended
            await shadow.fail(_error_request(shadow, event))
            if runs and shadow.state.phase is Phase.LEAVING:
                await hold_at_once(shadow)
        return call.answer()
    from kettle.records.event_forms import event_from_ad

    other = event_from_ad(ad)
    if other is None or getattr(other, "number", None) not in _STARTERS_EVENTS:
        shadow.log(f"The starter's event {ad.string('MyType')!r} is not its to write")
        return call.answer()
    shadow.write_event(other)
    return call.answer()


# Troubles with files of which the starter's own words are kept, as in the reference.
_STARTERS_OWN = frozenset(
    (
        HoldReasonCode.FailedToCheckpoint,
        HoldReasonCode.MaxTransferInputSizeExceeded,
        HoldReasonCode.MaxTransferOutputSizeExceeded,
    )
)


def _error_request(shadow: Run, event: RemoteErrorEvent) -> Request:
    """Return why the run ends; a transfer that failed here knows better than the starter.

    But for what is told under a code of its own: a checkpoint, and files that are too large.
    """
    if shadow.transfer_failure is not None and event.code not in _STARTERS_OWN:
        return shadow.transfer_failure
    reason = f"Error from {event.host or shadow.slot_name}: {event.message}"
    return Request(Wish.ERROR, reason, event.code or 0, event.subcode or 0)


async def _get_job_attr(shadow: Run, call: calls.GetJobAttr) -> Reply:
    expression = shadow.job.lookup(call.name)
    if expression is None or is_private_attribute(call.name):
        return call.answer(0, result="UNDEFINED")
    text = unparse(expression, old=True)
    return call.answer(0, result=text)


async def _set_job_attr(shadow: Run, call: calls.SetJobAttr) -> Reply:
    if not shadow.rights.attributes:
        return call.answer(-1, errno=errno.EACCES)
    try:
        text = decide_by_job(call.name, call.value, shadow.host.protected)
    except RefusedError as error:
        return call.answer(-1, errno=error.code or errno.EACCES)
    old = shadow.job.text(call.name)
    shadow.update({call.name: text})
    shadow.forget_logs()
    shadow.write_event(AttributeUpdateEvent(name=call.name, value=text, old=old))
    shadow.flush()
    return call.answer(0)


async def _constrain(shadow: Run, call: calls.Constrain) -> Reply:
    if not shadow.rights.attributes:
        return call.answer(-1, errno=errno.EACCES)
    try:
        added = unparse(parse_expression(call.expression, old=True), old=True)
    except ClassAdSyntaxError:
        return call.answer(-1, errno=errno.EINVAL)
    before = shadow.job.text("Requirements") or "true"
    text = f"({before}) && ({added})"
    if len(text) > MAX_EXPRESSION:
        return call.answer(-1, errno=errno.EFBIG)
    shadow.update({"Requirements": text})
    return call.answer(0)


async def _get_sec_session_info(shadow: Run, call: calls.GetSecSessionInfo) -> Reply:
    stream = shadow.stream
    if stream is None or not stream.encrypted or not shadow.claim.has_session:
        return call.answer(-1, errno=errno.EPERM)
    claim, transfer = shadow.claim, shadow.offer_transfer_session()
    words = [
        claim.session_id, claim.info, claim.secret,
        transfer.session_id, transfer.info, transfer.secret,
    ]  # fmt: skip
    return call.answer(0, result=words)


async def _get_credentials(shadow: Run, call: calls.GetCredentials) -> Reply:  # noqa: ARG001
    # No credential store is kept yet: a job that needs one is told that there is none.
    return call.answer(0, result=[])


async def _event_notification(shadow: Run, call: calls.EventNotification) -> Reply:
    kind = call.event.string("EventType")
    if kind is None:
        return call.answer(-2)
    if kind == "SuccessfulCheckpoint":
        number = call.event.integer("CheckpointNumber")
        # Compat: the reference counts no checkpoints that a job makes by itself, nor says when the
        # last one was (LastCkptTime), against its manual
        # (test_each_transfer_is_over_in_the_log_before_the_next_begins).
        changes = {"NumCkpts": str((shadow.job.integer("NumCkpts") or 0) + 1)}
        if number is not None:
            changes["CheckpointNumber"] = str(number)
        shadow.update(changes | texts(checkpoint_times(shadow.job, int(shadow.host.now()))))
        if number is not None:
            await _clear_checkpoints(shadow, kept=True)
        return call.answer(0)
    if kind == "InvalidCheckpointDownload":
        number = call.event.integer("CheckpointNumber")
        if number is None:
            return call.answer(-2)
        # CheckpointNumber stays: what is to come has numbers of its own.
        shadow.log(f"Checkpoint {number} is damaged where it lies: the job goes on from one before")
        await _clear_checkpoints(shadow, failed=number)
        return call.answer(0)
    if kind == "FailedCheckpoint":
        # The next one of whatever run must not come to lie on what there is of this one.
        number = call.event.integer("CheckpointNumber")
        if number is not None:
            shadow.update({"CheckpointNumber": str(number)})
            await _clear_checkpoints(shadow, failed=number)
        return call.answer(0)
    if kind == "ActivationExecutionExit":
        await shadow.note_program_end()
    # Compat: the reference answers -3 to kinds it does act on; starters ignore the value
    # (tests/conformance/test_shadow_calls.py).
    return call.answer(-3)


async def _clear_checkpoints(shadow: Run, *, failed: int | None = None, kept: bool = False) -> None:
    """Have checkpoints deleted that the job's next run needs not: one that failed, or older ones.

    What came last is still being put in place, and takes the older manifests along: it is waited
    for. What cannot be moved is told, and stays; the job goes on.
    """
    if shadow.keeping:
        await asyncio.wait(shadow.keeping)
    checkpoints = UrlCheckpoints(shadow)
    try:
        if failed is not None:
            checkpoints.discard(failed)
        extra = shadow.host.runtime.config.value(TransferKnobs.DEFAULT_NUM_EXTRA_CHECKPOINTS)
        checkpoints.clear(1 + max(0, extra) if kept else 0)
    except (OSError, RefusedError) as error:
        shadow.log(f"Manifests of checkpoints are still there: {error}")


async def _request_guidance(shadow: Run, call: calls.RequestGuidance) -> Reply:
    kind = call.request.string("RequestType")
    if kind is None:
        return call.answer(int(calls.Guidance.MALFORMED), result=ClassAd())
    if kind == "CheckpointTaken":
        return call.answer(0, result=ClassAd({"Command": _after_checkpoint(call.request)}))
    if shadow.state.asked:
        return call.answer(0, result=ClassAd({"Command": "Abort"}))
    if kind == "JobEnvironment":
        return call.answer(0, result=ClassAd({"Command": await _environment(shadow)}))
    if kind == "JobSetup":
        shadow.accept_claim_session()
        return call.answer(0, result=ClassAd({"Command": "CarryOn"}))
    return call.answer(int(calls.Guidance.UNKNOWN_REQUEST), result=ClassAd())


def _after_checkpoint(request: ClassAd) -> str:
    """Say whether a job whose checkpoint has come goes on where it is.

    It does, unless the starter says of its claim that it is closing.
    """
    context = request.evaluate("ContextAd")
    closing = isinstance(context, ClassAd) and context.boolean("EPCheckpointRestart") is True
    return "DontRestart" if closing else "Restart"


async def _environment(shadow: Run) -> str:
    """Say whether the job's input is there, waiting for our side of its transfer to end.

    Compat: the reference says "RetryReqest" while its side is still busy, which costs the job five
    seconds (wire notes, Life of a vanilla job; tests/conformance/test_shadow_calls.py).
    """
    transfer = shadow.input_transfer
    if transfer is None:
        # No transfer came here: the job needs none, or the starter knows that it failed.
        return "CarryOn"
    try:
        async with asyncio.timeout(INPUT_SECONDS):
            await transfer.wait()
    except TimeoutError:
        raise ConnectionLost("the job's input takes too long to arrive") from None
    return "StartJob" if shadow.transfer_failure is None else "Abort"


async def _dprintf_stats(shadow: Run, call: calls.DprintfStats) -> Reply:
    shadow.log(call.text[:_MOST_LOGGED].replace("\n", " "))
    return call.answer(0)


async def _get_docker_credentials(
    shadow: Run,  # noqa: ARG001
    call: calls.GetDockerCredentials,
) -> Reply:
    return call.answer(0, result=ClassAd())


async def _get_file_info(shadow: Run, call: calls.GetFileInfo) -> Reply:
    name = call.logical_name
    path = name if name.startswith("/") else posixpath.join(shadow.job.string("Iwd") or "/", name)
    return call.answer(0, result=f"remote:{posixpath.normpath(path)}")


CALLS: dict[type[Call], Handler] = {
    calls.GetJobInfo: _get_job_info,
    calls.RegisterStarterInfo: _register_starter_info,
    calls.GetUserInfo: _get_user_info,
    calls.BeginExecution: _begin_execution,
    calls.RegisterJobInfo: _register_job_info,
    calls.JobTermination: _job_termination,
    calls.JobExit: _job_exit,
    calls.UserLog: _user_log,
    calls.GetJobAttr: _get_job_attr,
    calls.SetJobAttr: _set_job_attr,
    calls.Constrain: _constrain,
    calls.GetSecSessionInfo: _get_sec_session_info,
    calls.GetCredentials: _get_credentials,
    calls.EventNotification: _event_notification,
    calls.RequestGuidance: _request_guidance,
    calls.DprintfStats: _dprintf_stats,
    calls.GetDockerCredentials: _get_docker_credentials,
    calls.GetFileInfo: _get_file_info,
}
