"""Words of a file transfer: the two commands, and what the uploader and the downloader say.

The order of the words, go-ahead and acks are a machine in `transfer`; file bodies travel outside
packets on clear connections and as one message per chunk on encrypted ones. Source: wire notes,
File transfer.
"""

from __future__ import annotations

from enum import IntEnum

from kettle.classad import ClassAd
from kettle.wire.commands import Command
from kettle.wire.messages.fields import Message, ad, boolean, integer, optional, secret, string

CHUNK = 262144
"""Bytes of a file per message on an encrypted connection; announced with the file's size."""
EMPTY_FILE_MARK = 666
"""Follows the size message of an empty file, in a message of its own."""
MISSING_FILE_MODE = 1 << 24
"""Mode of a file that could not be opened; an empty file and a failing ack follow."""
MAXIMUM_FILE = 1 << 50


class FileTransferUpload(Message, command=Command.FILETRANS_UPLOAD):
    """The peer wants to receive the files of this transfer key; unknown key: int 0, closed."""

    transfer_key: str = secret()


class FileTransferDownload(Message, command=Command.FILETRANS_DOWNLOAD):
    """The peer wants to send the files of this transfer key; unknown key: int 0, closed."""

    transfer_key: str = secret()


class UploadHeader(Message):
    """Uploader's first message: {SandboxSize}; `final` for the output at a job's end."""

    final: bool = boolean()
    details: ClassAd = ad()


class TransferCommand(IntEnum):
    """What the next item is."""

    FINISHED = 0
    FILE = 1
    ENCRYPTED_FILE = 2
    CLEAR_FILE = 3
    PROXY = 4
    URL = 5
    DIRECTORY = 6
    OTHER = 999


class TransferSubCommand(IntEnum):
    """SubCommand of an OTHER item's ad."""

    UPLOAD_URL = 7
    REUSE_INFORMATION = 8
    SIGN_URLS = 9


class ItemCommand(Message):
    """What the next item is, see TransferCommand."""

    code: int = integer()


class ItemName(Message):
    """The item's name inside the sandbox, `/` separated."""

    name: str = string()


class ItemMode(Message):
    """Permission bits of a file, or st_mode of a directory."""

    mode: int = integer()


class ItemUrl(Message):
    """The URL that the downloader fetches."""

    url: str = string()


class ItemDetails(Message):
    """The ad of an OTHER item: {ProtocolVersion, Command, SubCommand, ...}."""

    details: ClassAd = ad(private=True)


class FileSize(Message):
    """Size of the file body in bytes; the chunk size only on an encrypted connection."""

    size: int = integer()
    chunk: int | None = optional(integer())


class EmptyFile(Message):
    """EMPTY_FILE_MARK, after the size of an empty file."""

    mark: int = integer(default=EMPTY_FILE_MARK)


class AliveInterval(Message):
    """How often the sender of this wants to hear something while it waits for a go-ahead."""

    seconds: int = integer()


class GoAheadResult(IntEnum):
    """Result of a go-ahead ad; refusals are negative."""

    REFUSED = -1
    PENDING = 0
    ONCE = 1
    ALWAYS = 2


class GoAhead(Message):
    """{Result, [MaxTransferBytes, Timeout, TryAgain, HoldReason...]}; repeated while pending."""

    answer: ClassAd = ad()


class TransferAck(Message):
    """{Result 0 success, 1 try again, -1 hold; HoldReason..., TransferStats}; one each way."""

    result: ClassAd = ad()


class TransferQueueRequest(Message, command=Command.TRANSFER_QUEUE_REQUEST):
    """{Downloading, FileName, JobId, User, SandboxSize}; the connection is held meanwhile."""

    request: ClassAd = ad()


class TransferQueueReply(Message, answers=Command.TRANSFER_QUEUE_REQUEST):
    """{Result 1 go or 0 no, ErrorString, ReportInterval}."""

    answer: ClassAd = ad()


class TransferQueueReport(Message):
    """Time, seconds, bytes and microseconds as one line of text; empty when finished."""

    text: str = string()
