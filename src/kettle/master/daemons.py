"""Which daemons a master runs, in which order, and with which words on their command lines.

Facts out of the configuration; nothing is started here.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from kettle.config import Config
from kettle.config.knobs.master import MasterKnobs
from kettle.config.stopping import graceful_seconds
from kettle.errors import ConfigError
from kettle.master.backoff import Backoff
from kettle.master.child_machine import StopTimes

# The daemons that are ours, and the module of each; anything else in DAEMON_LIST is a program.
OWN_DAEMONS = {
    "COLLECTOR": "kettle.collector",
    "NEGOTIATOR": "kettle.negotiator",
    "SCHEDD": "kettle.schedd",
    "STARTD": "kettle.startd",
    "SHARED_PORT": "kettle.shared_port",
    "JOB_ROUTER": "kettle.job_router",
}
# Programs of the site's under these names are HTCondor's own, which speak with their master.
_SPEAKING = frozenset(OWN_DAEMONS) | frozenset(
    ("CREDD", "DEFRAG", "GANGLIAD", "HAD", "KBDD", "REPLICATION", "ROOSTER", "TRANSFERER")
)
# These serve the others: first to come and last to go.
FIRST = ("SHARED_PORT", "COLLECTOR")


@dataclass(frozen=True, slots=True)
class DaemonPlan:
    """One daemon of DAEMON_LIST.

    `module` is the package of a daemon of ours, empty for a program; `program` is its path.
    One that does not `speak` is no daemon of this kind: it takes no `-f` and never says that it is
    ready (DC_DAEMON_LIST). `title` is what `ps` shows. `address_file` is where it says that it
    listens, or empty.
    """

    name: str
    module: str
    program: str
    speaks: bool
    arguments: tuple[str, ...]
    title: str
    address_file: str
    environment: tuple[tuple[str, str], ...]
    backoff: Backoff
    stop_times: StopTimes

    @property
    def runs_jobs(self) -> bool:
        """Whether it is one of ours below which jobs run: what it leaves has to be ended."""
        return self.module in {"kettle.startd", "kettle.schedd"}


def plan_daemons(config: Config) -> list[DaemonPlan]:
    """Read DAEMON_LIST; ConfigError if it names something that is neither ours nor a program.

    The master itself is left out, duplicates count once, and shared_port and collector come first.
    """
    names: list[str] = []
    for word in config.words("DAEMON_LIST"):
        name = word.strip("+").upper()
        if name and name != "MASTER" and name not in names:
            names.append(name)
    automatic = config.boolean("AUTO_INCLUDE_SHARED_PORT_IN_DAEMON_LIST")
    if config.boolean("USE_SHARED_PORT") and automatic is not False and names:
        names = [name for name in names if name != "SHARED_PORT"]
        names.insert(0, "SHARED_PORT")
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return [_plan(config, name) for name in names]


def stop_times(config: Config, name: str = "") -> StopTimes:
    """Read the shutdown timeouts, for one daemon or in general."""
    own_fast = config.real(f"{name}_SHUTDOWN_FAST_TIMEOUT") if name else None
    fast = own_fast or float(config.value(MasterKnobs.SHUTDOWN_FAST_TIMEOUT))
    return StopTimes(graceful_seconds(config, name), fast)


def _kind(config: Config, name: str) -> str:
    """Return which daemon's program a name of DAEMON_LIST means, SCHEDD of `SECOND = $(SCHEDD)`."""
    program = config.get(name)
    same = (kind for kind in sorted(_SPEAKING) if program and config.get(kind) == program)
    return name if name in _SPEAKING else next(same, name)


def _plan(config: Config, name: str) -> DaemonPlan:
    kind = _kind(config, name)
    module = OWN_DAEMONS.get(kind, "")
    program = config.get(name) or ""
    if not module and not program:
        near = config.nearest(name)
        raise ConfigError(
            f"{config.origin('DAEMON_LIST')}: DAEMON_LIST names {name}, but {name} is not set to"
            " a program",
            hint=f"did you mean {near}?" if near else "",
        )
    # A path of the site's own beats the daemon of ours with that name.
    if module and program and config.find_set(kind) is not None:
        module = ""
    arguments = tuple(shlex.split(config.get(f"{name}_ARGS") or ""))
    if kind != name and "-local-name" not in arguments:
        # One of several of a kind is configured under its own name.
        arguments = ("-local-name", name, *arguments)
    return DaemonPlan(
        name=name,
        module=module,
        program=program,
        speaks=bool(module) or bool({name, kind} & _speaking(config)),
        arguments=arguments,
        title=f"condor_{kind.lower()}",
        address_file=_address_file(config, name, kind, ours=bool(module)),
        environment=_read_environment(config.get(f"{name}_ENVIRONMENT") or ""),
        backoff=_read_backoff(config, name),
        stop_times=stop_times(config, name),
    )


def _speaking(config: Config) -> frozenset[str]:
    """Return the names of daemons that speak with their master: the list, or with + besides."""
    words = config.words("DC_DAEMON_LIST")
    named = frozenset(word.strip("+").upper() for word in words) - {""}
    return named if words and not words[0].startswith("+") else named | _SPEAKING


def _address_file(config: Config, name: str, kind: str, *, ours: bool) -> str:
    """Return where a daemon writes its address, empty if it does not."""
    if kind != name:
        return config.get(f"{name}.{kind}_ADDRESS_FILE") or ""
    named = config.get(f"{name}_ADDRESS_FILE")
    if not named and name == "SHARED_PORT":
        named = config.get("SHARED_PORT_DAEMON_AD_FILE")
    folder = config.get("LOG")
    return named or (f"{folder}/.{name.lower()}_address" if ours and folder else "")


def _read_environment(text: str) -> tuple[tuple[str, str], ...]:
    """Read `NAME=value` pairs between blanks or semicolons, quoted as a whole or not."""
    text = text.strip()
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        text = text[1:-1]
    words = shlex.split(text.replace(";", " "))
    pairs = (word.partition("=") for word in words)
    return tuple((name, value) for name, equals, value in pairs if equals)


def _read_backoff(config: Config, name: str) -> Backoff:
    def knob(word: str, default: float) -> float:
        own = config.real(f"MASTER_{name}_{word}")
        general = config.real(f"MASTER_{word}")
        return own if own is not None else default if general is None else general

    return Backoff(
        constant=knob("BACKOFF_CONSTANT", 9.0),
        factor=knob("BACKOFF_FACTOR", 2.0),
        ceiling=knob("BACKOFF_CEILING", 3600.0),
        recover_seconds=knob("RECOVER_FACTOR", 300.0),
    )
