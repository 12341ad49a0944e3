"""`condor_suspend`: stop the processes of running jobs; see `job_actions`."""

from __future__ import annotations

from kettle.tools.job_actions import run as main

__all__ = ["main"]
