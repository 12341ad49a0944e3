"""The shadow host: one process per user, a coroutine per running job.

The schedd forks it from its zygote and talks to it over an inherited socket pair (the words are in
`wire.messages.shadow_host`). Started as root it works as the jobs' owner, so that every file is
touched with the owner's rights, and keeps the way back for what is not his: checkpoints in the
spool, its log, the pool's event log. It runs no program. Its own command port serves file
transfers. When the schedd goes away the host leaves too: the starters keep their jobs running for
their leases, and the next host finds them again.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import TYPE_CHECKING

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd
from kettle.classad.text import quote_old
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.shadow import ShadowKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.config.knobs.starter import StarterKnobs
from kettle.config.knobs.transfer import TransferKnobs
from kettle.digits import whole
from kettle.errors import ConnectionLost, KettleError, WireError
from kettle.levels import Level
from kettle.policy.attribute_protection import read_protected_names
from kettle.policy.job_policy import SystemPolicy
from kettle.policy.system_policy import read_system_policy
from kettle.records.unwritten_events import SHADOW_EVENTS, encode
from kettle.runtime import tasks
from kettle.runtime.process.aside import Aside, InlineAside
from kettle.runtime.storage.event_logs import EventLogs
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.mounts import machine_mounts
from kettle.runtime.storage.waiting_events import Place
from kettle.shadow.endings import Request, Wish
from kettle.shadow.job_updates import texts
from kettle.shadow.services.ending import fault_words
from kettle.shadow.services.kept_ads import KeptAds
from kettle.shadow.services.lines import IdleLines
from kettle.shadow.services.shadow import RunningShadow
from kettle.shadow.services.transfers import serve
from kettle.shadow.services.whereabouts import Whereabouts
from kettle.wire.commands import TRANSFER_COMMANDS, Command
from kettle.wire.dialog import Words
from kettle.wire.messages.filetransfer import FileTransferDownload, FileTransferUpload
from kettle.wire.messages.shadow_host import (
    DropAd,
    HostMessage,
    HostReady,
    JobMessage,
    KeepAd,
    SetAttributes,
    ShadowExited,
    SignalShadow,
    StartShadow,
    StopHost,
    UpdateJob,
    UpdateKept,
    read_host_message,
)

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream
    from kettle.wire.security.claim_id import ClaimId
    from kettle.wire.sinful import Sinful

TRANSFER_USER = "execute-side@matchsession"
# How long a host that ends waits for event logs on a file system that is slow.
LOGS_SECONDS = 5.0
# How long a wrong transfer key is left without an answer: guessing must be slow.
WRONG_KEY_SECONDS = 5.0
_WISHES = {
    "Remove": Wish.REMOVE,
    "Forget": Wish.FORGET,
    "TransferAndRemove": Wish.REMOVE,
    "Hold": Wish.HOLD,
    "Vacate": Wish.VACATE,
    "VacateFast": Wish.VACATE,
}
_AT_ONCE = frozenset(("Forget", "VacateFast"))


class ShadowHost:
    """All running jobs of one user. See the module's docstring."""

    def __init__(
        self,
        runtime: Runtime,
        control: Stream,
        *,
        schedd_address: str = "",
        aside: Aside | None = None,
    ) -> None:
        self.runtime = runtime
        self.control = control
        self.schedd_address = schedd_address
        self.aside = aside or InlineAside()
        self.mounts = machine_mounts()
        self.logs = EventLogs(
            runtime.config,
            privileged=runtime.privileges.as_root,
            report=runtime.log.problem,
            aside=self.aside,
            is_far=self.mounts.is_far,
            note=self._note_unwritten,
        )
        self.shadows: dict[tuple[int, int], RunningShadow] = {}
        self.lines = IdleLines()
        self.whereabouts = Whereabouts(runtime)
        self._kept = KeptAds()
        self._by_key: dict[str, RunningShadow] = {}
        self._number = 0
        self._address: tuple[Sinful, str] | None = None
        self._stopping = asyncio.Event()
        self._empty = asyncio.Event()
        self.peaceful = False
        self._read_configuration(runtime.config)

    def _read_configuration(self, config: Config) -> None:
        self.policy_seconds = config[ScheddKnobs.PERIODIC_EXPR_INTERVAL]
        self.backoff_ceiling = float(config[ShadowKnobs.RECONNECT_BACKOFF_CEILING])
        self.max_input_mb = _megabytes(config, "MAX_TRANSFER_INPUT_MB")
        self.bytes_to_queue = config[TransferKnobs.BYTES_REQUIRED_TO_QUEUE_FOR_TRANSFER]
        self.limited_to = tuple(config.words("LIMIT_DIRECTORY_ACCESS"))
        self.max_output_mb = _megabytes(config, "MAX_TRANSFER_OUTPUT_MB")
        self.chirp_prefix = config[StarterKnobs.CHIRP_DELAYED_UPDATE_PREFIX]
        self.spool = config.get("SPOOL") or ""
        self.reserve = Reserve(self.spool, config.value(StartdKnobs.RESERVED_DISK) * 1024)
        self.uid_domain = config.get("UID_DOMAIN") or ""
        self.protected = read_protected_names(config.words)
        self.system_policy: SystemPolicy = read_system_policy(config.get, self.runtime.log.problem)
        self.removes_gently = config[ScheddKnobs.GRACEFULLY_REMOVE_JOBS]

    # What shadows ask of their host.

    @property
    def address(self) -> Sinful:
        """Where starters reach this host."""
        return self.runtime.network.address

    @property
    def address_text(self) -> str:
        """The same as text, written out anew only when it has changed."""
        address = self.address
        if self._address is None or self._address[0] is not address:
            self._address = (address, str(address))
        return self._address[1]

    @property
    def borrowed_rights(self) -> str:
        """Say whose rights the jobs' files are touched with, where the owner has no account."""
        account = self.runtime.privileges.daemon
        if not account.lent:
            return ""
        return f" (as uid {account.uid}: there is no account {account.name!r} on this machine)"

    @property
    def version(self) -> str:
        """The version text that peers read."""
        return self.runtime.identity.version

    @property
    def host_name(self) -> str:
        """The name of this machine in hold reasons."""
        return self.runtime.identity.machine

    def steady(self) -> float:
        """The time as it passes, whatever the wall clock is set to: leases are counted by it."""
        return self.runtime.clock.steady()

    def now(self) -> float:
        """The time, in epoch seconds."""
        return self.runtime.clock.now()

    def log(self, text: str) -> None:
        """Write a line to the shadow log."""
        self.runtime.log(text)

    def next_number(self) -> int:
        """Return the next number for a transfer key."""
        self._number += 1
        return self._number

    def nodes_mask(self, job: ClassAd) -> frozenset[int] | None:
        """Return the event numbers that a DAG's nodes log wants, None for all."""
        text = job.string("DAGManNodesMask")
        if not text:
            return None
        return frozenset(whole(word) for word in text.split(",") if word.strip().isdecimal())

    def tell_schedd(self, message: HostMessage) -> None:
        """Send a word to the schedd; without a schedd there is nobody to tell."""
        try:
            self.control.post(message)
        except WireError as error:
            self.log(f"The schedd is gone: {error}")
            self._stopping.set()

    def _note_unwritten(self, places: set[Place], urgent: bool) -> None:
        """Have the queue keep the events that wait, and forget those that no longer do."""
        for place in sorted(places):
            waiting = self.logs.unwritten(place)
            change = {SHADOW_EVENTS: quote_old(encode(waiting)) if waiting else "undefined"}
            shadow = self.shadows.get(place)
            if shadow is None:
                self.tell_schedd(UpdateJob(*place, change))
                continue
            shadow.update(change)
            if urgent:
                shadow.flush()

    def add_transfer_session(self, session: ClaimId) -> None:
        """Let the starter that knows this session move its job's files."""
        self.runtime.network.add_session(
            session,
            user=TRANSFER_USER,
            levels=(Level.DAEMON, Level.WRITE),
            commands=TRANSFER_COMMANDS,
        )

    def report_bug(self, error: Exception) -> None:
        """Write where a shadow failed."""
        lines = "".join(traceback.format_exception(error)).rstrip()
        self.runtime.log.problem(lines)

    # Life.

    async def start(self) -> None:
        """Register the transfer commands and say that jobs may come."""
        network = self.runtime.network
        # Whoever knows a job's transfer key may move its files: no level beyond that is asked.
        network.register(Command.FILETRANS_UPLOAD, self._on_upload, levels=(Level.ALLOW,))
        network.register(Command.FILETRANS_DOWNLOAD, self._on_download, levels=(Level.ALLOW,))
        self.control.timeout = None
        self.tell_schedd(HostReady(self.address_text))

    async def serve(self) -> None:
        """Do what the schedd says until it says stop, or is gone."""
        listening = tasks.spawn(self._listen(), "schedd")
        stopping = tasks.spawn(self._stopping.wait(), "stop")
        await asyncio.wait({listening, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if self.peaceful and self.shadows:
            await self._empty.wait()
        listening.cancel()
        stopping.cancel()
        for shadow in self.shadows.values():
            shadow.flush()
        self.lines.close()
        await self.logs.settle(LOGS_SECONDS)
        self.logs.close()

    async def _listen(self) -> None:
        while True:
            try:
                message = read_host_message(await self.control.receive_forever())
            except ConnectionLost:
                self.log("The schedd is gone; its next host will find the jobs again.")
                return
            # Whatever is odd about one job, this host has the shadows of many.
            with tasks.reported(type(message).__name__):
                try:
                    self._obey(message)
                except (KettleError, ValueError) as error:
                    self.runtime.log.problem(f"{type(message).__name__}: {error}")

    def _obey(self, message: HostMessage) -> None:
        if isinstance(message, StartShadow):
            self._start_shadow(message)
        elif isinstance(message, SignalShadow):
            self._signal(message)
        elif isinstance(message, SetAttributes):
            self._set_attributes(message)
        elif isinstance(message, UpdateKept):
            self._note_kept(message)
        elif isinstance(message, KeepAd):
            self._kept.keep(message)
        elif isinstance(message, DropAd):
            self._kept.drop(message)
        elif isinstance(message, StopHost):
            self.peaceful = message.how == "peaceful"
            self._stopping.set()

    def _find(self, message: JobMessage) -> RunningShadow | None:
        return self.shadows.get((message.cluster, message.proc))

    def _start_shadow(self, start: StartShadow) -> None:
        known = self._find(start)
        if known is not None:
            self.log(f"Job {known.name} has a shadow already; the second one is not started")
            return
        shadow = RunningShadow(self, start, self._kept.complete(start))
        key = (shadow.cluster, shadow.proc)
        self.shadows[key] = shadow
        self._empty.clear()
        self._by_key[shadow.transfer_key] = shadow
        tasks.spawn(self._run(shadow, key), f"shadow {shadow.name}")

    async def _run(self, shadow: RunningShadow, key: tuple[int, int]) -> None:
        try:
            await shadow.run()
        except Exception as error:  # noqa: BLE001 - the schedd must hear of every end
            self.report_bug(error)
            if not shadow.end_told:
                # With the code of a fault: whose runs all end so is not started again at once.
                words = fault_words(f"{type(error).__name__}: {error}")
                reason = int(ShadowExit.EXCEPTION)
                self.tell_schedd(
                    ShadowExited(*key, reason, reusable=False, attributes=texts(words))
                )
        finally:
            self._by_key.pop(shadow.transfer_key, None)
            if shadow.transfer_session is not None:
                self.runtime.network.remove_session(shadow.transfer_session)
            if shadow.claim_accepted:
                self.runtime.network.remove_session(shadow.claim)
            if self.shadows.get(key) is shadow:
                del self.shadows[key]
            if not self.shadows:
                self._empty.set()

    def _signal(self, message: SignalShadow) -> None:
        shadow = self._find(message)
        if shadow is None:
            return
        word = message.signal
        if word in ("Suspend", "Continue"):
            tasks.spawn(shadow.suspend(go_on=word == "Continue"), f"{word} {shadow.name}")
            return
        if word == "Release":
            shadow.release()
            return
        wish = _WISHES.get(word)
        if wish is None:
            self.runtime.log.problem(f"{word!r} is no signal for a shadow")
            return
        request = Request(
            wish,
            message.reason,
            message.code,
            message.subcode,
            fast=word in _AT_ONCE,
            brings_output=word == "TransferAndRemove",
        )
        # Now, and in no task: the next word may be read before that has its first turn.
        if shadow.wish(request):
            tasks.spawn(shadow.leave(request), f"{word} {shadow.name}")

    def _set_attributes(self, message: SetAttributes) -> None:
        shadow = self._find(message)
        if shadow is None:
            return
        for name, text in message.attributes.items():
            shadow.job.insert_text(name, text)
        shadow.forget_logs()
        if self.policy_seconds:
            tasks.spawn(shadow.check_policy(), f"policy {shadow.name}")
        else:
            shadow.watch_policy()

    def _note_kept(self, message: UpdateKept) -> None:
        shadow = self._find(message)
        if shadow is not None:
            shadow.note_kept()

    # File transfers.

    async def _on_upload(self, stream: Stream) -> None:
        key = FileTransferUpload.read(await stream.receive()).transfer_key
        await self._transfer(stream, key, "Input")

    async def _on_download(self, stream: Stream) -> None:
        key = FileTransferDownload.read(await stream.receive()).transfer_key
        await self._transfer(stream, key, "Output")

    async def _transfer(self, stream: Stream, key: str, direction: str) -> None:
        shadow = self._by_key.get(key)
        if shadow is None:
            self.log(f"{stream.remote_name} named an unknown transfer key")
            await asyncio.sleep(WRONG_KEY_SECONDS)
            await stream.send(Words(0))
            return
        if shadow.wants_no_files:
            return
        transfer = tasks.spawn(serve(shadow, stream, direction), f"files of {shadow.name}")
        shadow.transfers.add(transfer)
        try:
            # Broken off by the shadow it is over, too: the connection closes behind us.
            await asyncio.wait((transfer,))
        finally:
            transfer.cancel()
            shadow.transfers.discard(transfer)


def _megabytes(config: Config, name: str) -> int:
    value = config.integer(name)
    return -1 if value is None else value
