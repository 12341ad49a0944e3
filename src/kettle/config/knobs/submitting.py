"""Knobs of condor_submit: a pure table."""

from kettle.config.knob import (
    boolean,
    choice,
    expression,
    family,
    integer,
    listing,
    path,
    seconds,
    string,
)
from kettle.config.ranges import AS_IT_IS, COUNT


class SubmitKnobs:
    """Knobs of condor_submit."""

    APPEND_RANK = expression("", doc="What is added to the rank of every job.")
    APPEND_RANK_STANDARD = string("", doc="Known text.", unread=True)
    APPEND_RANK_VANILLA = string("", doc="What is added to the rank of vanilla jobs.")
    APPEND_REQUIREMENTS = expression(
        "",
        doc="What is added to the requirements of every job.",
    )
    APPEND_REQ_STANDARD = string("", doc="Known text.", unread=True)
    APPEND_REQ_VANILLA = string("", doc="What is added to the requirements of vanilla jobs.")
    APPEND_REQ_VM = string("", doc="What is added to the requirements of virtual machine jobs.")
    DEFAULT_IO_BUFFER_BLOCK_SIZE = string("", doc="Known text.", unread=True)
    DEFAULT_IO_BUFFER_SIZE = string("", doc="Known text.", unread=True)
    DEFAULT_JOB_MAX_RETRIES = integer(
        "2",
        sense=COUNT,
        instead=AS_IT_IS,
        doc="How often a job is tried again that asks for it without a number.",
    )
    DEFAULT_RANK = expression("", doc="The rank of jobs that have none.")
    DEFAULT_RANK_STANDARD = string("", doc="Known text.", unread=True)
    DEFAULT_RANK_VANILLA = string("", doc="The rank of vanilla jobs that have none.")
    DEFAULT_UNIVERSE = string(
        "",
        unset="vanilla",
        doc="The universe of jobs that name none; vanilla where this is empty.",
    )
    INTERACTIVE_SUBMIT_ARGS_OVERRIDE = string(
        (
            "\"-c 'sleep 180 && while test -d ${_CONDOR_SCRATCH_DIR}/.condor_ssh_to_job_1; do "
            "/bin/sleep 3; done'\""
        ),
        doc="Arguments of the program of interactive jobs, in place of the usual ones.",
    )
    INTERACTIVE_SUBMIT_CMD_OVERRIDE = path(
        "/bin/sh",
        doc="The program of interactive jobs, in place of the usual one.",
    )
    INTERACTIVE_SUBMIT_FILE = path(
        "$(LIBEXEC)/interactive.sub",
        doc="Known path.",
        unread=True,
    )
    JOB_DEFAULT_LEASE_DURATION = seconds(
        "2400",
        sense=COUNT,
        instead=AS_IT_IS,
        doc="The lease of jobs that name none, in seconds.",
    )
    JOB_DEFAULT_NOTIFICATION = choice(
        None,
        ("never", "always", "complete", "start", "error"),
        unset="never",
        doc="When a job that does not say so sends mail.",
    )
    JOB_DEFAULT_REQUESTCPUS = expression(
        "1",
        doc="How many CPUs a job asks for that does not say.",
    )
    JOB_DEFAULT_REQUESTDISK = expression(
        "MAX({1024, (TransferInputSizeMB+1) * 1.25}) * 1024",
        doc="How much disk a job asks for that does not say.",
    )
    JOB_DEFAULT_REQUESTMEMORY = expression(
        "128",
        doc="How much memory a job asks for that does not say.",
    )
    JOB_TRANSFORM_NAMES = listing(
        None,
        doc="Names of the rules that change every submitted job, in order (JOB_TRANSFORM_name).",
    )
    SUBMIT_ALLOW_GETENV = boolean(
        "true",
        doc="Whether `getenv = true` is allowed.",
    )
    SUBMIT_ATTRS = listing(
        "", doc="Names of entries of the configuration that become attributes of every job."
    )
    SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES = string(
        "",
        doc="Whether files travel for jobs that do not say.",
    )
    SUBMIT_GENERATE_CONDOR_C_REQUIREMENTS = expression(
        "true",
        doc="Known expression.",
        unread=True,
    )
    SUBMIT_GENERATE_CUSTOM_RESOURCE_REQUIREMENTS = boolean(
        "true",
        doc="Whether asking for a custom resource adds a clause to the requirements.",
    )
    SUBMIT_PREVENT_MULTI_QUEUE = boolean(
        "true",
        doc="Whether a description may have one queue statement only.",
    )
    SUBMIT_PUBLISH_WINDOWS_OSVERSIONINFO = boolean(
        "false",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SUBMIT_REQUEST_MISSING_UNITS = choice(
        None,
        ("error", "warn"),
        instead="condor_submit warns",
        doc="What a request for memory or disk without a unit is: error, warn, or nothing.",
    )
    SUBMIT_REQUIREMENT_NAMES = listing(
        "",
        doc="Names of the conditions that every submitted job must meet (SUBMIT_REQUIREMENT_name).",
    )
    SUBMIT_SEND_RESCHEDULE = boolean(
        "false",
        doc="Whether condor_submit asks the schedd for a cycle itself.",
    )
    SUBMIT_SHOULD_SET_LOCAL_OWNER = boolean(
        None,
        unset="false",
        doc="Whether jobs name their submitter as Owner before a schedd says who it is.",
    )
    SUBMIT_SKIP_FILECHECKS = boolean(
        "true",
        doc="Known and checked as a truth value.",
        unread=True,
    )
    SUBMIT_TEMPLATE_NAMES = listing(
        None, doc="Names of templates for submit descriptions (`use template : NAME(arguments)`)."
    )
    WARN_ON_UNUSED_SUBMIT_FILE_MACROS = boolean(
        "true",
        doc="Whether lines of a description that nobody reads are told.",
    )
    SUBMIT_REQUIREMENT = family(
        "SUBMIT_REQUIREMENT_{name}",
        expression,
        "",
        doc="What every submitted job must satisfy; _REASON says why one does not, and with "
        "_IS_WARNING it is queued all the same.",
    )
    SUBMIT_TEMPLATE = family(
        "SUBMIT_TEMPLATE_{name}",
        string,
        "",
        doc="Submit commands that a description can use under a name; $(1) is the first argument.",
    )
    JOB_TRANSFORM = family(
        "JOB_TRANSFORM_{name}", string, "", doc="How submitted jobs are changed."
    )
