"""Fetching a job's input and sending its output, over connections to the shadow's file server.

What travels is chosen by `transfer.plan`, how is in its two halves; here are the connection,
its session and what a failure means for the job (hold 12 and 13, or another try elsewhere).
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError, WireError
from kettle.runtime import tasks
from kettle.runtime.storage.fences import opened_folder
from kettle.starter import syscalls
from kettle.starter.outcome import Vacate, told_code, told_reason
from kettle.starter.services.checkpoint_lists import compare, render_list
from kettle.starter.services.manifest import Manifest
from kettle.starter.services.parts import Starter
from kettle.starter.services.plugins import JobPlugins
from kettle.transfer.checkpoints import failure_name, manifest_name, number_of, place_of
from kettle.transfer.go_ahead import Terms
from kettle.transfer.items import PutUrls, SendFile, Unlisted
from kettle.transfer.landing import Landing
from kettle.transfer.outcome import Failure, Outcome
from kettle.transfer.plan import (
    Catalogue,
    Plan,
    list_spooled,
    make_catalogue,
    plan_output,
    size_limit,
    split_url_outputs,
    stream_file_names,
)
from kettle.transfer.plugin_records import TransferClass, received_record
from kettle.transfer.receiving import download
from kettle.transfer.remaps import parse_remaps
from kettle.transfer.sending import upload
from kettle.wire.commands import Command
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.filetransfer import FileTransferDownload, FileTransferUpload
from kettle.wire.security.claim_id import CLAIM_INFO, ClaimId
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream

T = TypeVar("T")

# Limit: silence during a transfer; a peer whose disk is slow still says something now and then.
_TRANSFER_TIMEOUT = 300.0


class TransferFailed(KettleError):  # noqa: N818 - the name says what happened
    """Files did not get where they should; `code` holds the job, `try_again` requeues it."""

    def __init__(self, message: str, code: int, subcode: int = 0, *, try_again: bool) -> None:
        super().__init__(message)
        self.code = 0 if try_again else code
        self.subcode = subcode
        self.try_again = try_again


class NotRestored(TransferFailed):
    """A checkpoint that was fetched is not what it was; the job is started anew."""

    def __init__(self, message: str) -> None:
        super().__init__(message, HoldReasonCode.TransferInputError, try_again=True)


class SandboxTransfer:
    """The transfers of one job."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._session: ClaimId | None = None
        # The shadow that was asked for it, by how often one had come back before; none was yet.
        # Where the short way spares the questions at the beginning, the first transfer asks.
        self._session_from = -1
        self._before: Catalogue = {}
        self.bytes_sent = 0
        self.bytes_received = 0
        # What SpooledOutputFiles is to say; None as long as no output went.
        self.spooled: list[str] | None = None
        # Whether what an earlier run had written to its standard files came back.
        self.brought_streams = False
        self.manifest = Manifest(starter)
        # The transfer that is under way, and why there is to be none.
        self._carrying: asyncio.Task[None] | None = None
        self._broken_off_by: Vacate | None = None

    def break_off(self, vacate: Vacate) -> None:
        """End the transfer that is under way, if one is, and begin none any more.

        Whoever awaits one gets TransferFailed, and the job then has left for this reason.
        """
        self._broken_off_by = vacate
        if self._carrying is not None:
            self._carrying.cancel()

    async def _carry(self, transfer: Coroutine[Any, Any, None]) -> None:
        """Carry out a transfer that may be broken off."""
        carrying = self._carrying = asyncio.ensure_future(transfer)
        if self._broken_off_by is not None:
            carrying.cancel()
        try:
            await asyncio.wait((carrying,))
        finally:
            self._carrying = None
            carrying.cancel()
        if carrying.cancelled():
            starter = self._starter
            starter.vacate = starter.vacate or self._broken_off_by
            raise TransferFailed("the transfer was broken off", 0, try_again=True)
        carrying.result()

    async def get_session(self) -> None:
        """Ask the shadow for a session, where calls are encrypted: the files must be too."""
        starter = self._starter
        self._session_from = starter.shadow.returns
        if not starter.transfers or not starter.shadow.encrypted:
            return
        try:
            strings = await starter.call(lambda: syscalls.transfer_session(CLAIM_INFO, CLAIM_INFO))
        except RefusedError:
            return
        self.adopt_sessions(strings)

    def adopt_sessions(self, strings: list[str]) -> None:
        """Use the sessions: one to be reconnected by, one for the files."""
        reconnect, transfer = strings[:3], strings[3:]
        if transfer[0] and transfer[2]:
            self._session = _session_of(transfer)
        if reconnect[0] and reconnect[2]:
            self._starter.world.accept_session(_session_of(reconnect))

    async def _connect(self, command: Command) -> Stream:
        job = self._starter.job
        if self._session_from != self._starter.shadow.returns:
            await self.get_session()
        address, key = job.string("TransferSocket"), job.string("TransferKey")
        if not address or not key:
            raise TransferFailed(
                "the job ad has no TransferSocket",
                HoldReasonCode.TransferInputError,
                try_again=True,
            )
        stream = await self._starter.world.connect(
            Sinful.parse(address), command, session=self._session
        )
        stream.timeout = _TRANSFER_TIMEOUT
        word = FileTransferUpload if command is Command.FILETRANS_UPLOAD else FileTransferDownload
        await stream.send(word(key))
        return stream

    def _terms(self, stream: Stream, code: int, max_bytes: int) -> Terms:
        here = stream.local_name.rpartition(":")[0]
        return Terms("STARTER", here, f"<{stream.remote_name}>", code=code, max_bytes=max_bytes)

    async def fetch_input(self) -> None:
        """Bring the job's input into scratch; TransferFailed says what to do with the job."""
        await self._carry(self._fetch_input())

    async def _fetch_input(self) -> None:
        starter = self._starter
        code = HoldReasonCode.TransferInputError
        scratch, files = starter.sandbox.scratch, starter.keeper.files
        remaps = parse_remaps(starter.job.string("TransferInputRemaps"))
        landing = Landing(scratch, {}, remaps, code)
        plugins = JobPlugins(starter)
        streams = set(stream_file_names(starter.job).values())
        brought: set[str] = set()
        try:
            stream = await self._connect(Command.FILETRANS_UPLOAD)
            try:
                limit = size_limit(starter.job, starter.slot, "MaxTransferInputMB", -1)
                outcome = await stream.run(
                    download(
                        landing.path_for,
                        files,
                        self._terms(stream, code, limit),
                        fetch=plugins.fetch,
                        arrived=lambda name: brought.update(streams & {name}),
                    )
                )
            finally:
                stream.close()
        except WireError as error:
            raise TransferFailed(f"input transfer broke: {error}", code, try_again=True) from error
        await plugins.report(TransferClass.INPUT)
        self.bytes_received += outcome.bytes
        self._check(outcome, code)
        is_first = starter.job.integer("NumShadowStarts") == 1
        self.brought_streams = not is_first and bool(brought)
        await self.check_restored()
        if starter.job.string("TransferOutput") is None:
            with starter.world.privileges.as_account(starter.keeper.account):
                self._before = make_catalogue(files, scratch)

    def has_output(self) -> bool:
        """Whether the job that has ended left anything to be sent, here or to a URL.

        What cannot be sent is something: sending says why.
        """
        starter = self._starter
        try:
            plan = plan_output(
                starter.job,
                starter.keeper.files,
                starter.sandbox.scratch,
                self._before,
                also=self._listed("TransferOutput"),
            )
        except RefusedError:
            return True
        return bool(plan.items) or bool(plan.objection)

    async def send_output(self, *, final: bool, attribute: str = "TransferOutput") -> None:
        """Send the job's output to the shadow; TransferFailed says what to do with the job.

        Only what is final goes to the job's URLs; what is not waits in the access point's spool.
        """
        await self._carry(self._send_output(final=final, attribute=attribute))

    async def _send_output(self, *, final: bool, attribute: str) -> None:
        self.manifest.end()
        plan = self._plan(attribute)
        puts: list[PutUrls] = []
        if final:
            plan, to_urls = split_url_outputs(self._starter.job, plan)
            if to_urls:
                put = partial(JobPlugins(self._starter).put, to_urls, TransferClass.OUTPUT)
                puts.append(PutUrls(tuple(name for name, _, _ in to_urls), put))
        await self._send(plan, puts, final=final)

    async def send_checkpoint(self, number: int) -> None:
        """Send a checkpoint to the shadow's spool, or to its destination and only its list there.

        TransferFailed if some of it did not arrive.
        """
        await self._carry(self._send_checkpoint(number))

    async def _send_checkpoint(self, number: int) -> None:
        job = self._starter.job
        plan = self._plan("TransferCheckpoint")
        destination = job.string("CheckpointDestination")
        if not destination:
            await self._send(plan, [], final=False)
            return
        place = place_of(destination, job.string("GlobalJobId") or "", number)
        try:
            files = _files_of(plan)
            manifest = await self._write_manifest(number, files)
        except (OSError, RefusedError) as error:
            what = "read" if isinstance(error, OSError) else "listed"
            text = f"the checkpoint cannot be {what}: {error}"
            raise TransferFailed(
                text, HoldReasonCode.FailedToCheckpoint, try_again=False
            ) from error
        to_urls = [(item.name, f"{place}/{item.name}", item.path) for item in files]
        reports = await JobPlugins(self._starter).put(to_urls, TransferClass.CHECKPOINT)
        failures = [report for report in reports if not report.success]
        if failures:
            # What has arrived is to be deleted: only the manifest says what that may be. By its
            # name no run goes on from it, whatever becomes of this one.
            failed = SendFile(manifest.path, failure_name(number))
            with suppress(TransferFailed):
                await self._send(Plan((failed,), 0), [], final=False)
            first = failures[0]
            text = f"uploading {first.name} to {first.destination}: {first.error}"
            # As in the reference a plug-in that says so and ends well is tried again with the next
            # checkpoint; one that fails itself holds the job.
            again = all(report.orderly for report in failures)
            raise TransferFailed(text, HoldReasonCode.FailedToCheckpoint, try_again=again)
        put = PutUrls(tuple(report.name for report in reports), lambda: reports)
        await self._send(Plan((manifest,), 0), [put] if reports else [], final=False)

    async def _write_manifest(self, number: int, files: Sequence[SendFile]) -> SendFile:
        """Write the list of a checkpoint's files beside the sandbox."""
        starter = self._starter
        path = os.path.join(starter.sandbox.htcondor, manifest_name(number))
        text = await tasks.in_turns(render_list(starter, number, files))
        starter.keeper.write(path, text, 0o644)
        return SendFile(path, manifest_name(number))

    async def check_restored(self) -> None:
        """Compare a checkpoint that was fetched with its manifest; NotRestored if it is another.

        The shadow is told not to use it again. Nothing is done for a job that has none.
        """
        starter = self._starter
        if not starter.job.string("CheckpointDestination"):
            return
        folder = starter.sandbox.scratch
        as_job = partial(starter.world.privileges.as_account, starter.keeper.account)
        try:
            with as_job():
                names = starter.keeper.files.names(folder)
        except OSError as error:
            raise NotRestored(f"{error}, aborting.") from error
        found = [name for name in names if number_of(name) is not None]
        if not found:
            return
        if len(found) > 1:
            raise NotRestored("Found more than one MANIFEST file, aborting.")
        try:
            size = await tasks.in_turns(compare(starter, folder, found[0]))
            with as_job(), opened_folder(folder, starter.keeper.fence) as place:
                os.unlink(found[0], dir_fd=place)
        except (RefusedError, OSError) as error:
            trouble = NotRestored(f"{error}, aborting.")
        else:
            record = received_record(found[0], size, starter.world.clock.now())
            JobPlugins(starter).note([record])
            return
        event = ClassAd({"EventType": "InvalidCheckpointDownload"})
        event["CheckpointNumber"] = number_of(found[0])
        await starter.shadow.call(lambda: syscalls.invoke(calls.EventNotification(event)))
        raise trouble

    def _listed(self, attribute: str) -> list[str]:
        """Return what goes with what is final: lists of the sandbox, and the job's core file."""
        if attribute == "TransferCheckpoint":
            return []
        return [name for name in (self.manifest.folder, self._starter.keeper.core) if name]

    def _plan(self, attribute: str) -> Plan:
        starter = self._starter
        try:
            return plan_output(
                starter.job,
                starter.keeper.files,
                starter.sandbox.scratch,
                self._before,
                attribute=attribute,
                also=self._listed(attribute),
            )
        except RefusedError as error:
            code = HoldReasonCode.TransferOutputError
            raise TransferFailed(error.message, code, 1, try_again=False) from error

    async def _send(self, plan: Plan, puts: Sequence[PutUrls], *, final: bool) -> None:
        """Send files over one connection, and take others to their URLs meanwhile."""
        starter = self._starter
        code = HoldReasonCode.TransferOutputError
        objection = Failure(plan.objection, code, errno.EPERM) if plan.objection else None
        try:
            stream = await self._connect(Command.FILETRANS_DOWNLOAD)
            try:
                limit = size_limit(starter.job, starter.slot, "MaxTransferOutputMB", -1)
                outcome = await stream.run(
                    upload(
                        (*plan.items, *puts),
                        starter.keeper.files,
                        self._terms(stream, code, limit),
                        final=final,
                        sandbox_bytes=plan.sandbox_bytes,
                        objection=objection,
                    )
                )
            finally:
                stream.close()
        except WireError as error:
            raise TransferFailed(f"output transfer broke: {error}", code, try_again=True) from error
        self.bytes_sent += outcome.moved
        self.spooled = list_spooled(starter.job, plan)
        self._check(outcome, code)

    def _check(self, outcome: Outcome, code: int) -> None:
        failure = outcome.failure
        if failure is not None:
            raise TransferFailed(
                told_reason(outcome),
                told_code(outcome) or code,
                failure.subcode,
                try_again=failure.try_again,
            )


def _session_of(parts: list[str]) -> ClaimId:
    """Return id, info and key in the form of a claim id."""
    return ClaimId(f"{parts[0]}#{parts[1]}{parts[2]}")


def _files_of(plan: Plan) -> list[SendFile]:
    """Return the files of a plan; OSError where a folder may have more of them."""
    for item in plan.items:
        if isinstance(item, Unlisted):
            raise item.error()
    return [item for item in plan.items if isinstance(item, SendFile)]
