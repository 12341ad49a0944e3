"""The master's hands: it forks daemons, signals them, waits for them, and advertises itself.

What happens to a daemon when is decided in `child_machine`; which daemons there are in
`daemons`. The collector comes first, because everybody else looks for its address.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from kettle.config.knobs.master import MasterKnobs
from kettle.errors import ConfigError, KettleError, StorageError
from kettle.master import child_machine as machine
from kettle.master.ads import describe, master_ad, readiness_ad, serves
from kettle.master.child_machine import DaemonState, Effect, Event, How, Phase
from kettle.master.daemons import FIRST, DaemonPlan, plan_daemons
from kettle.master.services.commands import MasterCommands
from kettle.master.services.metrics import MetricsService
from kettle.master.services.orphans import Orphans
from kettle.master.services.output import Output
from kettle.master.services.programs import program_times, read_capabilities
from kettle.runtime import tasks
from kettle.runtime.credentials import make_pool_key
from kettle.runtime.process.forked import encode_call
from kettle.runtime.process.inheritance import (
    Inheritance,
    render_inheritance,
    without_inheritance,
)
from kettle.runtime.process.processes import Child
from kettle.runtime.self_monitor import describe_host
from kettle.runtime.service_manager import notify
from kettle.runtime.sockets.collectors import Advertiser, read_address_file
from kettle.wire.commands import Command
from kettle.wire.security.claim_id import mint_session_id
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.runtime.context import Runtime

_SIGNALS = {How.GRACEFUL: signal.SIGTERM, How.FAST: signal.SIGQUIT, How.KILL: signal.SIGKILL}
_HOWS = {"graceful": How.GRACEFUL, "fast": How.FAST, "peaceful": How.PEACEFUL}
# How long the others wait for the collector's address; then they start and look for it themselves.
_COLLECTOR_SECONDS = 20.0
_ADDRESS_CHECK_SECONDS = 0.005
_FAREWELL_SECONDS = 2.0


class MasterService:
    """One condor_master."""

    # What every daemon of ours needs; forks of it start at once.
    preload = (
        "uvloop",
        "kettle.runtime.process.forked",
        "kettle.runtime.daemon",
        "cryptography.hazmat.primitives.ciphers.aead",
        "cryptography.hazmat.primitives.asymmetric.ec",
        "cryptography.hazmat.primitives.serialization",
        "kettle.wire.security.methods.fs",
    )

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._plans: dict[str, DaemonPlan] = {}
        self._states: dict[str, DaemonState] = {}
        self._children: dict[str, Child] = {}
        self._orphans = Orphans(runtime)
        # The daemons that run jobs and have not been reaped, also what DAEMON_LIST lost meanwhile.
        self._with_jobs: set[int] = set()
        # How many daemons are dead whose jobs' processes are being ended.
        self._cleaning = 0
        self._hang_timers: dict[int, asyncio.TimerHandle] = {}
        # Where daemons said that they are, with the pid that said so.
        self._told_addresses: dict[str, tuple[int, Sinful]] = {}
        self._changed = asyncio.Event()
        self._advertiser = Advertiser(runtime)
        self._metrics = MetricsService(runtime, self._find_address)
        self._family = mint_session_id(
            f"family:{secrets.token_hex(24)}", secrets.token_bytes(32)
        ).text
        self._pipe = -1
        self._pipe_kept = -1
        self._shutdown_program: list[str] | None = None
        self._told_manager = False
        self._lock = -1
        self._updates: asyncio.TimerHandle | None = None
        self._update_soon: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Register the commands and begin to start the daemons.

        Raises StorageError if another master works with the same LOG folder.
        """
        self._take_lock()
        self._runtime.network.add_family(self._family)
        self._runtime.network.on_moved(self._advertise_soon)
        # Nobody writes into this pipe; it ends when we do, however we end.
        self._pipe, self._pipe_kept = os.pipe()
        MasterCommands(self._runtime, self).register()
        self._read_plans(self._runtime.config)
        if "COLLECTOR" in self._plans:
            # The key that the pool's tokens are signed with, as the reference makes it by itself.
            try:
                make_pool_key(self._runtime.config)
            except StorageError as error:
                self._runtime.log.problem(f"No tokens can be signed: {error}")
        self._note_states()
        await self._metrics.configure()
        tasks.spawn(self._start_all(), "starting the daemons")
        tasks.repeat(Output(self._runtime).keep_short, "output")

    def _take_lock(self) -> None:
        """Hold LOG/InstanceLock for as long as this process lives; our pid stands in it."""
        folder = self._runtime.config.get("LOG")
        if folder is not None:
            self._lock = self._runtime.files.lock(
                os.path.join(folder, "InstanceLock"), f"{os.getpid()}\n"
            )

    def restore(self) -> None:
        """Hold the lock where others look for it: its file may have been deleted; StorageError."""
        if self._lock >= 0 and os.fstat(self._lock).st_nlink == 0:
            old = self._lock
            self._take_lock()
            os.close(old)

    def check(self, config: Config) -> None:
        """Raise ConfigError where DAEMON_LIST is none."""
        plan_daemons(config)

    async def reconfigure(self, config: Config) -> None:
        """Start and stop what DAEMON_LIST gained and lost; pass the word on to the others."""
        try:
            wanted = {plan.name for plan in plan_daemons(config)}
        except ConfigError as error:
            self._runtime.log.problem(f"The daemons stay as they are: {error}")
            return
        for name in [name for name in self._plans if name not in wanted]:
            self.turn_off(name, How.GRACEFUL)
        before = set(self._plans)
        self._read_plans(config)
        for name in wanted - before:
            self.turn_on(name)
        for child in self._children.values():
            child.signal(signal.SIGHUP)
        await self._metrics.configure()
        self._note_states()
        self._advertise()

    async def shut_down(self, how: str) -> None:
        """Stop every daemon, those that serve the others last, and withdraw the ad."""
        notify("STOPPING=1")
        if self._updates is not None:
            self._updates.cancel()
        if self._update_soon is not None:
            self._update_soon.cancel()
        others = [name for name in self._states if name not in FIRST]
        await self._stop_and_wait(others, _HOWS[how])
        if self._advertiser.connected:
            identity = self._runtime.identity
            self._advertiser.invalidate(
                Command.INVALIDATE_MASTER_ADS, "DaemonMaster", identity.name
            )
            await self._advertiser.flush(_FAREWELL_SECONDS)
        await self._advertiser.close()
        await self._stop_and_wait(list(self._states), _HOWS[how])
        await self._metrics.close()
        self._runtime.log("All daemons are gone.  Exiting.")
        if self._shutdown_program is not None and self._runtime.replace_with is None:
            self._runtime.replace_with = self._shutdown_program

    # What commands ask for.

    def turn_all_on(self) -> None:
        """Start every daemon of the list."""
        tasks.spawn(self._start_all(), "starting the daemons")

    def turn_all_off(self, how: How) -> None:
        """Stop every daemon; the master stays."""
        tasks.spawn(self._turn_all_off(how), "stopping the daemons")

    def turn_on(self, name: str) -> bool:
        """Start one daemon; False if there is none of that name."""
        return self._deliver(name, machine.TurnedOn())

    def turn_off(self, name: str, how: How) -> bool:
        """Stop one daemon; False if there is none of that name."""
        return self._deliver(name, machine.TurnedOff(how))

    def restart_everything(self, how: str) -> None:
        """Stop every daemon and the master, and begin anew in this process."""
        self._runtime.replace_with = [sys.executable, "-P", "-m", "kettle.master", *sys.argv[1:]]
        self._runtime.stop(how)

    def set_shutdown_program(self, name: str) -> bool:
        """Run the program MASTER_SHUTDOWN_<name> at the end; False if there is none."""
        program = self._runtime.config.get(f"MASTER_SHUTDOWN_{name}")
        self._shutdown_program = [program] if program else None
        return program is not None

    def on_ready(self, pid: int, address: Sinful | None = None) -> None:
        """A daemon serves requests, at that address if it says so."""
        for name, state in list(self._states.items()):
            if state.pid == pid:
                if address is not None:
                    self._told_addresses[name] = (pid, address)
                self._deliver(name, machine.BecameReady(pid))

    def on_alive(self, pid: int, seconds: float) -> None:
        """A daemon is alive and will say so again within that time."""
        for name, state in list(self._states.items()):
            if state.pid == pid:
                if not self._plans[name].module:
                    self.on_ready(pid)  # Somebody else's daemon says no more than this.
                timer = self._hang_timers.pop(pid, None)
                if timer is not None:
                    timer.cancel()
                self._hang_timers[pid] = asyncio.get_running_loop().call_later(
                    seconds, self._deliver, name, machine.Hung(state.run)
                )

    def readiness(self, *, with_addresses: bool = False) -> ClassAd:
        """The states of all daemons."""
        addresses = {}
        if with_addresses:
            addresses["MASTER"] = str(self._runtime.network.address)
            for name in self._plans:
                found = self._find_address(name)
                if found is not None:
                    addresses[name] = str(found)
        return readiness_ad(
            self._states.values(), pid=self._runtime.identity.pid, addresses=addresses
        )

    def _find_address(self, name: str) -> Sinful | None:
        """Return where a daemon is: what its file says, else what it said itself."""
        found = read_address_file(self._plans[name].address_file, self._runtime.files)
        if found is None and name in self._told_addresses:
            pid, address = self._told_addresses[name]
            return address if self._states[name].pid == pid else None
        return found

    async def change(self) -> None:
        """Wait until a daemon's state is another."""
        self._changed.clear()
        await self._changed.wait()

    # Starting and stopping several.

    async def _start_all(self) -> None:
        names = list(self._plans)
        for name in names:
            if name in FIRST:
                self._prepare_first(name)
                self.turn_on(name)
                await self._wait_for_address(name)
        for name in names:
            if name not in FIRST:
                self.turn_on(name)
        self._advertise()
        self._tell_manager()

    def _tell_manager(self) -> None:
        """Say once that all daemons serve requests."""
        if self._told_manager or self._updates is None:
            return
        waiting = [
            name
            for name, state in self._states.items()
            if state.phase is not Phase.OFF and not state.ready
        ]
        self._told_manager = not waiting
        if waiting:
            notify(f"STATUS=waiting for {', '.join(waiting)}")
        else:
            notify("READY=1\nSTATUS=All daemons are ready")

    def _prepare_first(self, name: str) -> None:
        """Remove an address that an earlier process left behind: the others would believe it."""
        if self._states[name].phase in {Phase.OFF, Phase.WAITING}:
            self._forget_address(self._plans[name])

    def _forget_address(self, plan: DaemonPlan) -> None:
        """Take away where a daemon that is gone was found, as far as the disk lets us."""
        if plan.address_file:
            try:
                self._runtime.files.remove(plan.address_file)
            except KettleError as error:
                self._runtime.log.problem(f"the address of a daemon that is gone stays: {error}")

    async def _wait_for_address(self, name: str) -> None:
        path = self._plans[name].address_file
        if not path:
            return
        try:
            async with asyncio.timeout(_COLLECTOR_SECONDS):
                while not self._runtime.files.exists(path):  # noqa: ASYNC110
                    await asyncio.sleep(_ADDRESS_CHECK_SECONDS)
        except TimeoutError:
            self._runtime.log.problem(
                f"{name} has written no address for {_COLLECTOR_SECONDS:g} seconds; going on"
            )

    async def _turn_all_off(self, how: How) -> None:
        await self._stop_and_wait([name for name in self._states if name not in FIRST], how)
        await self._stop_and_wait(list(self._states), how)

    async def _stop_and_wait(self, names: list[str], how: How) -> None:
        for name in names:
            self._deliver(name, machine.TurnedOff(how))
        while any(self._states[name].phase is not Phase.OFF for name in names):
            await self.change()

    # The machine and its effects.

    def _read_plans(self, config: Config) -> None:
        self._plans = {plan.name: plan for plan in plan_daemons(config)}
        for plan in self._plans.values():
            state = self._states.get(plan.name) or DaemonState(plan.name)
            self._states[plan.name] = replace(
                state, backoff=plan.backoff, stop_times=plan.stop_times
            )

    def _deliver(self, name: str, event: Event) -> bool:
        """Give a daemon's machine an event and do what it asks for."""
        state = self._states.get(name)
        if state is None:
            return False
        state, effects = machine.step(state, event, self._runtime.clock.steady())
        self._states[name] = state
        self._note_states()
        for effect in effects:
            self._perform(name, effect)
        self._changed.set()
        if effects or isinstance(event, machine.BecameReady):
            self._advertise_soon()
            self._tell_manager()
        return True

    def _note_states(self) -> None:
        """Tell whoever watches the state of every daemon of the list."""
        self._metrics.note(
            {
                name: (describe(state), serves(state))
                for name, state in self._states.items()
                if name in self._plans
            },
            {
                name: state.pid
                for name, state in self._states.items()
                if name in self._plans and state.phase is Phase.RUNNING and state.ready
            },
        )

    def _perform(self, name: str, effect: Effect) -> None:
        if isinstance(effect, machine.StartDaemon):
            tasks.spawn(self._start(name, effect.run), f"starting {name}")
        elif isinstance(effect, machine.StopDaemon):
            self._stop(name, effect)
        elif isinstance(effect, machine.SetTimer):
            delay = max(0.0, effect.at - self._runtime.clock.steady())
            event = machine.TimeUp(effect.timer)
            asyncio.get_running_loop().call_later(delay, self._deliver, name, event)
        else:
            self._runtime.log(effect.text)

    async def _start(self, name: str, run: int) -> None:
        plan = self._plans.get(name)
        if plan is None:
            self._deliver(name, machine.StartFailed(run, "it is no longer in DAEMON_LIST"))
            return
        try:
            child = await (self._fork(plan) if plan.module else self._spawn(plan))
        except (KettleError, OSError) as error:
            self._deliver(name, machine.StartFailed(run, str(error)))
            return
        self._children[name] = child
        if plan.runs_jobs:
            self._with_jobs.add(child.pid)
        self._deliver(name, machine.Started(run, child.pid))
        if not plan.speaks:
            self._deliver(name, machine.BecameReady(child.pid))
        child.on_exit(lambda ended: self._on_exit(name, run, ended))

    def _on_exit(self, name: str, run: int, child: Child) -> None:
        assert child.status is not None
        if self._children.get(name) is child:
            del self._children[name]
        timer = self._hang_timers.pop(child.pid, None)
        if timer is not None:
            timer.cancel()
        plan = self._plans.get(name)
        if plan is not None:
            # A daemon that was killed could not take its address back itself.
            self._forget_address(plan)
        exited = machine.Exited(run, os.waitstatus_to_exitcode(child.status))
        if child.pid in self._with_jobs:
            self._with_jobs.discard(child.pid)
            self._cleaning += 1
            tasks.spawn(self._end_orphans(name, exited), f"what jobs of {name} left")
        else:
            if not self._cleaning:
                self._orphans.spare(self._with_jobs)
            self._deliver(name, exited)

    async def _end_orphans(self, name: str, exited: machine.Exited) -> None:
        """A daemon counts as gone when what its jobs left is gone as well."""
        try:
            with tasks.reported(f"The end of what jobs of {name} left"):
                await self._orphans.end()
        finally:
            self._cleaning -= 1
        self._deliver(name, exited)

    async def _fork(self, plan: DaemonPlan) -> Child:
        argv = [plan.title, "-f", *plan.arguments]
        return await self._runtime.processes.zygote.fork(
            "kettle.runtime.process.forked:main",
            encode_call(plan.module, argv),
            fds=[self._pipe],
            title=" ".join(argv),
            environment=self._environment(plan),
        )

    async def _spawn(self, plan: DaemonPlan) -> Child:
        # A daemon of another make switches between accounts by itself, as ours do.
        with self._runtime.privileges.as_root():
            return self._runtime.processes.spawn(
                [plan.program, *(("-f",) if plan.speaks else ()), *plan.arguments],
                environment=self._environment(plan),
                name=plan.name,
            )

    def _environment(self, plan: DaemonPlan) -> dict[str, str]:
        identity = self._runtime.identity
        inheritance = Inheritance(
            parent_pid=os.getpid(),
            parent_address=str(self._runtime.network.address),
            parent_id=f"{identity.machine}:{identity.pid}:{int(identity.started_at)}",
            family=self._family,
        )
        environment = without_inheritance(os.environ)
        environment.pop("NOTIFY_SOCKET", None)
        environment.update(plan.environment)
        environment.update(render_inheritance(inheritance))
        return environment

    def _stop(self, name: str, effect: machine.StopDaemon) -> None:
        child = self._children.get(name)
        if child is None or child.pid != effect.pid:
            return
        if effect.how is How.PEACEFUL:
            tasks.spawn(self._stop_peacefully(name, child), f"asking {name} to stop")
        else:
            child.signal(_SIGNALS[effect.how])

    async def _stop_peacefully(self, name: str, child: Child) -> None:
        """There is no signal for it: say it; a daemon that cannot be told stops gracefully."""
        address = self._find_address(name)
        if address is None:
            child.signal(signal.SIGTERM)
            return
        try:
            stream = await self._runtime.network.connect(address, Command.DC_OFF_PEACEFUL)
            stream.close()
        except KettleError as error:
            self._runtime.log.problem(f"Cannot ask {name} to stop peacefully: {error}")
            child.signal(signal.SIGTERM)

    # The ad.

    def _advertise_soon(self) -> None:
        """Several changes that come together are told once; not before there is a collector."""
        if self._update_soon is None and self._updates is not None:
            self._update_soon = asyncio.get_running_loop().call_later(0.05, self._advertise)

    def _advertise(self) -> None:
        for handle in (self._update_soon, self._updates):
            if handle is not None:
                handle.cancel()
        self._update_soon = None
        config = self._runtime.config
        ad = master_ad(config, self._states.values(), uid=os.getuid())
        describe_host(ad, config)
        runtime = self._runtime
        ad["MasterIpAddr"] = str(runtime.network.address)
        ad["MASTER_StartTime"] = int(runtime.identity.started_at)
        ad["LinuxCapabilities"] = f"{read_capabilities():#x}"
        for name, value in (program_times(self._plans.values()) | runtime.self_figures()).items():
            ad[name] = value
        self._advertiser.update(Command.UPDATE_MASTER_AD, ad)
        interval = config.value(MasterKnobs.MASTER_UPDATE_INTERVAL)
        self._updates = asyncio.get_running_loop().call_later(interval, self._advertise)
