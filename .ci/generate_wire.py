"""Write docs/generated/wire.md from the tables of commands and messages. Run it after a change."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

MANUAL = ROOT / "docs/generated/wire.md"

from kettle.levels import DIRECTLY_IMPLIED  # noqa: E402
from kettle.wire import messages  # noqa: E402
from kettle.wire.commands import Command, NegotiationWord  # noqa: E402
from kettle.wire.messages.fields import MESSAGES, Message  # noqa: E402
from kettle.wire.messages.rpc import Call  # noqa: E402
from kettle.wire.security.negotiation import METHOD_BITS, VERDICTS, Wish  # noqa: E402

HEAD = """\
# Wire: commands and messages

Made by `.ci/generate_wire.py` from `kettle.wire`; do not edit.

Forms: `int` 8 bytes, big-endian; `byte` 1 byte; `str` bytes and NUL, on an encrypted connection
after an `int` with their number; `secret` a `str` that is never logged; `float` two `int`; `ad` an
`int` with the number of attributes, a `str` for each, two empty `str`; `[...]` only if bytes are
left.
"""


def manual() -> str:
    """Return the page's text."""
    return "\n".join((HEAD, *_negotiation(), *_levels(), *_commands(), *_messages())) + "\n"


def _negotiation() -> Iterator[str]:
    yield "## Negotiation\n"
    wishes = [Wish.REQUIRED, Wish.PREFERRED, Wish.OPTIONAL, Wish.NEVER]
    yield "| client \\ server | " + " | ".join(one.name for one in wishes) + " |"
    yield "|---|---|---|---|---|"
    for client in wishes:
        cells = (VERDICTS[client, server].value for server in wishes)
        yield f"| {client.name} | " + " | ".join(cells) + " |"
    bits = ", ".join(f"{name} {bit}" for name, bit in METHOD_BITS.items())
    yield f"\nMethod bits: {bits}.\n"


def _levels() -> Iterator[str]:
    yield "## Levels\n"
    yield "| level | implies |"
    yield "|---|---|"
    for level, implied in DIRECTLY_IMPLIED.items():
        yield f"| {level} | {', '.join(implied)} |"
    yield ""


def _commands() -> Iterator[str]:
    yield "## Commands\n"
    yield "| number | name | daemon: level | authentication | |"
    yield "|--:|---|---|---|---|"
    for command in sorted(Command):
        parts: dict[str, list[str]] = {}
        for daemon in command.daemons:
            levels = "+".join(command.levels(daemon))
            parts.setdefault(levels, []).append(daemon.name.lower())
        access = "; ".join(f"{', '.join(names)}: {levels}" for levels, names in parts.items())
        forced = "forced" if command.force_authentication else ""
        yield f"| {int(command)} | {command.name} | {access} | {forced} | {command.doc} |"
    yield "\nWords inside NEGOTIATE: " + ", ".join(
        f"{word.name} {int(word)}" for word in NegotiationWord
    )
    yield ""


def _messages() -> Iterator[str]:
    for module_info in sorted(pkgutil.iter_modules(messages.__path__), key=lambda one: one.name):
        module = importlib.import_module(f"{messages.__name__}.{module_info.name}")
        kinds = [kind for kind in MESSAGES if kind.__module__ == module.__name__]
        if not kinds or module_info.name in ("fields", "rpc"):
            continue
        yield f"## Messages: {module_info.name.replace('_', ' ')}\n"
        yield (module.__doc__ or "").strip() + "\n"
        yield "| message | opens with | fields | reply | |"
        yield "|---|---|---|---|---|"
        yield from map(_row, kinds)
        yield ""


def _row(kind: type[Message]) -> str:
    opening = ""
    if kind.word is not None:
        opening = f"int {int(kind.word)}"
    elif kind.command is not None:
        opening = kind.command.name
    elif kind.answers is not None:
        opening = f"answers {kind.answers.name}"
    fields = ", ".join(f"{name}: {field.form}" for name, field in kind.fields) or "—"
    reply = kind.reply.value if issubclass(kind, Call) else ""
    doc = " ".join((kind.__doc__ or "").split())
    cells = (kind.__name__, opening, fields, reply, doc)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    MANUAL.write_text(manual(), encoding="utf-8")
