"""What the interface keeps for the whole program: its configuration, its connections, its log.

The wheel reads the configuration when it is imported and keeps one for the program; so does this,
from the environment there was then, but only once it is wanted. Nothing else is global.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kettle.compat.htcondor2.errors import said_as, words_of
from kettle.config import Config, load_config
from kettle.config.loading import ROOT_FILES
from kettle.config.origin import Origin
from kettle.runtime.storage.files import SystemSources

if TYPE_CHECKING:
    from kettle.client.connector import Connector
    from kettle.client.pool import Pool
    from kettle.runtime.logs import Log

_SET_BY_PROGRAM: Final = Origin("<python>")
# The daemon cores' own names for the categories that `LogLevel` numbers.
_CATEGORIES: Final = {
    0: "D_ALWAYS",
    1: "D_ERROR",
    2: "D_STATUS",
    4: "D_JOB",
    5: "D_MACHINE",
    6: "D_CONFIG",
    7: "D_PROTOCOL",
    8: "D_PRIV",
    9: "D_DAEMONCORE",
    11: "D_SECURITY",
    14: "D_NETWORK",
    22: "D_HOSTNAME",
    24: "D_AUDIT",
}
_CATEGORY_BITS: Final = 0x1F
_SECOND_LEVEL: Final = 0x700


class Process:
    """One program's use of the interface."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.subsystem = "TOOL"
        self.log: Log | None = None
        # A token that is tried before all others.
        self.token: str | None = None
        self._environment = dict(environment)
        self._root: str | None = None
        self._config: Config | None = None
        self._connector: Connector | None = None

    @property
    def config(self) -> Config:
        """The configuration; HTCondorException if it cannot be read."""
        if self._config is None:
            self._config = self._load()
        return self._config

    def _load(self) -> Config:
        sources = SystemSources()
        environment = self._environment
        root = self._root
        if root is None and "CONDOR_CONFIG" not in environment and not _has_root_file(sources):
            # As in the wheel a program may do without any.
            root = os.devnull
        with said_as(words_of):
            return load_config(sources, environment, subsystem=self.subsystem, root=root)

    @property
    def connector(self) -> Connector:
        """What opens connections under the configuration; it keeps their sessions."""
        if self._connector is None:
            if self.token is not None:
                self._connector = self.connector_for(self.token)
                return self._connector
            from kettle.client.connector import Connector

            self._connector = Connector(self.config, self.log.debug if self.log else None)
        return self._connector

    def use_token(self, token: str | None) -> None:
        """Use a token of the program's own from now on, or none, and no earlier session."""
        self.token = token
        self._connector = None

    def connector_for(self, token: str | None) -> Connector:
        """Return what opens connections, with a token of a program's own if it has one."""
        if token is None:
            return self.connector
        from kettle.compat.htcondor2.tokens import TokenConnector

        return TokenConnector(self.config, token, self.log.debug if self.log else None)

    def pool(self, named: str = "") -> Pool:
        """Return the configured pool, or the one of this name."""
        from kettle.client.pool import Pool

        return Pool(self.connector, named)

    def reload(self, root: str | None, environment: Mapping[str, str]) -> None:
        """Read the configuration anew; what the program set is forgotten."""
        self._environment = dict(environment)
        self._root = root
        self._config = self._load()
        self._connector = None

    def set_subsystem(self, name: str) -> None:
        """Take the part of another program, whose configuration counts from the next reload on."""
        self.subsystem = name.upper()

    def assign(self, name: str, text: str) -> None:
        """Set a name of the configuration for this program."""
        self.config.assign(name, text, _SET_BY_PROGRAM)
        self._connector = None

    def write_log_to(self, log: Log | None) -> None:
        """Tell from now on what happens in this log, or nobody."""
        self.log = log
        self._connector = None

    def say(self, level: int, text: str) -> None:
        """Write a line of the category and depth that a LogLevel says, if it is wanted."""
        if self.log is None:
            return
        category = _CATEGORIES.get(level & _CATEGORY_BITS, "D_ALWAYS")
        if level & _SECOND_LEVEL:
            category = f"{category}:2"
        self.log.debug(category, text)


def _has_root_file(sources: SystemSources) -> bool:
    home = sources.home_directory("condor")
    places = [*ROOT_FILES, *([f"{home}/condor_config"] if home else [])]
    return any(sources.exists(path) for path in places)


PROCESS: Final = Process(os.environ)
