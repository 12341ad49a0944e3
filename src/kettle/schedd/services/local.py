"""One job of the local universe: a starter under the schedd, and the few calls it makes of us.

The starter is the execute side's own; it believes to talk to a shadow. What it asks is answered
here, without file transfer: the job runs in its own folder (S007).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, KettleError, RefusedError
from kettle.policy.ancestors import ancestor_mark
from kettle.policy.attribute_protection import decide_by_job
from kettle.policy.run_rights import rights_of
from kettle.runtime import tasks
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.hunt import has_mark, hunt, marked, outlives_its_daemon
from kettle.runtime.process.leftovers import Leftovers
from kettle.runtime.process.processes import kill_tree
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.beside import NotStarted, Run, StarterDied
from kettle.schedd.job_processes import JobProcess, program_mark
from kettle.schedd.settings import local_execute
from kettle.wire.channel import Channel
from kettle.wire.codec import Writer, is_private_attribute
from kettle.wire.messages import starter_control as words
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child
    from kettle.schedd.services.parts import Schedd

STARTER_ENTRY = "kettle.starter.services.entry:run"

# Attributes of a report that the queue keeps.
_KEPT = (
    "ImageSize",
    "ResidentSetSize",
    "ProportionalSetSizeKb",
    "DiskUsage",
    "RemoteUserCpu",
    "RemoteSysCpu",
    "MemoryUsage",
    "BlockReadKbytes",
    "BlockReads",
    "BlockWriteKbytes",
    "BlockWrites",
    "RecentBlockReadKbytes",
    "RecentBlockReads",
    "RecentBlockWriteKbytes",
    "RecentBlockWrites",
)


class LocalRun:
    """One local-universe job."""

    def __init__(
        self,
        schedd: Schedd,
        run: Run,
        leftovers: Leftovers,
        on_executing: Callable[[Run], None],
    ) -> None:
        self._schedd = schedd
        self._run = run
        self._leftovers = leftovers
        self._rights = rights_of(run.job.ad)
        self._on_executing = on_executing
        self._control: Stream | None = None
        self._child: Child | None = None
        self._exit_status: int | None = None
        self._failure: NotStarted | None = None

    async def serve(self) -> int:
        """Run the job; returns its wait status.

        NotStarted if the starter says that it cannot be run, StarterDied if it says nothing.
        """
        runtime, job = self._schedd.runtime, self._run.job
        writer = Writer()
        self._schedd.runtime.files.make_folder(execute_folder(self._schedd))
        self._activation().write(writer)
        syscalls, theirs = Stream.pair()
        control, control_theirs = Stream.pair()
        self._control = control
        try:
            child = await runtime.processes.zygote.fork(
                STARTER_ENTRY,
                writer.getvalue(),
                fds=(theirs, control_theirs),
                title=f"condor_starter: local job {job.id}",
                environment=dict(os.environ),
            )
        except BaseException:
            syscalls.close()
            control.close()
            raise
        finally:
            os.close(theirs)
            os.close(control_theirs)
        self._child, pid = child, child.pid
        self._schedd.queue.update(job.id, JobProcess(pid, birth_of(pid), os.getpid()).note())
        listening = tasks.spawn(self._listen(control), f"starter of {job.id}")
        try:
            await self._answer(syscalls)
            # As a shadow would: with the connection closed the starter has nothing to wait for.
            syscalls.close()
            await child.wait()
        except (KettleError, OSError):
            await self.end_processes()
            raise
        finally:
            listening.cancel()
            syscalls.close()
            control.close()
            if child.running:
                kill_tree(pid)
        if child.status:
            await self._end_what_is_left(pid)
        if self._exit_status is None:
            if self._run.wish:
                return 0
            raise self._failure or StarterDied(child.status or 0)
        return self._exit_status

    async def end_processes(self) -> None:
        """End the starter and what its job has left."""
        child = self._child
        if child is not None:
            if child.running:
                kill_tree(child.pid)
            await child.wait()
            await self._end_what_is_left(child.pid)

    async def _end_what_is_left(self, starter: int) -> None:
        """The starter did not end by itself: what its job left fell to us, or carries its mark.

        What it would have taken away with it is taken away here.
        """
        runtime = self._schedd.runtime
        mark = ancestor_mark(os.getpid(), starter)

        def find() -> list[int] | None:
            orphans = runtime.processes.orphans()
            if orphans is None:
                return None
            with runtime.privileges.as_root():
                strangers = [pid for pid in orphans if not _is_of_others(pid)]
            return [*strangers, *marked(runtime.privileges, mark)]

        staying = await hunt(find, runtime.privileges)
        if staying:
            runtime.log(f"processes {staying} of local job {self._run.job.id} cannot be killed")
        await self._leftovers.remove_sandbox(starter)

    def _activation(self) -> words.StarterActivation:
        job = self._run.job
        return words.StarterActivation(
            number=job.id.cluster,
            slot_name="local",
            claim_id=f"local#{job.id}",
            generation=0,
            host=self._schedd.runtime.identity.machine,
            startd_name=self._schedd.name,
            peer_user=job.user,
            channel=Channel(token_bytes).export(),
            # It has no slot, so nobody knows what of the machine is the job's.
            slot=ClassAd(),
            job=self._job_ad(),
            cores="",
            execute=execute_folder(self._schedd),
            machine=None,
            account=self._schedd.accounts.to_start(job.user).pack(),
        )

    def _job_ad(self) -> ClassAd:
        ad = self._run.job.ad.flattened()
        ad["ShadowIpAddr"] = str(self._schedd.runtime.network.address)
        ad["ShadowVersion"] = self._schedd.queue_settings.version
        ad["UidDomain"] = self._schedd.queue_settings.uid_domain
        return ad

    async def _listen(self, control: Stream) -> None:
        """Read what the starter would tell a startd; only its end matters, and that is seen."""
        try:
            while True:
                words.read_control_message(await control.receive_forever())
        except ConnectionLost:
            return

    # -- the starter's calls ----------------------------------------------------------------

    async def _answer(self, stream: Stream) -> None:
        """Answer the starter until it has said how the job ended, or is gone."""
        with contextlib.suppress(ConnectionLost):
            while True:
                call = calls.read_syscall(await stream.receive_forever())
                reply = self._reply(call)
                writer = stream.writer()
                reply.write(writer)
                if writer.getvalue():
                    stream.post(writer)
                if isinstance(call, calls.JobExit) or self._failure:
                    return

    def _reply(self, call: Call) -> Reply:
        match call:
            case calls.GetJobInfo():
                return call.answer(0, result=self._job_ad())
            case calls.BeginExecution():
                self._on_executing(self._run)
            case calls.RegisterJobInfo():
                self._note(call.info)
            case calls.JobExit():
                self._note(call.info)
                self._exit_status = call.status
            case calls.RequestGuidance():
                word = "StartJob" if _asked(call) == "JobEnvironment" else "CarryOn"
                return call.answer(0, result=ClassAd({"Command": word}))
            case calls.GetJobAttr():
                secret = is_private_attribute(call.name)
                text = None if secret else self._run.job.ad.text(call.name)
                return call.answer(0, result=text or "UNDEFINED")
            case calls.SetJobAttr():
                return self._set_attribute(call)
            case calls.UserLog():
                self._failure = _failure_of(call.event) or self._failure
            case calls.RegisterStarterInfo() | calls.EventNotification() | calls.JobTermination():
                pass
            case _:
                return call.answer(-1, errno=errno.ENOSYS)
        return call.answer(0)

    def _set_attribute(self, call: calls.SetJobAttr) -> Reply:
        job, lists = self._run.job, self._schedd.queue_settings
        if not self._rights.attributes:
            return call.answer(-1, errno=errno.EACCES)
        try:
            text = decide_by_job(call.name, call.value, lists)
        except RefusedError as error:
            return call.answer(-1, errno=error.code or errno.EACCES)
        old = job.ad.text(call.name)
        self._schedd.queue.update(job.id, {call.name: text})
        self._schedd.events.changed(job, call.name, text, old)
        return call.answer(0)

    def _note(self, info: ClassAd) -> None:
        for name in _KEPT:
            text = info.text(name)
            if text is not None:
                value: Any = info.lookup(name)
                self._run.attributes[name] = value

    def leave(self, reason: str, code: int, *, seconds: float) -> None:
        """Ask the starter to end the job within so many seconds, or at once."""
        if self._control is None:
            return
        graceful = seconds > 0
        content = ClassAd({"Reason": reason, "ReasonCode": code, "Graceful": graceful})
        content["VacateSeconds"] = seconds
        message = words.VacateJob(content) if graceful else words.KillJob(content)
        self._post(message)

    def _post(self, message: words.ControlMessage) -> None:
        if self._control is not None:
            try:
                self._control.post(message)
            except ConnectionLost:
                self._control = None


def _failure_of(event: ClassAd) -> NotStarted | None:
    """Return why the starter gives up, if an event says that it does."""
    message = event.string("ErrorMsg")
    if message is None:
        return None
    code = event.integer("HoldReasonCode") or int(HoldReasonCode.FailedToCreateProcess)
    return NotStarted(message, code, event.integer("HoldReasonSubCode") or 0)


def execute_folder(schedd: Schedd) -> str:
    """Return where the jobs of the local universe have their folders."""
    return local_execute(schedd.runtime.config)


def _is_of_others(pid: int) -> bool:
    """Whether an orphan shows that no local job left it: a scheduler-universe job, or a host."""
    return has_mark(pid, program_mark(os.getpid())) or outlives_its_daemon(pid)


def _asked(call: calls.RequestGuidance) -> str:
    request = getattr(call, "request", None)
    return (request.string("RequestType") or "") if isinstance(request, ClassAd) else ""
