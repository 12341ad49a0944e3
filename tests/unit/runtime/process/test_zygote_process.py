"""A zygote ends with its daemon, without a word."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import pytest

from kettle.runtime.process import kernel, zygote_process


class Ended(BaseException):
    """The process would be gone."""


def _answerless(daemon: socket.socket) -> Callable[[], int]:
    def fork() -> int:
        daemon.close()
        return 4711

    return fork


@pytest.mark.parametrize("when", ["between requests", "before the answer"])
def test_a_zygote_whose_daemon_was_killed_ends_quietly(
    when: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise Ended

    monkeypatch.setattr(zygote_process, "_prepare", lambda *_: None)
    monkeypatch.setattr(zygote_process.gc, "freeze", lambda: None)
    monkeypatch.setattr(os, "_exit", leave)
    daemon, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(kernel, "fork_sibling", _answerless(daemon))
    with daemon, ours:
        if when == "between requests":
            daemon.close()
        else:
            daemon.send(b"fork")
        with pytest.raises(Ended):
            zygote_process.serve(ours, (), "")
    assert codes == [0]
    assert "Traceback" not in capfd.readouterr().err
