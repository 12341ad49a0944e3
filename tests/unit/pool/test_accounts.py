from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import UsageError
from kettle.pool import accounts, making
from kettle.pool.personal import PersonalPool
from kettle.pool.settings import (
    PoolSettings,
    is_configuration_of_a_pool,
    is_configuration_of_the_machine,
    render_configuration,
)
from kettle.runtime.process import privileges
from kettle.runtime.process.privileges import Account, first_closed

STRANGER = Account("stranger", 54321, 54321, ())


def test_only_root_starts_the_pool_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(UsageError) as caught:
        accounts.system_account(None)
    assert "only root" in str(caught.value)
    assert "sudo kettle up --system" in (caught.value.hint or "")


def test_where_the_account_is_missing_the_command_that_makes_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(accounts, "CONDOR", "no-such-account-here")
    with pytest.raises(UsageError) as caught:
        accounts.system_account(None)
    assert "account" in str(caught.value)
    assert (caught.value.hint or "").startswith("useradd --system")


def test_the_pool_of_the_machine_never_runs_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    with pytest.raises(UsageError, match="does not run as root"):
        accounts.system_account("0.0")


def test_an_account_that_cannot_reach_python_is_refused_with_the_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(accounts, "first_closed", lambda _account, _path: "/closed")
    with pytest.raises(UsageError, match="/closed is closed to the account"):
        accounts.system_account("54321.54321")


def test_a_folder_is_closed_to_whoever_may_not_go_through(tmp_path: Path) -> None:
    inner = tmp_path / "shut" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "shut").chmod(0o700)
    mine = Account("me", os.getuid(), os.getgid(), ())
    assert first_closed(mine, str(inner)) is None
    assert first_closed(STRANGER, str(inner)) is not None
    assert first_closed(STRANGER, "/usr") is None
    assert first_closed(mine, str(tmp_path / "missing")) == str(tmp_path / "missing")


@pytest.mark.root
def test_folders_are_given_with_what_is_in_them_of_the_same_owner(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    (folder / "inner").mkdir(parents=True)
    (folder / "theirs").mkdir()
    (folder / "theirs" / "root's").write_text("")
    os.chown(folder / "theirs", 54322, 54322)
    outside = tmp_path / "outside"
    outside.write_text("")
    (folder / "link").symlink_to(outside)
    accounts.give_folders(STRANGER, [str(folder)])
    uids = {str(p.relative_to(tmp_path)): p.lstat().st_uid for p in tmp_path.rglob("*")}
    assert uids == {
        "log": 54321,
        "log/inner": 54321,
        "log/link": 54321,
        "log/theirs": 54322,
        "log/theirs/root's": 0,
        "outside": 0,
    }


def test_a_configuration_says_whether_it_is_the_machine_s() -> None:
    def made(*, system: bool) -> str:
        users = ("root", "condor")
        return render_configuration(PoolSettings("/d", users, "here", "/bin", system=system))

    assert is_configuration_of_the_machine(made(system=True))
    assert not is_configuration_of_the_machine(made(system=False))
    assert is_configuration_of_a_pool(made(system=True))
    assert "ALLOW_WRITE = *@$(UID_DOMAIN)" in made(system=True)


def test_a_pool_that_exists_keeps_the_account_of_its_own_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(accounts, "CONDOR", "no-such-account-here")
    monkeypatch.setattr(accounts, "first_closed", lambda _account, _path: None)
    monkeypatch.setattr(making, "closed_parent", lambda _folder: None)
    given = []
    monkeypatch.setattr(
        accounts, "give_folders", lambda account, _folders: given.append(account.uid)
    )
    folder = str(tmp_path / "pool")
    PersonalPool(folder, configuration="CONDOR_IDS = 54321.54321\n", system=True).make()
    PersonalPool(folder, system=True).make()
    PersonalPool(folder).make()
    assert given == [54321] * 3


@pytest.mark.parametrize("given", ["", "NUM_CPUS = 2\n"])
def test_a_personal_pool_of_root_s_keeps_to_root_whatever_accounts_there_are(
    given: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = _root_makes(monkeypatch, tmp_path)
    PersonalPool(folder, configuration=given).make()
    config = Config.from_text(Path(folder, "condor_config").read_text())
    assert config.get("CONDOR_IDS") == "0.0"
    assert [user.partition("@")[0] for user in config.words("ALLOW_ADMINISTRATOR")] == [
        "root",
        "condor_pool",
    ]


def test_a_personal_pool_of_root_s_obeys_ids_wherever_they_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = _root_makes(monkeypatch, tmp_path)
    PersonalPool(folder, configuration="CONDOR_IDS = 54321.54321\n").make()
    made = Path(folder, "condor_config").read_text()
    assert made.count("CONDOR_IDS") == 1
    assert "54321@" in made
    Path(folder, "config.d", "10").write_text("CONDOR_IDS = 54322.54322\n")
    PersonalPool(folder).configure("NUM_CPUS = 2\n")
    made = Path(folder, "condor_config").read_text()
    assert "CONDOR_IDS" not in made
    assert "54322@" in made


def test_a_pool_that_names_no_ids_is_root_s_from_its_next_start_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = _root_makes(monkeypatch, tmp_path)
    PersonalPool(folder, configuration="NUM_CPUS = 2\n").make()
    path = Path(folder, "condor_config")
    users = ("root", "condor", "condor_pool")
    settings = PoolSettings(folder, users, "here", "/bin", extra="NUM_CPUS = 2\n")
    path.write_text(render_configuration(settings))
    PersonalPool(folder).make()
    text = path.read_text()
    assert text.endswith("\n# Given when the pool was made.\nNUM_CPUS = 2\n")
    config = Config.from_text(text)
    assert config.get("CONDOR_IDS") == "0.0"
    assert config.get("ALLOW_WRITE") == "root@here, condor_pool@here"
    PersonalPool(folder).make()
    assert path.read_text() == text


def _root_makes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Be root on a machine with an account `condor` that can read everything."""
    condor = Account("condor", 54320, 54320, ())
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(privileges, "find_account", lambda _name: condor)
    monkeypatch.setattr(accounts, "first_closed", lambda _account, _path: None)
    monkeypatch.setattr(making, "closed_parent", lambda _folder: None)
    monkeypatch.setattr(accounts, "give_folders", lambda _account, _folders: None)
    return str(tmp_path / "pool")
