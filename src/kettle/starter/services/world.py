"""What a starter has around it: clock, processes, privileges, network, log.

The startd's runtime is not ours: a starter is forked bare and makes for itself only what its jobs
need, and the network only once something asks for it. All of it lasts as long as the process; what
belongs to one job is set anew by `begin`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from kettle.attributes.secret_variables import without_secrets
from kettle.classad import ClassAd
from kettle.errors import LanguageError
from kettle.levels import Level
from kettle.policy.ancestors import ancestor
from kettle.runtime.clock import Clock
from kettle.runtime.logs import Log
from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.sockets import host_names
from kettle.runtime.sockets.resolving import ask_resolver
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.runtime.sockets.transport import UNKNOWN_NAME
from kettle.runtime.storage.fences import Fence
from kettle.starter.account import Claimed, is_dedicated
from kettle.starter.argument_syntax import parse_either_environment
from kettle.starter.launch import CannotLaunch
from kettle.starter.limits import Allowance, allow_memory
from kettle.starter.place import Place, Process
from kettle.starter.sandbox import OF_A_STARTER
from kettle.starter.services.chirp_door import ChirpDoor
from kettle.starter.services.job import JobProcesses
from kettle.starter.services.sandbox import KeptSandbox
from kettle.starter.services.view import JobView
from kettle.starter.services.watch import ResourceWatch, SlotGroup, machine_pids
from kettle.starter.settings import StarterSettings
from kettle.wire.commands import CLAIM_COMMANDS, OWNER_COMMANDS, Command
from kettle.wire.security.claim_id import SUBMIT_SIDE, ClaimId
from kettle.wire.sinful import Sinful

Handler = Callable[[Stream], Awaitable[None]]


@dataclass
class StarterWorld:
    """The surroundings of one starter."""

    settings: StarterSettings
    clock: Clock
    processes: SystemProcesses
    privileges: Privileges
    network: SystemNetwork
    log: Log
    # Names the sandbox and marks the job's processes; a simulation has many starters in a process.
    pid: int = field(default_factory=os.getpid)
    slot_group: SlotGroup | None = None
    view: JobView | None = None
    # As whom jobs of this claim run, by what was asked to decide it.
    accounts: dict[tuple[Claimed, str, str], Account] = field(default_factory=dict)
    # What the job before left of its sandbox.
    kept_sandbox: KeptSandbox = field(default_factory=KeptSandbox)
    chirp_door: ChirpDoor = field(default_factory=ChirpDoor)
    # Whose files a job reads and writes where it was submitted, when its schedd is our parent.
    submitter: Account | None = None
    # The shadow of the present job.
    shadow_host: str = ""
    # The sessions of people who look at it.
    owners: list[ClaimId] = field(default_factory=list)
    _handlers: dict[Command, Handler] = field(default_factory=dict)
    # Around the sandbox that is the same for all jobs.
    _fence: Fence | None = None

    def begin(self, shadow: Stream, client: str) -> None:
        """A job begins; `client` is the host of the schedd that claimed the slot.

        A connection whose other end has gone before we had it does not say any more where it came
        from: a shadow that was killed, and is at the same host as its schedd. The job is another
        shadow's soon.
        """
        host = shadow.remote_host
        self.shadow_host = host if host != UNKNOWN_NAME else client.strip("[]") or host

    def place_of(self, slot: ClassAd, slot_name: str, cores: str) -> Place:
        """Return what is the same for all jobs in a slot."""
        own = Process(
            self.pid,
            self.address,
            self.ancestors(),
            self.job_environment(),
            machine_pids(),
            tuple(sorted(os.sched_getaffinity(0))),
        )
        return Place(self.settings, slot, slot_name, own, cores)

    def fence_of(self, place: Place) -> Fence | None:
        """Return what keeps a job's files out of other sandboxes, where its account is not ours.

        Where it is, every job's own processes can reach every sandbox.
        """
        if self._fence is None and self.privileges.can_switch:
            folders = (self.settings.execute, *self.settings.other_executes)
            self._fence = Fence(folders, place.sandbox.root, OF_A_STARTER)
        return self._fence

    def job_processes(self, account: Account, fence: Fence | None = None) -> JobProcesses:
        """Return what starts, measures and ends the processes of a job that runs as `account`."""
        dedicated = is_dedicated(self.settings.accounts, account.name)
        return JobProcesses(
            self.processes,
            self.privileges,
            account,
            dedicated=dedicated,
            files_of=self.submitter,
            fence=fence,
        )

    def confine(
        self, jobs: JobProcesses, place: Place, slot: ClassAd, job: ClassAd, *, transfers: bool
    ) -> ResourceWatch:
        """Shut the job's processes, before there are any, off from others, as far as we can.

        They get a control group and a view of the machine's folders. Return what watches that they
        stay within the slot's limits. CannotLaunch, back to the queue, where the view that jobs
        have here cannot be made for this one: it would see what is others'.
        """
        wanted = place.limits(slot, job)
        jobs.group = self.slot_group.ready(wanted) if self.slot_group is not None else None
        held = (
            jobs.group is not None and self.slot_group is not None and self.slot_group.holds_memory
        )
        if self.view is not None and self.view.possible:
            self._give_view(
                self.view, jobs, place, slot, job, "" if transfers else job.string("Iwd")
            )
        return ResourceWatch(
            self.settings.limits,
            jobs.group,
            # What the kernel holds it holds at once.
            Allowance(wanted.memory)
            if held
            else allow_memory(self.settings.limits, slot, wanted.memory),
            place.allowed_disk,
            self.settings.execute,
            held=held,
        )

    @staticmethod
    def _give_view(
        view: JobView,
        jobs: JobProcesses,
        place: Place,
        slot: ClassAd,
        job: ClassAd,
        needed: str | None,
    ) -> None:
        needed = needed or ""
        folders = place.private_folders(slot, job, needed)
        try:
            view.prepare(
                folders,
                jobs.account,
                shared_memory=place.private_shared_memory(needed),
                hidden=place.hidden_folders,
                shown=place.shown_folders(needed),
                sandbox=place.sandbox.root,
            )
        except OSError as error:
            what = "cannot make the job's own view of the machine"
            raise CannotLaunch(f"{what}: {error.strerror}", 0) from error
        jobs.view = view

    @property
    def address(self) -> str:
        """Where this starter listens."""
        return str(self.network.address)

    def answer_with(self, handlers: dict[Command, Handler]) -> None:
        """Let these answer whoever asks, until there is another job; it has the same commands."""
        first, self._handlers = not self._handlers, handlers
        if first:
            for command in handlers:
                self.network.register(command, self._answer)

    async def _answer(self, stream: Stream) -> None:
        await self._handlers[Command(stream.command)](stream)

    def accept_session(self, claim: ClaimId) -> None:
        """Let whoever knows this id in, as the submit side."""
        if claim.has_session:
            self.network.add_session(
                claim,
                user=SUBMIT_SIDE,
                levels=(Level.DAEMON, Level.CLIENT),
                commands=CLAIM_COMMANDS,
            )

    def accept_owner(self, session: ClaimId, owner: str) -> None:
        """Let the job's owner in, who may look and log in but command nothing."""
        self.network.add_session(session, user=owner, levels=(Level.READ,), commands=OWNER_COMMANDS)
        self.owners.append(session)

    def leave(self) -> None:
        """The job is over: remove the sessions that it gave to others."""
        for session in self.owners:
            self.network.remove_session(session)
        self.owners.clear()
        self.network.hang_up()

    def close(self) -> None:
        """No job comes any more: let go of what was kept for the next one."""
        self.chirp_door.close()
        self.kept_sandbox.remove(self.privileges)

    async def connect(
        self, address: Sinful, command: Command, *, session: ClaimId | None
    ) -> Stream:
        """Open a connection that begins with a command."""
        return await self.network.connect(address, command, session=session)

    async def is_submit_host_ours(self) -> bool:
        """Whether the shadow's host is this machine, or has a name in our UID domain."""
        address, domain = self.shadow_host, self.settings.uid_domain
        if not address or host_names.is_own_address(address):
            return True
        return await ask_resolver(partial(host_names.is_in_domain, address, domain))

    def home_of(self, account: Account) -> str:
        """Return the home directory of the job's account, empty if there is none."""
        return account.home if account.home and os.path.isdir(account.home) else ""

    def ancestors(self) -> dict[str, str]:
        """Return the markers by which processes of jobs are found again, whoever adopts them.

        One per level: startd, starter; the value names the process below it, its birth and a
        number that nobody can guess.
        """
        born, me = int(self.clock.now()), self.pid
        secret = int.from_bytes(os.urandom(4), "big")
        return {
            ancestor(os.getppid()): f"{me}:{born}:{secret}",
            ancestor(me): f"{me}:{born}:{secret}",
        }

    def job_environment(self) -> dict[str, str]:
        """Return what every job gets: STARTER_JOB_ENVIRONMENT, and what it is to inherit of us."""
        try:
            configured = parse_either_environment(self.settings.job_environment)
        except LanguageError as error:
            self.log.problem(f"STARTER_JOB_ENVIRONMENT is left out: {error}")
            configured = {}
        inherited = choose_inherited(self.settings.inherits_environment, os.environ)
        return {**inherited, **configured}


def choose_inherited(wanted: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what jobs get of a starter's environment: all, what is named, never its secrets."""
    words = wanted.replace(",", " ").split()
    if not words or wanted.strip().lower() == "false":
        return {}
    passed = without_secrets(environment)
    if wanted.strip().lower() == "true":
        return passed
    return {name: value for name, value in passed.items() if name in words}
