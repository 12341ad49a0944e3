"""Names that sites make up have one table, and all who judge names agree with it."""

from __future__ import annotations

import re

import pytest

from kettle.config import Config
from kettle.config.check import check_config
from kettle.config.declared import declared_knobs, find_slips, knobs_of
from kettle.config.families import (
    FAMILIES,
    MadeUp,
    families_of,
    find_unread_family,
    is_policy,
    is_told_of,
    languages_of,
)
from kettle.config.unread import why_unread


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


def test_each_family_of_the_tables_of_knobs_is_one_of_them() -> None:
    for name in ("SLOT_TYPE_2", "NUM_SLOTS_TYPE_2", "MACHINE_RESOURCE_X", "SUBMIT_TEMPLATE_X"):
        assert any(family.is_sure for family in families_of(name)), name
        assert next(knobs_of(name), None) is not None
    for name in ("CLASSAD_USER_MAPFILE_X", "SCHEDD_COLLECT_STATS_BY_X", "JOB_TRANSFORM_X"):
        assert any(family.is_sure for family in families_of(name)), name
        assert next(knobs_of(name), None) is not None


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


def test_no_other_module_has_a_pattern_of_such_names() -> None:
    """Readers of what such a name sets know its parts; whoever judges names asks the table."""
    import kettle.config.check as check
    import kettle.config.unread as unread

    for module in (check, unread):
        with open(module.__file__, encoding="utf-8") as file:
            assert re.findall(r"JOB_ROUTER_|SUBMIT_REQUIREMENT_|SLOT_TYPE", file.read()) == []
