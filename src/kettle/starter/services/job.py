"""The job's processes: opening their files, spawning, signalling, ending them all.

What is started is `launch.py`'s plan; what it uses is `use.py`'s to measure. A starter is a
subreaper, so whatever the job leaves behind becomes its child, or that of the init of the job's PID
namespace, which is the starter's; so it is found by walking down from the starter itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import resource
import signal
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager

from kettle.attributes.codes import HoldReasonCode
from kettle.bounded_texts import bounded
from kettle.runtime.process.census import Census
from kettle.runtime.process.cgroups import Group
from kettle.runtime.process.hunt import hunt
from kettle.runtime.process.liveness import is_zombie
from kettle.runtime.process.namespaces import pid_inside
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.process.processes import (
    Child,
    SystemProcesses,
    children_of,
    children_of_one,
    descendants,
    is_childless,
    processes_of,
)
from kettle.runtime.process.shared_objects import remove_shared_objects
from kettle.runtime.process.signalling import send_signal
from kettle.runtime.process.terminals import Terminals, try_terminal
from kettle.runtime.process.tether import Tether
from kettle.runtime.storage.fences import Fence, open_inside
from kettle.runtime.storage.small_files import AT_EASE
from kettle.runtime.storage.transfer_files import open_to_read
from kettle.starter.argument_syntax import show_words
from kettle.starter.launch import CannotLaunch, LaunchPlan, StandardFile
from kettle.starter.services.use import JobUse
from kettle.starter.services.view import JobView, has_shell

# Limit: bytes of a script's first line that the kernel reads.
_LONGEST_FIRST_LINE = 256
# Limit: rounds of stopping everything, each of which sees what forked in the last.
_STOP_ROUNDS = 30
# How soon after the first look at the job's processes the second follows, and how far apart looks
# are later. Limit: who hides, and whose relatives are killed, within such a time was never seen.
_FIRST_CENSUS_SECONDS = 0.1
_CENSUS_SECONDS = 1.0
_NOTHING = contextlib.nullcontext()


@contextlib.contextmanager
def _bound_to(cores: frozenset[int]) -> Iterator[None]:
    """Have what is started inside run on some cores only; we and the next job are not bound.

    Compat: cores that the machine does not have bind nothing, as in the reference
    (test_cores_that_the_machine_does_not_have_bind_nothing).
    """
    own = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


class JobProcesses:
    """Everything the starter runs for its job."""

    def __init__(
        self,
        processes: SystemProcesses,
        privileges: Privileges,
        account: Account,
        *,
        dedicated: bool = False,
        files_of: Account | None = None,
        fence: Fence | None = None,
    ) -> None:
        """`files_of` is with whose rights the standard files are opened, if not the job's own.

        The `fence` keeps them out of other sandboxes.
        """
        self._processes = processes
        self._privileges = privileges
        self.account = account
        self._files_of = files_of or account
        self._fence = fence
        # Whatever runs as a dedicated account is the job's, wherever it comes from (E009).
        self._dedicated = dedicated and privileges.can_switch
        # Holds everything the job starts, where the machine has control groups for us.
        self.group: Group | None = None
        # What the job sees of the machine's folders, where that is not what everybody sees.
        self.view: JobView | None = None
        self.child: Child | None = None
        self.suspended = False
        # After a checkpoint, in this run or an earlier one, the job goes on in its files.
        self.continues = False
        # The job's number for itself, which is what its core file is named after.
        self.pid_inside = 0
        self.use = JobUse(self, privileges, processes)
        # Whether all that was started here has ended: nothing of it can come back.
        self._all_ended = False
        # The standard files of a program that is about to begin.
        self._ready: tuple[LaunchPlan, dict[int, int]] | None = None

    def launch(
        self,
        plan: LaunchPlan,
        streams: Mapping[int, int] | None = None,
        *,
        beside: bool = False,
    ) -> Child:
        """Open the standard files and start the job; CannotLaunch with the hold code if not.

        `streams` gives descriptors for those of 0, 1, 2 that are streamed. What runs `beside` the
        job is not the one that signals and measurements mean.
        """
        opened = self._take_files(plan)
        try:
            if not opened and (streams or not plan.reads_and_writes_nothing):
                # One switch for all three files: it costs more than opening them.
                with self._privileges.as_account(self._files_of):
                    self._open_standard(plan, dict(streams or {}), opened)
            child = self._spawn(plan, opened)
        finally:
            for descriptor in set(opened.values()):
                os.close(descriptor)
        if not beside:
            self.child = child
            # Only while it is unreaped: whoever asks later asks too late.
            status = self.use.begin(child.pid, plan.cwd)
            self.pid_inside = pid_inside(status, child.pid)
        return child

    def open_files(self, plan: LaunchPlan) -> None:
        """Open what `launch` will need, before anybody is told that the program begins.

        CannotLaunch as there. What is streamed is opened with the rest, when it begins.
        """
        if plan.streams or plan.reads_and_writes_nothing:
            return
        opened: dict[int, int] = {}
        self._ready = (plan, opened)
        with self._privileges.as_account(self._files_of):
            self._open_standard(plan, {}, opened)

    def close_files(self) -> None:
        """Close what was opened for a program that did not begin."""
        ready, self._ready = self._ready, None
        for descriptor in set(ready[1].values()) if ready is not None else ():
            os.close(descriptor)

    def _take_files(self, plan: LaunchPlan) -> dict[int, int]:
        if self._ready is None or self._ready[0] is not plan:
            return {}
        opened, self._ready = self._ready[1], None
        return opened

    def _open_standard(
        self, plan: LaunchPlan, streams: dict[int, int], opened: dict[int, int]
    ) -> None:
        files = {0: plan.stdin, 1: plan.stdout, 2: plan.stderr}
        for number, file in files.items():
            if number in streams:
                opened[number] = os.dup(streams[number])
            elif number == 2 and file.path == plan.stdout.path and 1 in opened:
                # One file for both, or the later writer would overwrite the earlier.
                opened[number] = os.dup(opened[1])
            else:
                opened[number] = self._open(number, file)

    def _open(self, number: int, file: StandardFile) -> int:
        begin = os.O_APPEND if self.continues else os.O_TRUNC
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | begin
        # A pipe that nobody else opens must not hold us up, and after a checkpoint a link may lie
        # where the job's output was.
        flags |= AT_EASE | (os.O_NOFOLLOW if self.continues else 0)
        name = ("standard input", "standard output", "standard error")[number]
        failed = f"Failed to open '{bounded(file.path)}' as {name}"
        owner = _whose_own(file.path) if number != 0 else ""
        if owner:
            # Compat: the reference opens it, whatever its own process has there
            # (test_output_to_dev_stdout_on_a_shared_file_system_is_refused_in_a_sentence). No
            # errno: the kernel was not asked.
            said = f"{failed}: it is {owner} own, and not the job's"
            raise CannotLaunch(said, HoldReasonCode.UnableToOpenOutput)
        try:
            with self._privileges.as_account(self._files_of):
                descriptor = open_inside(self._fence, file.path, flags)
            os.set_blocking(descriptor, True)
            return descriptor
        except OSError as error:
            code = (
                HoldReasonCode.UnableToOpenInput
                if number == 0
                else HoldReasonCode.UnableToOpenOutput
            )
            said = f"{failed}: {error.strerror} (errno {error.errno})"
            raise CannotLaunch(said, code, error.errno or 0) from error

    def _spawn(self, plan: LaunchPlan, opened: dict[int, int]) -> Child:
        # What the job inherits is this process's own: the umask is set back before another job of
        # the claim (`tenure.py`), and after a job with a niceness there is none (`ending.py`).
        os.umask(plan.umask)
        limit = resource.RLIM_INFINITY if plan.core_bytes is None else plan.core_bytes
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        if hard != resource.RLIM_INFINITY and (limit == resource.RLIM_INFINITY or limit > hard):
            limit = hard
        resource.setrlimit(resource.RLIMIT_CORE, (limit, hard))
        if plan.nice:
            with contextlib.suppress(OSError):
                os.nice(plan.nice)
        self.use.prepare()
        try:
            try:
                return self._start_inside(plan, opened)
            except OSError as error:
                # So the kernel says, too, that the init of a PID namespace was killed just now.
                if error.errno != errno.ENOMEM or self.view is None or not self.view.mend():
                    raise
                return self._start_inside(plan, opened)
        except OSError as error:
            raise self._explain(plan, error) from error

    def _start_inside(self, plan: LaunchPlan, opened: dict[int, int]) -> Child:
        bound = _NOTHING if plan.cores is None else _bound_to(plan.cores)
        with self.inside(), self._privileges.as_job(self.account), bound:
            start = self._start if self._init else self._start_tethered
            return start(plan, opened)

    def _start(self, plan: LaunchPlan, descriptors: dict[int, int]) -> Child:
        return self._processes.spawn(
            plan.argv,
            environment=plan.environment,
            cwd=plan.cwd,
            fds=descriptors,
            new_session=True,
            name="job",
        )

    def _start_tethered(self, plan: LaunchPlan, opened: dict[int, int]) -> Child:
        """Start a program that does not outlive us: nobody may be left who would end it.

        One with a PID namespace of its own needs no more: that ends with us (`namespaces.py`).
        """
        tether = Tether.make()
        try:
            child = self._start(plan, {**opened, **tether.descriptors()})
        except BaseException:
            tether.let_go()
            raise
        tether.hold(child.pid)
        child.on_exit(lambda _: tether.let_go())
        return child

    @contextlib.contextmanager
    def inside(self, other: AbstractContextManager[None] | None = None) -> Iterator[None]:
        """Be where the job's processes are to begin: in their group, with their view.

        `other` enters another view than theirs. Nothing inside may await.
        """
        self._all_ended = False
        if self._fence is not None:
            self._fence.calm = False
        if self.group is None and self.view is None:
            yield
            return
        group = self.group.entered() if self.group is not None else _NOTHING
        view = self.view.entered() if self.view is not None else _NOTHING
        with self._privileges.as_root(), group, other or view:
            yield

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Be where what is not the job's own begins: with the machine's view, to end with the job.

        It counts as the job does, in its group. Nothing inside may await.
        """
        with self.inside(self.view.beside() if self.view is not None else None):
            yield

    @contextlib.contextmanager
    def inside_with_shell(self, home: str) -> Iterator[None]:
        """Be inside, where the job's account can log in to a terminal; OSError if it cannot."""
        shell = "" if has_shell(self.account.name) else "/bin/sh"
        plain = self.try_terminal() is not Terminals.GROUP
        login = None
        if self.view is not None and self.view.possible and (shell or not plain):
            login = self.view.with_login(self.account, shell, home, without_tty=not plain)
        with self.inside(login):
            yield

    def try_terminal(self) -> Terminals:
        """Tell whether sshd, running as the job's account, can give a terminal here."""
        with self._privileges.as_account(self.account):
            return try_terminal()

    def may_have_terminal(self) -> bool:
        """Whether a login to the job can have a terminal, if need be with a view made for it."""
        found = self.try_terminal()
        curable = self.view is not None and self.view.possible
        return found is Terminals.GIVEN or (found is Terminals.GROUP and curable)

    def _explain(self, plan: LaunchPlan, error: OSError) -> CannotLaunch:
        number = error.errno or errno.EIO
        try:
            with self._privileges.as_account(self.account):
                # A folder that is there may still be closed.
                os.stat(os.path.join(plan.cwd, "."))
        except OSError as wrong:
            return CannotLaunch(
                f"Cannot access initial working directory {bounded(plan.cwd)}: {wrong.strerror}",
                HoldReasonCode.IwdError,
                wrong.errno or 0,
            )
        why = f"(errno={number}: '{os.strerror(number)}')"
        if number == errno.ENOENT and (interpreter := self._interpreter_of(plan.argv[0])):
            why = f"invalid interpreter ({interpreter}) specified on first line of script {why}"
        words = bounded(show_words(plan.argv[1:]))
        given = f" with arguments {words}" if words else ""
        return CannotLaunch(
            f"Failed to execute '{bounded(plan.argv[0])}'{given}: {why}",
            HoldReasonCode.FailedToCreateProcess,
            number,
        )

    def _interpreter_of(self, program: str) -> str:
        """Return what a script's first line says is to run it; empty if it is no script."""
        try:
            with self._privileges.as_account(self.account):
                script = open_to_read(program, self._fence)
        except OSError:
            return ""
        try:
            line = os.read(script, _LONGEST_FIRST_LINE).partition(b"\n")[0]
        except OSError:
            return ""
        finally:
            os.close(script)
        words = line[2:].split(maxsplit=1) if line.startswith(b"#!") else []
        return os.fsdecode(words[0]) if words else ""

    def living(self) -> list[int]:
        """Return the pids of everything of the job's that has not ended.

        That is what is below the starter or in the job's group, and all of an account that is for
        jobs only. A starter is a subreaper: without a child it has nothing below it.
        """
        if not self._dedicated and (self._all_ended or self._is_childless()):
            return []
        found = self.below()
        if self.group is not None:
            found += [pid for pid in self.group.pids() if pid not in found]
        if self._dedicated:
            found += processes_of(self.account.uid)
        return [pid for pid in found if not is_zombie(pid)]

    @property
    def lost_init(self) -> bool:
        """Whether the job's PID namespace has lost its init, and so everybody in it his life."""
        return self.view is not None and self.view.broken

    @property
    def _init(self) -> int:
        """Return the pid of the init of the job's PID namespace, none of the job's; 0 without."""
        return self.view.init if self.view is not None else 0

    def _children(self) -> list[int]:
        """Return the job's processes that have no other parent: ours, and the init's."""
        init = self._init
        if not init:
            return children_of(os.getpid())
        return [pid for pid in children_of(os.getpid()) if pid != init] + children_of_one(init)

    def below(self) -> list[int]:
        """Return the pids of everything below us, but for the init."""
        init = self._init
        return [pid for pid in descendants(os.getpid()) if pid != init]

    def _is_childless(self) -> bool:
        """Whether nothing is below us but the init; who loses its parent is the init's child."""
        init = self._init
        return is_childless() and not (init and children_of_one(init))

    async def keep_census(self, census: Census) -> None:
        """Note who belongs to the job while it runs, where nothing else would tell when we die."""
        pause = _FIRST_CENSUS_SECONDS
        while self.group is None:
            with contextlib.suppress(OSError):
                census.note(self.living())
            await asyncio.sleep(pause)
            pause = min(_CENSUS_SECONDS, pause * 2)

    def signal_program(self, pid: int, number: int) -> bool:
        """Signal one process, not what it has started; the job goes on if it was suspended."""
        if self.suspended:
            self.resume()
        return send_signal(pid, number)

    def suspend(self) -> int:
        """Stop every process; return how many were stopped."""
        self.suspended = True
        return len(self._stop_all())

    def _stop_all(self) -> list[int]:
        """Stop every process until nothing new appears, as who is not stopped yet may fork."""
        stopped: list[int] = []
        for _ in range(_STOP_ROUNDS):
            found = [pid for pid in self.living() if pid not in stopped]
            if not found:
                break
            stopped += [pid for pid in found if send_signal(pid, signal.SIGSTOP)]
        return stopped

    def resume(self) -> int:
        """Let every process go on; return how many."""
        self.suspended = False
        return sum(send_signal(pid, signal.SIGCONT) for pid in self.living())

    def kill_all(self) -> bool:
        """Kill everything of the job's; whether nothing is left, not even of what has ended.

        What forks meanwhile is not missed: the kernel empties a group, and without one everything
        is stopped first, until nothing new appears. What has ended is left until it is reaped: its
        children become ours in that moment, and could be missed by a look just before.
        """
        childless = self._is_childless()
        if childless and not self._dedicated:
            return True
        if self.group is not None:
            with self._privileges.as_root():
                self.group.kill()
        stopped = self._stop_all()
        for pid in stopped:
            send_signal(pid, signal.SIGKILL)
        return childless and not stopped

    async def end_all(self) -> bool:
        """Kill until nothing is left, as processes may fork while they are being killed.

        False, after a minute of it, where something stays that cannot be killed (`hunt`).
        """

        def find() -> list[int]:
            self._processes.reap()
            return [] if self.kill_all() else [*self._children(), *self.living()]

        if self._all_ended:
            return True
        left = await hunt(find, self._privileges)
        self._forget_shared(all_dead=not left)
        self._all_ended = not left and not self._dedicated
        return not left

    def _forget_shared(self, *, all_dead: bool) -> None:
        """Have nothing stay of the memory and queues that belong to no process."""
        if self.view is not None and self.view.forget_ipc(all_dead=all_dead):
            return
        if self._dedicated:
            with self._privileges.as_root():
                remove_shared_objects(self.account.uid)


def _whose_own(path: str) -> str:
    """Return whose a file is that a process has open, as /dev/stdout names one; empty for others.

    Limit: not through a link of the job's; there only what the owner may open is opened.
    """
    first, *words = os.path.normpath(path).strip("/").split("/")
    if first == "proc" and ("fd" in words or "root" in words):
        return "another process's" if words[0].isdecimal() else "the starter's"
    is_open = first == "dev" and words[:1] in (["stdin"], ["stdout"], ["stderr"], ["fd"])
    return "the starter's" if is_open else ""
