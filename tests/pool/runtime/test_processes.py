"""Real children: spawned, forked from a zygote, signalled and reaped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.errors import NotForked
from kettle.runtime import life
from kettle.runtime.process import kernel
from kettle.runtime.process.liveness import is_zombie
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.process.processes import SystemProcesses, descendants, kill_tree
from kettle.runtime.process.zygote import Zygote
from pool_jobs import wait_until

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
HERE = "tests.pool.runtime.zygote_entries"


def run(
    scenario: Callable[[SystemProcesses], Awaitable[None]], *, zygote: bool = False
) -> SystemProcesses:
    processes = SystemProcesses()
    warmed = Zygote.launch(("json",), "test zygote") if zygote else None

    async def main() -> None:
        kernel.become_subreaper()
        processes.start(warmed)
        try:
            async with asyncio.timeout(120):
                await scenario(processes)
        finally:
            processes.stop()

    life.run(main())
    if warmed is not None:
        with contextlib.suppress(ChildProcessError):  # reaped on the way out already
            os.waitpid(warmed.pid, 0)
    return processes


def test_a_program_runs_with_its_own_descriptors_directory_and_environment(tmp_path: Path) -> None:
    output = tmp_path / "out"

    async def scenario(processes: SystemProcesses) -> None:
        with output.open("wb") as file:
            child = processes.spawn(
                ["/bin/sh", "-c", 'pwd; echo "$WORD"; ls /proc/self/fd; exit 7'],
                environment={**ENVIRONMENT, "WORD": "kettle"},
                cwd=str(tmp_path),
                fds={1: file.fileno()},
            )
        assert os.waitstatus_to_exitcode(await child.wait()) == 7
        assert not child.running
        assert child.usage is not None
        assert not child.signal(signal.SIGTERM)

    run(scenario)
    # Three descriptors and the one that lists them.
    assert output.read_text().split() == [str(tmp_path), "kettle", "0", "1", "2", "3"]


# A shell whose real and effective ids differ takes the real ones: asked before it starts, too.
SHOW_IDS = ["/bin/bash", "-c", "grep -E '^(Uid|Gid|Groups):' /proc/self/status"]
DAEMON = Account("daemon", 54321, 54321, ())


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
def test_what_a_daemon_that_can_be_root_starts_is_root_only_if_it_is_root_just_then(
    tmp_path: Path,
) -> None:
    privileges = Privileges(DAEMON, can_switch=True)

    async def scenario(processes: SystemProcesses) -> None:
        for name, switch in (
            ("daemon", contextlib.nullcontext()),
            ("root", privileges.as_root()),
            ("owner", privileges.as_account(Account("owner", 54322, 54322, ()))),
        ):
            with (tmp_path / name).open("wb") as file:
                with privileges.as_account(DAEMON), switch:
                    child = processes.spawn(
                        SHOW_IDS, environment=ENVIRONMENT, fds={1: file.fileno()}
                    )
                assert await child.wait() == 0

    run(scenario)

    def ids(name: str) -> list[list[str]]:
        return [line.split()[1:] for line in (tmp_path / name).read_text().splitlines()]

    assert ids("daemon") == [["54321"] * 4, ["54321"] * 4, []]
    assert ids("owner") == [["54322"] * 4, ["54322"] * 4, []]
    assert ids("root")[0] == ["0"] * 4


def test_descriptors_may_be_mapped_crosswise(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).touch()

    async def scenario(processes: SystemProcesses) -> None:
        one = os.open(tmp_path / "a", os.O_WRONLY)
        two = os.open(tmp_path / "b", os.O_WRONLY)
        child = processes.spawn(
            ["/bin/sh", "-c", f"echo two >/proc/self/fd/{one}; echo one >/proc/self/fd/{two}"],
            environment=ENVIRONMENT,
            fds={one: two, two: one},
        )
        assert await child.wait() == 0
        os.close(one)
        os.close(two)

    run(scenario)
    assert (tmp_path / "a").read_text() == "one\n"
    assert (tmp_path / "b").read_text() == "two\n"


def test_a_program_that_cannot_be_executed_is_an_error_at_once() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        with pytest.raises(FileNotFoundError):
            processes.spawn(["/no/such/program"], environment={})
        with pytest.raises(PermissionError):
            processes.spawn(["/etc/passwd"], environment={})
        assert processes.children() == []

    run(scenario)


def test_we_stay_where_we_work_whether_or_not_a_program_elsewhere_begins(tmp_path: Path) -> None:
    here = Path.cwd()

    async def scenario(processes: SystemProcesses) -> None:
        with pytest.raises(FileNotFoundError):
            processes.spawn(["/nonexistent/x"], environment=ENVIRONMENT, cwd=str(tmp_path))
        assert Path.cwd() == here
        await processes.spawn(["/bin/true"], environment=ENVIRONMENT, cwd=str(tmp_path)).wait()
        assert Path.cwd() == here

    run(scenario)


def test_orphans_become_ours_and_are_reaped() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        child = processes.spawn(
            ["/bin/sh", "-c", "(sleep 0.05; exit 3) & exit 0"], environment=ENVIRONMENT
        )
        assert await child.wait() == 0
        while not processes.orphans_reaped:  # noqa: ASYNC110 - real processes, bounded by run()
            await asyncio.sleep(0.01)

    run(scenario)


def test_a_tree_is_killed_to_the_last_leaf() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        child = processes.spawn(
            ["/bin/sh", "-c", "(sleep 100 & sleep 100 & wait) & wait"], environment=ENVIRONMENT
        )
        while len(descendants(child.pid)) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        family = descendants(child.pid)
        kill_tree(child.pid)
        assert os.WTERMSIG(await child.wait()) == signal.SIGKILL
        while not all(is_zombie(pid) for pid in family):  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    run(scenario)


def test_a_zygote_forks_children_of_ours_with_arguments_and_descriptors() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        read_end, write_end = os.pipe()
        child = await processes.zygote.fork(
            f"{HERE}:tell",
            b"hello",
            fds=[write_end],
            title="kettle test child",
            environment={"WORD": "kettle"},
        )
        os.close(write_end)
        assert os.waitstatus_to_exitcode(await child.wait()) == 5
        parent, argument, word, title = os.read(read_end, 1000).decode().split("|")
        os.close(read_end)
        assert int(parent) == os.getpid()
        assert (argument, word, title) == ("hello", "kettle", "kettle test child")

    run(scenario, zygote=True)


def test_large_arguments_reach_a_forked_child_whole() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        child = await processes.zygote.fork(f"{HERE}:measure", b"x" * 3_000_000)
        assert os.waitstatus_to_exitcode(await child.wait()) == 3

    run(scenario, zygote=True)


def test_many_forks_at_once_all_end_up_with_their_own_child() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        children = await asyncio.gather(
            *(processes.zygote.fork(f"{HERE}:leave", str(n % 100).encode()) for n in range(200))
        )
        codes = [os.waitstatus_to_exitcode(await child.wait()) for child in children]
        assert codes == [n % 100 for n in range(200)]

    run(scenario, zygote=True)


def test_an_exception_in_the_entry_is_an_exit_code_and_not_our_trouble() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        child = await processes.zygote.fork(f"{HERE}:fail")
        assert os.waitstatus_to_exitcode(await child.wait()) == 70

    run(scenario, zygote=True)


def test_a_dead_zygote_is_replaced_for_the_fork_that_finds_it_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A fresh interpreter looks for modules where this one does, and nowhere else.
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))

    async def scenario(processes: SystemProcesses) -> None:
        os.kill(processes.zygote.pid, signal.SIGKILL)
        child = await processes.zygote.fork(f"{HERE}:leave", b"4")
        assert os.waitstatus_to_exitcode(await child.wait()) == 4
        processes.zygote.close()

    processes = SystemProcesses()
    warmed = Zygote.launch((), "test zygote")

    async def main() -> None:
        processes.start(warmed)
        async with asyncio.timeout(120):
            await scenario(processes)
            await asyncio.gather(*(child.wait() for child in processes.children()))
        processes.stop()

    life.run(main())


def test_each_process_is_begun_once_whenever_its_zygote_dies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    notes = tmp_path / "notes"

    async def scenario(processes: SystemProcesses) -> None:
        async def fork(number: int) -> int:
            note = f"{number} {notes}".encode()
            return await (await processes.zygote.fork(f"{HERE}:take_note", note)).wait()

        forks = [asyncio.ensure_future(fork(number)) for number in range(300)]
        for _ in range(3):
            before = notes.stat().st_size if notes.exists() else 0
            while not all(one.done() for one in forks):
                await asyncio.sleep(0)
                if notes.exists() and notes.stat().st_size > before:
                    break
            with contextlib.suppress(ProcessLookupError):  # nobody has asked since the last time
                os.kill(processes.zygote.pid, signal.SIGKILL)
        assert set(await asyncio.gather(*forks)) == {0}
        assert sorted(map(int, notes.read_text().split())) == list(range(300))

    run(scenario, zygote=True)


def test_a_signal_waits_for_the_handler_of_a_daemon_that_starts() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        read_end, write_end = os.pipe()
        child = await processes.zygote.fork(f"{HERE}:leave_when_told", fds=[read_end])
        os.close(read_end)
        assert child.signal(signal.SIGQUIT)
        os.close(write_end)
        assert os.waitstatus_to_exitcode(await child.wait()) == 7

    run(scenario, zygote=True)


def test_why_a_zygote_cannot_begin_is_told_to_whoever_asks_for_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(processes: SystemProcesses) -> None:
        with pytest.raises(NotForked, match="No module named 'no_such_module'"):
            await processes.zygote.fork(f"{HERE}:leave", b"1")
        monkeypatch.setattr(sys, "executable", "/no/such/python")
        with pytest.raises(NotForked, match="/no/such/python: No such file"):
            await processes.zygote.fork(f"{HERE}:leave", b"1")
        processes.zygote.close()

    async def main() -> None:
        processes = SystemProcesses()
        processes.start(warmed)
        try:
            await scenario(processes)
        finally:
            processes.stop()

    warmed = Zygote.launch(("no_such_module",), "test zygote")
    asyncio.run(main())


def test_the_zygote_ends_when_its_daemon_does() -> None:
    read_end, write_end = os.pipe()
    daemon = os.fork()
    if daemon == 0:
        os.close(read_end)
        zygote = Zygote.launch((), "test zygote")
        os.write(write_end, str(zygote.pid).encode())
        os._exit(0)
    os.close(write_end)
    pid = int(os.read(read_end, 32))
    os.close(read_end)
    os.waitpid(daemon, 0)
    wait_until(lambda: is_zombie(pid), 5)


def test_an_orphan_is_told_from_a_child() -> None:
    async def scenario(processes: SystemProcesses) -> None:
        before = processes.orphans() or []
        ours = processes.spawn(["sleep", "60"], environment=ENVIRONMENT, new_session=True)
        script = "setsid sleep 60 & exit 0"
        parent = processes.spawn(["sh", "-c", script], environment=ENVIRONMENT, new_session=True)
        await parent.wait()
        found = [pid for pid in processes.orphans() or [] if pid not in before]
        assert len(found) == 1
        assert ours.pid not in found
        os.kill(found[0], signal.SIGKILL)
        ours.signal(signal.SIGKILL)
        await ours.wait()

    run(scenario)
