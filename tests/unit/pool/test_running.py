"""How long a pool is given to stop, without a pool."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import StorageError
from kettle.pool import running
from kettle.pool.folder import PoolFolder
from kettle.pool.settings import PoolSettings, render_configuration


class StubbornPool(PoolFolder):
    """A pool whose master lives for ever."""

    def master_pid(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("text", "how", "told", "waited"),
    [
        ("SHUTDOWN_GRACEFUL_TIMEOUT = 600", "graceful", 600, 660),
        ("SCHEDD_SHUTDOWN_GRACEFUL_TIMEOUT = 2400", "graceful", 2400, 2460),
        ("", "graceful", 1800, 1860),
        ("SHUTDOWN_GRACEFUL_TIMEOUT = 600", "fast", 60, 60),
    ],
)
def test_a_stop_is_given_what_the_settings_of_the_pool_say(
    monkeypatch: pytest.MonkeyPatch, text: str, how: str, told: float, waited: float
) -> None:
    steps: list[object] = []

    def note_wait(_read: object, _write: object, _bad: object, seconds: float) -> list[list[int]]:
        steps.append(seconds)
        return [[], [], []]

    monkeypatch.setattr(select, "select", note_wait)
    monkeypatch.setattr(os, "pidfd_open", lambda _pid: os.open(os.devnull, os.O_RDONLY))
    monkeypatch.setattr(os, "waitpid", lambda pid, _options: (pid, 0))
    monkeypatch.setattr(signal, "pidfd_send_signal", lambda _fd, number: steps.append(number.name))
    config = Config.from_text(f"DAEMON_LIST = MASTER SCHEDD\n{text}\n")
    monkeypatch.setattr(running, "load_pool_config", lambda _pool: config)
    heard: list[float] = []
    assert running.stop(StubbornPool("/p", {}, None), how, None, heard.append)
    assert heard == [told]
    first = "SIGTERM" if how == "graceful" else "SIGQUIT"
    assert steps[:4] == [first, running.PATIENCE_SECONDS, waited - 4, "SIGKILL"]


def test_a_pool_of_one_user_s_is_down_in_a_minute_and_that_of_a_machine_when_its_jobs_are() -> None:
    alone = PoolSettings("/d", ("alice",), "here", "/bin")
    assert "SHUTDOWN_GRACEFUL_TIMEOUT = 60\n" in render_configuration(alone)
    machine = PoolSettings("/d", ("root",), "here", "/bin", system=True)
    assert "SHUTDOWN_GRACEFUL_TIMEOUT" not in render_configuration(machine)


def test_a_master_ignores_nothing_that_its_starter_ignores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A shell's background has SIGQUIT ignored: a master that just began was not stopped by it."""

    def spawn(_path: str, _argv: object, environment: dict[str, str], **options: object) -> int:
        options["file_actions"] = []
        show = "grep SigIgn /proc/self/status > $OUT"
        words = ["/bin/sh", "-c", show]
        return true_spawn(
            "/bin/sh", words, {**environment, "OUT": str(tmp_path / "out")}, **options
        )

    true_spawn = os.posix_spawn
    monkeypatch.setattr(os, "posix_spawn", spawn)
    (tmp_path / "log").mkdir()
    ignored = [signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1]
    before = [signal.signal(number, signal.SIG_IGN) for number in ignored]
    try:
        pool = StubbornPool(str(tmp_path), {"PATH": "/bin:/usr/bin"}, None)
        os.waitpid(running._launch_master(pool, "@nobody"), 0)
    finally:
        for number, handler in zip(ignored, before, strict=True):
            signal.signal(number, handler)
    mask = int((tmp_path / "out").read_text().split()[1], 16)
    # The two behind the standard ones are of the C library's own.
    assert mask & 0x7FFFFFFF == 0


def test_a_log_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The kernel would say it of the program that is started."""
    (tmp_path / "log").write_text("no folder")
    with pytest.raises(StorageError, match=f"cannot write {tmp_path}/log/master.out: Not a dir"):
        running._launch_master(StubbornPool(str(tmp_path), {}, None), "@nobody")
