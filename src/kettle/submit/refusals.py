"""Where a value stands that was refused, and the nearest right one.

The reference's words for a wrong value name neither file nor line. The error knows its command
(`JobBuilder.at_fault`); whoever catches it asks here where that stands, and adds the answer as the
error's hint, so that the reference's words stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.errors import ConfigError
from kettle.nearest import LOOSE, nearest_of
from kettle.octets import BLANKS
from kettle.submit import grid, policy, program, registry, transfer

if TYPE_CHECKING:
    from kettle.errors import LanguageError, SubmitError
    from kettle.submit.commands.command import Command
    from kettle.submit.macros import SubmitMacros, Variable

# The modules that have the words of commands that take few (`Command.words`).
_OWNERS = {
    module.__name__.rpartition(".")[2]: module for module in (grid, policy, program, transfer)
}
# Limit: the signs of a value that a hint shows.
_LONGEST = 60


def hint_for(error: LanguageError, told: SubmitError, macros: SubmitMacros) -> str:
    """Return file, line and text of what a refusal is about; empty where nothing of it is given.

    `told` is what the submitter is told of `error`, and knows the command.
    """
    circle = error.circle if isinstance(error, ConfigError) else ()
    if circle:
        lines = (_line_of(macros.variable_of(name)) for name in dict.fromkeys(circle))
        return "\n".join(filter(None, lines))
    variable = macros.variable_of(told.command) if told.command else None
    line = _line_of(variable)
    if variable is None or isinstance(error, ConfigError):
        return line
    near = nearest_value(variable.name, _expanded(variable, macros), told.choices)
    return f"{line}. Did you mean '{near}'?" if near else line


def nearest_value(command: str, text: str, others: tuple[str, ...] = ()) -> str:
    """Return the word closest to a misspelt one of a command that takes few; else empty.

    `others` are the words of a command that is not known to take few.
    """
    row = registry.find_command(command)
    words = words_of(row) if row is not None and row.words else others
    word = text.partition(" ")[0] if command == "grid_resource" else text
    known = {one.lower(): one for one in words}
    if not known or word.lower() in known:
        return ""
    for key in (word.lower(), f"sig{word.lower()}"):
        if key in known:
            return known[key]
    return nearest_of(word, words, LOOSE)


def words_of(row: Command) -> tuple[str, ...]:
    """Return what a command may say, where it is one of a few words; else none."""
    module, _, name = row.words.partition(".")
    return tuple(getattr(_OWNERS[module], name)) if name else ()


def _expanded(variable: Variable, macros: SubmitMacros) -> str:
    try:
        return macros.expand(variable.text).strip(BLANKS) if "$" in variable.text else variable.text
    except ConfigError:
        return variable.text


def _line_of(variable: Variable | None) -> str:
    if variable is None:
        return ""
    shown = variable.text if len(variable.text) <= _LONGEST else f"{variable.text[:_LONGEST]}…"
    given = f"+{variable.name[3:]}" if variable.name[:3].upper() == "MY." else variable.name
    line = f"{variable.origin}: {given} = {shown}"
    return f"       {line}".replace("\n", " ")
