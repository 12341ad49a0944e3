"""`condor_rm`: remove jobs from the queue; see `job_actions`."""

from __future__ import annotations

from kettle.tools.job_actions import run as main

__all__ = ["main"]
