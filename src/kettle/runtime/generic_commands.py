"""The commands that every daemon answers: reconfigure, stop, configuration values, logs, clock.

What a command does to the daemon is asked of `DaemonControl`; tokens are in `token_requests.py`,
log files in `log_fetching.py`. Source: wire notes, DaemonCore generic commands.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Protocol

from kettle.attributes.version import CONDOR_VERSION
from kettle.classad.functions.regex import compile_pattern, matching
from kettle.config.origin import DEFAULT_SOURCE, DETECTED_SOURCE
from kettle.errors import KettleError
from kettle.octets import to_bytes
from kettle.runtime.log_fetching import fetch_log, purge_log
from kettle.wire.commands import Command, DaemonSignal
from kettle.wire.dialog import Words
from kettle.wire.messages.daemoncore import SetConfig

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream

_NOPS = (
    Command.DC_NOP,
    Command.DC_NOP_READ,
    Command.DC_NOP_WRITE,
    Command.DC_NOP_NEGOTIATOR,
    Command.DC_NOP_ADMINISTRATOR,
    Command.DC_NOP_OWNER,
    Command.DC_NOP_CONFIG,
    Command.DC_NOP_DAEMON,
    Command.DC_NOP_ADVERTISE_STARTD,
    Command.DC_NOP_ADVERTISE_SCHEDD,
    Command.DC_NOP_ADVERTISE_MASTER,
)
_STOPS: dict[int, str] = {
    Command.DC_OFF_GRACEFUL: "graceful",
    Command.DC_OFF_FAST: "fast",
    Command.DC_OFF_PEACEFUL: "peaceful",
    Command.DC_OFF_FORCE: "fast",
}
_SIGNALS = {
    int(signal.SIGTERM): "graceful",
    int(signal.SIGQUIT): "fast",
    int(DaemonSignal.SIGSOFTKILL): "graceful",
    int(DaemonSignal.SIGHARDKILL): "fast",
}
# Limit: names given to one `?names` query; the tables have about 1,500.
_MOST_NAMES = 20_000
# What condor_config_val -summary asks for, in place of a pattern.
_SUMMARY = "|.summary"


class DaemonControl(Protocol):
    """What the generic commands may do to their daemon."""

    runtime: Runtime
    instance_id: str
    peaceful: bool

    def request_shutdown(self, how: str) -> None:
        """Begin to stop: `graceful`, `fast` or `peaceful`."""
        ...

    def request_reconfigure(self) -> None:
        """Read the configuration again, soon."""
        ...


class GenericCommands:
    """The handlers, bound to one daemon."""

    def __init__(self, daemon: DaemonControl) -> None:
        self._daemon = daemon

    def register(self) -> None:
        """Make the daemon's network answer these commands."""
        register = self._daemon.runtime.network.register
        for nop in _NOPS:
            register(nop, self._nop)
        for stop in _STOPS:
            register(stop, self._stop)
        register(Command.DC_RECONFIG, self._reconfigure)
        register(Command.DC_RECONFIG_FULL, self._reconfigure)
        register(Command.DC_SET_PEACEFUL_SHUTDOWN, self._set_peaceful)
        register(Command.DC_SET_FORCE_SHUTDOWN, self._set_force)
        register(Command.DC_RAISESIGNAL, self._raise_signal)
        register(Command.CONFIG_VAL, self._config_value)
        register(Command.DC_CONFIG_VAL, self._config_details)
        register(Command.DC_CONFIG_PERSIST, self._set)
        register(Command.DC_CONFIG_RUNTIME, self._set)
        register(Command.DC_FETCH_LOG, self._fetch_log)
        register(Command.DC_PURGE_LOG, self._purge_log)
        register(Command.DC_QUERY_INSTANCE, self._query_instance)
        register(Command.DC_TIME_OFFSET, self._time_offset)
        register(Command.DC_CHILDALIVE, self._child_alive)

    async def _nop(self, stream: Stream) -> None:
        """Whoever asks only wanted to know that this is allowed."""

    async def _child_alive(self, stream: Stream) -> None:
        """Hear out who says that it lives: nobody here keeps count of that."""
        await stream.receive()

    async def _stop(self, stream: Stream) -> None:
        how = _STOPS[stream.command]
        if how == "graceful" and self._daemon.peaceful:
            how = "peaceful"
        self._log(stream, f"shutting down, {how}")
        self._daemon.request_shutdown(how)

    async def _reconfigure(self, stream: Stream) -> None:
        self._log(stream, "reading the configuration again")
        self._daemon.request_reconfigure()

    async def _set_peaceful(self, stream: Stream) -> None:
        self._log(stream, "the next graceful shutdown will be peaceful")
        self._daemon.peaceful = True

    async def _set_force(self, stream: Stream) -> None:
        self._log(stream, "the next shutdown will not be peaceful")
        self._daemon.peaceful = False

    async def _raise_signal(self, stream: Stream) -> None:
        number = (await stream.receive()).integer()
        if number == signal.SIGHUP:
            self._daemon.request_reconfigure()
        elif number in _SIGNALS:
            self._daemon.request_shutdown(_SIGNALS[number])
        else:
            self._log(stream, f"ignoring signal {number}")

    async def _config_value(self, stream: Stream) -> None:
        name = (await stream.receive()).string()
        config = self._daemon.runtime.config
        try:
            value = config.get(name)
        except KettleError:
            value = None
        await stream.send(Words("Not defined" if value is None else value))

    async def _config_details(self, stream: Stream) -> None:
        name = (await stream.receive()).string()
        config = self._daemon.runtime.config
        if name.startswith("?names"):
            await stream.send(Words(*_matching_names(config, name.partition(":")[2])))
        elif name.startswith("?"):
            await stream.send(Words(f"!error:unsup:1: '{name}' is not supported"))
        else:
            await stream.send(Words(*_describe(config, name)))

    async def _set(self, stream: Stream) -> None:
        """Set a name from the next reconfiguration on, if who asks may."""
        runtime = self._daemon.runtime
        message = SetConfig.read(await stream.receive())
        try:
            runtime.remote_settings.change(
                runtime.config,
                lambda level: runtime.network.allows(stream, level),
                message.name,
                message.setting,
                for_good=stream.command == Command.DC_CONFIG_PERSIST,
            )
        except KettleError as error:
            self._log(stream, f"refusing to set {message.name!r}: {error}")
            await stream.send(Words(-1))
            return
        self._log(stream, f"set: {message.setting or f'{message.name}, no longer'}")
        await stream.send(Words(0))

    async def _fetch_log(self, stream: Stream) -> None:
        await fetch_log(stream, self._daemon.runtime.config)

    async def _purge_log(self, stream: Stream) -> None:
        await purge_log(stream, self._daemon.runtime.config)

    async def _query_instance(self, stream: Stream) -> None:
        await stream.send(Words(to_bytes(self._daemon.instance_id)))

    async def _time_offset(self, stream: Stream) -> None:
        reader = await stream.receive()
        local_depart, _, _, local_arrive = (reader.integer() for _ in range(4))
        now = int(self._daemon.runtime.clock.now())
        if local_arrive:
            await stream.send(Words(local_depart, now, now, local_arrive))

    def _log(self, stream: Stream, text: str) -> None:
        self._daemon.runtime.log(f"{stream.peer.user} at {stream.remote_name}: {text}")


