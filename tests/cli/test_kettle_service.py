"""`kettle service`: with a systemctl that only writes down what it is asked."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kettle.tools.front import service
from kettle.tools.programs import Streams, load_tool

SYSTEMCTL = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
*is-enabled*) echo enabled ;;
*is-active*) echo "$STATE"; [ "$STATE" = active ] || exit 3 ;;
*fail*) echo "no such thing" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the account of jobs can reach."""
    made = Path(tempfile.mkdtemp(prefix="kettle-service-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def environment(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Give a home, and a machine on which systemd seems to run."""
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(SYSTEMCTL)
    program.chmod(0o755)
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(service, "_RUNNING", str(tmp_path))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return {
        "HOME": str(tmp_path / "home"),
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "KETTLE_DIR": str(folder / "pool"),
        "CALLS": str(tmp_path / "calls"),
        "STATE": "inactive",
    }


def run(environment: Mapping[str, str], *words: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = load_tool("kettle")(["kettle", "service", *words], environment, streams)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


def calls(environment: Mapping[str, str]) -> list[str]:
    path = Path(environment["CALLS"])
    return path.read_text().splitlines() if path.exists() else []


def test_print_changes_nothing(environment: Mapping[str, str]) -> None:
    for word in ("--print", "--dry-run"):
        code, said, _ = run(environment, "install", word)
        assert code == 0
        assert "[Service]\nType=notify\n" in said
    assert calls(environment) == []
    assert not Path(environment["KETTLE_DIR"]).exists()
    assert list(Path(environment["HOME"]).iterdir()) == []


def test_install_makes_the_pool_and_has_its_unit_enabled_and_started(
    environment: Mapping[str, str],
) -> None:
    code, said, complaint = run(environment, "install", "--user", "--name", "mine")
    assert (code, complaint) == (0, "")
    assert said.startswith("mine.service is enabled; its pool is in ")
    unit = Path(environment["HOME"]) / ".config/systemd/user/mine.service"
    assert f'"CONDOR_CONFIG={environment["KETTLE_DIR"]}/condor_config"' in unit.read_text()
    assert (Path(environment["KETTLE_DIR"]) / "condor_config").exists()
    assert calls(environment)[:2] == [
        "--user --no-pager daemon-reload",
        "--user --no-pager enable --now mine.service",
    ]


def test_uninstall_stops_it_and_leaves_the_pool(environment: Mapping[str, str]) -> None:
    run(environment, "install", "--no-start")
    unit = Path(environment["HOME"]) / ".config/systemd/user/kettle.service"
    assert unit.exists()
    code, _, complaint = run(environment, "uninstall")
    assert (code, complaint) == (0, "")
    assert not unit.exists()
    assert "--user --no-pager disable --now kettle.service" in calls(environment)
    assert (Path(environment["KETTLE_DIR"]) / "condor_config").exists()


def test_a_unit_of_somebody_else_is_neither_replaced_nor_removed(
    environment: Mapping[str, str],
) -> None:
    unit = Path(environment["HOME"]) / ".config/systemd/user/kettle.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\n")
    for action in ("install", "uninstall"):
        code, _, complaint = run(environment, action)
        assert code == 1
        assert "was not written by kettle" in complaint
    assert unit.read_text() == "[Unit]\n"


def test_status_says_how_it_stands(environment: Mapping[str, str]) -> None:
    code, said, _ = run(environment, "status")
    assert code == 3
    assert "is not installed" in said
    run(environment, "install", "--no-start")
    code, said, _ = run({**environment, "STATE": "active"}, "status", "--json")
    assert code == 0
    facts = json.loads(said)
    assert (facts["installed"], facts["enabled"], facts["active"]) == (True, "enabled", "active")


def test_what_systemctl_complains_of_is_told(environment: Mapping[str, str]) -> None:
    code, _, complaint = run(environment, "install", "--name", "fail")
    assert code == 1
    assert "no such thing" in complaint


def test_without_systemd_the_way_without_it_is_told(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_RUNNING", "/nonexistent")
    code, _, complaint = run(environment, "install")
    assert code == 1
    assert "systemd does not run on this machine" in complaint
    assert "kettle up" in complaint
