"""How a job's end is told: exit reasons, exit attributes, errors that hold or requeue it.

Pure: from the wait status and what was asked of the starter to the words of the shadow protocol
(wire notes, Life of a vanilla job; Errors, holds).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from kettle.attributes.codes import HoldReasonCode, ShadowExit, VacateReasonCode
from kettle.bounded_texts import bounded_reason
from kettle.classad import ClassAd
from kettle.policy.kill_signals import signal_death
from kettle.transfer.outcome import Outcome


@dataclass(frozen=True)
class Vacate:
    """Why the job was told to leave before its end; its output is wanted, or waits for a run."""

    reason: str
    code: int = VacateReasonCode.ClaimDeactivated
    subcode: int = 0
    brings_output: bool = False
    # Whether the machine wants the job held, and why; it is told so before the job has left.
    hold_reason: str = ""
    hold_subcode: int = 0


def exit_attributes(status: int, *, core_dumped: bool = False) -> dict[str, object]:
    """Return the attributes that say how a process ended, from its wait status.

    `core_dumped` is whether it left a core file: the kernel's word for it may have gone elsewhere.
    """
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return {
            "ExitBySignal": True,
            "ExitSignal": number,
            "ExitReason": signal_death(number),
            **({"JobCoreDumped": True} if core_dumped else {}),
        }
    return {"ExitBySignal": False, "ExitCode": os.WEXITSTATUS(status)}


def exit_reason(status: int | None, vacate: Vacate | None, *, core_dumped: bool = False) -> int:
    """Return the reason of job_exit.

    A job that was told to leave goes back to the queue even if it ended by itself meanwhile,
    unless it ended before it was told.
    """
    if vacate is not None:
        return ShadowExit.SHOULD_REQUEUE
    if status is None:
        return ShadowExit.NOT_STARTED
    if os.WIFSIGNALED(status) and core_dumped:
        return ShadowExit.CORED
    return ShadowExit.EXITED


def is_checkpoint(job: ClassAd, status: int) -> bool:
    """Whether this exit says that a checkpoint is ready (checkpoint_exit_code, …_signal)."""
    if os.WIFSIGNALED(status):
        return job.integer("SuccessCheckpointExitSignal") == os.WTERMSIG(status)
    return job.integer("SuccessCheckpointExitCode") == os.WEXITSTATUS(status)


@dataclass(frozen=True)
class Sending:
    """What is sent when a job's processes are gone: which list of the job, and as what.

    `final` output goes where the user wants it; what is not final waits for the next run.
    """

    attribute: str
    final: bool


def choose_sending(job: ClassAd, status: int | None, vacate: Vacate | None) -> Sending | None:
    """Decide what becomes of a job's files at its end (R056); None if nothing is sent."""
    when = (job.string("WhenToTransferOutput") or "ON_EXIT").upper()
    if status is None:
        return None
    if vacate is not None and vacate.brings_output:
        return Sending("TransferOutput", final=True)
    if vacate is not None:
        if is_checkpoint(job, status):
            return Sending("TransferCheckpoint", final=False)
        return Sending("TransferOutput", final=False) if when == "ON_EXIT_OR_EVICT" else None
    if when == "ON_SUCCESS" and not is_success(job, status):
        # The streams say what went wrong; beside them only what is listed for that.
        return Sending("FailureFiles", final=True)
    return Sending("TransferOutput", final=True)


def is_success(job: ClassAd, status: int) -> bool:
    """Whether a job ended as it says that success is; without a word of it every end is one.

    What says it is JobSuccessExitCode (`success_exit_code`) and JobSuccessExitSignal, which counts
    if JobSuccessExitBySignal does. Compat: with such a word the reference keeps a failed job's
    output back whatever WhenToTransferOutput is; here only ON_SUCCESS loses it, as the manual of
    both has it. test_a_job_that_failed_loses_no_output_that_comes_on_exit shows it.
    """
    return _ended_as_wished(job, "JobSuccess", status)


def is_script_success(job: ClassAd, prefix: str, status: int) -> bool:
    """Whether a script (`Pre` or `Post`) ended as the job wants it to, as `is_success` has it.

    A job says it with SuccessPreExitCode, SuccessPreExitSignal and SuccessPreExitBySignal.
    """
    return _ended_as_wished(job, f"Success{prefix}", status)


def _ended_as_wished(job: ClassAd, prefix: str, status: int) -> bool:
    code, number = job.integer(f"{prefix}ExitCode"), job.integer(f"{prefix}ExitSignal")
    if code is None and number is None:
        return True
    if job.boolean(f"{prefix}ExitBySignal"):
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) == number
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == (code or 0)


def vacate_attributes(vacate: Vacate | None) -> dict[str, object]:
    """Return why the job was evicted; empty if it was not."""
    if vacate is None:
        return {}
    return {
        "VacateReason": vacate.reason,
        "VacateReasonCode": vacate.code,
        "VacateReasonSubCode": vacate.subcode,
    }


def told_code(transfer: Outcome) -> int:
    """Return the hold code that event 021 has for a transfer that failed; 0 if it has none.

    A file that could not be sent is 13 there, whichever way it was going; the shadow that misses
    it among the output still holds the job with 12 (recorded in missing_output.log). What a plug-in
    could not bring is 12, and its job's hold has 13 (recorded in plugin_failure.log).
    """
    code = transfer.failure.code if transfer.failure is not None else 0
    if _is_a_plugins(transfer) and code == HoldReasonCode.TransferInputError:
        return int(HoldReasonCode.TransferOutputError)
    if transfer.sender_failed and code == HoldReasonCode.TransferOutputError:
        return int(HoldReasonCode.TransferInputError)
    return code


def _is_a_plugins(transfer: Outcome) -> bool:
    return transfer.failure is not None and transfer.plugin_failed and not transfer.sender_failed


def told_reason(transfer: Outcome) -> str:
    """Return why a transfer failed, as event 021 has it; empty if it did not."""
    if _is_a_plugins(transfer):
        return f"{transfer.hook or 'FILETRANSFER:1:'}|Error: {transfer.detail}"
    return transfer.failure.reason if transfer.failure is not None else ""


def remote_error(host: str, message: str, code: int, subcode: int, *, critical: bool) -> ClassAd:
    """Return the event that tells the shadow of an error here; critical ones end the run."""
    ad = ClassAd({"MyType": "RemoteErrorEvent", "EventTypeNumber": 21})
    ad["Daemon"] = "starter"
    ad["ExecuteHost"] = host
    ad["ErrorMsg"] = bounded_reason(message)
    ad["CriticalError"] = critical
    if code:
        ad["HoldReasonCode"] = code
        ad["HoldReasonSubCode"] = subcode
    return ad
