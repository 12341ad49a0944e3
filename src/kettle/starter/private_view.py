"""Which folders of the machine a job sees as its own, or empty (MOUNT_UNDER_SCRATCH).

Pure. Making the view is `services/view.py`; only root can.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from kettle.classad import ClassAd

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - it is made the job's own
# What is everybody's to write in, whatever else is there.
_COMMON = ("/", "/tmp", "/var/tmp", SHARED_MEMORY)  # noqa: S108 - they are left as they are


def private_folders(
    expression: str, slot: ClassAd, job: ClassAd, needed: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the folders that are to be replaced, in order.

    The expression's value in the slot's ad, with the job as TARGET, is a list with commas. One in
    which something `needed` lies is left out: the job could not reach it (an execute folder below
    /tmp; Compat: also the working directory of a job without file transfer, which the reference
    hides; test_folders_are_the_expressions_but_for_those_the_job_needs).
    """
    probe = ClassAd(parent=slot)
    probe.insert_text("KettleFolders", expression or '""')
    value = probe.evaluate("KettleFolders", job)
    if not isinstance(value, str):
        return ()
    found = [posixpath.normpath(word.strip()) for word in value.split(",") if word.strip()]
    return tuple(
        folder
        for folder in dict.fromkeys(found)
        if folder.startswith("/") and folder != "/" and not is_needed(folder, needed)
    )


def hidden_folders(executes: Iterable[str], needed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders of sandboxes in which a job sees its own sandbox only.

    Jobs of several users may run as one account, whose sandboxes are no secrets to each other.
    One in which something `needed` lies is left out, and so is one that has to do for more than
    sandboxes (EXECUTE = /tmp). Compat: the reference hides none
    (test_a_job_sees_no_sandbox_but_its_own).
    """
    found = dict.fromkeys(posixpath.normpath(folder) for folder in executes if folder)
    return tuple(
        folder
        for folder in found
        if folder.startswith("/") and folder not in _COMMON and not is_needed(folder, needed)
    )


def is_needed(folder: str, needed: tuple[str, ...]) -> bool:
    """Tell whether something that a job has to reach lies in a folder."""
    return any(path == folder or path.startswith(folder + "/") for path in needed)
