"""The exceptions of graphs of jobs, which are those of version 2."""

from __future__ import annotations

from kettle.compat.htcondor2.dags.exceptions import *  # noqa: F403 - the same names
