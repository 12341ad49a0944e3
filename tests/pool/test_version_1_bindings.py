"""`kettle.compat.htcondor` does in a pool what version 1 of the wheel does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import binding_reports as reports
from interop.wheel_pool import CONFIGURATION
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool

_KINDS = "members "


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("pool"), CONFIGURATION) as found:
        yield found


def test_a_script_reports_what_it_reports_under_version_1(pool: PersonalPool) -> None:
    ours = reports.normalized(reports.run_under_kettle(pool, "version_1"))
    theirs = reports.recorded("version_1")
    enumerations = [name for name in theirs if name.startswith(_KINDS)]
    for name in enumerations:
        # Later versions have more members; none has another number.
        found, recorded = ours.pop(name), theirs.pop(name)
        assert {one: found.get(one) for one in recorded} == recorded, name
    assert len(enumerations) > 10
    assert ours == theirs
