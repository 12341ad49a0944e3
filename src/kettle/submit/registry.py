"""All submit commands together: by name, and the nearest one to a typing error."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kettle.submit.commands import cloud, labels, policy, program, requests, transfer, universes
from kettle.submit.commands.command import Command, Role

if TYPE_CHECKING:
    from kettle.nearest import Nearest

TABLES = (program, requests, transfer, policy, labels, universes, cloud)


def _names_of(row: Command) -> tuple[str, ...]:
    """Return all names that set a command, its own first."""
    attribute = row.attribute if row.is_named_alike else ""
    return tuple(name for name in (row.name, *row.aliases, attribute) if name)


@cache
def all_commands() -> tuple[Command, ...]:
    """Return every command."""
    return tuple(command for table in TABLES for command in table.COMMANDS)


@cache
def simple_commands() -> tuple[Command, ...]:
    """Return the commands whose attribute depends on nothing but their own text."""
    made_elsewhere = ("special", "unread")
    return tuple(command for command in all_commands() if command.kind not in made_elsewhere)


@cache
def commands_of(role: Role) -> dict[str, str]:
    """Return the commands of a role, by the attribute that each sets."""
    return {row.attribute: row.name for row in all_commands() if row.role == role}


@cache
def known_names() -> dict[str, str]:
    """Return all names that mean a command, by lower case, with the command's own spelling."""
    names: dict[str, str] = {}
    for command in all_commands():
        for name in _names_of(command):
            names.setdefault(name.lower(), name)
    return names


def nearest_command(name: str) -> str:
    """Return the command closest to a misspelt one, empty if none is near or it is one."""
    if name.lower() in known_names():
        return ""
    return _words().of(name)


@cache
def _words() -> Nearest:
    from kettle.nearest import Nearest  # for those alone who mistype

    return Nearest(known_names().values(), cutoff=0.8)


@cache
def _by_name() -> dict[str, Command]:
    found: dict[str, Command] = {}
    for command in all_commands():
        for name in (command.name, *command.aliases):
            found.setdefault(name.lower(), command)
    # An attribute may be that of several commands, or have the name of another one.
    for command in all_commands():
        found.setdefault(command.attribute.lower(), command)
    return found


def find_command(name: str) -> Command | None:
    """Return the command that has a name, its attribute's among them; None if there is none."""
    return _by_name().get(name.lower()) if name else None


def attribute_of(name: str) -> str:
    """Return the attribute that a command sets, given under any of its names; else the name's own.

    What a description forces is given with its `MY.`.
    """
    command = find_command(name)
    if command is not None and command.attribute:
        return command.attribute
    return name[3:] if name[:3].upper() == "MY." else name


@cache
def command_names(command: str) -> tuple[str, ...]:
    """Return all names that set a command, its own first."""
    for row in all_commands():
        if row.name == command:
            return tuple(dict.fromkeys(name.upper() for name in _names_of(row)))
    return (command.upper(),)


@cache
def given_names(command: str) -> tuple[str, ...]:
    """Return the names that a command itself has, without its attribute's, its own first."""
    for row in all_commands():
        if row.name == command:
            return (row.name, *row.aliases)
    return (command,)
