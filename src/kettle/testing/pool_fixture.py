"""A real pool for a test: real processes, started in its own folder and gone at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kettle.pool.personal import PersonalPool

# Limit: a pool is up within a second or two; a machine with other work gets as long as it takes.
_START_SECONDS = 120.0
# Limit: how long what a stopped pool left may take to go; it costs time only if it stays.
_GONE_SECONDS = 60.0
# Limit: bytes of a file that a report shows; not all that lies beside logs is one.
_MOST_SHOWN = 16 * 1024


@contextlib.contextmanager
def personal_pool(folder: Path, config_text: str = "") -> Iterator[PersonalPool]:
    """Start a pool in `folder`/pool; stop it, remove it, and insist that nothing is left.

    As root the folder is one of its own under /tmp, because jobs run as another account that
    cannot enter a test's private folder; `pool.folder` says where. When the test fails the
    daemons' logs are written to standard output.
    """
    where = str(folder / "pool")
    outside = ""
    if os.getuid() == 0:
        outside = tempfile.mkdtemp(prefix="kettle-pool-")
        os.chmod(outside, 0o755)  # noqa: S103 - that is the point of it
        where = os.path.join(outside, "pool")
    pool = PersonalPool(where, configuration=config_text)
    try:
        try:
            pool.make()
            pool.start(seconds=_START_SECONDS)
            yield pool
        except BaseException:
            print_logs(pool)
            raise
        finally:
            pool.stop(how="fast")
        wait_until_gone(pool)
        pool.purge()
    finally:
        if outside:
            shutil.rmtree(outside, ignore_errors=True)


def processes_of(pool: PersonalPool) -> list[int]:
    """Return the pids of every process that works in the pool's folder: daemons and jobs."""
    inside = pool.folder + "/"
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError):
                if f"{os.readlink(f'/proc/{name}/cwd')}/".startswith(inside):
                    found.append(int(name))
    return found


def wait_until_gone(pool: PersonalPool) -> None:
    """Wait until no process of the pool is left; AssertionError if one stays."""
    deadline = time.monotonic() + _GONE_SECONDS
    while True:
        left = [pid for pid in processes_of(pool) if pid != os.getpid()]
        if not left:
            return
        assert time.monotonic() < deadline, f"processes outlived their pool: {_describe(left)}"
        time.sleep(0.02)


def print_logs(pool: PersonalPool, *, lines: int = 60) -> None:
    """Write the end of every log to standard output, for the report of a failed test."""
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(pool.log_folder)):
            path = os.path.join(pool.log_folder, name)
            if name.startswith(".") or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                file.seek(max(0, os.path.getsize(path) - _MOST_SHOWN))
                tail = file.read().replace(b"\0", b"").decode(errors="replace")
            sys.stdout.write(f"--- {name}\n{''.join(tail.splitlines(keepends=True)[-lines:])}")


def _describe(pids: list[int]) -> str:
    words = []
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            text = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
            words.append(f"{pid} ({text})")
    return ", ".join(words)
