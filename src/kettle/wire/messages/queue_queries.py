"""Commands about the queue that are not queue management: query, history, act, spool, connect.

What they find and change is decided in `schedd`. Source: wire notes, Schedd commands.
"""

from __future__ import annotations

from enum import IntEnum

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.ad_shapes import AdRun
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages.fields import (
    Message,
    ad,
    integer,
    listed,
    rest_ads,
    string,
)

# Limit: jobs one spool command may name, and records one user-record command may carry.
MAXIMUM_JOBS = 10_000_000
MAXIMUM_RECORDS = 100_000


class QueryJobAds(Message, command=Command.QUERY_JOB_ADS):
    """{Requirements, Projection, LimitResults, MyJobs, Me, ...}.

    Answered by one JobAdReply per ad and a last one that `is_last` recognises.
    """

    query: ClassAd = ad()


class JobAdReply(Message, answers=Command.QUERY_JOB_ADS):
    """A job's ad, or the summary that ends the answer: the one with integer Owner."""

    ad: ClassAd = ad()


def is_last(found: ClassAd) -> bool:
    """Tell the summary that ends an answer: its Owner is the integer 0."""
    text = found.text("Owner")
    return text is not None and text.strip() == "0"


def has_last(run: AdRun) -> bool:
    """Tell whether the summary is among ads with the same names."""
    texts = run.texts("owner")
    if texts is None:
        text = run.model.text("Owner")
        texts = [] if text is None else [text]
    return any(text.strip() == "0" for text in set(texts))


class QueryHistory(Message, command=Command.QUERY_SCHEDD_HISTORY):
    """{Requirements, Projection, NumJobMatches, StreamResults, Since, ...}."""

    query: ClassAd = ad()


class GetStartdHistory(Message, command=Command.GET_HISTORY):
    """As QueryHistory, to a startd."""

    query: ClassAd = ad()


class HistoryAdReply(Message, answers=Command.QUERY_SCHEDD_HISTORY):
    """Streamed answer: {Owner = 1, StreamResults}, then ads one by one, then {Owner = 0, ...}."""

    ad: ClassAd = ad()


class HistoryAdsReply(Message, answers=Command.QUERY_SCHEDD_HISTORY):
    """Unstreamed answer: every ad and the last one {Owner = 0, ...} in one message."""

    ads: list[ClassAd] = rest_ads()


class ActOnJobs(Message, command=Command.ACT_ON_JOBS):
    """{JobAction, ActionResultType, ActionConstraint or ActionIds, [reason]}."""

    request: ClassAd = ad()


class ActOnJobsReply(Message, answers=Command.ACT_ON_JOBS):
    """{ActionResult, TotalJobAds, job_C_P or result_total_N ...}."""

    result: ClassAd = ad()


class ActOnJobsConfirm(Message):
    """Both ways after an ActOnJobsReply with a success: "still here", then "committed"."""

    code: int = integer(default=1)


class ActOnJobsTrouble(Message):
    """Ours alone, behind a confirmation that is 0: why the schedd could not commit."""

    reason: str = string()


class JobId(Message):
    """A job's numbers, as items of a message or one by one."""

    cluster: int = integer()
    proc: int = integer()


class SpoolJobFiles(Message, command=Command.SPOOL_JOB_FILES_WITH_PERMS):
    """Own version and number of jobs; a SpoolJobIds follows, then a transfer for each job."""

    version: str = string()
    jobs: int = integer()


class SpoolJobFilesPlain(Message, command=Command.SPOOL_JOB_FILES):
    """As SpoolJobFiles, without version and file modes."""

    jobs: int = integer()


class SpoolJobIds(Message):
    """The numbers of the jobs, all in one message, as many as were announced."""

    ids: list[tuple[int, int]] = listed(integer())

    def write_fields(self, writer: Writer) -> None:
        """Append cluster and proc of each."""
        for cluster, proc in self.ids:
            writer.integer(cluster).integer(proc)

    @classmethod
    def read(cls, reader: Reader, *, finish: bool = True) -> SpoolJobIds:
        """Read pairs until the message ends."""
        ids: list[tuple[int, int]] = []
        while reader.remaining:
            if len(ids) >= MAXIMUM_JOBS:
                raise RemoteProtocolError(f"more than {MAXIMUM_JOBS} jobs in one spool command")
            ids.append((reader.integer(), reader.integer()))
        if finish:
            reader.finish()
        return cls(ids)


class SpoolReply(Message, answers=Command.SPOOL_JOB_FILES_WITH_PERMS):
    """1 ok, 0 not."""

    code: int = integer()


class TransferData(Message, command=Command.TRANSFER_DATA_WITH_PERMS):
    """Own version and a constraint; answered by a count, an ad and a transfer for each job."""

    version: str = string()
    constraint: str = string()


class TransferDataPlain(Message, command=Command.TRANSFER_DATA):
    """As TransferData, without version and file modes."""

    constraint: str = string()


class TransferDataCount(Message, answers=Command.TRANSFER_DATA_WITH_PERMS):
    """How many jobs follow; after the last transfer the client sends int 1."""

    jobs: int = integer()


