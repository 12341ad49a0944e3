"""What condor_on, _off, _restart, _reconfig, _set_shutdown, _vacate and _reschedule share.

Each tool is a row: which command it sends to whom, and how that is called in its one line of
output. `plan` is a function from what the options say to the messages to send; finding daemons
and sending is `work`. Texts are the reference's (tests/cli/test_daemon_control.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kettle.client.pool import KINDS, MASTER, SCHEDD, STARTD, Kind, Located, located, make_query
from kettle.errors import (
    KettleError,
    NotConnected,
    NotFoundError,
    RemoteProtocolError,
    UnknownHostError,
    Unreached,
    UsageError,
)
from kettle.tools.control.control_words import DAEMONS, BriefError, Rules, Wish, read_wish
from kettle.tools.failures import explain, explain_in_line
from kettle.tools.options import UnknownOptionError, run_tool
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.commands import Command
from kettle.wire.messages.claims import VacateClaim
from kettle.wire.messages.daemoncore import SetShutdownProgram, SubsystemCommand
from kettle.wire.messages.fields import Message
from kettle.wire.sinful import Sinful

PERHAPS = "Perhaps you need to query another pool.\n"
ADDRESS_FORM = """\
Should be of the form <ip.address.here:port>.
For example: <123.456.789.123:6789>
"""
NO_TARGET = """\
ERROR: You have asked to find a machine in another pool (with
the -pool option) but you have not specified which machine.
Please also use -addr, -name, or list the name(s).
For more information, use -help.
"""


@dataclass(frozen=True)
class Tool:
    """One of the tools: whom it addresses if no daemon is named, and what it is for."""

    name: str
    target: Kind
    sentence: str
    takes_daemon: bool = True
    takes_speed: bool = False
    takes_exec: bool = False
    can_drain: bool = False

    @property
    def rules(self) -> Rules:
        """What of the options it has."""
        return Rules(self.name, takes_daemon=self.takes_daemon, can_drain=self.can_drain)


# fmt: off
TOOLS = {
    tool.name: tool
    for tool in (
        Tool("condor_on", MASTER, "Have masters start the daemons of their configuration."),
        Tool("condor_off", MASTER, "Shut daemons down; without a name all but the master.",
             takes_speed=True, can_drain=True),
        Tool("condor_restart", MASTER, "Restart a daemon; the master restarts all of its host.",
             takes_speed=True, can_drain=True),
        Tool("condor_reconfig", MASTER, "Have daemons read their configuration again.",
             can_drain=True),
        Tool("condor_set_shutdown", MASTER, "Name the program that masters become when they end.",
             takes_daemon=False, takes_exec=True),
        Tool("condor_vacate", STARTD, "Take running jobs off execution points or slots.",
             takes_daemon=False, takes_speed=True),
        Tool("condor_reschedule", SCHEDD, "Have schedds ask for matches now.", takes_daemon=False),
    )
}
OFF_ONE = {
    "graceful": (Command.DAEMON_OFF, "Kill-Daemon"),
    "fast": (Command.DAEMON_OFF_FAST, "Kill-Daemon-Fast"),
    "peaceful": (Command.DAEMON_OFF_PEACEFUL, "Kill-Daemon-Peacefully"),
}
OFF_ALL = {
    "graceful": (Command.DAEMONS_OFF, "Kill-All-Daemons"),
    "fast": (Command.DAEMONS_OFF_FAST, "Kill-All-Daemons-Fast"),
    "peaceful": (Command.DAEMONS_OFF_PEACEFUL, "Kill-All-Daemons-Peacefully"),
}
RESTART_MASTER = {
    "graceful": (Command.RESTART, "Restart"),
    "fast": (Command.RESTART, "Restart"),
    "peaceful": (Command.RESTART_PEACEFUL, "Restart-Peacefully"),
}
# A daemon that is not the master restarts by ending: its master starts it again.
RESTART_DAEMON = {
    "graceful": (Command.DC_OFF_GRACEFUL, "Restart"),
    "fast": (Command.DC_OFF_FAST, "Restart-Fast"),
    "peaceful": (Command.DC_OFF_PEACEFUL, "Restart-Peacefully"),
}
# fmt: on


@dataclass(frozen=True)
class Sending:
    """One command to one kind of daemon: `shown` is how the output calls it."""

    kind: str
    command: Command
    shown: str
    message: Message | None = None
    about: str = ""
    # What need not be there: another command will say so.
    optional: bool = False


def main(argv: Sequence[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Be the tool that `argv[0]` names; 1 if anything was not sent."""
    tool = TOOLS[argv[0]]

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        reach = Reach(environment, pool=wish.pool)
        if wish.program:
            streams.stdout.write(f"Set exec to {wish.program}\n")
        if wish.pool:
            reach.pool.collectors()
        if wish.pool and not (wish.names or wish.addresses or wish.everywhere or wish.constraint):
            streams.stderr.write(NO_TARGET)
            return 1
        return work(tool, wish, reach, streams)

    usage = render_usage(tool)
    return run_tool(
        argv,
        environment,
        streams,
        usage=usage,
        read_wish=lambda words: read_wish(tool.rules, words),
        act=act,
        complain=lambda error: complain(error, usage),
        prefix=f"{tool.name}: ",
    )


