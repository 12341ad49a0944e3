"""Who is lent which account, and that it stands in the spool before he has it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd
from kettle.errors import NotForked, NotFoundError, NotKnownNow, StorageError
from kettle.runtime.process import name_service
from kettle.runtime.process.lent_accounts import UNUSED, read_register
from kettle.runtime.process.privileges import Privileges, account_of, find_account
from kettle.runtime.storage.files import Files
from kettle.schedd.beside import NotStarted
from kettle.schedd.services import owner_accounts
from kettle.schedd.services.owner_accounts import (
    FILE_NAME,
    LONGEST_ABSENCE_SECONDS,
    LONGEST_SILENCE_SECONDS,
    OwnerAccounts,
)

NAME = "no-such-account-here"
GUEST = f"{NAME}@here"


class Sayings(list[str]):
    """What the log has."""

    __call__ = problem = list.append


@pytest.fixture(autouse=True)
def _ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_accounts, "_ids", lambda: UNUSED)


@pytest.fixture
def said() -> Sayings:
    return Sayings()


@pytest.fixture
def moment() -> list[float]:
    """What time it is."""
    return [1000.0]


@pytest.fixture
def begin(tmp_path: Path, said: Sayings, moment: list[float]) -> Callable[..., OwnerAccounts]:
    """Return what makes the accounts of a schedd, with jobs in its queue that ran."""
    # Who is somebody else already need not switch to be it: the tests' user is the daemon's.
    privileges = Privileges(account_of(os.getuid()), can_switch=True)

    def make(
        *ran: str, files: Files | None = None, begun: dict[str, Any] | None = None
    ) -> OwnerAccounts:
        clock = SimpleNamespace(steady=lambda: moment[0])
        runtime: Any = SimpleNamespace(
            privileges=privileges, files=files or Files(), log=said, clock=clock
        )
        made = OwnerAccounts(runtime, str(tmp_path), "here")
        job = SimpleNamespace(ad=ClassAd({"NumJobStarts": 1} if begun is None else begun))
        queue: Any = SimpleNamespace(by_user={user: {1: job} for user in ran})
        made.open(queue)
        return made

    return make


Begin = Callable[..., OwnerAccounts]


def register_of(folder: Path) -> dict[str, int]:
    return dict(read_register((folder / FILE_NAME).read_text()).uids)


def test_who_has_an_account_is_lent_none_and_nothing_is_written(
    tmp_path: Path, begin: Begin
) -> None:
    assert begin().of("daemon@here") == find_account("daemon")
    assert list(tmp_path.iterdir()) == []


def test_guests_of_two_domains_with_one_name_are_two_and_stay_who_they_are(
    tmp_path: Path, begin: Begin
) -> None:
    accounts = begin()
    here, elsewhere = accounts.of(GUEST), accounts.of(f"{NAME}@elsewhere")
    assert (here.name, here.uid, here.lent) == (NAME, here.gid, True)
    assert here.uid != elsewhere.uid
    assert register_of(tmp_path) == {GUEST: here.uid, f"{NAME}@elsewhere": elsewhere.uid}
    facts = (tmp_path / FILE_NAME).stat()
    assert stat.S_IMODE(facts.st_mode) == 0o600
    # Also where jobs of his have run by then, and with what the ids are made of changed.
    again = begin(GUEST)
    assert again.of(GUEST) == here
    assert again.of(NAME) == here
    assert (tmp_path / FILE_NAME).stat().st_ino == facts.st_ino


def test_nothing_is_lent_that_is_not_on_disk(begin: Begin, said: Sayings) -> None:
    class Full(Files):
        def write_atomically(self, path: str, *_: object, **__: object) -> None:
            raise StorageError(f"cannot write {path}: full", errno=errno.ENOSPC)

    accounts = begin(files=Full())
    for _ in range(2):
        with pytest.raises(NotKnownNow, match="no uid can be lent: cannot write"):
            accounts.of(GUEST)
    assert said == []


def test_a_uid_that_became_somebody_s_is_used_no_more_and_no_other_is_lent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, begin: Begin
) -> None:
    accounts = begin()
    lent = accounts.of(GUEST)
    monkeypatch.setattr(name_service, "holder_of", lambda uid: "a" * (uid == lent.uid))
    for each in (accounts, begin()):
        with pytest.raises(NotFoundError, match=f"the uid {lent.uid} .* was lent is a now"):
            each.of(GUEST)
    assert register_of(tmp_path) == {GUEST: lent.uid}


def test_a_uid_of_another_user_namespace_is_not_used(
    monkeypatch: pytest.MonkeyPatch, begin: Begin
) -> None:
    accounts = begin()
    accounts.of(GUEST)
    monkeypatch.setattr(owner_accounts, "_ids", lambda: range(5000, 6000))
    with pytest.raises(NotFoundError, match="is none to lend here"):
        accounts.of(GUEST)
    monkeypatch.setattr(owner_accounts, "_ids", lambda: range(0))
    with pytest.raises(NotFoundError, match="on this machine, and no uid to lend"):
        accounts.of("other@here")


def test_who_had_an_account_is_not_lent_one_when_none_is_told_of_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, begin: Begin
) -> None:
    accounts = begin("ran@here")
    with pytest.raises(NotFoundError, match="none is lent to ran@here, who had one"):
        accounts.of("ran@here")
    accounts.of("daemon@here")

    def fail(name: str) -> None:
        raise NotFoundError(f"there is no account {name!r}")

    monkeypatch.setattr(owner_accounts, "find_account", fail)
    with pytest.raises(NotFoundError, match="none is lent to daemon@here, who had one"):
        accounts.of("daemon@here")
    monkeypatch.setattr(name_service, "why_unsure", lambda _: "the name service fails")
    with pytest.raises(NotFoundError, match="'ann', and the name service fails"):
        accounts.of("ann@here")
    assert list(tmp_path.iterdir()) == []


def test_a_guest_who_got_an_account_is_no_guest_again_when_none_is_told_of_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, begin: Begin
) -> None:
    accounts = begin()
    lent = accounts.of(GUEST)
    with monkeypatch.context() as patch:
        patch.setattr(owner_accounts, "find_account", lambda _: account_of(os.getuid()))
        assert accounts.of(GUEST) == account_of(os.getuid())
    with pytest.raises(NotFoundError, match=f"none is lent to {GUEST}, who had one"):
        accounts.of(GUEST)
    # An account that is gone for good makes him a guest again with the next schedd.
    assert begin(GUEST).of(GUEST) == lent


def test_a_job_whose_owner_can_be_nobody_here_is_held(begin: Begin) -> None:
    assert begin().to_start("daemon@here") == find_account("daemon")
    with pytest.raises(NotStarted, match="there is no owner to lend one to") as failed:
        begin().to_start("@here")
    assert failed.value.code == HoldReasonCode.FailedToAccessUserAccount


@pytest.mark.parametrize(
    ("unsure", "longest"),
    [("", LONGEST_ABSENCE_SECONDS), ("the name service fails", LONGEST_SILENCE_SECONDS)],
)
def test_a_job_whose_owner_is_not_found_just_now_waits_for_him_but_not_for_ever(
    begin: Begin,
    moment: list[float],
    monkeypatch: pytest.MonkeyPatch,
    unsure: str,
    longest: float,
) -> None:
    """A name service that has no answer is waited for longer than one that says no."""
    monkeypatch.setattr(owner_accounts.name_service, "why_unsure", lambda _: unsure)
    accounts = begin("ran@here")
    told: list[str] = []
    accounts.on_silent = lambda user, why: told.append(f"{user}: {why}")
    silence = "none is lent to ran@here, who had one"
    for pause in (longest - 1, 1):
        with pytest.raises(NotForked, match=silence):
            accounts.to_start("ran@here")
        assert accounts.is_silent("ran@here")
        moment[0] += pause
    assert len(told) == 2
    assert told[0].endswith(silence)
    with pytest.raises(NotStarted, match=silence):
        accounts.to_start("ran@here")
    assert not accounts.is_silent("ran@here")
    # Whoever is found again begins anew; that is not asked every moment.
    with monkeypatch.context() as patch:
        patch.setattr(owner_accounts, "find_account", lambda _: account_of(os.getuid()))
        with pytest.raises(NotStarted):
            accounts.to_start("ran@here")
        moment[0] += 3
        accounts.to_start("ran@here")
    with pytest.raises(NotForked, match=silence):
        accounts.to_start("ran@here")


def test_a_name_service_that_failed_for_long_and_then_says_no_is_not_believed_at_once(
    begin: Begin, moment: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ["the name service fails"]
    monkeypatch.setattr(owner_accounts.name_service, "why_unsure", lambda _: said[0])
    accounts = begin("ran@here")
    for answer in ("the name service fails", "", ""):
        said[0] = answer
        with pytest.raises(NotForked):
            accounts.to_start("ran@here")
        moment[0] += LONGEST_ABSENCE_SECONDS if answer else LONGEST_ABSENCE_SECONDS - 1
    with pytest.raises(NotStarted):
        accounts.to_start("ran@here")


def test_whoever_asks_for_a_silent_owner_has_him_looked_for(begin: Begin) -> None:
    """Also for his event log alone: what waits for him must not wait for the next question."""
    accounts = begin("ran@here")
    told: list[str] = []
    accounts.on_silent = lambda user, _: told.append(user)
    with pytest.raises(NotKnownNow):
        accounts.of("ran@here")
    assert told == ["ran@here"]


def test_a_guest_who_is_new_waits_while_the_name_service_fails(
    begin: Begin, moment: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = begin()
    with monkeypatch.context() as patch:
        patch.setattr(name_service, "why_unsure", lambda _: "the name service fails")
        with pytest.raises(NotForked, match="and the name service fails"):
            accounts.to_start(GUEST)
        assert accounts.is_silent(GUEST)
    moment[0] += 3
    assert accounts.to_start(GUEST).lent
    assert not accounts.is_silent(GUEST)


@pytest.mark.parametrize(
    ("begun", "had_one"),
    [({"ClaimId": "c", "NumJobStarts": 0}, True), ({"NumShadowStarts": 1}, False), ({}, False)],
)
def test_who_had_a_job_begun_before_this_schedd_had_an_account(
    begin: Begin, begun: dict[str, Any], had_one: bool
) -> None:
    """Also where the queue had not heard of its program's start yet, but not if none was begun."""
    accounts = begin("no-such-one@here", begun=begun)
    if had_one:
        with pytest.raises(NotKnownNow, match="who had one"):
            accounts.of("no-such-one@here")
    else:
        assert accounts.of("no-such-one@here").lent


