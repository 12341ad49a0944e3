"""How a tool reaches its pool: configuration, connections, the daemon that is meant.

Every tool that speaks to a daemon starts here, so that `-pool`, `-name` and `-addr` mean the same
everywhere and importing what connections need happens only once one is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kettle.config import Config, load_config
from kettle.errors import EndingConfigError
from kettle.runtime.storage.files import SystemSources
from kettle.tools.options import DEBUG_FLAGS
from kettle.tools.programs import ProgramEndError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.client.connector import Connector
    from kettle.client.pool import Kind, Located, Pool


class Reach:
    """One tool's way to its pool. `pool`, `name` and `address` are what the options said."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        pool: str = "",
        name: str = "",
        address: str = "",
        subsystem: str = "TOOL",
    ) -> None:
        self.environment = environment
        try:
            self.config: Config = load_config(SystemSources(), environment, subsystem=subsystem)
        except EndingConfigError as error:
            raise ProgramEndError(str(error), error.EXIT_CODE) from None
        if self.config.get(f"{subsystem}_CLASSAD_USER_MAP_NAMES"):
            from kettle.runtime.user_maps import install_user_maps  # few tools are given maps

            install_user_maps(self.config, self._tell_problem)
        self.named_pool = pool
        self.name = name
        self.address = address
        self._connector: Connector | None = None
        self._pool: Pool | None = None

    @property
    def connector(self) -> Connector:
        """What opens connections."""
        if self._connector is None:
            from kettle.client.connector import Connector

            self._connector = Connector(self.config, self._trace())
        return self._connector

    def _tell_problem(self, problem: str) -> None:
        trace = self._trace()
        if trace is not None:
            trace("D_ALWAYS", problem)

    def _trace(self) -> Callable[[str, str], None] | None:
        """Return what takes the lines of -debug, if that was said: a log on standard error."""
        flags = self.environment.get(DEBUG_FLAGS)
        if flags is None:
            return None
        from kettle.runtime.logs import Log, parse_verbosity  # few say -debug

        wanted = (self.config.get("ALL_DEBUG"), self.config.get("TOOL_DEBUG"), flags)
        return Log(verbosity=parse_verbosity(*wanted)).debug

    @property
    def pool(self) -> Pool:
        """The pool that the options or the configuration name."""
        if self._pool is None:
            from kettle.client.pool import Pool

            self._pool = Pool(self.connector, self.named_pool)
        return self._pool

    def locate(self, kind: Kind, *, to_command: bool = False) -> Located:
        """Find the daemon that the options mean, as `Pool.locate` does.

        Raises NotFoundError if it is nowhere.
        """
        return self.pool.locate(kind, self.name, address=self.address, to_command=to_command)

    def without_pool(self) -> Reach:
        """Return the way to the configuration's own pool, whatever pool `-pool` named.

        Raises UnknownHostError if it named none.
        """
        if not self.named_pool:
            return self
        self.pool.collectors()
        return Reach(self.environment, name=self.name, address=self.address)

    def schedd_or_none_such(self) -> Located:
        """Find the schedd that the options mean, whose refusal is worded for tools about one job.

        -pool alone changes nothing: this host's schedd is asked, as in the reference. Raises
        NotFoundError, in words that a tool prints as they are.
        """
        from kettle.errors import NotFoundError, Unreached

        if not self.name:
            try:
                here = Reach(self.environment) if self.named_pool else self
                return here.schedd()
            except (NotFoundError, Unreached):
                raise NotFoundError("Can't find address of local schedd") from None
        try:
            return self.schedd()
        except (NotFoundError, Unreached):
            place = f"pool {self.named_pool}" if self.named_pool else "local pool"
            raise NotFoundError(f"No such schedd named {self.name} in {place}") from None

    def schedd(self) -> Located:
        """Find the schedd that the options mean."""
        from kettle.client.pool import SCHEDD

        return self.locate(SCHEDD)
