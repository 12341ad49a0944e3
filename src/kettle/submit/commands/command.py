"""What a row of a command table says: names, attribute, how the text becomes a value."""

from __future__ import annotations

from typing import Literal

from kettle.named_tuples import NamedTuple

Kind = Literal[
    "boolean",
    "comma list",
    "count",
    "expression",
    "file",
    "filled comma list",
    "filled string",
    "forbidden",
    "integer",
    "leading number",
    "list",
    "plain",
    "quoted file",
    "quoted list",
    "special",
    "string",
    "unread",
]

# A file that travels to the job, one that is written when it runs or ends, and a condition under
# which something happens.
Role = Literal["", "input", "written", "condition"]

# Of two faults that is told which the reference meets first. The turn of a simple command that can
# be refused is below this where the reference looks at it before the others about a job's end, and
# above it where it does so behind them (`steps.py`). Source: tests/data/submit_order.json.
MIDDLE = 100


class Command(NamedTuple):
    """One submit command.

    `kind` is the converter: expression, boolean, integer, count (an integer from 0), leading number
    (what stands behind its digits does not count), string, plain (a string whose outer quotes
    stay), file (a string that is made an absolute name), list, comma list (of what may have blanks
    in it), filled string and filled comma list (no attribute where nothing is in them). Quoted
    file, quoted list and forbidden are for the commands that a schedd adds (`extended.py`): without
    the outer quotes, and refused whatever they say. Special is what the `step` makes, a function of
    `kettle.submit` by module and name; unread is what nobody looks at, as in the reference.

    The attribute's name is accepted as a command too where it `is_named_alike`. `universes`
    names the one universe that looks at the command, "" for all. `turn` says when a simple command
    is looked at (`MIDDLE`), 0 for behind all others: it cannot be refused.

    `role` is what the check of a description (`check.py`, `doubts.py`) is to look at: whether a
    file is there, whether a file can be written, whether a condition can ever be true. `words` is
    what a command takes that takes few words, a table of `kettle.submit` by module and name, from
    which a misspelt one is put right (`refusals.py`); a truth value needs none.
    """

    name: str
    attribute: str
    kind: Kind
    doc: str
    aliases: tuple[str, ...] = ()
    universes: str = ""
    step: str = ""
    turn: int = 0
    is_named_alike: bool = True
    role: Role = ""
    words: str = ""
