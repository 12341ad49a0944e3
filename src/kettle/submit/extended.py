"""What administrators add to the submit language: commands of a schedd, templates of a machine.

A schedd names its commands in EXTENDED_SUBMIT_COMMANDS, an ad whose values say by example what a
command's text becomes; it hands them to whoever submits, and reads the digests of late clusters
with them. Templates (`use template : Name(arguments)`) are SUBMIT_TEMPLATE_<name> of the machine
where a description is read. Source: the manual, Configuration of the schedd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ERROR, UNDEFINED, ClassAd, parse_old_ad
from kettle.classad.nodes import Literal, Unary
from kettle.errors import ClassAdSyntaxError
from kettle.submit.commands.command import Command, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kettle.config import Config

# What `condor_submit -capabilities` says of each kind.
SHOWN: Mapping[Kind, str] = {
    "boolean": "boolean true/false",
    "count": "unsigned integer",
    "expression": "expression",
    "forbidden": "forbidden",
    "integer": "signed integer",
    "quoted file": "filename",
    "quoted list": "stringlist",
    "string": "string",
}


def read_commands_ad(config: Config) -> ClassAd:
    """Return EXTENDED_SUBMIT_COMMANDS as an ad; it ends before the first line that is none."""
    found = ClassAd()
    for line in (config.get("EXTENDED_SUBMIT_COMMANDS") or "").split("\n"):
        try:
            found.update(parse_old_ad(line))
        except ClassAdSyntaxError:
            break
    return found


def read_extended_commands(config: Config) -> tuple[Command, ...]:
    """Return the commands that this configuration adds, for descriptions read without a schedd."""
    return commands_of(read_commands_ad(config))


def commands_of(ad: ClassAd) -> tuple[Command, ...]:
    """Return the commands of an EXTENDED_SUBMIT_COMMANDS ad; undefined ones are none."""
    rows = ((name, kind_of(ad, name)) for name in ad.names() if not _is_unset(ad, name))
    return tuple(Command(name, name, kind, "") for name, kind in rows)


def _is_unset(ad: ClassAd, name: str) -> bool:
    expr = ad.lookup(name)
    return isinstance(expr, Literal) and expr.value is UNDEFINED


def kind_of(ad: ClassAd, name: str) -> Kind:
    """Return the converter that an example value asks for, as of `Command.kind`."""
    expr = ad.lookup(name)
    sign = -1 if isinstance(expr, Unary) and expr.operator == "-" else 1
    if isinstance(expr, Unary) and sign < 0:
        expr = expr.operand
    value = expr.value if isinstance(expr, Literal) else None
    if value is ERROR:
        return "forbidden"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if value * sign < 0 else "count"
    if not isinstance(value, str):
        return "expression"
    if "," in value:
        return "quoted list"
    return "quoted file" if value.lower().startswith("file") else "string"


def describe_commands(ad: ClassAd) -> list[str]:
    """Return a line for each command, as `condor_submit -capabilities` shows them."""
    names = sorted(ad.names(), key=str.lower)
    width = max(map(len, names), default=0)
    return [f"{name:<{width}}  value is {_show_kind(ad, name)}" for name in names]


def _show_kind(ad: ClassAd, name: str) -> str:
    kind = kind_of(ad, name)
    is_file = kind == "quoted list" and (ad.string(name) or "").lower().startswith("file")
    return "filename list" if is_file else SHOWN[kind]


def read_templates(config: Config) -> dict[str, str]:
    """Return the templates of SUBMIT_TEMPLATE_NAMES by lower-case name.

    Macros that the configuration defines are replaced at once; all others are the description's.
    """
    found = {}
    for name in config.words("SUBMIT_TEMPLATE_NAMES"):
        text = config.raw(f"SUBMIT_TEMPLATE_{name}")
        # The list of the names looks like a template of that name.
        if text is not None and name.lower() != "names":
            found[name.lower()] = config.expand_known(text)
    return found