def test_who_has_no_name_is_lent_nothing(begin: Begin) -> None:
    for user in ("", "@here"):
        with pytest.raises(NotFoundError):
            begin().of(user)


def test_a_damaged_register_lends_to_nobody_new_until_it_is_mended(
    tmp_path: Path, begin: Begin, said: Sayings
) -> None:
    lent = begin().of(GUEST)
    path = tmp_path / FILE_NAME
    whole = path.read_text()
    path.write_text(whole.replace("end 1", "21474\0\0\0\nend 2"))
    said.clear()
    accounts = begin()
    assert f"{path}: line 3 is not a uid and a user" in said
    assert said[-1].startswith(f"{path} is damaged: ")
    assert accounts.of(GUEST) == lent
    with pytest.raises(NotFoundError, match="the register of lent uids is damaged: line 3"):
        accounts.of("bob@here")
    path.write_text(whole)
    accounts.reconfigure()
    assert accounts.of("no-bob-here@here").uid != lent.uid
    path.unlink()
    path.mkdir()
    with pytest.raises(NotFoundError, match="is damaged"):
        begin().of(GUEST)


def test_without_privileges_everybody_is_the_daemon(tmp_path: Path) -> None:
    ourselves = Privileges(account_of(os.getuid()), can_switch=False)
    runtime: Any = SimpleNamespace(privileges=ourselves)
    accounts = OwnerAccounts(runtime, str(tmp_path), "here")
    accounts.open(runtime)
    assert accounts.of(GUEST) == ourselves.daemon
    assert accounts.files_of(GUEST).names(str(tmp_path)) == []
