"""Commands that every daemon answers, the master's own, tokens, and file bodies of a log.

What they do is the daemons'. Source: wire notes, DaemonCore generic commands.
"""

from __future__ import annotations

from enum import IntEnum

from kettle.classad import ClassAd
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages.fields import (
    Message,
    ad,
    boolean,
    fixed_bytes,
    integer,
    nullable,
    optional,
    real,
    rest_ads,
    rest_strings,
    string,
)


class Nothing(Message, command=Command.DC_NOP):
    """A command without arguments: DC_NOP and its kin, reconfigure, shut down, reschedule."""


class RaiseSignal(Message, command=Command.DC_RAISESIGNAL):
    """A system signal's number, or a DaemonSignal."""

    number: int = integer()


class ConfigValue(Message, command=Command.CONFIG_VAL):
    """Ask for one configuration name; also the content of DC_CONFIG_VAL."""

    name: str = string()


class ConfigValueReply(Message, answers=Command.CONFIG_VAL):
    """The value, or NOT_DEFINED."""

    value: str | None = nullable()


NOT_DEFINED = "Not defined"


class DaemonConfigValueReply(Message, answers=Command.DC_CONFIG_VAL):
    """Value, `NAME = raw text`, source, default, use; a single null where it is not defined.

    For `?names` and the other special names: any number of strings.
    """

    strings: list[str | None] = rest_strings()


class SetConfig(Message, command=Command.DC_CONFIG_RUNTIME):
    """Set a name until restart, or with DC_CONFIG_PERSIST until unset; `setting` empty unsets."""

    name: str = string()
    setting: str = string()


class SetConfigReply(Message, answers=Command.DC_CONFIG_RUNTIME):
    """0 set, negative refused."""

    code: int = integer()


class LogKind(IntEnum):
    """What DC_FETCH_LOG is for."""

    PLAIN = 0
    HISTORY = 1
    HISTORY_DIRECTORY = 2
    PURGE = 3


class LogResult(IntEnum):
    """Result of DC_FETCH_LOG."""

    OK = 0
    NO_NAME = 1
    CANNOT_OPEN = 2
    BAD_KIND = 3


class FetchLog(Message, command=Command.DC_FETCH_LOG):
    """A LogKind and a name: the part of a knob before `_LOG`, or an extension after a dot."""

    kind: int = integer()
    name: str = string()


class FetchLogReply(Message, answers=Command.DC_FETCH_LOG):
    """A LogResult; if it is OK, the size of the file body that follows, as FileSize."""

    result: int = integer()
    size: int | None = optional(integer())
    chunk: int | None = optional(integer())


class PurgeLog(Message, command=Command.DC_PURGE_LOG):
    """Remove per-job history files older than this time."""

    cutoff: int = integer()


class PurgeLogReply(Message, answers=Command.DC_PURGE_LOG):
    """0 there is no such directory, 1 done."""

    code: int = integer()


class QueryInstanceReply(Message, answers=Command.DC_QUERY_INSTANCE):
    """The random id of this daemon's life, in hexadecimal characters."""

    instance: bytes = fixed_bytes(16)


class TimeOffset(Message, command=Command.DC_TIME_OFFSET):
    """Four clocks; the reply, to a message whose `local_arrive` is not 0, has the same form."""

    local_depart: int = integer()
    remote_arrive: int = integer()
    remote_depart: int = integer()
    local_arrive: int = integer()


class ChildAlive(Message, command=Command.DC_CHILDALIVE):
    """A child's pid, after how many seconds of silence it hangs, and how long it waits for logs."""

    pid: int = integer()
    hang_seconds: int = integer()
    lock_delay: float | None = optional(real())


class SetReady(Message, command=Command.DC_SET_READY):
    """{DaemonName, DaemonPID, DaemonState = "Ready"}."""

    state: ClassAd = ad()


class QueryReady(Message, command=Command.DC_QUERY_READY):
    """{[WaitTimeout], [ReadyRequirements], [WantAddrs]}: answered once that holds or time is up."""

    request: ClassAd = ad()


