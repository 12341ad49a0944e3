"""The real tools speak to our half of the negotiation, over real sockets.

Known by: FS, CLAIMTOBE.
"""

from __future__ import annotations

import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interop.real_pool import inside, peer_root
from kettle.classad import ClassAd
from kettle.client.stream import BlockingStream
from kettle.config import Config
from kettle.errors import KettleError
from kettle.levels import Level
from kettle.runtime.credentials import SystemServerCredentials
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Query, QueryReply
from kettle.wire.security.authorization import Authorization
from kettle.wire.security.methods.context import DirectoryFacts
from kettle.wire.security.negotiation import Policy, Wish
from kettle.wire.security.server_setup import Accepted, Registered, ServerSetup
from kettle.wire.security.server_side import server_handshake
from kettle.wire.security.session import SessionCache
from kettle.wire.sinful import Sinful

pytestmark = pytest.mark.interop

ALLOWED = {"ALLOW_READ": "*", "ALLOW_WRITE": "*/127.0.0.1", "ALLOW_CONFIG": "nobody@test"}


class ChrootCredentials(SystemServerCredentials):
    """Server credentials for clients that live in a chroot."""

    def __init__(self, config: Config, root: Path) -> None:
        super().__init__(config)
        self._root = root

    def inspect_directory(self, path: str) -> DirectoryFacts | None:
        return super().inspect_directory(f"{self._root}{path}")

    def user_of(self, uid: int) -> str | None:
        for line in (self._root / "etc/passwd").read_text().splitlines():
            name, _, number = line.split(":")[:3]
            if int(number) == uid:
                return name
        return None


class Server:
    """A daemon of one ad, on a thread."""

    def __init__(self, root: Path, methods: tuple[str, ...]) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = Sinful.parse(f"<127.0.0.1:{self.listener.getsockname()[1]}>")
        policy = Policy(Wish.REQUIRED, Wish.REQUIRED, Wish.REQUIRED, methods=methods)
        commands = [Command.QUERY_STARTD_ADS, *(c for c in Command if c.name.startswith("DC_NOP"))]
        self.setup = ServerSetup(
            policies=dict.fromkeys(Level, policy),
            registered={int(one): Registered(one.levels()) for one in commands},
            authorization=Authorization.from_settings(ALLOWED.get, "COLLECTOR"),
            sessions=SessionCache(),
            credentials=ChrootCredentials(Config.from_text(""), root),
            addresses=(self.address,),
            random_bytes=random.SystemRandom().randbytes,
            session_name="test:1:2",
            uid_domain="test",
        )
        self.accepted: list[Accepted] = []
        self.errors: list[KettleError] = []

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            stream = BlockingStream(connection, remote_name="tool")
            with stream:
                try:
                    dialog = server_handshake(self.setup, "127.0.0.1", time.time())
                    accepted = stream.run(dialog)
                    self.accepted.append(accepted)
                    if accepted.command == Command.QUERY_STARTD_ADS and not accepted.finished:
                        Query.read(stream.receive())
                        ad = ClassAd({"MyType": "Machine", "Name": "slot1@kettle", "Cpus": 3})
                        stream.send(QueryReply([ad]))
                except KettleError as error:
                    self.errors.append(error)


@contextmanager
def running(methods: tuple[str, ...], *, root: Path | None = None) -> Iterator[Server]:
    server = Server(root or peer_root(), methods)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        thread.join()


def run_tool(server: Server, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    root = peer_root()
    values = {
        "CONDOR_CONFIG": "/dev/null",
        "_CONDOR_COLLECTOR_HOST": str(server.address),
        "_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS": "FS,CLAIMTOBE",
        "_CONDOR_ALLOW_CLIENT": "*",
        "_CONDOR_UID_DOMAIN": "test",
        **settings,
    }
    line = " ".join(command)
    settled = " ".join(f"{name}='{value}'" for name, value in values.items())
    return subprocess.run(
        [
            *inside(root),
            "su",
            "tester",
            "-s",
            "/bin/sh",
            "-c",
            f"{settled} {line}",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"]},
        check=False,
    )


@pytest.mark.parametrize("method", ["FS", "CLAIMTOBE"])
def test_condor_status_authenticates_and_reads_our_ad(method: str) -> None:
    with running((method,)) as server:
        done = run_tool(server, "condor_status", "-af", "Name", "Cpus")
    assert done.stdout == "slot1@kettle 3\n", (done.stderr, server.errors)
    assert {one.peer.user for one in server.accepted} == {"tester@test"}
    assert {one.peer.method for one in server.accepted} == {method}


def test_condor_ping_is_told_what_it_may_do() -> None:
    with running(("FS",)) as server:
        address = f"'{server.address}'"
        done = run_tool(server, "condor_ping", "-address", address, "-table", "READ", "WRITE")
        denied = run_tool(server, "condor_ping", "-address", address, "CONFIG")
    lines = [line.split() for line in done.stdout.splitlines() if "FS" in line]
    assert [line[0] for line in lines] == ["READ", "WRITE"], (done, server.errors)
    assert all("ALLOW" in line for line in lines)
    assert "AES" in done.stdout
    assert "failed" in denied.stdout.lower()
