"""Steps: what changes in a job that had to leave its machine.

A job that was stopped for using too much memory or disk may ask for more: the next value, the
next of a sequence, or what an expression comes to. What is done is a transform in the job's ad,
whose lines are separated by the byte 0x1e. Source: vectors, submit commands.
"""

from __future__ import annotations

from kettle.attributes.codes import LINE_END
from kettle.classad.text import quote_old
from kettle.errors import ClassAdSyntaxError, SubmitError
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.submit.arguments import split_list
from kettle.submit.job import JobBuilder, evaluate, mentioned_names
from kettle.submit.literals import normalize
from kettle.submit.sizes import missing_unit, parse_size

# What an attribute's name may end with, behind TransformBody_.
_NAME = late_pattern(r"[A-Za-z0-9_]{1,200}")
INCREASE = "retry_request_memory_increase"
UNITS = "a units suffix (i.e K, M, G, or T)"


class Retry(NamedTuple):
    """One request that may grow: its attribute, unit, and the subcode of having used too much."""

    attribute: str
    unit: str
    subcode: int
    label: str


MEMORY = Retry("RequestMemory", "M", 102, "defaults to megabytes, but ")
DISK = Retry("RequestDisk", "K", 104, "")


def set_retry(job: JobBuilder, retry: Retry, command: str, text: str, told: str = "") -> None:
    """Decide what is asked for next: a number, a sequence of them, or an expression.

    `told` is what the reference calls the command.
    """
    numbers, last = _read_sequence(job, retry, command, text, told)
    for earlier, later in zip([0, *numbers], numbers, strict=False):
        # Compat: one number may be anything, also 0 and less than what is asked for at first
        # (test_a_request_of_two_numbers_asks_for_the_second_when_the_first_was_too_little).
        if later <= earlier and len(numbers) > 1:
            raise SubmitError(
                f"{told or command} must have an increasing sequence of values, but "
                f"{later} is not greater than {earlier}",
                command=command,
            )
    if len(numbers) + bool(last) > 1:
        _set_sequence(job, retry, [*map(str, numbers), *([last] if last else [])])
    elif last:
        _set_transform(job, retry, f"EVALSET {retry.attribute} {last}")
    elif numbers:
        _set_transform(job, retry, f"SET {retry.attribute} {numbers[0]}")


def _read_sequence(
    job: JobBuilder, retry: Retry, command: str, text: str, told: str = ""
) -> tuple[list[int], str]:
    """Return the numbers at the beginning and the expression after them, empty for none."""
    told = told or command
    numbers: list[int] = []
    rest, bare = text.strip(BLANKS), ""
    while rest:
        head, _, tail = rest.partition(",")
        size = parse_size(head.strip(BLANKS), retry.unit)
        if size is None:
            break
        if missing_unit(head.strip(BLANKS)):
            bare = bare or rest
        numbers.append(size)
        rest = tail.strip(BLANKS)
    if rest:
        try:
            rest = normalize(rest)
        except ClassAdSyntaxError as fault:
            raise SubmitError(
                f"{told}={rest} is invalid. must be an expression or number",
                command=command,
            ) from fault
    if bare:
        job.want_units(command, f"{told}={bare} {retry.label}{{must}} contain {UNITS}")
    return numbers, rest


def _set_sequence(job: JobBuilder, retry: Retry, values: list[str]) -> None:
    name = retry.attribute
    job.set_expression(f"Retry{name}", "{" + ",".join(values) + "}")
    _set_transform(
        job,
        retry,
        f"EVALSET {name} Retry{name}[Retry{name}Index?:0]",
        f"EVALSET Retry{name}Index MIN({{size(Retry{name})-1, (Retry{name}Index?:0)+1}})",
    )


def set_growth(job: JobBuilder, retry: Retry, command: str, increase: str, most: str) -> None:
    """Decide by how much more is asked for each time, up to `most` where it is not empty."""
    name = retry.attribute
    step = _read_increase(job, retry, increase)
    if most:
        numbers, last = _read_sequence(job, retry, command, most)
        job.set_expression(f"Max{name}", last or str(numbers[-1]))
        job.set_expression(f"Next{name}", step)
        _set_transform(job, retry, f"EVALSET {name} MIN({{Next{name}, Max{name}}})")
        return
    asked = job.current(name) or "undefined"
    value = evaluate(step, {name: asked})
    if not isinstance(value, (int, float)):
        raise SubmitError(
            f"{name} retry increment ({increase}) must evaluate to an integer at submit time"
        )
    _set_transform(job, retry, f"SET {name} {int(value)}")


def _read_increase(job: JobBuilder, retry: Retry, text: str) -> str:
    name = retry.attribute
    error = SubmitError(
        f"{name} retry increment must be a positive number or an expression that references {name}"
    )
    size = parse_size(text, retry.unit)
    if size is not None:
        if missing_unit(text):
            job.want_units(
                INCREASE,
                f"{name} retry increment {text} {retry.label}{{must}} contain a units suffix "
                "(i.e K, M, G or T)",
            )
        if size <= 0:
            raise error
        return f"{name} + {size}"
    if name.lower() not in mentioned_names(text):
        raise error
    return job.checked("Increment", text)


def _set_transform(job: JobBuilder, retry: Retry, *changes: str) -> None:
    """Write the transform into the ad and its name into the list of those there are."""
    condition = job.config.get(f"ON_EVICT_CHECK_{retry.attribute}_REQUIREMENTS") or (
        "(VacateReasonCode==21 || VacateReasonCode == 34) && "
        f"VacateReasonSubCode == {retry.subcode}"
    )
    body = LINE_END.join((f"REQUIREMENTS {condition}", *changes))
    job.set_text(f"TransformBody_{retry.attribute}", quote_old(body))
    if retry.attribute not in job.evict_changes:
        job.evict_changes += (retry.attribute,)
    job.set_string("TransformOnEvict", " ".join(job.evict_changes))


def set_evict_checks(job: JobBuilder) -> None:
    """Decide the changes that the description itself names, `transform_body_NAME` each.

    Compat: the reference takes any name, and its schedd then refuses the attribute
    (test_a_change_at_eviction_has_a_name_that_an_attribute_can_end_with).
    """
    text = job.param("on_evict_checks")
    if text is None:
        known = job.said("on_evict_checks", "TransformOnEvict")
        job.evict_changes = tuple(split_list(known or ""))
        return
    changes = []
    for name in split_list(text):
        body = job.text_of(f"transform_body_{name}")
        if body is None:
            body = job.text_of(f"TransformBody_{name}")
        if body is None:
            continue
        if not _NAME.fullmatch(name):
            raise SubmitError(
                f"on_evict_checks = {name[:80]} is invalid. A name has letters, digits and _",
                command="on_evict_checks",
            )
        lines = [line.strip(BLANKS) for line in body.split("\n")]
        lines = [line for line in lines if line and not line.startswith("#")]
        changes.append(name)
        job.set_text(f"TransformBody_{name}", quote_old(LINE_END.join(lines)))
    job.evict_changes += tuple(changes)
    job.set_string("TransformOnEvict", " ".join(job.evict_changes))
