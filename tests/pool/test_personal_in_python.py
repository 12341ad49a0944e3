"""`personal.PersonalPool` of the bindings: pools of Kettle's, made and ended by a program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.compat import htcondor, htcondor2
from kettle.compat.htcondor.personal import PersonalPool as PoolOfVersion1
from kettle.compat.htcondor2.personal import PersonalPool, PersonalPoolState, SetCondorConfig
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import KettleError
from kettle.pool.personal import PersonalPool as Pool

LEFT_BEHIND = """\
import sys
from kettle.compat.htcondor2.personal import PersonalPool
PersonalPool(sys.argv[1], detach=sys.argv[2] == "detached").start()
"""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that jobs of root's can reach, with no pool in it at the end."""
    found = Path(tempfile.mkdtemp(prefix="kettle-personal-"))
    found.chmod(0o755)
    monkeypatch.setenv("CONDOR_CONFIG", os.devnull)
    yield found / "pool"
    PROCESS.reload(os.devnull, {})
    Pool(str(found / "pool")).stop(how="fast")
    shutil.rmtree(found, ignore_errors=True)


def test_a_pool_is_up_inside_its_statement(folder: Path) -> None:
    pool = PersonalPool(folder, {"FOO": "bar", "NOTHING": None}, "  BAZ = $(FOO)\n")
    assert pool.state is PersonalPoolState.INITIALIZED
    assert os.environ["CONDOR_CONFIG"] == str(pool.config_file)
    assert {path.name for path in folder.iterdir()} >= {"log", "spool", "system_tokens.d"}
    with pool as same:
        assert same is pool.start()
        assert pool.state == "READY"
        assert (pool.get_config_val("BAZ"), pool.get_config_val("NOTHING", 1)) == ("bar", 1)
        with pytest.raises(KeyError):
            pool.get_config_val("NO_SUCH_NAME")
        assert pool.who()["IsReady"] is True
        done = pool.run_command(["condor_config_val", "FOO"])
        assert (done.returncode, done.stdout, done.stderr) == (0, "bar", "")
        collector, schedd = pool.collector, pool.schedd
        with SetCondorConfig(os.devnull):
            assert "Scheduler" in {ad["MyType"] for ad in collector.query()}
            assert schedd.query() == []
        _check_another_object(pool, folder)
    assert pool.state is PersonalPoolState.STOPPED
    assert dict(pool.who()) == {}
    with pytest.raises(RuntimeError, match="not already a running HTCondor instance"):
        PersonalPool.attach(folder)


def _check_another_object(pool: PersonalPool, folder: Path) -> None:
    attached = PersonalPool.attach(folder).detach()
    assert attached.state is PersonalPoolState.READY
    assert attached.stop() is attached
    del attached
    with pytest.raises(RuntimeError, match="Cannot start a PersonalPool in the same local_dir"):
        PersonalPool(folder, {"OTHER": "1"}).start()
    assert pool.who()["IsReady"] is True
    assert pool.get_config_val("FOO") == "bar"


def test_version_1_has_it_with_its_own_classes(folder: Path) -> None:
    with PoolOfVersion1(folder, {"NOTHING": ""}) as pool:
        assert pool.get_config_val("NOTHING", "none") == ""
        assert type(pool.schedd) is htcondor.Schedd
        assert type(pool.collector) is htcondor.Collector
        assert "MASTER" in pool.who().keys()  # noqa: SIM118 - a list in version 1


@pytest.mark.parametrize("how", ["attached", "detached"])
def test_a_program_that_ends_ends_its_pool_unless_it_is_detached(folder: Path, how: str) -> None:
    subprocess.run([sys.executable, "-c", LEFT_BEHIND, folder, how], check=True, timeout=120)
    assert (Pool(str(folder)).master_pid() is not None) == (how == "detached")


def test_what_cannot_be_started_is_said_and_can_be_mended(folder: Path) -> None:
    pool = PersonalPool(folder, raw_config="LOG = /dev/null", use_config=False)
    assert pool.state is PersonalPoolState.UNINITIALIZED
    with pytest.raises(htcondor2.HTCondorException, match="LOG is /dev/null, which is no folder"):
        pool.start()
    assert pool.state is PersonalPoolState.STOPPED
    mended = PersonalPool(folder, use_config=False).start()
    assert mended.get_config_val("LOG") == str(folder / "log")
    with pytest.raises(FileExistsError):
        PersonalPool(folder, use_config=False).initialize(overwrite_config=False)
    mended.stop()


def test_a_folder_of_something_else_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis").touch()
    with pytest.raises(htcondor2.HTCondorException, match="is not empty") as refused:
        PersonalPool(folder)
    assert isinstance(refused.value.__cause__, KettleError)
    assert [path.name for path in folder.iterdir()] == ["thesis"]