class QueryReadyReply(Message, answers=Command.DC_QUERY_READY):
    """The state of every daemon."""

    states: ClassAd = ad()


class SecurityQueryReply(Message, answers=Command.DC_SEC_QUERY):
    """{AuthorizationSucceeded, [AuthToken...]}."""

    answer: ClassAd = ad()


class SubsystemCommand(Message, command=Command.DAEMON_OFF):
    """To a master: the lower-case name of one daemon to start or stop."""

    subsystem: str = string()


class SetShutdownProgram(Message, command=Command.SET_SHUTDOWN_PROGRAM):
    """To a master: the name of the program to run when it has shut down."""

    program: str = string()


class DaemonsOffFlex(Message, command=Command.DAEMONS_OFF_FLEX):
    """To a master: {which daemons, how}."""

    request: ClassAd = ad()


class DaemonsOffFlexReply(Message, answers=Command.DAEMONS_OFF_FLEX):
    """{Result, ...}."""

    response: ClassAd = ad()


class TokenRequest(Message, command=Command.DC_GET_SESSION_TOKEN):
    """The content of every token command; see `TOKEN_COMMANDS` for the attributes."""

    request: ClassAd = ad()


class TokenReply(Message, answers=Command.DC_GET_SESSION_TOKEN):
    """{Token}, {RequestId}, {ErrorCode, ErrorString}; a listing is several of these messages."""

    response: ClassAd = ad(private=True)


TOKEN_COMMANDS: dict[Command, tuple[str, ...]] = {
    Command.DC_GET_SESSION_TOKEN: ("LimitAuthorization", "TokenLifetime", "RequestedKey"),
    Command.DC_START_TOKEN_REQUEST: ("ClientId", "User", "LimitAuthorization", "TokenLifetime"),
    Command.DC_FINISH_TOKEN_REQUEST: ("ClientId", "RequestId"),
    Command.DC_LIST_TOKEN_REQUEST: ("RequestId",),
    Command.DC_APPROVE_TOKEN_REQUEST: ("ClientId", "RequestId"),
    Command.DC_AUTO_APPROVE_TOKEN_REQUEST: ("Subnet", "Lifetime"),
    Command.DC_EXCHANGE_SCITOKEN: ("Token",),
}
"""The attributes of each token command's request."""


class DirectAttach(Message, command=Command.DIRECT_ATTACH):
    """{NumAds, Submitter, ...} and so many slots, each with its claim id."""

    details: ClassAd = ad(private=True)
    slots: list[tuple[str, ClassAd]] = rest_ads()

    def write_fields(self, writer: Writer) -> None:
        """Append the ad and the slots."""
        writer.ad(self.details, private=True)
        for claim_id, slot in self.slots:
            writer.secret(claim_id).ad(slot)

    @classmethod
    def read(cls, reader: Reader, *, finish: bool = True) -> DirectAttach:
        """Read the ad, then slots until the message ends."""
        details = reader.ad()
        slots = []
        while reader.remaining:
            slots.append((reader.secret(), reader.ad()))
        if finish:
            reader.finish()
        return cls(details, slots)


class DirectAttachReply(Message, answers=Command.DIRECT_ATTACH):
    """{ActionResult}."""

    response: ClassAd = ad()


class DaemonShutdown(IntEnum):
    """How a daemon is asked to shut down, by command."""

    GRACEFUL = Command.DC_OFF_GRACEFUL
    FAST = Command.DC_OFF_FAST
    PEACEFUL = Command.DC_OFF_PEACEFUL
    FORCE = Command.DC_OFF_FORCE


class GoAheadWord(Message):
    """A single integer, as several commands use it for yes and no."""

    yes: bool = boolean()


class Request(Message):
    """An ad, as most commands of one ad and one reply have it."""

    ad: ClassAd = ad()


class PrivateRequest(Message):
    """An ad with its secrets."""

    ad: ClassAd = ad(private=True)
