"""Who is told how to reach a running job's starter."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.job import STARTER_ADDRESS
from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.schedd.queue.actors import UNKNOWN, Actor
from kettle.schedd.queue.jobs import Job
from kettle.schedd.services.connect import ConnectCommands
from kettle.wire.codec import Reader, Writer
from unit.schedd.queue_fixture import ALICE, BOB, ROOT, Schedd


def ask(actor: Actor, *, proc: int = 0) -> ClassAd:
    """Return the answer to somebody who asks for Alice's job, which does not run."""
    pure = Schedd()
    (job,) = pure.submit()
    question = ClassAd({"ClusterId": job.id.cluster, "ProcId": proc})
    answers: list[Any] = []

    async def receive() -> Reader:
        return Reader(Writer().ad(question).getvalue())

    async def send(message: Any) -> None:
        answers.append(message.response)

    schedd: Any = SimpleNamespace(queue=pure.queue, actor=lambda stream: actor)
    stream: Any = SimpleNamespace(receive=receive, send=send)
    asyncio.run(ConnectCommands(schedd).on_connect_info(stream))
    (answer,) = answers
    assert isinstance(answer, ClassAd)
    return answer


@pytest.mark.parametrize("actor", [BOB, UNKNOWN, Actor("alice@elsewhere", "alice")])
def test_the_way_to_a_job_is_told_to_nobody_else(actor: Actor) -> None:
    answer = ask(actor)
    assert answer.boolean("Result") is False
    assert "is not authorized for access to the starter for job" in (
        answer.string("ErrorString") or ""
    )
    assert answer.boolean("Retry") is False
    assert "ClaimId" not in answer


@pytest.mark.parametrize("actor", [ALICE, ROOT])
def test_its_owner_and_super_users_are_told_to_ask_again_while_it_does_not_run(
    actor: Actor,
) -> None:
    answer = ask(actor)
    assert (answer.string("ErrorString") or "").endswith("is not running.")
    assert answer.boolean("Retry") is True


def test_a_job_that_is_not_there_is_said_so() -> None:
    assert "No such job" in (ask(ALICE, proc=7).string("ErrorString") or "")


@pytest.mark.parametrize(
    ("result", "told", "found"),
    [
        ("Success", "<10.0.0.3:7>", "<10.0.0.3:7>"),
        ("Success", "", "<10.0.0.3:9>"),
        ("CommunicationError", "", "<10.0.0.3:9>"),
        ("Failure", "", "no starter"),
    ],
)
def test_where_a_starter_listens_is_known_from_its_shadow_while_its_startd_does_not_know(
    result: str, told: str, found: str
) -> None:
    reply = ClassAd({"Result": result, "ErrorString": "no starter"})
    if told:
        reply["StarterIpAddr"] = told

    async def receive() -> Reader:
        return Reader(Writer().ad(reply).getvalue())

    async def send(message: Any) -> None:
        del message

    async def connect(*words: Any, **named: Any) -> Any:
        del words, named
        return SimpleNamespace(receive=receive, send=send, close=lambda: None)

    network = SimpleNamespace(connect=connect, address="<10.0.0.2:1>")
    schedd: Any = SimpleNamespace(runtime=SimpleNamespace(network=network))
    ad = ClassAd({"StartdIpAddr": "<10.0.0.3:1>", STARTER_ADDRESS: "<10.0.0.3:9>"})
    locate = ConnectCommands(schedd)._locate(
        cast("Job", SimpleNamespace(ad=ad)), "<10.0.0.3:1>#1#1"
    )
    if result == "Failure":
        with pytest.raises(RefusedError, match=found):
            asyncio.run(locate)
    else:
        assert asyncio.run(locate) == found
