"""Which daemons of a pool are missed, as their master says, while somebody waits for the pool.

The collector's word is not enough: the ad of a daemon that was killed is there for a quarter of
an hour. Which states there are is decided in `master/ads.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kettle.errors import KettleError, NotFoundError

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.client.pool import Pool

# How long a master may take to answer.
_ANSWER_SECONDS = 3.0
# How often it is asked while a daemon is missed.
_LOOK_SECONDS = 0.25
# A daemon that has said why it ends, and has been gone for so long, does not come at once.
_DEAD_SECONDS = 3.0
# What a master says of a daemon that ran and is not to be started again.
_OFF = "Hold"
_WORDS = {"Dead": "dead", "Startup": "not up yet", "Hung": "hung"}


def ask_master(pool: Pool) -> ClassAd | None:
    """Return the state of each daemon, by its name; None if the master does not answer now."""
    # Loaded here: who only asks whether the pool is up need not load the wire.
    from kettle.classad import ClassAd
    from kettle.client.daemon import ask_ad
    from kettle.client.pool import MASTER
    from kettle.wire.commands import Command

    try:
        address = pool.locate(MASTER).address
        request = ClassAd({"WaitTimeout": 0})
        return ask_ad(
            pool.connector, address, Command.DC_QUERY_READY, request, timeout=_ANSWER_SECONDS
        )
    except KettleError:
        return None


class WatchedDaemons:
    """Which of the daemons in `names` are at work, by the answer of `ask`, and since when not.

    `last_words` returns what the log of a daemon's last life says of its end, empty for nothing.
    """

    def __init__(
        self,
        names: Iterable[str],
        ask: Callable[[], ClassAd | None],
        last_words: Callable[[str], str],
    ) -> None:
        self._names = sorted(names)
        self._ask = ask
        self._last_words = last_words
        self._states: ClassAd | None = None
        self._missed: dict[str, str] = {}
        self._since = self._asked = 0.0

    def look(self) -> bool:
        """Ask now, unless that was just done; True if no daemon is missed.

        A master that does not answer misses none.
        """
        now = time.monotonic()
        if self._missed and now - self._asked < _LOOK_SECONDS:
            return False
        self._states = states = self._ask()
        self._asked = time.monotonic()
        before = self._missed
        found = {} if states is None else {name: states.string(name) for name in self._names}
        self._missed = {name: word for name, word in found.items() if word in _WORDS}
        if self._missed and not before:
            self._since = now
        return not self._missed

    def check(self) -> None:
        """Raise KettleError if a daemon is dead for reasons of its own, which will not go soon."""
        if not self._missed or time.monotonic() - self._since <= _DEAD_SECONDS:
            return
        dead = (name for name, word in self._missed.items() if word == "Dead")
        if any(map(self._last_words, dead)):
            raise self._error()

    def check_none_is_off(self, names: Iterable[str]) -> None:
        """Raise NotFoundError if one of these, which are waited for, was found to stay off."""
        for name in sorted(names):
            if self._states is not None and self._states.string(name) == _OFF:
                raise NotFoundError(
                    f"the pool is up, but its {name.lower()} is turned off",
                    hint=f"condor_on -{name.lower()} turns it on",
                )

    def check_at_last(self) -> None:
        """Raise KettleError if a daemon is missed and there is no more time to wait for it."""
        if self._missed:
            raise self._error()

    def _error(self) -> KettleError:
        said = []
        for name, word in self._missed.items():
            why = self._last_words(name)
            said.append(f"its {name.lower()} is {_WORDS[word]}{': ' if why else ''}{why}")
        return KettleError(
            f"the pool is up, but {'; '.join(said)}",
            hint="the master starts it again from time to time; kettle down stops the pool",
        )
