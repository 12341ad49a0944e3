"""The functions of the interface: versions, the configuration, the log, words to daemons."""

from __future__ import annotations

import os
from typing import Final

from kettle.attributes.version import CONDOR_VERSION
from kettle.classad import ClassAd as Ad
from kettle.compat.classad2 import ClassAd
from kettle.compat.htcondor2.addresses import address_of, sinful_of
from kettle.compat.htcondor2.daemon_enums import AdType, DaemonCommand, LogLevel, SubsystemType
from kettle.compat.htcondor2.errors import HTCondorException, said_as
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import ConnectionLost, KettleError
from kettle.wire.commands import Command
from kettle.wire.messages import daemoncore
from kettle.wire.messages.fields import Message

# MyType of the ads of daemons that take orders.
_DAEMONS: Final = frozenset(
    {
        "DaemonMaster",
        "Machine",
        "Scheduler",
        "Negotiator",
        "Generic",
        "HAD",
        "CredD",
        "PlacementD",
        "Collector",
        "StartD",
    }
)


def version() -> str:
    """Return what this HTCondor calls itself."""
    return CONDOR_VERSION


def platform() -> str:
    """Return the platform, as daemons say theirs."""
    from kettle.runtime.identity import this_platform

    return this_platform()


def set_subsystem(subsystem: str, type: SubsystemType = SubsystemType.Auto, /) -> None:  # noqa: A002
    """Say what program this is, for the configuration: SCHEDD.NAME counts for SCHEDD."""
    if not isinstance(subsystem, str):
        raise TypeError("the subsystem's name must be a string")
    if not isinstance(type, SubsystemType):
        raise TypeError("subsystem_ype must be of type htcondor.SubsystemType")
    PROCESS.set_subsystem(subsystem)


def reload_config(root_config_file: str | None = None) -> None:
    """Read the configuration anew, from this file or as at the start; what was set is forgotten."""
    PROCESS.reload(root_config_file, os.environ)


def enable_debug(flags: str | None = None) -> None:
    """Tell on standard error what happens: of the categories of TOOL_DEBUG, or of `flags`."""
    from kettle.runtime.logs import Log, parse_verbosity

    config = PROCESS.config
    own = flags or config.get(f"{PROCESS.subsystem}_DEBUG")
    PROCESS.write_log_to(Log(verbosity=parse_verbosity(config.get("ALL_DEBUG"), own)))


def disable_debug() -> None:
    """Tell nothing any more.

    Compat: the wheel goes on with what is always told; shown by
    test_debugging_can_be_turned_on_and_off.
    """
    PROCESS.write_log_to(None)


def enable_log() -> None:
    """Tell what happens in <SUBSYS>_LOG, the log of the program that `set_subsystem` named."""
    from kettle.runtime.logs import Log, parse_limit, parse_verbosity

    config, name = PROCESS.config, PROCESS.subsystem
    path = config.get(f"{name}_LOG")
    if path is None:
        raise HTCondorException(f"{name}_LOG is not defined")
    try:
        log = Log(
            path,
            verbosity=parse_verbosity(config.get("ALL_DEBUG"), config.get(f"{name}_DEBUG")),
            limit=parse_limit(config.get(f"MAX_{name}_LOG")),
        )
    except OSError as error:
        raise HTCondorException(f"cannot open {path}: {error.strerror}") from error
    PROCESS.write_log_to(log)


def log(level: LogLevel | int, message: str) -> None:
    """Write a line, where `enable_debug` or `enable_log` has been called and its category is on."""
    if not isinstance(level, int):
        raise TypeError("level must a LogLevel or a bitwise-or of such")
    PROCESS.say(int(level), message)


def send_command(ad: ClassAd, dc: DaemonCommand, target: str | None = None) -> None:
    """Give the daemon of a location ad an order; `target` is whom a master is told of."""
    if ad.get("MyAddress") is None:
        raise ValueError("Address not available in location ClassAd.")
    kind = ad.get("MyType")
    if kind is None:
        raise ValueError("Daemon type not available in location ClassAd.")
    if AdType.from_MyType(kind) is None:
        raise ValueError("Unknown daemon type.")
    if kind not in _DAEMONS:
        raise ValueError("Failed to convert ad type to daemon type.")
    message = None if target is None else daemoncore.SubsystemCommand(target)
    with said_as(_tell_connection):
        _tell(ad["MyAddress"], Command(int(dc)), message)


def _tell(address: str, command: Command, message: Message | None) -> None:
    from kettle.client.daemon import tell

    tell(PROCESS.connector, sinful_of(address), command, message)


def _tell_connection(error: KettleError) -> str:
    if isinstance(error, ConnectionLost):
        return "Unable to connect to the remote daemon."
    return "Failed to start command."


def send_alive(
    ad: ClassAd | None = None, pid: int | None = None, timeout: int | None = None
) -> None:
    """Tell a daemon, else the one that started us, that we are alive for `timeout` seconds."""
    from kettle.compat.htcondor2.param import param

    pid = os.getpid() if pid is None else pid
    if not isinstance(pid, int):
        raise TypeError("pid must be integer")
    timeout = param["NOT_RESPONDING_TIMEOUT"] if timeout is None else timeout
    if not isinstance(timeout, int):
        raise TypeError("timeout must be integer")
    if ad is None:
        address = _parent("No location specified and CONDOR_INHERIT {}.", ValueError)
    else:
        if not isinstance(ad, ClassAd):
            raise TypeError("ad must be ClassAd")
        address = str(address_of(ad))
    with said_as("Failed to deliver keepalive message."):
        _tell(address, Command.DC_CHILDALIVE, daemoncore.ChildAlive(pid, timeout, 0.0))


def set_ready_state(state: str = "Ready") -> None:
    """Tell the master that started us how we are."""
    address = _parent("CONDOR_INHERIT {}.", HTCondorException)
    ad = Ad(
        {
            "DaemonPID": os.getpid(),
            "DaemonName": PROCESS.subsystem,
            "DaemonState": state or "Ready",
        }
    )
    with said_as("Failed to deliver ready message."):
        _tell(address, Command.DC_SET_READY, daemoncore.SetReady(ad))


def _parent(words: str, kind: type[Exception]) -> str:
    """Return the address of the daemon that started us, as it left it in the environment."""
    inherited = os.environ.get("CONDOR_INHERIT")
    if inherited is None:
        raise kind(words.format("not in environment"))
    parts = inherited.split(" ")
    if len(parts) < 2:
        malformed = "is malformed" if kind is ValueError else "environment variable malformed"
        raise kind(words.format(malformed))
    return parts[1]
