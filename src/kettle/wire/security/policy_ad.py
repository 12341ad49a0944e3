"""The ads of a security negotiation: at most 100 attributes, literals only.

They come from peers that nobody has authenticated yet, so they are not ClassAds here but plain
names and literals: nothing is evaluated. Source: wire notes, Security ads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kettle.classad.text import quote_old
from kettle.errors import RemoteProtocolError
from kettle.patterns import late_pattern
from kettle.wire.codec import Reader, Writer

# Limit: attributes of a security ad, and bytes of one value (a list of commands is the longest).
MAXIMUM_ATTRIBUTES = 100
MAXIMUM_VALUE = 64 * 1024

Literal = str | int | float | bool

_NUMBER = late_pattern(r"-?[0-9]{1,18}")
_LARGEST = 1e18
_REAL = late_pattern(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?")
_STRING = late_pattern(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BOOLEANS = {"true": True, "t": True, "false": False, "f": False}


def parse_literal(text: str) -> Literal:
    """Read a literal; anything that would need evaluation is a RemoteProtocolError."""
    found = _STRING.fullmatch(text)
    if found is not None:
        return found[1].replace('\\"', '"')
    if _NUMBER.fullmatch(text):
        return int(text)
    boolean = _BOOLEANS.get(text.lower())
    if boolean is not None:
        return boolean
    if _REAL.fullmatch(text):
        return float(text)
    raise RemoteProtocolError(f"a security ad has the value {text[:80]!r}, which is no literal")


def render_literal(value: Literal) -> str:
    """Write a literal in the old syntax."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote_old(value)
    return repr(value)


class PolicyAd(Mapping[str, Literal]):
    """Names and literals of one security ad; names are looked up in any case."""

    __slots__ = ("_spelling", "_values")

    def __init__(self, values: Mapping[str, Literal | None] | None = None) -> None:
        self._values: dict[str, Literal] = {}
        self._spelling: dict[str, str] = {}
        for name, value in (values or {}).items():
            if value is not None:
                self.set(name, value)

    def set(self, name: str, value: Literal) -> None:
        """Set an attribute."""
        self._values[name.lower()] = value
        self._spelling.setdefault(name.lower(), name)

    def __getitem__(self, name: str) -> Literal:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spelling.values())

    def __len__(self) -> int:
        return len(self._values)

    def text(self, name: str) -> str:
        """Return a string attribute, empty if it is absent or not a string."""
        value = self._values.get(name.lower())
        return value if isinstance(value, str) else ""

    def number(self, name: str, default: int = 0) -> int:
        """Return an integer attribute; a string of digits counts (SessionDuration is one)."""
        value = self._values.get(name.lower())
        if isinstance(value, str) and _NUMBER.fullmatch(text := value.strip()):
            return int(text)
        if isinstance(value, float):
            return int(value) if abs(value) < _LARGEST else default
        return value if isinstance(value, int) else default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a boolean attribute; `YES` and `TRUE` as strings count."""
        value = self._values.get(name.lower())
        if isinstance(value, str):
            return value[:1].upper() in ("Y", "T")
        return bool(value) if value is not None else default

    def words(self, name: str) -> tuple[str, ...]:
        """Return a comma-separated list attribute."""
        return tuple(word for word in re.split(r"[,\s]+", self.text(name)) if word)

    def write(self, writer: Writer) -> None:
        """Append the ad."""
        lines = (f"{name} = {render_literal(self[name])}" for name in self)
        writer.ads_lines([line.encode("utf-8", "surrogateescape") for line in lines])

    @classmethod
    def read(cls, reader: Reader) -> PolicyAd:
        """Read an ad; raises RemoteProtocolError for too many attributes or a computed value."""
        raw = reader.ad(maximum=MAXIMUM_ATTRIBUTES)
        ad = cls()
        for name in raw:
            text = (raw.text(name) or "").strip()
            if len(text) > MAXIMUM_VALUE:
                raise RemoteProtocolError(f"security ad attribute {name} is too long")
            ad.set(name, parse_literal(text))
        return ad
