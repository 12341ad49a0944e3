"""Steps: whether, when and which files travel with the job, and how much that is."""

from __future__ import annotations

import itertools
import re

from kettle.attributes.codes import JobUniverse
from kettle.errors import SubmitError
from kettle.octets import BLANKS
from kettle.patterns import late_pattern
from kettle.submit.job import JobBuilder, evaluate, split_at_commas, strip_quotes
from kettle.submit.notices import ERROR_MARK
from kettle.submit.protected import list_apart, set_inputs
from kettle.submit.sizes import parse_size

# Where the tools of X.509 proxies put the user's; the number is appended.
PROXIES = "/tmp/x509up_u"  # noqa: S108
UNREADABLE_PROXY = "unable to read proxy file"
URL = late_pattern(r"([A-Za-z][\w+.-]*)://")
TOKENS = ("auto", "true", "false")
SHOULD = {
    "yes": "YES",
    "true": "YES",
    "always": "YES",
    "no": "NO",
    "false": "NO",
    "never": "NO",
    "if_needed": "IF_NEEDED",
    "auto": "IF_NEEDED",
}
WHEN = {
    "on_exit": "ON_EXIT",
    "on_exit_or_evict": "ON_EXIT_OR_EVICT",
    "on_success": "ON_SUCCESS",
    "always": "ON_EXIT_OR_EVICT",
    # Nothing is meant by never: files travel at the end all the same.
    "never": "ON_EXIT",
    "none": "NONE",
}
# Of a line of the reference's longer complaints.
_COLUMNS = 78


def set_transfer(job: JobBuilder) -> None:
    """Decide whether and when files travel, and the lists of them."""
    names = _list_inputs(job)
    should, when = job.ask(_choose, bool(names))
    named = bool(names) or job.input_files_named
    _set_common(job)
    if should != "NO":
        _send_java(job, names)
        names += _tool_files(job, names)
    urls = tuple(filter(URL.match, names))
    job.input_files += tuple(itertools.filterfalse(URL.match, names)) if urls else tuple(names)
    if job.is_later and not named:
        listed = job.said("transfer_input_files", "TransferInput") or ""
        urls = tuple(filter(URL.match, split_at_commas(listed) + list_apart(job)))
    if named:
        set_inputs(job, names)
    # An empty list is a list too: nothing comes back then, where without one everything new does.
    if job.param("transfer_output_files") is not None:
        outputs = split_at_commas(strip_quotes_of(job, "transfer_output_files"))
        job.set_string("TransferOutput", ",".join(outputs))
    job.should_transfer = should
    job.when_to_transfer = when if should != "NO" else ""
    job.transferred_urls = urls


def say_transfer(job: JobBuilder) -> None:
    """Say whether and when files travel, and where they need not: for most jobs the same."""
    should = job.should_transfer
    job.set_string("ShouldTransferFiles", should)
    if should != "NO":
        job.set_string("WhenToTransferOutput", job.when_to_transfer)
    if should != "YES":
        job.set_string("FileSystemDomain", job.config.get("FILESYSTEM_DOMAIN") or "")


def _choose(job: JobBuilder, lists_inputs: bool) -> tuple[str, str]:
    """Decide the two words; SubmitError where they contradict the rest."""
    should, when = choose_transfer(job, _listed(job, lists_inputs=lists_inputs))
    _refuse_program(job, should)
    return should, when


def _list_inputs(job: JobBuilder) -> list[str]:
    """Return the files that are to travel to the job, its image among them."""
    # Quotes around one of several names stay, as in the reference.
    names = split_at_commas(strip_quotes_of(job, "transfer_input_files"))
    return [*names, *job.input_images]


def _send_java(job: JobBuilder, names: list[str]) -> None:
    """Have the class and archives of a Java job sent, and the machine's Java run as its program.

    Where nothing travels the class is its program, and is found where it is.
    """
    if job.universe is not JobUniverse.JAVA:
        return
    # Compat: the class file is listed only beside other files (submit/commands.json).
    if names:
        names += job.java_files
    else:
        job.input_files += job.java_files
    job.set_string("Cmd", "java")
    job.set_boolean("TransferExecutable", False)