class TransferDataJob(Message, answers=Command.TRANSFER_DATA_WITH_PERMS):
    """The ad of the job whose files follow."""

    job: ClassAd = ad()


class Reschedule(Message, command=Command.RESCHEDULE):
    """Something has changed; no content, no reply."""


class GetJobConnectInfo(Message, command=Command.GET_JOB_CONNECT_INFO):
    """{ClusterId, ProcId, [SubProcId], SessionInfo}."""

    request: ClassAd = ad()


class GetJobConnectInfoReply(Message, answers=Command.GET_JOB_CONNECT_INFO):
    """{Result, ClaimId, StarterIpAddr, ...} or {Result, ErrorString, Retry, ...}."""

    response: ClassAd = ad(private=True)


class GetContactInfo(Message, command=Command.GET_CONTACT_INFO):
    """{ClusterId, ProcId, ContactDaemonType}."""

    request: ClassAd = ad()


class GetContactInfoReply(Message, answers=Command.GET_CONTACT_INFO):
    """{Result, Permitted, Address, Secret} or {Result, Permitted, ErrorString}."""

    response: ClassAd = ad(private=True)


class CreateJobOwnerSession(Message, command=Command.CREATE_JOB_OWNER_SEC_SESSION):
    """{ClaimId, SessionInfo}: schedd to starter."""

    request: ClassAd = ad(private=True)


class CreateJobOwnerSessionReply(Message, answers=Command.CREATE_JOB_OWNER_SEC_SESSION):
    """{Result, ClaimId, CondorVersion, StarterIpAddr}."""

    response: ClassAd = ad(private=True)


class StartSshd(Message, command=Command.START_SSHD):
    """{Shell, ...}: start a shell server beside the job."""

    request: ClassAd = ad(private=True)


class StartSshdReply(Message, answers=Command.START_SSHD):
    """{Result, SSHPublicServerKey, SSHPrivateClientKey, ...}."""

    response: ClassAd = ad(private=True)


class StarterPeek(Message, command=Command.STARTER_PEEK):
    """{Out, OutOffset, Err, ErrOffset, TransferFiles, TransferOffsets, MaxTransferBytes}."""

    request: ClassAd = ad()


class StarterPeekReply(Message, answers=Command.STARTER_PEEK):
    """{Result, ...}; then the files, then int count."""

    response: ClassAd = ad()


class QueryUserRecords(Message, command=Command.QUERY_USERREC_ADS):
    """{Requirements, Projection, LimitResults, TargetType, ...}."""

    query: ClassAd = ad()


class QueryUserRecordsReply(Message, answers=Command.QUERY_USERREC_ADS):
    """All records and a Summary ad in one message."""

    ads: list[ClassAd] = rest_ads()


class ActOnUserRecords(Message, command=Command.EDIT_USERREC):
    """Records to enable, disable, edit, reset or delete, as the command says."""

    records: list[ClassAd] = listed(ad(), maximum=MAXIMUM_RECORDS)


class ActOnUserRecordsReply(Message, answers=Command.EDIT_USERREC):
    """{NumAds, Result, ErrorString, Warning, NumAttributesSet}."""

    response: ClassAd = ad()


class ExportJobs(Message, command=Command.EXPORT_JOBS):
    """{ActionIds or ActionConstraint, ExportDir, [NewSpoolDir]}."""

    request: ClassAd = ad()


class ImportJobs(Message, command=Command.IMPORT_EXPORTED_JOB_RESULTS):
    """{ExportDir}."""

    request: ClassAd = ad()


class UnexportJobs(Message, command=Command.UNEXPORT_JOBS):
    """{ActionIds or ActionConstraint}."""

    request: ClassAd = ad()


class ExportJobsReply(Message, answers=Command.EXPORT_JOBS):
    """{ActionResult, ErrorCode, ErrorString, TotalSuccess...}."""

    response: ClassAd = ad()


class ReassignSlot(Message, command=Command.REASSIGN_SLOT):
    """{BeneficiaryJobID, VictimJobIDs, [Flags]}."""

    request: ClassAd = ad()


class ReassignSlotReply(Message, answers=Command.REASSIGN_SLOT):
    """{Result, ErrorString}."""

    response: ClassAd = ad()


class RecycleShadow(Message, command=Command.RECYCLE_SHADOW):
    """A shadow's exit, with the question for another job of its claim."""

    shadow_pid: int = integer()
    exit_reason: int = integer()


class ClearDirtyJobAttributes(Message, command=Command.CLEAR_DIRTY_JOB_ATTRS):
    """Mark the changed attributes of a job as seen."""

    cluster: int = integer()
    proc: int = integer()


class HistoryErrorCode(IntEnum):
    """ErrorCode of a history answer's last ad."""

    NONE = 0
    PROJECTION = 2
    PROJECTION_TYPE = 3
    LAUNCH = 4
    NOT_CONFIGURED = 5
    ARGUMENTS = 6
    QUEUE_FULL = 9
    DISABLED = 10
