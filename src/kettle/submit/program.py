"""Steps: universe, program, arguments, environment, standard streams, event log, signals."""

from __future__ import annotations

import signal

from kettle.attributes.codes import JobUniverse
from kettle.errors import SubmitError
from kettle.submit import arguments
from kettle.submit.job import JobBuilder, strip_quotes

NULL_FILE = "/dev/null"
UNSUPPORTED = {
    JobUniverse.STANDARD: "Standard",
    JobUniverse.PIPE: "Pipe",
    JobUniverse.LINDA: "Linda",
    JobUniverse.PVM: "PVM",
    JobUniverse.PVMD: "PVMD",
}
NAMES = {universe.name.lower(): universe for universe in JobUniverse}
# Grid types whose jobs have no program of their own on this side.
CLOUD_TYPES = ("ec2", "gce", "azure")


def set_universe(job: JobBuilder) -> None:
    """Decide JobUniverse, and whether it is a docker or container job."""
    text = job.param("universe")
    if text is None:
        text = job.config.get("DEFAULT_UNIVERSE") or "vanilla"
    word = text.lower()
    job.is_docker = word == "docker"
    if word in ("docker", "container"):
        word = "vanilla"
    universe = NAMES.get(word)
    if universe is None:
        if not word.isdecimal():
            raise SubmitError(f"ERROR: I don't know about the '{text}' universe.")
        numbers = {int(one): one for one in JobUniverse}
        universe = numbers.get(int(word))
        if universe is None:
            raise SubmitError("ERROR: 'Unknown' is not a supported universe.")
    if universe in UNSUPPORTED:
        raise SubmitError(f"ERROR: '{UNSUPPORTED[universe]}' is not a supported universe.")
    job.universe = JobUniverse.PARALLEL if universe is JobUniverse.MPI else universe
    job.set_integer("JobUniverse", job.universe)


def set_folder(job: JobBuilder) -> None:
    """Decide Iwd; it must be there."""
    folder = job.folder
    if job.param("initialdir") is not None:
        fact = job.sources.look_at(folder)
        if fact is None or not fact.is_directory:
            raise SubmitError(f"ERROR: No such directory: {folder}")
    job.set_string("Iwd", folder)


def set_executable(job: JobBuilder) -> None:
    """Decide Cmd and its size; look at the program if it travels."""
    name = job.param("executable")
    transfer = _transfers_executable(job)
    if name is None:
        if not job.is_docker and not _is_container(job):
            raise SubmitError("ERROR: No 'executable' parameter was provided")
        job.set_string("Cmd", "")
        transfer = False
    elif job.universe is JobUniverse.JAVA:
        job.set_string("Cmd", "java")
        path = job.macros.absolute(name)
        if transfer:
            # The class or archive itself; those that jar_files names are not looked at.
            _check_program(job, name, path)
        job.executable_kib = job.size_kib(path)
        job.set_boolean("TransferExecutable", False)
        return
    elif job.universe is JobUniverse.VM or job.grid_type in CLOUD_TYPES:
        job.set_string("Cmd", name)
        transfer = False
    elif transfer:
        # Relative to where the submission happens, not to the job's folder.
        path = job.macros.absolute(name)
        _check_program(job, name, path)
        job.set_string("Cmd", path)
        job.executable_kib = job.size_kib(path)
    else:
        job.set_string("Cmd", name)
        job.executable_kib = job.size_kib(job.macros.absolute(name))
    if not transfer:
        job.set_boolean("TransferExecutable", False)


def _transfers_executable(job: JobBuilder) -> bool:
    text = job.param("transfer_executable")
    return text is None or text.lower() not in ("false", "f", "no", "0")


def _is_container(job: JobBuilder) -> bool:
    return job.param("container_image") is not None or job.param("docker_image") is not None


def _check_program(job: JobBuilder, name: str, path: str) -> None:
    fact = job.sources.look_at(path)
    if fact is None:
        raise SubmitError(
            f"\nERROR: Can't access executable file {name}: No such file or directory"
        )
    if fact.is_directory:
        return
    try:
        first = job.sources.head(path).split(b"\n", 1)[0]
    except OSError:
        return
    if first.startswith(b"#!") and first.endswith(b"\r"):
        raise SubmitError(
            f"\nERROR: Executable file {name} is a script with CRLF (DOS/Windows) line endings.\n"
            f"This generally doesn't work, and you should probably run 'dos2unix {name}' -- or a "
            "similar tool -- before you resubmit."
        )


