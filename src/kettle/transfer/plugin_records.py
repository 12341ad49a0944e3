"""What is kept of the work of URL plug-ins: an ad for each run, and one for each file.

The starter collects them and reports them to the shadow in `InputPluginResultList` and its kin; the
shadow takes them apart and has them written into the epoch history. Of what a plug-in says of a
file only known attributes of the right type are kept: it may be the job's own program.
Source: the manual, Transfer error data and epoch history.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from enum import IntEnum

from kettle.classad import ClassAd
from kettle.transfer.plan import scheme_of
from kettle.transfer.plugins import Plugin, Ran

# Limit: ads in one report; a job may have any number of URLs.
MAX_RECORDS = 10_000


class TransferClass(IntEnum):
    """Which transfer a plug-in worked for; the names are the kinds of record."""

    INPUT = 1
    OUTPUT = 2
    CHECKPOINT = 3

    @property
    def prefix(self) -> str:
        """How attributes about such transfers begin."""
        return self.name.capitalize()

    @property
    def list_name(self) -> str:
        """The attribute in which a starter reports and the history keeps the files' ads."""
        return f"{self.prefix}PluginResultList"

    @property
    def invocations_name(self) -> str:
        """The attribute in which the history keeps the runs' ads."""
        return f"{self.prefix}PluginInvocations"


class _Result(IntEnum):
    SUCCESS = 0
    ERROR = 1
    TIMED_OUT = 3
    EXEC_FAILED = 4


_FILE_ATTRIBUTES: Mapping[str, type] = {
    "TransferSuccess": bool,
    "TransferError": str,
    "TransferProtocol": str,
    "TransferType": str,
    "TransferFileName": str,
    "TransferFileBytes": int,
    "TransferTotalBytes": int,
    "TransferStartTime": int,
    "TransferEndTime": int,
    "ConnectionTimeSeconds": float,
    "TransferUrl": str,
    "TransferErrorData": list,
    "DeveloperData": ClassAd,
    "TransferData": list,
}
_ERROR_ATTRIBUTES: Mapping[str, type] = {
    "IntermediateServerErrorType": str,
    "IntermediateServer": str,
    "ErrorType": str,
    "PluginVersion": str,
    "PluginLaunched": bool,
    "FailedName": str,
    "FailureType": str,
    "FailedServer": str,
    "ShouldRefresh": bool,
    "ErrorCode": int,
    "ErrorString": str,
    "Retryable": int,
    "DeveloperData": ClassAd,
}


def _known(ad: ClassAd, allowed: Mapping[str, type]) -> ClassAd:
    kept = ClassAd()
    for name, kind in allowed.items():
        value = ad.evaluate(name)
        if type(value) is kind:
            kept[name] = value
    return kept


def file_record(ad: ClassAd) -> ClassAd:
    """Return what is kept of a plug-in's ad about one file."""
    kept = _known(ad, _FILE_ATTRIBUTES)
    errors = kept.evaluate("TransferErrorData")
    if isinstance(errors, list):
        kept["TransferErrorData"] = [
            _known(error, _ERROR_ATTRIBUTES) for error in errors if isinstance(error, ClassAd)
        ]
    return kept


def run_record(plugin: Plugin, urls: Iterable[str], kind: TransferClass, ran: Ran) -> ClassAd:
    """Return the ad about one run of a plug-in."""
    result = _Result.ERROR if ran.failed else _Result.SUCCESS
    if ran.timed_out:
        result = _Result.TIMED_OUT
    elif not ran.started:
        result = _Result.EXEC_FAILED
    ad = ClassAd(
        {
            "TransferClass": int(kind),
            "PluginBasename": os.path.basename(plugin.name),
            "Schemes": ",".join(sorted({scheme_of(url) for url in urls})),
            "Result": int(result),
            "DurationInSeconds": ran.seconds,
            "ExitBySignal": ran.status < 0,
        }
    )
    if ran.status < 0:
        ad["ExitSignal"] = -ran.status
    else:
        ad["ExitCode"] = ran.status
    return ad


def history_text(record: ClassAd, job: ClassAd) -> str:
    """Return what FILE_TRANSFER_STATS_LOG says of one file that a plug-in moved."""
    ad = record.copy()
    for name in ("ClusterId", "ProcId", "Owner"):
        text = job.text(name)
        if text is not None:
            ad.insert_text(f"Job{name}", text)
    return "\n".join(["***", *sorted(ad.lines(), key=str.lower), ""])


def received_record(name: str, size: int, now: float) -> ClassAd:
    """Return what it says of a file that came from the access point just now."""
    ad = ClassAd(
        {
            "TransferFileName": f"./{name}",
            "TransferProtocol": "cedar",
            "TransferType": "download",
            "TransferSuccess": True,
        }
    )
    for moment in ("TransferStartTime", "TransferEndTime"):
        ad[moment] = int(now)
    for count in ("TransferFileBytes", "TransferTotalBytes"):
        ad[count] = size
    return ad


def split_records(records: object) -> tuple[list[ClassAd], list[ClassAd]]:
    """Return the ads about files, and those about runs, of a starter's report."""
    ads = [ad for ad in records if isinstance(ad, ClassAd)] if isinstance(records, list) else []
    runs = [ad for ad in ads if ad.integer("TransferClass") is not None]
    files = [ad for ad in ads if ad.integer("TransferClass") is None]
    return files[:MAX_RECORDS], runs[:MAX_RECORDS]
