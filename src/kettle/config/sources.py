"""What the configuration language needs from outside: files, commands and facts of the machine.

A protocol only. The real sources are `kettle.runtime.storage.files.SystemSources`;
`MemorySources` here keeps texts in a dictionary, for configurations that come from a string and for
tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kettle.octets import BLANKS, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random


class Sources(Protocol):
    """Where configuration texts come from; every method may raise OSError."""

    def read_text(self, path: str) -> str:
        """Return the text of a file; bytes that are not UTF-8 survive as surrogates."""

    def write_text(self, path: str, text: str) -> None:
        """Write a file anew (`include command into`)."""

    def list_directory(self, path: str) -> list[str]:
        """Return the names in a folder, in no particular order."""

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or folder of this name."""

    def run_command(self, command: Sequence[str]) -> tuple[int, str]:
        """Run a program and return its exit status and what it printed."""

    def home_directory(self, user: str) -> str | None:
        """Return the home of an account, `user` "" meaning the one that runs us."""

    def machine_facts(self) -> Mapping[str, str]:
        """Return the detected macros, such as HOSTNAME, DETECTED_CORES and USERNAME."""

    def random(self) -> Random:
        """Return the source of randomness for `$RANDOM_CHOICE()` and `$RANDOM_INTEGER()`."""


class MemorySources:
    """Sources out of dictionaries: no file, no command, no fact that was not given."""

    def __init__(
        self,
        files: dict[str, str] | None = None,
        facts: dict[str, str] | None = None,
        commands: dict[str, str] | None = None,
        seed: int = 0,
    ) -> None:
        self.files = {} if files is None else files
        self.facts = {} if facts is None else facts
        self.commands = {} if commands is None else commands
        self.seed = seed

    def read_text(self, path: str) -> str:
        """Return the text kept under the path."""
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return self.files[path]

    def write_text(self, path: str, text: str) -> None:
        """Keep the text under the path."""
        self.files[path] = text

    def list_directory(self, path: str) -> list[str]:
        """Return the names of the texts kept directly under the path."""
        prefix = path.rstrip("/") + "/"
        names = {name[len(prefix) :] for name in self.files if name.startswith(prefix)}
        if not names:
            raise FileNotFoundError(2, "No such file or directory", path)
        return [name for name in names if "/" not in name]

    def exists(self, path: str) -> bool:
        """Tell whether a text is kept under the path."""
        return path in self.files

    def run_command(self, command: Sequence[str]) -> tuple[int, str]:
        """Return the text kept for the command line."""
        line = " ".join(command)
        if line not in self.commands:
            raise FileNotFoundError(2, "No such file or directory", line)
        return 0, self.commands[line]

    def home_directory(self, user: str) -> str | None:
        """Nobody has a home here."""
        del user
        return None

    def machine_facts(self) -> Mapping[str, str]:
        """Return the given facts."""
        return self.facts

    def random(self) -> Random:
        """Return a generator with the fixed seed."""
        from random import Random

        return Random(self.seed)  # noqa: S311 - choices in configuration are no secrets


class MisplacedBarError(ValueError):
    """A name that has a `|`, and more behind it: neither a file's nor a command's."""


def is_command(name: str) -> bool:
    """Tell whether a name means a command: it has a `|`, which has to be its end."""
    return "|" in name


def command_in(name: str) -> str | None:
    """Return the command that a name means by the `|` at its end, None if it means a file.

    Raises MisplacedBarError.
    """
    before, _, after = name.partition("|")
    if after.strip(" \t|"):
        raise MisplacedBarError("not a valid command, | must be at the end\n")
    return before.strip(BLANKS) if is_command(name) else None


def split_command(text: str) -> list[str]:
    """Return the words of a command that the configuration names; raise ValueError.

    Compat: blanks alone part them, and quotes are letters like others, unless the whole stands in
    double quotes: then it is written as the arguments of a job are
    (test_an_included_command_has_quotes_as_letters_unless_all_of_it_is_quoted).
    """
    if not text.startswith('"'):
        words = words_of(text)
    else:
        from kettle.classad.functions.system import split_arguments  # few commands are quoted

        inside = text[1:-1].replace('""', '"') if text[1:].endswith('"') else None
        found = split_arguments(inside) if inside is not None else None
        if found is None:
            raise ValueError(f"a quote in {text} is not closed")
        words = found
    if not words:
        raise FileNotFoundError(2, "No such file or directory")
    return words


def describe_failure(error: Exception) -> str:
    """Return how a command that could not be run is told, in the reference's words."""
    if isinstance(error, MisplacedBarError):
        return str(error)
    code = getattr(error, "errno", None) or 0
    why = getattr(error, "strerror", None) or str(error)
    return f"not a valid command, errno={code} : {why}"


def wait_status(exit_status: int) -> int:
    """Return the status as wait(2) has it: the code in the second byte, a signal in the first."""
    return exit_status << 8 if exit_status >= 0 else -exit_status
