"""What a job has of its starter's surroundings."""

from __future__ import annotations

import asyncio
import secrets
import socket
import struct
from types import SimpleNamespace
from typing import cast

import pytest

from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.transport import SocketTransport
from kettle.starter.services.world import StarterWorld, choose_inherited
from kettle.wire.channel import Channel


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("", ()),
        (" False ", ()),
        ("True", ("LANG", "CONDOR_CONFIG")),
        ("LANG, CONDOR_PRIVATE_INHERIT CONDOR_SECURITY_SESSION", ("LANG",)),
    ],
)
def test_a_job_inherits_of_its_starter_what_is_wanted_and_no_secret(
    wanted: str, names: tuple[str, ...]
) -> None:
    environment = {
        "LANG": "C",
        "CONDOR_CONFIG": "/c",
        "CONDOR_INHERIT": "1 <127.0.0.1:9618> 0 0",
        "CONDOR_PRIVATE_INHERIT": "FamilySessionKey:family#[]key",
        "CONDOR_SECURITY_SESSION": "scheduler-universe-1.0#[]key",
        "KETTLE_PARENT_PIPE": "3",
    }
    assert choose_inherited(wanted, environment) == {name: environment[name] for name in names}


@pytest.mark.parametrize(
    ("killed", "client", "host"),
    [
        (False, "10.0.0.7", "127.0.0.1"),
        (True, "10.0.0.7", "10.0.0.7"),
        (True, "[fd00::7]", "fd00::7"),
        (True, "", "?"),
    ],
)
def test_the_host_of_a_shadow_that_is_gone_is_the_one_that_claimed_the_slot(
    killed: bool, client: str, host: str
) -> None:
    """Its job ran as nobody: where it came from is asked to choose the account."""

    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            shadow = socket.create_connection(listener.getsockname())
            ours, _ = listener.accept()
        if killed:
            # As the kernel does with what a killed process has not read.
            shadow.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            shadow.close()
        stream = Stream(SocketTransport(ours), Channel(secrets.token_bytes))
        world = SimpleNamespace()
        StarterWorld.begin(cast(StarterWorld, world), stream, client)
        assert world.shadow_host == host
        stream.close()
        shadow.close()

    asyncio.run(scenario())
