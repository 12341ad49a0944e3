"""The submit digest: what of a description a schedd needs to make the jobs later.

Lines whose values are the same for every job are already in the cluster's ad and are left out;
in the others everything that does not change is replaced. How a schedd makes jobs of it is
`materialize.py`. Source: wire notes, Late materialization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kettle.config.macro_search import MacroSearch
from kettle.errors import SubmitError
from kettle.submit.registry import known_names
from kettle.submit.tables import UNIT_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

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
KEPT = frozenset(_KEPT_NAMES.split())
# What counts the jobs: a mention of it stays, whoever has set it. Compat: so does one of ItemIndex,
# which the reference replaces by the first item's number, for all jobs, and one of a variable whose
# text changes, which it writes out; but for ItemIndex the jobs are the same
# (test_a_digest_mentions_what_counts_the_jobs_whoever_has_set_it).
_COUNTING = frozenset(("PROCESS", "PROCID", "STEP", "ROW", "NODE", "ITEM", "TASKID"))


class Described(Protocol):
    """What a digest needs of a submission."""

    @property
    def macros(self) -> SubmitMacros:
        """Its variables."""
        ...

    @property
    def facts(self) -> SubmitFacts:
        """Where it is submitted from."""
        ...


def render_digest(submission: Described, statement: QueueStatement, items_file: str) -> str:
    """Return the digest of a description; `items_file` is where the schedd keeps the items.

    SubmitError for a value that cannot stand on a line: the rest would be another command.
    """
    macros = submission.macros
    lines = {
        "FACTORY.Iwd": submission.facts.folder,
        "FACTORY.Requirements": "MY.Requirements",
    }
    commands = known_names()
    used = [(row, row.used) for row in macros.row_variables.values()]
    macros.always_live = _COUNTING
    for variable in macros.variables.values():
        name = variable.name
        text, is_live = partly_expanded(variable.text, macros)
        is_command = name.lower() in commands or name[:3].upper() == "MY."
        if is_live or name.lower() in KEPT or not is_command:
            if "\n" in text or text.endswith("\\"):
                raise SubmitError(
                    f"jobs that are made later cannot have {name} of several lines, or "
                    "with a backslash at its end"
                )
            lines[name] = text
    macros.always_live = frozenset()
    for row, was_used in used:
        # What a mention that stays is about nobody has looked at yet.
        row.used = was_used
    if statement.items is None:
        item = macros.variables.get("ITEM")
        lines[item.name if item else "Item"] = ""
    added = None if "ITEM" in macros.variables else "Item"

    def place(name: str) -> tuple[bool, bool, str]:
        """Sort lines as the reference does: what it adds last stands at the ends."""
        return name == added, name != "FACTORY.Requirements", name.lower()

    written = [f"{name}={lines[name]}" for name in sorted(lines, key=place)]
    return "\n".join([*written, "", render_queue(statement, items_file)]) + "\n"


def render_queue(statement: QueueStatement, items_file: str) -> str:
    """Return the queue statement for items that stand in a file of the schedd's."""
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
    """Return a text with what never changes replaced, and whether something is left."""
    search = MacroSearch(text)
    is_live = False
    while (found := search.next()) is not None:
        macros.looked_at_live = False
        value = macros.expand(search.text[found.start : found.end])
        if macros.looked_at_live:
            is_live = True
            search.position = found.end
        else:
            search.replace(found, value)
    return search.text, is_live
