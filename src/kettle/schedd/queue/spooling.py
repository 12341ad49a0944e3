"""Jobs whose files live at the access point: what changes in their ads, what is sent back.

Pure. A spooled job's paths are rewritten to names inside its spool folder, the user's own are kept
as `SUBMIT_…`; a client that fetches the output puts them back. Moving the files is
`services.spooling`'s. Source: wire notes, SPOOL_JOB_FILES and TRANSFER_DATA.
"""

from __future__ import annotations

import posixpath
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import product

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.errors import RefusedError
from kettle.schedd import job_machine
from kettle.schedd.job_machine import Attributes
from kettle.transfer.items import FileView, Look, SendFile
from kettle.transfer.plan import (
    STDERR_NAME,
    STDOUT_NAME,
    Plan,
    check_name,
    executable_name,
    is_url,
    plan_named,
    split_at_commas,
)

RELEASE_REASON = "Data files spooled"

_ONE_FILE = ("In", "Out", "Err", "UserLog", "DAGManNodesLog", "X509UserProxy")


def is_waiting_for_files(ad: ClassAd) -> bool:
    """Tell whether a job is held until its input has been spooled."""
    return (
        ad.integer("JobStatus") == JobStatus.HELD
        and ad.integer("HoldReasonCode") == HoldReasonCode.SpoolingInput
    )


def has_folder(ad: ClassAd) -> bool:
    """Tell whether output is fetched from a job's spool folder, rather than from where it belongs.

    One whose input has not come yet has none there, so that fetching what it names fails.
    """
    return "StageInStart" in ad or is_waiting_for_files(ad)


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
    inputs = split_at_commas(ad.string("TransferInput"))
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


def plan_output(ad: ClassAd, folders: Sequence[str], view: FileView) -> Generator[None, None, Plan]:
    """Return what is sent back of a spooled job, found a file at a time.

    `folders` are its own in the spool and, of a job that is not over, where what its last run left
    is, if anything: of two files of one name that is the newer. What travels is what
    SpooledOutputFiles names once the job has ended, else TransferOutput, or else every file and
    folder that is newer than the end of the spooling; and the standard streams and the event log
    under the names the user gave them. A link to a folder is not followed, as it may lead round.
    What is named and is one, or is not there, is sent all the same, so that its transfer fails.
    RefusedError for more than one transfer may carry, OSError if a folder of the spool is closed.
    """
    named = yield from _outputs(ad, folders, view)
    missing = [SendFile(path, name) for path, name in named if view.look(path) is None]
    # A job whose files have not come and that names its output lacks its streams, too.
    tells_streams = bool(missing) and is_waiting_for_files(ad)
    for source, name in _streams(ad).items():
        for folder, candidate in product(reversed(folders), (source, name)):
            look = view.look(posixpath.join(folder, candidate))
            if look is not None and look.is_regular:
                named.append((posixpath.join(folder, candidate), name))
                break
        else:
            if tells_streams and source in {STDOUT_NAME, STDERR_NAME}:
                missing.append(SendFile(posixpath.join(folders[0], name), name))
    plan: Plan = yield from plan_named(view, named)
    return replace(plan, items=(*missing, *plan.items))


def _outputs(
    ad: ClassAd, folders: Sequence[str], view: FileView
) -> Generator[None, None, list[tuple[str, str]]]:
    """Return (path, name) of a job's output but its streams: all that is named, or is new."""
    # What came is known by the names it came under, without the folders that it had there.
    listed = ad.string("SpooledOutputFiles")
    if listed is None:
        listed = ad.string("TransferOutput")
    found = _new(ad, folders, view) if listed is None else _named(ad, listed, folders, view)
    named = []
    for name, path in found:
        yield
        if name not in {STDOUT_NAME, STDERR_NAME}:
            named.append((path, name))
    return named


def _named(
    ad: ClassAd, listed: str, folders: Sequence[str], view: FileView
) -> Iterator[tuple[str, str]]:
    """Yield (name, path) of what is listed, also where it is not there."""
    for entry in split_at_commas(listed):
        if is_url(entry):
            continue
        name = _inside(entry)
        paths = [posixpath.join(folder, name) for folder in folders]
        there = [path for path in paths if view.look(path) is not None]
        # What went to its destination as the job ended is not here.
        if not there and "OutputDestination" not in ad:
            there = paths[:1]
        yield from ((name, path) for path in there)


def _new(ad: ClassAd, folders: Sequence[str], view: FileView) -> Iterator[tuple[str, str]]:
    """Yield (name, path) of what is newer than the end of the spooling, and of all a run left."""
    for folder in folders:
        try:
            names = view.names(folder)
        except FileNotFoundError:
            # Its files have not come yet.
            continue
        for name in names:
            path = posixpath.join(folder, name)
            if folder != folders[0] or _is_new(ad, name, view.look(path)):
                yield name, path


def _is_new(ad: ClassAd, name: str, look: Look | None) -> bool:
    if look is None or name == executable_name(ad):
        return False
    old = look.mtime_ns < (ad.integer("StageInFinish") or 0) * 1_000_000_000
    return not old and not (look.is_directory and look.is_link)


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
