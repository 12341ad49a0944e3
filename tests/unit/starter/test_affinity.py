"""Which cores a job may run on."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.starter.affinity import AffinityRules, choose_affinity
from kettle.starter.settings import read_settings

JOB = ClassAd({"WantsCores": True, "RequestCpus": 2})
LISTS = {1: "0,2", 3: " 4 , 5 ", 4: "none"}


@pytest.mark.parametrize(
    ("assigns", "enforces", "slot", "cores"),
    [
        ("", False, "slot1", None),
        ("true", False, "slot1", {5, 7}),
        ("WantsCores", False, "slot1_2", {5, 7}),
        ("RequestCpus > 2", False, "slot1", None),
        ("Nothing", False, "slot1", None),
        ("WantsCores", True, "slot1", {5, 7}),
        ("1", False, "slot1", {5, 7}),
        ("a b", False, "slot1", None),
        # Without an assignment by the startd: the list of the slot, else the core of its number.
        ("", True, "slot1_2", {0, 2}),
        ("false", True, "slot3", {4, 5}),
        ("", True, "slot2", {1}),
        ("", True, "slot4", None),
        ("", True, "local", None),
    ],
)
def test_what_binds_a_job(assigns: str, enforces: bool, slot: str, cores: set[int] | None) -> None:
    rules = AffinityRules(assigns, enforces, LISTS)
    assert choose_affinity(rules, JOB, slot, [0, 2], (5, 6, 7)) == cores


def test_cores_that_are_not_there_bind_nothing() -> None:
    rules = AffinityRules("true")
    assert choose_affinity(rules, JOB, "slot1", [3], (0, 1)) is None


def test_the_knobs_are_read() -> None:
    text = "ENFORCE_CPU_AFFINITY = true\nSlot2_Cpu_Affinity = 3\nASSIGN_CPU_AFFINITY = WantsCores\n"
    config = Config.from_text(text, subsystem="STARTER")
    rules = read_settings(config, version="", platform="").affinity
    assert rules == AffinityRules("WantsCores", True, {2: "3"})