def complain(error: UsageError, usage: str) -> str:
    """Return the error in the reference's words, and where the usage is told, or the usage."""
    if isinstance(error, BriefError):
        return f'ERROR: {error}\nUse "-help" to see usage information\n'
    if not isinstance(error, UnknownOptionError):
        return f"ERROR: {error}\n{usage}"
    hint = f"\n{error.hint}\n" if error.hint else ""
    return f'ERROR: invalid argument "{error.word}"\n{usage}{hint}'


def plan(tool: Tool, wish: Wish, slot: str = "") -> Iterator[Sending]:
    """Yield what is to be sent, in order, to each host that is meant."""
    if wish.program:
        yield Sending(
            "master",
            Command.SET_SHUTDOWN_PROGRAM,
            "Set-Shutdown-Program",
            SetShutdownProgram(wish.program),
        )
    match tool.name:
        case "condor_reschedule":
            yield Sending("schedd", Command.RESCHEDULE, "Reschedule")
        case "condor_reconfig":
            yield Sending(_kind_of(wish), Command.DC_RECONFIG_FULL, "Reconfig")
        case "condor_vacate":
            yield plan_vacate(wish, slot)
        case "condor_on":
            if wish.daemon and wish.daemon != "master":
                message = SubsystemCommand(wish.daemon)
                yield Sending(
                    "master", Command.DAEMON_ON, "Spawn-Daemon", message, about=wish.daemon
                )
            else:
                yield Sending("master", Command.DAEMONS_ON, "Spawn-All-Daemons")
        case "condor_off":
            yield from plan_off(wish)
        case "condor_restart":
            daemon = _kind_of(wish)
            if not wish.daemon:
                yield from plan_patience(wish)
            table = RESTART_MASTER if daemon == "master" else RESTART_DAEMON
            yield Sending(daemon, *table[wish.speed])


def _kind_of(wish: Wish) -> str:
    """Return the kind of daemon that is meant; one that is not known is called as it was typed."""
    return wish.daemon if wish.daemon in KINDS else wish.about or "master"


def plan_vacate(wish: Wish, slot: str) -> Sending:
    """Return the command that takes jobs off a slot, or off all slots of a host."""
    fast = wish.speed == "fast"
    if slot:
        command = Command.VACATE_CLAIM_FAST if fast else Command.VACATE_CLAIM
        shown = "Vacate-Claim-Fast" if fast else "Vacate-Claim"
        return Sending("startd", command, shown, VacateClaim(slot))
    if fast:
        return Sending("startd", Command.VACATE_ALL_FAST, "Vacate-All-Claims-Fast")
    return Sending("startd", Command.VACATE_ALL_CLAIMS, "Vacate-All-Claims")


