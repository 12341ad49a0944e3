"""`condor_on`: the row of its name in `daemon_control.TOOLS`."""

from __future__ import annotations

from kettle.tools.daemon_control import run as main

__all__ = ["main"]
