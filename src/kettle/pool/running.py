"""Starting and stopping the daemons of a pool.

A pool is up while its master holds the lock in its log folder; when it is ready is
`readiness.py`'s.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable

from kettle.errors import ConfigError, NotFoundError, StorageError
from kettle.pool.folder import PoolFolder
from kettle.pool.processes import LEAVE_SECONDS, works_in
from kettle.pool.readiness import (
    POLL_SECONDS,
    Complaints,
    Tells,
    load_pool_config,
    notification_socket,
    wait_for_ads,
    wait_for_master,
)

# The folder is the daemons' account's: whoever starts the pool follows no link of its making.
_APPENDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
START_SECONDS = 30.0
# How long a fast stop may take before the master is killed, and its daemons follow it.
STOP_SECONDS = 60.0
# Limit: what a pool has for a graceful stop whose settings cannot be read any more.
_UNKNOWN_GRACEFUL_SECONDS = 1800.0
Waits = Callable[[float], object]


def _tell_nobody(_seconds: float) -> None:
    """Be who is told of a wait, where nobody is."""


# A pool whose jobs leave when they are asked to is down sooner.
PATIENCE_SECONDS = 4.0
# How long a master that was killed takes to be gone.
_KILL_SECONDS = 5.0


def start(pool: PoolFolder, seconds: float, tell_trouble: Tells | None = None) -> None:
    """Start the daemons and return when the pool is ready; nothing happens if it is up.

    Raises KettleError with the tail of what the daemons said if it is not ready in time, and where
    its own machine takes no jobs, unless `tell_trouble` is to be told why.
    """
    deadline = time.monotonic() + seconds
    config = load_pool_config(pool)
    pool.forget_settings()
    if not os.path.isdir(pool.log_folder):
        raise NotFoundError(
            f"LOG is {pool.log_folder}, which is no folder", hint=f"mkdir -p {pool.log_folder}"
        )
    complaints = Complaints(pool.log_folder, config)
    # What a dead master's collector answers is no pool.
    while pool.master_pid() is not None:
        if wait_for_ads(pool, config, complaints, deadline, tell_trouble) and pool.master_pid():
            return
    _wait_for_the_last_ones(pool, min(deadline, time.monotonic() + LEAVE_SECONDS))
    with notification_socket(os.path.join(pool.folder, "run", "ready")) as (ready, name):
        master = _launch_master(pool, name)
        try:
            wait_for_master(master, ready, complaints, deadline)
            is_up = wait_for_ads(pool, config, complaints, deadline, tell_trouble)
        except BaseException:
            # What does not come up would try for ever, behind the back of whoever was told so.
            _end(pool, master, "fast", None)
            raise
    if not is_up:
        raise complaints.error("the master ended")


def _wait_for_the_last_ones(pool: PoolFolder, deadline: float) -> None:
    """Let the daemons of a master that died go: new ones would speak to old ones."""
    while time.monotonic() < deadline and works_in(pool.log_folder):
        time.sleep(POLL_SECONDS)


def _launch_master(pool: PoolFolder, notify: str) -> int:
    environment = pool.environment()
    environment["NOTIFY_SOCKET"] = notify
    # -P: the folder that `kettle up` is called in may hold a queue.py, and is no module path.
    output = os.path.join(pool.log_folder, "master.out")
    try:
        os.close(os.open(output, _APPENDING, 0o640))
    except OSError as error:
        # What the kernel says of it as a process begins, it says of the program.
        raise StorageError(
            f"cannot write {output}: {error.strerror}", hint="LOG of the configuration says where"
        ) from error
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", "kettle.master", "-f"],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, output, _APPENDING, 0o640),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=(),
        # A shell has what it puts into the background ignore some: the master has to hear them
        # from its first moment.
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
    )


def stop(pool: PoolFolder, how: str, seconds: float | None, waits: Waits = _tell_nobody) -> bool:
    """Stop the pool: `graceful` or `fast`, and kill what is left after `seconds`.

    None: as long as the pool's settings have its daemons stop gracefully, and STOP_SECONDS for the
    fast stop. `waits` is told once, with the seconds until the daemons are stopped fast, if it
    takes longer than a person expects. Returns False if it was not up.
    """
    pid = pool.master_pid()
    return pid is not None and _end(pool, pid, how, seconds, waits)


def _end(
    pool: PoolFolder,
    pid: int,
    how: str,
    seconds: float | None,
    waits: Waits = _tell_nobody,
) -> bool:
    """Stop the master `pid`, with all that it started; False if it has ended before."""
    try:
        exited = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        number = signal.SIGTERM if how == "graceful" else signal.SIGQUIT
        signal.pidfd_send_signal(exited, number)
        soon = PATIENCE_SECONDS if seconds is None else min(seconds, PATIENCE_SECONDS)
        gone = select.select([exited], [], [], soon)[0]
        if not gone and seconds is None:
            asked = 0.0 if how == "fast" else _graceful_seconds(pool)
            waits(asked or STOP_SECONDS)
            seconds = asked + STOP_SECONDS
        if not gone and seconds is not None and seconds > soon:
            gone = select.select([exited], [], [], seconds - soon)[0]
        if not gone:
            # The daemons notice that their master is gone and follow it.
            signal.pidfd_send_signal(exited, signal.SIGKILL)
            select.select([exited], [], [], _KILL_SECONDS)
    except ProcessLookupError:
        pass
    finally:
        os.close(exited)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    return True


def _graceful_seconds(pool: PoolFolder) -> float:
    """Return how long the daemons may take for a graceful stop, by the pool's settings."""
    # Loaded here: most pools are down before it is asked for.
    from kettle.config.stopping import longest_graceful_seconds

    try:
        return longest_graceful_seconds(load_pool_config(pool))
    except (ConfigError, OSError):
        return _UNKNOWN_GRACEFUL_SECONDS