def _set_common(job: JobBuilder) -> None:
    """Decide the files that are sent once for all jobs."""
    if job.param("transfer_common_input") is not None:
        common = split_at_commas(strip_quotes_of(job, "transfer_common_input"))
        job.set_string("CommonInputFiles", ",".join(common))
    if job.param("output_destination") and job.param("output_directory"):
        raise SubmitError(
            "You cannot use both output_destination and output_directory in the same submit file"
        )


def check_docker_credentials(job: JobBuilder) -> None:
    """Refuse credentials that are wanted and not there."""
    if job.boolean("docker_send_credentials"):
        name = f"{job.facts.environment.get('HOME', '')}/.docker/config.json"
        if job.sources.look_at(name) is None:
            said = f"Cannot locate docker credentials file {name}: No such file or directory"
            raise SubmitError(f"{ERROR_MARK}{said}", complaint=said)


def _tool_files(job: JobBuilder, names: list[str]) -> list[str]:
    """Return the program and input of the job's tool, which travel as other files do."""
    command = job.said("tool_daemon_cmd", "ToolDaemonCmd")
    if command is None:
        return []
    wanted = [command, job.said("tool_daemon_input", "ToolDaemonInput")]
    return [name for name in wanted if name is not None and name not in names]


def _listed(job: JobBuilder, *, lists_inputs: bool) -> list[str]:
    """Return the commands that list files to transfer."""
    listed = ["transfer_input_files"] if lists_inputs else []
    if job.param("transfer_output_files") is not None:
        listed.append("transfer_output_files")
    return listed


def strip_quotes_of(job: JobBuilder, command: str) -> str:
    """Return a command's text without one pair of quotes, empty if it is not set."""
    return strip_quotes(job.param(command) or "")


def wrap(text: str) -> str:
    """Return a text as the reference breaks the lines of its longer complaints.

    At 78 columns, a line end counted as any other character, a blank after each word.
    """
    parts = []
    column = 0
    for word in re.split(r"[ \t]+", text.strip(" \t")):
        if len(word) >= _COLUMNS - column:
            parts.append("\n")
            column = 0
        parts.append(word)
        column += len(word)
        ends = column >= _COLUMNS
        parts.append("\n" if ends else " ")
        column = 0 if ends else column + 1
    return "".join(parts)


def _complain(text: str) -> SubmitError:
    mark = f"\n{ERROR_MARK}"
    return SubmitError(wrap(f"{mark}{text}")[len(mark) :], mark=mark)


def _refuse_program(job: JobBuilder, should: str) -> None:
    """Raise SubmitError where nothing travels and the program was asked to.

    What has no truth asks for it, so that `transfer_executable = no` does, whatever becomes of it
    where files do travel (test_spellings_of_transfer_executable).
    """
    if should != "NO" or job.universe in (JobUniverse.JAVA, JobUniverse.GRID):
        return
    try:
        wanted, said = job.boolean("transfer_executable"), ""
    except SubmitError as error:
        wanted, said = True, f"\n{error.message}"
    if wanted:
        complaint = _complain(
            "You explicitly requested that the executable be transfered, but for this to work, you "
            "must enable Condor's file transfer functionality. You need to define either: "
            '"when_to_transfer_output = ON_EXIT" or "when_to_transfer_output = ON_EXIT_OR_EVICT". '
            'Optionally, you can define "should_transfer_files = IF_NEEDED" if you do not want any '
            "files to be transfered if the job executes on a machine in the same FileSystemDomain. "
            "See the Condor manual for more details."
        )
        raise SubmitError(
            f"{complaint.said}{said}", mark=complaint.mark, command="transfer_executable"
        )


