"""Under which name a daemon is behind the shared port."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.runtime.sockets.shared_port import make_id


@pytest.mark.parametrize(
    ("local_name", "found"), [(None, "collector"), ("View", "view"), ("odd name", "collector")]
)
def test_a_collector_is_found_by_its_own_name_if_it_has_one(
    local_name: str | None, found: str
) -> None:
    assert make_id(Config.from_text("", subsystem="COLLECTOR", local_name=local_name)) == found


def test_others_have_fresh_names() -> None:
    config = Config.from_text("", subsystem="SCHEDD", local_name="S2")
    assert make_id(config) != make_id(config)
    assert make_id(config, "wanted") == "wanted"
