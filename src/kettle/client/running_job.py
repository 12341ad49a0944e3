"""A running job from outside: where its starter is, what its files hold, a shell beside it.

The schedd says where the starter of a job is and gives a session with it; that session is then used
for STARTER_PEEK and START_SSHD. Source: wire notes, GET_JOB_CONNECT_INFO (S001–S003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.daemon import receive_file
from kettle.client.stream import BlockingStream
from kettle.errors import RefusedError
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import (
    GetJobConnectInfo,
    StarterPeek,
    StartSshd,
)
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.sinful import Sinful

SESSION_INFO = '[Encryption="YES";Integrity="YES";]'
# How long each answer may take, of whoever has accepted the question.
ANSWER_SECONDS = 60.0
# A refusal with this code is worth asking again soon.
RETRY = 1


@dataclass(frozen=True)
class StarterAccess:
    """The way to the starter of a job."""

    address: Sinful
    claim: ClaimId
    remote_host: str


def find_starter(connector: Connector, schedd: Sinful, cluster: int, proc: int) -> StarterAccess:
    """Ask the schedd for the way to a job's starter.

    Raises RefusedError; with the code RETRY where the job may come to run soon.
    """
    request = ClassAd({"ClusterId": cluster, "ProcId": proc, "SessionInfo": SESSION_INFO})
    command = Command.GET_JOB_CONNECT_INFO
    with connector.connect(
        schedd, command, timeout=ANSWER_SECONDS, force_authentication=True
    ) as stream:
        stream.send(GetJobConnectInfo(request))
        answer = stream.receive().ad()
    _check(answer)
    address, claim = answer.string("StarterIpAddr"), answer.string("ClaimId")
    if not address or not claim:
        raise RefusedError("the schedd did not say where the job's starter is")
    return StarterAccess(Sinful.parse(address), ClaimId(claim), answer.string("RemoteHost") or "")


def _check(answer: ClassAd) -> None:
    if answer.boolean("Result"):
        return
    reason = answer.string("HoldReason")
    text = answer.string("ErrorString") or "the job cannot be reached"
    if reason:
        text = say_held(reason)
    raise RefusedError(text, code=RETRY if answer.boolean("Retry") else 0)


def say_held(reason: str) -> str:
    """Return what is said of a job that is not running because it is held."""
    return f'The job is on hold: "{reason}".'


@dataclass
class Wanted:
    """A file to look at: its name, or the number of a standard stream, and how much is known."""

    name: int | str
    offset: int = -1


def peek(
    connector: Connector, starter: StarterAccess, wanted: Sequence[Wanted], most: int
) -> list[tuple[int | str, bytes]]:
    """Return what is new in the wanted files, `most` bytes of all at most; moves their offsets on.

    Raises RefusedError, also for a starter that sends more, or says what makes no sense.
    """
    known = {each.name: each for each in wanted}
    found: list[tuple[int | str, bytes]] = []
    with connector.connect(
        starter.address, Command.STARTER_PEEK, session=starter.claim, timeout=ANSWER_SECONDS
    ) as stream:
        stream.send(StarterPeek(_look_request(wanted, most)))
        answer = stream.receive().ad()
        _check(answer)
        for label, offset in _announced(answer):
            data = _receive_piece(stream, most)
            most -= len(data)
            found.append((label, data))
            if label in known:
                known[label].offset = offset + len(data)
        if stream.receive().integer() != len(found):
            raise RefusedError("the starter did not send all files")
    return found


def _look_request(wanted: Sequence[Wanted], most: int) -> ClassAd:
    request = ClassAd({"MaxTransferBytes": most})
    files = [each for each in wanted if isinstance(each.name, str)]
    for each in wanted:
        if isinstance(each.name, int):
            word = "Err" if each.name else "Out"
            request[word] = True
            request[f"{word}Offset"] = each.offset
    if files:
        request["TransferFiles"] = [each.name for each in files]
        request["TransferOffsets"] = [each.offset for each in files]
    return request


def _announced(answer: ClassAd) -> list[tuple[int | str, int]]:
    """Return which files come, and from where on, as the starter says."""
    labels, offsets = answer.evaluate("TransferFiles"), answer.evaluate("TransferOffsets")
    if not isinstance(labels, list) or not isinstance(offsets, list) or len(labels) != len(offsets):
        raise RefusedError("the starter did not say which files it sends")
    announced = []
    for label, offset in zip(labels, offsets, strict=True):
        if not isinstance(label, (int, str)) or not isinstance(offset, int):
            raise RefusedError("the starter did not say which files it sends")
        announced.append((label, offset))
    return announced


def _receive_piece(stream: BlockingStream, most: int) -> bytes:
    size = stream.receive().integer()
    if size > most:
        raise RefusedError(f"the starter sends {size} bytes where {most} are left to send")
    return b"".join(receive_file(stream, size))


@dataclass
class Shell:
    """A shell server that waits on a connection, and the keys for it."""

    stream: BlockingStream
    remote_user: str
    server_key: str
    client_key: str


def start_shell(connector: Connector, starter: StarterAccess, shells: str = "") -> Shell:
    """Have the starter run a shell server on a connection of ours; RefusedError if it does not."""
    request = ClassAd({"Shell": shells} if shells else {})
    stream = connector.connect(
        starter.address, Command.START_SSHD, session=starter.claim, timeout=ANSWER_SECONDS
    )
    try:
        stream.send(StartSshd(request))
        answer = stream.receive().ad()
        _check(answer)
    except BaseException:
        stream.close()
        raise
    return Shell(
        stream,
        answer.string("RemoteUser") or "",
        answer.string("SSHPublicServerKey") or "",
        answer.string("SSHPrivateClientKey") or "",
    )