def choose_transfer(job: JobBuilder, listed: list[str]) -> tuple[str, str]:
    """Decide the two words; raise SubmitError where they contradict each other.

    Or where they contradict the commands that list files.
    """
    should, asked_should = _choose_should(job)
    if should == "NO" and listed:
        commands = '" and "'.join(listed)
        raise _complain(
            f'you specified files you want Condor to transfer via "{commands}", '
            "but you disabled should_transfer_files."
        )
    when, asked_when = _choose_when(job)
    if asked_when and (should == "NO") != (when == "NONE"):
        raise _complain(
            f"WhenToTransferOutput specified as {asked_when} yet ShouldTransferFiles defined as "
            f"{asked_should or 'IF_NEEDED'}. Please remove this contradiction from your submit "
            "file and try again."
        )
    if should == "IF_NEEDED" and when == "ON_EXIT_OR_EVICT":
        raise _complain(
            '"when_to_transfer_output = ON_EXIT_OR_EVICT" and "should_transfer_files = IF_NEEDED" '
            "are incompatible. The behavior of these two settings together would produce incorrect "
            "file access in some cases. Please decide which one of those two settings you're more "
            'interested in. If you really want "IF_NEEDED", set "when_to_transfer_output = '
            'ON_EXIT". If you really want "ON_EXIT_OR_EVICT", please set "should_transfer_files = '
            'YES". After you have corrected this incompatibility, please try running '
            "condor_submit again.\n"
        )
    if should is None:
        should = "YES" if when == "ON_EXIT_OR_EVICT" else "IF_NEEDED"
        should = "YES" if job.universe is JobUniverse.VM else should
    return should, when or "ON_EXIT"


def _choose_should(job: JobBuilder) -> tuple[str | None, str]:
    """Return YES, NO or IF_NEEDED and how it was said, None if nobody says; SubmitError."""
    if job.universe is JobUniverse.VM:
        return "YES", "YES"
    asked = job.said("should_transfer_files", "ShouldTransferFiles")
    if asked is None:
        asked = job.config.get("SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES")
    if asked is None:
        return None, ""
    should = SHOULD.get(asked.lower())
    if should is None:
        raise _complain(
            f"invalid value ({asked}) for ShouldTransferFiles. Please either specify YES, NO, or "
            "IF_NEEDED and try again."
        )
    return should, asked


def _choose_when(job: JobBuilder) -> tuple[str | None, str]:
    """Return when output travels and how it was said, None if nobody says; SubmitError."""
    if job.universe is JobUniverse.VM:
        return "ON_EXIT_OR_EVICT" if job.boolean("vm_checkpoint") else "ON_EXIT", ""
    asked = job.said("when_to_transfer_output", "WhenToTransferOutput")
    if asked is None:
        return None, ""
    when = WHEN.get(asked.lower())
    if when is None:
        raise _complain(
            # As the reference has it: of ON_SUCCESS it does not tell, either.
            f"invalid value ({asked}) for WhenToTransferOutput. Please either specify ON_EXIT, or "
            "ON_EXIT_OR_EVICT and try again."
        )
    return when, asked


def plugin_methods(plugins: str, names: list[str], remaps: str) -> list[str]:
    """Return the kinds of URL that are none of the job's own plugins', ordered.

    Names are files and URLs; the targets of remaps (`a=URL;b=URL`) count too. A kind is written
    as the first URL of it has it, in capitals or not.
    """
    own = {
        method.strip(BLANKS).lower()
        for part in plugins.split(";")
        if "=" in part
        for method in part.partition("=")[0].split(",")
    }
    names = [*names, *(part.partition("=")[2].strip(BLANKS) for part in remaps.split(";"))]
    found: dict[str, str] = {}
    for match in filter(None, map(URL.match, names)):
        found.setdefault(match.group(1).lower(), match.group(1))
    return [found[method] for method in sorted(found.keys() - own)]


