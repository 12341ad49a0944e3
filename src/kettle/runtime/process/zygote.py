"""The warmed interpreter that daemons fork their children from.

A daemon forks its zygote before its event loop starts. The zygote imports what its children
will need and then waits: for each request it forks a process whose parent is the daemon (the
kernel's CLONE_PARENT, so nothing is orphaned and the pid is known at once), answers the pid and
waits on. It has one thread, opens nothing, and ends when its daemon does.

Both halves are here: `Zygote` is what the daemon holds, `serve` is the zygote itself. If the
zygote dies, a fresh interpreter takes its place and what it had not done. Each child says by itself
that it is there, before anything else: when the daemon hears the end of a zygote, which is that of
the last who could say something, no request that is without an answer has come to run.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import gc
import importlib
import marshal
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

import setproctitle

from kettle.errors import KettleError, NotForked
from kettle.runtime import tasks
from kettle.runtime.process import kernel, late

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child, SystemProcesses

# Limit: one request is one datagram; larger arguments travel in a memory file.
_INLINE_ARGUMENTS = 48 * 1024
_DATAGRAM = 96 * 1024
# Limit: descriptors in one request; the kernel's own bound is 253.
_DESCRIPTORS = 32
# A collection touches, and so copies, pages that are shared with the zygote: few of them.
_COLLECTION = (10_000, 20, 50)
_PREPARED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)

# Limit: zygotes that may die with one request; after each but the first we wait, longer each time.
_TRIES = 4
_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0

# Limit: bytes of what a zygote that cannot begin says of it.
_MOST_COMPLAINT = 64 * 1024

# The mark of an entry that takes its signals when it has handlers for them.
_WAITS = "waits_for_handlers"
_Entry = TypeVar("_Entry", bound=Callable[..., object])


def waits_for_handlers(entry: _Entry) -> _Entry:
    """Mark an entry for `Zygote.fork`: signals wait until it calls `hear_signals`.

    A daemon that is told to stop while it starts is then stopped as it would be later; without
    the mark a signal's default action ends the process, SIGQUIT with a core.
    """
    setattr(entry, _WAITS, True)
    return entry


def prove(_: bytes, __: list[int]) -> int:
    """Be a process that does nothing: whoever asks for one learns whether there can be any."""
    return 0


def hear_signals() -> None:
    """Let the signals through that a zygote's child is born without; harmless elsewhere."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PREPARED)


class _ZygoteDied(Exception):  # noqa: N818 - the name says what happened
    """The zygote is gone, and what was asked of it was not begun."""


