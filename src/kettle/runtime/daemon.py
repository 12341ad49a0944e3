"""How a daemon comes up, stays up and goes down; the same for every daemon.

`run` reads the command line and the configuration, opens the log, becomes the daemon's account,
forks the zygote if the service wants one, and then runs the service on the event loop between
its `start` and its `shut_down`. Signals, generic commands, the address file, the ready message
and the death of the master are handled here; everything that makes a schedd a schedd is in its
service.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import secrets
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

import setproctitle

from kettle.attributes.exit_codes import (
    EXIT_BAD_CONFIGURATION,
    EXIT_FAILURE,
    EXIT_NO_RESTART,
    EXIT_OK,
)
from kettle.config import Config, load_config
from kettle.config.knobs.daemon import DaemonKnobs
from kettle.config.knobs.security import SecurityKnobs
from kettle.errors import ConfigError, EndingConfigError, KettleError, StorageError
from kettle.runtime import life, tasks
from kettle.runtime.address_files import AddressFiles
from kettle.runtime.arguments import HELP, DaemonArguments, parse_arguments
from kettle.runtime.clock import SystemClock
from kettle.runtime.clock_watch import watch_clock
from kettle.runtime.context import Runtime
from kettle.runtime.generic_commands import GenericCommands
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.life import Life, relax_collection
from kettle.runtime.log_settings import configure_log, open_log
from kettle.runtime.logs import Log
from kettle.runtime.presence import Presence
from kettle.runtime.process import kernel, late
from kettle.runtime.process.inheritance import Inheritance, read_inheritance
from kettle.runtime.process.parent import ParentLink
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.reach import check_reach
from kettle.runtime.process.snapshot import ForkedSnapshots
from kettle.runtime.process.zygote import Zygote
from kettle.runtime.process.zygote_process import hear_signals
from kettle.runtime.remote_settings import RemoteSettings
from kettle.runtime.renewal import check_own_settings, renew, tell_own_settings
from kettle.runtime.self_monitor import SelfMonitor
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.runtime.standard_streams import settle_streams
from kettle.runtime.storage.files import PASSING, Files, SystemSources
from kettle.runtime.token_requests import TokenCommands
from kettle.runtime.user_maps import install_user_maps

# How long a daemon that cannot be reached waits for its broker before it goes on without.
_BROKER_SECONDS = 5.0
# After this much of a life no first job or query waits for what is imported.
_SETTLED_SECONDS = 5.0
_SPEED = {"peaceful": 0, "graceful": 1, "fast": 2}
# Limit: after this, whatever a service does on its way down is cut off (a fast shutdown only;
# a graceful one is hurried by the master's SHUTDOWN_GRACEFUL_TIMEOUT).
_FAST_SHUTDOWN_SECONDS = 60.0


class Service(Protocol):
    """What makes a daemon that daemon.

    A class attribute `preload: tuple[str, ...]` names the modules its zygote imports; without
    it there is no zygote. A method `check(config)`, where there is one, raises KettleError for a
    new configuration that the service could not take over; then it stays as it is. A method
    `restore()`, where there is one, makes again what others find the daemon by, if it is gone.
    """

    def __init__(self, runtime: Runtime) -> None: ...

    async def start(self) -> None:
        """Register commands, read state, begin; the daemon is ready when this returns."""
        ...

    async def reconfigure(self, config: Config) -> None:
        """Take over a new configuration; the runtime has it already."""
        ...

    async def shut_down(self, how: str) -> None:
        """Stop: `graceful`, `fast` or `peaceful`; cancelled when a faster one is asked for."""
        ...


class Daemon:
    """One running daemon."""

    def __init__(self, runtime: Runtime, service: Service, network: SystemNetwork) -> None:
        self.runtime = runtime
        self.service = service
        self._network = network
        self.address_files = AddressFiles(runtime)
        self.instance_id = secrets.token_hex(8)
        self.peaceful = False
        self.exit_code = EXIT_OK
        self._how: str | None = None
        self.started = asyncio.Event()
        self._asked = asyncio.Event()
        self._reconfiguring = False

    def request_shutdown(self, how: str) -> None:
        """Begin to stop; a slower wish than an earlier one changes nothing."""
        if self._how is None or _SPEED[how] > _SPEED[self._how]:
            self._how = how
            self._asked.set()

    def request_reconfigure(self) -> None:
        """Read the configuration again, soon."""
        if not self._reconfiguring:
            self._reconfiguring = True
            # By whatever way it was asked for: these words are what HTCondor's own tests wait for.
            self.runtime.log("Got SIGHUP.  Re-reading config files.")
            tasks.spawn(self._reconfigure(), "reconfigure")

    async def serve(self) -> None:
        """Run the service from its start to the end of its shutdown."""
        await self.service.start()
        # What is wrong from here on is no reason to end.
        self.runtime.config.forgive(self.runtime.log.problem)
        self._network.begin_accepting()
        self.address_files.write()
        self._stay_present()
        self._network.on_moved(self.address_files.write)
        self.started.set()
        await self._asked.wait()
        # What is asked for may become faster while the slower stop is on its way.
        while self._asked.is_set():
            how = self._how or "fast"
            self._asked.clear()
            self.runtime.log(f"Got a request to shut down, {how}.")
            stopping = tasks.spawn(self._stop(how), f"shutdown {how}")
            hurried = tasks.spawn(self._asked.wait(), "waiting for a faster shutdown")
            await asyncio.wait({stopping, hurried}, return_when=asyncio.FIRST_COMPLETED)
            hurried.cancel()
            if not stopping.done():
                stopping.cancel()
                await asyncio.gather(stopping, return_exceptions=True)

    def _stay_present(self) -> None:
        """See from now on that whoever looks for this daemon finds it."""
        own: Callable[[], object] | None = getattr(self.service, "restore", None)
        restores = (self._network.restore, own) if own is not None else (self._network.restore,)
        tasks.repeat(Presence(self.runtime, self.address_files, *restores).keep, "presence")

    async def _stop(self, how: str) -> None:
        limit = _FAST_SHUTDOWN_SECONDS if how == "fast" else None
        try:
            async with asyncio.timeout(limit):
                await self.service.shut_down(how)
        except TimeoutError:
            self.runtime.log.problem(f"The shutdown took longer than {limit} seconds.")

    async def _reconfigure(self) -> None:
        self._reconfiguring = False
        runtime = self.runtime
        check = getattr(self.service, "check", None)
        config = renew(
            runtime.identity, runtime.remote_settings, check, runtime.log.problem, runtime.config
        )
        if config is None:
            return
        before, runtime.config = runtime.config, config
        folder = before.get("LOG")
        if config.get("LOG") != folder:
            runtime.log.problem(
                f"LOG is {config.get('LOG')} now: locks and addresses stay in {folder} until the "
                "daemons are restarted"
            )
        runtime.identity.reconfigured_at = runtime.clock.now()
        configure_log(runtime.log, config)
        install_user_maps(config, runtime.log.problem)
        for line in tell_own_settings(config, before):
            runtime.log(line)
        runtime.network.reconfigure(config)
        await self.service.reconfigure(config)
        runtime.log("The configuration was read again.")


def run(
    subsystem: str,
    service_class: type[Service],
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Be a daemon until it is told to stop; return its exit code.

    `argv[0]` is the program's name. Nothing may have started a thread or an event loop before.
    """
    settle_streams(f"condor_{subsystem.lower()}")
    variables = dict(os.environ if environment is None else environment)
    try:
        arguments = parse_arguments(argv[1:])
        if arguments.help:
            sys.stdout.write(f"Usage: condor_{subsystem.lower()} [OPTIONS]\n\n{HELP}")
            return EXIT_OK
        if arguments.version:
            return _print_version()
        if arguments.config_file:
            variables["CONDOR_CONFIG"] = os.environ["CONDOR_CONFIG"] = arguments.config_file
        local_name = arguments.local_name or None
        config = load_config(SystemSources(), variables, subsystem=subsystem, local_name=local_name)
        privileges, settings = _settle(config)
    except EndingConfigError as error:
        sys.stderr.write(f"{error}\n")
        return error.EXIT_CODE
    except (KettleError, OSError) as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return EXIT_BAD_CONFIGURATION if isinstance(error, ConfigError) else EXIT_FAILURE
    title = f"condor_{subsystem.lower()}"
    setproctitle.setproctitle(" ".join([title, *argv[1:]]))
    os.umask(0o022)
    _limit_cores(config)
    try:
        log = open_log(config, arguments, subsystem)
    except (KettleError, OSError) as error:
        sys.stderr.write(f"ERROR: {title}: {error}\n")
        # Nothing of ours can be written where one would look: the master says at least this much.
        return EXIT_BAD_CONFIGURATION
    _go_to_logs(config)
    inheritance = read_inheritance(variables)
    if not (arguments.foreground or arguments.log_to_terminal or inheritance.parent_pid):
        _go_to_background()
    kernel.become_subreaper()
    modules: tuple[str, ...] = getattr(service_class, "preload", ())
    zygote = Zygote.launch(modules, f"{title}: zygote") if modules else None
    return life.run(
        _live(config, settings, arguments, log, privileges, service_class, zygote, inheritance)
    )


