"""Steps: attributes that depend on nothing but their command's own text.

The language's own commands are the tables of `commands/`; a schedd adds others to them
(`extended.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from kettle.errors import SubmitError
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS
from kettle.submit.arguments import split_list
from kettle.submit.commands.command import MIDDLE
from kettle.submit.job import JobBuilder, leading_number, strip_quotes
from kettle.submit.registry import simple_commands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kettle.submit.commands.command import Command, Kind


class Setter(NamedTuple):
    """What makes a value of a text, and whether it copies the text (`steps.Step`)."""

    run: Callable[[JobBuilder, Command, str], None]
    copies: bool = False


# What sets the attribute of one command, and whether it copies its text.
_Part = tuple[Callable[[JobBuilder], None], bool]


@cache
def simple_setters() -> tuple[tuple[_Part, ...], tuple[_Part, ...]]:
    """Return what sets the attributes of the language's own simple commands, one for each.

    So that of many jobs only those commands are looked at again that change from job to job. First
    come those that the reference looks at before what is about a job's end.
    """
    early: list[_Part] = []
    late: list[_Part] = []
    for command in sorted(simple_commands(), key=lambda command: command.turn or sys.maxsize):
        part = partial(_set_in_universe, command=command), SETTERS[command.kind].copies
        (early if 0 < command.turn < MIDDLE else late).append(part)
    return tuple(early), (*late, (_set_job_set, False))


def _set_in_universe(job: JobBuilder, command: Command) -> None:
    if not command.universes or command.universes == job.universe.name.lower():
        _set(job, command)


def _set_job_set(job: JobBuilder) -> None:
    if job.is_later:
        # A cluster belongs to one set.
        return
    name = job.text_of("JOBSET.name")
    if not name and not job.param("jobset") and _describes_set(job):
        # Without a name it has that of its first cluster.
        name = job.macros.defaults["CLUSTER"]
    if name:
        job.set_string("JobSetName", strip_quotes(name))


def _describes_set(job: JobBuilder) -> bool:
    """Tell whether something is said of the set of jobs besides its name."""
    said = [key for key in job.macros.variables if key.startswith("JOBSET.")]
    return any(job.text_of(key) for key in said if key != "JOBSET.NAME")


def set_extended(job: JobBuilder) -> None:
    """Set the attributes of the commands that a schedd adds; SubmitError for forbidden ones."""
    for command in job.extended:
        _set(job, command)


def _set(job: JobBuilder, command: Command) -> None:
    text = job.param(command.name)
    if text is not None:
        SETTERS[command.kind].run(job, command, text)


def _set_expression(job: JobBuilder, command: Command, text: str) -> None:
    job.set_expression(command.attribute, text)


def _set_boolean(job: JobBuilder, command: Command, text: str) -> None:
    del text
    job.set_boolean(command.attribute, bool(job.boolean(command.name)))


def _set_integer(job: JobBuilder, command: Command, text: str) -> None:
    del text
    job.set_integer(command.attribute, job.integer(command.name) or 0)


def _set_leading_number(job: JobBuilder, command: Command, text: str) -> None:
    job.set_integer(command.attribute, leading_number(text, 32) or 0)


def _set_string(job: JobBuilder, command: Command, text: str) -> None:
    job.set_string(command.attribute, strip_quotes(text))


def _set_filled_string(job: JobBuilder, command: Command, text: str) -> None:
    if strip_quotes(text):
        _set_string(job, command, text)


def _set_plain(job: JobBuilder, command: Command, text: str) -> None:
    job.set_string(command.attribute, text)


def _set_count(job: JobBuilder, command: Command, text: str) -> None:
    number = job.integer(command.name) or 0
    if number < 0:
        name = job.name_of(command.name)
        raise SubmitError(f"{name}={text} is invalid, must eval to a non-negative integer.")
    job.set_integer(command.attribute, number)


def _set_file(job: JobBuilder, command: Command, text: str) -> None:
    job.set_string(command.attribute, job.path(text))


def _set_quoted_file(job: JobBuilder, command: Command, text: str) -> None:
    _set_file(job, command, strip_quotes(text))


def _set_list(job: JobBuilder, command: Command, text: str) -> None:
    job.set_string(command.attribute, ",".join(split_list(text)))


def _set_comma_list(job: JobBuilder, command: Command, text: str) -> None:
    # Blanks belong to what is listed.
    items = (item.strip(BLANKS) for item in text.split(","))
    job.set_string(command.attribute, ",".join(item for item in items if item))


def _set_filled_comma_list(job: JobBuilder, command: Command, text: str) -> None:
    if text.strip(", \t"):
        _set_comma_list(job, command, text)


def _set_quoted_list(job: JobBuilder, command: Command, text: str) -> None:
    _set_list(job, command, strip_quotes(text))


def _refuse(job: JobBuilder, command: Command, text: str) -> None:
    del job
    raise SubmitError(f"{command.name}={text} has been disabled by the administrator.")


# Those copy their text that take a digit in it for a letter like others; of an expression a string
# alone.
SETTERS: Mapping[Kind, Setter] = {
    "boolean": Setter(_set_boolean),
    "comma list": Setter(_set_comma_list, copies=True),
    "count": Setter(_set_count),
    "expression": Setter(_set_expression, copies=True),
    "file": Setter(_set_file, copies=True),
    "filled comma list": Setter(_set_filled_comma_list, copies=True),
    "filled string": Setter(_set_filled_string, copies=True),
    "forbidden": Setter(_refuse),
    "integer": Setter(_set_integer),
    "leading number": Setter(_set_leading_number),
    "list": Setter(_set_list, copies=True),
    "plain": Setter(_set_plain, copies=True),
    "quoted file": Setter(_set_quoted_file, copies=True),
    "quoted list": Setter(_set_quoted_list, copies=True),
    "string": Setter(_set_string, copies=True),
}
