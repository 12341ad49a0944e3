"""What is said of jobs that are made all the same: a value until it is written."""

from __future__ import annotations

from kettle.named_tuples import NamedTuple

ERROR_MARK = "ERROR: "
WARNING_MARK = "WARNING: "
# How the reference begins some of its warnings.
TWICE = "WARNING: \nWARNING: "


class Notice(NamedTuple):
    """A sentence, the command that it is about (empty for none), and what stands before it.

    Its `str` is what `condor_submit` writes.
    """

    sentence: str
    command: str = ""
    mark: str = WARNING_MARK

    def __str__(self) -> str:
        return f"{self.mark}{self.sentence}"
