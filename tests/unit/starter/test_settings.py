"""What starters take from the configuration."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.starter.settings import read_settings


@pytest.mark.parametrize(
    ("append", "ending"),
    [
        ("", ".slot1_2"),
        ("true", ".slot1_2"),
        ("Slot", ".slot1_2"),
        ("anything", ".slot1_2"),
        ("false", ""),
        ("Cluster", ".12"),
        ("ClusterId", ".12"),
        ("JobID", ".12.3"),
    ],
)
def test_the_name_of_a_log(append: str, ending: str) -> None:
    text = f"STARTER_LOG = /l/StarterLog\nSTARTER_LOG_NAME_APPEND = {append}\n"
    config = Config.from_text(text, subsystem="STARTER")
    settings = read_settings(config, version="", platform="")
    job = ClassAd({"ClusterId": 12, "ProcId": 3})
    assert settings.log_of("slot1_2@here", job) == f"/l/StarterLog{ending}"


@pytest.mark.parametrize(("enforced", "policy"), [("false", "soft"), ("true", "hard")])
def test_enforced_disk_limits_are_hard(enforced: str, policy: str) -> None:
    config = Config.from_text(f"STARTD_ENFORCE_DISK_LIMITS = {enforced}\n", subsystem="STARTER")
    assert read_settings(config, version="", platform="").limits.disk_policy == policy
