"""Steps: attributes that depend on nothing but their command's own text.

The language's own commands are the tables of `commands/`; a schedd adds others to them
(`extended.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from kettle.errors import SubmitError
from kettle.submit.job import JobBuilder, leading_number, strip_quotes
from kettle.submit.registry import simple_commands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kettle.submit.commands.command import Command, Kind


# Which of the commands that can be refused the reference looks at first, as `steps.py` says: those
# about a job's end, and behind the special ones the others.
_EARLY = (
    *("periodic_hold", "periodic_hold_reason", "periodic_hold_subcode", "periodic_release"),
    *("periodic_remove", "periodic_vacate", "on_exit_hold_reason", "on_exit_hold_subcode"),
)
_LATE = (
    *("next_job_start_delay", "keep_claim_idle", "docker_override_entrypoint"),
    *("transfer_container", "want_io_proxy", "want_job_networking", "container_is_common"),
    *("want_graceful_removal", "job_max_vacate_time", "encrypt_execute_directory"),
    *("load_profile", "file_remaps", "buffer_files", "buffer_size", "buffer_block_size"),
    *("log_xml", "noop_job", "noop_job_exit_signal", "noop_job_exit_code"),
    *("match_list_length", "dagman_job_id", "stack_size", "max_job_retirement_time"),
    *("core_size", "priority", "run_as_owner", "max_transfer_input_mb"),
    *("max_transfer_output_mb", "manifest", "checkpoint_exit_code"),
    *("erase_output_and_error_on_restart", "preserve_relative_paths", "skip_if_dataflow"),
    *("allowed_job_duration", "allowed_execute_duration"),
)
_ORDER = {name: at for at, name in enumerate((*_EARLY, *_LATE))}
# What sets the attribute of a command, and whether it copies its text (`steps.Step`).
_Setter = tuple[Callable[[JobBuilder], None], bool]


@cache
def simple_setters() -> tuple[tuple[_Setter, ...], tuple[_Setter, ...]]:
    """Return what sets the attributes of the language's own simple commands, one for each.

    So that of many jobs only those commands are looked at again that change from job to job. First
    come those that the reference looks at before what is about a job's end.
    """
    ordered = sorted(simple_commands(), key=lambda command: _ORDER.get(command.name, len(_ORDER)))
    early: list[_Setter] = []
    late: list[_Setter] = []
    for command in ordered:
        setter = partial(_set_in_universe, command=command), command.kind in _COPIED
        (early if command.name in _EARLY else late).append(setter)
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
        SETTERS[command.kind](job, command, text)


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
    job.set_string(command.attribute, ",".join(text.replace(",", " ").split()))


def _set_comma_list(job: JobBuilder, command: Command, text: str) -> None:
    # Blanks belong to what is listed.
    items = (item.strip() for item in text.split(","))
    job.set_string(command.attribute, ",".join(item for item in items if item))


def _set_filled_comma_list(job: JobBuilder, command: Command, text: str) -> None:
    if text.strip(", \t"):
        _set_comma_list(job, command, text)


def _set_quoted_list(job: JobBuilder, command: Command, text: str) -> None:
    _set_list(job, command, strip_quotes(text))


def _refuse(job: JobBuilder, command: Command, text: str) -> None:
    del job
    raise SubmitError(f"{command.name}={text} has been disabled by the administrator.")


SETTERS: Mapping[Kind, Callable[[JobBuilder, Command, str], None]] = {
    "boolean": _set_boolean,
    "comma list": _set_comma_list,
    "count": _set_count,
    "expression": _set_expression,
    "file": _set_file,
    "filled comma list": _set_filled_comma_list,
    "filled string": _set_filled_string,
    "forbidden": _refuse,
    "integer": _set_integer,
    "leading number": _set_leading_number,
    "list": _set_list,
    "plain": _set_plain,
    "quoted file": _set_quoted_file,
    "quoted list": _set_quoted_list,
    "string": _set_string,
}
# Those that take a digit in a text for a letter like others; of an expression a string alone.
_COPIED = frozenset(
    (
        "comma list",
        "expression",
        "file",
        "filled comma list",
        "filled string",
        "list",
        "plain",
        "quoted file",
        "quoted list",
        "string",
    )
)
