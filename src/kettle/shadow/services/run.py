"""One run of a job as its shadow knows it: the claim, the connection, what was asked and reported.

The facts, and the few answers that follow from them alone. What is done with them is the other
modules': `services/shadow.py` lives the run, `services/calls.py` answers the starter,
`services/transfers.py` moves files, `services/reconnect.py` looks for a lost starter,
`services/ending.py` closes the run.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import TYPE_CHECKING

from kettle.attributes.job import STARTER_ADDRESS
from kettle.classad import ClassAd
from kettle.policy.lease import lease_of_run
from kettle.records.event_kinds import JobHeldEvent
from kettle.shadow.activation import Activation
from kettle.shadow.endings import Ending, ExitReport, Request, Wish, is_start_counted
from kettle.shadow.leaving import REMOVALS
from kettle.shadow.services.claim import ClaimLink
from kettle.shadow.services.files import RemoteFiles
from kettle.shadow.services.parts import Host
from kettle.shadow.services.record import RECORDED_SHARE
from kettle.shadow.services.transfer_record import TransferRecord
from kettle.shadow.shadow_machine import Event, begin
from kettle.wire.security.claim_id import ClaimId

if TYPE_CHECKING:
    from kettle.records.event_base import Event as LogEvent
    from kettle.runtime.sockets.stream import Stream
    from kettle.shadow.services.kept_ads import CommonAd
    from kettle.wire.messages.shadow_host import StartShadow

# How long a renewal may be on its way into the queue.
RECORDED_SECONDS = 60.0
# How long the starter of a run that is taken over is looked for, however long ago it was heard of.
LOOKED_FOR_SECONDS = 300.0


class Run(TransferRecord):
    """The state of one run; the shadow that lives it says what happens."""

    __slots__ = (
        "activation",
        "claim",
        "claim_accepted",
        "end_told",
        "files",
        "goes_on",
        "hold_told",
        "left_told",
        "link",
        "program_ended",
        "reason",
        "refusal",
        "report",
        "request",
        "reusable",
        "skipped",
        "startd_address",
        "starter_address",
        "state",
        "stream",
        "told",
        "wake",
    )

    def __init__(self, host: Host, start: StartShadow, common: CommonAd | None) -> None:
        super().__init__(host, start, common)
        self.claim = ClaimId(self.job.string("ClaimId") or "")
        # Whether the schedd was told that the run is over.
        self.end_told = False
        self.startd_address = (
            start.startd_address or self.job.string("StartdIpAddr") or self.claim.address
        )
        self.link = ClaimLink(host.runtime.network, self.claim, self.startd_address)
        reconnect = start.reconnect
        self.state, _ = begin(reconnect=reconnect, executed=is_start_counted(self.job))
        if self.state.reconnecting:
            self.last_contact -= self._silent_seconds()
        self.stream: Stream | None = None
        self.starter_address = self.job.string(STARTER_ADDRESS) or ""
        # Whether the claim's own session may be used for file transfer too.
        self.claim_accepted = False
        self.request: Request | None = None
        self.report: ExitReport | None = None
        self.activation = Activation()
        # Whether the starter said that the program has ended, or waits for its checkpoint's way.
        self.program_ended = False
        # Whether the job ends without a run, as its output is there already (skip_if_dataflow).
        self.skipped = False
        # Whether the log has it off its machine and held, before it has left; and held still.
        self.left_told = False
        self.hold_told = False
        # How this run ended, if an earlier shadow of it wrote its last events already.
        self.told: Ending | None = None
        self.files: RemoteFiles | None = None
        self.wake = asyncio.Event()
        self.reason = ""
        # The startd's VacateReasonCode, where it refused the job.
        self.refusal = 0
        self.reusable = False
        # Whether the claim may run another job, where the starter says so with the job's end.
        self.goes_on: bool | None = None
        self.set_attributes(
            MyAddress=host.address_text,
            TransferKey=self.transfer_key,
            TransferSocket=host.address_text,
        )

    def _silent_seconds(self) -> float:
        """Return for how long the starter of a run that is taken over has not been heard, at most.

        The queue may know of a lease that is older than the starter's, by as much as was left
        unrecorded; and the clock that it was written by may have been set since.
        """
        lease, now = self.lease_seconds, self.host.now()
        recorded = self.job.integer("LastJobLeaseRenewal")
        if recorded is None:
            return 0.0
        age = now - recorded - lease * RECORDED_SHARE - RECORDED_SECONDS
        return min(max(0.0, age), lease - LOOKED_FOR_SECONDS)

    @property
    def may_live_on(self) -> bool:
        """Whether a program that nobody heard the end of could get a second one beside it."""
        removed = self.request is not None and self.request.wish in REMOVALS
        return self.state.executed and not self.state.exit_known and not removed

    @abstractmethod
    async def happen(self, event: Event) -> None:
        """Apply an event to the machine and do what it says."""

    @abstractmethod
    async def fail(self, request: Request) -> None:
        """End the run because of an error that the starter, or a transfer, reported."""

    @abstractmethod
    async def note_job_state(self, ad: ClassAd) -> None:
        """See whether the starter says that the job was stopped or goes on."""

    @abstractmethod
    async def note_program_end(self) -> None:
        """The starter says that the program has ended; its files may be on their way."""

    @abstractmethod
    def look_at_policy(self) -> None:
        """Look at a running job's policy now: something is known that it may be about."""

    @abstractmethod
    def watch_policy(self) -> None:
        """Set the timer for the next look at the job's policy."""

    @property
    def wants_no_files(self) -> bool:
        """Whether the job is removed, and nobody waits for what it has written."""
        request = self.request
        return request is not None and request.wish in REMOVALS and not request.brings_output

    def write_event(self, event: LogEvent) -> None:
        """Write an event into the job's logs, but none after its last one.

        A job that was held before it has left may be released meanwhile, and be held once more.
        """
        if self.left_told and not isinstance(event, JobHeldEvent):
            return
        if self.request is None or self.request.wish is not Wish.FORGET:
            super().write_event(event)

    def ad_for_the_starter(self) -> ClassAd:
        """Return the job's ad with what a starter has to know beside."""
        ad = self.job.copy()
        host = self.host
        ad["ClaimId"] = self.claim.text
        ad["PublicClaimId"] = self.claim.public
        ad["StartdIpAddr"] = self.startd_address
        ad["ShadowIpAddr"] = host.address_text
        ad["ShadowVersion"] = host.version
        ad["UidDomain"] = host.uid_domain
        # What we go by ourselves: it may have been edited, or be an expression that changes.
        lease = lease_of_run(self.job) or 0
        if ad.text("JobLeaseDuration") != str(lease) and (lease or "JobLeaseDuration" in ad):
            ad["JobLeaseDuration"] = lease
        return ad

    def accept_claim_session(self) -> None:
        """Let a starter that asked for no session of its own move files with its claim's."""
        needed = self.job.string("ShouldTransferFiles") != "NO" and self.transfer_session is None
        if needed and not self.claim_accepted and self.claim.has_session:
            self.claim_accepted = True
            self.host.add_transfer_session(self.claim)
