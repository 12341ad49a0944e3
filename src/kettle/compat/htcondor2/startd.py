"""`Startd`: drain a machine, vacate its slots, read its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ClassAd as Ad
from kettle.client.daemon import ask_ad, tell
from kettle.compat.classad2 import ClassAd
from kettle.compat.htcondor2.addresses import check_location, sinful_of
from kettle.compat.htcondor2.collector import Collector
from kettle.compat.htcondor2.daemon_enums import CompletionType, DaemonType, DrainType, VacateType
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.history import Constraint, Since, read_history
from kettle.compat.htcondor2.job_enums import HistorySrc
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import ClassAdSyntaxError
from kettle.wire.commands import Command
from kettle.wire.messages.claims import VacateClaim

if TYPE_CHECKING:
    from kettle.wire.sinful import Sinful


class Startd:
    """A startd: this host's, or the one of a location ad."""

    def __init__(self, location: ClassAd | None = None) -> None:
        """Find this host's startd, or take the one that `Collector.locate` found."""
        if location is None:
            location = Collector().locate(DaemonType.Startd)
        self._addr: str = check_location(location)["MyAddress"]

    @property
    def _address(self) -> Sinful:
        return sinful_of(self._addr)

    def drainJobs(  # noqa: N802
        self,
        drain_type: DrainType = DrainType.Graceful,
        on_completion: CompletionType = CompletionType.Nothing,
        check_expr: str | None = None,
        start_expr: str | None = None,
        reason: str | None = None,
    ) -> str:
        """Have all slots give up their jobs and take no new ones; return the request's id.

        Only where `check_expr` is true for every slot; START is `start_expr` meanwhile.
        """
        request = Ad({"HowFast": int(drain_type), "ResumeOnCompletion": int(on_completion)})
        failed = "Startd failed to start draining jobs."
        for name, text in (("check_expr", check_expr), ("start_expr", start_expr)):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{name} must be a string")
            if text is not None:
                try:
                    request.insert_text(_EXPRESSIONS[name], text, check=True)
                except ClassAdSyntaxError as error:
                    raise HTCondorException(failed) from error
        if reason is not None:
            request["DrainReason"] = reason
        answer = self._ask(Command.DRAIN_JOBS, request, failed)
        return answer.string("RequestID") or ""

    def cancelDrainJobs(self, request_id: str | None = None) -> None:  # noqa: N802
        """Stop draining, or stop what one request began."""
        request = Ad({} if request_id is None else {"RequestID": request_id})
        self._ask(Command.CANCEL_DRAIN_JOBS, request, "Startd failed to cancel draining jobs.")

    def _ask(self, command: Command, request: Ad, failed: str) -> Ad:
        with said_as(failed):
            answer = ask_ad(PROCESS.connector, self._address, command, request)
        if answer.boolean("Result") is not True:
            raise HTCondorException(failed)
        return answer

    def vacateSlot(  # noqa: N802
        self, slot_name: str | None = None, vacate_fast: VacateType = VacateType.Graceful
    ) -> None:
        """Have the job in a slot leave it."""
        if not slot_name:
            raise ValueError("slot_name must be a non-empty string")
        fast = int(vacate_fast) == VacateType.Fast
        command = Command.VACATE_CLAIM_FAST if fast else Command.VACATE_CLAIM
        with said_as("Startd failed send to vacate claim command."):
            tell(PROCESS.connector, self._address, command, VacateClaim(slot_name))

    def vacate(self, vacate_fast: VacateType = VacateType.Graceful) -> None:
        """Have all jobs leave the machine."""
        fast = int(vacate_fast) == VacateType.Fast
        command = Command.VACATE_ALL_FAST if fast else Command.VACATE_ALL_CLAIMS
        with said_as("Startd failed send to vacate all claims command."):
            tell(PROCESS.connector, self._address, command)

    def rehome(
        self,
        schedd_name: str | None = None,
        schedd_pool: str | None = None,
        timeout: int = 0,
        cancel: bool = False,
        reboot: bool = False,
    ) -> None:
        """Give the machine to one schedd. A startd of Kettle's refuses."""
        request = Ad({"Timeout": int(timeout), "Cancel": bool(cancel), "Reboot": bool(reboot)})
        if schedd_name:
            request["ScheddName"] = schedd_name
        if schedd_pool:
            request["ScheddPool"] = schedd_pool
        with said_as("Failed to start REHOME command to (null)"):
            ask_ad(PROCESS.connector, self._address, Command.REHOME, request)

    def history(
        self,
        constraint: Constraint = None,
        projection: list[str] = [],  # noqa: B006 - as the wheel has it; never changed
        match: int = -1,
        since: Since = None,
    ) -> list[ClassAd]:
        """Return the records of jobs that ran here, as `Schedd.history`.

        Compat: the wheel cannot take a text for `since`; shown by
        test_the_startds_history_ends_at_a_job.
        """
        return read_history(self._addr, HistorySrc.StartdJob, constraint, projection, match, since)


_EXPRESSIONS = {"check_expr": "CheckExpr", "start_expr": "StartExpr"}
