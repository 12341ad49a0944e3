"""The name that a machine goes by: detected, or what NETWORK_HOSTNAME says.

Recorded from HTCondor 25.14.1.
"""

from __future__ import annotations

import pytest

from kettle.config import Config, load_config
from kettle.config.sources import MemorySources

FACTS = {"FULL_HOSTNAME": "vm", "HOSTNAME": "vm"}


@pytest.mark.parametrize(
    ("text", "full", "short"),
    [
        ("", "vm", "vm"),
        ("NETWORK_HOSTNAME = ap.example.org", "ap.example.org", "ap"),
        ("NETWORK_HOSTNAME = ap", "ap", "ap"),
        ("NETWORK_HOSTNAME = ap\nDEFAULT_DOMAIN_NAME = x.org", "ap.x.org", "ap"),
        ("DEFAULT_DOMAIN_NAME = .x.org", "vm.x.org", "vm"),
        ("NETWORK_HOSTNAME = ap.example.org\nDEFAULT_DOMAIN_NAME = x.org", "ap.example.org", "ap"),
        ("NETWORK_HOSTNAME = $(FULL_HOSTNAME).x", "vm.x", "vm"),
        ("NETWORK_HOSTNAME = one.x\nSCHEDD.NETWORK_HOSTNAME = two.x", "two.x", "two"),
        ("STARTD.NETWORK_HOSTNAME = two.x", "vm", "vm"),
        ("NETWORK_HOSTNAME =", "vm", "vm"),
        # Nobody sets these by their own names.
        ("FULL_HOSTNAME = other", "vm", "vm"),
    ],
)
def test_a_machine_goes_by_the_name_it_is_given(text: str, full: str, short: str) -> None:
    config = Config.from_text(text, subsystem="SCHEDD", facts=FACTS)
    assert (config.get("FULL_HOSTNAME"), config.get("HOSTNAME")) == (full, short)
    # What follows from it by default.
    assert config.get("CONDOR_ADMIN") == f"root@{full}"


def test_local_files_may_be_named_after_the_name_that_is_given() -> None:
    files = {
        "/main": "NETWORK_HOSTNAME = ap.x\nLOCAL_CONFIG_FILE = /$(HOSTNAME).conf\n",
        "/vm.conf": "WHICH = vm",
        "/ap.conf": "WHICH = ap",
    }
    sources = MemorySources(files=files, facts=dict(FACTS))
    config = load_config(sources, {"CONDOR_CONFIG": "/main"})
    assert config.get("WHICH") == "ap"
    around = {"CONDOR_CONFIG": "/main", "_CONDOR_NETWORK_HOSTNAME": "other.y"}
    config = load_config(sources, around)
    assert (config.get("WHICH"), config.get("FULL_HOSTNAME")) == ("ap", "other.y")
