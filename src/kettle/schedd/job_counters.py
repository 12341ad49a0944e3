"""What is counted of jobs: for all of a schedd's, for one owner's, or for any other set of them.

The ad of a submitter has its owner's figures. SCHEDD_COLLECT_STATS_BY_<Name> is an expression of
jobs whose every value is a set of its own, SCHEDD_COLLECT_STATS_FOR_<Name> one that is true of the
jobs of one set; the schedd's ad has theirs with the set's name before that of each figure.
Pure: events and the clock in, attributes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kettle.classad import ERROR, UNDEFINED, ClassAd, Expr, Value
from kettle.config.store import Config
from kettle.schedd.run_counts import Counted
from kettle.statistics.counters import Counters, Kind, Row
from kettle.statistics.histograms import (
    RUNTIME_LIMITS,
    SIZE_LIMITS,
    Histogram,
    parse_limits,
)
from kettle.statistics.publication import SCHEDD

_RUNTIME_LIMITS, _SIZE_LIMITS = parse_limits(RUNTIME_LIMITS), parse_limits(SIZE_LIMITS)
_WEEK = 7 * 24 * 3600
# Limit: sets of one schedd: jobs say by what values they are counted, and each set is some
# kilobytes here. One of a rule is some hundred attributes in the schedd's ad, of which a collector
# takes 20,000; one of an owner is in his own.
MOST_SETS = 1000
MOST_RULE_SETS = 100
# Limit: letters of a value in the names of attributes.
_LONGEST_VALUE = 256
# What sets have no figures of, below the highest level.
_OF_ALL_ALONE = frozenset(("JobsAccumChurnTime", "JobsAccumExecuteAltTime", "JobsWierdTimestamps"))

JOB_ROWS = (
    Row("JobsStarted", "Jobs that were started for the first time."),
    Row("JobsExited", "Runs that ended, however."),
    Row("JobsCompleted", "Jobs that ended by themselves and are done."),
    Row("JobsExitedNormally", "Runs whose job ended by itself."),
    Row("JobsKilled", "Runs whose job was held or removed meanwhile."),
    Row("JobsExitException", "Runs whose shadow failed."),
    Row("JobsExecFailed", "Runs whose program could not be executed."),
    Row("JobsCheckpointed", "Runs that left a checkpoint and went."),
    Row("JobsShouldRequeue", "Runs after which the job waits again."),
    Row("JobsShouldRemove", "Runs after which the job is to be removed."),
    Row("JobsShouldHold", "Runs after which the job goes on hold."),
    Row("JobsCoredumped", "Runs that a signal ended with a core file."),
    Row("JobsNotStarted", "Runs that never came to start their job."),
    Row("JobsMissedDeferralTime", "Runs that came after the time their job was to start."),
    Row("JobsExitedAndClaimClosing", "Runs that ended by themselves on a claim that closes."),
    Row("JobsDebugLogError", "Runs whose shadow could not write its log."),
    Row("JobsShadowNoMemory", "Runs for which there was no memory."),
    Row("JobsCoolDown", "Jobs that wait a while after a failure."),
    Row("JobsWierdTimestamps", "Runs whose moments contradict each other."),
    Row("JobsAccumTimeToStart", "Seconds that jobs waited for their first start."),
    Row("JobsAccumRunningTime", "Seconds of runs whose work is kept."),
    Row("JobsAccumExecuteTime", "Seconds between input and output."),
    Row("JobsAccumExecuteAltTime", "Seconds of runs less those before and after their programs."),
    Row("JobsAccumBadputTime", "Seconds of runs whose work is lost."),
    Row("JobsAccumExceptionalBadputTime", "Seconds of runs whose shadow failed."),
    Row("JobsAccumChurnTime", "Seconds of runs that never came to work."),
    Row("JobsAccumPreExecuteTime", "Seconds before programs began: claims, input."),
    Row("JobsAccumPostExecuteTime", "Seconds after programs ended: output."),
    Row(
        "JobsCompletedRuntimes",
        "Runs whose work is kept, by their length.",
        Kind.HISTOGRAM,
        RUNTIME_LIMITS,
    ),
    Row(
        "JobsCompletedSizes",
        "Runs whose work is kept, by their memory image.",
        Kind.HISTOGRAM,
        SIZE_LIMITS,
    ),
    Row(
        "JobsBadputRuntimes",
        "Runs whose work is lost, by their length.",
        Kind.HISTOGRAM,
        RUNTIME_LIMITS,
    ),
    Row(
        "JobsBadputSizes",
        "Runs whose work is lost, by their memory image.",
        Kind.HISTOGRAM,
        SIZE_LIMITS,
    ),
)
"""What is counted of the runs of jobs."""


class Running:
    """The jobs of a set that run now, by the length of their lives and by their size."""

    def __init__(self) -> None:
        self.number = 0
        self.runtimes = Histogram(_RUNTIME_LIMITS)
        self.sizes = Histogram(_SIZE_LIMITS)

    def add(self, ad: ClassAd, now: int) -> None:
        """Count a job; its life began with its first run, as in the reference."""
        self.number += 1
        began = ad.integer("JobStartDate") or ad.integer("JobCurrentStartDate") or now
        self.runtimes.add(now - began)
        size = ad.integer("ImageSize_RAW")
        self.sizes.add(((ad.integer("ImageSize") or 0) if size is None else size) * 1024)

    def publish(self, ad: ClassAd) -> None:
        """Put the histograms into an ad."""
        ad["JobsRunningRuntimes"] = str(self.runtimes)
        ad["JobsRunningSizes"] = str(self.sizes)


class _JobSet:
    """The figures of one set, and when a job last was of it."""

    def __init__(self, started: int, window: tuple[int, int]) -> None:
        self.counters = Counters(
            JOB_ROWS, started, window_seconds=window[0], quantum_seconds=window[1]
        )
        self.running = Running()
        self.last_match = started

    def count(self, counted: Counted, now: int) -> None:
        self.last_match = now
        self.counters.add_all(counted.amounts, now)
        for name, value in counted.values.items():
            self.counters.add_value(name, now, value)

    def published(self, now: int) -> ClassAd:
        ad = ClassAd()
        self.counters.advance(now)
        self.counters.publish_rows(ad)
        for name in _OF_ALL_ALONE:
            del ad[name], ad[f"Recent{name}"]
        ad["JobsRunning"] = self.running.number
        # Jobs yet to be made belong to no set before they are.
        ad["JobsUnmaterialized"] = 0
        self.running.publish(ad)
        return ad


@dataclass(frozen=True, slots=True)
class Rule:
    """Which jobs are counted together."""

    # What the names of its attributes begin with.
    prefix: str
    expression: Expr
    # Whether every value of the expression is a set of its own.
    by_value: bool
    lifetime_seconds: int = _WEEK


def read_rules(config: Config, report: Callable[[str], object]) -> list[Rule]:
    """Return the rules that are configured; `report` is told of one that is no expression.

    Of BY and FOR of one name the latter is meant, as in the reference. Compat: a rule with a typo
    ends the reference's schedd; here it is no rule (test_a_rule_with_a_typo_is_told_of).
    """
    rules: dict[str, Rule] = {}
    for name in sorted({macro.name.upper() for macro in config.entries()}):
        match = re.fullmatch(r"SCHEDD_COLLECT_STATS_(BY|FOR)_(.+)", name)
        expression = config.sound_expression(name, report) if match else None
        if match is None or expression is None:
            continue
        # The name's own letters, as the reference has them.
        word = f"_{match[2].lower()}" if match[2][0].isdigit() else match[2].capitalize()
        lifetime = config.integer(f"SCHEDD_EXPIRE_STATS_BY_{match[2]}")
        rules[word] = Rule(word, expression, match[1] == "BY", lifetime or _WEEK)
    return list(rules.values())


class JobSets:
    """The sets of a schedd's jobs: always one for each owner, and those of rules."""

    def __init__(self, started: int, window: tuple[int, int]) -> None:
        self._started = started
        self._window = window
        self._owners: dict[str, _JobSet] = {}
        self._rules: list[Rule] = []
        # By the beginning of their attributes' names.
        self._others: dict[str, tuple[Rule, _JobSet]] = {}

    def set_rules(self, rules: Iterable[Rule]) -> None:
        """Count by these rules from now on; what others counted is forgotten."""
        self._rules = list(rules)
        self._others = {
            prefix: (rule, found)
            for prefix, (rule, found) in self._others.items()
            if rule in self._rules
        }

    def count(self, ad: ClassAd, counted: Counted, now: int) -> None:
        """Count what happened to a job."""
        for found in self._of(ad):
            found.count(counted, now)

    def look_at(self, running: Iterable[ClassAd], now: int) -> None:
        """Take the jobs that run now."""
        for found in self._all():
            found.running = Running()
        for ad in running:
            for found in self._of(ad):
                found.last_match = now
                found.running.add(ad, now)

    def forget(self, now: int) -> None:
        """Drop the sets that have had no job for too long."""
        self._owners = {
            name: one for name, one in self._owners.items() if now - one.last_match <= _WEEK
        }
        self._others = {
            prefix: (rule, one)
            for prefix, (rule, one) in self._others.items()
            if now - one.last_match <= rule.lifetime_seconds or prefix == rule.prefix
        }

    def publish_owner(self, ad: ClassAd, owner: str, now: int) -> None:
        """Put an owner's figures into the ad of a submitter; nothing if none was counted."""
        found = self._owners.get(owner)
        if found is None:
            return
        figures = found.published(now)
        for name in figures.own_names():
            counter = name.removeprefix("Recent")
            if counter not in SCHEDD.if_any or figures.real(counter):
                ad[name] = figures[name]

    def publish_others(self, ad: ClassAd, now: int) -> None:
        """Put the figures of the rules' sets into the schedd's ad."""
        for prefix, (_, found) in self._others.items():
            figures = found.published(now)
            for name in figures.own_names():
                ad[f"{prefix}{name}"] = figures[name]

    def _all(self) -> Iterator[_JobSet]:
        yield from self._owners.values()
        for _, found in self._others.values():
            yield found

    def _of(self, ad: ClassAd) -> Iterator[_JobSet]:
        """Return the sets that a job is of; those that are not yet are made."""
        owner = ad.string("Owner")
        if owner:
            if owner not in self._owners and len(self._owners) < MOST_SETS:
                self._owners[owner] = _JobSet(self._started, self._window)
            if owner in self._owners:
                yield self._owners[owner]
        for rule in self._rules:
            value = ad.evaluate_expression(rule.expression)
            for prefix in _prefixes(rule, value):
                # A rule's own set, of all its jobs, is always there.
                if prefix not in self._others and (
                    len(self._others) < MOST_RULE_SETS or prefix == rule.prefix
                ):
                    self._others[prefix] = rule, _JobSet(self._started, self._window)
                if prefix in self._others:
                    yield self._others[prefix][1]


def _prefixes(rule: Rule, value: Value) -> tuple[str, ...]:
    """Return the beginnings of the names of a rule's sets that a job with this value is of."""
    if not rule.by_value or isinstance(value, bool):
        is_true = value if isinstance(value, bool) else isinstance(value, int | float) and value
        return (rule.prefix,) if is_true else ()
    if value is UNDEFINED or value == "":
        return ()
    word = value if isinstance(value, str) else "ERROR" if value is ERROR else str(value)
    beginning = f"{rule.prefix}_{word[:_LONGEST_VALUE]}_"
    return rule.prefix, re.sub(r"\W", "_", beginning, flags=re.ASCII)
