"""The chirp server: what a running job may ask of its access point, on the loopback interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kettle.starter.service import Starter


class ChirpServer:
    """Listens for the job, and for nobody else."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter

    async def start(self) -> None:
        """Listen and tell the job where."""
