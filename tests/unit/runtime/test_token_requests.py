"""Tokens given out, asked for, seen and approved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import RefusedError
from kettle.levels import Level
from kettle.runtime.context import Runtime
from kettle.runtime.token_requests import (
    REQUEST_SECONDS,
    TokenBook,
    TokenCommands,
    Wish,
    narrowed,
)
from kettle.testing.world import World, WorldDaemon, run_in_world
from kettle.wire.commands import Command
from kettle.wire.messages.daemoncore import TokenReply, TokenRequest
from kettle.wire.security.tokens import parse_token, scramble

NETWORK = "ALLOW_ADMINISTRATOR = admin@here\nALLOW_DAEMON = admin@here\n"


def wish(number: str = "1", **changes: object) -> Wish:
    facts: dict[str, object] = {
        "number": number,
        "client_id": "laptop",
        "identity": "alice@here",
        "proved": "unauthenticated@unmapped",
        "location": "10.1.2.3",
        "levels": ("ADVERTISE_STARTD",),
        "lifetime": -1,
        "asked_at": 0.0,
    }
    return Wish(**(facts | changes))  # type: ignore[arg-type]


def test_a_request_is_found_only_with_its_clients_id() -> None:
    book = TokenBook()
    book.ask(wish(), 0)
    assert book.find("1", "laptop", 1).identity == "alice@here"
    with pytest.raises(RefusedError):
        book.find("1", "other", 1)


def test_no_host_takes_all_the_places_of_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kettle.runtime.token_requests.MOST_REQUESTS_OF_HOST", 2)
    book = TokenBook()
    for number in "12":
        book.ask(wish(number), 0)
    with pytest.raises(RefusedError, match="of this host"):
        book.ask(wish("3"), 0)
    book.ask(wish("3", location="10.1.2.4"), 0)
    assert list(book.requests) == ["1", "2", "3"]


def test_two_requests_never_have_one_number() -> None:
    book = TokenBook()
    book.ask(wish("5"), 0)
    other = wish("5", client_id="desktop")
    book.ask(other, 0)
    assert other.number == "6"
    assert book.find("5", "laptop", 0).client_id == "laptop"


def test_clients_may_have_names_of_any_letters() -> None:
    book = TokenBook()
    book.ask(wish(client_id="Büro"), 0)
    assert book.find("1", "Büro", 1).identity == "alice@here"
    with pytest.raises(RefusedError):
        book.find("1", "Búro", 1)


def test_a_request_that_nobody_cares_about_is_forgotten() -> None:
    book = TokenBook()
    book.ask(wish(), 0)
    with pytest.raises(RefusedError):
        book.find("1", "laptop", REQUEST_SECONDS)


def test_a_rule_approves_only_advertising_from_its_network_while_it_lasts() -> None:
    book = TokenBook()
    book.add_rule("10.1.0.0/16", 60, 0)
    assert book.is_automatic(wish(), 59)
    assert not book.is_automatic(wish(), 60)
    assert not book.is_automatic(wish(location="10.2.0.1"), 1)
    assert not book.is_automatic(wish(levels=("ADMINISTRATOR",)), 1)
    assert not book.is_automatic(wish(levels=()), 1)


@pytest.mark.parametrize("text", ["10.1.0.0/99", "everywhere", ""])
def test_a_rule_needs_a_network(text: str) -> None:
    with pytest.raises(RefusedError):
        TokenBook().add_rule(text, 60, 0)


def test_others_requests_are_seen_and_approved_by_administrators_only() -> None:
    book = TokenBook()
    book.ask(wish(), 0)
    assert book.visible("bob@here", administrator=False) == []
    assert len(book.visible("alice@here", administrator=False)) == 1
    assert len(book.visible("root@here", administrator=True)) == 1
    assert not book.may_approve(book.requests["1"], "bob@here", administrator=False)


def test_a_limited_token_gets_none_that_can_do_more() -> None:
    limits = frozenset({Level.READ, Level.WRITE})
    assert narrowed(("READ", "ADMINISTRATOR"), limits) == ("READ",)
    assert narrowed((), limits) == ("READ", "WRITE")
    assert narrowed((), None) == ()
    # No level in a token means no limit, so nothing left must not become an empty list.
    with pytest.raises(RefusedError):
        narrowed(("ADMINISTRATOR",), limits)


def test_nobody_approves_for_themselves_what_their_own_token_cannot_do() -> None:
    book, read = TokenBook(), frozenset({Level.READ})

    def may(*levels: str, limits: frozenset[Level] | None) -> bool:
        asked = wish(levels=levels)
        return book.may_approve(asked, "alice@here", administrator=False, limits=limits)

    assert may(limits=None)
    assert may("READ", limits=read)
    assert not may("WRITE", limits=read)
    assert not may(limits=read)


class Issuer:
    """A daemon with nothing but its tokens."""

    def __init__(self, runtime: Runtime) -> None:
        self.commands = TokenCommands(runtime)

    async def start(self) -> None:
        self.commands.register()

    async def reconfigure(self, config: Config) -> None: ...

    async def shut_down(self, how: str) -> None: ...


async def send(
    world: World, daemon: WorldDaemon[Issuer], user: str, command: Command, **request: object
) -> ClassAd:
    client = world.client(user)
    stream = await client.network.connect(daemon.network.address, command)
    try:
        await stream.send(TokenRequest(ClassAd(request)))
        return TokenReply.read(await stream.receive()).response
    finally:
        stream.close()


def in_world(tmp_path: Path, play: Callable[[World, WorldDaemon[Issuer]], Awaitable[None]]) -> None:
    (tmp_path / "key").write_bytes(scramble(b"k" * 64))
    (tmp_path / "key").chmod(0o600)

    async def scenario(world: World) -> None:
        text = f"{NETWORK}SEC_TOKEN_POOL_SIGNING_KEY_FILE = {tmp_path}/key\n"
        daemon = await world.start("COLLECTOR", Issuer, text)
        await play(world, daemon)

    run_in_world(tmp_path, scenario)


def test_who_has_proved_a_name_gets_a_token_for_it(tmp_path: Path) -> None:
    async def play(world: World, daemon: WorldDaemon[Issuer]) -> None:
        reply = await send(
            world,
            daemon,
            "alice@here",
            Command.DC_GET_SESSION_TOKEN,
            LimitAuthorization="READ,WRITE",
            TokenLifetime=60,
        )
        token = parse_token(reply.string("Token") or "")
        assert token.claim("sub") == "alice@here"
        assert token.claim("scope") == "condor:/READ condor:/WRITE"
        assert token.time("exp") == world.clock.start + 60

    in_world(tmp_path, play)


def test_a_request_waits_for_its_approval_and_is_fetched_once(tmp_path: Path) -> None:
    async def play(world: World, daemon: WorldDaemon[Issuer]) -> None:
        asked = await send(
            world,
            daemon,
            "stranger@here",
            Command.DC_START_TOKEN_REQUEST,
            ClientId="laptop",
            User="alice@here",
        )
        mine = {"ClientId": "laptop", "RequestId": asked.string("RequestId")}
        waiting = await send(
            world, daemon, "stranger@here", Command.DC_FINISH_TOKEN_REQUEST, **mine
        )
        assert waiting.string("Token") == ""
        refused = await send(
            world, daemon, "stranger@here", Command.DC_APPROVE_TOKEN_REQUEST, **mine
        )
        assert refused.integer("ErrorCode") != 0
        approved = await send(world, daemon, "admin@here", Command.DC_APPROVE_TOKEN_REQUEST, **mine)
        assert approved.integer("ErrorCode") == 0
        fetched = await send(
            world, daemon, "stranger@here", Command.DC_FINISH_TOKEN_REQUEST, **mine
        )
        assert parse_token(fetched.string("Token") or "").claim("sub") == "alice@here"
        again = await send(world, daemon, "stranger@here", Command.DC_FINISH_TOKEN_REQUEST, **mine)
        assert again.integer("ErrorCode") != 0

    in_world(tmp_path, play)


def test_a_request_for_a_name_with_blanks_is_refused(tmp_path: Path) -> None:
    async def play(world: World, daemon: WorldDaemon[Issuer]) -> None:
        wish = {"ClientId": "laptop", "User": "a b@here"}
        reply = await send(world, daemon, "ann@here", Command.DC_START_TOKEN_REQUEST, **wish)
        assert reply.string("ErrorString") == "nobody can be 'a b@here': a name has no blanks"
        assert not daemon.service.commands.book.requests

    in_world(tmp_path, play)


def test_without_a_key_no_token_is_made(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        daemon = await world.start("COLLECTOR", Issuer, NETWORK)
        reply = await send(world, daemon, "alice@here", Command.DC_GET_SESSION_TOKEN)
        assert "no signing key" in (reply.string("ErrorString") or "")

    run_in_world(tmp_path, scenario)
