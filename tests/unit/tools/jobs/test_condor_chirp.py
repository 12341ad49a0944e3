"""How condor_chirp ends where it cannot do what it was asked."""

from __future__ import annotations

import io
import socket
import threading
from pathlib import Path

import pytest

from kettle.tools.jobs.condor_chirp import main
from kettle.tools.programs import Streams

MISSING = "No such file or directory"
SAYS = {"remove": "unlink", "stat": "stat", "read": "open", "fetch": "getfile", "getdir": "getdir"}


def run(config: Path, *words: str) -> tuple[int, str]:
    streams = Streams(io.StringIO(), io.StringIO(), complaint := io.StringIO())
    code = main(["condor_chirp", *words], {"_CONDOR_CHIRP_CONFIG": str(config)}, streams)
    return code, complaint.getvalue()


@pytest.fixture
def refusing(tmp_path: Path) -> Path:
    """Return the configuration of a server that lets one client in and has nothing."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with server, server.accept()[0] as client, client.makefile("rb") as lines:
            for line in lines:
                client.sendall(b"0\n" if line.startswith(b"cookie ") else b"-3\n")

    threading.Thread(target=serve, daemon=True).start()
    config = tmp_path / "config"
    config.write_text(f"127.0.0.1 {server.getsockname()[1]} cake\n")
    return config


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("remove", "nope"), 255),
        (("stat", "nope"), 255),
        (("read", "nope", "3"), 255),
        (("fetch", "nope", "here"), 1),
        (("getdir", "nope"), 1),
    ],
)
def test_what_the_access_point_turns_down_ends_as_with_the_reference(
    refusing: Path, words: tuple[str, ...], code: int
) -> None:
    assert run(refusing, *words) == (code, f"condor_chirp: {SAYS[words[0]]}: {MISSING}\n")


@pytest.mark.parametrize("words", [(), ("frob",), ("fetch", "a", "b"), ("remove", "x")])
def test_what_never_reaches_the_access_point_ends_with_255(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert run(tmp_path / "none", *words)[0] == 255


def test_missing_words_end_with_255(refusing: Path) -> None:
    assert run(refusing, "readlink", "x")[0] == 255
