"""With which session files travel: the shadow's, whatever was spared at the beginning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.starter.services.transfer import SandboxTransfer
from kettle.wire.commands import Command
from kettle.wire.security.claim_id import ClaimId

INFO = '[Encryption="YES";]'


class Connected(Exception):  # noqa: N818 - the end of the test
    """As far as a connection is made."""


class Running:
    """A starter that asks, and connects nowhere."""

    def __init__(self, *, encrypted: bool) -> None:
        self.job = ClassAd({"TransferSocket": "<127.0.0.1:1>", "TransferKey": "key"})
        self.transfers = True
        self.shadow = SimpleNamespace(returns=0, encrypted=encrypted)
        self.world = SimpleNamespace(connect=self.connect, accept_session=lambda _: None)
        self.asked = 0
        self.used: list[ClaimId | None] = []

    async def call(self, dialog: Callable[[], object]) -> list[str]:
        """Give the sessions of this shadow."""
        del dialog
        self.asked += 1
        return ["claim", INFO, "secret", f"transfer{self.shadow.returns}", INFO, "secret"]

    async def connect(self, *_: object, session: ClaimId | None) -> object:
        """Note with which session."""
        self.used.append(session)
        raise Connected


def transfer(starter: Running, over: SandboxTransfer) -> None:
    """Begin a transfer."""
    with pytest.raises(Connected):
        asyncio.run(over._connect(Command.FILETRANS_DOWNLOAD))
    assert len(starter.used) == 1


@pytest.mark.parametrize("registered", [True, False])
def test_output_travels_with_the_session_of_the_shadow_also_where_no_input_came(
    registered: bool,
) -> None:
    """Else the execution point would have to prove who it is, to whoever submits."""
    starter: Any = Running(encrypted=True)
    over = SandboxTransfer(starter)
    if registered:
        asyncio.run(over.get_session())
    for returns in (0, 0, 1):
        starter.shadow.returns = returns
        transfer(starter, over)
        assert starter.used.pop() == ClaimId(f"transfer{returns}#{INFO}secret")
    assert starter.asked == 2


def test_a_shadow_whose_calls_are_not_encrypted_is_asked_for_no_session() -> None:
    starter: Any = Running(encrypted=False)
    transfer(starter, SandboxTransfer(starter))
    assert starter.used == [None]
    assert starter.asked == 0
