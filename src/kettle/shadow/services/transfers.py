"""The shadow's side of file transfers: the starter connects, this sends input or takes output.

What travels is `kettle.transfer.plan`'s, how is in its two halves; here are the disk, the events
040, the times and counts in the job's ad, and the hold reason of a transfer that failed.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import posixpath
from collections.abc import AsyncIterator, Generator, Iterator
from typing import TYPE_CHECKING

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.classad import ClassAd
from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import RefusedError, StorageError, WireError
from kettle.records.event_cluster import FileTransferEvent
from kettle.runtime import tasks
from kettle.runtime.storage.aside_files import AsideFiles
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.shadow.endings import Request, Wish, transfer_reason
from kettle.shadow.job_updates import texts, transfer_stats
from kettle.shadow.services.checkpoints import GatheredFolder, IntermediateStore
from kettle.shadow.services.spooled_output import OutputStore, own_folder
from kettle.shadow.services.turns import Turn
from kettle.shadow.services.url_checkpoints import UrlCheckpoints
from kettle.shadow.shadow_machine import Phase
from kettle.steps import take_all
from kettle.transfer.go_ahead import Terms
from kettle.transfer.landing import Landing, only_folder, plan_landing
from kettle.transfer.outcome import DIRECTORY_BYTES, Failure, Outcome, Spent
from kettle.transfer.plan import Plan, count_input, is_url, plan_input_by_steps, split_at_commas
from kettle.transfer.receiving import download
from kettle.transfer.sending import upload
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.shadow.services.run import Run

_KINDS = {"Input": (2, 3), "Output": (5, 6)}
# Files that are looked at before other jobs have their turn: about a millisecond.
_LOOKS_AT_ONCE = 30
# The time at which a transfer ended that came to nothing: the reference's.
_NEVER = -1
_CODES = {
    "Input": int(HoldReasonCode.TransferInputError),
    "Output": int(HoldReasonCode.TransferOutputError),
}


async def send_input(shadow: Run, stream: Stream) -> None:
    """Send the job's input files over a connection that named its transfer key."""
    files = AsideFiles(shadow.host.aside, shadow.host.mounts.is_far, limits=shadow.access_limits())
    note_counts(shadow)
    try:
        plan = await _plan_aside(shadow)
    except RefusedError as error:
        _fail(shadow, "Input", error.message, here_failed=True)
        return
    limit = shadow.max_input_bytes
    if 0 <= limit < plan.sandbox_bytes:
        text = f"the files are larger than the limit of {limit} bytes"
        code = int(HoldReasonCode.MaxTransferInputSizeExceeded)
        _fail(shadow, "Input", text, here_failed=True, code=code)
        return
    turn = Turn(shadow, "Input")
    turn.size = plan.sandbox_bytes
    terms = _terms(shadow, stream, turn, "Input", limit)
    try:
        outcome = await stream.run(
            upload(plan.items, files, terms, sandbox_bytes=plan.sandbox_bytes)
        )
    finally:
        await turn.give_back()
    _note_spent(shadow, "FileRead", "NetWrite", outcome.spent)
    if outcome.success:
        # Input that is not complete was for nothing, and is not counted.
        shadow.sent_bytes += outcome.bytes
    _note_end(shadow, "Input", outcome)


async def take_output(shadow: Run, stream: Stream) -> None:
    """Receive files over a connection that named the job's transfer key.

    The final output goes where the user wants it. What comes before (a checkpoint, or the files of
    an evicted job) waits in the spool for the next run. What the spool has is on disk before the
    starter hears that it came.
    """
    turn = Turn(shadow, "Output")
    arrival = _Arrival(shadow, turn)
    dialog = download(
        arrival.path_for,
        arrival.files,
        _terms(shadow, stream, turn, "Output", shadow.max_output_bytes),
        begun=arrival.begun,
        complete=arrival.complete,
    )
    try:
        async with _alone(shadow):
            outcome = await stream.run(dialog)
        _note_spent(shadow, "FileWrite", "NetRead", outcome.spent)
        # Before anything is waited for: the next transfer may begin.
        shadow.received_bytes += outcome.bytes
        if arrival.refused and outcome.failure is not None:
            failure = outcome.failure
            _fail(shadow, "Output", failure.reason, here_failed=True, subcode=failure.subcode)
        elif not _is_failure_report(shadow):
            _note_end(shadow, "Output", outcome)
        # What is said of it is known before the starter's own report of the failure comes.
        await arrival.keep_part(outcome)
    finally:
        await arrival.forget()
        await turn.give_back()


