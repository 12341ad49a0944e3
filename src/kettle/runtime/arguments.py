"""The options that every daemon takes, as the reference's daemons take them.

`condor_schedd -f -t -p 9618 -local-name X -pidfile F -l FOLDER -a EXTENSION -sock ID -c FILE`.
What is left over is the service's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kettle.errors import UsageError

_WITH_VALUE = {
    "p": "port",
    "port": "port",
    "local-name": "local_name",
    "pidfile": "pid_file",
    "log": "log_folder",
    "l": "log_folder",
    "append": "log_extension",
    "a": "log_extension",
    "sock": "socket_name",
    "config": "config_file",
    "c": "config_file",
    "runfor": "run_minutes",
    "r": "run_minutes",
    "k": "kill_pid_file",
    "kill": "kill_pid_file",
}
_WITHOUT_VALUE = {
    "f": "foreground",
    "foreground": "foreground",
    "b": "background",
    "background": "background",
    "t": "log_to_terminal",
    "termlog": "log_to_terminal",
    "v": "version",
    "version": "version",
    "q": "quiet",
    "quiet": "quiet",
    "h": "help",
    "help": "help",
    "d": "dynamic",
    "dynamic": "dynamic",
}

HELP = """\
  -f, -b              stay in the foreground; go into the background
  -t                  log to the terminal
  -c, -config FILE    read this configuration
  -local-name NAME    be the instance of this name: NAME.KNOB overrules KNOB
  -p, -port NUMBER    listen on this port
  -sock ID            listen under this name behind the shared port
  -l, -log FOLDER     write logs there; -a EXTENSION after the names of logs
  -pidfile FILE       write the process id there
  -h, -help           show this and end
  -v, -version        show the version and end
"""
"""What `-help` shows of every daemon."""


@dataclass(slots=True)
class DaemonArguments:
    """What the command line of a daemon said."""

    foreground: bool = False
    background: bool = False
    log_to_terminal: bool = False
    version: bool = False
    help: bool = False
    quiet: bool = False
    dynamic: bool = False
    port: str = ""
    local_name: str = ""
    pid_file: str = ""
    log_folder: str = ""
    log_extension: str = ""
    socket_name: str = ""
    config_file: str = ""
    run_minutes: str = ""
    kill_pid_file: str = ""
    rest: list[str] = field(default_factory=list)


def parse_arguments(words: Sequence[str]) -> DaemonArguments:
    """Read the words after the program's name; UsageError if a value is missing or no number."""
    found = DaemonArguments()
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name = word.lstrip("-").lower() if word.startswith("-") else ""
        if name in _WITHOUT_VALUE:
            setattr(found, _WITHOUT_VALUE[name], True)
        elif name in _WITH_VALUE:
            if not waiting:
                raise UsageError(f"{word} needs a value")
            setattr(found, _WITH_VALUE[name], waiting.pop(0))
        else:
            found.rest.append(word)
    for option, text in (("-p", found.port), ("-r", found.run_minutes)):
        if text and not text.isdecimal():
            raise UsageError(f"{option} {text} is not a number")
    return found
