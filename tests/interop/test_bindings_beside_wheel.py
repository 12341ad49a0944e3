"""What the wheel reports of a pool of ours is what is recorded; ours is compared with that.

The other half, which needs no wheel, is tests/pool/test_python_bindings.py. With
KETTLE_RECORD_REPORTS=1 the records are written anew.

Known by: FS.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import binding_reports as reports
from interop.wheel_pool import WheelPool, wheel_pool

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WheelPool]:
    with wheel_pool(tmp_path_factory.mktemp("pool")) as found:
        yield found


@pytest.mark.parametrize("script", reports.SCRIPTS)
def test_the_wheel_reports_what_is_recorded(pool: WheelPool, script: str) -> None:
    report = pool.run(script)
    reports.record(script, report)
    assert reports.normalized(report) == reports.recorded(script)


def test_the_wheels_public_names_are_those_recorded(pool: WheelPool, tmp_path: Path) -> None:
    import subprocess

    place = Path(__file__).parents[2]
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tests/data/wheel").mkdir(parents=True)
    script = tmp_path / ".ci/record_surface.py"
    script.write_text((place / ".ci/record_surface.py").read_text())
    subprocess.run(
        [pool.python, script],
        check=True,
        timeout=60,
        env={"CONDOR_CONFIG": "/dev/null", "PATH": "/bin"},
    )
    name = "tests/data/wheel/htcondor2.json"
    assert (tmp_path / name).read_text() == (place / name).read_text()
