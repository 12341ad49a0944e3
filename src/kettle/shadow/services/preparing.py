"""What has to be so before a job's run begins; what is not holds the job."""

from __future__ import annotations

import os
from functools import partial

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import ClassAd
from kettle.errors import StorageError
from kettle.policy.match_expansion import Expansion, expand_match
from kettle.shadow.endings import Request, Wish
from kettle.shadow.services.dataflow import skip_if_dataflow
from kettle.shadow.services.run import Run
from kettle.shadow.services.spooled_output import begin_with_whole_output
from kettle.transfer.plan import size_limit


async def prepare(run: Run) -> bool:
    """Look at the job's places and fill in `$$()`; False if it is held, or over, without a run."""
    slot, run.slot = run.slot, ClassAd()
    objection = (
        await _object_to_log(run)
        or _object_to_input(run, slot)
        or await _object_to_places(run)
        or _object_to_credentials(run)
        or _expand(run, slot)
    )
    if objection is not None:
        run.reusable = True
        run.request = objection
        return False
    return not await skip_if_dataflow(run)


def _hold(reason: str, code: HoldReasonCode, subcode: int = 0) -> Request:
    return Request(Wish.POLICY_HOLD, reason, int(code), subcode)


async def _object_to_log(run: Run) -> Request | None:
    try:
        await run.host.logs.check(run.job)
    except StorageError as error:
        text = error.message + run.host.borrowed_rights
        return _hold(text, HoldReasonCode.UnableToInitUserLog, error.errno)
    return None


def _object_to_input(run: Run, slot: ClassAd) -> Request | None:
    """Find out how much may travel, and whether more than that was announced."""
    host = run.host
    run.max_input_bytes = size_limit(run.job, slot, "MaxTransferInputMB", host.max_input_mb)
    run.max_output_bytes = size_limit(run.job, slot, "MaxTransferOutputMB", host.max_output_mb)
    announced = run.job.integer("TransferInputSizeMB")
    if announced is None or not 0 <= run.max_input_bytes < announced << 20:
        return None
    text = (
        f"TransferInputSizeMB ({announced}) is greater than MAX_TRANSFER_INPUT_MB "
        f"({run.max_input_bytes >> 20}) at submit time"
    )
    return _hold(text, HoldReasonCode.MaxTransferInputSizeExceeded)


async def _object_to_places(run: Run) -> Request | None:
    """See that the job's directory can be entered, and what a spooled job's last run ended with."""
    try:
        await _look_at_directory(run)
    except OSError as error:
        text = f"Cannot access initial working directory {run.job.string('Iwd')}: {error.strerror}"
        return _hold(text, HoldReasonCode.IwdError, error.errno or 0)
    try:
        await begin_with_whole_output(run)
    except OSError as error:
        text = f"Cannot bring in what the last run sent: {error.strerror}"
        return _hold(text, HoldReasonCode.TransferInputError, error.errno or 0)
    return None


async def _look_at_directory(run: Run) -> None:
    inside = os.path.join(run.job.string("Iwd") or "/", ".")
    if run.host.mounts.is_far(inside):
        await run.host.aside.run(partial(os.stat, inside))
    else:
        os.stat(inside)


def _object_to_credentials(run: Run) -> Request | None:
    if not run.job.string("OAuthServicesNeeded"):
        return None
    # No credential store is kept yet: there is none for any job.
    return _hold("Job credentials are not available", HoldReasonCode.CorruptedCredential)


def _expand(run: Run, slot: ClassAd) -> Request | None:
    """Fill in what the slot has to say."""
    # No slot came with a job that asks for nothing of it.
    expansion = expand_match(run.job, slot) if len(slot) else Expansion()
    if expansion.unresolved is not None:
        text = f"Cannot expand $$ expression ({expansion.unresolved})."
        return _hold(text, HoldReasonCode.Unspecified)
    for name, text in expansion.changed.items():
        run.job[name] = text
    return None
