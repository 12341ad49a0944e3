"""The submit digest: what of a description a schedd needs to make the jobs later.

Lines whose values are the same for every job are already in the cluster's ad and are left out;
in the others everything that does not change is replaced. How a schedd makes jobs of it is
`materialize.py`. Source: wire notes, Late materialization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kettle.attributes.codes import JobUniverse
from kettle.config.macro_search import MacroSearch
from kettle.errors import SubmitError
from kettle.octets import BLANKS
from kettle.submit.arguments import split_list
from kettle.submit.registry import known_names
from kettle.submit.tables import UNIT_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kettle.submit.job import Attributes
    from kettle.submit.macros import SubmitMacros
    from kettle.submit.queue_statement import QueueStatement
    from kettle.submit.sources import SubmitFacts

# Limit: the characters of a digest, which a schedd goes through before the first job is made.
LONGEST_DIGEST = 256 * 1024
# Commands that stay although they are the same for all jobs: those that the schedd looks at, and
# those that the reference leaves there (observed of 25.14.1, and read off its table).
_KEPT_NAMES = """
    arc_application arc_data_staging arc_resources arcapplication arcdatastaging arcresources
    cloud_label_names cloudlabelnames delegate_job_gsi_credentials_lifetime disk_usage diskusage
    hold initial_dir initialdir interactive_args interactive_executable iwd job_iwd
    jobmaterializelimit jobuniverse max_materialize public_input_files publicinputfiles
    remote_grid_resource remote_gridresource remote_jobuniverse remote_remote_grid_resource
    remote_remote_gridresource remote_remote_jobuniverse remote_remote_universe remote_universe
    rendezvous_dir rendezvous_directory rendezvousdir rendezvousdirectory require_gpus requiregpus
    retry_request_disk skip_filechecks universe use_oauth_services useoauthservices
"""
KEPT = frozenset((*_KEPT_NAMES.split(), "my.jobstatus"))
# Names of folders that are whole there.
_FOLDERS = frozenset(("initialdir", "initial_dir", "iwd", "job_iwd"))
# What counts the jobs: a mention of it stays, whoever has set it. Compat: so does one of ItemIndex,
# which the reference replaces by the first item's number, for all jobs, and one of a variable whose
# text changes, which it writes out; but for ItemIndex the jobs are the same
# (test_a_digest_mentions_what_counts_the_jobs_whoever_has_set_it). Compat: requirements that change
# stay, and a late job has its own, where there all have the first one's
# (test_late_jobs_have_requirements_of_their_own).
_COUNTING = frozenset(("PROCESS", "PROCID", "STEP", "ROW", "NODE", "ITEM", "TASKID"))


class Described(Protocol):
    """What a digest needs of a submission."""

    @property
    def macros(self) -> SubmitMacros:
        """Its variables."""
        ...

    @property
    def cluster(self) -> Attributes:
        """What its first job has."""
        ...

    @property
    def said_again(self) -> frozenset[str]:
        """What belongs to something that changes from job to job."""
        ...

    @property
    def facts(self) -> SubmitFacts:
        """Where it is submitted from."""
        ...

    @property
    def digest_lines(self) -> tuple[str, ...]:
        """Its `digest_lines`, none where nobody made them yet."""
        ...


def render_digest(submission: Described, statement: QueueStatement, items_file: str) -> str:
    """Return the digest of a description; `items_file` is where the schedd keeps the items.

    The first job must have been made. SubmitError as `digest_lines` raises it.
    """
    lines = submission.digest_lines or digest_lines(submission, statement)
    return "\n".join([*lines, "", render_queue(statement, items_file)]) + "\n"


def digest_lines(submission: Described, statement: QueueStatement) -> tuple[str, ...]:
    """Return the lines of a digest before its queue statement; what they mention is used then.

    SubmitError for a value that cannot stand there: the rest would be another command.
    """
    macros = submission.macros
    used = [(row, row.used) for row in macros.row_variables.values()]
    macros.always_live = _COUNTING
    try:
        lines = _lines(submission)
    finally:
        macros.always_live = frozenset()
    for row, was_used in used:
        # What a mention that stays is about nobody has looked at yet.
        row.used = was_used
    first, last = "FACTORY.Requirements", ""
    if statement.items is None:
        item = macros.variables.get("ITEM")
        last = "" if item else "Item"
        lines[item.name if item else "Item"] = ""
    if not macros.is_set("universe") and (kind := _kind_of_container(submission)):
        first = "Universe"
        lines[first] = kind

    def place(name: str) -> tuple[bool, bool, bool, str]:
        """Sort lines as the reference does: what it adds stands at the ends."""
        return name == last, name != first, name != "FACTORY.Requirements", name.lower()

    return tuple(_written(name, lines[name]) for name in sorted(lines, key=place))


def _lines(submission: Described) -> dict[str, str]:
    """Return the text of each name that the schedd needs."""
    macros, folder = submission.macros, submission.facts.folder
    lines = {"FACTORY.Iwd": folder, "FACTORY.Requirements": "MY.Requirements"}
    commands, omitted = known_names(), _omitted(macros)
    # Compat: the reference leaves out what does not change, also where a late job is another one
    # without it: a forced attribute counts for nothing beside a command that changes, and its
    # schedd sets a forced Iwd, MyType and JobUniverse anew
    # (test_a_late_job_is_what_it_would_be_at_once).
    kept = KEPT | submission.said_again
    for variable in macros.variables.values():
        name, lower = variable.name, variable.name.lower()
        if lower in omitted:
            continue
        text, is_live = partly_expanded(variable.text, macros)
        if not is_live and lower in _FOLDERS:
            text = _whole(folder, text)
        if lower == "universe":
            text = _kind_of_container(submission) or text
        is_command = lower in commands or lower.startswith("my.")
        if is_live or lower in kept or not is_command:
            lines[name] = text
    return lines


def _omitted(macros: SubmitMacros) -> set[str]:
    """Return the names that no digest has: what they say is the cluster's."""
    names = {"getenv", "get_env", "on_evict_checks", "transformonevict"}
    for name in ("on_evict_checks", "TransformOnEvict"):
        for tag in split_list(macros.expand(macros.raw(name) or "").lower()):
            names |= {f"transform_body_{tag}", f"transformbody_{tag}"}
    return names


