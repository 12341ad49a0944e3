"""Connections that are made with a token of the program's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.client.connector import Connector
from kettle.runtime.credentials import SystemClientCredentials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kettle.config import Config


class TokenCredentials(SystemClientCredentials):
    """What this process can prove, one token before all others."""

    def __init__(self, config: Config, token: str) -> None:
        super().__init__(config)
        self._token = token

    def _lines(self) -> Iterator[str]:
        yield self._token
        yield from super()._lines()


class TokenConnector(Connector):
    """Opens connections with a token of the program's own; its sessions are nobody else's."""

    def __init__(
        self, config: Config, token: str, trace: Callable[[str, str], None] | None = None
    ) -> None:
        super().__init__(config, trace)
        self.setup.credentials = TokenCredentials(config, token)