def _note_spent(shadow: Run, at_files: str, at_net: str, spent: Spent) -> None:
    """Note for the schedd's ad how long the bytes of files took."""
    for what, seconds in ((at_files, spent.file_seconds), (at_net, spent.net_seconds)):
        name = f"FileTransfer{what}Seconds"
        shadow.spent_seconds[name] = shadow.spent_seconds.get(name, 0.0) + seconds


@contextlib.asynccontextmanager
async def _alone(shadow: Run) -> AsyncIterator[None]:
    """Break off what brings files already, and be broken off by whoever comes next.

    A starter that begins anew has given up what it sent before, whose connection may hang; in the
    spool the two would have one folder.
    """
    before, own = shadow.arriving, asyncio.current_task()
    shadow.arriving = own
    try:
        if before is not None:
            shadow.log("Another transfer of output begins: the one before is broken off")
            before.cancel()
            await asyncio.wait((before,))
        yield
    finally:
        if shadow.arriving is own:
            shadow.arriving = None


async def _keep(shadow: Run, store: GatheredFolder) -> Failure | None:
    """Have on disk what a job sent to the spool, also where the run ends meanwhile.

    Returns why not.
    """
    keeping = tasks.spawn(_keep_or_tell(shadow, store), f"keeping files of {shadow.name}")
    shadow.keeping.add(keeping)
    keeping.add_done_callback(shadow.keeping.discard)
    await asyncio.wait((keeping,))
    failure: Failure | None = keeping.result()
    return failure


async def _keep_or_tell(shadow: Run, store: GatheredFolder) -> Failure | None:
    """Keep the files; a disk that fails leaves what was kept before."""
    try:
        await store.keep()
    except (StorageError, OSError) as error:
        shadow.log(f"What the job sent is not kept: {error}")
        return Failure(str(error), _CODES["Output"], error.errno or 0)
    return None


async def _object_to(size: int, folder: str | None, files: AsideFiles) -> Failure | None:
    """Say why a transfer of `size` bytes to a folder need not begin; None if it may fit there.

    To take in for minutes what has to be thrown away would only keep others waiting.
    """
    if folder is None:
        return None
    try:
        await files.check_disk(folder, size)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return None
        text = f"{size} bytes do not fit into {folder}: (errno {error.errno}) {error.strerror}"
        return Failure(text, int(HoldReasonCode.TransferOutputError), errno.ENOSPC)
    return None


class _Arrival:
    """Output that comes: where it lands is decided when the transfer says what it is."""

    def __init__(self, shadow: Run, turn: Turn) -> None:
        self._shadow = shadow
        self._turn = turn
        spooled = shadow.job.integer("StageInStart") is not None
        directory = shadow.job.string("Iwd") or "/"
        self._landing = plan_landing(shadow.job, directory, spooled=spooled)
        # Where the only copy lies of what comes; nothing if that is the user's business.
        self._own = own_folder(shadow.host.spool or "", shadow.job, shadow.cluster, shadow.proc)
        # What it is gathered in, in the spool.
        self._store: GatheredFolder | None = None
        self.files = AsideFiles(
            shadow.host.aside,
            shadow.host.mounts.is_far,
            # A directory that was moved away meanwhile comes back, as in the reference: what a job
            # has computed is worth more than its absence.
            posixpath.normpath(directory),
            shadow.access_limits(),
            # Compat: the reference fills the disk; ours keeps room for the queue log, and for
            # whoever else writes there (tests/pool/test_reserve.py).
            shadow.host.reserve,
            makes_below=shadow.host.runtime.config[TransferKnobs.ALLOW_TRANSFER_REMAP_TO_MKDIR],
        )
        # Whether we were the ones who would not have it.
        self.refused = False

    def path_for(self, name: str) -> str:
        """Return the path of a received file."""
        return self._landing.path_for(name)

    async def begun(self, final: bool, size: int) -> Failure | None:
        """Say why what is about to come cannot be had, None if it may come."""
        shadow = self._shadow
        self._turn.size = size
        if shadow.keeping:
            # What came before is told as over first, and is on disk.
            await asyncio.wait(shadow.keeping)
        if final and shadow.state.phase is Phase.RUNNING:
            shadow.update(texts({"JobStatus": int(JobStatus.TRANSFERRING_OUTPUT)}))
        if not final:
            self._store = IntermediateStore(shadow)
        elif self._own:
            self._store = OutputStore(shadow, self._own)
        if self._store is not None:
            self._landing = Landing(await self._store.begin(), {})
        objection = await _object_to(size, only_folder(shadow.job, self._landing), self.files)
        self.refused = objection is not None
        return objection

    async def complete(self) -> Failure | None:
        """Have on disk what has come, before its sender gives it up; say why it cannot be."""
        if self._store is not None:
            return await _keep(self._shadow, self._store)
        # Limit: what comes to a user's own folder is on disk when that disk has it, as in the
        # reference: the queue may say before that the job is over.
        return None

    async def keep_part(self, outcome: Outcome) -> None:
        """Keep what came of final output that could not all be sent: it may say why."""
        store = self._store
        if outcome.failure is not None and outcome.final and store is not None and store.is_begun:
            await _keep(self._shadow, store)

    async def forget(self) -> None:
        """Remove what is not kept."""
        if self._store is not None:
            await self._store.forget()


