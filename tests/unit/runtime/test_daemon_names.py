"""The name a daemon takes from <SUBSYS>_NAME and the host's."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.runtime.daemon import _identify


@pytest.mark.parametrize(
    ("configured", "name"),
    [
        ("", "host.example"),
        ("access", "access@host.example"),
        ("access@", "access@"),
        ("access@elsewhere", "access@elsewhere"),
        ("host.example", "host.example"),
    ],
)
def test_a_daemons_name_ends_with_the_host_unless_it_names_one(configured: str, name: str) -> None:
    text = f"FULL_HOSTNAME = host.example\nSCHEDD_NAME = {configured}\n"
    assert _identify(Config.from_text(text, subsystem="SCHEDD"), 0.0).name == name
