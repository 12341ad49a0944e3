"""What the negotiator's ad says about its last cycles: LastNegotiationCycle…0 is the newest.

Attribute names are the reference's, so that monitoring written for it goes on working.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

# How many cycles the ad tells of unless configured (NEGOTIATION_CYCLE_STATS_LENGTH).
DEFAULT_CYCLES = 3
_PREFIX = "LastNegotiationCycle"
# Limit: letters of a list of names; they come from ads, and a collector has to take ours.
_LONGEST_LIST = 64 * 1024


@dataclass(slots=True)
class CycleStatistics:
    """Figures of one cycle; moments are epoch seconds, spans seconds."""

    started_at: float
    ended_at: float = 0.0
    # From the start of the cycle before.
    period: float = 0.0
    cpu: float = 0.0
    # Fetching ads, priorities, requests, matching and telling.
    phases: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 0.0])
    phase_cpu: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 0.0])
    prefetch: float = 0.0
    prefetch_cpu: float = 0.0
    total_slots: int = 0
    trimmed_slots: int = 0
    candidate_slots: int = 0
    schedulers: int = 0
    active_submitters: int = 0
    idle_jobs: int = 0
    considered: int = 0
    matches: int = 0
    rejections: int = 0
    pies: int = 1
    pie_spins: int = 0
    submitters_failed: set[str] = field(default_factory=set)
    submitters_limited: set[str] = field(default_factory=set)
    submitters_out_of_time: set[str] = field(default_factory=set)
    schedds_out_of_time: set[str] = field(default_factory=set)

    def attributes(self, number: int) -> Iterator[tuple[str, object]]:
        """Yield the attributes of the ad for the cycle that was `number` cycles ago."""
        duration = max(0.0, self.ended_at - self.started_at)
        negotiating = self.phases[3]
        figures: dict[str, object] = {
            "ActiveSubmitterCount": self.active_submitters,
            "CandidateSlots": self.candidate_slots,
            "CpuTime": self.cpu,
            "Duration": int(duration),
            "End": int(self.ended_at),
            "Matches": self.matches,
            "MatchRate": self.matches / duration if duration > 0 else 0.0,
            "MatchRateSustained": self.matches / negotiating if negotiating > 0 else 0.0,
            "NumIdleJobs": self.idle_jobs,
            "NumJobsConsidered": self.considered,
            "NumSchedulers": self.schedulers,
            "Period": int(self.period),
            "Pies": self.pies,
            "PieSpins": self.pie_spins,
            "PrefetchCpuTime": self.prefetch_cpu,
            "PrefetchDuration": int(self.prefetch),
            "Rejections": self.rejections,
            "ScheddsOutOfTime": _names(self.schedds_out_of_time),
            "SlotShareIter": self.pies if self.matches else 0,
            "SubmittersFailed": _names(self.submitters_failed),
            "SubmittersOutOfTime": _names(self.submitters_out_of_time),
            "SubmittersShareLimit": _names(self.submitters_limited),
            "Time": int(self.started_at),
            "TotalSlots": self.total_slots,
            "TrimmedSlots": self.trimmed_slots,
        }
        for phase in range(4):
            figures[f"Phase{phase + 1}Duration"] = int(self.phases[phase])
            figures[f"Phase{phase + 1}CpuTime"] = self.phase_cpu[phase]
        for name, value in figures.items():
            yield f"{_PREFIX}{name}{number}", value


def _names(names: Iterable[str]) -> str:
    text = ", ".join(sorted(names))
    return text if len(text) <= _LONGEST_LIST else f"{text[:_LONGEST_LIST]}..."


@dataclass(slots=True)
class CycleHistory:
    """The newest cycles, as many as the ad tells of."""

    cycles: deque[CycleStatistics] = field(
        default_factory=lambda: deque[CycleStatistics](maxlen=DEFAULT_CYCLES)
    )

    def begin(self, now: float) -> CycleStatistics:
        """Return the record of a cycle that starts now."""
        before = self.cycles[0].started_at if self.cycles else now
        return CycleStatistics(started_at=now, period=now - before)

    def end(self, cycle: CycleStatistics, now: float) -> None:
        """Keep the record of a cycle that has ended."""
        cycle.ended_at = now
        self.cycles.appendleft(cycle)

    def attributes(self) -> dict[str, object]:
        """Return all attributes for the negotiator's ad."""
        return dict(
            pair for number, cycle in enumerate(self.cycles) for pair in cycle.attributes(number)
        )
