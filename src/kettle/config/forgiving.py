"""What becomes of a value that nobody can read: an error, or something else for who must go on.

A tool stops for what is wrong, and so does a daemon that starts. A daemon at work, and whoever
begins for a job, goes on with the value from before; where that is wrong too, with what allows
least of a knob that restricts something (`strictest.py`), and with any other's default. Its log
tells of each such name once. `store.py` asks here whenever a value is wrong.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol, TypeVar

from kettle.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kettle.config.knob import Knob
    from kettle.config.origin import Origin

T = TypeVar("T")


class Readable(Protocol):
    """A configuration, as far as what counted before is looked for in it."""

    @property
    def forgiveness(self) -> Forgiveness:
        """What becomes of its wrong values."""
        ...

    def read(self, which: Knob[T]) -> T:
        """Return a knob's value, or raise ConfigError."""
        ...

    def text(self, name: str) -> str | None:
        """Return the expanded text of a name, or raise ConfigError."""


class Forgiveness:
    """Whether one configuration's wrong values are forgiven, who is told, and what was before it.

    Nothing is forgiven until `begin`. `before` is the configuration that counted before.
    """

    def __init__(self, before: Readable | None = None) -> None:
        self.before = before
        self._tell: Callable[[str], object] | None = None
        self._told: set[str] = set()
        # What was met before there was anybody to tell.
        self._untold: list[str] = []

    @property
    def has_begun(self) -> bool:
        """Whether something else counts for what is wrong."""
        return self._tell is not None

    def begin(self, tell: Callable[[str], object] | None, before: Readable | None) -> None:
        """Forgive from now on, as `Config.forgive` says."""
        if before is not None:
            self.before = before
            earlier = before.forgiveness.before
            if earlier is not None:
                # Limit: whoever is read again and again keeps no more of them than these.
                earlier.forgiveness.before = None
        self._tell = tell or self._untold.append
        if tell is not None:
            for text in self._untold:
                tell(text)
            self._untold.clear()

    def withheld(self) -> Forgiveness:
        """Return what forgives nothing and knows the same configuration from before."""
        return Forgiveness(self.before)

    def complain(self, name: str, text: str) -> None:
        """Tell of what is wrong with a name, once; only where that is forgiven."""
        if self._tell is not None and name.upper() not in self._told:
            self._told.add(name.upper())
            self._tell(text)

    def instead(
        self, name: str, read: Callable[[Readable], T], parse: Callable[[str], T]
    ) -> tuple[T, str] | None:
        """Return what counts for a name that is set wrongly, and what that is; None: its default.

        `read` finds it in a configuration from before or raises ConfigError.
        """
        before = self.before
        while before is not None:
            with contextlib.suppress(ConfigError):
                return read(before), "the value from before is used"
            before = before.forgiveness.before
        # Loaded by those alone who meet something wrong.
        from kettle.config.strictest import strictest

        text = strictest(name)
        return None if text is None else (parse(text), f"{text} is used, which allows least")

    def instead_of(self, which: Knob[T], expand: Callable[[str], str]) -> tuple[T, str]:
        """Return what counts for a knob that is set wrongly, and what that is.

        `expand` replaces the macros of its default.
        """
        found = self.instead(which.name, lambda config: config.read(which), which.parse)
        if found is not None:
            return found
        try:
            value = which.parse(expand(which.default or which.unset))
        except ConfigError:
            # A default that names what is set wrongly.
            value = which.parse(which.unset)
        return value, "its default is used"


def placed(error: ConfigError, origin: Origin | None) -> ConfigError:
    """Return an error with the place before it where the name that it is about is set."""
    place = f"{origin}: " if origin else ""
    return ConfigError(
        f"{place}{error.message}",
        source=origin.source if origin else "",
        line=origin.line if origin else 0,
        hint=error.hint,
        complaint=error.complaint,
        nearest=error.nearest,
    )
