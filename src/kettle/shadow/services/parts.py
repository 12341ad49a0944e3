"""What a shadow needs of the process it lives in.

`service.ShadowHost` is one; a test may be another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.policy.attribute_protection import ProtectedNames
    from kettle.policy.job_policy import SystemPolicy
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.aside import Aside
    from kettle.runtime.sockets.stream import Stream
    from kettle.runtime.storage.event_logs import EventLogs
    from kettle.runtime.storage.free_space import Reserve
    from kettle.runtime.storage.mounts import Mounts
    from kettle.shadow.services.lines import IdleLines
    from kettle.shadow.services.whereabouts import Whereabouts
    from kettle.wire.messages.shadow_host import HostMessage
    from kettle.wire.security.claim_id import ClaimId
    from kettle.wire.sinful import Sinful


class Host(Protocol):
    """The shadow host, as its shadows see it."""

    runtime: Runtime
    control: Stream
    # Where work on files is done that may take long, and which files are far.
    aside: Aside
    mounts: Mounts
    logs: EventLogs
    lines: IdleLines
    whereabouts: Whereabouts
    schedd_address: str
    protected: ProtectedNames
    system_policy: SystemPolicy
    # GRACEFULLY_REMOVE_JOBS.
    removes_gently: bool
    # How often periodic expressions are evaluated; 0: never.
    policy_seconds: int
    backoff_ceiling: float
    bytes_to_queue: int
    # LIMIT_DIRECTORY_ACCESS.
    limited_to: tuple[str, ...]
    max_input_mb: int
    max_output_mb: int
    chirp_prefix: str
    spool: str
    # What is kept free on the spool's disk and on those of users, whoever's files go there.
    reserve: Reserve
    uid_domain: str

    @property
    def address(self) -> Sinful:
        """Where starters reach this host."""
        ...

    @property
    def address_text(self) -> str:
        """The same as text."""
        ...

    @property
    def version(self) -> str:
        """The version text that peers read."""
        ...

    @property
    def host_name(self) -> str:
        """The name of this machine in hold reasons."""
        ...

    @property
    def borrowed_rights(self) -> str:
        """Whose rights the jobs' files are touched with, if not their owner's."""
        ...

    def steady(self) -> float:
        """The time as it passes, for leases."""
        ...

    def now(self) -> float:
        """The time, in epoch seconds."""
        ...

    def log(self, text: str) -> None:
        """Write a line to the shadow log."""
        ...

    def next_number(self) -> int:
        """Return the next number for a transfer key."""
        ...

    def nodes_mask(self, job: ClassAd) -> frozenset[int] | None:
        """Return the event numbers that a DAG's nodes log wants, None for all."""
        ...

    def tell_schedd(self, message: HostMessage) -> None:
        """Send a word to the schedd."""
        ...

    def add_transfer_session(self, session: ClaimId) -> None:
        """Let the starter that knows this session move its job's files."""
        ...

    def report_bug(self, error: Exception) -> None:
        """Write where a shadow failed."""
        ...
