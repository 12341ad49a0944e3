"""Where a job's files are: the directories and special files of one sandbox.

Names only (wire notes, Job sandbox); `services/sandbox.py` makes and removes them.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cached_property

# How is called what starters have in a folder of sandboxes: those, and what is a job's /tmp.
OF_A_STARTER = re.compile(r"dir_[0-9]+|\.private_[0-9]+")


@dataclass(frozen=True)
class Sandbox:
    """`$(EXECUTE)/dir_<starter pid>` and what is in it."""

    root: str

    @classmethod
    def of_starter(cls, execute: str, pid: int) -> Sandbox:
        """Return the sandbox of the starter with this pid."""
        return cls(posixpath.join(execute, f"dir_{pid}"))

    @cached_property
    def scratch(self) -> str:
        """The job's working directory, 0700, the job owner's."""
        return posixpath.join(self.root, "scratch")

    @cached_property
    def user(self) -> str:
        """What the job may read but is not output, 0700, the job owner's."""
        return posixpath.join(self.root, "user")

    @cached_property
    def htcondor(self) -> str:
        """The starter's own files."""
        return posixpath.join(self.root, "htcondor")

    @cached_property
    def job_ad(self) -> str:
        """The job ad as the job may read it."""
        return posixpath.join(self.scratch, ".job.ad")

    @cached_property
    def machine_ad(self) -> str:
        """The slot ad as the job may read it."""
        return posixpath.join(self.scratch, ".machine.ad")

    @cached_property
    def chirp_config(self) -> str:
        """Host, port and cookie of the chirp server."""
        return posixpath.join(self.user, ".chirp.config")

    @cached_property
    def update_ad(self) -> str:
        """The newest update ad."""
        return posixpath.join(self.htcondor, ".update.ad")
