"""Commands in and out: one contract for the machine's network and for the one in memory."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import AuthorizationDenied, ConnectionLost, SessionUnknown
from kettle.levels import Level
from kettle.runtime import tasks
from kettle.runtime.clock import SystemClock
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.log_allowance import MOST_LINES
from kettle.runtime.logs import Log
from kettle.runtime.sockets.network import CommandNetwork
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.testing.network import Hub, MemoryNetwork
from kettle.testing.virtual_loop import VirtualClock, run_virtually
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.frames import encode_header
from kettle.wire.security.claim_id import (
    CLAIM_INFO,
    EXECUTE_SIDE,
    SUBMIT_SIDE,
    ClaimId,
    mint_claim_id,
)
from kettle.wire.security.session import Session, SessionCache

SERVER = """\
NETWORK_INTERFACE = 127.0.0.1
UID_DOMAIN = here
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_DEFAULT_AUTHENTICATION = REQUIRED
SEC_DEFAULT_ENCRYPTION = REQUIRED
ALLOW_READ = *
ALLOW_WRITE = alice@here
ALLOW_DAEMON = nobody@nowhere
"""
CLIENT = """\
UID_DOMAIN = here
SEC_CLAIMTOBE_USER = alice@here
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_DEFAULT_AUTHENTICATION = REQUIRED
"""
ASK = int(Command.QUERY_SCHEDD_ADS)
CHANGE = int(Command.RESCHEDULE)
UPDATE = int(Command.UPDATE_SCHEDD_AD)


class Wire:
    """A server and a client, over one kind of network."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.hub = Hub()
        self.lines: list[str] = []

    def make(self, subsystem: str, text: str) -> CommandNetwork:
        config = Config.from_text(text, subsystem=subsystem)
        log = Log(sink=self.lines.append)
        clock = VirtualClock(time.time())
        identity = DaemonIdentity(subsystem, "here", "here", clock.now())
        if self.kind == "memory":
            return MemoryNetwork(self.hub, config, identity, clock, log)
        return SystemNetwork(config, identity, SystemClock(), log)

    async def serve(self, text: str = SERVER) -> CommandNetwork:
        server = self.make("SCHEDD", text)
        assert isinstance(server, SystemNetwork | MemoryNetwork)
        await server.listen()
        server.begin_accepting()
        return server

    def run(self, scenario: Callable[[], Awaitable[None]]) -> None:
        async def main() -> None:
            try:
                async with asyncio.timeout(100):
                    await scenario()
            finally:
                await tasks.cancel_all()

        if self.kind == "memory":
            run_virtually(main())
        else:
            asyncio.run(main())


@pytest.fixture(params=["memory", "system"])
def wire(request: pytest.FixtureRequest) -> Wire:
    return Wire(request.param)


async def echo(stream: Stream) -> None:
    text = (await stream.receive()).string()
    await stream.send(Words(f"{text} from {stream.peer.user}", int(stream.encrypted)))


async def ask(client: CommandNetwork, server: CommandNetwork, command: int, text: str) -> str:
    stream = await client.connect(server.address, command)
    try:
        await stream.send(Words(text))
        return (await stream.receive()).string()
    finally:
        stream.close()


