"""What a command line of `condor_config_val` asks for."""

from __future__ import annotations


class Request:
    """What the command line asks for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.switches: set[str] = set()
        self.values: dict[str, str] = {}
        self.qualifiers: dict[str, list[str]] = {}
        self.remote: dict[str, str] = {}

    def has(self, switch: str) -> bool:
        """Tell whether a switch was given."""
        return switch in self.switches
