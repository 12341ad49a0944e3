"""Steps: whether, when and which files travel with the job, and how much that is."""

from __future__ import annotations

from kettle.attributes.codes import JobUniverse
from kettle.classad.text import quote_operand
from kettle.errors import SubmitError
from kettle.patterns import late_pattern
from kettle.submit.job import JobBuilder, split_list, strip_quotes

URL = late_pattern(r"([A-Za-z][\w+.-]*)://")
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
}
NEWER = 'versioncmp(split(TARGET.CondorVersion)[1],"8.9.7") >= 0'
UNDER_SCHEDD = (JobUniverse.LOCAL, JobUniverse.SCHEDULER)


def set_transfer(job: JobBuilder) -> None:
    """Decide ShouldTransferFiles, WhenToTransferOutput and the lists of files."""
    should, when = choose_transfer(job)
    names = _list_inputs(job)
    _refuse_disabled(should, "transfer_input_files", names)
    if names:
        job.set_string("TransferInput", ",".join(names))
        job.input_files += [name for name in names if not URL.match(name)]
    outputs = split_list(strip_quotes_of(job, "transfer_output_files"))
    _refuse_disabled(should, "transfer_output_files", outputs)
    if outputs:
        job.set_string("TransferOutput", ",".join(outputs))
    job.set_string("ShouldTransferFiles", should)
    if should != "NO":
        job.set_string("WhenToTransferOutput", when)
    if should != "YES":
        job.set_string("FileSystemDomain", job.config.get("FILESYSTEM_DOMAIN") or "")
    set_plugins(job, names)
    job.should_transfer = should
    job.transfer_ability = transfer_ability(job, when)


def _list_inputs(job: JobBuilder) -> list[str]:
    """Return the files that travel to the job, those of its universe among them."""
    names = [
        strip_quotes(name) for name in split_list(strip_quotes_of(job, "transfer_input_files"))
    ]
    _check_object_store(job, names)
    if job.universe is JobUniverse.JAVA:
        # Compat: the class file is listed only beside other files (vectors, universe java).
        class_file = job.path(job.param("executable") or "")
        (names or job.input_files).append(class_file)
    return names + job.input_images


def _refuse_disabled(should: str, command: str, names: list[str]) -> None:
    """Raise SubmitError if `command` lists files although transfer is disabled."""
    if should == "NO" and names:
        raise SubmitError(
            f'\nERROR: you specified files you want Condor to transfer via \n"{command}", '
            "but you disabled should_transfer_files. "
        )


def strip_quotes_of(job: JobBuilder, command: str) -> str:
    """Return a command's text without one pair of quotes, empty if it is not set."""
    return strip_quotes(job.param(command) or "")


def choose_transfer(job: JobBuilder) -> tuple[str, str]:
    """Decide the two words; raise SubmitError where they contradict each other."""
    should = _choose_should(job)
    when = _choose_when(job, should)
    if should == "NO" and when is not None:
        raise SubmitError(
            f"\nERROR: WhenToTransferOutput specified as {when} yet ShouldTransferFiles \n"
            "defined as NO. Please remove this contradiction from your submit file and try \nagain."
        )
    if should == "IF_NEEDED" and when == "ON_EXIT_OR_EVICT":
        raise SubmitError(
            '\nERROR: "when_to_transfer_output = ON_EXIT_OR_EVICT" and \n'
            '"should_transfer_files = IF_NEEDED" are incompatible: use should_transfer_files = YES'
        )
    if should is None:
        should = "YES" if when == "ON_EXIT_OR_EVICT" else "IF_NEEDED"
        should = "YES" if job.universe is JobUniverse.VM else should
    return should, when or "ON_EXIT"


def _choose_should(job: JobBuilder) -> str | None:
    """Return YES, NO or IF_NEEDED, None if nobody says; SubmitError for another word."""
    asked = job.param("should_transfer_files")
    if asked is None:
        asked = job.config.get("SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES")
    if asked is None:
        return None
    should = SHOULD.get(asked.lower())
    if should is None:
        raise SubmitError(
            f"\nERROR: invalid value ({asked}) for ShouldTransferFiles. Please either specify \n"
            "YES, NO, or IF_NEEDED and try again. "
        )
    return should


