"""The starter's end of the socket pair to its startd.

Orders come in (vacate, suspend, continue, kill), reports go out (state, usage, done). The words
are `wire.messages.starter_control`. A startd that is gone means that nobody answers for the slot
any more: the job is ended at once.
"""

from __future__ import annotations

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

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._done = False
        self.startd_gone = False

    async def serve(self, starter: Starter) -> None:
        """Carry out orders until the startd is gone."""
        while True:
            try:
                reader = await self._stream.receive_forever()
                order = words.read_control_message(reader)
            except ConnectionLost:
                self.startd_gone = True
                gone = Vacate("the startd is gone", VacateReasonCode.StartdException)
                starter.leave(gone, graceful=False, seconds=0)
                return
            self._carry_out(order, starter)

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

    def tell_done(self, final: ClassAd | None) -> None:
        """Report, once, that no process and no file of the job is left."""
        if not self._done:
            self._done = True
            self._post(words.StarterDone(final if final is not None else ClassAd()))

    def _post(self, message: words.ControlMessage) -> None:
        if self.startd_gone:
            return
        try:
            self._stream.post(message)
        except ConnectionLost:
            self.startd_gone = True
