"""A token that is revoked while its owner is at work: the pool goes on without what it brought."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.collector.service import CollectorService
from kettle.errors import KettleError
from kettle.runtime.context import Runtime
from kettle.testing.world import World
from kettle.wire.commands import Command
from kettle.wire.security.tokens import mint_token, scramble, signing_key
from scenario.stage import play
from scenario.test_collector import ADDRESS, advertise, names, settled, slot

KEY = scramble(b"a signing key of this pool")
POOL = """\
SEC_TOKEN_POOL_SIGNING_KEY_FILE = $(LOCAL_DIR)/key
SEC_DEFAULT_AUTHENTICATION_METHODS = TOKEN, CLAIMTOBE
"""


def secret(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    os.chmod(path, 0o600)


def member(world: World, name: str) -> Runtime:
    """Return the runtime of a machine that has a token of the pool, whose jti is its name."""
    (world.folder / name).mkdir()
    token = mint_token(
        signing_key("POOL", KEY),
        key_id="POOL",
        issuer="here",
        subject="condor@here",
        issued_at=int(world.clock.now()),
        token_id=name,
    )
    secret(world.folder / name / "token", token.encode())
    text = (
        f"SEC_TOKEN_DIRECTORY = $(LOCAL_DIR)/{name}\n"
        "SEC_TOKEN_SYSTEM_DIRECTORY = $(LOCAL_DIR)/none\n"
        "SEC_TOKEN_POOL_SIGNING_KEY_FILE = $(LOCAL_DIR)/none/key\n"
        "SEC_DEFAULT_AUTHENTICATION_METHODS = TOKEN\n"
    )
    return world.runtime("STARTD", text, name=name)[0]


def test_a_member_whose_token_is_revoked_leaves_the_pool_at_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        secret(tmp_path / "key", KEY)
        collector = await world.start("COLLECTOR", CollectorService, POOL, port=9618)
        good, stolen = member(world, "good"), member(world, "stolen")
        await advertise(good, slot("a"))
        held = await advertise(stolen, slot("b"))
        await settled()
        client = world.client()
        assert await names(client) == ["a", "b"]
        config = world.config("COLLECTOR", f'{POOL}SEC_TOKEN_REVOCATION_EXPR = jti == "stolen"\n')
        collector.runtime.config = config
        collector.network.reconfigure(config)
        await collector.service.reconfigure(config)
        assert await names(client) == ["a"]
        # Neither the connection that stands nor the session that it remembers, nor another, is
        # heard; the other member is.
        await held.send(held.writer().integer(Command.UPDATE_STARTD_AD).ad(slot("b"), private=True))
        with pytest.raises(KettleError):
            await advertise(stolen, slot("b"))
        await advertise(good, slot("c"))
        await settled()
        assert await names(client) == ["a", "c"]
        (line,) = (line for line in world.log if "is revoked:" in line)
        assert "condor@here (stolen)" in line
        assert sum("PERMISSION DENIED" in line for line in world.log) >= 2

    play(tmp_path, scenario)


def test_who_is_revoked_is_asked_of_each_token_once(tmp_path: Path) -> None:
    """A pool may have very many sessions, of few tokens."""

    async def scenario(world: World) -> None:
        secret(tmp_path / "key", KEY)
        collector = await world.start("COLLECTOR", CollectorService, POOL, port=9618)
        one = member(world, "one")
        for _ in range(3):
            stream = await one.network.connect(ADDRESS, Command.DC_NOP_READ)
            stream.close()
            # A session of its own each time.
            one.network.standing.outgoing.forget(  # type: ignore[attr-defined]
                next(iter(one.network.standing.outgoing.sessions())).id  # type: ignore[attr-defined]
            )
        asked: list[object] = []
        sessions = collector.network.standing.sessions
        before = len(sessions)
        gone = sessions.end_proofs(lambda claims: asked.append(claims) is None)
        assert len(gone) == 3
        assert len(asked) == 1
        assert len(sessions) == before - 3

    play(tmp_path, scenario)
