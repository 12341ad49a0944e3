"""What is started in a PID namespace ends with whoever made that, and not before."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.root

# Makes a namespace and starts a shell inside, which hides a process; tells of both, does what the
# first word says, and then waits for a word.
_KEEPER = """
import json, os, pathlib, signal, sys, time
from kettle.runtime.process import processes
from kettle.runtime.process.namespaces import MountNamespace, PidNamespace, pid_inside
view = MountNamespace.make()
pids = PidNamespace.make(view)
reading, writing = os.pipe()
actions = [(os.POSIX_SPAWN_DUP2, writing, 1)]
script = "setsid sleep 100 >/dev/null 2>&1 & echo $$ $!; exec >&-; wait"
with view.entered(), pids.entered():
    shell = os.posix_spawn("/bin/sh", ["sh", "-c", script], os.environ, file_actions=actions)
inside = [int(word) for word in os.read(reading, 100).split()]
def number(pid):
    return pid_inside(pathlib.Path(f"/proc/{pid}/status").read_bytes(), pid)
def hidden():
    return [pid for pid in processes.descendants(os.getpid()) if pid not in (pids.init, shell)]
while not hidden():
    time.sleep(0.01)
said = {
    "init": pids.init, "shell": shell, "hidden": hidden()[0], "inside": inside,
    "told": [number(shell), number(hidden()[0])], "own": number(os.getpid()),
}
if sys.argv[1] == "kill the shell":
    os.kill(shell, signal.SIGKILL)
    os.waitpid(shell, 0)
    said["childless"] = processes.is_childless()
    said["adopted"] = processes.children_of(pids.init)
    said["lives"] = pids.lives
elif sys.argv[1] == "kill the init":
    os.kill(pids.init, signal.SIGKILL)
    os.waitid(os.P_PID, shell, os.WEXITED | os.WNOWAIT)
    said["lives"] = pids.lives
elif sys.argv[1] == "close":
    pids.close()
    said["lives"] = pids.lives
elif sys.argv[1] == "kill the hidden":
    os.kill(shell, signal.SIGKILL)
    os.waitpid(shell, 0)
    os.kill(hidden()[0], signal.SIGKILL)
    # Nobody waits for it: it is gone when it has ended.
    while processes.children_of(pids.init):
        time.sleep(0.01)
    said["lives"] = pids.lives
print(json.dumps(said), flush=True)
sys.stdin.readline()
"""


class Keeper:
    """A process that has made a namespace, and pidfds of what is inside."""

    def __init__(self, word: str = "") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _KEEPER, word],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")},
        )
        assert self.process.stdout is not None
        self.said: dict[str, Any] = json.loads(self.process.stdout.readline())

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def ended(pidfd: int, seconds: float) -> bool:
    return bool(select.select([pidfd], [], [], seconds)[0])


@pytest.mark.parametrize("stopped", [False, True], ids=["", "of which all are stopped"])
def test_the_kernel_kills_everything_inside_with_whoever_made_it(*, stopped: bool) -> None:
    keeper = Keeper()
    watched = [os.pidfd_open(keeper.said[name]) for name in ("init", "shell", "hidden")]
    try:
        assert not ended(watched[2], 0.1)
        if stopped:
            for pidfd in watched:
                signal.pidfd_send_signal(pidfd, signal.SIGSTOP)
        keeper.end()
        for pidfd in watched[1:]:
            assert ended(pidfd, 10)
    finally:
        keeper.end()
        for pidfd in watched:
            os.close(pidfd)


def test_who_is_inside_has_another_number_there_and_its_maker_knows_it() -> None:
    keeper = Keeper()
    keeper.end()
    assert keeper.said["told"] == keeper.said["inside"]
    assert keeper.said["inside"] != [keeper.said["shell"], keeper.said["hidden"]]
    assert keeper.said["own"] == keeper.process.pid


def test_what_loses_its_parent_inside_is_the_init_s_and_the_init_no_child_of_its_maker_s() -> None:
    keeper = Keeper("kill the shell")
    keeper.end()
    assert keeper.said["adopted"] == [keeper.said["hidden"]]
    assert keeper.said["childless"] is True
    assert keeper.said["lives"] is True


def test_what_ended_inside_is_reaped_by_nobody_else() -> None:
    keeper = Keeper("kill the hidden")
    keeper.end()
    assert keeper.said["lives"] is True


def test_an_init_that_has_killed_what_is_inside_does_not_live_though_it_has_not_ended() -> None:
    """It waits for its maker to reap the shell."""
    keeper = Keeper("kill the init")
    keeper.end()
    assert keeper.said["lives"] is False


def test_a_namespace_that_is_closed_has_nobody_inside() -> None:
    keeper = Keeper("close")
    try:
        # Its maker has not reaped it; it runs no more.
        for name in ("hidden", "shell"):
            stat = Path(f"/proc/{keeper.said[name]}/stat")
            pidfd = os.pidfd_open(keeper.said[name]) if stat.exists() else None
            assert pidfd is None or ended(pidfd, 10)
    finally:
        keeper.end()


# Makes what can be left in an IPC namespace, and takes it away again; tells of each time.
_SHARING = """
import ctypes, json, os
from kettle.runtime.process.namespaces import IpcNamespace
libc = ctypes.CDLL(None)
def count():
    return len(os.listdir("/proc/self/fd"))
made = IpcNamespace.make()
said = [made.is_empty]
def inside(call, *words):
    with made.entered():
        return call(*words)
for make, remove in (
    (lambda: libc.shmget(7, ctypes.c_size_t(4096), 0o1600), lambda got: libc.shmctl(got, 0, None)),
    (lambda: libc.semget(7, 2, 0o1600), lambda got: libc.semctl(got, 0, 0)),
    (lambda: libc.msgget(7, 0o1600), lambda got: libc.msgctl(got, 0, None)),
    (lambda: os.close(libc.mq_open(b"/q", os.O_RDWR | os.O_CREAT, 0o600, None)),
     lambda _: libc.mq_unlink(b"/q")),
):
    got = inside(make)
    said.append(made.is_empty)
    inside(remove, got)
    said.append(made.is_empty)
made.close()
before = count()
for _ in range(3):
    IpcNamespace.make().close()
print(json.dumps([said, count() - before]))
"""


def test_a_place_for_shared_memory_and_queues_tells_whether_anything_is_left_in_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SHARING],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert json.loads(done.stdout) == [[True, *[False, True] * 4], 0]
