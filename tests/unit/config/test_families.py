"""Names that sites make up have one table, and all who judge names agree with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import kettle
from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.declared import _rows, declared_knobs, find_slips, knobs_of, names_of_levels
from kettle.config.families import (
    FAMILIES,
    MadeUp,
    families_of,
    find_unread_family,
    is_policy,
    is_told_of,
    languages_of,
)
from kettle.config.knob import Family
from kettle.config.unread import find_area, why_unread
from kettle.levels import CONFIGURED
from kettle.master.daemons import _SPEAKING, OWN_DAEMONS


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.example)
def test_a_row_is_sound(family: MadeUp) -> None:
    assert family in families_of(family.example)
    assert family.example == family.example.upper()
    assert family.makes.endswith(".")
    assert family.makes[0].isupper()
    assert bool(family.lists) == bool(family.needs)
    for name in family.lists:
        assert name in declared_knobs() or families_of(name), name
        if family.needs != "{}":
            assert family in families_of(family.needs.format("MINE"))
            # The list itself is no member.
            assert family.told or family not in families_of(name)


def made_up(row: Family[object]) -> str:
    """Return a name of a family of knobs."""
    before, _, rest = row.pattern.partition("{")
    field, _, after = rest.partition("}")
    return before + ("7" if field == "n" else "MINE") + after


def test_each_family_of_the_tables_of_knobs_is_one_of_them() -> None:
    rows = [row for row in _rows() if isinstance(row, Family)]
    assert len(rows) > 30
    for row in rows:
        name = made_up(row)
        # Levels are few and known, and the name of a daemon alone is any name at all.
        if "{level}" in row.pattern or "{context}" in row.pattern or row.pattern == "{subsys}":
            assert row.pattern == "{subsys}" or names_of_levels() & set(names_of(row))
            continue
        assert families_of(name), row.pattern
        assert next(knobs_of(name), None) is not None, row.pattern


def names_of(row: Family[object]) -> list[str]:
    return [re.sub(r"\{\w+\}", level, row.pattern) for level in CONFIGURED]


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("START", True),
        ("SLOT_TYPE_3_PREEMPT", True),
        ("SUBMIT_REQUIREMENT_MINE", True),
        ("SUBMIT_REQUIREMENT_MINE_REASON", False),
        ("SUBMIT_REQUIREMENT_NAMES", False),
        ("SYSTEM_PERIODIC_HOLD", True),
        ("SYSTEM_PERIODIC_HOLD_MINE", True),
        ("SYSTEM_PERIODIC_HOLD_MINE_SUBCODE", False),
        ("SYSTEM_PERIODIC_HOLD_REASON", False),
        ("PREEMPTION_REQUIREMENTS", True),
        ("RANK", False),
    ],
)
def test_policies_are_told_from_what_goes_with_them(name: str, truth: bool) -> None:
    assert is_policy(name) == truth


def test_texts_of_other_languages_are_known() -> None:
    assert languages_of("JOB_TRANSFORM_MINE") == languages_of("JOB_ROUTER_ROUTE_X") == {"transform"}
    assert languages_of("SUBMIT_TEMPLATE_X") == {"submit"}
    assert languages_of("JOB_TRANSFORM_NAMES") == languages_of("START") == set()


def test_one_setting_of_many_is_told_of() -> None:
    assert is_told_of("STARTD_CRON_JOBLIST")
    assert not is_told_of("STARTD_CRON_X_PERIOD")
    assert is_told_of("SCHEDD_ADMIN_EMAIL")
    family = find_unread_family("STARTD_CRON_X_PERIOD")
    assert family is not None
    assert why_unread("STARTD_CRON_X_PERIOD") == family.why


def test_a_made_up_name_is_no_slip_where_that_is_sure() -> None:
    for family in FAMILIES:
        config = Config.from_text(f"{family.example} = 1\n", subsystem="MASTER")
        kinds = [found.kind for found in check_config(config)]
        assert "unknown" not in kinds, family
        assert "unused" not in kinds, family
        assert not list(find_slips(config)), family


_FOREIGN = frozenset(
    ("CREDD", "DEFRAG", "GANGLIAD", "HAD", "KBDD", "REPLICATION", "ROOSTER", "TRANSFERER")
)
_OWN = ("COLLECTOR", "NEGOTIATOR", "SCHEDD", "STARTD", "SHARED_PORT", "JOB_ROUTER")
_OF_A_CHILD = [
    "{}_ARGS",
    "{}_ENVIRONMENT",
    "{}_ADDRESS_FILE",
    "{}_LOG",
    "{}_SHUTDOWN_FAST_TIMEOUT",
    "{}_SHUTDOWN_GRACEFUL_TIMEOUT",
    "MASTER_{}_BACKOFF_CONSTANT",
    "MASTER_{}_BACKOFF_FACTOR",
    "MASTER_{}_BACKOFF_CEILING",
    "MASTER_{}_RECOVER_FACTOR",
]
_OF_A_LOG = [
    "{}_LOG",
    "{}_DEBUG",
    "{}_DAEMON_AD_FILE",
    "{}_CLASSAD_USER_MAP_NAMES",
    "{}_USES_SHARED_PORT",
    "MAX_{}_LOG",
    "MAX_NUM_{}_LOG",
    "TRUNC_{}_LOG_ON_OPEN",
    "{}_MATCH_LOG",
    "TRUNC_{}_MATCH_LOG_ON_OPEN",
]


def named(text: str) -> list[tuple[str, str]]:
    found = check_config(Config.from_text(text, subsystem="MASTER"))
    return [(one.name, one.kind) for one in found if one.kind in ("unknown", "unused")]


@pytest.mark.parametrize("daemon", [*_OWN, "MASTER", "SHADOW", "STARTER", *sorted(_FOREIGN)])
def test_a_knob_that_each_daemon_has_is_no_slip_of_the_pen(daemon: str) -> None:
    patterns = [
        *(_OF_A_LOG if daemon not in _FOREIGN else ()),
        *(_OF_A_CHILD if daemon in {*_OWN, *_FOREIGN} else ()),
    ]
    assert named("".join(f"{pattern.format(daemon)} = 3\n" for pattern in patterns)) == []


def test_all_daemons_of_a_master_are_among_those_whose_knobs_are_known() -> None:
    assert {*_OWN, *_FOREIGN} == _SPEAKING
    assert set(OWN_DAEMONS) == set(_OWN)


@pytest.mark.parametrize("daemon", sorted(_FOREIGN))
def test_of_a_daemon_of_htcondors_it_is_said_who_reads_its_log(daemon: str) -> None:
    for pattern in ("{}_DEBUG", "{}_LOG", "MAX_NUM_{}_LOG", "TRUNC_{}_LOG_ON_OPEN"):
        assert why_unread(pattern.format(daemon)), pattern
    # These are read by the master, whose daemon it is.
    for pattern in ("{}_ARGS", "{}_ENVIRONMENT"):
        assert daemon == "HAD" or not find_area(pattern.format(daemon))[0], pattern


@pytest.mark.parametrize("name", ["SCHED_ARG", "STARTDD_ARGS", "MAX_SCHEDD_LOGS", "COLECTOR_ARGS"])
def test_a_slip_in_a_knob_that_each_daemon_has_is_one(name: str) -> None:
    assert named(f"{name} = 3\n") == [(name, "unknown")]


def test_no_other_module_has_a_pattern_of_such_names() -> None:
    """Readers of what such a name sets take it apart; whoever judges names asks the table."""
    root = Path(kettle.__file__).parent
    found = set()
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if place == "config/families.py" or place.startswith("config/knobs/"):
            continue
        for pattern in patterns_of(path.read_text(encoding="utf-8")):
            # What takes any name is a pattern of names as such.
            if pattern.groups or any(map(pattern.fullmatch, ("NO_NAME", "NO1_NAME"))):
                continue
            names = (row.example for row in FAMILIES if row.is_sure)
            found |= {(place, name) for name in names if pattern.fullmatch(name)}
    # Which settings are files of a site's is said there, of knobs of other patterns, too.
    assert found == {
        ("tools/front/setting_faults.py", name)
        for name in (
            "STARTD_CRON_MINE_EXECUTABLE",
            "SCHEDD_CRON_MINE_EXECUTABLE",
            "CLASSAD_USER_MAPFILE_MINE",
        )
    }


def patterns_of(text: str) -> Iterator[re.Pattern[str]]:
    """Yield the patterns that a module makes, but for those that are put together."""
    for node in ast.walk(ast.parse(text)) if "pattern" in text or "re." in text else ():
        if not isinstance(node, ast.Call) or not node.args:
            continue
        is_one = ast.unparse(node.func) in ("late_pattern", "re.compile", "re.fullmatch")
        pattern = node.args[0]
        if is_one and isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
            yield re.compile(pattern.value)
