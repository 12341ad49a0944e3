"""Every message of the recorded daemon conversations is read by its class and written back.

The recordings are of a real pool without security, so commands that force authentication begin
with the in-line exchange. A script per command says which class each message must be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages import (
    accounting,
    claims,
    collector,
    filetransfer,
    negotiate,
    qmgmt,
    queue_queries,
    syscalls,
)
from kettle.wire.messages.fields import Message
from kettle.wire.messages.rpc import Call

VECTORS = Path(__file__).parent.parent / "data" / "vectors" / "daemons"
FILES = sorted(VECTORS.glob("*.json"))

CLIENT, SERVER = "client->server", "server->client"


class Script:
    """The messages of one connection, taken one by one."""

    def __init__(self, connection: dict[str, Any]) -> None:
        self.messages = list(connection["messages"])
        self.position = 0
        self.checked = 0
        self.irregular = 0

    def more(self) -> bool:
        return self.position < len(self.messages)

    def peek(self) -> tuple[str, bytes]:
        message = self.messages[self.position]
        return message["dir"], payload(message)

    def raw(self, side: str, size: int) -> None:
        """Take file bytes outside packets."""
        taken = 0
        while taken < size:
            message = self.messages[self.position]
            assert message["dir"] == side
            assert "raw" in message["kind"]
            taken += message["length"]
            self.position += 1
        assert taken == size
        self.checked += 1

    def take(self, side: str, kind: type[Message], command: int | None = None) -> Any:
        """Take the next message, read it as `kind`, and require the same bytes back."""
        found, body = self.peek()
        assert found == side, f"message {self.position} comes from the {found} side"
        reader = Reader(body)
        writer = Writer()
        if command is not None:
            assert reader.integer() == command
            writer.integer(command)
        elif kind.word is not None:
            assert reader.integer() == kind.word
        message = kind.read(reader)
        message.write(writer)
        if writer.getvalue() != body:
            assert is_irregular(body), f"message {self.position} is written otherwise"
            again = Writer()
            rest = Reader(writer.getvalue())
            if command is not None or kind.word is not None:
                again.integer(rest.integer()) if command is not None else rest.integer()
            kind.read(rest).write(again)
            assert again.getvalue() == writer.getvalue()
            self.irregular += 1
        self.position += 1
        self.checked += 1
        return message

    def take_call(self, side: str, table: dict[int, type[Call]]) -> Call:
        """Take a call, and its reply from the other side if it has one."""
        _, body = self.peek()
        kind = table[Reader(body).integer()]
        call: Call = self.take(side, kind)
        if not self.more() or self.peek()[0] == side:
            return call
        _, body = self.peek()
        reply = call.read_answer(Reader(body))
        writer = Writer()
        reply.write(writer)
        assert writer.getvalue() == body or is_irregular(body)
        self.position += 1
        self.checked += 1
        return call

    def take_ints(self, side: str, *values: int) -> None:
        """Take a message of exactly these integers."""
        found, body = self.peek()
        reader = Reader(body)
        assert found == side
        assert tuple(reader.integer() for _ in values) == values
        reader.finish()
        self.position += 1
        self.checked += 1


def is_irregular(body: bytes) -> bool:
    """Tell a message that no writer of ours makes: a name twice in an ad, a secret not marked.

    The schedd sends the attributes of a cluster that a proc overrides too; the last one counts. A
    throw-away program of the recording session did not mark its secrets.
    """
    strings = body.split(b"\0")
    names = [one.partition(b" = ")[0].lower() for one in strings if b" = " in one]
    unmarked = any(
        one.startswith(b"TransferKey") and previous != b"ZKM" for previous, one in pairwise(strings)
    )
    return unmarked or len(set(names)) < len(names)


def payload(message: dict[str, Any]) -> bytes:
    return b"".join(bytes.fromhex(packet["payload"]) for packet in message["packets"])


def take_inline_authentication(script: Script, command: int) -> None:
    """Take command and mask, and the FS or CLAIMTOBE exchange after it."""
    _, body = script.peek()
    reader = Reader(body)
    assert reader.integer() == command
    mask = reader.integer()
    reader.finish()
    script.position += 1
    _, body = script.peek()
    chosen = Reader(body).integer()
    assert chosen & mask
    script.take_ints(SERVER, chosen)
    if chosen == 4:
        script.take(SERVER, filetransfer.ItemName)
        reader = Reader(script.peek()[1])
        assert reader.integer() == 0
        assert ":" in reader.string()
        script.position += 1
        script.take_ints(SERVER, 0)
    else:
        reader = Reader(script.peek()[1])
        assert reader.integer() == 1
        assert reader.string()
        script.position += 1
        script.take_ints(SERVER, 1)
    script.checked += 2


def take_transfer(script: Script, up: str, down: str) -> None:
    """Take one file transfer from its first message to both acks."""
    ft = filetransfer
    script.take(up, ft.UploadHeader)
    first = True
    while True:
        command = script.take(up, ft.ItemCommand).code
        if command == ft.TransferCommand.FINISHED:
            break
        script.take(up, ft.ItemName)
        if first:
            take_go_ahead(script, up, down)
            first = False
        mode = script.take(up, ft.ItemMode).mode
        if command == ft.TransferCommand.DIRECTORY:
            continue
        assert command == ft.TransferCommand.FILE
        assert mode < 0o10000
        size = script.take(up, ft.FileSize).size
        if size:
            script.raw(up, size)
        else:
            assert script.take(up, ft.EmptyFile).mark == ft.EMPTY_FILE_MARK
    script.take(up, ft.TransferAck)
    script.take(down, ft.TransferAck)


def take_go_ahead(script: Script, up: str, down: str) -> None:
    """Take both sides' permission for everything that follows."""
    ft = filetransfer
    script.take(up, ft.AliveInterval)
    answer = script.take(down, ft.GoAhead).answer
    assert answer.integer("Result") == ft.GoAheadResult.ALWAYS
    script.take(down, ft.AliveInterval)
    script.take(up, ft.GoAhead)