def test_a_command_reaches_its_handler_authenticated_and_encrypted(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        stream = await client.connect(server.address, ASK)
        await stream.send(Words("hello"))
        reply = await stream.receive()
        assert (reply.string(), reply.integer()) == ("hello from alice@here", 1)
        stream.close()
        await server.close()

    wire.run(scenario)


def test_the_second_command_resumes_the_session_of_the_first(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        await ask(client, server, ASK, "one")
        await ask(client, server, ASK, "two")
        assert server.standing.server.sessions_made == 1
        await server.close()

    wire.run(scenario)


def test_a_session_that_the_server_forgot_is_negotiated_anew(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        await ask(client, server, ASK, "one")
        for session in server.standing.server.sessions.sessions():
            server.standing.server.sessions.forget(session.id)
        assert await ask(client, server, ASK, "two") == "two from alice@here"
        assert server.standing.server.sessions_made == 2
        await server.close()

    wire.run(scenario)


def test_who_does_not_hold_the_level_is_denied(wire: Wire) -> None:
    async def scenario() -> None:
        server = await wire.serve()
        server.register(CHANGE, echo, levels=(Level.WRITE,))
        bob = wire.make("TOOL", CLIENT.replace("alice", "bob"))
        with pytest.raises(AuthorizationDenied):
            await ask(bob, server, CHANGE, "hello")
        alice = wire.make("TOOL", CLIENT)
        assert await ask(alice, server, CHANGE, "hello") == "hello from alice@here"
        await server.close()

    wire.run(scenario)
    assert any("PERMISSION DENIED: bob@here" in line for line in wire.lines)


def test_an_unknown_command_costs_the_connection_only(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        with pytest.raises(ConnectionLost):
            await ask(client, server, CHANGE, "hello")
        assert await ask(client, server, ASK, "hello") == "hello from alice@here"
        await server.close()

    wire.run(scenario)


def test_several_commands_follow_each_other_on_one_connection(wire: Wire) -> None:
    seen: list[tuple[int, str]] = []

    async def note(stream: Stream) -> None:
        seen.append((stream.command, (await stream.receive()).string()))
        await stream.send(Words(len(seen)))

    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(UPDATE, note, levels=(Level.READ,), again=True)
        server.register(CHANGE, note, levels=(Level.DAEMON,))
        stream = await client.connect(server.address, UPDATE)
        await stream.send(Words("first"))
        assert (await stream.receive()).integer() == 1
        await stream.send(Words(UPDATE, "second"))
        assert (await stream.receive()).integer() == 2
        # Each command is authorized on its own.
        await stream.send(Words(CHANGE, "third"))
        with pytest.raises(ConnectionLost):
            await stream.receive()
        stream.close()
        await server.close()

    wire.run(scenario)
    assert seen == [(UPDATE, "first"), (UPDATE, "second")]


def test_a_claim_is_a_session_that_nobody_negotiates(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("SCHEDD", CLIENT)
        server.register(CHANGE, echo, levels=(Level.DAEMON,))
        claim = mint_claim_id(str(server.address), 1, 2, bytes(range(32)))
        server.add_session(claim, user=SUBMIT_SIDE, levels=(Level.DAEMON,))
        stream = await client.connect(server.address, CHANGE, session=claim)
        await stream.send(Words("hello"))
        assert (await stream.receive()).string() == f"hello from {SUBMIT_SIDE}"
        stream.close()
        server.remove_session(claim)
        with pytest.raises(SessionUnknown):
            await client.connect(server.address, CHANGE, session=claim)
        await server.close()

    wire.run(scenario)


def test_a_claims_session_is_good_for_what_concerns_claims_alone(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("SCHEDD", CLIENT)
        server.register(CHANGE, echo, levels=(Level.DAEMON,), again=True)
        server.register(ASK, echo, levels=(Level.READ,), again=True)
        claim = mint_claim_id(str(server.address), 1, 2, bytes(range(32)))
        server.add_session(claim, user=SUBMIT_SIDE, levels=(Level.DAEMON,), commands=(CHANGE,))
        stream = await client.connect(server.address, CHANGE, session=claim)
        await stream.send(Words("hello"))
        assert (await stream.receive()).string() == f"hello from {SUBMIT_SIDE}"
        # Neither in a connection of its own, nor as a further command of this one.
        await stream.send(Words(ASK, "second"))
        with pytest.raises(ConnectionLost):
            await stream.receive()
        stream.close()
        stream = await client.connect(server.address, ASK, session=claim)
        with pytest.raises(ConnectionLost):
            await stream.receive()
        stream.close()
        await server.close()

    wire.run(scenario)


def test_daemons_of_one_family_trust_each_other_and_strangers_negotiate(wire: Wire) -> None:
    family = "family:0123#" + mint_claim_id("", 0, 0, bytes(32)).text.rpartition("#")[2]

    async def scenario() -> None:
        server, sister = await wire.serve(), await wire.serve(CLIENT)
        server.register(CHANGE, echo, levels=(Level.DAEMON,))
        server.register(ASK, echo)
        server.add_family(family)
        sister.add_family(family)
        assert await ask(sister, server, CHANGE, "hi") == "hi from condor@family"
        stranger = await wire.serve()
        stranger.register(ASK, echo)
        assert await ask(sister, stranger, ASK, "hi") == "hi from alice@here"
        for one in (server, sister, stranger):
            await one.close()

    wire.run(scenario)


def test_a_connection_can_be_given_to_another_process_in_the_middle(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        given: list[tuple[int, bytes]] = []
        arrived = asyncio.Event()

        async def give(stream: Stream) -> None:
            await stream.receive()
            given.append(await stream.detach())
            arrived.set()

        server.register(ASK, give)
        stream = await client.connect(server.address, ASK)
        await stream.send(Words("first"))
        await arrived.wait()
        taken = Stream.attach(*given[0])
        await stream.send(Words("second"))
        assert (await taken.receive()).string() == "second"
        await taken.send(Words("answer"))
        assert (await stream.receive()).string() == "answer"
        taken.close()
        stream.close()
        await server.close()

    wire.run(scenario)


def test_a_handler_that_fails_costs_the_connection_only(wire: Wire) -> None:
    async def fail(stream: Stream) -> None:
        raise ValueError("a bug")

    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, fail)
        server.register(CHANGE, echo)
        with pytest.raises(ConnectionLost):
            await ask(client, server, ASK, "hello")
        assert await ask(client, server, CHANGE, "hello") == "hello from alice@here"
        await server.close()

    wire.run(scenario)
    assert any("a bug" in line for line in wire.lines)


def test_a_kept_stream_outlives_its_handler(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        kept: list[Stream] = []
        arrived = asyncio.Event()

        async def keep(stream: Stream) -> None:
            stream.keep()
            kept.append(stream)
            arrived.set()

        server.register(ASK, keep)
        stream = await client.connect(server.address, ASK)
        await stream.send(Words("later"))
        await arrived.wait()
        assert (await kept[0].receive()).string() == "later"
        kept[0].close()
        stream.close()
        await server.close()

    wire.run(scenario)


def test_a_large_message_passes_in_both_directions(wire: Wire) -> None:
    async def mirror(stream: Stream) -> None:
        await stream.send(Words((await stream.receive()).string()))

    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, mirror)
        text = "x" * 5_000_000
        assert await ask(client, server, ASK, text) == text
        await server.close()

    wire.run(scenario)


def test_nobody_listening_is_a_lost_connection(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        await server.close()
        with pytest.raises(ConnectionLost, match="refused"):
            await client.connect(server.address, ASK)

    wire.run(scenario)


def test_garbage_on_the_port_is_dropped() -> None:
    wire = Wire("system")

    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        loop = asyncio.get_running_loop()
        for garbage in (
            b"GET / HTTP/1.0\r\n\r\n",
            b"\xff" * 64,
            b"\x01\x00\x00\x00\x08" + b"\0" * 8,
        ):
            sock = socket.socket()
            sock.setblocking(False)
            await loop.sock_connect(sock, ("127.0.0.1", server.address.port))
            await loop.sock_sendall(sock, garbage)
            with contextlib.suppress(ConnectionResetError):
                assert await loop.sock_recv(sock, 100) == b""
            sock.close()
        assert await ask(client, server, ASK, "hello") == "hello from alice@here"
        await server.close()

    wire.run(scenario)


def test_a_flood_of_garbage_is_counted_and_does_not_fill_the_log() -> None:
    wire = Wire("system")

    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        for number in range(200):
            await server.commands.serve_datagram(b"\xff" * (number + 1), "10.0.0.1:5")
        assert await ask(client, server, ASK, "hello") == "hello from alice@here"
        await server.close()

    wire.run(scenario)
    told = [line for line in wire.lines if "Dropping the packet from 10.0.0.1:5: " in line]
    assert len(told) == MOST_LINES


def test_a_silent_client_is_dropped_after_twenty_seconds() -> None:
    wire = Wire("memory")

    async def scenario() -> None:
        server = await wire.serve()
        assert isinstance(server, MemoryNetwork)
        begin = asyncio.get_running_loop().time()
        transport = await wire.hub.open("here:1", server.address.endpoint, 5.0)
        with pytest.raises(ConnectionLost, match="closed"):
            await transport.read(None)
        transport.close()
        assert asyncio.get_running_loop().time() - begin == pytest.approx(20.0)
        await server.close()

    async def main() -> None:
        await scenario()
        await tasks.cancel_all()

    run_virtually(main())


def test_a_client_that_never_negotiates_sends_bare_commands(wire: Wire, tmp_path: Path) -> None:
    async def scenario() -> None:
        server = await wire.serve("NETWORK_INTERFACE = 127.0.0.1\nALLOW_READ = *\n")
        server.register(ASK, echo)
        client = wire.make("TOOL", "SEC_CLIENT_NEGOTIATION = NEVER\n")
        assert await ask(client, server, ASK, "hi") == "hi from unauthenticated@unmapped"
        await server.close()

    wire.run(scenario)


def test_this_host_may_be_named_in_the_lists(wire: Wire) -> None:
    async def scenario() -> None:
        server = await wire.serve(SERVER.replace("alice@here", "*/localhost"))
        server.register(CHANGE, echo, levels=(Level.WRITE,))
        client = wire.make("TOOL", CLIENT)
        assert await ask(client, server, CHANGE, "hi") == "hi from alice@here"
        await server.close()

    wire.run(scenario)


def test_a_grant_ends_with_the_last_session_that_made_it(wire: Wire) -> None:
    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("SCHEDD", CLIENT)
        server.register(CHANGE, echo, levels=(Level.DAEMON,))
        claims = [mint_claim_id(str(server.address), 1, n, bytes([n]) * 32) for n in range(3)]
        for claim in claims:
            server.add_session(claim, user=SUBMIT_SIDE, levels=(Level.DAEMON,))
        for claim in claims[:2]:
            server.remove_session(claim)
        stream = await client.connect(server.address, CHANGE, session=claims[2])
        stream.close()
        server.remove_session(claims[2])
        authorization = server.standing.server.authorization
        assert not authorization.allows(Level.DAEMON, SUBMIT_SIDE, "127.0.0.1")
        assert server.standing._grants == {}
        await server.close()

    wire.run(scenario)


def test_what_a_session_that_ended_granted_is_taken_back(wire: Wire) -> None:
    async def scenario() -> None:
        server = await wire.serve()
        claim = mint_claim_id(str(server.address), 1, 2, bytes(32))
        server.add_session(claim, user=SUBMIT_SIDE, levels=(Level.DAEMON,), lifetime=0.0)
        server.expire_sessions()
        authorization = server.standing.server.authorization
        assert not authorization.allows(Level.DAEMON, SUBMIT_SIDE, "127.0.0.1")
        await server.close()

    wire.run(scenario)


def hear(server: CommandNetwork) -> asyncio.Queue[tuple[str, str]]:
    heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def on_update(stream: Stream) -> None:
        heard.put_nowait(((await stream.receive()).string(), stream.peer.user))

    server.register(UPDATE, on_update, levels=(Level.WRITE,))
    return heard


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_command_without_an_answer_goes_by_udp(wire: Wire, size: int) -> None:
    async def scenario() -> None:
        server = wire.make("SCHEDD", SERVER)
        assert isinstance(server, SystemNetwork | MemoryNetwork)
        if isinstance(server, MemoryNetwork):
            server.with_datagrams = True
        await server.listen()
        server.begin_accepting()
        client = wire.make("TOOL", CLIENT)
        assert not server.address.no_udp
        heard = hear(server)
        for number in range(3):
            await client.post(server.address, UPDATE, Words(f"{number}" + "x" * size))
            text, user = await heard.get()
            assert (text[0], len(text), user) == (f"{number}", size + 1, "alice@here")
        # One connection made the session; nothing else went over TCP.
        assert server.standing.server.sessions_made == 1
        assert server.commands.handled == 3
        await server.close()

    wire.run(scenario)


def test_a_daemon_that_has_forgotten_a_session_hears_datagrams_again(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot say so: after a while the session is made anew, whether it is known or not."""

    async def scenario() -> None:
        server = wire.make("SCHEDD", SERVER)
        assert isinstance(server, SystemNetwork | MemoryNetwork)
        if isinstance(server, MemoryNetwork):
            server.with_datagrams = True
        await server.listen()
        server.begin_accepting()
        client = wire.make("TOOL", CLIENT)
        heard = hear(server)
        await client.post(server.address, UPDATE, Words("first"))
        assert (await heard.get())[0] == "first"
        server.standing.server.sessions = SessionCache()
        monkeypatch.setattr("kettle.runtime.sockets.network_calls.TRUSTED_SECONDS", 0.0)
        await client.post(server.address, UPDATE, Words("second"))
        async with asyncio.timeout(100):
            assert (await heard.get())[0] == "second"
        await server.close()

    wire.run(scenario)


def test_a_daemon_without_a_udp_port_is_told_over_tcp(wire: Wire) -> None:
    async def scenario() -> None:
        server = await wire.serve(SERVER + "WANT_UDP_COMMAND_SOCKET = false\n")
        assert server.address.no_udp
        heard = hear(server)
        await wire.make("TOOL", CLIENT).post(server.address, UPDATE, Words("hello"))
        assert await heard.get() == ("hello", "alice@here")
        await server.close()

    wire.run(scenario)


def test_udp_packets_of_strangers_are_refused_in_one_line_each(wire: Wire) -> None:
    async def scenario() -> None:
        server = await wire.serve()
        heard = hear(server)
        for packet in (b"", b"short", bytes(64), b"MaGic6.0", b"CRAP" + bytes(3), b"\xff" * 4000):
            await server.commands.serve_datagram(packet, "10.1.1.1:5")
        for word in range(3):
            body = int(UPDATE).to_bytes(8, "big") + b"%d\0" % word
            await server.commands.serve_datagram(body, "10.1.1.1:5")
        assert heard.empty()
        await server.close()

    wire.run(scenario)
    refused = [line for line in wire.lines if "10.1.1.1" in line]
    assert len(refused) == 9
    assert not any("Traceback" in line for line in wire.lines)


@pytest.mark.parametrize("host", ["::1", "127.0.0.1"])
def test_a_daemon_listens_and_is_called_over_either_protocol(host: str) -> None:
    wire = Wire("system")

    async def scenario() -> None:
        settings = SERVER.replace("127.0.0.1", host)
        server, client = await wire.serve(settings), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        assert server.address.host == host
        assert await ask(client, server, ASK, "hello") == "hello from alice@here"
        heard = hear(server)
        await client.post(server.address, UPDATE, Words("by udp"))
        assert (await heard.get())[0] == "by udp"
        await server.close()

    wire.run(scenario)


def test_a_daemon_with_both_protocols_offers_both_and_the_caller_chooses() -> None:
    wire = Wire("system")
    both = (
        SERVER.replace("NETWORK_INTERFACE = 127.0.0.1", "NETWORK_INTERFACE = *")
        + "IPV4_ADDRESS = 127.0.0.1\nIPV6_ADDRESS = ::1\nBIND_ALL_INTERFACES = false\n"
    )

    async def scenario() -> None:
        server = await wire.serve(both)
        server.register(ASK, echo)
        assert [one.host for one in server.address.addresses] == ["127.0.0.1", "::1"]
        assert len({one.port for one in server.address.addresses}) == 1
        peers: list[str] = []

        async def note(stream: Stream) -> None:
            peers.append(stream.peer.address)
            await echo(stream)

        server.register(ASK, note)
        for settings in (
            "",
            "PREFER_OUTBOUND_IPV4 = false\n",
            "ENABLE_IPV4 = false\n",
            "ENABLE_IPV6 = false\nPREFER_OUTBOUND_IPV4 = false\n",
        ):
            await ask(wire.make("TOOL", CLIENT + settings), server, ASK, "hello")
        assert peers == ["127.0.0.1", "::1", "::1", "127.0.0.1"]
        await server.close()
        only6 = await wire.serve(both + "ENABLE_IPV4 = false\n")
        assert [one.host for one in only6.address.addresses] == ["::1"]
        await only6.close()
        reverse = await wire.serve(both + "ADVERTISE_IPV4_FIRST = false\n")
        assert reverse.address.host == "::1"
        await reverse.close()

    wire.run(scenario)


def test_strangers_who_send_too_much_together_are_dropped_and_others_are_heard() -> None:
    wire = Wire("sockets")

    async def scenario() -> None:
        server, client = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        server.commands.admission.most_bytes = 200_000
        end = (server.address.endpoint.host, server.address.endpoint.port)
        flood = [await asyncio.open_connection(*end) for _ in range(4)]
        for _, writer in flood:
            writer.write(encode_header(1_000_000, last=True) + bytes(60_000))
        ends = [asyncio.ensure_future(reader.read()) for reader, _ in flood]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        assert await ask(client, server, ASK, "hello") == "hello from alice@here"
        for _, writer in flood:
            writer.close()
        await asyncio.wait(ends)
        await server.close()
        assert any("strangers have sent too much" in line for line in wire.lines)

    wire.run(scenario)


def test_a_server_that_names_its_session_as_another_s_puts_an_end_to_none(wire: Wire) -> None:
    async def scenario() -> None:
        good, evil, client = await wire.serve(), await wire.serve(), wire.make("TOOL", CLIENT)
        good.register(ASK, echo)
        evil.register(ASK, echo)
        assert await ask(client, good, ASK, "one") == "one from alice@here"
        assert good.standing.server is not None
        assert evil.standing.server is not None
        [session] = good.standing.server.sessions.sessions()
        name, _, number = session.id.rpartition(":")
        evil.standing.server.session_name = name
        evil.standing.server.sessions_made = int(number) - 1
        assert await ask(client, evil, ASK, "two") == "two from alice@here"
        assert evil.standing.server.sessions.sessions()[0].id == session.id
        assert await ask(client, good, ASK, "three") == "three from alice@here"
        # It was resumed: nothing was agreed on anew.
        assert len(good.standing.server.sessions) == 1
        await good.close()
        await evil.close()

    wire.run(scenario)


def test_a_claim_whose_id_is_that_of_a_user_s_session_locks_nobody_out(wire: Wire) -> None:
    async def scenario() -> None:
        server, user = await wire.serve(), wire.make("TOOL", CLIENT)
        server.register(ASK, echo)
        await ask(user, server, ASK, "one")
        assert server.standing.server is not None
        [session] = server.standing.server.sessions.sessions()
        claim = ClaimId.with_session(f"{session.id}#{CLAIM_INFO}{'ab' * 32}")
        assert claim is not None
        server.add_session(claim, user=EXECUTE_SIDE, levels=(Level.READ,), commands=(ASK,))
        assert await ask(user, server, ASK, "two") == "two from alice@here"
        server.remove_session(claim)
        assert await ask(user, server, ASK, "three") == "three from alice@here"
        assert server.standing.server.sessions.sessions() == (session,)
        await server.close()

    wire.run(scenario)


def test_a_claim_has_its_own_session_whatever_a_server_called_one_before() -> None:
    claim = mint_claim_id("<127.0.0.1:9618>", 1, 2, bytes(range(32)))
    standing = Wire("memory").make("SCHEDD", CLIENT).standing
    theirs = Session(id=claim.session_id, key=bytes(32), user="somebody@here")
    assert standing.outgoing.add(theirs, address="<127.0.0.1:666>", named_by_peer=True)
    own = standing.claim_session(claim)
    assert own.key == claim.session("").key
    assert standing.claim_session(claim) is own
    assert not standing.outgoing.add(theirs, address="<127.0.0.1:666>", named_by_peer=True)
    assert standing.claim_session(claim) is own
