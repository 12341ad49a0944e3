"""Steps: universe, program, arguments, environment, standard streams, event log, signals."""

from __future__ import annotations

import signal

from kettle.attributes.codes import JobUniverse
from kettle.digits import whole
from kettle.errors import SubmitError
from kettle.patterns import late_pattern
from kettle.submit import arguments
from kettle.submit.job import JobBuilder, evaluate, leading_number, strip_quotes, whole_path
from kettle.submit.notices import ERROR_MARK, WARNING_MARK
from kettle.submit.sizes import parse_size

NULL_FILE = "/dev/null"
_LEADING_NUMBER = late_pattern(r"-?\d{1,9}")
SHELL = "/bin/sh"
UNSUPPORTED = {
    JobUniverse.STANDARD: "Standard",
    JobUniverse.PIPE: "Pipe",
    JobUniverse.LINDA: "Linda",
    JobUniverse.PVM: "PVM",
    JobUniverse.PVMD: "PVMD",
}
# What $(Node) becomes; each node puts its own number in its place.
NODES = {JobUniverse.PARALLEL: "#pArAlLeLnOdE#", JobUniverse.MPI: "#MpInOdE#"}
NAMES = {universe.name.lower(): universe for universe in JobUniverse}
# What a description may call the kind of its jobs here; that of a remote side is one of NAMES.
UNIVERSES = (
    *("docker", "container"),
    *(name for name, universe in NAMES.items() if universe not in UNSUPPORTED),
)
SIGNALS = tuple(one.name for one in signal.Signals if one < signal.SIGRTMIN)
FILE_CHECKS = ("warn", "true", "false")
# Grid types whose jobs have no program of their own on this side.
CLOUD_TYPES = ("ec2", "gce", "azure")


def set_universe(job: JobBuilder) -> None:
    """Decide JobUniverse, and whether it is a docker or container job.

    All jobs of a cluster are of one universe.
    """
    if job.is_later:
        job.universe = _universe_of_cluster(job)
        named = (job.param("universe") or "").lower() == "docker"
        job.is_docker = job.stays("WantDocker", otherwise=named)
        job.macros.live["Node"] = NODES.get(job.universe, "")
        return
    text = job.param("universe")
    if text is None:
        text = job.config.get("DEFAULT_UNIVERSE") or "vanilla"
    word = text.lower()
    job.is_docker = word == "docker"
    if word in ("docker", "container"):
        word = "vanilla"
    universe = NAMES.get(word)
    if universe is None:
        number = leading_number(word, 32)
        if not number:
            raise SubmitError(f"I don't know about the '{text}' universe.")
        numbers = {int(one): one for one in JobUniverse}
        universe = numbers.get(number)
        if universe is None:
            raise SubmitError("'Unknown' is not a supported universe.")
    if universe in UNSUPPORTED:
        raise SubmitError(f"'{UNSUPPORTED[universe]}' is not a supported universe.")
    job.universe = universe
    job.macros.live["Node"] = NODES.get(universe, "")
    job.set_integer("JobUniverse", job.universe)


def _universe_of_cluster(job: JobBuilder) -> JobUniverse:
    number = evaluate(job.of_cluster("JobUniverse") or "")
    numbers = {int(one): one for one in JobUniverse}
    found = numbers.get(number) if isinstance(number, int) else None
    return found or JobUniverse.VANILLA


def check_file_checks(job: JobBuilder) -> None:
    """Raise SubmitError where `skip_filechecks` is neither `warn` nor a truth value.

    Compat: nothing is opened for writing beforehand here, so that there is no check to skip
    (test_skip_filechecks_is_warn_or_a_truth_value).
    """
    text = job.param("skip_filechecks")
    if text is None or text.lower() == "warn":
        return
    if not isinstance(evaluate(text), (bool, int, float)):
        raise SubmitError(
            f"SUBMIT_CMD_skip_filechecks={text} is invalid, must be 'warn' or a boolean"
        )


def set_folder(job: JobBuilder) -> None:
    """Decide Iwd; it must be there."""
    folder = job.folder
    if job.param("initialdir") is not None:
        fact = job.sources.look_at(folder)
        if fact is None or not fact.is_directory:
            raise SubmitError(f"No such directory: {folder}")
    job.set_string("Iwd", folder)


def set_executable(job: JobBuilder) -> None:
    """Decide Cmd and its size; look at the program if it travels."""
    if job.shell_line is not None:
        job.set_string("Cmd", SHELL)
        job.set_boolean("TransferExecutable", False)
        job.executable_kib = job.size_kib(SHELL)
        return
    name = job.param("executable")
    transfer = _transfers_executable(job)
    if name is None and job.is_later:
        size = job.of_cluster("ExecutableSize") or "0"
        job.executable_kib = int(size) if size.isdecimal() else 0
        return
    if name is None:
        if not job.is_docker and not _is_container(job):
            raise SubmitError("No 'executable' parameter was provided", command="executable")
        job.set_string("Cmd", "")
        transfer = False
    elif job.universe is JobUniverse.VM or job.grid_type in CLOUD_TYPES:
        job.set_string("Cmd", name)
        transfer = False
    elif transfer:
        path = name_program(job, name)
        _check_program(job, name, path)
        job.set_string("Cmd", path)
        job.executable_kib = job.size_kib(path)
    else:
        job.set_string("Cmd", name)
        job.executable_kib = job.size_kib(job.macros.absolute(name))
    if not transfer:
        job.set_boolean("TransferExecutable", False)


