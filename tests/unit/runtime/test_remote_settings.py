"""What was set from afar for good, where it is kept, and whom a daemon believes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import ConfigError, RefusedError
from kettle.levels import Level
from kettle.runtime.remote_settings import RemoteSettings, load_for_child
from kettle.runtime.storage.files import Files

ALLOWED = "ENABLE_PERSISTENT_CONFIG = true\nSETTABLE_ATTRS_CONFIG = OUR_*\nOUR_A = 1\n"


def make(folder: Path, text: str = "") -> tuple[Config, RemoteSettings]:
    where = f"PERSISTENT_CONFIG_DIR = {folder}\n"
    config = Config.from_text(ALLOWED + where + text, subsystem="STARTD")
    return config, RemoteSettings.begin(config, Files(), os.geteuid())


def change(config: Config, settings: RemoteSettings, name: str, setting: str) -> None:
    settings.change(config, lambda level: level is Level.CONFIG, name, setting, for_good=True)


def value(folder: Path, name: str) -> str | None:
    config, settings = make(folder)
    settings.apply(config)
    return config.get(name)


def test_what_is_set_for_good_holds_in_the_next_daemon(tmp_path: Path) -> None:
    config, settings = make(tmp_path)
    change(config, settings, "our_a", "OUR_A = 5")
    change(config, settings, "OUR_B", "OUR_B=6")
    assert (value(tmp_path, "OUR_A"), value(tmp_path, "OUR_B")) == ("5", "6")
    # The reference's names and form, so that either reads what the other wrote.
    listed = (tmp_path / ".config.STARTD").read_text()
    assert listed == "RUNTIME_CONFIG_ADMIN = our_a, OUR_B\n"
    assert (tmp_path / ".config.STARTD.our_a").read_text() == "OUR_A = 5\n"
    change(config, settings, "OUR_A", "")
    assert (value(tmp_path, "OUR_A"), value(tmp_path, "OUR_B")) == ("1", "6")
    change(config, settings, "OUR_B", "")
    assert not list(tmp_path.iterdir())


def test_what_the_reference_kept_is_read_changed_and_unset(tmp_path: Path) -> None:
    # Recorded from HTCondor 25.14.1: it ends neither file with a newline.
    (tmp_path / ".config.STARTD").write_text("RUNTIME_CONFIG_ADMIN = our_a, OUR_B\n")
    (tmp_path / ".config.STARTD.our_a").write_text("OUR_A = 5")
    (tmp_path / ".config.STARTD.OUR_B").write_text("OUR_B = 6")
    assert (value(tmp_path, "OUR_A"), value(tmp_path, "OUR_B")) == ("5", "6")
    config, settings = make(tmp_path)
    change(config, settings, "OUR_A", "OUR_A = 7")
    change(config, settings, "our_b", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".config.STARTD",
        ".config.STARTD.our_a",
    ]
    assert (value(tmp_path, "OUR_A"), value(tmp_path, "OUR_B")) == ("7", None)


@pytest.mark.parametrize("subsystem", ["SHADOW", "STARTER"])
def test_shadows_and_starters_read_what_is_set_for_their_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subsystem: str
) -> None:
    """As the reference's do, and none of what is set in the schedd or startd."""
    path = tmp_path / "condor_config"
    path.write_text(f"{ALLOWED}PERSISTENT_CONFIG_DIR = {tmp_path}\n")
    monkeypatch.setenv("CONDOR_CONFIG", str(path))
    for kind in (subsystem, "SCHEDD", "STARTD"):
        (tmp_path / f".config.{kind}").write_text(f"RUNTIME_CONFIG_ADMIN = OUR_{kind}\n")
        (tmp_path / f".config.{kind}.OUR_{kind}").write_text(f"OUR_{kind} = 5\n")
    config = load_for_child(subsystem)
    found = [config.get(f"OUR_{kind}") for kind in (subsystem, "SCHEDD", "STARTD")]
    assert found == ["5", None, None]
    (tmp_path / f".config.{subsystem}.OUR_{subsystem}").write_text("nonsense\n")
    with pytest.raises(ConfigError, match="no setting of"):
        load_for_child(subsystem)


def test_its_file_may_be_named(tmp_path: Path) -> None:
    config, settings = make(tmp_path, f"STARTD_CONFIG = {tmp_path}/kept\n")
    change(config, settings, "OUR_A", "OUR_A = 5")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "kept.OUR_A"]


def test_daemons_of_one_kind_keep_what_is_theirs(tmp_path: Path) -> None:
    text = ALLOWED + f"PERSISTENT_CONFIG_DIR = {tmp_path}\n"
    made = {}
    for name in (None, "one", "two"):
        config = Config.from_text(text, subsystem="SCHEDD", local_name=name)
        made[name] = config, RemoteSettings.begin(config, Files(), os.geteuid())
    for name, (config, settings) in made.items():
        change(config, settings, f"OUR_{name}", f"OUR_{name} = 5")
    for name, (config, _) in made.items():
        RemoteSettings.begin(config, Files(), os.geteuid()).apply(config)
        found = [other for other in made if config.get(f"OUR_{other}") == "5"]
        assert found == [name]


