"""Which folders of the machine a job sees as its own, or empty (MOUNT_UNDER_SCRATCH).

And for a login what it sees of the machine's lists of accounts.

Pure. Making the view is `services/view.py`; only root can.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from kettle.classad import ClassAd
from kettle.starter.sandbox import OF_A_STARTER

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


def hidden_folders(executes: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of sandboxes in which a job sees its own sandbox only, outer ones first.

    Jobs of several users may run as one account, whose sandboxes are no secrets to each other. One
    that has to do for more than sandboxes is left out (EXECUTE = /tmp). Compat: the reference hides
    none (test_a_job_sees_no_sandbox_but_its_own).
    """
    found = dict.fromkeys(posixpath.normpath(folder) for folder in executes if folder)
    hidden = [folder for folder in found if folder.startswith("/") and folder not in _COMMON]
    return tuple(sorted(hidden, key=len))


def shown_folders(hidden: Iterable[str], needed: str) -> tuple[str, ...]:
    """Return what is shown in the hidden folders of that in which something `needed` lies.

    It is what the site keeps beside sandboxes (/scratch/alice where EXECUTE = /scratch); a sandbox
    is not shown to who asks for it as his working directory.
    """
    path = posixpath.normpath(needed) if needed else ""
    shown = []
    for folder in hidden:
        first = path[len(folder) + 1 :].partition("/")[0] if is_needed(folder, (path,)) else ""
        if first and not OF_A_STARTER.fullmatch(first):
            shown.append(f"{folder}/{first}")
    return tuple(shown)


def is_needed(folder: str, needed: tuple[str, ...]) -> bool:
    """Tell whether something that a job has to reach lies in a folder."""
    return any(path == folder or path.startswith(folder + "/") for path in needed)


def accounts_with_shell(text: str, name: str, ids: tuple[int, int], shell: str, home: str) -> str:
    """Return the list of accounts with this shell and home for one of them; its uid and gid."""
    own = f"{name}:x:{ids[0]}:{ids[1]}::{home}:{shell}"
    lines = [line for line in text.splitlines() if line.partition(":")[0] != name]
    return "\n".join([*lines, own, ""])


def groups_without_tty(text: str) -> str:
    """Return the list of groups without the one that terminals are handed to."""
    return "".join(f"{line}\n" for line in text.splitlines() if line.partition(":")[0] != "tty")


def only_local(text: str, local: Sequence[str]) -> str:
    """Return the name service configuration with nobody but the files asked for these lists."""
    lines = [line for line in text.splitlines() if line.partition(":")[0].strip() not in local]
    return "\n".join([*lines, *(f"{name}: files" for name in local), ""])
