"""What a row of a command table says: names, attribute, how the text becomes a value."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One submit command.

    `kind` is the converter: expression, boolean, integer, count (an integer from 0), string, plain
    (a string whose outer quotes stay), file (a string that is made an absolute name), list,
    leading number (what stands behind its digits does not count), comma list (of what may have
    blanks in it), filled string and filled comma list (no attribute where nothing is in them), or
    special where a step of its own in `kettle.submit` makes the attribute. The attribute's name is
    accepted as a command too, but of a few (`registry.py`). `universes` names the one universe
    that looks at the command, "" for all.
    """

    name: str
    attribute: str
    kind: str
    doc: str
    aliases: tuple[str, ...] = ()
    universes: str = ""
