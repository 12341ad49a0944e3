from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.errors import UsageError
from kettle.pool import accounts, making
from kettle.pool.personal import PersonalPool
from kettle.pool.settings import (
    PoolSettings,
    is_configuration_of_a_pool,
    is_configuration_of_the_machine,
    render_configuration,
)
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
