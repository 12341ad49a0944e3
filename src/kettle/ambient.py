"""What an evaluation may ask of the world: the time, chance, the local zone, user maps.

Pure code evaluates expressions, so the clock and the dice are arguments. Where a caller gives
none, the ambient context is used; the runtime, the client and the tests install theirs at start.
Untouched, the ambient clock stands at 0 and chance is seeded with 0, so that an evaluation by
pure code can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

UserMap = Callable[[str], "str | None"]


def _stopped_clock() -> float:
    return 0.0


def _utc_offset(seconds: float) -> int:  # noqa: ARG001 - a zone's rule is a function of the moment
    return 0


class Context:
    """The world as an evaluation sees it.

    `now` returns seconds since the epoch; `utc_offset` the local zone's seconds east of UTC at a
    moment; `user_maps` are what `userMap` looks in, by name in lower case, replaced whenever the
    configuration is read; `home_of` gives a user's home directory; `debug` takes the text of a
    `debug()` call. `strict` chooses the rules of new ClassAds: no fall-back to TARGET, no special
    `MY` and `CurrentTime`. `random` may be what makes the dice when they are first thrown: most
    programs never do.
    """

    __slots__ = (
        "_random",
        "debug",
        "home_of",
        "now",
        "strict",
        "user_maps",
        "utc_offset",
        "zone_name",
    )

    def __init__(
        self,
        now: Callable[[], float] = _stopped_clock,
        random: Random | Callable[[], Random] | None = None,
        *,
        utc_offset: Callable[[float], int] = _utc_offset,
        zone_name: Callable[[float], str] = lambda _: "UTC",
        user_maps: Mapping[str, UserMap] | None = None,
        home_of: Callable[[str], str | None] = lambda _user: None,
        debug: Callable[[str], None] | None = None,
        strict: bool = False,
    ) -> None:
        self.now: Final = now
        self._random = random
        self.utc_offset: Final = utc_offset
        self.zone_name: Final = zone_name
        self.user_maps: Mapping[str, UserMap] = user_maps if user_maps is not None else {}
        self.home_of: Final = home_of
        self.debug: Final = debug
        self.strict: Final = strict

    @property
    def random(self) -> Random:
        """The dice."""
        dice = self._random
        if dice is None:
            from random import Random

            dice = Random(0)  # noqa: S311 - not a secret
        elif callable(dice):
            dice = dice()
        self._random = dice
        return dice


class _Ambient:
    """Holds the context used where none is given."""

    __slots__ = ("context", "install_bound")

    def __init__(self) -> None:
        self.context = Context()
        # What bounds the time of patterns in this process, called when the first one is searched
        # for: most programs search for none.
        self.install_bound: Callable[[], None] | None = None


AMBIENT: Final = _Ambient()


def set_ambient(context: Context) -> Context:
    """Install the context used where none is given; return the one it replaces."""
    before = AMBIENT.context
    AMBIENT.context = context
    return before


def ambient() -> Context:
    """Return the context used where none is given."""
    return AMBIENT.context
