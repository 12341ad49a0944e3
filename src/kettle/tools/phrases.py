"""The reference's words for a command line that means nothing, as a row for each tool.

Which stream, which exit code and whether the usage follows differ from tool to tool; scripts see
it, so it is reproduced. The nearest option is named after the usage, which is our own.
Recorded from HTCondor 25.14.1 (tests/cli/test_admin_recordings.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.errors import UsageError
from kettle.structs import Struct
from kettle.tools.options import MissingValueError, UnknownOptionError


class Phrases(Struct):
    """How a tool says what is wrong with its options.

    `unknown` has `{word}`, the option as typed. `missing` has it too and `{name}`, the option's
    whole name; `missing_of` are the tool's own sentences for single options. Without `shows_usage`
    nothing follows an unknown option, without `missing_shows_usage` nothing a missing word. Where
    the reference shows its usage and no more (an empty phrase), ours is followed by what is wrong.
    """

    unknown: str
    missing: str
    missing_of: Mapping[str, str] = {}
    shows_usage: bool = True
    missing_shows_usage: bool = True

    def render(self, error: UsageError, usage: str) -> str:
        """Return what the tool says on stderr."""
        if isinstance(error, UnknownOptionError):
            said = self.unknown.format(word=error.word)
            why = error.hint if said else str(error)
            return said + (_usage_with(usage, why) if self.shows_usage else "")
        if isinstance(error, MissingValueError):
            name = error.option.name
            said = self.missing_of.get(name, self.missing).format(word=error.word, name=name)
            if not said:
                return _usage_with(usage, str(error))
            return said + (usage if self.missing_shows_usage else "")
        if isinstance(error, SaidError):
            return f"{error}\n" + (usage if error.with_usage else "")
        return _usage_with(usage, str(error))


class SaidError(UsageError):
    """A command line that makes no sense, in the reference's words; then the usage, or nothing."""

    def __init__(self, message: str, *, with_usage: bool = False, exit_code: int = 1) -> None:
        super().__init__(message)
        self.with_usage = with_usage
        self.exit_code = exit_code


def _usage_with(usage: str, why: str) -> str:
    return f"{usage}\n{why}\n" if why else usage
