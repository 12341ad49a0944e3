"""`kettle service`: have systemd run the pool, of this user or of the whole machine.

What the unit says is `kettle.pool.service_unit`'s; here it is written, enabled, shown and removed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping

import kettle
from kettle.config import load_config
from kettle.config.stopping import longest_graceful_seconds
from kettle.errors import KettleError, NotFoundError, StorageError, UsageError
from kettle.octets import AS_IS
from kettle.pool.folder import SYSTEM_FOLDER
from kettle.pool.personal import PersonalPool
from kettle.pool.service_unit import Unit, check_name
from kettle.runtime.storage.files import SystemSources
from kettle.tools.front import place
from kettle.tools.programs import Streams

# How long the master may take beyond what it gives its daemons, in seconds.
_STOP_MARGIN = 60
# systemctl must not hang the command for ever where its manager does not answer.
_ANSWER_SECONDS = 150
_RUNNING = "/run/systemd/system"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle service`."""
    parser = argparse.ArgumentParser(
        description="Have systemd start the pool with the machine (--system, as root) or with your "
        "session, and again when it fails.",
        epilog="A user's pool ends with the last session unless 'loginctl enable-linger' is given.",
    )
    parser.add_argument("action", choices=["install", "uninstall", "status"])
    place.add_folder(parser)
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument(
        "--system",
        action="store_true",
        help=f"the pool of the whole machine, in {SYSTEM_FOLDER} unless --dir says otherwise",
    )
    scope.add_argument("--user", action="store_true", help="a pool of your own (the default)")
    parser.add_argument("--name", default="kettle", metavar="N", help="the unit's name: N.service")
    parser.add_argument(
        "--print",
        "--dry-run",
        dest="show",
        action="store_true",
        help="install: print the unit, and change nothing",
    )
    parser.add_argument(
        "--no-start", action="store_true", help="install: enable the unit, but start nothing now"
    )
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Do the action."""
    folder = arguments.dir or (SYSTEM_FOLDER if arguments.system else None)
    pool = PersonalPool(
        str(place.choose_folder(folder, environment)),
        environment=environment,
        system=arguments.system,
    )
    unit = make_unit(pool, system=arguments.system, name=check_name(arguments.name))
    manager = Manager(unit, environment)
    if arguments.action == "status":
        return _say_status(manager, streams, as_json=arguments.json)
    if arguments.action == "uninstall":
        return _uninstall(manager, streams, as_json=arguments.json)
    if arguments.show:
        streams.stdout.write(unit.render())
        return 0
    _install(manager, pool, start=not arguments.no_start)
    facts = manager.facts()
    state = "runs" if facts["active"] == "active" else "is enabled"
    said = f"{unit.file_name} {state}; its pool is in {pool.folder}.\n"
    streams.stdout.write(json.dumps(facts) + "\n" if arguments.json else said)
    return 0


def make_unit(pool: PersonalPool, *, system: bool, name: str) -> Unit:
    """Return the unit of a pool, with the interpreter that runs this."""
    stop_seconds = 1800
    if pool.exists():
        config = load_config(SystemSources(), pool.environment(), subsystem="MASTER")
        stop_seconds = math.ceil(longest_graceful_seconds(config))
    return Unit(
        folder=pool.folder,
        config_file=pool.config_file,
        python=sys.executable,
        python_path=os.path.dirname(os.path.dirname(os.path.abspath(kettle.__file__))),
        system=system,
        stop_seconds=stop_seconds + _STOP_MARGIN,
        name=name,
    )


class Manager:
    """systemctl, for the machine or for this user, and one unit's file."""

    def __init__(self, unit: Unit, environment: Mapping[str, str]) -> None:
        self.unit = unit
        self.path = unit.path(environment)
        self._environment = dict(environment)

    def check(self) -> None:
        """Raise the error that says why nothing can be installed here, if so."""
        if self.unit.system and os.geteuid() != 0:
            raise UsageError("the machine's units are root's", hint="sudo, or leave out --system")
        if not os.path.isdir(_RUNNING):
            raise NotFoundError(
                "systemd does not run on this machine",
                hint="--print shows the unit; 'kettle up' starts the pool without it",
            )

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run systemctl; NotFoundError if there is none."""
        scope = ["--system" if self.unit.system else "--user"]
        try:
            return subprocess.run(
                ["systemctl", *scope, "--no-pager", *words],
                env=self._environment,
                capture_output=True,
                encoding="utf-8",
                errors=AS_IS,
                check=False,
                timeout=_ANSWER_SECONDS,
            )
        except FileNotFoundError:
            raise NotFoundError("there is no systemctl on this machine") from None
        except subprocess.TimeoutExpired:
            raise KettleError(f"systemctl {words[0]} does not end") from None

    def must(self, *words: str) -> None:
        """Run systemctl; KettleError with its own words if it fails."""
        done = self.call(*words)
        if done.returncode:
            said = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
            raise KettleError(f"systemctl {' '.join(words)}: {said}")

    def installed(self) -> bool:
        """Whether the unit's file is there."""
        return os.path.exists(self.path)

    def write(self, text: str) -> None:
        """Write the unit's file; UsageError if one that is not ours has its name."""
        try:
            if self.installed() and not self._is_ours():
                raise UsageError(
                    f"{self.path} was not written by kettle", hint="choose another --name"
                )
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path + ".new", "w", encoding="utf-8", errors=AS_IS) as file:
                file.write(text)
            os.rename(self.path + ".new", self.path)
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from error

    def remove(self) -> None:
        """Remove the unit's file; UsageError if it is not ours."""
        if not self._is_ours():
            raise UsageError(f"{self.path} was not written by kettle, so it stays")
        try:
            os.unlink(self.path)
        except OSError as error:
            raise StorageError(f"cannot remove {self.path}: {error.strerror}") from error

    def _is_ours(self) -> bool:
        with open(self.path, encoding="utf-8", errors=AS_IS) as file:
            return "kettle service install" in file.readline()

    def facts(self) -> dict[str, object]:
        """Return what is so of the unit."""
        facts: dict[str, object] = {
            "unit": self.unit.file_name,
            "path": self.path,
            "installed": self.installed(),
            "folder": self.unit.folder,
            "enabled": "unknown",
            "active": "unknown",
        }
        if os.path.isdir(_RUNNING):
            for name in ("enabled", "active"):
                facts[name] = self.call(f"is-{name}", self.unit.file_name).stdout.strip()
        return facts