def name_program(job: JobBuilder, name: str) -> str:
    """Return what jobs call their program, or a Java job's class or archive.

    One that travels is relative to where the submission happens, not to the job's folder; any other
    is called as it is written.
    """
    return whole_path(job.facts.folder, name) if _transfers_executable(job) else name


def _transfers_executable(job: JobBuilder) -> bool:
    # As in the reference what begins with an F is "no", and nothing else; `transfer.py` asks
    # otherwise.
    text = job.param("transfer_executable")
    return text is None or text[:1] not in ("F", "f")


def _is_container(job: JobBuilder) -> bool:
    return job.param("container_image") is not None or job.param("docker_image") is not None


def _check_program(job: JobBuilder, name: str, path: str) -> None:
    if not job.checks_program:
        return
    fact = job.sources.look_at(path)
    if fact is None:
        raise SubmitError(
            f"Can't access executable file {name}: No such file or directory",
            mark=f"\n{ERROR_MARK}",
            command="executable",
        )
    if fact.is_directory:
        return
    if fact.is_measured and not fact.size_bytes:
        said = f"Executable file {name} has zero length"
        raise SubmitError(said, command="executable", mark=f"\n{ERROR_MARK}")
    try:
        first = job.sources.head(path).split(b"\n", 1)[0]
    except OSError:
        return
    if first.startswith(b"#!") and first.endswith(b"\r"):
        said = f"Executable file {name} is a script with CRLF (DOS/Windows) line endings."
        if job.allows_dos_scripts:
            job.warn("executable", said, mark=f"\n{WARNING_MARK}")
            return
        raise SubmitError(
            f"{said}\nThis generally doesn't work, and you should probably run "
            f"'dos2unix {name}' -- or a similar tool -- before you resubmit.",
            mark=f"\n{ERROR_MARK}",
            command="executable",
        )


def set_environment(job: JobBuilder) -> None:
    """Decide Environment; Env where the command `env` gives it in the old syntax."""
    either, new = job.param("environment"), job.param("environment2")
    allowed = job.boolean("allow_environment_v1")
    if either is not None and new is not None and not allowed:
        raise job.pair_error("environment", "environment2", "allow_environment_v1")
    variables = _from_cluster(job)
    text = either if new is None else new
    old = job.text_of("env") if new is None else None
    if job.is_later and text is None and not old:
        return
    variables |= _from_submitter(job, beside_old=new is None and bool(either))
    if text is not None:
        variables |= _parse_given(text, "environment" if new is None else "environment2")
    is_old = old is not None and old != "" and not arguments.is_new_syntax(old)
    _write_environment(job, variables, is_old=is_old)


def _parse_given(text: str, command: str) -> dict[str, str]:
    """Return the variables that a command gives; SubmitError, which shows its text."""
    try:
        if command == "environment2":
            arguments.require_new_syntax(text, what="a double-quoted environment string")
        return arguments.parse_environment(text)
    except SubmitError as error:
        given = f"\nThe environment you specified was: '{text}'"
        raise SubmitError(
            f"{error.message}{given}", complaint=f"{error.complaint}{given}", command=command
        ) from None


def _write_environment(job: JobBuilder, variables: dict[str, str], *, is_old: bool) -> None:
    if not is_old or job.of_cluster("Environment") is not None:
        job.set_string("Environment", arguments.render_environment(variables))
    if is_old:
        job.set_string("Env", arguments.render_old_environment(variables))
        job.set_string("EnvDelim", arguments.OLD_DELIMITER)


def _from_cluster(job: JobBuilder) -> dict[str, str]:
    """Return the environment of the cluster, to which a later job adds its own."""
    if not job.is_later:
        return {}
    environment, env, delimiter = (
        evaluate(job.of_cluster(name) or "") for name in ("Environment", "Env", "EnvDelim")
    )
    return arguments.read_environment(
        environment if isinstance(environment, str) else None,
        env if isinstance(env, str) else None,
        delimiter if isinstance(delimiter, str) and delimiter else arguments.OLD_DELIMITER,
    )


def _from_submitter(job: JobBuilder, *, beside_old: bool) -> dict[str, str]:
    """Return what the job gets of the submitter's environment."""
    wanted = job.param("getenv")
    if wanted is None or wanted.lower() in ("false", "f", "no", "0"):
        return {}
    said = evaluate(wanted)
    if isinstance(said, (bool, int, float)):
        if not said:
            return {}
        wanted = "true"
    if wanted.lower() == "true" and job.config.boolean("SUBMIT_ALLOW_GETENV") is False:
        raise SubmitError(
            "\ngetenv = true command not allowed because administrator has set "
            "SUBMIT_ALLOW_GETENV = false"
        )
    environment = job.facts.environment
    return arguments.select_environment(wanted, environment, beside_old=beside_old)


