"""As whom a shadow host touches its jobs' files."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.runtime.logs import Log
from kettle.runtime.process.privileges import Account, Privileges, account_of, find_account
from kettle.shadow.services.host import settle


@pytest.fixture
def _as_if_root(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Privileges(account_of(0), can_switch=True)
    monkeypatch.setattr(Privileges, "find", lambda _: root)
    monkeypatch.setattr(Privileges, "settle", lambda _: None)


@pytest.mark.usefixtures("_as_if_root")
@pytest.mark.parametrize(
    "account", [find_account("daemon"), Account("guest", 1 << 31, 1 << 31, (), lent=True)]
)
def test_a_host_works_as_the_account_that_its_schedd_has_told_it(account: Account) -> None:
    config = Config.from_text("", subsystem="SHADOW")
    assert settle(config, Log(None), Account.unpack(account.pack())).daemon == account