def check_object_store(job: JobBuilder, methods: list[str]) -> None:
    """Raise SubmitError for URLs of an object store without the two keys that sign them."""
    stores = {"s3", "gs"} & {method.lower() for method in methods}
    if not stores or job.config.boolean("SIGN_S3_URLS") is False:
        return
    said = []
    for attribute, command, urls in (
        ("EC2AccessKeyId", "access_key_id_file", "URLs"),
        ("EC2SecretAccessKey", "secret_access_key_file", "URLS"),
    ):
        if job.current(attribute) is None:
            said.append(f"[s3|gs]:// {urls} require [s3|aws|gs]_{command} to be set.")
    if said:
        raise SubmitError(f"\n{ERROR_MARK}".join(reversed(said)))


def set_checkpoint(job: JobBuilder) -> None:
    """Decide WantFTOnCheckpoint: a job that writes checkpoints has them brought back.

    As in the reference there is no command for a signal that means so, which is an attribute alone.
    """
    if job.param("checkpoint_exit_code") is not None:
        job.set_boolean("WantFTOnCheckpoint", True)


def set_transfer_sizes(job: JobBuilder) -> None:
    """Decide DiskUsage in KiB and TransferInputSizeMB, from what travels."""
    said = job.param("disk_usage")
    if said is not None:
        size = parse_size(said, "K") or 0
        if size < 1:
            raise SubmitError(f"'{said}' is not valid for disk_usage. It must be >= 1")
        job.set_integer("DiskUsage", size)
        return
    total = job.executable_kib
    for name in job.input_files:
        total += job.size_kib(job.path(name))
    job.set_integer("DiskUsage", total)
    job.set_integer("TransferInputSizeMB", (total + 1023) // 1024)


def set_proxy(job: JobBuilder) -> None:
    """Decide the X.509 proxy and the tokens that travel with the job."""
    name = job.param("x509userproxy")
    try:
        is_wanted = job.boolean("use_x509userproxy")
    except SubmitError as wrong:
        raise SubmitError(f"{UNREADABLE_PROXY}\n{wrong}") from None
    if is_wanted and name is None:
        name = job.facts.environment.get("X509_USER_PROXY") or (f"{PROXIES}{job.facts.uid}")
    if name is not None:
        path = job.path(name)
        try:
            text = job.sources.read_text(path)
        except OSError:
            text = ""
        if "-----BEGIN CERTIFICATE-----" not in text:
            at_fault = (
                "use_x509userproxy" if job.param("x509userproxy") is None else "x509userproxy"
            )
            raise SubmitError(UNREADABLE_PROXY, command=at_fault)
        job.set_string("x509userproxy", path)
    lifetime = job.param("delegate_job_gsi_credentials_lifetime")
    if lifetime is not None:
        if not re.fullmatch(r"\s*[-+]?\d+", lifetime):
            raise SubmitError(
                f"invalid integer setting delegate_job_gsi_credentials_lifetime = {lifetime}"
            )
        job.set_integer("DelegateJobGSICredentialsLifetime", int(lifetime))
    _set_token(job)
    refuse_services(job)


def refuse_services(job: JobBuilder) -> None:
    """Raise SubmitError where a job wants tokens of OAuth services.

    Compat: the reference asks a credd for them, before it looks at the jobs; there is none here to
    ask (test_oauth_services_are_refused_before_anything_is_queued).
    """
    if (job.param("use_oauth_services") or "").strip(BLANKS):
        raise SubmitError(
            "use_oauth_services needs a credd, and no credd can be asked for tokens here"
        )


def _set_token(job: JobBuilder) -> None:
    """Decide ScitokensFile: the file that is named, else the submitter's own token."""
    name = job.param("scitokens_file")
    wish = job.param("use_scitokens")
    own = job.facts.environment.get("BEARER_TOKEN_FILE")
    if wish is None or wish.lower() == "auto":
        wanted = bool(name or (wish and own))
    else:
        value = evaluate(wish)
        if not isinstance(value, (bool, int, float)):
            raise SubmitError("use_scitokens error. Value should be true, false, or auto.")
        wanted = bool(value)
    if not wanted:
        return
    name = name or own
    if not name:
        raise SubmitError(
            "No Scitokens filename specified. Expected either scitokens_file command "
            "or the BEARER_TOKEN_FILE environment variable to be set."
        )
    job.set_string("ScitokensFile", job.path(name))