def _is_failure_report(shadow: Run) -> bool:
    """Tell whether output comes from a job that could not start: its streams, to say why.

    The starter sends what it has; that there is nothing is no further failure.
    """
    return shadow.transfer_failure is not None and not shadow.state.executed


async def serve(shadow: Run, stream: Stream, direction: str) -> None:
    """Carry a transfer; a connection that breaks is the starter's to try again.

    It may be silent for as long as the run lives: a machine stops its jobs' starters, and a plug-in
    may take hours. One whose machine is gone is found out by the kernel (TCP_KEEPALIVE_INTERVAL).
    """
    stream.timeout = None
    over = asyncio.Event()
    if direction == "Input":
        shadow.input_transfer = over
    try:
        if direction == "Input":
            await send_input(shadow, stream)
        else:
            await take_output(shadow, stream)
    except (WireError, OSError) as error:
        detail = f"the transfer broke off: {error}"
        shadow.log(f"Transfer of {direction.lower()} files: {detail}")
        if direction == "Output" and _is_failure_report(shadow):
            return
        _fail(shadow, direction, detail, here_failed=True, try_again=True)
    finally:
        over.set()


async def has_input(shadow: Run) -> bool:
    """Whether the job has input to be fetched; what cannot be sent or seen at once counts."""
    if _is_far(shadow):
        return True
    try:
        found: bool = await tasks.in_turns(_find_any(plan_for(shadow, shadow.job)), _LOOKS_AT_ONCE)
    except RefusedError:
        return True
    return found


def _find_any(plan: Iterator[bool]) -> Generator[None, None, bool]:
    """Say whether a plan has anything, as soon as that is known: many files are planned once."""
    for found in plan:
        if found:
            return True
        yield
    return False


def plan_for(shadow: Run, job: ClassAd) -> Generator[bool, None, Plan]:
    """Return what the job is sent: its input, and what an earlier run left, here or at a URL.

    It is found as `plan_input_by_steps` does.
    """
    if job.integer("NumShadowStarts") == 1:
        return plan_input_by_steps(job, LocalFiles())
    if job.string("CheckpointDestination"):
        return plan_input_by_steps(job, LocalFiles(), restored=UrlCheckpoints(shadow).restored())
    return plan_input_by_steps(job, LocalFiles(), IntermediateStore(shadow).to_send())


async def _plan_aside(shadow: Run) -> Plan:
    """Plan the input, with other jobs' turns in between; in a thread where a look may hang."""
    if not _is_far(shadow):
        plan: Plan = await tasks.in_turns(plan_for(shadow, shadow.job), _LOOKS_AT_ONCE)
        return plan
    # A copy: the job's ad changes while the other thread reads.
    job = shadow.job.copy()
    return await shadow.host.aside.run(lambda: take_all(plan_for(shadow, job)))


def _is_far(shadow: Run) -> bool:
    """Whether some of the job's input lies where a look at it may hang, as far as names tell."""
    mounts = shadow.host.mounts
    if not mounts.any_far():
        return False
    job = shadow.job
    base = job.string("Iwd") or "/"
    names = [base, job.string("Cmd") or "", job.string("In") or ""]
    names += split_at_commas(job.string("TransferInput"))
    return any(mounts.is_far(posixpath.join(base, name)) for name in names if not is_url(name))


def note_counts(shadow: Run) -> None:
    """Note how many inputs the job asks for, also where none has to travel."""
    counts = texts({"TransferInputFileCounts": ClassAd(count_input(shadow.job))})
    if any(shadow.job.text(name) != text for name, text in counts.items()):
        shadow.update(counts)


def note_nothing(shadow: Run, direction: str) -> None:
    """Note a transfer for which no connection was needed, as there was no file.

    As in the reference input that is none begins and ends, and output that is none only ends.
    """
    if direction == "Input":
        _note_start(shadow, direction)
    else:
        shadow.update({"JobCurrentStartTransferOutputDate": str(int(shadow.host.now()))})
    _note_end(shadow, direction, Outcome())


