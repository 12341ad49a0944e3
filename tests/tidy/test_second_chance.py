"""A failed test with real processes is run once more and shouted; no other is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FAILS_ONCE = """
import os
def test_flaky():
    if not os.path.exists({mark!r}):
        open({mark!r}, "w").close()
        assert 0, "the machine was busy"
"""

# Others after it: a worker of xdist has gone on to them when it has its second chance.
FINE = """
import pytest
@pytest.mark.parametrize("number", range(4))
def test_fine(number):
    pass
"""
# What the project's own conftest has of it; all else that pytest could load here costs most of the
# time, and these tests are the suite's longest for a processor that others use.
CONFTEST = """
import second_chance
def pytest_configure(config):
    config.pluginmanager.register(second_chance)
"""
LOADED = ("-p", "pytest_timeout", "-p", "xdist")
# Limit: a run that takes longer says what it is at. It takes some seconds, of the processor's.
RUN_SECONDS = 240
pytestmark = pytest.mark.timeout(2 * RUN_SECONDS)
workers = pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "xdist"])


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest on a suite of its own that has the project's second chance."""
    shutil.copy(TESTS / "second_chance.py", folder)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # A process that is sent SIGABRT says where it is.
        "PYTHONFAULTHANDLER": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", *LOADED, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            said, _ = running.communicate(timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGABRT)
            pytest.fail("\n".join(running.communicate()))
        return running.returncode, said


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


@workers
def test_one_that_fails_once_passes_and_is_shouted(tmp_path: Path, workers: list[str]) -> None:
    text = FAILS_ONCE.format(mark=str(tmp_path / "mark")) + FINE
    write(tmp_path, "pool/test_it.py", text)
    code, said = run(tmp_path, *workers)
    assert code == 0, said
    assert "failed, and passed at the second try: mend these" in said
    assert "FLAKED pool/test_it.py::test_flaky: " in said
    assert "1 flaked" in said


@workers
def test_one_that_fails_twice_is_a_failure_that_shows_both(
    tmp_path: Path, workers: list[str]
) -> None:
    write(tmp_path, "pool/test_it.py", "def test_bad():\n    assert 1 == 2\n" + FINE)
    code, said = run(tmp_path, *workers)
    assert code == 1, said
    assert "1 failed" in said
    assert "The first failure" in said
    assert "FLAKED" not in said


def test_one_without_processes_has_one_chance(tmp_path: Path) -> None:
    write(tmp_path, "property/test_it.py", FAILS_ONCE.format(mark=str(tmp_path / "mark")))
    code, said = run(tmp_path)
    assert code == 1, said
    assert "1 failed" in said


@workers
def test_many_at_once_are_no_accident(tmp_path: Path, workers: list[str]) -> None:
    text = (
        "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_bad(n):\n    assert 0\n"
    )
    write(tmp_path, "pool/test_it.py", text + FINE)
    code, said = run(tmp_path, *workers)
    assert code == 1, said
    assert "6 failed" in said


def test_workers_count_together_what_failed_at_first(tmp_path: Path) -> None:
    """Three each are no more than one worker alone may put aside; six are."""
    text = (
        "import os, pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_flaky(n):\n"
        f"    mark = {str(tmp_path / 'mark')!r} + str(n)\n"
        "    if not os.path.exists(mark):\n        open(mark, 'w').close()\n        assert 0\n"
    )
    write(tmp_path, "pool/test_it.py", text)
    code, said = run(tmp_path, "-n", "2")
    assert code == 1, said
    assert "6 flaked" in said
    assert "6 tests failed at their first try" in said


def test_an_interrupted_run_forgets_no_failure(tmp_path: Path) -> None:
    write(
        tmp_path,
        "pool/test_it.py",
        "def test_bad():\n    assert 0\ndef test_stop():\n    raise KeyboardInterrupt\n",
    )
    code, said = run(tmp_path)
    assert code == 2
    assert "1 failed" in said
