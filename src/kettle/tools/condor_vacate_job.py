"""`condor_vacate_job`: take running jobs off their machines; see `job_actions`."""

from __future__ import annotations

from kettle.tools.job_actions import run as main

__all__ = ["main"]
