"""A personal pool in one folder: made, started, waited for, stopped, removed.

Everything a pool writes is inside its folder. Works as root (jobs then run as another account) and
as anybody; `kettle up` and `kettle down` are thin shells over this. What the folder says is
`folder.py`'s, making one `making.py`'s, its daemons are `running.py`'s; what the pool is configured
to be is `settings.py`'s.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kettle.pool import running
from kettle.pool.folder import PoolFolder
from kettle.pool.location import Location
from kettle.pool.making import Maker
from kettle.pool.readiness import Tells
from kettle.pool.running import START_SECONDS, Waits
from kettle.pool.turns import open_to_owner

if TYPE_CHECKING:
    from kettle.pool.remains import Remains


class PersonalPool(PoolFolder):
    """The pool in a folder. As a context manager it is made and started, and purged at the end.

    `configuration` is text appended to the pool's own settings when it is made; `system` makes it
    the pool of the whole machine; `location` is where it stands among other machines, without one
    where it stood, else alone.
    """

    def __init__(
        self,
        folder: str,
        *,
        configuration: str = "",
        environment: Mapping[str, str] | None = None,
        system: bool = False,
        location: Location | None = None,
    ) -> None:
        outside = dict(os.environ if environment is None else environment)
        super().__init__(folder, outside, location)
        self._maker = Maker(self, configuration, system=system)

    def __enter__(self) -> Self:
        self.make()
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop(how="fast")
        self.purge()

    def configure(self, text: str | None) -> None:
        """Give the pool these settings of its user's in place of earlier ones; None: keep those.

        Raises UsageError if the pool is up with others, or there.
        """
        with open_to_owner():
            self._maker.configure(text)

    def make(self) -> None:
        """Make the folder and its configuration; one that exists keeps both.

        Raises UsageError for a folder that holds something else, or that jobs could not enter.
        """
        with open_to_owner():
            self._maker.make()

    def start(self, *, seconds: float = START_SECONDS, tell_trouble: Tells | None = None) -> None:
        """Start the daemons and return when the pool is ready; nothing happens if it is up.

        Raises KettleError with the tail of what the daemons said if it is not ready in time, and
        where its own machine takes no jobs, unless `tell_trouble` is to be told why.
        """
        with open_to_owner():
            running.start(self, seconds, tell_trouble)

    def stop(
        self,
        *,
        how: str = "graceful",
        seconds: float | None = None,
        waits: Waits = lambda _seconds: None,
    ) -> bool:
        """Stop the pool: `graceful` or `fast`, and kill what is left after `seconds`.

        None: as long as its settings say. `waits` is told once, if it takes a while, for how many
        seconds at most. Returns False if it was not up.
        """
        return running.stop(self, how, seconds, waits)

    def end_remains(self) -> Remains:
        """End what jobs of this pool left on this machine when its daemons were killed."""
        # Loaded here: it brings an event loop with it, which a pool that came up has no use for.
        from kettle.pool.remains import end_remains

        return end_remains(self)

    def purge(self) -> None:
        """Remove the pool and everything in its folder; UsageError if it is up or is none."""
        self._maker.purge()

    def discard(self) -> None:
        """Remove a pool that did not start, but for the logs that say why, if it has any."""
        self._maker.discard()
