"""As whom a shadow host touches its jobs' files."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.runtime.logs import Log
from kettle.runtime.process.lent_accounts import UNUSED
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.shadow.services.host import settle


@pytest.fixture
def _as_if_root(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Privileges(account_of(0), can_switch=True)
    monkeypatch.setattr(Privileges, "find", lambda _: root)
    monkeypatch.setattr(Privileges, "settle", lambda _: None)


@pytest.mark.usefixtures("_as_if_root")
@pytest.mark.parametrize(("owner", "lent"), [("daemon", False), ("no-such-account-here", True)])
def test_an_owner_without_an_account_never_has_the_daemons_rights(owner: str, lent: bool) -> None:
    config = Config.from_text("", subsystem="SHADOW")
    account = settle(config, Log(None), owner).daemon
    assert (account.name, account.lent) == (owner, lent)
    assert (account.uid in UNUSED) == lent
