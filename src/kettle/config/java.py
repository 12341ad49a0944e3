"""How the configuration says to run Java: JAVA, its class path and its arguments.

The startd asks the machine with these words whether it works (`startd/programs.py`), the starter
starts Java jobs with them (`starter/launch.py`). What the answer means is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kettle.classad.functions.system import split_arguments
from kettle.config.knob import split_list
from kettle.config.knobs.java import JavaKnobs
from kettle.config.store import Config
from kettle.errors import ConfigError
from kettle.octets import BLANKS


@dataclass(frozen=True)
class JavaMachine:
    """A Java machine as it is configured; without a `program` there is none."""

    program: str = ""
    classpath_argument: str = "-classpath"
    classpath: tuple[str, ...] = (".",)
    separator: str = ":"
    extra_arguments: tuple[str, ...] = ()

    def command(self, more_classpath: Sequence[str] = ()) -> list[str]:
        """Return the words that come before a class and its arguments (or other options)."""
        path = self.separator.join((*self.classpath, *more_classpath))
        return [self.program, self.classpath_argument, path, *self.extra_arguments]


def read_java(config: Config) -> JavaMachine:
    """Return the configured Java machine.

    Raises ConfigError if JAVA_EXTRA_ARGUMENTS has a quote that is not closed. They are words apart
    by blanks, or all of them in double quotes, where single quotes group.
    """
    value = config.value
    # As it stands: its quotes mean something.
    text = (config.get("JAVA_EXTRA_ARGUMENTS") or "").strip(BLANKS)
    extra: list[str] | None = text.split()
    if len(text) > 1 and text[0] == text[-1] == '"':
        extra = split_arguments(text[1:-1].replace('""', '"'))
    if extra is None:
        raise ConfigError(f"JAVA_EXTRA_ARGUMENTS = {text}: a quote is not closed")
    return JavaMachine(
        value(JavaKnobs.JAVA),
        value(JavaKnobs.JAVA_CLASSPATH_ARGUMENT) or "-classpath",
        split_list(value(JavaKnobs.JAVA_CLASSPATH_DEFAULT)) or (".",),
        value(JavaKnobs.JAVA_CLASSPATH_SEPARATOR)[:1] or ":",
        tuple(extra),
    )
