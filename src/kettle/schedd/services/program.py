"""A scheduler-universe job's process, from the zygote's fork until it is the job's program.

Its files, its folder and its program may lie on a server that hangs: this process waits for them
then, and not the schedd. What the program is is decided in `beside.py`; the schedd's half, which
forks us and hears how it went, is `start_program`.
"""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import os
import signal
from typing import TYPE_CHECKING

from kettle.errors import KettleError
from kettle.runtime.process.privileges import Account, Privileges
from kettle.schedd.beside import Program

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.processes import Child

ENTRY = "kettle.schedd.services.program:run"
# Said just before the program takes our place; what follows says why it did not.
_READY = b"+"
# Limit: bytes of the reason.
_MOST_SAID = 4096
_SIGNALS = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}


class Starting:
    """A program that is being started: its process is there, its files may not be open yet."""

    def __init__(self, child: Child, pipe: int) -> None:
        self.child = child
        self._pipe = pipe

    async def executed(self) -> bool:
        """Return when the program runs; False if its process was killed before that.

        KettleError with the reason if it cannot be started.
        """
        loop = asyncio.get_running_loop()
        said = b""
        ended: asyncio.Future[None] = loop.create_future()

        def hear() -> None:
            nonlocal said
            piece = os.read(self._pipe, _MOST_SAID)
            said += piece
            if not piece and not ended.done():
                ended.set_result(None)

        loop.add_reader(self._pipe, hear)
        try:
            await ended
        finally:
            loop.remove_reader(self._pipe)
            os.close(self._pipe)
        if said.removeprefix(_READY):
            await self.child.wait()
            raise KettleError(said.removeprefix(_READY).decode("utf-8", "replace"))
        return said == _READY


async def start_program(
    runtime: Runtime, program: Program, owner: Account, account: Account, name: str
) -> Starting:
    """Fork the process of a job: it opens files as the `owner` and runs as the `account`.

    KettleError if it cannot be forked.
    """
    plan = (
        list(program.argv),
        program.environment,
        program.cwd,
        [program.stdin, program.stdout, program.stderr],
        runtime.privileges.can_switch,
        _pack(owner),
        _pack(account),
    )
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        child = await runtime.processes.zygote.fork(
            ENTRY, marshal.dumps(plan), fds=[writing], title=f"condor_schedd: starts {name}"
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return Starting(child, reading)


def run(arguments: bytes, descriptors: list[int]) -> int:
    """Become the job's program; the zygote calls this in a new process. Returns if that fails."""
    argv, environment, cwd, names, can_switch, owner, account = marshal.loads(arguments)  # noqa: S302
    report = descriptors[0]
    os.set_inheritable(report, False)
    os.setsid()
    try:
        privileges = Privileges(Account(*owner), can_switch=can_switch)
        with privileges.as_account(Account(*owner)):
            _open_standard(names)
        privileges.become(Account(*account))
        os.chdir(cwd)
        for number in _SIGNALS:
            with contextlib.suppress(OSError):  # the C library keeps some for itself
                signal.signal(number, signal.SIG_DFL)
        os.write(report, _READY)
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - the user's program
    except (KettleError, OSError) as error:
        os.write(report, str(error).encode("utf-8", "surrogateescape")[:_MOST_SAID])
    return 1


def _open_standard(names: list[str]) -> None:
    for number, name in enumerate(names):
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        # The user names these: a pipe without its other end is no file.
        flags = (writing if number else os.O_RDONLY) | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(name, flags, 0o644)
        os.set_blocking(descriptor, True)
        os.dup2(descriptor, number)
        os.close(descriptor)


def _pack(account: Account) -> tuple[str, int, int, tuple[int, ...], str]:
    return account.name, account.uid, account.gid, tuple(account.groups), account.home
