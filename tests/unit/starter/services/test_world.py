"""What a job has of its starter's surroundings."""

from __future__ import annotations

import pytest

from kettle.starter.services.world import choose_inherited


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("", ()),
        (" False ", ()),
        ("True", ("LANG", "CONDOR_CONFIG")),
        ("LANG, CONDOR_PRIVATE_INHERIT CONDOR_SECURITY_SESSION", ("LANG",)),
    ],
)
def test_a_job_inherits_of_its_starter_what_is_wanted_and_no_secret(
    wanted: str, names: tuple[str, ...]
) -> None:
    environment = {
        "LANG": "C",
        "CONDOR_CONFIG": "/c",
        "CONDOR_INHERIT": "1 <127.0.0.1:9618> 0 0",
        "CONDOR_PRIVATE_INHERIT": "FamilySessionKey:family#[]key",
        "CONDOR_SECURITY_SESSION": "scheduler-universe-1.0#[]key",
        "KETTLE_PARENT_PIPE": "3",
    }
    assert choose_inherited(wanted, environment) == {name: environment[name] for name in names}