def take_qmgmt(script: Script) -> None:
    take_inline_authentication(script, Command.QMGMT_WRITE_CMD)
    while script.more():
        script.take_call(CLIENT, qmgmt.CALLS)


def take_act(script: Script) -> None:
    take_inline_authentication(script, Command.ACT_ON_JOBS)
    script.take(CLIENT, queue_queries.ActOnJobs)
    script.take(SERVER, queue_queries.ActOnJobsReply)
    while script.more():
        script.take(script.peek()[0], queue_queries.ActOnJobsConfirm)


def take_job_query(script: Script) -> None:
    script.take(CLIENT, queue_queries.QueryJobAds, Command.QUERY_JOB_ADS)
    ended = False
    while script.more():
        reply = script.take(SERVER, queue_queries.JobAdReply).ad
        ended = queue_queries.is_last(reply)
        assert ended == (not script.more())
    assert ended


def take_history(command: Command) -> Callable[[Script], None]:
    def take(script: Script) -> None:
        query = script.take(CLIENT, queue_queries.QueryHistory, command).query
        kind: type[Message] = queue_queries.HistoryAdReply
        if not query.boolean("StreamResults"):
            kind = queue_queries.HistoryAdsReply
        while script.more():
            script.take(SERVER, kind)

    return take


def take_syscalls(script: Script, starter: str) -> None:
    while script.more():
        script.take_call(starter, syscalls.CALLS)


def take_activation(script: Script) -> None:
    script.take(CLIENT, claims.ActivateClaim, Command.ACTIVATE_CLAIM)
    assert script.take(SERVER, claims.ActivateClaimReply).code == 1
    take_syscalls(script, SERVER)


def take_claim_command(script: Script) -> None:
    request = script.take(CLIENT, claims.ClaimCommand, Command.CA_CMD).request
    response = script.take(SERVER, claims.ClaimCommandReply).response
    assert response.string("Result") == "Success"
    if request.string("Command") == "CA_RECONNECT_JOB":
        take_syscalls(script, SERVER)


def take_negotiation(script: Script) -> None:
    while script.more():
        side, body = script.peek()
        if side == CLIENT and Reader(body).integer() == Command.NEGOTIATE:
            script.take(CLIENT, negotiate.Negotiate, Command.NEGOTIATE)
            continue
        table = negotiate.FROM_NEGOTIATOR if side == CLIENT else negotiate.FROM_SCHEDD
        script.take(side, table[Reader(body).integer()])


def take_spool(script: Script) -> None:
    take_inline_authentication(script, Command.SPOOL_JOB_FILES_WITH_PERMS)
    jobs = script.take(CLIENT, queue_queries.SpoolJobFiles).jobs
    assert len(script.take(CLIENT, queue_queries.SpoolJobIds).ids) == jobs
    for _ in range(jobs):
        take_transfer(script, CLIENT, SERVER)
    assert script.take(SERVER, queue_queries.SpoolReply).code == 1


def take_transfer_data(script: Script) -> None:
    take_inline_authentication(script, Command.TRANSFER_DATA_WITH_PERMS)
    script.take(CLIENT, queue_queries.TransferData)
    for _ in range(script.take(SERVER, queue_queries.TransferDataCount).jobs):
        script.take(SERVER, queue_queries.TransferDataJob)
        take_transfer(script, SERVER, CLIENT)
    script.take_ints(CLIENT, 1)


def take_connect_info(script: Script) -> None:
    take_inline_authentication(script, Command.GET_JOB_CONNECT_INFO)
    script.take(CLIENT, queue_queries.GetJobConnectInfo)
    script.take(SERVER, queue_queries.GetJobConnectInfoReply)


