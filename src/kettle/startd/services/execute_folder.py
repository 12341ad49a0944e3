"""Sees whether sandboxes can be made in EXECUTE, and says so in the log when that changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kettle.config.knobs.startd import StartdKnobs

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime


class ExecuteFolder:
    """What is known of EXECUTE; nothing is told of one that is as it should be from the start."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._usable = True

    def look(self) -> None:
        """Look, with the rights with which sandboxes are made."""
        runtime = self._runtime
        path = runtime.config.value(StartdKnobs.EXECUTE)
        with runtime.privileges.as_root():
            usable = os.access(path, os.W_OK | os.X_OK, effective_ids=True)
        if usable == self._usable:
            return
        self._usable = usable
        if usable:
            runtime.log(f"EXECUTE, {path}, can be written again")
        else:
            runtime.log.problem(f"EXECUTE, {path}, cannot be written: no job can be started here")