@pytest.mark.parametrize("for_good", [True, False])
def test_where_no_further_name_may_be_set_those_that_are_may_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, for_good: bool
) -> None:
    monkeypatch.setattr("kettle.runtime.remote_settings.MOST_NAMES", 1)
    config, settings = make(tmp_path, "ENABLE_RUNTIME_CONFIG = true\n")

    def assign(name: str, setting: str) -> None:
        settings.change(config, lambda _: True, name, setting, for_good=for_good)

    assign("OUR_A", "OUR_A = 5")
    with pytest.raises(RefusedError, match="too many"):
        assign("OUR_B", "OUR_B = 5")
    assign("our_a", "OUR_A = 6")
    settings.apply(config)
    assert config.get("OUR_A") == "6"


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("START", "START = false"),
        ("OUR_A", "START = false"),
        ("OUR_A", "OUR_A = 1\ninclude : /etc/passwd"),
        ("OUR_/../../x", ""),
        ("OUR_/../../x", "OUR_/../../x = 1"),
    ],
)
def test_another_name_and_more_than_a_setting_are_refused(
    tmp_path: Path, name: str, setting: str
) -> None:
    config, settings = make(tmp_path)
    with pytest.raises(RefusedError):
        change(config, settings, name, setting)
    assert not list(tmp_path.iterdir())


def test_what_is_off_at_the_start_stays_off(tmp_path: Path) -> None:
    config = Config.from_text("SETTABLE_ATTRS_CONFIG = *\n", subsystem="STARTD")
    settings = RemoteSettings.begin(config, Files(), os.geteuid())
    on, _ = make(tmp_path, "ENABLE_RUNTIME_CONFIG = true\nSETTABLE_ATTRS_CONFIG = *\n")
    for for_good in (True, False):
        with pytest.raises(RefusedError, match="is off"):
            settings.change(on, lambda _: True, "A", "A = 1", for_good=for_good)


def test_without_a_place_to_keep_it_no_daemon_begins(tmp_path: Path) -> None:
    config = Config.from_text("ENABLE_PERSISTENT_CONFIG = true\n", subsystem="STARTD")
    with pytest.raises(ConfigError, match="neither STARTD_CONFIG nor PERSISTENT_CONFIG_DIR"):
        RemoteSettings.begin(config, Files(), os.geteuid())


@pytest.mark.parametrize("text", ["OUR_B = 2\n", "use ROLE : Execute\n", "OUR_A = 1\nX = 2\n"])
def test_a_kept_file_with_anything_else_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / ".config.STARTD").write_text("RUNTIME_CONFIG_ADMIN = OUR_A\n")
    (tmp_path / ".config.STARTD.OUR_A").write_text(text)
    with pytest.raises(ConfigError, match="no setting of OUR_A"):
        make(tmp_path)


def test_a_file_of_somebody_else_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, settings = make(tmp_path)
    change(config, settings, "OUR_A", "OUR_A = 5")
    os_stat = os.stat

    def foreign(path: str) -> os.stat_result:
        fields = list(os_stat(path))
        fields[4] = 4711
        return os.stat_result(fields)

    monkeypatch.setattr(os, "stat", foreign)
    with pytest.raises(ConfigError, match="by user 4711"):
        make(tmp_path)


SET = """
import sys
from kettle.config import Config
from kettle.runtime.process.late import import_all
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.remote_settings import RemoteSettings, load_for_child
from kettle.runtime.storage.files import Files

# As the zygote does: another account may not be able to read the interpreter's own modules.
import_all()
privileges = Privileges.find("54321.54321")
privileges.settle()
config = Config.from_text(open(sys.argv[1]).read(), subsystem="STARTD")
settings = RemoteSettings.begin(config, Files(), privileges.daemon.uid)
setting = "STARTD_LOG = /no/such/folder/Log"
settings.change(config, lambda level: True, "STARTD_LOG", setting, for_good=True)
"""
# Python may be in root's own folder; that is not what is asked here.
BEGIN = """
import sys
from kettle.runtime import daemon
from kettle.runtime.daemon import run
daemon.check_reach = lambda account: None
sys.exit(run("STARTD", None, ["condor_startd", "-f", "-c", sys.argv[1]]))
"""


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another account")
def test_what_the_daemons_account_set_for_good_holds_where_root_starts_them_again(
    open_place: Path,
) -> None:
    kept = open_place / "kept"
    kept.mkdir()
    os.chown(kept, 54321, 54321)
    path = open_place / "condor_config"
    path.write_text(
        "CONDOR_IDS = 54321.54321\nENABLE_PERSISTENT_CONFIG = true\nSETTABLE_ATTRS_CONFIG = *\n"
        f"PERSISTENT_CONFIG_DIR = {kept}\nLOG = {open_place}\nSTARTD_LOG = $(LOG)/Log\n"
    )

    def python(program: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)

    assert python(SET).stderr == ""
    assert (kept / ".config.STARTD.STARTD_LOG").stat().st_uid == 54321
    # That its log is elsewhere it can only know from there.
    began = python(BEGIN)
    assert (began.returncode, "/no/such/folder/Log" in began.stderr) == (44, True), began.stderr


@pytest.mark.parametrize("for_good", [True, False])
def test_a_value_that_its_knob_does_not_take_is_not_set_from_afar(
    tmp_path: Path, for_good: bool
) -> None:
    """It could not be unset again in a daemon that does not begin with it."""
    config, settings = make(
        tmp_path, "ENABLE_RUNTIME_CONFIG = true\nSETTABLE_ATTRS_ADMINISTRATOR = *\n"
    )
    with pytest.raises(RefusedError, match="is not a number of seconds"):
        settings.change(
            config,
            lambda _: True,
            "STARTD.ALIVE_INTERVAL",
            "STARTD.ALIVE_INTERVAL = often",
            for_good=for_good,
        )
    settings.apply(config)
    assert config.get("ALIVE_INTERVAL") == "300"
