"""Whether there is surely no account of a name or of a number."""

from __future__ import annotations

import ctypes
import errno
import os
import pwd
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.runtime.process.name_service import holder_of, why_unsure

NO_UID = 3_999_999_999


def test_of_a_name_that_nobody_has_it_is_sure() -> None:
    assert why_unsure("no-such-account-here") == ""
    assert why_unsure(NO_UID) == ""
    assert why_unsure("\udcff") == ""


def test_of_an_account_that_is_there_it_is_not() -> None:
    assert why_unsure("daemon") == "the name service has just found one"
    assert why_unsure(pwd.getpwnam("daemon").pw_uid) == "the name service has just found one"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, ""),
        (errno.ENOENT, ""),
        (errno.EMFILE, f"the name service fails ({os.strerror(errno.EMFILE)})"),
        (errno.ETIMEDOUT, f"the name service fails ({os.strerror(errno.ETIMEDOUT)})"),
        (errno.ERANGE, "the name service has just found one"),
    ],
)
def test_a_service_that_fails_is_not_one_that_knows_nobody(
    monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    library: Any = SimpleNamespace(getpwnam_r=lambda *_: number, getpwuid_r=lambda *_: number)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    assert why_unsure("ann") == said
    assert why_unsure(7) == said


def test_a_number_may_be_an_account_s_or_a_group_s() -> None:
    daemon = pwd.getpwnam("daemon")
    assert holder_of(daemon.pw_uid) == "the account 'daemon'"
    assert holder_of(NO_UID) == ""
    # The group of those who may read logs has no account of its number.
    assert holder_of(4) in {"the group 'adm'", "the account 'sync'"}
