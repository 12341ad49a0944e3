"""What the negotiator says of its last cycles."""

from __future__ import annotations

from kettle.negotiator.statistics import CycleStatistics


def test_lists_of_names_end_so_that_a_collector_takes_the_ad() -> None:
    cycle = CycleStatistics(started_at=0.0)
    cycle.submitters_failed = {f"{number:03}{'x' * 60_000}" for number in range(200)}
    cycle.submitters_limited = {"b@d", "a@d"}
    said = dict(cycle.attributes(0))
    assert len(str(said["LastNegotiationCycleSubmittersFailed0"])) == 64 * 1024 + 3
    assert said["LastNegotiationCycleSubmittersShareLimit0"] == "a@d, b@d"
