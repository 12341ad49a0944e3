"""What a dead daemon's jobs left is ended, also while the dead one is still on its way."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import mmap
import os
import platform
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.master.services.orphans import Orphans
from kettle.runtime import life
from kettle.runtime.process import kernel
from kettle.runtime.process.hunt import hunt, outlives_its_daemon
from kettle.runtime.process.liveness import is_zombie
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import SystemProcesses
from kettle.testing.simulation.children import run_in_child

shows = pytest.mark.shows

_EXIT_OF_A_THREAD = {"x86_64": 60, "aarch64": 93}


def in_a_process(scenario: Callable[[SystemProcesses], Awaitable[None]]) -> None:
    """Run a scenario in a process that has no other children, and adopts orphans."""

    async def main() -> None:
        processes = SystemProcesses()
        processes.start()
        try:
            async with asyncio.timeout(100):
                await scenario(processes)
        finally:
            processes.stop()

    def call() -> bytes:
        kernel.become_subreaper()
        life.run(main())
        return b""

    run_in_child(call)


def sleep_for_ever() -> None:
    while True:
        time.sleep(60)


def end_the_first_thread() -> None:
    """Look from outside as a process does that is dying: without a name, with all below it.

    The kernel shows that state for the milliseconds in which it takes a process's memory away;
    this process stays in it.
    """
    threading.Thread(target=sleep_for_ever).start()
    ctypes.CDLL(None).syscall(_EXIT_OF_A_THREAD[platform.machine()], 0)


def fork(life: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            life()
            sleep_for_ever()
        finally:
            os._exit(0)
    return pid


@contextlib.contextmanager
def an_orphan_on_its_way() -> Iterator[tuple[int, int]]:
    """Yield a nameless process that fell to us, and one that hides below it."""
    reading, writing = os.pipe()

    def tell(*words: object) -> None:
        os.write(writing, (" ".join(map(str, words)) + "\n").encode())

    def hidden() -> None:
        os.setsid()
        tell("hidden", os.getpid())

    def starter() -> None:
        kernel.become_subreaper()
        fork(hidden)
        tell("starter", os.getpid())
        end_the_first_thread()

    startd = os.fork()
    if startd == 0:
        fork(starter)
        os._exit(0)
    os.waitpid(startd, 0)
    said = b""
    while said.count(b"\n") < 2:
        said += os.read(reading, 100)
    os.close(reading)
    os.close(writing)
    pids = dict(line.split() for line in said.decode().splitlines())
    family = int(pids["starter"]), int(pids["hidden"])
    while os.path.exists(f"/proc/{family[0]}/environ") and _name(family[0]):
        time.sleep(0.001)
    with killed_in_the_end(*family):
        yield family


@contextlib.contextmanager
def killed_in_the_end(*pids: int) -> Iterator[None]:
    """Leave none of these alive, whatever the test comes to."""
    try:
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _name(pid: int) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read()


def privileges() -> Privileges:
    return Privileges.find()


def orphans_of(processes: SystemProcesses, lines: list[str]) -> Orphans:
    runtime: Any = SimpleNamespace(
        processes=processes, privileges=privileges(), log=lines.append, clock=None
    )
    return Orphans(cast(Any, runtime))


def test_a_process_whose_first_thread_alone_has_ended_lives() -> None:
    async def scenario(_: SystemProcesses) -> None:
        with an_orphan_on_its_way() as (starter, _hidden):
            assert not is_zombie(starter)

    in_a_process(scenario)


@shows("E006")
def test_a_daemon_counts_as_gone_when_what_hides_below_its_dying_starter_is() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        lines: list[str] = []
        with an_orphan_on_its_way() as family:
            await orphans_of(processes, lines).end()
            assert all(map(is_zombie, family))
            assert processes.orphans() == []
        assert any("killing what a daemon and its jobs left" in line for line in lines)

    in_a_process(scenario)


def test_what_has_ended_is_an_orphan_until_it_is_reaped() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        processes.stop()
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - it ends at once
        assert processes.orphans() == [pid]
        processes.reap()
        assert processes.orphans() == []

    in_a_process(scenario)


def test_a_child_that_the_zygote_has_not_named_yet_is_not_taken_for_an_orphan() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        processes.expect(1)
        pid = fork(sleep_for_ever)
        assert processes.orphans() is None
        looks, third = 0, asyncio.Event()

        def look() -> list[int] | None:
            nonlocal looks
            looks += 1
            if looks == 3:
                third.set()
            return processes.orphans()

        ended = asyncio.create_task(hunt(look, privileges()))
        await third.wait()
        assert not ended.done()
        child = processes.adopt(pid, "forked")
        processes.expect(-1)
        assert await ended == []
        assert child.running
        child.signal(signal.SIGKILL)
        await child.wait()

    in_a_process(scenario)


def test_what_another_daemon_left_is_spared_unless_one_with_jobs_died_with_it() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        orphans = orphans_of(processes, [])
        pid = fork(os.setsid)
        orphans.spare([os.getpid()])
        await orphans.end()
        assert not is_zombie(pid)
        second = fork(os.setsid)
        dead = fork(lambda: os._exit(0))
        os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - it ends at once
        orphans.spare([os.getpid(), dead])
        await orphans.end()
        assert is_zombie(second)
        assert not is_zombie(pid)
        os.kill(pid, signal.SIGKILL)

    in_a_process(scenario)


def test_a_number_that_was_spared_spares_nobody_who_has_it_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(processes: SystemProcesses) -> None:
        orphans = orphans_of(processes, [])
        pid = fork(os.setsid)
        with killed_in_the_end(pid):
            with monkeypatch.context() as earlier:
                earlier.setattr("kettle.master.services.orphans.birth_of", lambda _pid: 1)
                orphans.spare([os.getpid()])
            await orphans.end()
            assert is_zombie(pid)

    in_a_process(scenario)


def test_a_daemon_whose_first_thread_has_ended_adopts_nobody_and_counts_as_ending() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        orphans = orphans_of(processes, [])
        with an_orphan_on_its_way() as (daemon, _hidden):
            left = fork(os.setsid)
            with killed_in_the_end(left):
                orphans.spare([daemon])
                await orphans.end()
                assert is_zombie(left)

    in_a_process(scenario)


# As much as takes the kernel some tens of milliseconds to take back.
_LARGE = 128 << 20


def a_family_of_a_large_daemon() -> tuple[int, int, int]:
    """Return a daemon that takes its time to exit, its starter and what hides below that."""
    reading, writing = os.pipe()

    def starter() -> None:
        hidden = fork(os.setsid)
        os.write(writing, f"{os.getpid()} {hidden}\n".encode())

    def daemon() -> None:
        kernel.become_subreaper()
        fork(starter)
        # Its own alone: the others are gone at once.
        memory = bytearray(_LARGE)
        memory[:: mmap.PAGESIZE] = b"x" * len(memory[:: mmap.PAGESIZE])
        os.write(writing, b"\n")
        sleep_for_ever()

    pid = fork(daemon)
    with open(reading) as told:
        words = (told.readline() + told.readline()).split()
    os.close(writing)
    below, hidden = map(int, words)
    return pid, below, hidden


@shows("E006")
def test_what_falls_past_a_daemon_that_is_still_exiting_is_its_and_not_another_s() -> None:
    """A dying startd adopts nobody, and is no zombie before the kernel has its memory back."""

    async def scenario(processes: SystemProcesses) -> None:
        for _ in range(6):
            daemon, starter, hidden = a_family_of_a_large_daemon()
            child = processes.adopt(daemon, "startd")
            orphans = orphans_of(processes, [])
            with killed_in_the_end(daemon, starter, hidden):
                for number in (signal.SIGSTOP, signal.SIGKILL):
                    for pid in (starter, daemon):
                        os.kill(pid, number)
                while hidden not in (processes.orphans() or ()):
                    pass
                # At this moment the master hears of the negotiator's end.
                orphans.spare([daemon])
                await child.wait()
                await orphans.end()
                assert is_zombie(hidden)

    in_a_process(scenario)


def test_a_name_alone_saves_no_process_of_a_job() -> None:
    import setproctitle

    async def scenario(processes: SystemProcesses) -> None:
        reading, writing = os.pipe()

        def pretend() -> None:
            os.setsid()
            setproctitle.setproctitle("condor_shadow: host of nobody")
            os.write(writing, b".")

        def be_a_host() -> None:
            setproctitle.setproctitle("condor_shadow: host of somebody")
            os.write(writing, b".")

        pretender, host = fork(pretend), fork(be_a_host)
        told = b""
        while len(told) < 2:
            told += os.read(reading, 2)
        assert not outlives_its_daemon(pretender)
        assert outlives_its_daemon(host)
        await orphans_of(processes, []).end()
        assert is_zombie(pretender)
        assert not is_zombie(host)
        os.kill(host, signal.SIGKILL)

    in_a_process(scenario)