def set_arguments(job: JobBuilder) -> None:
    """Decide Arguments or Args."""
    text = job.param("arguments") or ""
    try:
        if not text or arguments.is_new_syntax(text):
            words = arguments.split_new(arguments.strip_outer_quotes(text)) if text else []
            job.set_string("Arguments", arguments.join_new(words))
        else:
            job.set_string("Args", arguments.parse_old_arguments(text))
    except SubmitError as error:
        raise SubmitError(
            f"ERROR: {error.message}\nThe full arguments you specified were: {text}"
        ) from None
    if job.universe is JobUniverse.JAVA and not text:
        raise SubmitError(
            "ERROR: In Java universe, you must specify the class name to run.\n"
            "Example:\n\narguments = MyClass\n"
        )


def set_environment(job: JobBuilder) -> None:
    """Decide Environment."""
    variables: dict[str, str] = {}
    wanted = job.param("getenv")
    if wanted is not None and wanted.lower() not in ("false", "f", "no", "0"):
        if wanted.lower() == "true" and job.config.boolean("SUBMIT_ALLOW_GETENV") is False:
            raise SubmitError(
                "ERROR: \ngetenv = true command not allowed because administrator has set "
                "SUBMIT_ALLOW_GETENV = false"
            )
        variables |= arguments.select_environment(wanted, job.facts.environment)
    text = job.param("environment")
    if text is not None:
        try:
            variables |= arguments.parse_environment(text)
        except SubmitError as error:
            raise SubmitError(
                f"ERROR: {error.message}\nThe environment you specified was: '{text}'"
            ) from None
    job.set_string("Environment", arguments.render_environment(variables))


def set_input(job: JobBuilder) -> None:
    """Decide In, StreamIn and TransferIn."""
    if set_stream(job, "input", "In"):
        name = strip_quotes(job.param("input") or "")
        if "://" not in name:
            job.input_files.append(name)


def set_output(job: JobBuilder) -> None:
    """Decide Out, StreamOut and TransferOut."""
    set_stream(job, "output", "Out")


def set_error(job: JobBuilder) -> None:
    """Decide Err, StreamErr and TransferErr."""
    set_stream(job, "error", "Err")


def set_stream(job: JobBuilder, command: str, attribute: str) -> bool:
    """Decide one standard stream; true if it is a file that travels."""
    name = job.param(command)
    stream = job.boolean(f"stream_{command}")
    transfer = job.boolean(f"transfer_{command}")
    if name is None or strip_quotes(name) == NULL_FILE:
        job.set_string(attribute, NULL_FILE)
        job.set_boolean(f"Transfer{attribute}", False)
        return False
    job.set_string(attribute, strip_quotes(name))
    if transfer is False:
        job.set_boolean(f"Transfer{attribute}", False)
        return False
    job.set_boolean(f"Stream{attribute}", bool(stream))
    return True


def set_event_log(job: JobBuilder) -> None:
    """Decide UserLog and the log of a workflow's nodes; both absolute."""
    for command, attribute in (("log", "UserLog"), ("dagman_log", "DAGManNodesLog")):
        name = job.param(command)
        if name is not None:
            job.set_string(attribute, job.path(strip_quotes(name)))


def set_signals(job: JobBuilder) -> None:
    """Decide the signals that end the job; all but vanilla jobs have one by default."""
    default = None if job.universe is JobUniverse.VANILLA else "SIGTERM"
    for command, attribute, fallback in (
        ("kill_sig", "KillSig", default),
        ("remove_kill_sig", "RemoveKillSig", None),
        ("hold_kill_sig", "HoldKillSig", None),
    ):
        text = job.param(command)
        name = fallback if text is None else signal_name(strip_quotes(text))
        if name is not None:
            job.set_string(attribute, name)


def signal_name(text: str) -> str:
    """Return the name of a signal given by name or number; raise SubmitError."""
    if text.lstrip("-").isdecimal():
        try:
            return signal.Signals(int(text)).name
        except ValueError:
            raise SubmitError(f"ERROR: invalid signal {text}") from None
    name = text.upper()
    name = name if name.startswith("SIG") else f"SIG{name}"
    if name not in signal.Signals.__members__:
        raise SubmitError(f"ERROR: invalid signal {text}")
    return name


def set_sizes(job: JobBuilder) -> None:
    """Decide ImageSize and CoreSize."""
    size = job.integer("image_size")
    if size is not None and size < 1:
        raise SubmitError("ERROR: Image Size must be positive")
    job.set_integer("ImageSize", job.executable_kib if size is None else size)
    job.set_integer("ExecutableSize", job.executable_kib)
    core = job.integer("coresize", "core_size")
    if core is not None:
        job.set_integer("CoreSize", core)
