"""What `kettle run` asks for, written as an ordinary submit file.

Pure: options in, submit language out. That the words of a command become jobs through the submit
language, and by no other road, means that `kettle run --dry-run` prints something a user can keep,
change and give to `condor_submit`.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kettle.errors import UsageError
from kettle.patterns import late_pattern

PLACEHOLDER = "{}"
# What parts the columns of a row of items when nothing else can be trusted not to occur in them.
SEPARATOR = "\x1f"
SEARCHER = "/usr/bin/env"
_PLAIN = late_pattern(r"^[A-Za-z0-9_@%+=:,./~^-]+$")


@dataclass(frozen=True)
class Request:
    """What the user asked for; sizes are submit-language text (`2GB`), empty means the default."""

    command: Sequence[str]
    items: Sequence[str] | None = None
    cpus: str = ""
    memory: str = ""
    disk: str = ""
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    attributes: Sequence[str] = ()
    folder: str = ""
    log: str = ""
    extra: Sequence[str] = field(default=())
    # Items are paths of files that travel: the command sees their base names.
    by_file: bool = False

    def placed_in(self, folder: str, log: str) -> Request:
        """Return this request with its standard streams and log in a folder."""
        return replace(self, folder=folder, log=log)


def quote_arguments(words: Iterable[str]) -> str:
    """Return the new-syntax value of `arguments`: double-quoted, single quotes group words."""
    quoted = [word if _PLAIN.match(word) else "'" + word.replace("'", "''") + "'" for word in words]
    return '"' + " ".join(quoted).replace('"', '""') + '"'


def protect(text: str) -> str:
    """Return `text` so that the submit language leaves its dollars alone."""
    return text.replace("$", "$(DOLLAR)")


def check_items(items: Sequence[str]) -> None:
    """Raise UsageError for items that a queue statement cannot carry."""
    for number, item in enumerate(items, 1):
        if "\n" in item or SEPARATOR in item:
            raise UsageError(f"item {number} has a line break in it")
        if item.strip() == ")":
            raise UsageError(f"item {number} is a lone ')', which ends a list of items")


def render_queue(items: Sequence[str]) -> list[str]:
    """Return the queue statement over `items`, one job each."""
    if not any("'" in item or '"' in item for item in items):
        return ["queue item from (", *items, ")"]
    rows = [f"{item}{SEPARATOR}" + item.replace("'", "''").replace('"', '""') for item in items]
    return ["queue item, word from (", *rows, ")"]


def render_description(request: Request) -> str:
    """Return the submit file for `request`.

    The words of the command are arguments of the first; a file of that name, when the word has a
    slash, travels with the job, else the command is looked for on the execution point. Raises
    UsageError if there is no command, or items but no placeholder for them.
    """
    program, *arguments = render_command(request)
    lines = [
        f"executable = {program}",
        f"arguments = {quote_arguments(arguments)}",
        f"transfer_executable = {'false' if program == SEARCHER else 'true'}",
        "should_transfer_files = YES",
        "when_to_transfer_output = ON_EXIT",
        f"output = {os.path.join(request.folder, 'out.$(Process)')}",
        f"error = {os.path.join(request.folder, 'err.$(Process)')}",
        f"log = {request.log}",
        *_render_wishes(request),
        *(line if "=" in line else f"{line} = true" for line in request.attributes),
        *request.extra,
    ]
    if request.items is None:
        lines.append("queue")
    else:
        check_items(request.items)
        lines += render_queue(request.items)
    return "\n".join(lines) + "\n"


def render_command(request: Request) -> list[str]:
    """Return the program and its arguments in the submit language.

    A bare name is looked for where the job runs, on the path there. Where there are items and no
    placeholder, the item is the last argument.
    """
    if not request.command:
        raise UsageError("no command", hint="kettle run -- COMMAND [ARGUMENT…]")
    words = [protect(word) for word in request.command]
    if request.items is not None:
        if not any(PLACEHOLDER in word for word in (*words, *request.inputs)):
            words.append(PLACEHOLDER)
        # An item with quotes needs another spelling inside the quoted arguments.
        quotes = any("'" in item or '"' in item for item in request.items)
        name = "word" if quotes else "item"
        macro = f"$Fnx({name})" if request.by_file else f"$({name})"
        words = [word.replace(PLACEHOLDER, macro) for word in words]
    return words if "/" in words[0] else [SEARCHER, *words]


def _render_wishes(request: Request) -> Iterator[str]:
    """Yield the lines about resources and files."""
    for name in ("cpus", "memory", "disk"):
        size = getattr(request, name)
        if size:
            yield f"request_{name} = {size}"
    macro = PLACEHOLDER if request.items is None else "$(item)"
    for direction, paths in (("input", request.inputs), ("output", request.outputs)):
        if paths:
            names = ", ".join(path.replace(PLACEHOLDER, macro) for path in paths)
            yield f"transfer_{direction}_files = {names}"
