"""What a starter that waits hears from its startd, and in which order."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.runtime.sockets.stream import Stream
from kettle.starter.services.control import Ordered, StartdControl
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import starter_control as words
from kettle.wire.messages.starter_control import StarterActivation

Startd = Callable[[Stream, StartdControl], Coroutine[Any, Any, None]]


def talk(startd: Startd, connections: socket.socket | None = None) -> None:
    """Let a startd and a starter's end of its line talk."""

    async def scenario() -> None:
        stream, theirs = Stream.pair()
        starters = Stream.over(theirs)
        control = StartdControl(starters, connections)
        serving = asyncio.ensure_future(control.serve())
        try:
            async with asyncio.timeout(100):
                await startd(stream, control)
        finally:
            serving.cancel()
            stream.close()
            starters.close()

    asyncio.run(scenario())


def activation(number: int) -> bytes:
    granted = StarterActivation(
        number,
        "slot1",
        "<1:2>#3#4#5",
        0,
        "here",
        "startd",
        "me",
        b"",
        ClassAd(),
        ClassAd(),
        "",
        "/execute",
        b"",
        None,
    )
    writer = Writer()
    granted.write(writer)
    return writer.getvalue()


def job() -> bytes:
    writer = Writer()
    writer.ad(ClassAd({"ClusterId": 7}))
    return writer.getvalue()


def test_a_refusal_that_crossed_another_activation_answers_no_later_question() -> None:
    async def startd(stream: Stream, control: StartdControl) -> None:
        first = asyncio.ensure_future(control.ask_activation(job()))
        await stream.receive()
        # A shadow came with a connection of its own before the question was read.
        stream.post(words.NextActivation(ClassAd(), activation(1)))
        assert await first is None
        # The one that came is taken, and its job runs; meanwhile the refusal is read.
        assert control.next_activation() is None
        stream.post(words.ActivationRefused(ClassAd({"Code": -1})))
        while control._refused is None:
            await control.hear()
        second = asyncio.ensure_future(control.ask_activation(job()))
        await stream.receive()
        assert control.next_activation() is None
        stream.post(words.NextActivation(ClassAd({"Asked": True}), activation(2)))
        answer = await second
        assert isinstance(answer, StarterActivation)
        assert answer.number == 2
        assert answer.job.integer("ClusterId") == 7

    talk(startd)


def test_who_asks_hears_a_refusal_and_the_end_of_its_startd() -> None:
    async def startd(stream: Stream, control: StartdControl) -> None:
        asking = asyncio.ensure_future(control.ask_activation(job()))
        await stream.receive()
        stream.post(words.ActivationRefused(ClassAd({"Code": 2})))
        refused = await asking
        assert isinstance(refused, words.ActivationRefused)
        assert refused.content.integer("Code") == 2
        asking = asyncio.ensure_future(control.ask_activation(job()))
        await stream.receive()
        stream.close()
        assert await asking is None
        assert control.startd_gone

    talk(startd)


def test_a_job_without_its_connection_is_refused_and_never_waited_for() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    async def startd(stream: Stream, control: StartdControl) -> None:
        stream.post(words.NextActivation(ClassAd(), activation(1)))
        await control.hear()
        with pytest.raises(ConnectionLost, match="did not come"):
            control.next_activation()

    with ours, theirs:
        talk(startd, theirs)


def test_a_grant_that_says_only_what_is_new_is_the_last_one_with_another_number() -> None:
    async def startd(stream: Stream, control: StartdControl) -> None:
        first = StarterActivation.read(Reader(activation(1)))
        control.begin(cast("Ordered", SimpleNamespace(activation=first)))
        asking = asyncio.ensure_future(control.ask_activation(job()))
        await stream.receive()
        news = ClassAd({"Asked": True, "Number": 2, "MyCurrentTime": 99})
        stream.post(words.NextActivation(news, b""))
        answer = await asking
        assert isinstance(answer, StarterActivation)
        assert (answer.number, answer.claim_id) == (2, first.claim_id)
        assert answer.slot.names() == ["MyCurrentTime"]
        assert answer.job.integer("ClusterId") == 7

    talk(startd)


def test_a_claim_goes_on_until_the_startd_says_that_it_does_not() -> None:
    async def startd(stream: Stream, control: StartdControl) -> None:
        assert control.claim_goes_on
        stream.post(words.ClaimAnswer(ClassAd({"Start": False})))
        # Whatever comes after it has been heard.
        stream.post(words.ActivationRefused(ClassAd({"Code": -1})))
        await control.hear()
        assert not control.claim_goes_on

    talk(startd)


def test_the_end_of_a_job_is_told_at_once_and_once() -> None:
    async def startd(stream: Stream, control: StartdControl) -> None:
        had = ClassAd({"MemoryProvisioned": 128})
        control.tell_done(ClassAd({"ExitCode": 3}), had, stays=True)
        done = words.read_control_message(await stream.receive())
        assert isinstance(done, words.StarterDone)
        assert done.content.integer("ExitCode") == 3
        assert done.content.integer("MemoryProvisioned") == 128
        assert done.content.boolean("Stays") is True
        # Whoever else sees the job off.
        control.tell_done(None, had)
        with pytest.raises(ConnectionLost):
            await stream.receive(0.01)

    talk(startd)


def test_an_order_that_comes_while_a_starter_gets_ready_is_carried_out_as_it_begins() -> None:
    told: list[str] = []
    job = SimpleNamespace(
        activation=SimpleNamespace(),
        leave=lambda vacate, **_: told.append(f"leave: {vacate.reason}"),
        suspend=lambda: told.append("suspend"),
    )

    async def startd(stream: Stream, control: StartdControl) -> None:
        await stream.send(words.SuspendJob(ClassAd()))
        await stream.send(words.KillJob(ClassAd({"Reason": "now"})))
        # Whatever comes after it has been heard.
        stream.post(words.ActivationRefused(ClassAd({"Code": -1})))
        await control.hear()
        assert told == []
        control.begin(cast(Any, job))
        assert told == ["suspend", "leave: now"]
        # Once.
        control.begin(cast(Any, job))
        assert len(told) == 2

    talk(startd)


def test_an_order_about_a_claim_s_next_job_is_not_lost_before_that_begins() -> None:
    told: list[str] = []

    def job(name: str) -> Any:
        return SimpleNamespace(
            activation=SimpleNamespace(),
            leave=lambda vacate, **_: told.append(f"{name} leaves: {vacate.reason}"),
        )

    async def startd(stream: Stream, control: StartdControl) -> None:
        control.begin(job("first"))
        await stream.send(words.NextActivation(ClassAd(), activation(2)))
        await stream.send(words.KillJob(ClassAd({"Reason": "now"})))
        # Whatever comes after it has been heard.
        stream.post(words.ActivationRefused(ClassAd({"Code": -1})))
        await control.hear()
        assert told == []
        control.begin(job("second"))
        assert told == ["second leaves: now"]

    talk(startd)


@pytest.mark.parametrize(
    ("is_over", "reason"), [(False, "the startd is gone"), (True, "the claim is over")]
)
def test_the_end_of_the_line_behind_a_job_s_end_is_no_loss_of_the_startd(
    is_over: bool, reason: str
) -> None:
    reasons: list[str] = []
    ordered = SimpleNamespace(
        activation=None, leave=lambda vacate, **_: reasons.append(vacate.reason)
    )

    async def startd(stream: Stream, control: StartdControl) -> None:
        control.begin(cast("Ordered", ordered))
        if is_over:
            control.tell_done(None)
        stream.close()
        while not control.startd_gone:
            await control.hear()

    talk(startd)
    assert reasons == [reason]