def _describe(config: Config, name: str) -> list[str | None]:
    """Return value, raw line, origin, default and usage; one null string if it is undefined."""
    found = config.find(name)
    if found is None:
        return [None]
    default = config.find_built_in(name)
    try:
        value = config.get(name) or ""
    except KettleError:
        value = ""
    return [
        value,
        f"{found.name} = {found.text}",
        str(found.origin),
        None if default is None else default.text,
        "0 0",
    ]


def _summary(config: Config) -> list[str]:
    """Return the names that are set, below the place where: `#` and the file, or what it is."""
    by_source: dict[str, list[tuple[int, str]]] = {
        DETECTED_SOURCE: [(0, name) for name, _ in config.facts().values()]
    }
    for path in config.files:
        by_source[path] = []
    for macro in config.entries():
        if macro.origin.source not in (DEFAULT_SOURCE, DETECTED_SOURCE):
            place = by_source.setdefault(macro.origin.source, [])
            place.append((macro.origin.line, macro.name))
    found = [f"#{config.subsystem} {CONDOR_VERSION}"]
    for source, names in by_source.items():
        if names:
            found += [f"#{source}", *(name for _, name in sorted(names))]
    return found


def _matching_names(config: Config, pattern: str) -> list[str]:
    if pattern.endswith(_SUMMARY):
        return _summary(config)
    wanted = compile_pattern(pattern, "i")
    if wanted is None:
        return ["!error:regex:1: that is no regular expression"]
    try:
        # One empty string says that there is none.
        return matching(wanted, config.known_names())[:_MOST_NAMES] or [""]
    except TimeoutError:
        return ["!error:regex:1: that regular expression takes too long"]
