"""UPDATE_OWN_SUBMITTER: everybody may say that he has jobs, nobody that another has."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.collector.ad_kinds import UPDATE_OWN_SUBMITTER
from kettle.collector.ad_store import AdStore, Sender, StoreSettings
from kettle.collector.commands import update
from kettle.collector.service import read_settings
from kettle.config import Config
from kettle.errors import RefusedError
from kettle.wire.messages.collector import Update


def advertise(name: str, identity: str) -> None:
    ad = ClassAd({"MyType": "Submitter", "Name": name, "MyAddress": "<127.0.0.1:9618>"})
    sender = Sender(identity, "FS")
    groups = read_settings(Config.from_text("GROUP_NAMES = group_a, Group_A.part")).groups
    store = AdStore(StoreSettings(groups=groups))
    update(store, UPDATE_OWN_SUBMITTER, Update(ad, None), now=1.0, sender=sender)


@pytest.mark.parametrize(
    "name", ["bob@vm", "bob", "bob@elsewhere", "group_a.bob@vm", "group_a.part.bob@vm"]
)
def test_a_user_advertises_himself(name: str) -> None:
    advertise(name, "bob@vm")


@pytest.mark.parametrize("name", ["john.smith@vm", "group_a.john.smith@vm"])
def test_a_user_whose_name_has_a_dot_advertises_himself(name: str) -> None:
    advertise(name, "john.smith@vm")


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("alice@vm", "bob@vm"),
        ("bob.alice@vm", "bob@vm"),
        ("bobby@vm", "bob@vm"),
        ("john.smith@vm", "smith@vm"),
        ("group_a.john.smith@vm", "smith@vm"),
        ("group_b.bob@vm", "bob@vm"),
        ("group_a@vm", "@vm"),
        ("unauthenticated@vm", "unauthenticated@unmapped"),
        ("bob@vm", "bob@unmapped"),
    ],
)
def test_nobody_advertises_another(name: str, identity: str) -> None:
    with pytest.raises(RefusedError, match="may only advertise itself"):
        advertise(name, identity)
