"""Everything a startd is asked that has no part of its own: vacate, locate, query.

(Wire notes, Queries.)
"""

from __future__ import annotations

import asyncio

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.startd import ads
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import ClaimPhase
from kettle.startd.machine import SlotRecord
from kettle.startd.services.parts import Startd
from kettle.startd.services.schedds import Schedds
from kettle.startd.services.starters import StarterProcess
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.messages.collector import Query, QueryReply

# How long is waited for a starter to say where it listens.
_HEARD_SECONDS = 5.0


class OtherCommands:
    """Answers everybody else."""

    def __init__(self, startd: Startd, schedds: Schedds) -> None:
        self._startd = startd
        self._schedds = schedds

    def register(self) -> None:
        """Make the commands known to the network."""
        register = self._startd.runtime.network.register
        register(Command.VACATE_CLAIM, self.on_vacate)
        register(Command.VACATE_CLAIM_FAST, self.on_vacate)
        register(Command.VACATE_ALL_CLAIMS, self.on_vacate_all)
        register(Command.VACATE_ALL_FAST, self.on_vacate_all)
        register(Command.GIVE_STATE, self.on_give_state)
        register(Command.QUERY_STARTD_ADS, self.on_query)
        register(Command.QUERY_MULTIPLE_ADS, self.on_query)
        register(Command.CA_CMD, self.on_claim_command)
        register(Command.CA_AUTH_CMD, self.on_claim_command)

    # ---- vacate -------------------------------------------------------------------------------

    async def on_vacate(self, stream: Stream) -> None:
        """condor_vacate of one slot."""
        name = messages.VacateClaim.read(await stream.receive()).slot_name
        record = self._startd.machine.find(name)
        if record is not None:
            self._vacate(record, fast=stream.command == Command.VACATE_CLAIM_FAST)

    async def on_vacate_all(self, stream: Stream) -> None:
        """condor_vacate of the whole machine."""
        for record in self._startd.machine:
            self._vacate(record, fast=stream.command == Command.VACATE_ALL_FAST)

    def _vacate(self, record: SlotRecord, *, fast: bool) -> None:
        self._startd.apply(record, ev.VacateAsked(fast))

    # ---- questions ----------------------------------------------------------------------------

    async def on_give_state(self, stream: Stream) -> None:
        """Say the state of the machine's first slot."""
        first = next(iter(self._startd.machine), None)
        state = first.slot.phase.state if first is not None else "None"
        await stream.send(messages.GiveStateReply(state))

    async def on_query(self, stream: Stream) -> None:
        """Answer a query for our own ads, as a collector would."""
        query = Query.read(await stream.receive()).query
        found = self._ads_asked_for(query)
        limit = query.integer("LimitResults") or len(found)
        # What a stranger asks of each slot may take long.
        matching = await tasks.choose_in_turns(found, lambda ad: _satisfies(query, ad))
        matching = matching[: max(0, limit)]
        projection = query.string("Projection")
        if projection:
            names = projection.replace(",", " ").split()
            matching = [_project(ad, names) for ad in matching]
        await stream.send(QueryReply(matching))

    def _ads_asked_for(self, query: ClassAd) -> list[ClassAd]:
        """Return our ads of the types that a query wants: slots, jobs of claims, the startd."""
        startd = self._startd
        wanted = {t.lower() for t in (query.string("TargetType") or "Machine").split(",")}
        found: list[ClassAd] = []
        if wanted & {"machine", "any", "startd", ""} and wanted != {"startd"}:
            found += [startd.slot_ad(record) for record in startd.machine]
        if "startd" in wanted or "any" in wanted:
            now = startd.runtime.clock.steady()
            figures = startd.runtime.self_figures()
            found.append(ads.startd_ad(startd.machine, startd.base, now, figures))
        if wanted & {"slot.claim", "job"} and query.boolean("Snapshot"):
            claims = (ads.claim_ad(record, startd.slot_ad(record)) for record in startd.machine)
            found += [ad for ad in claims if ad is not None]
        return found

    async def on_claim_command(self, stream: Stream) -> None:
        """Answer a CA_ command: where the starter of a claim listens."""
        request = messages.ClaimCommand.read(await stream.receive()).request
        name = (request.string("Command") or "").upper()
        reply = ClassAd({"MyType": "Reply", "TargetType": "Command"})
        if name != "CA_LOCATE_STARTER":
            reply["Result"] = "InvalidRequest"
            reply["ErrorString"] = f"{name} is not a request this startd answers"
        else:
            await self._locate(request, reply)
        await stream.send(messages.ClaimCommandReply(reply))

    async def _locate(self, request: ClassAd, reply: ClassAd) -> None:
        """Say where the starter of a claim's job is; "Failure" only if no job of the claim is left.

        Whoever hears that starts the job anew.
        """
        startd = self._startd
        claim_id = request.string("ClaimId") or ""
        wanted = request.string("GlobalJobId")
        starter = await self._heard_of(claim_id)
        record = startd.machine.find_claim(claim_id)
        job = record.job if record is not None else None
        if record is None or job is None or not self._runs(record):
            reply["Result"] = "Failure"
            reply["ErrorString"] = "no starter runs for this claim"
            return
        if starter is None or not starter.address:
            reply["Result"] = "CommunicationError"
            reply["ErrorString"] = "the starter has not said yet where it listens"
            return
        if wanted and wanted != job.string("GlobalJobId"):
            reply["Result"] = "Failure"
            reply["ErrorString"] = f"the claim runs another job than {wanted}"
            return
        if record.claim is not None and record.claim.phase is ClaimPhase.ACTIVE:
            schedd = request.string("ScheddIpAddr")
            if schedd:
                self._schedds.note_address(record, schedd)
        for line in startd.slot_ad(record).flattened().lines():
            attribute, _, text = line.partition(" = ")
            if attribute not in {"MyType", "TargetType"}:
                reply.insert_text(attribute, text)
        reply["StarterIpAddr"] = starter.address
        reply["Result"] = "Success"

    def _runs(self, record: SlotRecord) -> bool:
        """Whether a job of the slot's claim runs, or its starter is on its way."""
        begun = record.claim is not None and record.claim.phase is ClaimPhase.ACTIVE
        return begun or self._startd.starters.find(record.slot.activation) is not None

    async def _heard_of(self, claim_id: str) -> StarterProcess | None:
        """Return the starter of a claim's job, when it has said where it listens, or is gone.

        It says so when its job has lasted for a moment, so whoever asks early waits.
        """
        record = self._startd.machine.find_claim(claim_id)
        if record is None or not self._runs(record):
            return None
        starter = self._startd.starters.find(record.slot.activation)
        if starter is not None and not starter.heard.is_set():
            words = [asyncio.ensure_future(each.wait()) for each in (starter.heard, starter.done)]
            try:
                await asyncio.wait(
                    words, timeout=_HEARD_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                for word in words:
                    word.cancel()
        return self._startd.starters.find(record.slot.activation)


def _satisfies(query: ClassAd, ad: ClassAd) -> bool:
    """Whether an ad is asked for; attribute names mean the ad's own."""
    text = query.text("Requirements")
    if text is None:
        return True
    try:
        return ad.evaluate_expression(parse_expression(text, old=True)) is True
    except ClassAdSyntaxError:
        return False


def _project(ad: ClassAd, names: list[str]) -> ClassAd:
    projected = ClassAd()
    for name in names:
        text = ad.text(name)
        if text is not None:
            projected.insert_text(name, text)
    return projected
