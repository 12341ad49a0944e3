"""Who may take a running job's connection over, look at it, or log in beside it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.classad import ClassAd
from kettle.runtime.sockets.stream import Stream
from kettle.starter.conversation import Way
from kettle.starter.launch import LaunchPlan
from kettle.starter.service import Starter
from kettle.starter.services import commands
from kettle.starter.services.commands import StarterCommands
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.claims import ClaimCommandReply
from kettle.wire.security.claim_id import ClaimId, mint_session_id
from kettle.wire.security.session import Peer


class Asking:
    """A connection that asks for the job, and hears one answer."""

    def __init__(self, session_id: str) -> None:
        self.peer = Peer("shadow@here", session_id=session_id)
        self.answers: list[ClassAd] = []
        self.kept = False

    async def receive(self) -> Reader:
        return Reader(Writer().ad(ClassAd({"Command": "CA_RECONNECT_JOB"})).getvalue())

    async def send(self, message: ClaimCommandReply) -> None:
        self.answers.append(message.response)

    def keep(self) -> None:
        self.kept = True


class RunningJob:
    """As much of a starter as the command looks at."""

    def __init__(self, claim: ClaimId) -> None:
        self.activation = SimpleNamespace(claim_id=claim.text)
        self.pipeline = SimpleNamespace(finished=False)
        self.way = Way(ClassAd())
        self.job = ClassAd()
        self.world = SimpleNamespace(log=lambda _: None)
        self.taken: list[Any] = []
        self.shadow = SimpleNamespace(reconnect=self.taken.append)
        self.reports = SimpleNamespace(info_with_slot=ClassAd)


@pytest.mark.parametrize(
    ("knows_the_claim", "result"), [(True, "Success"), (False, "NotAuthorized")]
)
def test_only_the_session_of_the_claim_takes_a_running_job_over(
    knows_the_claim: bool, result: str
) -> None:
    claim = mint_session_id('<127.0.0.1:1>#1#1#[Encryption="YES";]', b"k" * 32)
    starter = RunningJob(claim)
    asking = Asking(claim.session_id if knows_the_claim else "another")
    answering = StarterCommands(cast("Starter", starter))
    asyncio.run(answering.on_claim_command(cast("Stream", asking)))
    assert asking.answers[0].string("Result") == result
    assert (asking.kept, len(starter.taken)) == (knows_the_claim, int(knows_the_claim))


class Visitor:
    """A connection of somebody, who says one thing and hears one answer."""

    def __init__(self, user: str) -> None:
        self.peer = Peer(user)
        self.encrypted = True
        self.answers: list[Any] = []

    async def receive(self) -> Reader:
        return Reader(Writer().ad(ClassAd({"TransferFiles": ""})).getvalue())

    async def send(self, message: Any) -> None:
        self.answers.append(message)


@pytest.mark.parametrize("command", ["on_peek", "on_start_sshd"])
@pytest.mark.parametrize(
    ("user", "began", "refusal"),
    [
        ("bob@vm", True, "only the job's owner"),
        ("alice@elsewhere", True, "only the job's owner"),
        ("", True, "only the job's owner"),
        ("alice@vm", False, "has not started yet"),
    ],
)
def test_only_its_owner_looks_at_a_job_or_logs_in_beside_it(
    command: str, user: str, began: bool, refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "BEGINNING_SECONDS", 0.0)
    starter = RunningJob(mint_session_id("<127.0.0.1:1>#1#1#", b"k" * 32))
    starter.job["User"] = "alice@vm"
    starter.plan, starter.job_started = object(), began  # type: ignore[attr-defined]
    starter.begun = asyncio.Event()  # type: ignore[attr-defined]
    visitor = Visitor(user)
    asyncio.run(getattr(StarterCommands(cast("Starter", starter)), command)(visitor))
    (answer,) = visitor.answers
    said = answer.response.string("ErrorString")
    assert refusal in said
    assert answer.response.boolean("Result") is False


def test_nobody_is_the_owner_of_a_job_that_names_none() -> None:
    starter = RunningJob(mint_session_id("<127.0.0.1:1>#1#1#", b"k" * 32))
    visitor = Visitor("")
    asyncio.run(StarterCommands(cast("Starter", starter)).on_peek(cast("Stream", visitor)))
    assert visitor.answers[0].response.boolean("Result") is False


def test_who_looks_at_a_job_whose_program_is_about_to_begin_waits_for_it() -> None:
    """The log tells of its start a moment earlier, and somebody may come as soon as he reads it."""
    starter = RunningJob(mint_session_id("<127.0.0.1:1>#1#1#", b"k" * 32))
    starter.job["User"] = "alice@vm"
    found = object()
    starter.plan, starter.job_started = found, False  # type: ignore[attr-defined]
    visitor = Visitor("alice@vm")

    async def look() -> LaunchPlan:
        begun = asyncio.Event()
        starter.begun = begun  # type: ignore[attr-defined]

        def begin() -> None:
            starter.job_started = True  # type: ignore[attr-defined]
            begun.set()

        asyncio.get_running_loop().call_soon(begin)
        answering = StarterCommands(cast("Starter", starter))
        return await answering._await_look(cast("Stream", visitor))

    assert asyncio.run(look()) is found