def _terms(shadow: Run, stream: Stream, turn: Turn, direction: str, limit: int) -> Terms:
    host = stream.remote_name.rpartition(":")[0]
    return Terms(
        "SHADOW",
        here=shadow.host.address.host,
        peer=f"<{stream.remote_name}>" if host else stream.remote_name,
        code=_CODES[direction],
        max_bytes=limit,
        await_turn=turn.take,
        started=lambda: _note_start(shadow, direction, turn.queue_seconds),
        clock=shadow.host.steady,
    )


def _note_start(shadow: Run, direction: str, queue_seconds: int | None = None) -> None:
    now = int(shadow.host.now())
    shadow.hear()
    if direction == "Output" and _is_failure_report(shadow):
        # Now and then the reference's shadow tells of this transfer, too; of most it does not.
        return
    event = FileTransferEvent(kind=_KINDS[direction][0], queue_seconds=queue_seconds)
    if direction == "Input":
        event.host = shadow.starter_address or None
    shadow.write_event(event)
    started = f"Num{direction}TransferStarts"
    word = "In" if direction == "Input" else "Out"
    shadow.update(
        {
            f"JobCurrentStartTransfer{direction}Date": str(now),
            f"Transfer{word}Started": str(now),
            f"Transferring{direction}": "true",
            started: str((shadow.job.integer(started) or 0) + 1),
        }
    )


def note_broken_off(shadow: Run) -> None:
    """Note that a transfer of input came to nothing, as the job left while it was under way."""
    if shadow.job.boolean("TransferringInput"):
        shadow.write_event(FileTransferEvent(kind=_KINDS["Input"][1]))
        shadow.update({"TransferringInput": "false"})


def _note_end(shadow: Run, direction: str, outcome: Outcome) -> None:
    now = int(shadow.host.now())
    shadow.hear()
    shadow.write_event(FileTransferEvent(kind=_KINDS[direction][1]))
    word = "In" if direction == "Input" else "Out"
    before = shadow.job.evaluate(f"Transfer{direction}Stats")
    # What counts is what the machine says: of input the files that came, of output all it sent.
    took_in = direction == "Output"
    stats = transfer_stats(
        before if isinstance(before, ClassAd) else None,
        outcome.bytes - (0 if took_in else outcome.folders * DIRECTORY_BYTES),
        outcome.files + (outcome.folders if took_in else 0),
        outcome.peer_ack,
    )
    ended = now if outcome.failure is None else _NEVER
    shadow.update(
        {
            f"JobCurrentFinishTransfer{direction}Date": str(ended),
            f"Transfer{word}Finished": str(now),
            f"Transferring{direction}": "false",
            f"Transfer{direction}Stats": stats,
        }
    )
    failure = outcome.failure
    if failure is None:
        shadow.transfer_failure = None
        return
    here_failed = outcome.sender_failed == (direction == "Input")
    _fail(
        shadow,
        direction,
        outcome.detail or _whole_story(shadow, direction, failure.reason, here_failed=here_failed),
        here_failed=here_failed,
        code=failure.code,
        subcode=failure.subcode,
        try_again=failure.try_again,
    )


def _whole_story(shadow: Run, direction: str, reason: str, *, here_failed: bool) -> str:
    """Return what is told where no part of a reason says what happened: who told whom, and all.

    The starter, who joins both sides' reasons, has of output that failed here no more than ours.
    """
    if direction == "Output" and here_failed:
        starter, here = shadow.slot_name, shadow.host.address
        # What the starter called itself came from outside.
        with contextlib.suppress(WireError):
            starter = Sinful.parse(shadow.starter_address).host
        to = f"<{here.host}:{here.port}>"
        reason = f"STARTER at {starter} failed to send file(s) to {to}; {reason}"
    return f"Error from {shadow.slot_name}: {reason}"


def _fail(
    shadow: Run,
    direction: str,
    detail: str,
    *,
    here_failed: bool,
    code: int = 0,
    subcode: int = 0,
    try_again: bool = False,
) -> None:
    """Remember why a transfer failed; the starter's error report ends the run with it."""
    reason = transfer_reason(
        direction.lower(),
        shadow.host.host_name,
        shadow.slot_name,
        here_failed=here_failed,
        detail=detail,
    )
    # Compat: whatever code the other side gives for its own trouble, the direction decides it,
    # except for the codes of size limits (tests/unit/shadow/test_endings.py).
    sizes = (
        int(HoldReasonCode.MaxTransferInputSizeExceeded),
        int(HoldReasonCode.MaxTransferOutputSizeExceeded),
    )
    if code not in sizes:
        code = _CODES[direction]
    shadow.log(reason)
    shadow.transfer_failure = Request(
        Wish.ERROR, reason, 0 if try_again else code, 0 if try_again else subcode
    )