def _whole(folder: str, name: str) -> str:
    """Return the name of a folder as seen from where jobs are submitted.

    Compat: the reference does so with a folder that changes from job to job, too, and spoils one
    that an item names from the root (test_a_late_job_s_folder_is_seen_from_the_submission_s).
    """
    if not name or name.startswith("/") or "$$(" in name or "://" in name:
        return name
    return f"{folder}/{name}"


def _kind_of_container(submission: Described) -> str:
    """Return what a vanilla job that runs in a container has as its universe, else nothing."""
    if submission.cluster.get("JobUniverse") != str(int(JobUniverse.VANILLA)):
        return ""
    macros = submission.macros
    word = macros.expand(macros.raw("universe") or "").lower()
    if word == "docker":
        return word
    images = ("container_image", "docker_image", "ContainerImage", "DockerImage")
    return "container" if word == "container" or any(map(macros.raw, images)) else ""


def _written(name: str, text: str) -> str:
    """Return a line, or several that are one value; SubmitError where it would end too soon.

    Compat: the reference writes no blank before the `@=`, and cannot read that itself
    (test_several_lines_are_one_value_in_a_digest).
    """
    lines = text.split("\n")
    if text.endswith("\\") or (
        len(lines) > 1
        and any(line.strip(BLANKS) == "@end" or line.endswith("\\") for line in lines)
    ):
        raise SubmitError(
            f"jobs that are made later cannot have {name} with a backslash at its end, or a line "
            "of @end"
        )
    return f"{name}={text}" if len(lines) == 1 else f"{name} @=end\n{text}\n@end"


def render_queue(statement: QueueStatement, items_file: str) -> str:
    """Return the queue statement for items that stand in a file of the schedd's.

    Compat: `queue 0`, which is one job, counts it, where the reference writes no number
    (test_no_jobs_are_one_in_a_digest).
    """
    if statement.items is None:
        return f"Queue {statement.count} "
    names = ",".join(statement.variables)
    if not items_file:
        return f"Queue {statement.count} {names} "
    chosen = statement.selected
    part = ""
    if chosen != slice(None):
        numbers = (chosen.start, chosen.stop, chosen.step)
        part = "[" + ":".join("" if n is None else str(n) for n in numbers) + "] "
    return f"Queue {statement.count} {names} from {part}{items_file}"


def encode_items(statement: QueueStatement) -> Iterator[bytes]:
    """Yield the items as the schedd keeps them: one a line, the fields taken apart."""
    count = len(statement.variables)
    for item in statement.items or ():
        text = item if count < 2 else UNIT_SEPARATOR.join(statement.values_of(item))
        yield text.encode("utf-8", "surrogateescape") + b"\n"


def partly_expanded(text: str, macros: SubmitMacros) -> tuple[str, bool]:
    """Return a text with what never changes replaced, and whether something is left.

    Compat: `$F(name)` of no variable is the name, as in a job that is made at once; the reference
    writes nothing (test_a_file_name_of_no_variable_is_the_variable_s_name).
    """
    search = MacroSearch(text)
    is_live = False
    while (found := search.next()) is not None:
        if not found.function and found.name.upper() == "DOLLAR":
            is_live = True
            search.position = found.end
            continue
        mention = search.text[found.start : found.end]
        value, changes = macros.watch(macros.expand_first, mention)
        if changes:
            is_live = True
            search.position = found.end
        else:
            search.replace(found, value)
    return search.text, is_live
