"""The distribution `kettle-htcondor`: the wheel's names stand for Kettle's modules, and alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DISTRIBUTION = ROOT / "distributions/kettle-htcondor"
NAMES = ("classad", "classad2", "htcondor", "htcondor2")
USER_SCRIPT = """\
import classad, classad2, htcondor, htcondor2
import kettle.compat.htcondor2
from htcondor2 import Submit
assert htcondor2 is kettle.compat.htcondor2 and Submit is htcondor2.Submit
assert htcondor2.classad is classad2 and htcondor.classad is classad
print(htcondor.Submit({"executable": "/bin/true"})["executable"])
print(classad.ClassAd("[a = 1; b = a + 1]").eval("b"), htcondor.JobAction.Hold)
"""
PARTS_SCRIPT = """\
import htcondor2.dags, htcondor.dags, htcondor2.dags.exceptions as named
from htcondor2 import dags
from htcondor.dags.exceptions import DAGsException
import kettle.compat.htcondor2.dags as ours
assert dags is ours is htcondor2.dags and named is dags.exceptions
assert DAGsException is named.DAGsException
try:
    import htcondor2.nothing
except ModuleNotFoundError as error:
    print(error)
"""
WHEELS_OWN_SCRIPT = """\
import importlib, pickle
import classad2, htcondor2
from htcondor2._schedd import Schedd, job_spec_hack
assert Schedd is htcondor2.Schedd
for module, name in [line.split() for line in '''%s'''.splitlines()]:
    found = getattr(importlib.import_module(module), name)
    assert found is getattr(importlib.import_module(module.partition(".")[0]), name), name
print(pickle.loads(b"chtcondor2._job_status\\nJobStatus\\n(I2\\ntR.").name)
"""
# The wheel's own modules that have a class each, by which its pickles name it.
WHEELS_OWN = """\
classad2._class_ad ClassAd
classad2._expr_tree ExprTree
classad2._parser_type ParserType
classad2._value Value
htcondor2._ad_type AdType
htcondor2._collector Collector
htcondor2._common_files_event_type CommonFilesEventType
htcondor2._completion_type CompletionType
htcondor2._cred_check CredCheck
htcondor2._cred_type CredType
htcondor2._credd Credd
htcondor2._daemon_command DaemonCommand
htcondor2._daemon_type DaemonType
htcondor2._dagman DAGMan
htcondor2._drain_type DrainType
htcondor2._file_transfer_event_type FileTransferEventType
htcondor2._history_src HistorySrc
htcondor2._job_action JobAction
htcondor2._job_event JobEvent
htcondor2._job_event_log JobEventLog
htcondor2._job_event_type JobEventType
htcondor2._job_status JobStatus
htcondor2._log_level LogLevel
htcondor2._loose_functions send_command
htcondor2._negotiator Negotiator
htcondor2._placementd Placementd
htcondor2._query_opt QueryOpt
htcondor2._remote_param RemoteParam
htcondor2._schedd Schedd
htcondor2._security_context SecurityContext
htcondor2._startd Startd
htcondor2._submit Submit
htcondor2._submit_method SubmitMethod
htcondor2._submit_result SubmitResult
htcondor2._subsystem_type SubsystemType
htcondor2._transaction_flag TransactionFlag
htcondor2._vacate_type VacateType"""
PRINTED = "/bin/true\n2 Hold\n"


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    paths = [str(folder), *(path for path in sys.path if path)]
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths), "HOME": "/"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def project(folder: Path) -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return found


def test_a_script_of_the_wheels_runs_with_kettles_modules() -> None:
    done = run(DISTRIBUTION / "src", USER_SCRIPT)
    assert (done.stdout, done.stderr) == (PRINTED, "")


def test_what_is_in_a_module_is_kettles_too_and_once() -> None:
    done = run(DISTRIBUTION / "src", PARTS_SCRIPT)
    assert (done.stdout, done.stderr) == ("No module named 'htcondor2.nothing'\n", "")


def test_the_wheels_own_modules_are_found_by_their_names() -> None:
    done = run(DISTRIBUTION / "src", WHEELS_OWN_SCRIPT % WHEELS_OWN)
    assert (done.stdout, done.stderr) == ("RUNNING\n", "")


@pytest.mark.parametrize("name", NAMES)
def test_beside_the_wheel_a_name_is_refused_in_words(name: str, tmp_path: Path) -> None:
    shutil.copytree(DISTRIBUTION / "src" / name, tmp_path / name)
    (tmp_path / "htcondor-25.14.1.dist-info").mkdir()
    done = run(tmp_path, f"import {name}")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: the modules of kettle-htcondor and of the wheel htcondor-")
    assert "pip uninstall -y htcondor kettle-htcondor" in last


def test_kettles_own_distribution_has_no_module_of_the_wheels_names() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert built["targets"]["wheel"] == {"packages": ["src/kettle"]}
    assert [path.name for path in (ROOT / "src").iterdir() if path.name in NAMES] == []


def test_the_two_distributions_have_one_version() -> None:
    ours, real_names = project(ROOT), project(DISTRIBUTION)
    assert real_names["version"] == ours["version"]
    assert real_names["dependencies"] == [f"{ours['name']}=={ours['version']}"]
    assert real_names["requires-python"] == ours["requires-python"]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_distribution_is_built_and_installed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(DISTRIBUTION, source)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    pip = [python, "-m", "pip", "install", "-q", "--no-deps"]
    done = subprocess.run([*pip, source], capture_output=True, text=True, timeout=300, check=False)
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("hatchling, which builds the distribution, cannot be had here")
    assert done.returncode == 0, done.stderr
    paths = os.pathsep.join(path for path in sys.path if path)
    said = subprocess.run(
        [python, "-c", USER_SCRIPT],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": paths, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (said.stdout, said.stderr) == (PRINTED, "")
    listed = subprocess.run(
        [python, "-m", "pip", "show", "--files", "kettle-htcondor"],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    ).stdout
    assert {line.strip().split("/")[0] for line in listed.splitlines() if ".py" in line} == {*NAMES}
