"""Which words of a `condor_q` command line exclude each other, and what is said of them.

Sentences and their order are the reference's: some are said as soon as the second word is met,
others when all words are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kettle.errors import UsageError
from kettle.tools.printing.columns import ADDED_TO_NONE, complain_of_added

if TYPE_CHECKING:
    from kettle.tools.queue.wish import Wish

# Compat: what the reference adds for those who do not say -expert is added in our own words, after
# an empty line on stdout as there (test_small_words).
POOL_ADVICE = "Extra Info: -pool takes the host of a pool's collector, as HOST or HOST:PORT."
NAME_ADVICE = (
    "Extra Info: -name takes the name of a schedd, which is a host or NAME@HOST; "
    "condor_status -schedd lists them."
)
_FACTORY_WORDS = ("clusters_only", "late_materialize")
# The first of these that was said is named.
_GROUPED = ("group-by", "jobset", "autocluster")
_TWO_PLACES = "Cannot query both schedd's and submitters"
_TWO_PLACES_ADVICE = (
    "Extra Info: -name asks one schedd, -submitter every schedd of the pool that has jobs of that "
    "user; say one of them."
)


class AdvisedError(UsageError):
    """A wrong command line with something to add for those who are no experts."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


class UsageAskedError(UsageError):
    """A wrong command line below which the usage stands."""


def check_wish(wish: Wish) -> None:
    """Raise UsageError for options that exclude each other."""
    _check_unmatchable(wish)
    _check_groups(wish)
    batches = wish.batch_is_default if wish.batch is None else wish.batch
    if wish.batch and wish.columns_named:
        raise UsageError("Error: -batch conflicts with -format and -af")
    whole = wish.form and not wish.print_format
    if wish.added and (wish.columns or whole or wish.analyses):
        raise UsageError(ADDED_TO_NONE)
    if wish.added and batches and not _has_rows(wish):
        raise UsageError(
            "Error: -aaf cannot be used with -batch mode output (the default), "
            "did you intend to use -af ?"
        )
    check_added(wish.added)


def _has_rows(wish: Wish) -> bool:
    """Whether what is shown has rows of another kind than batches, to which columns are added."""
    apart = {"unmatchable", "factory", "jobset", "autocluster"}
    if wish.batch is None:
        apart.add("totals")
    return bool(wish.flags & apart or wish.modes - {"dag"} or wish.print_format)


def _check_unmatchable(wish: Wish) -> None:
    if "unmatchable" not in wish.flags or wish.analyses:
        return
    if wish.batch is not None:
        raise UsageError("Error: -batch conflicts with -unmatchable")
    if wish.grouped:
        raise UsageError("Error: -autocluster conflicts with -unmatchable")


def _check_groups(wish: Wish) -> None:
    if not wish.grouped or wish.batch is None or wish.form:
        return
    if wish.batch or "jobset" in wish.flags:
        shown = next(each for each in _GROUPED if each in wish.flags)
        raise UsageError(f"Error: -batch conflicts with -{shown}")


def check_added(added: Sequence[tuple[str, str]]) -> None:
    """Raise UsageError for qualifiers that `-aaf` does not have."""
    for qualifiers, _ in added:
        wrong = complain_of_added(qualifiers, "V,r,T, or Y")
        if wrong:
            raise UsageError(wrong)


def check_factory(qualifiers: str) -> None:
    """Raise for a word behind `-factory:` that is the beginning of none."""
    for word in filter(None, qualifiers.split(",")):
        if not any(each.startswith(word) for each in _FACTORY_WORDS):
            raise UsageError(f"Error: unknown option {word} for -factory")


def check_run_time(wish: Wish, name: str) -> None:
    """Raise if the time of this run or of all runs was asked for before, even the same."""
    names = ("currentrun", "cumulative-time")
    if wish.flags & set(names):
        other = names[1 - names.index(name)]
        raise UsageError(f"Error: -{name} can't be used with -{other}")


def check_stream(wish: Wish, name: str) -> None:
    """Raise, and show the usage, where jobs are to be shown as they come and in batches."""
    if name not in {"stream-results", "batch", "dag"} or "stream-results" not in wish.flags:
        return
    if name != "stream-results":
        raise UsageAskedError(f"-stream-results and -{name} are incompatible")
    if wish.batch or "dag" in wish.modes:
        raise UsageAskedError("-stream-results and -dag or -batch are incompatible")


def check_modes(wish: Wish, name: str) -> None:
    """Raise what the reference says of jobs that are meant to be in two states at once."""
    held = {"hold", "hold-codes"}
    states = {"hold" if mode in held else mode for mode in wish.modes & {"run", "idle", *held}}
    if name in {"run", "idle", *held} and len(states) > 1:
        if name == "hold-codes":
            raise UsageAskedError("-hold-codes incompatible with -idle or -run")
        raise UsageAskedError("-run and -hold/held or -idle are incompatible")


def check_place(wish: Wish, name: str) -> None:
    """Raise if both a schedd and a submitter are named; `name` is the option met now."""
    others = {"name", "address"} & wish.reach.keys() if name == "submitter" else wish.submitter
    if not others:
        return
    # Of an address that comes second nothing more is said.
    if name == "address":
        raise UsageError(_TWO_PLACES)
    if "expert" in wish.flags:
        raise UsageError(_TWO_PLACES)
    raise AdvisedError(_TWO_PLACES, _TWO_PLACES_ADVICE)
