"""The starter's end of the socket pair to its startd.

Orders come in (vacate, suspend, continue, kill), reports go out (state, usage, done). The words
are `wire.messages.starter_control`. A startd that is gone means that nobody answers for the slot
any more: the job is ended at once.

The same line brings the next activation when the startd lets a starter stay for another job of
its claim. Whatever came before it on the line was about the job before.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.runtime.stream import Stream
from kettle.starter.outcome import Vacate
from kettle.wire.messages import starter_control as words

if TYPE_CHECKING:
    from kettle.starter.service import Starter


class StartdControl:
    """Talks with the startd."""

    def __init__(self, stream: Stream, connections: socket.socket | None = None) -> None:
        self._stream = stream
        self._connections = connections
        self._starter: Starter | None = None
        self._done = False
        self.startd_gone = False
        self._next: bytes | None = None
        self._heard = asyncio.Event()

    def begin(self, starter: Starter) -> None:
        """From here on orders are for this activation."""
        self._starter, self._done = starter, False
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
                self._heard.set()
                if self._starter is not None:
                    self._leave_at_once(self._starter)
                return
            if isinstance(order, words.NextActivation):
                self._next = order.activation
                self._starter = None
                self._heard.set()
            elif self._starter is not None:
                self._carry_out(order, self._starter)

    async def next_activation(self) -> tuple[bytes, int] | None:
        """Wait for another activation and its connection; None when the startd lets us go."""
        await self._heard.wait()
        self._heard.clear()
        data, self._next = self._next, None
        if data is None or self._connections is None:
            return None
        # It was sent before the words that announced it.
        _, descriptors, _, _ = socket.recv_fds(self._connections, 1, 1)
        return (data, descriptors[0]) if descriptors else None

    def _leave_at_once(self, starter: Starter) -> None:
        gone = Vacate("the startd is gone", VacateReasonCode.StartdException)
        starter.leave(gone, graceful=False, seconds=0)

    def _carry_out(self, order: words.ControlMessage, starter: Starter) -> None:
        ad = order.content
        if isinstance(order, words.VacateJob | words.KillJob):
            vacate = Vacate(
                ad.string("Reason") or "the startd said so",
                ad.integer("ReasonCode") or VacateReasonCode.ClaimDeactivated,
                ad.integer("ReasonSubCode") or 0,
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

    def tell_usage(self, usage: ClassAd, address: str) -> None:
        """Report what the job uses now."""
        ad = ClassAd(parent=usage)
        ad["StarterIpAddr"] = address
        self._post(words.JobUsage(ad))

    def tell_done(self, final: ClassAd | None, *, stays: bool = False) -> None:
        """Report, once, that no process and no file of the job is left.

        `stays` offers to run another job of the claim.
        """
        if not self._done:
            self._done = True
            ad = ClassAd(parent=final)
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
