"""Jobs whose files live at the access point: what changes in their ads, what is sent back.

Pure. A spooled job's paths are rewritten to names inside its spool folder, the user's own are kept
as `SUBMIT_…`; a client that fetches the output puts them back. Moving the files is
`services.spooling`'s. Source: wire notes, SPOOL_JOB_FILES and TRANSFER_DATA.
"""

from __future__ import annotations

import posixpath
from collections.abc import Generator

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.errors import RefusedError
from kettle.schedd import job_machine
from kettle.schedd.job_machine import Attributes
from kettle.transfer.items import FileView
from kettle.transfer.plan import (
    STDERR_NAME,
    STDOUT_NAME,
    Plan,
    check_name,
    executable_name,
    is_url,
    plan_named,
    split_list,
)

RELEASE_REASON = "Data files spooled"

_ONE_FILE = ("In", "Out", "Err", "UserLog", "DAGManNodesLog", "X509UserProxy")


def is_waiting_for_files(ad: ClassAd) -> bool:
    """Tell whether a job is held until its input has been spooled."""
    return (
        ad.integer("JobStatus") == JobStatus.HELD
        and ad.integer("HoldReasonCode") == HoldReasonCode.SpoolingInput
    )


def rewritten(ad: ClassAd, folder: str) -> Attributes:
    """Return a spooled job's paths, inside its folder, with the user's own beside them."""
    changes: Attributes = {"Iwd": quote_line(folder)}
    _keep(changes, ad, "Iwd")
    if ad.boolean("TransferExecutable") is not False and (command := ad.string("Cmd")):
        changes["Cmd"] = quote_line(posixpath.basename(command))
        _keep(changes, ad, "Cmd")
    for name in _ONE_FILE:
        value = ad.string(name)
        if value and value != "/dev/null" and not is_url(value) and "/" in value:
            changes[name] = quote_line(posixpath.basename(value))
            _keep(changes, ad, name)
    inputs = split_list(ad.string("TransferInput"))
    inside = [each if is_url(each) else posixpath.basename(each.rstrip("/")) for each in inputs]
    if inside != inputs:
        changes["TransferInput"] = quote_line(",".join(inside))
        _keep(changes, ad, "TransferInput")
    if "TransferOutputRemaps" in ad:
        changes["TransferOutputRemaps"] = "undefined"
        _keep(changes, ad, "TransferOutputRemaps")
    return changes


def _keep(changes: Attributes, ad: ClassAd, name: str) -> None:
    """Remember the user's own value, once: files may be spooled again."""
    if f"SUBMIT_{name}" not in ad:
        changes[f"SUBMIT_{name}"] = ad.text(name)


def finished(ad: ClassAd, folder: str, started: int, now: int) -> Attributes:
    """Return everything that changes when a job's files have arrived; it is released."""
    changes = {"StageInStart": str(started), "StageInFinish": str(now), **rewritten(ad, folder)}
    if is_waiting_for_files(ad):
        changes |= job_machine.step(ad, job_machine.Released(RELEASE_REASON), now)
    return changes


def plan_output(ad: ClassAd, folder: str, view: FileView) -> Generator[None, None, Plan]:
    """Return what is sent back of a spooled job, found a file at a time.

    What TransferOutput names, or else every file and folder that is newer than the end of the
    spooling; and the standard streams and the event log under the names the user gave them. A link
    to a folder is followed only where it is named: others may lead round. RefusedError for more
    than one transfer may carry.
    """
    named = yield from _outputs(ad, folder, view)
    for source, name in _streams(ad).items():
        for candidate in (source, name):
            look = view.look(posixpath.join(folder, candidate))
            if look is not None and look.is_regular:
                named.append((posixpath.join(folder, candidate), name))
                break
    return (yield from plan_named(view, named))


def _outputs(
    ad: ClassAd, folder: str, view: FileView
) -> Generator[None, None, list[tuple[str, str]]]:
    """Return (path, name) of a job's output but its streams, what is there of it."""
    named = []
    listed = ad.string("TransferOutput")
    since = ad.integer("StageInFinish") or 0
    names = split_list(listed) if listed is not None else list(view.names(folder))
    for name in names:
        yield
        if is_url(name) or name in {STDOUT_NAME, STDERR_NAME}:
            continue
        path = posixpath.join(folder, _inside(name))
        look = view.look(path)
        if look is None:
            continue
        old = look.mtime_ns < since * 1_000_000_000
        round_about = look.is_directory and look.is_link
        if listed is None and (old or round_about or name == executable_name(ad)):
            continue
        named.append((path, _inside(name)))
    return named


def _inside(name: str) -> str:
    try:
        return check_name(name.rstrip("/"), code=int(HoldReasonCode.TransferOutputError))
    except RefusedError:
        return posixpath.basename(name.rstrip("/"))


def _streams(ad: ClassAd) -> dict[str, str]:
    """Return spool name → sent name of the streams and the event log."""
    names = {}
    for attribute, special in (("Out", STDOUT_NAME), ("Err", STDERR_NAME)):
        value = ad.string(attribute)
        if value and value != "/dev/null":
            names[special] = posixpath.basename(value)
    log = ad.string("UserLog")
    if log:
        names[posixpath.basename(log)] = posixpath.basename(log)
    return names
