"""The starter's end of the socket pair to its startd.

Orders come in (vacate, suspend, continue, kill), reports go out (state, usage, done). The words
are `wire.messages.starter_control`. A startd that is gone means that nobody answers for the slot
any more: the job is ended at once.

The same line brings the next activation when the startd lets a starter stay for another job of
its claim, or grants the one that the starter asked for. Whatever came before it on the line was
about the job before.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.runtime.sockets.stream import Stream
from kettle.starter.outcome import Vacate
from kettle.wire.codec import Reader
from kettle.wire.like_ads import LikeAds
from kettle.wire.messages import starter_control as words
from kettle.wire.messages.starter_control import StarterActivation


class Ordered(Protocol):
    """The job that orders are about."""

    activation: StarterActivation

    def leave(self, vacate: Vacate, *, graceful: bool, seconds: float) -> None:
        """End the job."""
        ...

    def suspend(self) -> None:
        """Freeze the job."""
        ...

    def resume(self) -> None:
        """Thaw the job."""
        ...


class StartdControl:
    """Talks with the startd."""

    def __init__(self, stream: Stream, connections: socket.socket | None = None) -> None:
        self._stream = stream
        self._connections = connections
        if connections is not None:
            # What is not there when its word has come is never waited for.
            connections.setblocking(False)
        self._starter: Ordered | None = None
        # Orders that came while a starter was still getting ready for the job that they are about.
        self._early: list[words.ControlMessage] | None = []
        self._done = False
        self.startd_gone = False
        self._next: words.NextActivation | None = None
        self._refused: words.ActivationRefused | None = None
        # What was granted last; the next grant may say only what is new.
        self._granted: StarterActivation | None = None
        self.claim_goes_on = True
        self._jobs = LikeAds()
        self._heard = asyncio.Event()
        # Ends the wait of whoever waits for something else until there is news here.
        self.on_news: Callable[[], object] | None = None

    def begin(self, starter: Ordered) -> None:
        """From here on orders are for this activation, with those that came while it got ready."""
        self._starter, self._done = starter, False
        self._granted = starter.activation
        early, self._early = self._early, None
        for order in early or ():
            self._carry_out(order, starter)
        if self.startd_gone:
            self._leave_at_once(starter)

    async def serve(self) -> None:
        """Carry out orders until the startd is gone."""
        while True:
            try:
                reader = await self._stream.receive_forever()
                order = words.read_control_message(reader)
            except ConnectionLost:
                self.startd_gone = True
                self.wake()
                if self._starter is not None:
                    self._leave_at_once(self._starter)
                return
            if isinstance(order, words.NextActivation):
                self._next = order
                # What follows is about the job that it names.
                self._starter, self._early = None, []
                self.wake()
            elif isinstance(order, words.ActivationRefused):
                self._refused = order
                self.wake()
            elif isinstance(order, words.ClaimAnswer):
                self.claim_goes_on = order.content.boolean("Start") is True
            elif self._starter is not None:
                self._carry_out(order, self._starter)
            elif self._early is not None:
                self._early.append(order)

    def wake(self) -> None:
        """Let whoever waits for news look again."""
        self._heard.set()
        if self.on_news is not None:
            self.on_news()

    def has_news(self) -> bool:
        """Whether there is news that nobody has heard; from here on they are heard."""
        heard = self._heard.is_set()
        self._heard.clear()
        return heard

    async def hear(self) -> None:
        """Wait until there is news from the startd."""
        await self._heard.wait()
        self._heard.clear()

    def next_activation(self) -> tuple[StarterActivation, int] | None:
        """Return another activation and its connection, if the startd has sent any.

        ConnectionLost if the connection is not there, which is sent before the word of it.
        """
        order, self._next = self._next, None
        if order is None or self._connections is None:
            return None
        try:
            _, descriptors, _, _ = socket.recv_fds(self._connections, 1, 1)
        except OSError as error:
            raise ConnectionLost(f"the next job's connection did not come: {error}") from error
        if not descriptors:
            raise ConnectionLost("the next job's connection did not come")
        return StarterActivation.read(Reader(order.activation)), descriptors[0]

    async def ask_activation(
        self, job: bytes
    ) -> StarterActivation | words.ActivationRefused | None:
        """Ask the startd to let a job begin on the connection we have; None if it lets us go."""
        self._ask(job)
        while self._next is None and self._refused is None and not self.startd_gone:
            await self.hear()
        refused, self._refused = self._refused, None
        if refused is not None or self._next is None:
            return refused
        order, self._next = self._next, None
        if order.content.boolean("Asked") is not True:
            # The same claim was activated with another connection meanwhile: that one counts.
            self._next = order
            return None
        if order.activation:
            activation = StarterActivation.read(Reader(order.activation))
        else:
            activation = self._granted_again(order.content)
        activation.job = self._jobs.read(job)
        return activation

    def _granted_again(self, news: ClassAd) -> StarterActivation:
        """Return the last activation with another number; its slot is only what is passing."""
        last, number = self._granted, news.integer("Number") or 0
        assert last is not None
        for name in ("Asked", "Number"):
            news.discard(name)
        return StarterActivation(
            number,
            last.slot_name,
            last.claim_id,
            last.generation,
            last.host,
            last.startd_name,
            last.peer_user,
            b"",
            news,
            ClassAd(),
            last.cores,
            last.execute,
            b"",
            None,
        )

    def _ask(self, job: bytes) -> None:
        # An earlier refusal may have crossed an activation that came without being asked for.
        self._refused = None
        self._post(words.AskActivation(ClassAd(), job))

    def _leave_at_once(self, starter: Ordered) -> None:
        # The end of the line is also how the startd lets go of a starter whose claim is over.
        reason = "the claim is over" if self._done else "the startd is gone"
        gone = Vacate(reason, VacateReasonCode.StartdException)
        starter.leave(gone, graceful=False, seconds=0)

    def _carry_out(self, order: words.ControlMessage, starter: Ordered) -> None:
        ad = order.content
        if isinstance(order, words.VacateJob | words.KillJob):
            vacate = Vacate(
                ad.string("Reason") or "the startd said so",
                ad.integer("ReasonCode") or VacateReasonCode.ClaimDeactivated,
                ad.integer("ReasonSubCode") or 0,
                brings_output=ad.boolean("FinalTransfer") is True,
                hold_reason=ad.string("HoldReason") or "",
                hold_subcode=ad.integer("HoldReasonSubCode") or 0,
            )
            graceful = isinstance(order, words.VacateJob) and ad.boolean("Graceful") is True
            starter.leave(vacate, graceful=graceful, seconds=ad.real("VacateSeconds") or 0.0)
        elif isinstance(order, words.SuspendJob):
            starter.suspend()
        elif isinstance(order, words.ContinueJob):
            starter.resume()

    def tell_state(self, state: str, pid: int, address: str) -> None:
        """Report that the job runs, is suspended, or has ended."""
        ad = ClassAd({"JobState": state, "JobPid": pid, "StarterIpAddr": address})
        self._post(words.JobState(ad))

    def tell_place(self, address: str) -> None:
        """Say where the job's starter listens, before there is anything else to report."""
        self._post(words.StarterStarted(ClassAd({"StarterIpAddr": address})))

    def tell_usage(self, usage: ClassAd, address: str, *, final: bool = False) -> None:
        """Report what the job uses now, or used in all."""
        ad = ClassAd(parent=usage)
        if final:
            ad["Final"] = True
        ad["StarterIpAddr"] = address
        self._post(words.JobUsage(ad))

    def tell_done(
        self, final: ClassAd | None, had: ClassAd | None = None, *, stays: bool = False
    ) -> None:
        """Report, once, that no process and no file of the job is left.

        `final` is what it used, `had` what was given to it, both for the startd's records;
        `stays` offers to run another job of the claim.
        """
        if not self._done:
            self._done = True
            ad = ClassAd(parent=final)
            if had is not None:
                ad.update(had)
            if stays:
                ad["Stays"] = True
            self._post(words.StarterDone(ad))

    def _post(self, message: words.ControlMessage) -> None:
        if self.startd_gone:
            return
        try:
            self._stream.post(message)
        except ConnectionLost:
            self.startd_gone = True
