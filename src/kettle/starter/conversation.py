"""What is done and said about a job, in order, and what the short way spares of it.

There is one story. With a shadow that does not know the short way it is told whole; one that knows
it has said some of it in the ad of ACTIVATE_CLAIM, and hears the rest with two calls
(`wire.messages.short_way`, docs/decisions/0009-short-way.md). What is spared is a column of the
table, and three facts decide about it. Performing the turns is `service.py`'s up to the program's
begin, and `services/ending.py`'s after its end, where `exit_pipeline.py` has the steps around them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from kettle.classad import ClassAd
from kettle.wire.messages.short_way import NOTHING_TO_FETCH, SHORT_WAY


class Turn(Enum):
    """One turn of the story."""

    LEARN_JOB = "ask for the job's ad"
    SETTLE = "choose the account, make the sandbox"
    REGISTER = "say who runs the job, and get leave to set it up"
    FETCH_INPUT = "fetch the input files"
    WRITE_JOB_AD = "write the job's ad into the sandbox"
    ASK_ENVIRONMENT = "get leave to go on with the environment"
    AWAIT_DATE = "wait until the job may begin"
    SAY_BEGIN = "say that the program begins"
    SAY_EXITED = "say that the program has ended"
    SAY_FINAL = "send the last measurements"
    SEND_OUTPUT = "send the output files"
    TELL_STARTD = "tell the startd the last measurements"
    SAY_EXIT = "say how the job ended"


class Spared(Enum):
    """When a turn is not taken."""

    NEVER = "never"
    KNOWN = "where the shadow knows the short way"
    ONE_CALL_BEGINS = "where nothing is fetched or waited for either"
    ONE_CALL_ENDS = "where nothing is sent either"


class Row(NamedTuple):
    """A turn, when it is spared, and what stands for it then."""

    turn: Turn
    spared: Spared
    instead: str = ""


# fmt: off
TABLE = (
    Row(Turn.LEARN_JOB,       Spared.KNOWN,           "the ad of ACTIVATE_CLAIM is all of it"),
    Row(Turn.SETTLE,          Spared.NEVER),
    Row(Turn.REGISTER,        Spared.ONE_CALL_BEGINS, "SAY_BEGIN says who runs it; leave is given"),
    Row(Turn.FETCH_INPUT,     Spared.ONE_CALL_BEGINS, "there is none, as SAY_BEGIN says"),
    Row(Turn.WRITE_JOB_AD,    Spared.ONE_CALL_BEGINS, "SETTLE writes it with the other files"),
    Row(Turn.ASK_ENVIRONMENT, Spared.ONE_CALL_BEGINS, "leave is given"),
    Row(Turn.AWAIT_DATE,      Spared.ONE_CALL_BEGINS, "the job may begin at any time"),
    Row(Turn.SAY_BEGIN,       Spared.NEVER),
    Row(Turn.SAY_EXITED,      Spared.KNOWN,           "SAY_EXIT follows soon"),
    Row(Turn.SAY_FINAL,       Spared.ONE_CALL_ENDS,   "SAY_EXIT brings them"),
    Row(Turn.SEND_OUTPUT,     Spared.ONE_CALL_ENDS,   "there is none, as SAY_EXIT says"),
    Row(Turn.TELL_STARTD,     Spared.ONE_CALL_ENDS,   "the word that the job is gone brings them"),
    Row(Turn.SAY_EXIT,        Spared.NEVER),
)
# fmt: on
_SPARED = {row.turn: row.spared for row in TABLE}
# What comes before the launch is planned.
PREPARING = tuple(row.turn for row in TABLE)[: list(_SPARED).index(Turn.SAY_BEGIN)]


class Way:
    """How much of the story one job needs, as far as that is decided."""

    def __init__(self, activation: ClassAd) -> None:
        """`activation` is the job's ad as it came with ACTIVATE_CLAIM."""
        # Another shadow may come back for the job, which then says it anew.
        self.known = activation.boolean(SHORT_WAY) is True
        self._nothing_to_fetch = activation.boolean(NOTHING_TO_FETCH) is True
        self.one_call_begins = False
        self.one_call_ends = False

    def decide_begin(self, job: ClassAd, *, transfers: bool) -> None:
        """Decide whether one call is enough until the program runs."""
        fetches = transfers and not self._nothing_to_fetch
        deferred = job.lookup("DeferralTime") is not None
        self.one_call_begins = self.known and not fetches and not deferred

    def decide_end(self, has_output: Callable[[], bool]) -> None:
        """Decide, for a job that ended by itself, whether one call is enough until it is over."""
        self.one_call_ends = self.known and not has_output()

    def spares(self, turn: Turn) -> bool:
        """Whether this turn is not taken."""
        match _SPARED[turn]:
            case Spared.NEVER:
                return False
            case Spared.KNOWN:
                return self.known
            case Spared.ONE_CALL_BEGINS:
                return self.one_call_begins
            case Spared.ONE_CALL_ENDS:
                return self.one_call_ends