def plain(command: Command, request: type[Message], reply: type[Message] | None = None) -> Any:
    """Make the script of a command with one request and at most one reply."""

    def take(script: Script) -> None:
        script.take(CLIENT, request, command)
        if reply is not None:
            script.take(SERVER, reply)
        assert not script.more()

    return take


def transfer_command(kind: type[Message], command: Command, up: str) -> Callable[[Script], None]:
    def take(script: Script) -> None:
        script.take(CLIENT, kind, command)
        take_transfer(script, up, SERVER if up == CLIENT else CLIENT)

    return take


C = Command
SCRIPTS: dict[int, Callable[[Script], None]] = {
    C.QMGMT_WRITE_CMD: take_qmgmt,
    C.ACT_ON_JOBS: take_act,
    C.QUERY_JOB_ADS: take_job_query,
    C.QUERY_SCHEDD_HISTORY: take_history(C.QUERY_SCHEDD_HISTORY),
    C.GET_HISTORY: take_history(C.GET_HISTORY),
    C.ACTIVATE_CLAIM: take_activation,
    C.CA_CMD: take_claim_command,
    C.NEGOTIATE: take_negotiation,
    C.SPOOL_JOB_FILES_WITH_PERMS: take_spool,
    C.TRANSFER_DATA_WITH_PERMS: take_transfer_data,
    C.GET_JOB_CONNECT_INFO: take_connect_info,
    C.FILETRANS_UPLOAD: transfer_command(
        filetransfer.FileTransferUpload, C.FILETRANS_UPLOAD, SERVER
    ),
    C.FILETRANS_DOWNLOAD: transfer_command(
        filetransfer.FileTransferDownload, C.FILETRANS_DOWNLOAD, CLIENT
    ),
    **{
        command: plain(command, request, reply)
        for command, request, reply in (
            (C.REQUEST_CLAIM, claims.RequestClaim, claims.RequestClaimReply),
            (C.SUSPEND_CLAIM, claims.SuspendClaim, None),
            (C.CONTINUE_CLAIM, claims.ContinueClaim, None),
            (C.RELEASE_CLAIM, claims.ReleaseClaim, None),
            (C.DEACTIVATE_CLAIM, claims.DeactivateClaim, claims.DeactivateClaimReply),
            (
                C.DEACTIVATE_CLAIM_FORCIBLY,
                claims.DeactivateClaimForcibly,
                claims.DeactivateClaimReply,
            ),
            (C.STARTER_VACATE_JOB, claims.StarterVacateJob, claims.StarterVacateJobReply),
            (C.DRAIN_JOBS, claims.DrainJobs, claims.DrainJobsReply),
            (C.CANCEL_DRAIN_JOBS, claims.CancelDrainJobs, claims.DrainJobsReply),
            (
                C.CREATE_JOB_OWNER_SEC_SESSION,
                queue_queries.CreateJobOwnerSession,
                queue_queries.CreateJobOwnerSessionReply,
            ),
            (C.RESCHEDULE, queue_queries.Reschedule, None),
            (C.UPDATE_SUBMITTOR_AD, collector.Update, None),
            (C.QUERY_ACCOUNTING_ADS, collector.Query, collector.QueryReply),
            (C.SET_PRIORITYFACTOR, accounting.SetUserReal, None),
            (C.SET_PRIORITY, accounting.SetUserReal, None),
            (C.SET_ACCUMUSAGE, accounting.SetUserReal, None),
            (C.SET_BEGINTIME, accounting.SetUserInteger, None),
            (C.SET_LASTTIME, accounting.SetUserInteger, None),
            (C.SET_CEILING, accounting.SetUserInteger, None),
            (C.SET_FLOOR, accounting.SetUserInteger, None),
            (C.RESET_USAGE, accounting.UserCommand, None),
            (C.DELETE_USER, accounting.UserCommand, None),
            (C.GET_RESLIST, accounting.UserCommand, accounting.AccountingReply),
            (C.RESET_ALL_USAGE, accounting.ResetAllUsage, None),
            (C.GET_PRIORITY, accounting.GetPriority, accounting.AccountingReply),
            (C.GET_PRIORITY_ROLLUP, accounting.GetPriority, accounting.AccountingReply),
        )
    },
}


def connections() -> Iterator[Any]:
    for path in FILES:
        for number, connection in enumerate(json.loads(path.read_text())["connections"]):
            first = Reader(payload(connection["messages"][0])).integer()
            yield pytest.param(connection, first, id=f"{path.stem}-{number}-{Command(first).name}")


@pytest.mark.parametrize(("connection", "command"), list(connections()))
def test_every_message_is_read_and_written_back(connection: dict[str, Any], command: int) -> None:
    script = Script(connection)
    SCRIPTS[command](script)
    assert not script.more()
    assert script.checked >= len(connection["messages"]) - 1


def test_all_files_are_there() -> None:
    assert len(FILES) == 35
