"""What statements act on, and what the files that are read next depend on: for types alone.

Whoever reads statements knows no more of a configuration, a description or a rule than this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from kettle.config.origin import Asked, Origin
from kettle.config.sources import Sources
from kettle.errors import Remark


class Table(Protocol):
    """What statements act on."""

    warnings: list[Remark]
    files: list[str]

    def expand(self, text: str) -> str:
        """Return the text with its macros replaced."""

    def raw(self, name: str) -> str | None:
        """Return the text of a name, as it is written; None for one that has none."""
        ...

    def is_defined(self, name: str) -> bool:
        """Tell whether a name has a value that is not empty."""

    def has_template(self, text: str) -> bool:
        """Tell whether `CATEGORY:NAME`, or a category alone, is known to `use`."""

    def assign(self, name: str, text: str, origin: Origin) -> None:
        """Set a name; mentions of itself are replaced at once."""


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name as it was first written."""


class Loaded(Table, Protocol):
    """The configuration that is being read, as far as what is read next depends on it."""

    sources: Sources
    environment: Mapping[str, str]
    subsystem: str
    own_facts: dict[str, str]
    asked: list[Asked]
    wordy: list[Asked]

    def get(self, name: str) -> str | None:
        """Return the expanded text of a name; None if it is not defined or empty."""

    def words(self, name: str) -> tuple[str, ...]:
        """Return the words of a list."""
        ...

    def boolean(self, name: str) -> bool | None:
        """Return a truth value; None if undefined or none."""

    def entries(self) -> Iterator[Named]:
        """Yield what files and environment set so far, ordered by name."""
        ...

    def origin(self, name: str) -> Origin | None:
        """Return where a name was set, None if nobody defines it."""

    def settle_host_name(self) -> None:
        """Call the machine what the configuration calls it."""
