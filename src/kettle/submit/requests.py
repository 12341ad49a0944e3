"""Steps: what the job asks of a machine, and which machines it prefers."""

from __future__ import annotations

import math
import re

from kettle.attributes.codes import JobUniverse
from kettle.classad.text import quote_old
from kettle.errors import ClassAdSyntaxError, SubmitError
from kettle.patterns import late_pattern
from kettle.submit.job import JobBuilder, normalize, split_list

SIZE = late_pattern(r"([-+]?(?:\d+\.?\d*|\.\d+))\s*(?:([KMGTP])B?)?", re.IGNORECASE)
# Limit: numbers beyond this are no sizes.
MOST = float(1 << 62)
KIB = {"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30, "P": 1 << 40}
LITERAL = late_pattern(r"[-+]?\d+(\.\d+)?")
RESOURCE = late_pattern(r"REQUEST_([A-Z0-9_]+)", re.IGNORECASE)
OWN_STEPS = ("CPUS", "MEMORY", "DISK", "GPUS")
# What is no resource but a slip, and not looked at.
SLIPS = {"CPU": "request_cpus", "GPU": "request_gpus"}
# What a job is told after it was stopped for using more memory than it asked for.
MEMORY_RETRY = (
    "REQUIREMENTS (VacateReasonCode==21 || VacateReasonCode == 34) && VacateReasonSubCode == 102"
)
GPU_LIMITS = (
    ("gpus_minimum_capability", "GPUsMinCapability", "Capability >= GPUsMinCapability"),
    ("gpus_maximum_capability", "GPUsMaxCapability", "Capability <= GPUsMaxCapability"),
    ("gpus_minimum_memory", "GPUsMinMemory", "GlobalMemoryMb >= GPUsMinMemory"),
    ("gpus_minimum_runtime", "GPUsMinRuntime", "MaxSupportedVersion >= GPUsMinRuntime"),
)


def parse_size(text: str, unit: str) -> int | None:
    """Read a size with an optional unit; the result is in `unit` (K or M), rounded up.

    None where it is not a size but an expression, or more than any machine has.
    """
    match = SIZE.fullmatch(text)
    if match is None:
        return None
    number, suffix = float(match.group(1)), (match.group(2) or unit).upper()
    if number > MOST:
        return None
    return max(0, math.ceil(number * KIB[suffix] / KIB[unit]))


def set_requests(job: JobBuilder) -> None:
    """Decide RequestCpus, RequestMemory, RequestDisk, RequestGPUs and custom resources."""
    without_defaults = job.universe is JobUniverse.GRID and job.grid_type == "batch"
    if job.universe is JobUniverse.VM:
        without_defaults = False
    set_cpus(job, without_defaults=without_defaults)
    set_disk(job, without_defaults=without_defaults)
    set_memory(job, without_defaults=without_defaults)
    set_gpus(job)
    _tell_of_slips(job)
    for name, command in custom_requests(job):
        text = job.param(command)
        import difflib  # for those alone who mistype

        near = difflib.get_close_matches(name.upper(), OWN_STEPS, n=1, cutoff=0.8)
        if near:
            job.warnings.append(
                f"WARNING: {command} asks for a custom resource named {name}. "
                f"Did you mean request_{near[0].lower()}?"
            )
        if text is not None and text.lower() != "undefined":
            job.set_expression(f"Request{name}", text)


def custom_requests(job: JobBuilder) -> list[tuple[str, str]]:
    """Return tag and command of each custom resource that is asked for, ordered by tag."""
    found = _requested(job)
    return [(tag, command) for tag, command in found if tag.upper() not in (*OWN_STEPS, *SLIPS)]


def _requested(job: JobBuilder) -> list[tuple[str, str]]:
    """Return tag and command of whatever is asked for, ordered by tag."""
    found = {}
    for variable in (*job.macros.variables.values(), *job.macros.row_variables.values()):
        match = RESOURCE.fullmatch(variable.name)
        if match is not None:
            found[match.group(1)] = variable.name
    return sorted(found.items(), key=lambda item: item[0].lower())


def _tell_of_slips(job: JobBuilder) -> None:
    for tag, command in _requested(job):
        meant = SLIPS.get(tag.upper())
        if meant is not None:
            job.warnings.append(
                f"WARNING: {command} is not a valid submit keyword, did you mean {meant}?"
            )


def set_cpus(job: JobBuilder, *, without_defaults: bool) -> None:
    """Decide RequestCpus."""
    text = job.param("request_cpus") or _default(job, "CPUS", without_defaults)
    if text is not None and text.lower() != "undefined":
        job.set_expression("RequestCpus", text)


def set_memory(job: JobBuilder, *, without_defaults: bool) -> None:
    """Decide RequestMemory in MiB, and what is asked for after using too much."""
    if job.universe is JobUniverse.VM and job.param("request_memory") is None:
        job.warnings.append(
            "WARNING: request_memory was NOT specified.  Using RequestMemory = MY.JobVMMemory"
        )
        job.set_expression("RequestMemory", "MY.JobVMMemory")
        return
    text = job.param("request_memory")
    retry = job.param("retry_request_memory")
    if text is not None and re.fullmatch(r"[\d.]+\s*\w*\s*,\s*[\d.]+\s*\w*", text):
        # "first, then": what is asked for after the job used too much.
        text, retry = split_list(text)
    text = text or _default(job, "MEMORY", without_defaults)
    if text is not None and text.lower() != "undefined":
        _check_units(job, text)
        size = parse_size(text, "M")
        if size is not None:
            job.set_integer("RequestMemory", size)
        else:
            job.set_expression("RequestMemory", text)
    set_memory_retry(job, retry)


def _check_units(job: JobBuilder, text: str) -> None:
    wish = (job.config.get("SUBMIT_REQUEST_MISSING_UNITS") or "").lower()
    if not wish or not LITERAL.fullmatch(text):
        return
    must = "must" if wish == "error" else "should"
    said = (
        f"request_memory={text} defaults to megabytes, but {must} contain a units suffix "
        "(i.e K, M, G or T)"
    )
    if wish == "error":
        raise SubmitError(f"ERROR: \nERROR: {said}")
    job.warnings.append(f"WARNING: \nWARNING: {said}")


def set_memory_retry(job: JobBuilder, retry: str | None) -> None:
    """Decide how a job that used too much memory asks for more."""
    increase = job.param("retry_request_memory_increase")
    most = job.param("retry_request_memory_max")
    if retry is not None:
        size = parse_size(retry, "M")
        change = f"SET RequestMemory {retry if size is None else size}"
    elif increase is not None:
        size = parse_size(increase, "M")
        more = increase if size is None else str(size)
        job.set_expression("NextRequestMemory", f"RequestMemory + {more}")
        change = "EVALSET RequestMemory NextRequestMemory"
        if most is not None:
            limit = parse_size(most, "M")
            job.set_expression("MaxRequestMemory", most if limit is None else str(limit))
            change = "EVALSET RequestMemory MIN({NextRequestMemory, MaxRequestMemory})"
    else:
        return
    job.set_string("TransformOnEvict", "RequestMemory")
    # The line break is part of the text; ads print it as it is.
    job.set_text("TransformBody_RequestMemory", quote_old(f"{MEMORY_RETRY}\n{change}"))


def set_disk(job: JobBuilder, *, without_defaults: bool) -> None:
    """Decide RequestDisk in KiB."""
    text = job.param("request_disk") or _default(job, "DISK", without_defaults)
    if text is None or text.lower() == "undefined":
        return
    size = parse_size(text, "K")
    if size is not None:
        job.set_integer("RequestDisk", size)
    else:
        job.set_expression("RequestDisk", text)


def set_gpus(job: JobBuilder) -> None:
    """Decide RequestGPUs and RequireGPUs."""
    text = job.param("request_gpus") or _default(job, "GPUS", without_defaults=False)
    if text is None or text.lower() == "undefined":
        return
    job.set_expression("RequestGPUs", text)
    clauses = []
    required = job.param("require_gpus")
    if required is not None:
        clauses.append(job.checked("RequireGPUs", required))
    for command, attribute, clause in GPU_LIMITS:
        value = job.param(command)
        if value is None:
            continue
        if command == "gpus_minimum_memory":
            size = parse_size(value, "M")
            value = value if size is None else str(size)
        elif command == "gpus_minimum_runtime":
            value = _runtime_version(value)
        job.set_expression(attribute, value)
        clauses.append(clause)
    if clauses:
        joined = " && ".join(f"({one})" if "||" in one else one for one in clauses)
        job.set_expression("RequireGPUs", joined)


def _runtime_version(text: str) -> str:
    match = re.fullmatch(r"(\d+)\.(\d+)", text)
    return str(int(match.group(1)) * 1000 + int(match.group(2)) * 10) if match else text


def _default(job: JobBuilder, resource: str, without_defaults: bool) -> str | None:
    if without_defaults:
        return None
    return job.config.get(f"JOB_DEFAULT_REQUEST{resource}")


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
        raise SubmitError(
            "ERROR: concurrency_limits and concurrency_limits_expr can't be used together"
        )
    if expression is not None:
        job.set_expression("ConcurrencyLimits", expression)
    if text is None:
        return
    limits = [limit.lower() for limit in re.split(r"[\s,]+", text) if limit]
    for limit in limits:
        if not re.fullmatch(r"[a-z_]\w*(\.\w+)*(:.*)?", limit):
            raise SubmitError(f"ERROR: Invalid concurrency limit '{limit}'")
    job.set_string("ConcurrencyLimits", ",".join(sorted(limits)))


def is_more_than(text: str | None, bound: float) -> bool:
    """Tell whether a request needs a clause: an expression, or a number above the bound."""
    if text is None:
        return False
    try:
        text = normalize(text)
    except ClassAdSyntaxError:
        return False
    return float(text) > bound if LITERAL.fullmatch(text) else True
