"""What a row of a command table says: names, attribute, how the text becomes a value."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One submit command.

    `kind` is the converter: expression, boolean, integer, string, plain (a string whose outer
    quotes stay), list, or special where a step of its own in `kettle.submit` makes the attribute.
    The attribute's name is accepted as a command too. `universes` is "" for all.
    """

    name: str
    attribute: str
    kind: str
    doc: str
    aliases: tuple[str, ...] = ()
    universes: str = ""