def plan_off(wish: Wish) -> Iterator[Sending]:
    """Yield what shuts down one daemon, or all but the master, or the master."""
    if wish.daemon == "master":
        fast = wish.speed == "fast"
        command = Command.MASTER_OFF_FAST if fast else Command.MASTER_OFF
        yield Sending("master", command, "Kill-Master-Fast" if fast else "Kill-Master")
    elif wish.daemon:
        yield from plan_patience(wish)
        command, shown = OFF_ONE[wish.speed]
        # Of a peaceful end the reference does not say again whose.
        about = "" if wish.speed == "peaceful" else wish.daemon
        yield Sending("master", command, shown, SubsystemCommand(wish.daemon), about=about)
    else:
        yield from plan_patience(wish)
        yield Sending("master", *OFF_ALL[wish.speed])


def plan_patience(wish: Wish) -> Iterator[Sending]:
    """Yield what tells daemons that their end, which the master will order, is a peaceful one.

    Only startd and schedd have jobs to wait for.
    """
    if wish.speed != "peaceful":
        return
    meant = {"startd", "schedd"} & {wish.daemon} if wish.daemon else {"startd", "schedd"}
    for kind in sorted(meant, reverse=True):
        command = Command.DC_SET_PEACEFUL_SHUTDOWN
        yield Sending(kind, command, "Set-Peaceful-Shutdown", optional=True)


def work(tool: Tool, wish: Wish, reach: Reach, streams: Streams) -> int:
    """Find every daemon that is meant and send to it; 1 if one was not found or refused."""
    failed = False
    if wish.everywhere or wish.constraint:
        hosts, why = [], f"Found no ClassAds when querying pool ({wish.pool or 'local'})\n"
        try:
            hosts = find_everywhere(tool, wish, reach)
        except Unreached as error:
            why = tell_silence(reach, error)
        if not hosts:
            whom = f"constraint '{wish.constraint}'" if wish.constraint else "-all"
            kind = next(plan(tool, wish)).kind
            streams.stderr.write(f"{why}Can't find addresses for {kind}'s for {whom}\n{PERHAPS}")
            return 1
    elif wish.names or wish.addresses:
        hosts = [*wish.names, *wish.addresses]
    else:
        hosts = [""]
    for host in hosts:
        # Only who names a slot means one; else it is a machine, of whose ads one was found.
        slot = host if tool.name == "condor_vacate" and host.startswith("slot") else ""
        for sending in plan(tool, wish, slot):
            complaint = attempt(tool, reach, sending, host, streams)
            if complaint:
                streams.stderr.write(complaint)
                failed = True
                break
    return 1 if failed else 0


def attempt(tool: Tool, reach: Reach, sending: Sending, host: str, streams: Streams) -> str:
    """Find one daemon, send to it and say so; return what is wrong, empty if it worked."""
    try:
        found, shown = find(reach, sending, host)
    except UnknownHostError as error:
        return f"{tool.name}: {error}\n"
    except (NotFoundError, Unreached) as error:
        return "" if sending.optional else tell_absence(reach, sending, host, error)
    except RemoteProtocolError:
        return f"Address {host} is not valid.\n{ADDRESS_FORM}"
    except KettleError as error:
        return f"{tool.name}: {error}\n"
    try:
        send(reach, sending, found)
    except NotConnected:
        return f"Can't connect to {shown}\n"
    except Unreached as error:
        why = "\n".join(explain(error))
        return f"ERROR\n{why}\nCan't send {sending.shown} command to {shown}\n"
    except KettleError as error:
        return f"{tool.name}: {error}\n"
    about = f' for "{sending.about}"' if sending.about else ""
    streams.stdout.write(f'Sent "{sending.shown}" command{about} to {shown}\n')
    return ""