def set_input(job: JobBuilder) -> None:
    """Decide In, StreamIn and TransferIn."""
    if set_stream(job, "input", "In"):
        name = job.said("input", "In") or ""
        if name != NULL_FILE and "://" not in name:
            job.input_files += (name,)


def set_output(job: JobBuilder) -> None:
    """Decide Out, StreamOut and TransferOut."""
    set_stream(job, "output", "Out")


def set_error(job: JobBuilder) -> None:
    """Decide Err, StreamErr and TransferErr."""
    set_stream(job, "error", "Err")


def set_stream(job: JobBuilder, command: str, attribute: str) -> bool:
    """Decide one standard stream; true if it is a file that travels.

    A later job that names none has its cluster's file, and may say alone whether it travels.
    """
    name = job.param(command)
    transfer = job.boolean(f"transfer_{command}")
    stream = job.boolean(f"stream_{command}")
    if name == NULL_FILE or (name is None and not job.is_later):
        job.set_string(attribute, NULL_FILE)
        job.set_boolean(f"Transfer{attribute}", False)
        return False
    if job.universe is JobUniverse.VM and name is not None:
        raise SubmitError(
            "You cannot use input, ouput, and error parameters in the submit description "
            "file for vm universe",
            command=command,
        )
    if name is not None:
        # Quotes are part of the name, as they are of a log's.
        job.set_string(attribute, name)
    if _as_in_cluster(job, f"Transfer{attribute}", transfer) is False:
        job.set_boolean(f"Transfer{attribute}", False)
        return False
    stream = _as_in_cluster(job, f"Stream{attribute}", stream)
    job.set_boolean(f"Stream{attribute}", bool(stream))
    if job.of_cluster(f"Transfer{attribute}") is not None:
        # Nothing says so of a cluster; its jobs have to where it says the opposite.
        job.set_boolean(f"Transfer{attribute}", True)
    return True


def _as_in_cluster(job: JobBuilder, attribute: str, said: bool | None) -> bool | None:
    text = job.of_cluster(attribute) if said is None else None
    return said if text is None else text == "true"


def set_event_log(job: JobBuilder) -> None:
    """Decide UserLog and the log of a workflow's nodes; both absolute."""
    for command, attribute in (("log", "UserLog"), ("dagman_log", "DAGManNodesLog")):
        name = job.param(command)
        if name is not None:
            job.set_string(attribute, job.path(name))


def set_signals(job: JobBuilder) -> None:
    """Decide the signals that end the job; all but vanilla jobs have one by default."""
    default = None if job.universe is JobUniverse.VANILLA else "SIGTERM"
    for command, attribute, fallback in (
        ("kill_sig", "KillSig", default),
        ("remove_kill_sig", "RemoveKillSig", None),
        ("hold_kill_sig", "HoldKillSig", None),
    ):
        text = job.param(command)
        name = fallback if text is None else signal_name(text)
        if name is not None:
            job.set_string(attribute, name)


def signal_name(text: str) -> str:
    """Return the name of a signal given by name or number; raise SubmitError.

    As in the reference a name has its SIG, what follows a number does not count, and the real-time
    signals are not known.
    """
    number = _LEADING_NUMBER.match(text)
    known = signal.Signals.__members__
    found = whole(number.group()) if number else known.get(text.upper())
    names = {int(member): member.name for member in signal.Signals if member < signal.SIGRTMIN}
    if found is None or int(found) not in names:
        raise SubmitError(f"invalid signal {text}")
    return names[int(found)]


def set_sizes(job: JobBuilder) -> None:
    """Decide ImageSize and ExecutableSize in KiB."""
    size: int | None = job.executable_kib
    text = job.param("image_size")
    if text is not None:
        size = parse_size(text, "K")
        if size is None:
            raise SubmitError(
                f"Image Size must be positive\n{ERROR_MARK}'{text}' is not valid for Image Size"
            )
        if size < 1:
            raise SubmitError("Image Size must be positive")
    own = str(job.executable_kib)
    # What was said of the first job's size holds for all that have the same program.
    if text is not None or job.of_cluster("ExecutableSize") != own:
        job.set_integer("ImageSize", size or 0)
    job.set_text("ExecutableSize", own)


def set_starter_log(job: JobBuilder) -> None:
    """Decide JobStarterLog; the starter writes what its configuration says unless told more."""
    name = job.param("starter_log")
    if name is None:
        return
    name = strip_quotes(name)
    job.set_string("JobStarterLog", job.path(name) if name else "")
    if job.param("starter_debug") is None:
        job.set_default("JobStarterDebug", "true")
