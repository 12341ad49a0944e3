"""What each part of a starter needs of the others, about the one job that it runs.

`service.Starter` is one; a test may be another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

    from kettle.classad import ClassAd
    from kettle.records.job_trace import Step
    from kettle.starter.conversation import Way
    from kettle.starter.exit_pipeline import ExitPipeline
    from kettle.starter.launch import LaunchPlan
    from kettle.starter.limits import Excess
    from kettle.starter.outcome import Vacate
    from kettle.starter.place import Place
    from kettle.starter.sandbox import Sandbox
    from kettle.starter.services.control import StartdControl
    from kettle.starter.services.job import JobProcesses
    from kettle.starter.services.sandbox import SandboxKeeper
    from kettle.starter.services.shadow import ShadowLink
    from kettle.starter.services.streams import StreamedFiles
    from kettle.starter.services.world import StarterWorld
    from kettle.starter.settings import StarterSettings
    from kettle.wire.dialog import Dialog
    from kettle.wire.messages.starter_control import StarterActivation

T = TypeVar("T")


class Reports(Protocol):
    """What is said of the job; `state` is JobState, empty before its program began."""

    state: str

    def info_with_slot(self) -> ClassAd:
        """Return who runs the job and where, with the whole ad of the slot."""
        ...

    def update(self) -> ClassAd:
        """Return the present update ad."""
        ...

    def final(self, status: int | None) -> ClassAd:
        """Return the final update: usage and how the job ended, from its wait status."""
        ...


class Transfer(Protocol):
    """The job's files on their way."""

    bytes_sent: int
    bytes_received: int
    spooled: list[str] | None

    def has_output(self) -> bool:
        """Whether the job that has ended left anything to be sent."""
        ...

    async def send_output(self, *, final: bool, attribute: str = "TransferOutput") -> None:
        """Send the job's output to the shadow; TransferFailed says what to do with the job."""
        ...

    def break_off(self, vacate: Vacate) -> None:
        """Send no more of the output: the job has to leave."""
        ...

    async def send_checkpoint(self, number: int) -> None:
        """Send a checkpoint to the shadow's spool, or to its destination."""
        ...


class Programs(Protocol):
    """The job's programs."""

    # Set when none is left to follow.
    ended: asyncio.Event

    def signal(self, number: int) -> None:
        """Ask what runs to leave."""
        ...


class Orders(Protocol):
    """What is ordered of the job."""

    def lose_for_good(self) -> None:
        """End the job: its shadow was away for the whole lease."""
        ...


class Starter(Protocol):
    """The starter of a job, as its parts see it."""

    activation: StarterActivation
    job: ClassAd
    slot: ClassAd
    place: Place
    settings: StarterSettings
    world: StarterWorld
    control: StartdControl
    shadow: ShadowLink
    sandbox: Sandbox
    streams: StreamedFiles
    # Whether files travel at all.
    transfers: bool
    # How much has to be said to the shadow.
    way: Way
    # What the job said by chirp and the shadow has still to hear, as expressions by name.
    delayed: dict[str, str]
    plan: LaunchPlan | None
    # Why the job was told to leave, once it was.
    vacate: Vacate | None
    # Whether this process may run another job afterwards.
    may_stay: bool
    # The KiB that the job left in private folders outside its sandbox, once it has ended.
    private_kib: int
    # Set when the job's first process was started.
    begun: asyncio.Event
    # Set when the startd wants the activation to end.
    deactivated: asyncio.Event

    @property
    def keeper(self) -> SandboxKeeper:
        """The sandbox on disk; there is one once the job's account is known."""
        ...

    @property
    def jobs(self) -> JobProcesses:
        """The job's processes; known together with the sandbox."""
        ...

    @property
    def had(self) -> ClassAd:
        """What the job was given here, for the startd's record of it; nobody changes it."""
        ...

    @property
    def programs(self) -> Programs:
        """The job's programs."""
        ...

    @property
    def orders(self) -> Orders:
        """What is ordered of the job."""
        ...

    @property
    def reports(self) -> Reports:
        """What is said of the job."""
        ...

    @property
    def transfer(self) -> Transfer:
        """The job's files on their way."""
        ...

    @property
    def pipeline(self) -> ExitPipeline:
        """The steps of the job's end."""
        ...

    @property
    def launch_plan(self) -> LaunchPlan:
        """What is started; there is a plan once everything else is prepared."""
        ...

    @property
    def job_started(self) -> bool:
        """Whether the job's first process was started."""
        ...

    def log(self, text: str) -> None:
        """Write a line to the starter's log."""
        ...

    def trace(self, step: Step, detail: str = "") -> None:
        """Leave a line of the job's step in the log, where that is wanted."""
        ...

    async def call(self, make: Callable[[], Dialog[T]]) -> T:
        """Make a call to the shadow."""
        ...

    def on_job_started(self, pid: int) -> None:
        """The job itself runs."""
        ...

    def stop_looking(self) -> None:
        """End the periodic reports and looks."""
        ...

    def give_up(self, excess: Excess) -> None:
        """End the job and tell the shadow why it cannot go on here."""
        ...

    def killed_by_kernel(self) -> Excess | None:
        """Return what to say if the kernel has killed for want of memory."""
        ...

    def report_failure(self, message: str, code: int, subcode: int) -> Coroutine[Any, Any, None]:
        """Tell the shadow that the job cannot go on here."""
        ...
