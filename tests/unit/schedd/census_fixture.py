"""A schedd of which a census of processes needs little."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kettle.config import Config
from kettle.runtime.process.privileges import Privileges


class Orphans:
    """Who fell to the schedd."""

    def __init__(self) -> None:
        self.found: list[int] | None = []

    def orphans(self) -> list[int] | None:
        return self.found


def make_schedd(folder: Path) -> Any:
    config = Config.from_text(f"LOCAL_UNIV_EXECUTE = {folder}\nBASE_CGROUP =\n")
    return SimpleNamespace(
        runtime=SimpleNamespace(
            config=config,
            privileges=Privileges.find(),
            processes=Orphans(),
            files=SimpleNamespace(make_folder=lambda path: os.makedirs(path, exist_ok=True)),
            clock=SimpleNamespace(monotonic=lambda: 0.0),
            log=lambda _: None,
        )
    )
