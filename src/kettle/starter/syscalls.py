"""The starter's calls to its shadow, as dialogs over the syscall socket.

One call at a time: number and arguments, then the reply (wire notes, Shadow and starter).
What the answers mean for the job is decided by the callers; the table of calls is
`wire.messages.syscalls`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.wire.codec import Reader
from kettle.wire.dialog import Dialog, Receive, Send
from kettle.wire.messages import syscalls
from kettle.wire.messages.rpc import Call, RepeatedCall, Reply, Shape

# Limit: how long a shadow may take for one call; a file server of its own may be slow.
CALL_SECONDS = 300.0


def invoke(call: Call | RepeatedCall) -> Dialog[Reply]:
    """Make one call and return its reply; ConnectionLost if the shadow is gone."""
    yield Send(call)
    if call.reply is Shape.NOTHING:
        return Reply(Shape.NOTHING)
    reader: Reader = yield Receive(CALL_SECONDS)
    return call.read_answer(reader)


def must(call: Call | RepeatedCall) -> Dialog[Reply]:
    """Make a call that has to succeed; RefusedError with the errno where it does not."""
    reply = yield from invoke(call)
    if reply.value < 0:
        name = type(call.call if isinstance(call, RepeatedCall) else call).__name__
        raise RefusedError(f"the shadow refused {name}: errno {reply.errno}", code=reply.errno)
    return reply


def get_job_info() -> Dialog[ClassAd]:
    """Return the job ad with the shadow's additions."""
    reply = yield from must(syscalls.GetJobInfo())
    ad: ClassAd = reply.result
    return ad


def guidance_ad(request_type: str, extra: Mapping[str, object] | None = None) -> Dialog[ClassAd]:
    """Ask what to do next and return the whole answer; an error of the shadow is CarryOn."""
    request = ClassAd({**(extra or {}), "RequestType": request_type})
    reply = yield from invoke(syscalls.RequestGuidance(request))
    if reply.value != 0 or reply.result is None:
        return ClassAd({"Command": "CarryOn"})
    ad: ClassAd = reply.result
    return ad


def transfer_session(reconnect_info: str, transfer_info: str) -> Dialog[list[str]]:
    """Get the sessions for reconnecting and for file transfer: id, info, key of each."""
    reply = yield from must(syscalls.GetSecSessionInfo(reconnect_info, transfer_info))
    strings: list[str] = reply.result
    if len(strings) != 6:
        raise RefusedError("the shadow sent no sessions for reconnecting and file transfer")
    return strings


# Flags of open() travel in the reference's own numbering, not the kernel's.
WIRE_FLAGS = {
    os.O_WRONLY: 0x0001,
    os.O_RDWR: 0x0002,
    os.O_APPEND: 0x1000,
    os.O_CREAT: 0x0100,
    os.O_TRUNC: 0x0200,
    os.O_EXCL: 0x0400,
    os.O_NOCTTY: 0x0800,
}


def wire_flags(flags: int) -> int:
    """Return open() flags as they travel, for those of this system."""
    return sum(there for here, there in WIRE_FLAGS.items() if flags & here == here)
