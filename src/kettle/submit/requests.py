"""Steps: what the job asks of a machine, and which machines it prefers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.classad import parse_expression
from kettle.classad.nodes import Binary, Conditional
from kettle.classad.parser import is_plain
from kettle.digits import MAX_32, whole
from kettle.errors import ClassAdSyntaxError, SubmitError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.submit import evictions
from kettle.submit.arguments import split_list
from kettle.submit.job import JobBuilder, literal_number, mentioned_names
from kettle.submit.literals import normalize
from kettle.submit.notices import TWICE
from kettle.submit.sizes import missing_unit, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable

RESOURCE = late_pattern(r"REQUEST_([A-Z0-9]\w+)", re.IGNORECASE)
# What every machine may have, by attribute: the commands that ask for it.
REQUESTS = {
    "RequestCpus": "request_cpus",
    "RequestMemory": "request_memory",
    "RequestDisk": "request_disk",
    "RequestGPUs": "request_gpus",
}
OWN_STEPS = tuple(command.removeprefix("request_").upper() for command in REQUESTS.values())
NO_RESOURCES = ("GPU_MEMORY", "GPUS_MEMORY")
# What is no resource but a slip, and not looked at.
SLIPS = {"CPU": "request_cpus", "GPU": "request_gpus"}
# Command, attribute, the property of a GPU that it limits, and how.
GPU_LIMITS = tuple(
    (command, attribute, prop, f"{prop} {sign} {attribute}")
    for command, attribute, prop, sign in (
        ("gpus_minimum_capability", "GPUsMinCapability", "Capability", ">="),
        ("gpus_maximum_capability", "GPUsMaxCapability", "Capability", "<="),
        ("gpus_minimum_memory", "GPUsMinMemory", "GlobalMemoryMb", ">="),
        ("gpus_minimum_runtime", "GPUsMinRuntime", "MaxSupportedVersion", ">="),
    )
)


def set_requests(job: JobBuilder) -> None:
    """Decide RequestCpus, RequestMemory, RequestDisk, RequestGPUs and custom resources."""
    without_defaults = job.universe is JobUniverse.GRID and job.grid_type == "batch"
    if job.universe is JobUniverse.VM:
        without_defaults = False
    own: dict[str, Callable[[], None]] = {
        "cpus": lambda: set_cpus(job, without_defaults=without_defaults),
        "disk": lambda: set_disk(job, without_defaults=without_defaults),
        "gpus": lambda: set_gpus(job),
        "memory": lambda: set_memory(job, without_defaults=without_defaults),
    }
    custom = {tag.lower(): (tag, command) for tag, command in custom_requests(job)}
    # As the reference, which looks at them by name.
    for tag in sorted((*own, *custom)):
        if tag in own:
            own[tag]()
        else:
            _set_custom(job, *custom[tag])
    _join_gpu_limits(job)
    _tell_of_slips(job)


def _set_custom(job: JobBuilder, name: str, command: str) -> None:
    text = job.param(command)
    from kettle.nearest import nearest_of  # for those alone who mistype

    near = nearest_of(name, OWN_STEPS, cutoff=0.8)
    if near:
        job.warn(
            command,
            f"{command} asks for a custom resource named {name}. "
            f"Did you mean request_{near.lower()}?",
        )
    if text is not None:
        job.set_expression(f"Request{name}", text)


def custom_requests(job: JobBuilder) -> list[tuple[str, str]]:
    """Return tag and command of each custom resource that is asked for, ordered by tag."""
    found = _requested(job)
    return [
        (tag, command)
        for tag, command in found
        if tag.upper() not in (*OWN_STEPS, *SLIPS, *NO_RESOURCES)
    ]


def _requested(job: JobBuilder) -> list[tuple[str, str]]:
    """Return tag and command of whatever is asked for, ordered by tag."""
    found = {}
    for variables in (job.macros.variables, job.macros.row_variables):
        for key in variables:
            if key.startswith("REQUEST_"):
                name = variables[key].name
                match = RESOURCE.fullmatch(name)
                if match is not None:
                    found[match.group(1)] = name
    return sorted(found.items(), key=lambda item: item[0].lower())


def _tell_of_slips(job: JobBuilder) -> None:
    for tag, command in _requested(job):
        meant = SLIPS.get(tag.upper())
        if meant is not None:
            said = f"{command} is not a valid submit keyword, did you mean {meant}?"
            job.warn(command, said)


def set_cpus(job: JobBuilder, *, without_defaults: bool) -> None:
    """Decide RequestCpus."""
    text = job.param("request_cpus") or _default(job, "RequestCpus", without_defaults)
    if text is not None and text.lower() != "undefined":
        job.set_expression("RequestCpus", text)


def set_memory(job: JobBuilder, *, without_defaults: bool) -> None:
    """Decide RequestMemory in MiB, and what is asked for after using too much."""
    text = job.param("request_memory")
    if job.universe is JobUniverse.VM and text is None and not job.is_later:
        job.set_expression("RequestMemory", "MY.JobVMMemory")
        return
    text = text or _default(job, "RequestMemory", without_defaults)
    said = (
        f"request_memory={text} defaults to megabytes, but {{must}} contain a units suffix "
        "(i.e K, M, G or T)"
    )
    then = _set_size(job, evictions.MEMORY, text, said)
    if then is None:
        return
    if then:
        evictions.set_retry(job, evictions.MEMORY, "request_memory", then)
        return
    retry = job.param("retry_request_memory")
    most = job.param("retry_request_memory_max")
    increase = job.param(evictions.INCREASE)
    if retry is not None:
        if increase is not None:
            job.warn(
                evictions.INCREASE,
                "retry_request_memory_increase will be ignored because "
                "retry_request_memory was used",
                TWICE,
            )
        evictions.set_retry(job, evictions.MEMORY, "retry_request_memory", retry)
    elif increase is not None:
        evictions.set_growth(
            job, evictions.MEMORY, "retry_request_memory_max", increase, most or ""
        )
    elif most is not None:
        evictions.set_retry(job, evictions.MEMORY, "retry_request_memory_max", most)


def set_disk(job: JobBuilder, *, without_defaults: bool) -> None:
    """Decide RequestDisk in KiB, and what is asked for after using too much."""
    text = job.param("request_disk") or _default(job, "RequestDisk", without_defaults)
    said = (
        f"request_disk={text} defaults to kilobytes, {{must}} contain a units suffix "
        "(i.e K, M, or B)"
    )
    then = _set_size(job, evictions.DISK, text, said)
    if then is None:
        return
    command = "request_disk" if then else "retry_request_disk"
    then = then or job.param(command) or ""
    if then:
        evictions.set_retry(job, evictions.DISK, command, then, "request_disk")


def _set_size(job: JobBuilder, retry: evictions.Retry, text: str | None, said: str) -> str | None:
    """Set a request for memory or disk and return what stands after its comma.

    None where the request is no number: nothing is asked for later then.
    """
    if text is None or text.lower() == "undefined":
        return None
    first, _, then = text.partition(",")
    size = parse_size(first.strip(BLANKS), retry.unit)
    if size is None:
        job.set_expression(retry.attribute, text)
        return None
    if missing_unit(first.strip(BLANKS)):
        job.want_units(said.partition("=")[0], said, before="\n")
    job.set_integer(retry.attribute, size)
    return then.strip(BLANKS)


def set_gpus(job: JobBuilder) -> None:
    """Decide RequestGPUs and what each of the GPUs must satisfy."""
    text = job.param("request_gpus") or _default(job, "RequestGPUs", without_defaults=False)
    if text is not None and text.lower() != "undefined":
        job.set_expression("RequestGPUs", text)
    if job.attributes.get("RequestGPUs") is None:
        return
    required = job.param("require_gpus")
    if required is not None:
        job.set_expression("RequireGPUs", required)
    for command, attribute, _, _ in GPU_LIMITS:
        value = job.param(command)
        if value is not None:
            job.set_expression(attribute, _gpu_limit(job, command, value))
    if job.param("gpus_minimum_memory") is None and (
        job.param("request_gpu_memory") or job.param("request_gpus_memory")
    ):
        job.warn(
            job.asked[-1] if job.asked else "",
            "request_gpu_memory is not a submit command, did you mean gpus_minimum_memory?",
            TWICE,
        )


def _gpu_limit(job: JobBuilder, command: str, text: str) -> str:
    """Return the expression for one limit of the GPUs; raise SubmitError for a missing unit."""
    if command == "gpus_minimum_memory":
        size = parse_size(text, "M")
        if size is not None and missing_unit(text):
            said = "defaults to megabytes, but {must} contain a units suffix (i.e K, M, or B)"
            job.want_units(command, f"{command}={text} {said}", before="\n")
        return text if size is None else str(size)
    if command == "gpus_minimum_runtime":
        return _runtime_version(text)
    return text


def set_attribute_history(job: JobBuilder) -> None:
    """Decide JobMachineAttrsHistoryLength."""
    length = job.integer("job_machine_attrs_history_length")
    if length is None:
        return
    if not 0 <= length <= MAX_32:
        raise SubmitError(
            f"job_machine_attrs_history_length={length} is out of bounds 0 to {MAX_32}"
        )
    job.set_integer("JobMachineAttrsHistoryLength", length)


def _join_gpu_limits(job: JobBuilder) -> None:
    """Add the limits to RequireGPUs, but those whose property it speaks of already."""
    if job.current("RequestGPUs") is None:
        return
    required = job.current("RequireGPUs")
    spoken = mentioned_names(required or "")
    clauses = [
        clause
        for _, attribute, prop, clause in GPU_LIMITS
        if job.current(attribute) is not None and prop.lower() not in spoken
    ]
    if not clauses:
        return
    if required is not None:
        top = parse_expression(required, old=True)
        loose = isinstance(top, Conditional) or (isinstance(top, Binary) and top.operator == "||")
        clauses.insert(0, f"({required})" if loose else required)
    # Forced attributes come last; the joined expression is to stand where it was found.
    target = job.forced if job.forced.get("RequireGPUs") is not None else job.attributes
    target.set("RequireGPUs", job.checked("RequireGPUs", " && ".join(clauses)))


def _runtime_version(text: str) -> str:
    match = re.fullmatch(r"(\d+)(?:\.(\d{1,2}))?", text)
    if match is None:
        return text
    major, minor = whole(match.group(1)), match.group(2)
    if minor is None and major > 1000:
        return text
    return str(major * 1000 + int(minor or 0) * 10)


def _default(job: JobBuilder, attribute: str, without_defaults: bool) -> str | None:
    """Return the configured request; None for one that the job has of its cluster."""
    if without_defaults or job.of_cluster(attribute) is not None:
        return None
    return job.config.get(f"JOB_DEFAULT_{attribute.upper()}")


def set_rank(job: JobBuilder) -> None:
    """Decide Rank, with what the configuration prefers and appends."""
    default = job.config.get("DEFAULT_RANK_VANILLA") or job.config.get("DEFAULT_RANK")
    append = job.config.get("APPEND_RANK_VANILLA") or job.config.get("APPEND_RANK")
    text = job.param("rank") or default
    if append:
        text = f"({text}) + ({append})" if text else append
    job.set_expression("Rank", text or "0.0")


def concurrency_limits(job: JobBuilder) -> None:
    """Decide ConcurrencyLimits."""
    text = job.param("concurrency_limits")
    expression = job.param("concurrency_limits_expr")
    if text is not None and expression is not None:
        raise SubmitError("concurrency_limits and concurrency_limits_expr can't be used together")
    if expression is not None:
        job.set_expression("ConcurrencyLimits", expression)
    if text is None:
        return
    limits = split_list(text.lower())
    for limit in limits:
        if not re.fullmatch(r"[a-z_]\w*(\.\w+)*(:.*)?", limit, re.ASCII):
            raise SubmitError(f"Invalid concurrency limit '{limit}'")
    if limits:
        job.set_string("ConcurrencyLimits", ",".join(sorted(limits)))


def is_more_than(text: str | None, bound: float) -> bool:
    """Tell whether a request needs a clause: an expression, or a number above the bound."""
    if text is None:
        return False
    try:
        text = text if is_plain(text) else normalize(text)
    except ClassAdSyntaxError:
        return False
    number = literal_number(text)
    return number is None or number > bound
