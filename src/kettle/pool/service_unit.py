"""The systemd unit of a pool: text, and where it belongs.

Pure. The master says itself when it is ready and when it stops (`runtime.service_manager`); systemd
starts it again when it fails, and leaves its cgroup to it, where jobs get groups of their own.
Installing is `kettle service`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kettle.errors import UsageError

# What is not let into a unit unquoted; systemd expands `%` and reads quotes and backslashes.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9:_.-]{0,99}")

_TEXT = """\
# Written by `kettle service install`; `kettle service uninstall` removes it.
[Unit]
Description=Kettle pool in {shown}
Documentation=man:kettle(1)
After=network-online.target nss-user-lookup.target
Wants=network-online.target

[Service]
Type=notify
NotifyAccess=main
Environment={environment}
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory={directory}
# The master asks its daemons to leave, and jobs are queued again; who stays longer is killed.
KillMode=mixed
TimeoutStartSec=120
TimeoutStopSec={stop_seconds}
Restart=on-failure
RestartSec=5
# A configuration that cannot be used does not become usable by starting again.
RestartPreventExitStatus=44
Delegate=yes
LimitNOFILE=65536
TasksMax=infinity
{more}
[Install]
WantedBy={target}
"""
_SYSTEM = """\
# A job that has eaten the memory is killed alone.
OOMPolicy=continue
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """What differs from one pool's unit to another's."""

    folder: str
    config_file: str
    # The interpreter, and the folders that its modules come from.
    python: str
    python_path: str
    system: bool
    stop_seconds: int
    name: str = "kettle"

    @property
    def file_name(self) -> str:
        """The unit's name, as systemctl takes it."""
        return f"{self.name}.service"

    def path(self, environment: Mapping[str, str]) -> str:
        """Return where the unit's file belongs: the machine's units, or its user's."""
        if self.system:
            return f"/etc/systemd/system/{self.file_name}"
        base = environment.get("XDG_CONFIG_HOME", "")
        if not base.startswith("/"):
            base = os.path.join(environment.get("HOME") or "/", ".config")
        return os.path.join(base, "systemd", "user", self.file_name)

    def render(self) -> str:
        """Return the unit's text; UsageError for paths that no unit can name."""
        for path in (self.folder, self.config_file, self.python, self.python_path):
            if any(ord(character) < 32 for character in path):
                raise UsageError(f"{path!r} has characters that a unit cannot name")
        words = [self.python, "-P", "-m", "kettle.master", "-f"]
        variables = {"CONDOR_CONFIG": self.config_file, "PYTHONPATH": self.python_path}
        return _TEXT.format(
            shown=self.folder.replace("%", "%%"),
            environment=" ".join(quote(f"{name}={text}") for name, text in variables.items()),
            command=" ".join(quote(word) for word in words),
            directory=self.folder.replace("%", "%%"),
            stop_seconds=self.stop_seconds,
            more=_SYSTEM if self.system else "",
            target="multi-user.target" if self.system else "default.target",
        )


def check_name(name: str) -> str:
    """Return a unit's name without `.service`; UsageError if systemd would not take it."""
    short = name.removesuffix(".service")
    if not _NAME.fullmatch(short):
        raise UsageError(f"{name} is no name of a unit", hint="letters, digits, -, _ and .")
    return short


def quote(word: str) -> str:
    """Write a word so that systemd reads it as it is."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'