class Zygote:
    """The daemon's end. Make it with `Zygote.launch` while the process is young."""

    def __init__(self, sock: socket.socket, pid: int, preload: Sequence[str], title: str) -> None:
        self._socket: socket.socket | None = sock
        self._pid = pid
        self._preload = tuple(preload)
        self._title = title
        self._processes: SystemProcesses | None = None
        # What is asked for and not answered, and of that what could not even be sent, by number.
        self._asked = 0
        self._pending: dict[int, tuple[str, asyncio.Future[Child]]] = {}
        self._unsent: collections.deque[tuple[int, bytes, tuple[int, ...]]] = collections.deque()
        # Zygotes that died one after the other, and none of them answered.
        self._deaths = 0
        self._child: Child | None = None
        # What one that is started anew says until it is ready, so that we can say it.
        self._complaints = -1

    @classmethod
    def launch(cls, preload: Sequence[str], title: str) -> Zygote:
        """Fork a zygote now; call it before the event loop and before any thread exists."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            serve(theirs, preload, title)
        theirs.close()
        ours.setblocking(False)
        return cls(ours, pid, preload, title)

    @property
    def pid(self) -> int:
        """The zygote's own pid."""
        return self._pid

    def attach(self, processes: SystemProcesses) -> None:
        """Join the running event loop; `processes` reaps the zygote and its children."""
        self._processes = processes
        self._child = processes.adopt(self._pid, "zygote")
        self._listen()

    def close(self) -> None:
        """Let the zygote end; what it forked lives on."""
        if self._socket is not None:
            with contextlib.suppress(RuntimeError):
                loop = asyncio.get_running_loop()
                loop.remove_reader(self._socket.fileno())
                loop.remove_writer(self._socket.fileno())
            self._socket.close()
            self._socket = None

    async def fork(
        self,
        entry: str,
        arguments: bytes = b"",
        *,
        fds: Sequence[int] = (),
        title: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Run `module:function(arguments, fds)` in a new process of ours and return it.

        The function's int result is the exit code (None is 0). Its descriptors 0 to 2 are the
        zygote's; `fds` are duplicated for it, in order, and stay open here. `environment`
        replaces the process's own. It is begun once: a zygote that dies before is replaced, and the
        next one asked. NotForked if no process could be made, not by several zygotes either.
        """
        assert self._processes is not None, "attach the zygote to the loop first"
        name = title or entry
        reason: Exception | None = None
        for _ in range(_TRIES):
            if self._socket is None and self._deaths > 1:
                await asyncio.sleep(
                    min(_PAUSE_SECONDS * 2 ** min(self._deaths - 2, 10), _LONGEST_PAUSE_SECONDS)
                )
            try:
                if self._socket is None:
                    self._restart()
                with _encoded(entry, arguments, title, environment, len(fds)) as (request, extra):
                    answer = self._ask(name, request, (*fds, *extra))
                return await answer
            except OSError as error:
                raise NotForked(f"cannot fork {name}: {error.strerror}") from error
            except _ZygoteDied as error:
                reason = error
        raise NotForked(f"cannot fork {name}: {reason}") from reason

    def _ask(self, name: str, request: bytes, fds: tuple[int, ...]) -> asyncio.Future[Child]:
        """Hand a request over; the result is whom it made, or _ZygoteDied. OSError, _ZygoteDied."""
        assert self._processes is not None
        self._asked += 1
        self._hand_over(self._asked, b"%d %b" % (self._asked, request), fds)
        # Only what is on its way is waited for.
        answer: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._processes.expect(1)
        self._pending[self._asked] = name, answer
        return answer

    def _hand_over(self, number: int, request: bytes, fds: tuple[int, ...]) -> None:
        """Send a request or keep it until the zygote takes it; an error if neither can be."""
        assert self._socket is not None
        if not self._unsent:
            try:
                socket.send_fds(self._socket, [request], list(fds))
            except BlockingIOError:
                pass
            except ConnectionError as error:
                self._on_broken(error)
                raise _ZygoteDied(f"the zygote is gone: {error.strerror}") from error
            else:
                return
        kept = _duplicates(fds)
        if not self._unsent:
            asyncio.get_running_loop().add_writer(self._socket.fileno(), self._send_more)
        self._unsent.append((number, request, kept))

    def _send_more(self) -> None:
        assert self._socket is not None
        while self._unsent:
            number, request, fds = self._unsent[0]
            try:
                socket.send_fds(self._socket, [request], list(fds))
            except BlockingIOError:
                return
            except ConnectionError as error:
                self._on_broken(error)
                return
            except OSError as error:
                self._on_refused(number, error)
            self._unsent.popleft()
            for fd in fds:
                os.close(fd)
        asyncio.get_running_loop().remove_writer(self._socket.fileno())

    def _on_broken(self, error: OSError) -> None:
        """Nothing can be sent any more; what was answered before that is taken."""
        self._on_answer()
        if self._socket is not None:
            self._on_death(str(error))

    def _listen(self) -> None:
        assert self._socket is not None
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._on_answer)

    def _on_answer(self) -> None:
        while self._socket is not None:
            try:
                answer = self._socket.recv(64)
            except BlockingIOError:
                return
            except ConnectionResetError:
                # It died with unread requests, which is said once, and before what it answered.
                continue
            except OSError as error:
                self._on_death(str(error))
                return
            if not answer:
                self._on_death("it has ended")
                return
            number, pid = map(int, answer.split())
            if number in self._pending:  # else its child has said it before
                self._on_forked(number, pid)

    def _on_forked(self, number: int, pid: int) -> None:
        assert self._processes is not None
        self._take_complaint()
        self._deaths = 0
        if pid < 0:
            self._on_refused(number, OSError(-pid, os.strerror(-pid)))
            return
        name, waiter = self._pending.pop(number)
        child = self._processes.adopt(pid, name)
        if waiter.done():
            # Whoever asked has given up; nobody would ever look after this process.
            child.signal(signal.SIGKILL)
        else:
            waiter.set_result(child)
        self._processes.expect(-1)

    def _on_refused(self, number: int, error: Exception) -> None:
        """Tell who asked for a process that there will be none."""
        assert self._processes is not None
        _, waiter = self._pending.pop(number)
        if not waiter.done():
            waiter.set_exception(error)
        self._processes.expect(-1)

    def _take_complaint(self) -> str:
        """Hand on what a new zygote has said, once; return the last line of it."""
        if self._complaints < 0:
            return ""
        with open(self._complaints, "rb") as file:
            self._complaints = -1
            file.seek(0)
            text = file.read(_MOST_COMPLAINT)
        with contextlib.suppress(OSError):
            os.write(2, text)
        lines = text.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _on_death(self, reason: str) -> None:
        """Let all who wait know: whoever is not answered by now was not begun, and asks again."""
        self.close()
        self._deaths += 1
        if complaint := self._take_complaint():
            reason = f"{reason}: {complaint}"
        if self._deaths < _TRIES:
            tasks.report(f"The process that forks others ({self._title}) is gone: {reason}")
        for _, _, fds in self._unsent:
            for fd in fds:
                os.close(fd)
        self._unsent.clear()
        for number in list(self._pending):
            self._on_refused(number, _ZygoteDied(f"the zygote is gone: {reason}"))

    def _restart(self) -> None:
        """Start a fresh interpreter in the dead zygote's place: slow, but it never forks us."""
        assert self._processes is not None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            argv = [sys.executable, "-P", "-m", __name__, self._title, *self._preload]
            environment = dict(os.environ)
            environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
            self._take_complaint()
            self._complaints = os.memfd_create("complaints")
            try:
                self._child = self._processes.spawn(
                    argv,
                    environment=environment,
                    fds={3: theirs.fileno(), 2: self._complaints, 4: 2},
                    name="zygote",
                    keeps_root=True,
                )
            except OSError as error:
                ours.close()
                self._take_complaint()
                why = f"{sys.executable}: {error.strerror}"
                raise NotForked(f"no new zygote can be started: {why}") from error
        self._pid = self._child.pid
        ours.setblocking(False)
        self._socket = ours
        self._listen()


def _duplicates(fds: Sequence[int]) -> tuple[int, ...]:
    """Return copies of all descriptors; OSError, and no copy, if there is no room for them."""
    copies: list[int] = []
    try:
        for fd in fds:
            copies.append(os.dup(fd))  # noqa: PERF401 - those made before one fails are closed
    except OSError:
        for fd in copies:
            os.close(fd)
        raise
    return tuple(copies)


@contextlib.contextmanager
def _encoded(
    entry: str,
    arguments: bytes,
    title: str,
    environment: Mapping[str, str] | None,
    descriptors: int,
) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the datagram and the memory files that must travel with it, open until the end."""
    if descriptors > _DESCRIPTORS:
        raise KettleError(f"{descriptors} descriptors for one process, at most {_DESCRIPTORS}")
    variables = None if environment is None else dict(environment)
    rest = marshal.dumps((arguments, variables))
    if len(rest) <= _INLINE_ARGUMENTS:
        yield marshal.dumps((entry, title, rest)), []
        return
    memory = os.memfd_create("arguments", os.MFD_CLOEXEC)
    try:
        with open(memory, "wb", closefd=False) as file:
            file.write(rest)
        os.lseek(memory, 0, os.SEEK_SET)
        yield marshal.dumps((entry, title, b"")), [memory]
    finally:
        os.close(memory)


def serve(
    sock: socket.socket, preload: Sequence[str], title: str, stderr: int | None = None
) -> NoReturn:
    """Be the zygote: import, then fork on request until the daemon is gone. Never returns.

    `stderr` becomes descriptor 2 when nothing can be missing any more.
    """
    code = 1
    try:
        _prepare(sock, title, {2 if stderr is None else stderr})
        for module in preload:
            importlib.import_module(module)
        if stderr is not None:
            os.dup2(stderr, 2)
            os.close(stderr)
        # What exists now is shared with every child; counting references would unshare it.
        gc.collect()
        gc.freeze()
        # A daemon that dies may leave its last request unanswered.
        with contextlib.suppress(ConnectionError):
            _serve_requests(sock)
        code = 0
    except BaseException:  # noqa: BLE001 - nothing may escape into the daemon's code
        traceback.print_exc()
    finally:
        os._exit(code)


def _prepare(sock: socket.socket, title: str, keep: set[int]) -> None:
    parent = os.getppid()
    kernel.die_with_parent()
    if os.getppid() != parent:
        os._exit(0)
    for number in _PREPARED:
        # The terminal's or the service manager's signals are for the daemon, not for us.
        signal.signal(number, signal.SIG_IGN)
    # Blocked as well, and so in each child: what is sent to a child before it can hear it waits.
    signal.pthread_sigmask(signal.SIG_BLOCK, _PREPARED)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    _close_all_but({0, 1, 2, sock.fileno(), *keep})
    setproctitle.setproctitle(title)
    gc.disable()


def _close_all_but(keep: set[int]) -> None:
    for fd in [int(name) for name in os.listdir("/proc/self/fd")]:
        if fd not in keep:
            with contextlib.suppress(OSError):  # the listing's own descriptor is gone already
                os.close(fd)


def _serve_requests(sock: socket.socket) -> None:
    complete = False
    while True:
        if not complete and not select.select([sock], [], [], late.QUIET_SECONDS)[0]:
            complete = True
            late.import_all()
            gc.collect()
            gc.freeze()
        data, fds, _, _ = socket.recv_fds(sock, _DATAGRAM, _DESCRIPTORS + 1)
        if not data:
            return
        number, _, request = data.partition(b" ")
        try:
            pid = kernel.fork_sibling()
        except OSError as error:
            pid = -(error.errno or 1)
        if pid == 0:
            _run(sock, number, request, fds)
        sock.send(b"%b %d" % (number, pid))
        for fd in fds:
            os.close(fd)


def _run(sock: socket.socket, asked: bytes, data: bytes, fds: list[int]) -> NoReturn:
    """Be the child: dress the process as the request says and call the entry."""
    code = 70
    try:
        try:
            # The zygote says it too; should one of us two die now, the other has.
            sock.send(b"%b %d" % (asked, os.getpid()))
        except OSError:
            # The daemon is gone: nobody would know of us.
            os._exit(code)
        sock.close()
        for number in _PREPARED:
            signal.signal(number, signal.SIG_DFL)
        entry, title, rest = marshal.loads(data)  # noqa: S302 - the daemon's own bytes
        if not rest:
            with open(fds.pop(), "rb") as memory:
                rest = memory.read()
        arguments, environment = marshal.loads(rest)  # noqa: S302
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        if title:
            setproctitle.setproctitle(title)
        gc.enable()
        gc.set_threshold(*_COLLECTION)
        module, _, name = entry.partition(":")
        function = getattr(importlib.import_module(module), name)
        if not getattr(function, _WAITS, False):
            hear_signals()
        result = function(arguments, fds)
        code = result if isinstance(result, int) else 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - the last frame of a process
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        # Without the interpreter's own farewell: it costs more than the whole fork.
        os._exit(code & 0xFF)


if __name__ == "__main__":
    serve(
        socket.socket(fileno=3),
        sys.argv[2:],
        sys.argv[1],
        stderr=4,
    )
