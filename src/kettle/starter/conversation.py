"""What is done and said about a job, in order, and what the short way spares of it.

There is one story. With a shadow that does not know the short way it is told whole; one that knows
it has said some of it in the ad of ACTIVATE_CLAIM, and hears the rest with two calls
(`wire.messages.short_way`, docs/decisions/0009-short-way.md). What is spared is a column of the
table, and three facts decide about it. Performing the turns is `service.py`'s up to the program's
begin, and `services/ending.py`'s after its end, where `exit_pipeline.py` has the steps around them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum

from kettle.classad import ClassAd
from kettle.named_tuples import NamedTuple
from kettle.wire.messages.short_way import NOTHING_TO_FETCH, SHORT_WAY


class Turn(IntEnum):
    """One turn of the story; the table says what it is."""

    LEARN_JOB = 0
    SETTLE = 1
    REGISTER = 2
    FETCH_INPUT = 3
    WRITE_JOB_AD = 4
    ASK_ENVIRONMENT = 5
    AWAIT_DATE = 6
    SAY_BEGIN = 7
    SAY_EXITED = 8
    SAY_FINAL = 9
    SEND_OUTPUT = 10
    TELL_STARTD = 11
    SAY_EXIT = 12


class Spared(IntEnum):
    """When a turn is not taken."""

    NEVER = 0
    # The shadow knows the short way.
    KNOWN = 1
    # Nothing is fetched or waited for either.
    ONE_CALL_BEGINS = 2
    # Nothing is sent either.
    ONE_CALL_ENDS = 3


class Row(NamedTuple):
    """A turn, when it is spared, what is done in it, and what stands for it where it is spared."""

    turn: Turn
    spared: Spared
    what: str
    instead: str = ""


T, S = Turn, Spared
# fmt: off
TABLE = (
    Row(T.LEARN_JOB,       S.KNOWN,           "ask for the job's ad",
        "the ad of ACTIVATE_CLAIM is all of it"),
    Row(T.SETTLE,          S.NEVER,           "choose the account, make the sandbox"),
    Row(T.REGISTER,        S.ONE_CALL_BEGINS, "say who runs the job, and get leave to set it up",
        "SAY_BEGIN says who; leave is given"),
    Row(T.FETCH_INPUT,     S.ONE_CALL_BEGINS, "fetch the input files",
        "there are none, as SAY_BEGIN says"),
    Row(T.WRITE_JOB_AD,    S.ONE_CALL_BEGINS, "write the job's ad into the sandbox",
        "SETTLE writes it with the other files"),
    Row(T.ASK_ENVIRONMENT, S.ONE_CALL_BEGINS, "get leave to go on with the environment",
        "leave is given"),
    Row(T.AWAIT_DATE,      S.ONE_CALL_BEGINS, "wait until the job may begin",
        "it may at any time"),
    Row(T.SAY_BEGIN,       S.NEVER,           "say that the program begins"),
    Row(T.SAY_EXITED,      S.KNOWN,           "say that the program has ended",
        "SAY_EXIT follows soon"),
    Row(T.SAY_FINAL,       S.ONE_CALL_ENDS,   "send the last measurements",
        "SAY_EXIT brings them"),
    Row(T.SEND_OUTPUT,     S.ONE_CALL_ENDS,   "send the output files",
        "there are none, as SAY_EXIT says"),
    Row(T.TELL_STARTD,     S.ONE_CALL_ENDS,   "tell the startd the last measurements",
        "the word that the job is gone brings them"),
    Row(T.SAY_EXIT,        S.NEVER,           "say how the job ended"),
)
# fmt: on
# By which of the three facts hold (1, 2 and 4 added up), whether each turn is spared: worked out
# once, because a short job is over soon.
_WITH = tuple(
    tuple(bool(row.spared and facts & (1 << (row.spared - 1))) for row in TABLE)
    for facts in range(8)
)
# What comes before the launch is planned.
PREPARING = tuple(Turn)[: Turn.SAY_BEGIN]


class Way:
    """How much of the story one job needs, as far as that is decided."""

    def __init__(self, activation: ClassAd) -> None:
        """`activation` is the job's ad as it came with ACTIVATE_CLAIM."""
        self._known = activation.boolean(SHORT_WAY) is True
        self._nothing_to_fetch = activation.boolean(NOTHING_TO_FETCH) is True
        # Whether SAY_BEGIN, and SAY_EXIT, says what others would have said before.
        self.one_call_begins = self.one_call_ends = False
        self._spared = _WITH[self._known]

    def note_shadow(self, *, knows: bool) -> None:
        """Another shadow has come back for the job: it may know the short way or not."""
        self._known = knows
        self._sum_up()

    def decide_begin(self, job: ClassAd, *, transfers: bool) -> None:
        """Decide whether one call is enough until the program runs."""
        if self._known and (self._nothing_to_fetch or not transfers):
            self.one_call_begins = job.lookup("DeferralTime") is None
            self._sum_up()

    def decide_end(self, has_output: Callable[[], bool]) -> None:
        """Decide, for a job that ended by itself, whether one call is enough until it is over."""
        self.one_call_ends = self._known and not has_output()
        self._sum_up()

    def _sum_up(self) -> None:
        self._spared = _WITH[self._known + 2 * self.one_call_begins + 4 * self.one_call_ends]

    def spares(self, turn: Turn) -> bool:
        """Whether this turn is not taken."""
        return self._spared[turn]

    def still_to_take(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Yield those of the turns that are not spared; each is decided when it is its turn."""
        for turn in turns:
            if not self._spared[turn]:
                yield turn
