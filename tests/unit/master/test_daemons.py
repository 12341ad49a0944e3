"""Which daemons a master runs, and how."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.master.daemons import DaemonPlan, plan_daemons


def plans(text: str) -> dict[str, DaemonPlan]:
    config = Config.from_text(f"LOG = /log\n{text}", subsystem="MASTER")
    return {plan.name: plan for plan in plan_daemons(config)}


def test_a_second_daemon_of_a_kind_is_one_of_ours_under_its_own_name() -> None:
    made = plans(
        "DAEMON_LIST = MASTER NEGOTIATOR N1 other\nN1 = $(NEGOTIATOR)\nOTHER = /bin/other\n"
        "N1.NEGOTIATOR_ADDRESS_FILE = /log/.n1\n"
    )
    one, first = made["N1"], made["NEGOTIATOR"]
    assert (one.module, one.title, one.speaks) == (first.module, "condor_negotiator", True)
    assert one.arguments == ("-local-name", "N1")
    assert first.arguments == ()
    assert (one.address_file, first.address_file) == ("/log/.n1", "/log/.negotiator_address")
    other = made["OTHER"]
    assert (other.module, other.speaks, other.arguments) == ("", False, ())


@pytest.mark.parametrize("words", ["-local-name mine -t", "-t -local-name mine"])
def test_its_own_arguments_may_name_it_otherwise(words: str) -> None:
    made = plans(f"DAEMON_LIST = MASTER V\nV = $(COLLECTOR)\nV_ARGS = {words}\n")
    assert made["V"].arguments == tuple(words.split())
    assert made["V"].address_file == ""


def test_a_second_daemon_of_a_program_of_the_sites_is_that_program() -> None:
    made = plans("DAEMON_LIST = MASTER S2\nSCHEDD = /opt/schedd\nS2 = $(SCHEDD)\n")
    assert (made["S2"].module, made["S2"].program) == ("", "/opt/schedd")
    assert made["S2"].speaks
    assert made["S2"].arguments == ("-local-name", "S2")
