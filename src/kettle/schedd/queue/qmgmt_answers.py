"""What becomes of one request of queue management: the reply, the wait for the disk, the end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from kettle.schedd.queue.job_ids import JobId
from kettle.wire.dialog import Message
from kettle.wire.messages.qmgmt import SetAttributeFlags
from kettle.wire.messages.rpc import Reply, Shape

# Bodies composed for a connection (encrypted or not), each with whether the message ends there.
Parts = Callable[[bool], Iterator[tuple[bytes, bool]]]
# Work that stops now and then for others; what it returns is the answer.
Steps = Generator[None, None, "Answer"]


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """An attribute of a queued job that was set; `old` is the expression it had, if any."""

    job: JobId
    name: str
    value: str
    old: str | None


@dataclass(slots=True)
class Answer:
    """What becomes of a request.

    `reply` is the message to send (None: nothing), `parts` one that is composed piece by piece.
    `steps` is work that goes on for long; its result is the answer. `durable` means it waits until
    the journal is on disk; the jobs' logs are told then what was `logged`. `close` ends the
    connection after it.
    """

    reply: Message | None = None
    parts: Parts | None = None
    steps: Steps | None = None
    durable: bool = False
    logged: Sequence[LoggedChange] = ()
    close: bool = False


# Of a call that has none.
NO_FLAGS = SetAttributeFlags(0)
SILENCE = Answer()
CLOSE = Answer(close=True)


def code(value: int, error: int = 0) -> Answer:
    """Answer a result, and why it is negative."""
    return Answer(Reply(Shape.VALUE, value, errno=error))