def _choose_when(job: JobBuilder, should: str | None) -> str | None:
    """Return when output travels, None if nobody says; SubmitError for an unknown word."""
    asked = job.param("when_to_transfer_output")
    if asked is None or (asked.lower() == "never" and should != "NO"):
        # Nothing is meant by never: files travel at the end all the same.
        return None
    when = WHEN.get(asked.lower())
    if when is None:
        raise SubmitError(
            f"\nERROR: invalid value ({asked}) for WhenToTransferOutput. Please either specify \n"
            "ON_EXIT, ON_EXIT_OR_EVICT, or ON_SUCCESS and try again. "
        )
    return when


def _check_object_store(job: JobBuilder, names: list[str]) -> None:
    if not any(name.startswith(("s3://", "gs://")) for name in names):
        return
    missing = []
    if job.param("s3_secret_access_key_file") is None:
        missing.append("secret_access_key_file")
    if job.param("s3_access_key_id_file") is None:
        missing.append("access_key_id_file")
    if missing:
        raise SubmitError(f"ERROR: [s3|gs]:// URLS require [s3|aws|gs]_{missing[0]} to be set.")


def set_plugins(job: JobBuilder, names: list[str]) -> None:
    """Decide WantTransferPluginMethods: which kinds of URL the machine has to understand."""
    urls = [*names, job.param("output_destination") or ""]
    own = {
        part.partition("=")[0].strip().lower()
        for part in (job.param("transfer_plugins") or "").split(";")
    }
    methods = {match.group(1).lower() for url in urls if (match := URL.match(url))}
    job.plugin_methods = sorted(methods - own)
    if job.plugin_methods:
        job.set_string("WantTransferPluginMethods", ",".join(job.plugin_methods))


def transfer_ability(job: JobBuilder, when: str) -> str:
    """Return what the machine must offer so that the files can travel, empty for nothing."""
    if job.universe in (*UNDER_SCHEDD, JobUniverse.GRID):
        return ""
    can = "TARGET.HasFileTransfer"
    if job.param("transfer_plugins") is not None:
        can = "TARGET.HasJobTransferPlugins"
    needs_newer = (
        when == "ON_SUCCESS"
        or bool(job.boolean("preserve_relative_paths"))
        or job.param("transfer_checkpoint_files") is not None
    )
    if needs_newer:
        can += f" && {NEWER}"
    for method in job.plugin_methods:
        can += f" && stringListIMember({quote_operand(method)},TARGET.HasFileTransferPluginMethods)"
    return can


def set_checkpoint(job: JobBuilder) -> None:
    """Decide WantFTOnCheckpoint: a job that writes checkpoints has them brought back."""
    if job.param("checkpoint_exit_code") is not None or job.param("checkpoint_exit_signal"):
        job.set_boolean("WantFTOnCheckpoint", True)


def set_transfer_sizes(job: JobBuilder) -> None:
    """Decide DiskUsage in KiB and TransferInputSizeMB, from what travels."""
    total = job.executable_kib
    if job.universe is JobUniverse.VM:
        total = job.executable_kib
    for name in job.input_files:
        total += job.size_kib(job.path(name))
    job.set_integer("DiskUsage", total)
    job.set_integer("TransferInputSizeMB", (total + 1023) // 1024)


def set_proxy(job: JobBuilder) -> None:
    """Decide the X.509 proxy and the tokens that travel with the job."""
    name = job.param("x509userproxy")
    if name is not None:
        path = job.path(name)
        try:
            text = job.sources.read_text(path)
        except OSError:
            text = ""
        if "-----BEGIN CERTIFICATE-----" not in text:
            raise SubmitError("ERROR: unable to read proxy file")
        job.set_string("x509userproxy", path)
    if job.boolean("use_scitokens") and job.param("scitokens_file") is None:
        if not job.facts.environment.get("BEARER_TOKEN_FILE"):
            raise SubmitError(
                "ERROR: No Scitokens filename specified. Expected either scitokens_file command "
                "or the BEARER_TOKEN_FILE environment variable to be set."
            )
        job.set_string("ScitokensFile", job.facts.environment["BEARER_TOKEN_FILE"])
    if job.param("use_oauth_services") is not None:
        # Compat: the reference asks a credd first; there is none here to ask
        # (test_oauth_services_are_refused_before_anything_is_queued).
        raise SubmitError(
            "ERROR: use_oauth_services needs a credd, and no credd can be asked for tokens here"
        )
