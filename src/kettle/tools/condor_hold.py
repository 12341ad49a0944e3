"""`condor_hold`: keep jobs from running until they are released; see `job_actions`."""

from __future__ import annotations

from kettle.tools.job_actions import run as main

__all__ = ["main"]