def tell_absence(reach: Reach, sending: Sending, host: str, error: KettleError) -> str:
    """Return what is said of a daemon that is not found."""
    if not host:
        # Compat: the reference has no name for this host's negotiator (test_silent_pool).
        whom = "unknown daemon" if sending.kind == "negotiator" else f"local {sending.kind}"
        return f"Can't find address for {whom}\n{PERHAPS}"
    said = f"Can't find address for {sending.kind} {host}\n"
    if isinstance(error, Unreached):
        return f"{tell_silence(reach, error)}{said}{PERHAPS}"
    # Compat: named twice, as in the reference (test_a_host_that_is_not_there_is_named).
    return f"{said}Can't find address for {host}\n{PERHAPS}"


def tell_silence(reach: Reach, error: Unreached) -> str:
    """Return what is said where no collector answers."""
    pool = reach.named_pool
    if not pool:
        return "\nERROR: can't connect to local collector\n"
    return f"{explain_in_line(error)}\nERROR: can't connect to collector {pool}\n"


def find(reach: Reach, sending: Sending, host: str) -> tuple[Sinful, str]:
    """Return where to send, and how the output calls it; NotFoundError."""
    if host.startswith("<"):
        if ":" not in host:
            raise RemoteProtocolError(f"address {host} has no port number")
        return Sinful.parse(host), f"daemon at {host}"
    kind = KINDS.get(sending.kind)
    if kind is None:
        raise NotFoundError(f"there is no kind of daemon called {sending.kind}")
    located_here = reach.pool.locate(kind, host, to_command=True, far=True)
    if not host:
        return located_here.address, f"local {sending.kind}"
    # A machine's startd is called as it was asked for, not as the slot by which it was found.
    name = host if kind is STARTD else located_here.name
    return located_here.address, f"{sending.kind} {name}"


def find_everywhere(tool: Tool, wish: Wish, reach: Reach) -> list[str]:
    """Return the names of every host's daemon of the kind that the tool addresses first."""
    kind = KINDS.get(next(plan(tool, wish)).kind, tool.target)
    constraints = [wish.constraint] if wish.constraint else []
    query = make_query(kind.ad_type, constraints=constraints, projection=("Name", "MyAddress"))
    found: dict[str, Located] = {}
    for ad in reach.pool.query(kind.query, query):
        one = located(ad)
        if one is not None:
            found.setdefault(str(one.address), one)
    names = [one.name for one in found.values()]
    if kind is STARTD:
        # Of its slots: the machine's behind the first @, or that of one startd on it.
        names = [slot.partition("@")[2] or slot for slot in names]
    return names


def send(reach: Reach, sending: Sending, address: Sinful) -> None:
    """Send one command; none of them has a reply."""
    from kettle.client.daemon import tell

    tell(reach.connector, address, sending.command, sending.message)


def render_usage(tool: Tool) -> str:
    """Return the usage message."""
    lines = [f"Usage: {tool.name} [OPTIONS] [TARGET…]\n\n{tool.sentence}\n\n"]
    rows = [
        ("-help", "show this and end"),
        ("-version", "show the version and end"),
        ("-pool HOST", "ask this pool's collector where daemons are"),
        ("-name NAME", "the daemon of this name; a bare word is the same"),
        ("-addr <ADDRESS>", "the daemon at this address"),
        ("-all", "every host of the pool"),
        ("-constraint EXPR", "every daemon whose ad satisfies the expression"),
    ]
    if tool.takes_speed:
        rows += [
            ("-graceful", "let jobs end or leave in their time (the default)"),
            ("-fast", "kill jobs at once"),
        ]
        if tool.takes_daemon:
            rows.append(("-peaceful", "wait for jobs to end, however long it takes"))
    if tool.takes_exec:
        rows.append(("-exec NAME", "run the program MASTER_SHUTDOWN_<NAME> after the end"))
    if tool.takes_daemon:
        rows.append(("-daemon NAME", "this daemon; or one of"))
        rows.append(("", ", ".join(f"-{name}" for name in DAEMONS)))
    width = max(len(left) for left, _ in rows)
    lines += [f"  {left:<{width}}  {right}\n" for left, right in rows]
    return "".join(lines)
