"""A job's life as a list of moments, from the lines of daemons' logs, its event log and its ad.

Pure. What logs tell exactly is taken from them; what only ad or event log know is added, to the
second. Within a second such moments stand in the order of a job's life. Where they are read is
`sources.py`'s, how they are drawn `drawing.py`'s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import merge
from itertools import groupby

from kettle.attributes.codes import ULogEvent
from kettle.classad import ClassAd
from kettle.records.event_base import Event
from kettle.records.job_trace import Step, TraceLine

# Moments of a job's ad that stand for a step of its last run, or of its whole life.
_AD_MOMENTS = {
    Step.SUBMITTED: "QDate",
    Step.HANDED_OVER: "JobCurrentStartDate",
    Step.PREPARING: "JobCurrentStartTransferInputDate",
    Step.EXECUTING: "JobCurrentStartExecutingDate",
    Step.LEFT: "CompletionDate",
}
_OF_THE_LIFE = (Step.SUBMITTED, Step.LEFT)
# Events that the steps tell better.
_TOLD_BY_STEPS = {0: Step.SUBMITTED, 1: Step.EXECUTING, 5: Step.ENDED}
# Events that say nothing about where a job's time goes.
_NOT_SHOWN = frozenset((6, 28, 33))
_FILE_TRANSFER = ULogEvent.FILE_TRANSFER
# Kinds of which the event itself says best what happened.
_SPEAKS_FOR_ITSELF = (ULogEvent.GENERIC, _FILE_TRANSFER)
# What events are called here, by number: as in the table of their kinds, without what all share.
_EVENT_WORDS = {
    int(kind): kind.name.lower().removeprefix("job_").replace("_", "-") for kind in ULogEvent
}
# How exact a moment is that is known to the second.
_SECOND = 0.999
# Where in its run a step is, by the word of its moment; an eviction is a run's end, too.
_PLACES = {step.word: place for place, step in enumerate(Step)}
_PLACES |= {
    _EVENT_WORDS[number]: _PLACES[step.word]
    for number, step in (*_TOLD_BY_STEPS.items(), (4, Step.ENDED))
}

# By run and step: where in a job's life a moment is. Of those without a place the exact ones are
# after its submission, the others last in their second, but for its leaving.
_Place = tuple[float, int]
_AFTER_THE_FIRST: _Place = (0, 1)
_AT_THE_END: _Place = (math.inf, -1)


@dataclass(frozen=True, slots=True)
class Moment:
    """One step: when, in epoch seconds, who says so, and how long until the next one."""

    time: float
    daemon: str
    word: str
    meaning: str
    run: int
    detail: str = ""
    # Whether `time` is known to the second only.
    rough: bool = False
    took: float = 0.0


@dataclass(frozen=True, slots=True)
class Timeline:
    """All that is known of a job's life, in order."""

    job: str
    global_id: str
    status: str
    moments: tuple[Moment, ...]
    # Logs that could not be read, and what that means.
    gaps: tuple[str, ...] = ()
    # Up to when the job's time counts if it is not over: now.
    until: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it is from the first moment to the last, or to now."""
        exact = [moment.time for moment in self.moments if not moment.rough]
        rough = [moment.time for moment in self.moments if moment.rough]
        # What is known to the second has no part of one. It counts where little else is known, or
        # where the job was submitted long before all that is.
        if rough and (len(exact) < 2 or int(min(rough)) + 1 < exact[0]):
            whole = [int(time) for time in (*exact, *rough)]
            return float(int(max(*whole, self.until)) - min(whole))
        return max(exact[-1], self.until) - exact[0] if exact else 0.0


def make_moments(
    ad: ClassAd,
    lines: Iterable[tuple[float, bool, TraceLine]],
    events: Iterable[Event],
    *,
    until: float = 0.0,
) -> tuple[Moment, ...]:
    """Put a job's moments in order, each with the time until the next.

    `lines` are those of logs with their moments and whether these are exact. The last step of a job
    that is not over takes `until` now.
    """
    known = _each_once(lines)
    found = [
        Moment(
            time if exact else time + _SECOND,
            line.step.daemon,
            line.step.word,
            line.step.doc,
            line.run,
            line.detail,
            not exact,
        )
        for time, exact, line in known
    ]
    last_run = ad.integer("JobRunCount") or 0
    told = {(moment.word, moment.run) for moment in found}
    words = {word for word, _ in told}
    for step, attribute in _AD_MOMENTS.items():
        moment = ad.integer(attribute)
        of_the_life = step in _OF_THE_LIFE
        is_told = step.word in words if of_the_life else (step.word, last_run) in told
        if moment and not is_told:
            found.append(_rough(moment, step, 0 if step is Step.SUBMITTED else last_run, "ad"))
            words.add(step.word)
    # Transfers are between the steps that logs tell.
    hidden = _NOT_SHOWN | {_FILE_TRANSFER} if known else _NOT_SHOWN
    found += _events((event for event in events if event.number not in hidden), words)
    return tuple(_with_spans(_in_order(found), until))


def _each_once(
    lines: Iterable[tuple[float, bool, TraceLine]],
) -> list[tuple[float, bool, TraceLine]]:
    """Leave out what is said again: a job that stands for others like it is matched for each."""
    first: dict[TraceLine, tuple[float, bool, TraceLine]] = {}
    for each in sorted(lines, key=lambda one: one[0]):
        first.setdefault(each[2], each)
    return list(first.values())


def _rough(moment: float, step: Step, run: int, source: str) -> Moment:
    return Moment(
        int(moment) + (0.0 if step is Step.SUBMITTED else _SECOND),
        step.daemon,
        step.word,
        step.doc,
        run,
        f"by its {source}",
        rough=True,
    )


def _events(events: Iterable[Event], words: set[str]) -> Iterable[Moment]:
    run = 0
    for event in events:
        if event.number == 1:
            run += 1
        step = _TOLD_BY_STEPS.get(event.number)
        if step is not None and step.word in words:
            continue
        exact = event.time != int(event.time)
        yield Moment(
            event.time if exact else event.time + _SECOND,
            "event log",
            _name(event),
            _describe(event),
            run,
            rough=not exact,
        )


def _name(event: Event) -> str:
    """Return an event's word; one of a kind that is not known here has but its number."""
    return _EVENT_WORDS.get(event.header_number, f"event {event.header_number:03}")