def _settle(config: Config) -> tuple[Privileges, RemoteSettings]:
    """Become the daemon's account, and set in `config` what was set for good from afar.

    As whom we work is for files and environment alone to say: what is set for good is read, and
    believed, as that account.
    """
    lowest = config.value(DaemonKnobs.JOB_MINIMUM_UID)
    privileges = Privileges.find(config.get("CONDOR_IDS"), lowest)
    privileges.settle()
    check_reach(privileges.daemon)
    settings = RemoteSettings.begin(config, Files(), privileges.daemon.uid)
    settings.apply(config)
    discards = config.value(SecurityKnobs.DISCARD_SESSION_KEYRING_ON_STARTUP)
    if discards and config.subsystem == "MASTER":
        privileges.leave_keyring()
    return privileges, settings


def _go_to_logs(config: Config) -> None:
    """Work where a core file may be left, and keep no folder of a user's busy."""
    folder = config.get("LOG")
    if folder is not None:
        with contextlib.suppress(OSError):
            os.chdir(folder)


def _limit_cores(config: Config) -> None:
    """Let daemons leave core files, or not (CREATE_CORE_FILES); a job's limit is its own."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    soft = 0 if not config.value(DaemonKnobs.CREATE_CORE_FILES) else hard
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def _go_to_background() -> None:
    """Leave the terminal and whoever started us; the configuration has been read already."""
    if os.fork():
        os._exit(EXIT_OK)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


async def _live(
    config: Config,
    settings: RemoteSettings,
    arguments: DaemonArguments,
    log: Log,
    privileges: Privileges,
    service_class: type[Service],
    zygote: Zygote | None,
    inheritance: Inheritance,
) -> int:
    """Build the runtime, run the service inside it, take everything down again."""
    own = Life(config.subsystem, log.problem, zygote)
    identity = _identify(config, own.clock.now())
    _print_banner(log, config, identity)
    files = Files()
    try:
        check_own_settings(config)
        network = own.connect(config, identity, log)
        runtime = Runtime(
            config, own.clock, network, own.processes, files, log, privileges, identity
        )
        runtime.remote_settings = settings
        runtime.snapshots = ForkedSnapshots(files, own.processes)
        runtime.abort = partial(os._exit, EXIT_FAILURE)
        runtime.self_figures = _watch_self(config, own.clock, network)
        daemon = Daemon(runtime, service_class(runtime), network)
    except KettleError as error:
        await own.end()
        return _refuse_to_start(log, identity, error, arguments)
    runtime.stop, runtime.reconfigure = daemon.request_shutdown, daemon.request_reconfigure
    parent = ParentLink(runtime, inheritance, daemon.request_shutdown)
    try:
        trouble = await _work(daemon, network, arguments, inheritance, parent)
        if trouble is not None:
            log.problem(f"ERROR: {trouble}")
            daemon.exit_code = EXIT_FAILURE
        elif runtime.stays_off:
            daemon.exit_code = EXIT_NO_RESTART
    finally:
        parent.stop()
        await own.end()
        daemon.address_files.remove()
        await files.synchronizer.idle()
        _print_farewell(log, identity, daemon.exit_code)
        log.close()
    if runtime.replace_with:
        # Our next life, or what halts the machine.
        with privileges.as_root():
            os.execv(runtime.replace_with[0], runtime.replace_with)  # noqa: S606
    return daemon.exit_code


async def _work(
    daemon: Daemon,
    network: SystemNetwork,
    arguments: DaemonArguments,
    inheritance: Inheritance,
    parent: ParentLink,
) -> str | None:
    """Serve until the daemon is to stop; return what went wrong, if that is why it stops."""
    try:
        await _open(daemon, network, arguments, inheritance)
        parent.start()
        relax_collection()
        refused = await tasks.spawn(_serve_and_tell(daemon, parent), "service")
    except (KettleError, OSError) as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - the last frame of a daemon
        return "".join(traceback.format_exception(error)).rstrip()
    return None if refused is None else str(refused)


async def _open(
    daemon: Daemon, network: SystemNetwork, arguments: DaemonArguments, inheritance: Inheritance
) -> None:
    """Make the daemon one that can be spoken to: by its port, by signals, through its brokers."""
    runtime = daemon.runtime
    if inheritance.family:
        network.add_family(inheritance.family)
    await network.listen(
        int(arguments.port) if arguments.port else None, socket_name=arguments.socket_name
    )
    await network.register_with_brokers(runtime.files, _BROKER_SECONDS)
    # Programs look for this line to learn where a daemon is.
    runtime.log(f"DaemonCore: command socket at {network.address}")
    GenericCommands(daemon).register()
    TokenCommands(runtime).register()
    _handle_signals(daemon)
    _write_pid_file(runtime, arguments)


def _watch_self(
    config: Config, clock: SystemClock, network: SystemNetwork
) -> Callable[[], dict[str, object]]:
    """Begin to measure this process; return what says its figures."""
    sessions = network.standing.sessions
    return SelfMonitor(config, clock.now, lambda: len(sessions)).attributes


async def _serve_and_tell(daemon: Daemon, parent: ParentLink) -> KettleError | None:
    """Live; return why the service could not, where one sentence says it all."""
    ready = tasks.spawn(_announce(daemon, parent), "ready")
    watch_clock(daemon.runtime.clock, daemon.runtime.log)
    tasks.spawn(_import_the_rest(daemon), "late modules")
    try:
        await daemon.serve()
        return None
    except KettleError as error:
        return error
    finally:
        ready.cancel()


async def _import_the_rest(daemon: Daemon) -> None:
    """Import, a module at a time, what would otherwise be imported when it is needed."""
    await daemon.started.wait()
    await asyncio.sleep(_SETTLED_SECONDS)
    for _ in iter(late.import_one, False):
        await asyncio.sleep(0.0)


async def _announce(daemon: Daemon, parent: ParentLink) -> None:
    """Tell the master that the service has started; it is no harm if nobody listens."""
    await daemon.started.wait()
    await parent.say_ready()


def _write_pid_file(runtime: Runtime, arguments: DaemonArguments) -> None:
    if not arguments.pid_file:
        return
    try:
        runtime.files.write_atomically(arguments.pid_file, f"{os.getpid()}\n")
    except StorageError as error:
        if error.errno not in PASSING:
            raise
        runtime.log.problem(f"{error}: nobody finds this daemon by its pid file")


def _identify(config: Config, now: float) -> DaemonIdentity:
    subsystem = config.subsystem
    machine = config.get("FULL_HOSTNAME") or "localhost"
    own_name = config.get(f"{subsystem}_NAME") or ""
    if own_name and "@" not in own_name and own_name != machine:
        own_name = f"{own_name}@{machine}"
    return DaemonIdentity(
        subsystem=subsystem,
        name=own_name or machine,
        machine=machine,
        started_at=now,
        local_name=config.local_name,
    )


def _handle_signals(daemon: Daemon) -> None:
    loop = asyncio.get_running_loop()
    for number, how in (
        (signal.SIGTERM, "graceful"),
        (signal.SIGINT, "graceful"),
        (signal.SIGQUIT, "fast"),
    ):
        loop.add_signal_handler(number, daemon.request_shutdown, how)
    loop.add_signal_handler(signal.SIGHUP, daemon.request_reconfigure)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        with contextlib.suppress(ValueError):
            signal.signal(number, signal.SIG_IGN)
    hear_signals()


def _print_version() -> int:
    from kettle.attributes.version import CONDOR_VERSION
    from kettle.runtime.identity import this_platform

    sys.stdout.write(f"{CONDOR_VERSION}\n{this_platform()}\n")
    return EXIT_OK


def _print_banner(log: Log, config: Config, identity: DaemonIdentity) -> None:
    subsystem = identity.subsystem
    title = f"condor_{subsystem.lower()}"
    local = identity.local_name or "<NONE>"
    log.banner(
        [
            f"{title} (CONDOR_{subsystem}) STARTING UP",
            f"{sys.executable} -m kettle.{subsystem.lower()}",
            f"SubsystemInfo: name={subsystem} type={subsystem} class=DAEMON",
            f"Configuration: subsystem:{subsystem} local:{local} class:DAEMON",
            identity.version,
            identity.platform,
            f"PID = {identity.pid} RealUID = {os.getuid()}",
        ]
    )
    if config.files:
        log(f"Using config source: {config.files[0]}")
        for path in config.files[1:]:
            log(f"Using local config source: {path}")
    for line in tell_own_settings(config):
        log(line)


def _refuse_to_start(
    log: Log, identity: DaemonIdentity, error: KettleError, arguments: DaemonArguments
) -> int:
    """Say in the log, and to whoever started us, what is wrong, a line each; return how we end."""
    code = EXIT_BAD_CONFIGURATION if isinstance(error, ConfigError) else EXIT_FAILURE
    for text in str(error).splitlines():
        log.problem(f"ERROR: {text}")
        if not arguments.log_to_terminal:
            sys.stderr.write(f"ERROR: condor_{identity.subsystem.lower()}: {text}\n")
    _print_farewell(log, identity, code)
    log.close()
    return code


def _print_farewell(log: Log, identity: DaemonIdentity, code: int) -> None:
    title = f"condor_{identity.subsystem.lower()}"
    log(f"**** {title} (condor_{identity.subsystem}) pid {identity.pid} EXITING WITH STATUS {code}")
