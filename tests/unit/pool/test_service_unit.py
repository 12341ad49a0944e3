"""The systemd unit of a pool."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.errors import UsageError
from kettle.pool.service_unit import Unit, check_name, quote


def make_unit(tmp_path: Path, *, system: bool = True, name: str = "kettle") -> Unit:
    return Unit(
        folder=str(tmp_path),
        config_file=f"{tmp_path}/condor_config",
        python=sys.executable,
        python_path="/opt/a b/100%",
        system=system,
        stop_seconds=1860,
        name=name,
    )


def test_the_unit_waits_for_the_masters_word_and_gives_it_time_to_stop(tmp_path: Path) -> None:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(make_unit(tmp_path).render())
    service = parser["Service"]
    assert service["Type"] == "notify"
    assert service["ExecStart"] == f'"{sys.executable}" "-P" "-m" "kettle.master" "-f"'
    assert service["TimeoutStopSec"] == "1860"
    assert service["Delegate"] == "yes"
    assert f'"CONDOR_CONFIG={tmp_path}/condor_config"' in service["Environment"]
    assert '"PYTHONPATH=/opt/a b/100%%"' in service["Environment"]
    assert parser["Install"]["WantedBy"] == "multi-user.target"


def test_a_users_unit_is_in_his_configuration_and_comes_with_his_session(tmp_path: Path) -> None:
    unit = make_unit(tmp_path, system=False, name="mine")
    assert unit.path({"HOME": "/home/a"}) == "/home/a/.config/systemd/user/mine.service"
    assert unit.path({"XDG_CONFIG_HOME": "/x"}) == "/x/systemd/user/mine.service"
    assert "WantedBy=default.target" in unit.render()
    assert make_unit(tmp_path).path({}) == "/etc/systemd/system/kettle.service"


@pytest.mark.parametrize("system", [True, False])
def test_systemd_finds_nothing_wrong_with_it(tmp_path: Path, system: bool) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    path = tmp_path / "kettle-test.service"
    path.write_text(make_unit(tmp_path, system=system).render())
    scope = "--system" if system else "--user"
    done = subprocess.run(
        ["systemd-analyze", scope, "--man=no", "verify", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    complaints = [line for line in done.stderr.splitlines() if "kettle-test" in line]
    assert not complaints, done.stderr


def test_what_systemd_would_read_otherwise_is_quoted() -> None:
    assert quote('a "b" %h $HOME \\') == '"a \\"b\\" %%h $$HOME \\\\"'


def test_a_path_that_would_end_a_line_is_refused(tmp_path: Path) -> None:
    unit = Unit("/x\nExecStart=/bin/evil", "/c", "/p", "/q", True, 1)
    with pytest.raises(UsageError):
        unit.render()


def test_the_name_may_have_its_ending_and_nothing_strange() -> None:
    assert check_name("a-b.service") == "a-b"
    for name in ("", "../x", "a b", "-x"):
        with pytest.raises(UsageError):
            check_name(name)