def _describe(event: Event) -> str:
    """Return what an event means."""
    number = event.header_number
    if number in _SPEAKS_FOR_ITSELF or number not in _EVENT_WORDS:
        return next(iter(event.body()), "").strip().rstrip(".")
    return ULogEvent(number).doc.rstrip(".")


def _in_order(moments: Iterable[Moment]) -> list[Moment]:
    """Sort by time, and within a second what is known to it only by what can follow what.

    It stands before the first step that can only have come later, and has that one's time at most.
    """
    ordered: list[Moment] = []
    for _, second in groupby(sorted(moments, key=_second), key=_second):
        known = sorted(second, key=lambda one: (one.time, _place(one) or _AT_THE_END))
        exact = _placed(one for one in known if not one.rough)
        rough = [(_place(one) or _AT_THE_END, one) for one in known if one.rough]
        rough.sort(key=lambda pair: pair[0])
        latest = math.inf
        merged = []
        for _, moment in reversed([*merge(exact, rough, key=lambda pair: pair[0])]):
            latest = min(latest, moment.time)
            merged.append(replace(moment, time=latest) if moment.rough else moment)
        ordered += reversed(merged)
    return ordered


def _second(moment: Moment) -> int:
    return int(moment.time)


def _place(moment: Moment) -> _Place | None:
    """Return where in a job's life a moment is; None for events that may come at any time."""
    place = _PLACES.get(moment.word)
    if place is None:
        return None
    return (math.inf if moment.word == Step.LEFT.word else moment.run, place)


def _placed(moments: Iterable[Moment]) -> Iterator[tuple[_Place, Moment]]:
    """Add their places to moments whose order is known; what has none is at that of the last."""
    last = _AFTER_THE_FIRST
    for moment in moments:
        last = _place(moment) or last
        yield last, moment


def _with_spans(moments: list[Moment], until: float) -> Iterable[Moment]:
    """Add how long each step took: until the next that is as well known, the last until now."""
    for place, moment in enumerate(moments):
        following = moments[place + 1 :]
        if not moment.rough:
            following = [one for one in following if not one.rough] or following
        end = following[0].time if following else max(until, moment.time)
        took = float(int(end) - int(moment.time)) if moment.rough else end - moment.time
        yield replace(moment, took=max(0.0, took))


def as_facts(timeline: Timeline) -> Mapping[str, object]:
    """Return a timeline as what `--json` prints; moments in epoch seconds, spans in seconds."""
    return {
        "job": timeline.job,
        "global_id": timeline.global_id,
        "status": timeline.status,
        "seconds": round(timeline.seconds, 3),
        "steps": [
            {
                "time": round(moment.time, 3),
                "daemon": moment.daemon,
                "step": moment.word,
                "meaning": moment.meaning,
                "run": moment.run,
                "detail": moment.detail,
                "exact": not moment.rough,
                "took": round(moment.took, 3),
            }
            for moment in timeline.moments
        ],
        "gaps": list(timeline.gaps),
    }
