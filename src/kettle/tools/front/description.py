"""What `kettle run` asks for, written as an ordinary submit file.

Pure: options in, submit language out. That the words of a command become jobs through the submit
language, and by no other road, means that `kettle run --dry-run` prints something a user can keep,
change and give to `condor_submit`.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kettle.errors import UsageError
from kettle.patterns import late_pattern

PLACEHOLDER = "{}"
# What parts the columns of a row of items when nothing else can be trusted not to occur in them.
SEPARATOR = "\x1f"
NOTHING = "$(nil)"
SEARCHER = "/usr/bin/env"
_PLAIN = late_pattern(r"^[A-Za-z0-9_@%+=:,./~^-]+$")
# Dollars before a bracket, or before a function's name and its bracket; what stands in the item's
# place, and what comes after an item, may begin with a bracket.
_DOLLARS = late_pattern(r"(?<!\$)\$+(?=[A-Za-z]*(?:\(|\{\}))")
_DOLLARS_OF_ITEM = late_pattern(r"(?<!\$)\$+(?=[A-Za-z]*(?:\(|\Z))")
_NOT_IN_ITEMS = {"\n": "a line break", "\0": "a NUL", SEPARATOR: "a unit separator"}


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
    # Where the items' files are to be taken from, if not from the items' own paths.
    paths: Sequence[str] = ()

    def placed_in(self, folder: str, log: str) -> Request:
        """Return this request with its standard streams and log in a folder."""
        return replace(self, folder=folder, log=log)


def quote_arguments(words: Iterable[str]) -> str:
    """Return the new-syntax value of `arguments`: double-quoted, single quotes group words."""
    quoted = [word if _PLAIN.match(word) else "'" + word.replace("'", "''") + "'" for word in words]
    return '"' + " ".join(quoted).replace('"', '""') + '"'


def protect(text: str, dollars: re.Pattern[str] = _DOLLARS) -> str:
    """Return `text` so that neither the submit language nor the match expands its dollars.

    Of several dollars in a row those of the match (`$$(`) have a name of their own, which is
    spoken last; a single one has the submit language's. Dollars that begin no macro stay.
    """

    def spell(found: re.Match[str]) -> str:
        pairs, odd = divmod(len(found.group()), 2)
        return "$$(DOLLARDOLLAR)" * pairs + "$(DOLLAR)" * odd

    return dollars.sub(spell, text)


def spell_item(text: str) -> str:
    """Return `text` as a row of items that gives its variable just that text.

    A row loses the blanks around it, is a comment after `#` and ends the list with `)`; a mention
    of `nil`, which is nothing, keeps what stands at its ends.
    """
    spelled = protect(text, _DOLLARS_OF_ITEM)
    before = "" if re.match(r"[^\s#)]", spelled) else NOTHING
    after = NOTHING if spelled.endswith("\\") or spelled != spelled.rstrip() else ""
    return before + spelled + after


def check_items(items: Sequence[str]) -> None:
    """Raise UsageError for items that a queue statement cannot carry."""
    for number, item in enumerate(items, 1):
        for character, name in _NOT_IN_ITEMS.items():
            if character in item:
                raise UsageError(f"item {number} has {name} in it")


def quote_item(item: str) -> str:
    """Return an item as it is written between the quotes of `arguments`."""
    return item.replace("'", "''").replace('"', '""')


def render_queue(request: Request, *, names_item: bool = True) -> list[str]:
    """Return the queue statement over the items, one job each.

    `item` is the text itself, or the path of the file that travels; `word` what the command gets,
    where that is spelled otherwise. An `item` that no other line names is left out beside it.
    """
    items = request.items or ()
    check_items(items)
    if request.by_file:
        paths = request.paths or items
        check_paths(paths)
        words = [quote_item(os.path.basename(item)) for item in items]
    else:
        paths, words = items, [quote_item(item) for item in items]
    if not has_words(request):
        return ["queue item from (", *map(spell_item, items), ")"]
    if not names_item:
        return ["queue word from (", *map(spell_item, words), ")"]
    pairs = zip(paths, words, strict=True)
    rows = [spell_item(path) + SEPARATOR + spell_item(word) for path, word in pairs]
    return ["queue item, word from (", *rows, ")"]


def check_paths(paths: Sequence[str]) -> None:
    """Raise UsageError for a file whose name a list of files cannot carry."""
    for path in paths:
        if not can_be_listed(path):
            raise UsageError(f"{path!r} cannot be named in a submit file")


def can_be_listed(path: str) -> bool:
    """Tell whether the submit language can name a file: lists of files have no quoting."""
    return not re.search(r'[,"]|\$\$\(|^\s|\s$', path)


def has_words(request: Request) -> bool:
    """Tell whether what the command gets is spelled otherwise than the item."""
    return request.by_file or any(quote_item(item) != item for item in request.items or ())


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
        # Who presses Ctrl-C waits no longer than that for a command that ignores it.
        "job_max_vacate_time = 10",
        *_render_wishes(request),
        *(line if "=" in line else f"{line} = true" for line in request.attributes),
        *request.extra,
    ]
    if request.items is None:
        lines.append("queue")
    else:
        names_item = any("(item" in line.lower() for line in lines)
        queue = render_queue(request, names_item=names_item)
        lines += ["nil ="] if any(NOTHING in row for row in queue) else []
        lines += queue
    return "\n".join(lines) + "\n"


def render_command(request: Request) -> list[str]:
    """Return the program and its arguments in the submit language.

    A bare name is looked for where the job runs, on the path there. Where there are items and no
    placeholder, the item is the last argument.
    """
    if not request.command:
        raise UsageError("no command", hint="kettle run -- COMMAND [ARGUMENT…]")
    if any("\n" in word for word in request.command):
        raise UsageError(
            "the command has a line break in it", hint="put it into a script, ./script"
        )
    words = [protect(word) for word in request.command]
    if request.items is not None:
        if not any(PLACEHOLDER in word for word in (*words, *request.inputs)):
            words.append(PLACEHOLDER)
        macro = "$(word)" if has_words(request) else "$(item)"
        program = words[0].replace(PLACEHOLDER, "$Fnx(item)" if request.by_file else "$(item)")
        words = [program, *(word.replace(PLACEHOLDER, macro) for word in words[1:])]
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
            names = ", ".join(protect(path).replace(PLACEHOLDER, macro) for path in paths)
            yield f"transfer_{direction}_files = {names}"
