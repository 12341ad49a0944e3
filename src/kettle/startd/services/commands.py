"""Everything a startd is asked that is not about one claim: vacate, drain, locate, query.

(Wire notes, Draining; Queries.)
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError
from kettle.runtime.sockets.stream import Stream
from kettle.startd import ads
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import ClaimPhase
from kettle.startd.machine import Drain, SlotRecord
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.messages.collector import Query, QueryReply

if TYPE_CHECKING:
    from kettle.startd.service import StartdService

# ErrorCode of a refused drain.
_ALREADY_DRAINING = 10001
_NO_SUCH_DRAIN = 10002
_CHECK_FAILED = 10003


class OtherCommands:
    """Answers everybody else."""

    def __init__(self, service: StartdService) -> None:
        self._service = service

    def register(self) -> None:
        """Make the commands known to the network."""
        register = self._service.runtime.network.register
        register(Command.VACATE_CLAIM, self.on_vacate)
        register(Command.VACATE_CLAIM_FAST, self.on_vacate)
        register(Command.VACATE_ALL_CLAIMS, self.on_vacate_all)
        register(Command.VACATE_ALL_FAST, self.on_vacate_all)
        register(Command.DRAIN_JOBS, self.on_drain)
        register(Command.CANCEL_DRAIN_JOBS, self.on_cancel_drain)
        register(Command.GIVE_STATE, self.on_give_state)
        register(Command.QUERY_STARTD_ADS, self.on_query)
        register(Command.QUERY_MULTIPLE_ADS, self.on_query)
        register(Command.GET_HISTORY, self._service.history.answer)
        register(Command.CA_CMD, self.on_claim_command)
        register(Command.CA_AUTH_CMD, self.on_claim_command)

    # ---- vacate -------------------------------------------------------------------------------

    async def on_vacate(self, stream: Stream) -> None:
        """condor_vacate of one slot."""
        name = messages.VacateClaim.read(await stream.receive()).slot_name
        record = self._service.machine.find(name)
        if record is not None:
            self._vacate(record, fast=stream.command == Command.VACATE_CLAIM_FAST)

    async def on_vacate_all(self, stream: Stream) -> None:
        """condor_vacate of the whole machine."""
        for record in self._service.machine:
            self._vacate(record, fast=stream.command == Command.VACATE_ALL_FAST)

    def _vacate(self, record: SlotRecord, *, fast: bool) -> None:
        self._service.apply(record, ev.VacateAsked(fast))

    # ---- drain --------------------------------------------------------------------------------

    async def on_drain(self, stream: Stream) -> None:
        """Begin to drain, or say why not."""
        request = messages.DrainJobs.read(await stream.receive()).request
        service = self._service
        reply = ClassAd()
        problem = self._drain_problem(request)
        if problem is not None:
            reply["Result"] = False
            reply["ErrorCode"], reply["ErrorString"] = problem
        else:
            drain = Drain(
                request_id=secrets.token_hex(8),
                how_fast=request.integer("HowFast") or 0,
                on_completion=request.integer("ResumeOnCompletion") or 0,
                reason=request.string("DrainReason") or "by command",
                started_at=service.runtime.clock.steady(),
                start_expression=request.text("StartExpr") or "",
            )
            service.machine.drain = drain
            service.machine.last_drain_started_at = drain.started_at
            reply["Result"] = True
            reply["RequestID"] = drain.request_id
            service.begin_drain()
        await stream.send(messages.DrainJobsReply(reply))

    def _drain_problem(self, request: ClassAd) -> tuple[int, str] | None:
        service = self._service
        if service.machine.drain is not None:
            return _ALREADY_DRAINING, "Draining already in progress, cannot initiate draining."
        expression = request.lookup("CheckExpr")
        if expression is not None:
            text = request.text("CheckExpr") or "true"
            for record in service.machine:
                probe = service.slot_ad(record, policy=True)
                probe.insert_text("KettleDrainCheck", text)
                if probe.evaluate("KettleDrainCheck") is not True:
                    return _CHECK_FAILED, f"Sanity check failed for slot {record.name}: {text}"
        return None

    async def on_cancel_drain(self, stream: Stream) -> None:
        """Stop draining; the slots go back to service."""
        request = messages.CancelDrainJobs.read(await stream.receive()).request
        drain = self._service.machine.drain
        wanted = request.string("RequestID")
        reply = ClassAd()
        if drain is None and not wanted:
            reply["Result"] = True
        elif drain is None or (wanted and wanted != drain.request_id):
            reply["Result"] = False
            reply["ErrorCode"] = _NO_SUCH_DRAIN
            reply["ErrorString"] = "No matching draining request id found."
        else:
            reply["Result"] = True
            self._service.end_drain()
        await stream.send(messages.DrainJobsReply(reply))

    def complete_drain(self, drain: Drain) -> None:
        """All slots are drained: do what the request wanted then."""
        if drain.on_completion == messages.DrainCompletion.RESUME:
            self._service.end_drain()
        elif drain.on_completion in {
            messages.DrainCompletion.EXIT,
            messages.DrainCompletion.RESTART,
        }:
            self._service.runtime.stop("graceful")
        elif drain.on_completion == messages.DrainCompletion.RECONFIG:
            self._service.end_drain()

    # ---- questions ----------------------------------------------------------------------------

    async def on_give_state(self, stream: Stream) -> None:
        """Say the state of the machine's first slot."""
        first = next(iter(self._service.machine), None)
        state = first.slot.phase.state if first is not None else "None"
        await stream.send(messages.GiveStateReply(state))

    async def on_query(self, stream: Stream) -> None:
        """Answer a query for our own ads, as a collector would."""
        query = Query.read(await stream.receive()).query
        service = self._service
        wanted = {t.lower() for t in (query.string("TargetType") or "Machine").split(",")}
        found: list[ClassAd] = []
        if wanted & {"machine", "any", "startd", ""} and wanted != {"startd"}:
            found += [service.slot_ad(record) for record in service.machine]
        if "startd" in wanted or "any" in wanted:
            now = service.runtime.clock.steady()
            figures = service.runtime.self_figures()
            found.append(ads.startd_ad(service.machine, service.base, now, figures))
        limit = query.integer("LimitResults") or len(found)
        matching = [ad for ad in found if _satisfies(query, ad)][: max(0, limit)]
        projection = query.string("Projection")
        if projection:
            names = projection.replace(",", " ").split()
            matching = [_project(ad, names) for ad in matching]
        await stream.send(QueryReply(matching))

    async def on_claim_command(self, stream: Stream) -> None:
        """Answer a CA_ command: where the starter of a claim listens."""
        request = messages.ClaimCommand.read(await stream.receive()).request
        name = (request.string("Command") or "").upper()
        reply = ClassAd({"MyType": "Reply", "TargetType": "Command"})
        if name != "CA_LOCATE_STARTER":
            reply["Result"] = "InvalidRequest"
            reply["ErrorString"] = f"{name} is not a request this startd answers"
        else:
            self._locate(request, reply)
        await stream.send(messages.ClaimCommandReply(reply))

    def _locate(self, request: ClassAd, reply: ClassAd) -> None:
        service = self._service
        record = service.machine.find_claim(request.string("ClaimId") or "")
        starter = service.starters.find(record.slot.activation) if record is not None else None
        wanted = request.string("GlobalJobId")
        job = record.job if record is not None else None
        if record is None or starter is None or not starter.address or job is None:
            reply["Result"] = "Failure"
            reply["ErrorString"] = "no starter runs for this claim"
            return
        if wanted and wanted != job.string("GlobalJobId"):
            reply["Result"] = "Failure"
            reply["ErrorString"] = f"the claim runs another job than {wanted}"
            return
        if record.claim is not None and record.claim.phase is ClaimPhase.ACTIVE:
            schedd = request.string("ScheddIpAddr")
            if schedd:
                service.claims.note_schedd(record, schedd)
        for line in service.slot_ad(record).flattened().lines():
            attribute, _, text = line.partition(" = ")
            if attribute not in {"MyType", "TargetType"}:
                reply.insert_text(attribute, text)
        reply["StarterIpAddr"] = starter.address
        reply["Result"] = "Success"


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
