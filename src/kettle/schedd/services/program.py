"""A scheduler-universe job's process, from the zygote's fork until it is the job's program.

Its files, its folder and its program may lie on a server that hangs: this process waits for them
then, and not the schedd. What the program is is decided in `beside.py`; the schedd's half, which
forks us and hears how it went, is `start_program`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import marshal
import os
import signal
import stat
from typing import TYPE_CHECKING

from kettle.attributes.codes import HoldReasonCode
from kettle.config.knobs.security import SecurityKnobs
from kettle.errors import KettleError
from kettle.octets import to_text
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.storage.small_files import AT_EASE
from kettle.schedd.beside import NotStarted, Program

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

        NotStarted with the reason if it cannot be started.
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
            raise _read_failure(said.removeprefix(_READY))
        return said == _READY


async def start_program(
    runtime: Runtime, program: Program, owner: Account, account: Account, name: str
) -> Starting:
    """Fork the process of a job: it opens files as the `owner` and runs as the `account`.

    KettleError if it cannot be forked.
    """
    knob = SecurityKnobs.DISCARD_SESSION_KEYRING_ON_STARTUP
    plan = (
        list(program.argv),
        program.environment,
        program.cwd,
        [program.stdin, program.stdout, program.stderr],
        runtime.privileges.can_switch,
        runtime.config.value(knob),
        owner.pack(),
        account.pack(),
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
    plan = marshal.loads(arguments)  # noqa: S302
    argv, environment, cwd, names, can_switch, own_keyring, *packed = plan
    owner, account = map(Account.unpack, packed)
    report = descriptors[0]
    os.set_inheritable(report, False)
    os.setsid()
    try:
        privileges = Privileges(owner, can_switch=can_switch)
        if own_keyring and can_switch:
            privileges.leave_keyring()
        with privileges.as_account(owner):
            _check_program(os.path.join(cwd, argv[0]))
            _open_standard(names)
        privileges.become(account)
        _enter(cwd)
        for number in _SIGNALS:
            with contextlib.suppress(OSError):  # the C library keeps some for itself
                signal.signal(number, signal.SIG_DFL)
        os.write(report, _READY)
        _become(argv, environment)
    except NotStarted as failure:
        _tell(report, failure)
    except (KettleError, OSError, ValueError) as error:
        # Of the last kind are names and values that no environment can hold.
        _tell(report, NotStarted(str(error)))
    return 1


def _tell(report: int, failure: NotStarted) -> None:
    text = f"{failure.code} {failure.subcode} {failure}"
    os.write(report, text.encode("utf-8", "surrogateescape")[:_MOST_SAID])


def _read_failure(said: bytes) -> NotStarted:
    code, subcode, text = to_text(said).split(" ", 2)
    return NotStarted(text, int(code), int(subcode))


def _check_program(path: str) -> None:
    """Raise NotStarted unless there is a file that its owner may execute."""
    try:
        may = os.stat(path).st_mode & stat.S_IXUSR
    except OSError:
        may = 0
    if not may:
        raise NotStarted(f"File '{path}' is missing or not executable", subcode=errno.EACCES)


def _open_standard(names: list[str]) -> None:
    """Open the standard files; NotStarted for one that cannot be.

    Compat: the reference leaves such a job in the queue and tries again without end, also where
    its folder is gone or its program of no known kind; ours is held as a local job would be
    (test_a_scheduler_job_that_cannot_be_started_is_held_with_the_reason).
    """
    for number, name in enumerate(names):
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        # The user names these: a pipe without its other end is no file.
        flags = (writing if number else os.O_RDONLY) | AT_EASE
        try:
            descriptor = os.open(name, flags, 0o600)
        except OSError as error:
            code = HoldReasonCode.UnableToOpenOutput if number else HoldReasonCode.UnableToOpenInput
            which = ("input", "output", "error")[number]
            raise NotStarted(
                f"Failed to open '{name}' as standard {which}: {error.strerror} "
                f"(errno {error.errno})",
                code,
                error.errno or 0,
            ) from error
        os.set_blocking(descriptor, True)
        os.dup2(descriptor, number)
        os.close(descriptor)


def _enter(folder: str) -> None:
    try:
        os.chdir(folder)
    except OSError as error:
        text = f"Cannot access initial working directory {folder}: {error.strerror}"
        raise NotStarted(text, HoldReasonCode.IwdError, error.errno or 0) from error


def _become(argv: list[str], environment: dict[str, str]) -> None:
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - the user's program
    except OSError as error:
        text = f"Failed to execute '{argv[0]}': (errno={error.errno}: '{error.strerror}')"
        raise NotStarted(text, subcode=error.errno or 0) from error