def _install(manager: Manager, pool: PersonalPool, *, start: bool) -> None:
    manager.check()
    if start and pool.master_pid() is not None and not _runs(manager):
        raise UsageError(f"the pool in {pool.folder} is up already", hint="kettle down, then again")
    pool.make()
    manager.write(manager.unit.render())
    manager.must("daemon-reload")
    manager.must("enable", *(["--now"] if start else []), manager.unit.file_name)


def _runs(manager: Manager) -> bool:
    return manager.call("is-active", manager.unit.file_name).stdout.strip() == "active"


def _uninstall(manager: Manager, streams: Streams, *, as_json: bool) -> int:
    if not manager.installed():
        raise NotFoundError(f"there is no unit {manager.path}")
    manager.check()
    manager.must("disable", "--now", manager.unit.file_name)
    manager.remove()
    manager.must("daemon-reload")
    said = f"{manager.unit.file_name} is gone; the pool's folder {manager.unit.folder} stays.\n"
    streams.stdout.write(json.dumps(manager.facts()) + "\n" if as_json else said)
    return 0


def _say_status(manager: Manager, streams: Streams, *, as_json: bool) -> int:
    """Say how the unit stands; 0 if it is installed and runs, 3 if not, as systemctl has it."""
    facts = manager.facts()
    if as_json:
        streams.stdout.write(json.dumps(facts) + "\n")
    elif not facts["installed"]:
        streams.stdout.write(f"{facts['unit']} is not installed ({facts['path']}).\n")
    else:
        streams.stdout.write(
            f"{facts['unit']} is installed, {facts['enabled']} and {facts['active']}; "
            f"its pool is in {facts['folder']}.\n"
        )
    return 0 if facts["active"] == "active" else 3
