"""The starters of a startd: forked for an activation, spoken to, reaped, and cleaned up after.

A starter says when no process and no file of its job is left; that is the moment the slot is
free again, whatever the process itself still does. One that dies without a word is cleaned up
after here, before anybody hears that it is gone: a job never has two live executions.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kettle.classad import ClassAd
from kettle.config.execute_folders import folder_of, own_folders
from kettle.errors import ConnectionLost, KettleError, RemoteProtocolError
from kettle.policy.ancestors import ancestor_mark
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.process.hunt import marked
from kettle.runtime.process.leftovers import Leftovers
from kettle.runtime.process.processes import Child, kill_tree
from kettle.runtime.sockets.stream import Stream
from kettle.startd.hold_wish import HoldWish
from kettle.startd.services.forking import Forking
from kettle.wire.codec import Writer
from kettle.wire.like_ads import LikeAds
from kettle.wire.messages import starter_control as words

ENTRY = "kettle.starter.services.entry:run"
# How long a starter that has reported its end may take to exit.
_EXIT_SECONDS = 30.0
# What a dead starter has written is there already; only something odd keeps the line open.
_LAST_WORDS_SECONDS = 2.0
# How long an activation takes to fail where the system grants no process.
_NO_PROCESS_SECONDS = 2.0
# How long a starter without a job waits for the next one of its claim.
_IDLE_SECONDS = 2.0


@dataclass
class StarterProcess:
    """One starter. `done` is set when nothing of its job is left."""

    number: int
    slot_name: str
    claim_id: str
    control: Stream
    # Where connections to shadows go, as descriptors.
    connections: socket.socket
    leftovers: Leftovers
    generation: int = 0
    # Whose job it runs: a starter serves one owner only, and one submit side.
    owner: str = ""
    peer_user: str = ""
    machine_stamp: tuple[int, int] = (0, 0)
    child: Child | None = None
    address: str = ""
    # Set when the address is known: a job that is over in a moment is none to be looked for.
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    usage: ClassAd | None = None
    final: ClassAd | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)
    told_to_leave: bool = False
    # Reads the jobs that it asks for.
    jobs: LikeAds = field(default_factory=LikeAds)

    @property
    def pid(self) -> int:
        """The process id, 0 until it is forked."""
        return self.child.pid if self.child is not None else 0

    def post(self, message: words.ControlMessage) -> None:
        """Send an order; one that no longer listens is dead or about to be."""
        with contextlib.suppress(ConnectionLost):
            self.control.post(message)

    def vacate(
        self,
        code: int,
        reason: str,
        *,
        graceful: bool,
        seconds: float,
        brings_output: bool = False,
        hold: HoldWish | None = None,
    ) -> None:
        """Tell the job to leave; `brings_output` sends its output as if it had ended by itself.

        With a `hold` it is held at once, however long it takes to leave.
        """
        self.told_to_leave = True
        ad = ClassAd({"Reason": reason, "ReasonCode": code, "ReasonSubCode": 0})
        ad["Graceful"] = graceful
        ad["VacateSeconds"] = float(seconds)
        if brings_output:
            ad["FinalTransfer"] = True
        if hold is not None:
            ad["HoldReason"], ad["HoldReasonSubCode"] = hold
        self.post(words.VacateJob(ad) if graceful else words.KillJob(ad))


@dataclass(frozen=True)
class Reports:
    """Whom to tell: of usage and state, of the end of an activation, of a wish for another."""

    on_update: Callable[[StarterProcess], None]
    on_done: Callable[[StarterProcess], None]
    on_ask: Callable[[StarterProcess, ClassAd], None]


class Starters:
    """All starters of the startd, by activation number."""

    def __init__(self, runtime: Runtime, reports: Reports) -> None:
        self._runtime = runtime
        self._reports = reports
        self._running: dict[int, StarterProcess] = {}
        self._finished: dict[str, StarterProcess] = {}
        # By claim, the finished starters that stay for another job; and by pid, for which
        # activation each process works now.
        self._idle: dict[str, tuple[StarterProcess, asyncio.TimerHandle]] = {}
        self._current: dict[int, StarterProcess] = {}
        self.generation = 0
        # Which state of the ad that slots share is in the activations that are begun now.
        self.machine_stamp: tuple[int, int] = (0, 0)
        # By folder: EXECUTE may change, and what was begun before stays where it is.
        self._leftovers: dict[str, Leftovers] = {}
        self.forking = Forking(runtime)

    def leftovers(self) -> list[Leftovers]:
        """Return what ends what is left, for each of the folders that starters are given now."""
        config = self._runtime.config
        own = (folder for folder in own_folders(config).values() if os.path.isdir(folder))
        return [self._leftovers_in(one) for one in dict.fromkeys((folder_of(config, ""), *own))]

    def _leftovers_in(self, folder: str) -> Leftovers:
        if folder not in self._leftovers:
            self._leftovers[folder] = Leftovers(self._runtime, folder)
        return self._leftovers[folder]

    def find(self, number: int) -> StarterProcess | None:
        """Return a starter that has not finished."""
        return self._running.get(number)

    def finished(self, claim_id: str) -> StarterProcess | None:
        """Return the claim's last starter, if it has finished its job and is still there."""
        return self._finished.get(claim_id)

    def __len__(self) -> int:
        return len(self._running)

    async def begin(self, activation: words.StarterActivation, connection: int) -> StarterProcess:
        """Give an activation to the claim's starter if one waits for it, else to a new one.

        `connection` is the one to the shadow; it is closed here afterwards.
        """
        writer = Writer()
        activation.write(writer)
        data = writer.getvalue()
        return self._begin_again(activation, data, connection) or await self._fork(
            activation, data, connection
        )

    def _begin_again(
        self, activation: words.StarterActivation, data: bytes, connection: int
    ) -> StarterProcess | None:
        """Let the claim's last starter run this job too; None if there is none, or it is gone.

        Compat: the reference starts one for each job; ours still has one process for each job
        that runs, gone with its claim (tests/scenario/test_startd.py; decision 0008).
        """
        old, timer = self._idle.pop(activation.claim_id, (None, None))
        if old is None or timer is None:
            return None
        timer.cancel()
        if not self._suits(old, activation.job):
            self._let_go(old)
            return None
        try:
            socket.send_fds(old.connections, [b"c"], [connection])
            old.control.post(words.NextActivation(ClassAd(), data))
        except (OSError, ConnectionLost):
            self._let_go(old)
            return None
        os.close(connection)
        return self._set_to_work(old, activation.number, activation.peer_user)

    def _suits(self, starter: StarterProcess, job: ClassAd) -> bool:
        """Whether a starter that waits may run this job."""
        same = starter.owner == (job.string("Owner") or "")
        current = starter.generation == self.generation
        return same and current and starter.child is not None and starter.child.running

    def _set_to_work(self, old: StarterProcess, number: int, peer_user: str) -> StarterProcess:
        starter = replace(
            old,
            number=number,
            peer_user=peer_user,
            machine_stamp=self.machine_stamp,
            usage=None,
            final=None,
            done=asyncio.Event(),
            told_to_leave=False,
        )
        self._finished.pop(starter.claim_id, None)
        self._running[starter.number] = self._current[starter.pid] = starter
        return starter

    def may_ask(self, starter: StarterProcess, job: ClassAd) -> bool:
        """Whether a starter that asks for an activation waits for one and may run this job."""
        waiting = self._idle.get(starter.claim_id)
        return waiting is not None and waiting[0] is starter and self._suits(starter, job)

    def begin_as_asked(
        self, starter: StarterProcess, activation: words.StarterActivation
    ) -> StarterProcess:
        """Grant a starter the activation it asked for, on the connection it has."""
        self._idle.pop(starter.claim_id)[1].cancel()
        if starter.machine_stamp == self.machine_stamp:
            activation.machine = None
        writer = Writer()
        activation.write(writer)
        starter.post(words.NextActivation(ClassAd({"Asked": True}), writer.getvalue()))
        return self._set_to_work(starter, activation.number, activation.peer_user)

    def knows(self, starter: StarterProcess) -> bool:
        """Whether a starter has the ad that slots share as it is now."""
        return starter.machine_stamp == self.machine_stamp

    def begin_again(self, starter: StarterProcess, number: int, news: ClassAd) -> None:
        """Grant a starter what it asked for, where it knows all but the `news`."""
        self._idle.pop(starter.claim_id)[1].cancel()
        news["Asked"] = True
        news["Number"] = number
        starter.post(words.NextActivation(news, b""))
        self._set_to_work(starter, number, starter.peer_user)

    async def _fork(
        self, activation: words.StarterActivation, data: bytes, connection: int
    ) -> StarterProcess:
        with contextlib.ExitStack() as refused:
            refused.callback(os.close, connection)
            control, theirs = Stream.pair()
            refused.callback(control.close)
            refused.callback(os.close, theirs)
            ours, connections = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            refused.pop_all()
        ours.setblocking(False)
        starter = StarterProcess(
            activation.number,
            activation.slot_name,
            activation.claim_id,
            control,
            ours,
            self._leftovers_in(folder_of(self._runtime.config, activation.slot_name)),
            activation.generation,
            activation.job.string("Owner") or "",
            activation.peer_user,
            self.machine_stamp,
        )
        self._running[activation.number] = starter
        title = f"condor_starter -f -a {activation.slot_name.partition('@')[0]}"
        try:
            starter.child = await self._runtime.processes.zygote.fork(
                ENTRY, data, fds=[connection, theirs, connections.fileno()], title=title
            )
        except KettleError as error:
            self.forking.on_failure(error)
            # Whoever waits for the last starter waits for this one.
            del self._running[activation.number]
            starter.done.set()
            control.close()
            ours.close()
            # The shadow's connection is still open: who hears of it at once comes back at once.
            await asyncio.sleep(_NO_PROCESS_SECONDS)
            raise
        finally:
            os.close(connection)
            os.close(theirs)
            connections.close()
        self._current[starter.pid] = starter
        listening = tasks.spawn(
            self._listen(starter.pid, control), f"starter {activation.slot_name}"
        )
        starter.child.on_exit(lambda child: self._on_exit(child.pid, listening))
        return starter

    async def _listen(self, pid: int, control: Stream) -> None:
        while True:
            try:
                report = words.read_control_message(await control.receive_forever())
            except KettleError:
                return
            starter = self._current.get(pid)
            if starter is not None:
                self._on_report(starter, report)

    def _on_report(self, starter: StarterProcess, report: words.ControlMessage) -> None:
        address = report.content.string("StarterIpAddr")
        if address:
            starter.address = address
            starter.heard.set()
        if isinstance(report, words.StarterDone):
            starter.final = report.content
            self._finish(starter)
        elif isinstance(report, words.JobUsage):
            starter.usage = report.content
            self._reports.on_update(starter)
        elif isinstance(report, words.JobState):
            self._reports.on_update(starter)
        elif isinstance(report, words.AskActivation):
            self._on_ask(starter, report.job)

    def _on_ask(self, starter: StarterProcess, job: bytes) -> None:
        try:
            ad = starter.jobs.read(job)
        except RemoteProtocolError as error:
            # A shadow's words, handed on as they came: they cost it the starter it had.
            self._runtime.log(f"A shadow's next job for {starter.slot_name} is refused: {error}")
            self.let_go(starter.claim_id)
            return
        self._reports.on_ask(starter, ad)

    def _finish(self, starter: StarterProcess) -> None:
        if starter.done.is_set():
            return
        starter.done.set()
        self._running.pop(starter.number, None)
        lives = starter.child is not None and starter.child.running
        if lives:
            self._finished[starter.claim_id] = starter
        stays = starter.final is not None and starter.final.boolean("Stays") is True
        if stays and lives:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(_IDLE_SECONDS, self.let_go, starter.claim_id)
            self._idle[starter.claim_id] = (starter, timer)
        else:
            tasks.spawn(self._see_off(starter), "starter exit")
        self._reports.on_done(starter)

    def let_go(self, claim_id: str) -> None:
        """Let the claim's starter end if it waits for another job."""
        starter, timer = self._idle.pop(claim_id, (None, None))
        if starter is not None and timer is not None:
            timer.cancel()
            self._let_go(starter)

    def _let_go(self, starter: StarterProcess) -> None:
        starter.control.close()
        tasks.spawn(self._see_off(starter), "starter exit")

    async def _see_off(self, starter: StarterProcess) -> None:
        """Make sure that a finished starter ends."""
        if starter.child is None or not starter.child.running:
            return
        try:
            async with asyncio.timeout(_EXIT_SECONDS):
                await starter.child.wait()
        except TimeoutError:
            self._runtime.log(f"starter {starter.pid} does not exit; it is killed")
            kill_tree(starter.pid)

    def _on_exit(self, pid: int, listening: asyncio.Task[None]) -> None:
        starter = self._current[pid]
        starter.connections.close()
        waiting = self._idle.get(starter.claim_id)
        if waiting is not None and waiting[0] is starter:
            self._idle.pop(starter.claim_id)[1].cancel()
        if self._finished.get(starter.claim_id) is starter:
            del self._finished[starter.claim_id]
        if starter.done.is_set():
            del self._current[pid]
            starter.control.close()
            # One that stayed, and was killed meanwhile, could not take its empty sandbox away.
            tasks.spawn(starter.leftovers.remove_sandbox(pid), "removal of a sandbox")
        else:
            tasks.spawn(self._hear_last_words(starter, listening), "end of a starter")

    async def _hear_last_words(
        self, starter: StarterProcess, listening: asyncio.Task[None]
    ) -> None:
        """The exit is known before the last report is read: read on to the end of the line."""
        await asyncio.wait((listening,), timeout=_LAST_WORDS_SECONDS)
        listening.cancel()
        if self._current.get(starter.pid) is starter:
            del self._current[starter.pid]
        starter.control.close()
        if not starter.done.is_set():
            await self._clean_up_after(starter)

    async def _clean_up_after(self, starter: StarterProcess) -> None:
        """A starter died without a word: end what it left, then report the end."""
        self._runtime.log(f"starter {starter.pid} of {starter.slot_name} died unexpectedly")
        leftovers, pid = starter.leftovers, starter.pid
        await leftovers.end_slot(starter.slot_name)
        await leftovers.hunt(lambda: self._left_behind(pid), f"starter {pid}")
        await leftovers.remove_sandbox(pid)
        self._finish(starter)

    def _left_behind(self, starter_pid: int) -> list[int] | None:
        """Return what lives on of a dead starter's job.

        That is who fell to us when it died, and who carries its marker, wherever it went: a program
        that begins with an environment of its own (`env -i`, `su -`) carries none.
        """
        orphans = self._runtime.processes.orphans()
        if orphans is None:
            return None
        mark = ancestor_mark(os.getpid(), starter_pid)
        return [*orphans, *marked(self._runtime.privileges, mark)]

    def kill_tree(self, number: int) -> None:
        """SIGKILL to everything below a starter, then to itself."""
        starter = self._running.get(number)
        if starter is not None and starter.child is not None and starter.child.running:
            with self._runtime.privileges.as_root():
                kill_tree(starter.pid)

    async def all_done(self) -> None:
        """Wait until no starter is left."""
        while self._running:
            starter = next(iter(self._running.values()))
            await starter.done.wait()
