"""The warmed interpreter that daemons fork their children from, as the daemon holds it.

A daemon forks its zygote before its event loop starts, and asks it for each process; what the
zygote does is told in `zygote_process.py`. If it dies, a fresh interpreter takes its place and what
it had not done: when the daemon hears the end of a zygote, which is that of the last who could say
something, no request that is without an answer has come to run.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import marshal
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.errors import KettleError, NotForked
from kettle.runtime import tasks
from kettle.runtime.process.zygote_process import DESCRIPTORS, INLINE_ARGUMENTS, serve

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child, SystemProcesses

# Limit: zygotes that may die with one request; after each but the first we wait, longer each time.
_TRIES = 4
_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0

# Limit: bytes of what a zygote that cannot begin says of it.
_MOST_COMPLAINT = 64 * 1024


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
            argv = [sys.executable, "-P", "-m", serve.__module__, self._title, *self._preload]
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
    if descriptors > DESCRIPTORS:
        raise KettleError(f"{descriptors} descriptors for one process, at most {DESCRIPTORS}")
    variables = None if environment is None else dict(environment)
    rest = marshal.dumps((arguments, variables))
    if len(rest) <= INLINE_ARGUMENTS:
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
