"""Why a knob that is known counts for nothing: which part of HTCondor it is for is not here.

Which knobs these are is told by their tables; the list of names is generated, so that a tool that
is asked for one name loads no table.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from kettle.config.families import find_unread_family, is_told_of, knob_of_all_slots
from kettle.config.mentions import find_mentioned
from kettle.config.origin import DEFAULT_SOURCE
from kettle.config.table_readers import teller_of

if TYPE_CHECKING:
    from kettle.config.store import Config, Macro

# By the table of the knob, without the last full stop.
_REASONS = {
    "adstash": "Kettle has no condor_adstash",
    "annex": "Kettle has no condor_annex",
    "ccb": "Kettle's broker of connections does without it",
    "collector": "Kettle's collector does without it",
    "credd": "Kettle has no daemon of credentials; HTCondor's own reads it",
    "dagman": "Kettle has no DAGMan; HTCondor's own reads it",
    "defrag": "Kettle has no condor_defrag; HTCondor's own reads it",
    "docker": "Kettle's container jobs do without it",
    "event_log": "Kettle's event logs do without it",
    "grid": "Kettle has no gridmanager",
    "high_availability": "Kettle has no condor_had; HTCondor's own reads it",
    "history": "Kettle's history does without it",
    "java": "Kettle's Java jobs do without it",
    "job_router": "Kettle has no job router",
    "librarian": "Kettle has no condor_librarian",
    "log": "Kettle's logs do without it",
    "metrics": "Kettle has no condor_gangliad; HTCondor's own reads it",
    "negotiator": "Kettle's negotiator does without it",
    "network": "Kettle's connections do without it",
    "placement": "Kettle has no condor_placementd",
    "rooster": "Kettle has no condor_rooster; HTCondor's own reads it",
    "schedd": "Kettle's schedd does without it",
    "security": "Kettle's security does without it",
    "shadow": "Kettle's shadow does without it",
    "shared_port": "Kettle's shared_port does without it",
    "startd": "Kettle's startd does without it",
    "starter": "Kettle's starter does without it",
    "submitting": "Kettle's condor_submit does without it",
    "tools": "Kettle's tools do without it",
    "transfer": "Kettle's transfers of files do without it",
    "virtual_machines": "Kettle has no virtual machines",
}


def why_unread(name: str) -> str:
    """Return why a name counts for nothing, empty if it counts or is no knob."""
    area, why = find_area(name)
    if not area:
        return ""
    return why or _REASONS.get(area, "Kettle's daemons do without it")


def find_area(name: str) -> tuple[str, str]:
    """Return the table of a name that nothing reads, and a reason of its own; empty if it counts.

    A name of a daemon's own (`SCHEDD.NAME`) is the name behind the dot; a knob for some slots
    alone counts for nothing where that for all of them does.
    """
    plain = name.upper().rpartition(".")[2]
    area, why = _find_area(plain)
    of_all = "" if area else knob_of_all_slots(plain)
    return _find_area(of_all) if of_all else (area, why)


def _find_area(plain: str) -> tuple[str, str]:
    areas = _areas()
    family = find_unread_family(plain)
    if family is not None and not _is_read(plain):
        return areas.get(plain, family.area), family.why
    return areas.get(plain, ""), ""


def _is_read(name: str) -> bool:
    """Tell whether a name of a made-up pattern is a knob of the tables that counts."""
    from kettle.config.default_texts import DEFAULTS  # for those alone who ask

    return name in DEFAULTS and name not in _areas()


def find_unread(config: Config) -> Iterator[tuple[Macro, str]]:
    """Yield what a site has set and nothing reads, with the reason.

    What other settings mention is a macro of the site's own; what is set to its default is none of
    theirs. Of what a template sets only lists of programs that are run by the clock are told: who
    uses it wants them.
    """
    mentioned: set[str] | None = None
    for macro in config.entries():
        plain = config.plain_name(macro.name.rpartition(".")[2])
        is_silent = macro.origin.template and not plain.endswith("_CRON_JOBLIST")
        if macro.origin.source == DEFAULT_SOURCE or is_silent or not is_told_of(plain):
            continue
        if not find_area(plain)[0]:
            continue
        if mentioned is None:
            mentioned = find_mentioned(config)
        if plain not in mentioned or plain.endswith("_CRON_JOBLIST"):
            yield macro, why_unread(plain)


def find_own_unread(config: Config) -> Iterator[tuple[Macro, str]]:
    """Yield what `find_unread` finds and the daemon whose configuration it is tells of."""
    for macro, why in find_unread(config):
        if teller_of(find_area(config.plain_name(macro.name))[0]) == config.subsystem:
            yield macro, why


@cache
def _areas() -> dict[str, str]:
    """Return the table of each name, in upper case."""
    from kettle.config.bare_names import BARE_NAMES  # for those alone who ask
    from kettle.config.unread_names import UNREAD

    bare = {
        name.upper(): area
        for area, kinds in BARE_NAMES.items()
        for names in kinds.values()
        for name in names.split()
    }
    return bare | {name: area for area, names in UNREAD.items() for name in names.split()}
