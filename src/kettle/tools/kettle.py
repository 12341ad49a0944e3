"""The `kettle` command: everything that HTCondor has no command for.

Only the table of subcommands and the choice among them are here; each subcommand is a module of
`tools/front/` with `build_parser` and `run`. The classic `condor_*` tools are beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import re
import shlex
from collections.abc import Mapping
from typing import Protocol, cast

import kettle
from kettle.errors import KettleError, UsageError
from kettle.named_tuples import NamedTuple
from kettle.nearest import LOOSE, nearest_of
from kettle.tools.programs import Streams


class Subcommand(NamedTuple):
    """A row of the table: the word, and the sentence that `kettle --help` shows."""

    name: str
    sentence: str


SUBCOMMANDS = (
    Subcommand("up", "Start a personal pool; ready when the command returns."),
    Subcommand("down", "Stop the pool, gracefully or fast; --purge removes it."),
    Subcommand("token", "Make the token with which another machine may join the pool."),
    Subcommand("env", "Print shell lines after which every condor_* command addresses this pool."),
    Subcommand("run", "Run a command, or one for each line or file, as jobs, and wait for them."),
    Subcommand("status", "Show the pool, its queue and its slots on one screen."),
    Subcommand("watch", "Show the queue live, with keys to hold, release, remove and tail."),
    Subcommand("why", "Say why a job is idle or held, and what would change it."),
    Subcommand("trace", "Draw a job's life across the daemons, with the time each step took."),
    Subcommand("config", "Check a configuration: names, values, spellings, policies, with lines."),
    Subcommand("submit", "Check a submit description: what it would do, and what is wrong."),
    Subcommand("doctor", "Check installation, configuration and machine; say how to mend them."),
    Subcommand("service", "Have systemd run the pool, of this user or of the whole machine."),
    Subcommand("demo", "Bring up a pool, run real work through it, show the result, take it down."),
    Subcommand("completion", "Print a completion script for bash, zsh or fish."),
)


class Front(Protocol):
    """What a module of `tools/front/` offers."""

    def build_parser(self) -> argparse.ArgumentParser:
        """Return the parser of the subcommand's own arguments."""

    def run(
        self, arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams
    ) -> int:
        """Do it; the result is the exit code."""


# What other programs call an option of ours, where no letters tell.
_ALSO_CALLED = dict.fromkeys(("--folder", "--directory", "--path", "--pool"), "--dir")


def load_front(name: str) -> Front:
    """Return the module behind the subcommand `name`."""
    return cast(Front, importlib.import_module(f"kettle.tools.front.{name}"))


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `kettle SUBCOMMAND …`; an operating error is one sentence on stderr and exit code 1."""
    words = argv[1:]
    if not words or words[0] in {"-h", "--help", "-help", "help"}:
        streams.stdout.write(render_help())
        return 0
    if words[0] in {"-V", "--version", "-version"}:
        streams.stdout.write(f"kettle {kettle.__version__}\n")
        return 0
    try:
        front = load_front(choose_subcommand(words[0]))
        parser = front.build_parser()
        parser.prog = f"kettle {words[0]}"
        try:
            arguments = parser.parse_args(words[1:])
        except SystemExit as stop:  # argparse has already said what is wrong
            if stop.code:
                streams.stderr.write(suggest_options(words[1:], parser))
                streams.stderr.write(suggest_folder(words[1:], parser))
            raise
        return front.run(arguments, environment, streams)
    except KettleError as error:
        streams.stderr.write(f"kettle: {error}\n")
        return 1
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2


def suggest_options(words: list[str], parser: argparse.ArgumentParser) -> str:
    """Return a line for each option that there is not: the nearest right one, or where they are."""
    known = sorted(set(re.findall(r"--[a-z][a-z-]*", parser.format_help())))
    lines = []
    for word in words:
        if word == "--":
            break
        name = word.partition("=")[0]
        if name.startswith("--") and not any(option.startswith(name) for option in known):
            # The dashes, which all have, make no two options alike.
            found = nearest_of(name[2:], [option[2:] for option in known], LOOSE)
            near = _ALSO_CALLED.get(name)
            near = near if near in known else f"--{found}" if found else None
            lists = f"there is no such option; '{parser.prog} --help' lists them"
            lines.append(f"{name}: {f'did you mean {near}?' if near else lists}\n")
    return "".join(lines)


def suggest_folder(words: list[str], parser: argparse.ArgumentParser) -> str:
    """Return a line for a word that nothing takes where a folder is an option's value."""
    if "--dir" not in parser.format_help():
        return ""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        left = [each for each in parser.parse_known_args(words)[1] if not each.startswith("-")]
        if len(left) == 1:
            return f"{left[0]}: a pool's folder is given as --dir {shlex.quote(left[0])}\n"
    return ""


def choose_subcommand(word: str) -> str:
    """Return the subcommand that `word` names.

    Raises UsageError, naming the nearest one, if there is none.
    """
    names = [row.name for row in SUBCOMMANDS]
    if word in names:
        return word
    near = nearest_of(word, names, LOOSE)
    hint = f"did you mean 'kettle {near}'?" if near else "'kettle --help' lists them"
    raise UsageError(f"there is no subcommand '{word}'", hint=hint)


def render_help() -> str:
    """Return the page of `kettle --help`."""
    width = max(len(row.name) for row in SUBCOMMANDS)
    rows = "".join(f"  {row.name:<{width}}  {row.sentence}\n" for row in SUBCOMMANDS)
    return (
        "Usage: kettle SUBCOMMAND [OPTIONS]\n\n"
        f"{rows}\n"
        "'kettle SUBCOMMAND --help' explains each. The HTCondor commands (condor_submit, …) are\n"
        "installed beside this one; 'eval \"$(kettle env)\"' makes them address your pool.\n"
    )
