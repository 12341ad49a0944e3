"""`condor_who -quick` and `-wait-for-ready`: how the master says that its daemons stand.

The master is found by what it left in LOG. While it is not there yet, it is looked for during two
thirds of the time; the rest is for its daemons. Test harnesses wait for a pool in this way.
"""

from __future__ import annotations

import time
from pathlib import Path

from kettle.classad import ClassAd
from kettle.errors import KettleError
from kettle.tools.reach import Reach
from kettle.tools.status.daemon_logs import Traces, read_traces

_LOOK_SECONDS = 0.1
# How much longer than the master is asked to wait we wait for its answer.
_GRACE_SECONDS = 2.0


def ask_readiness(
    reach: Reach, folder: Path, seconds: int, condition: str
) -> ClassAd | Traces | None:
    """Return the master's answer, else what it left when it ended, None without any trace of it.

    `seconds` is how long to wait for `condition` over the answer (IsReady where it is empty).
    """
    began = time.monotonic()
    while True:
        traces = read_traces("Master", folder, reach.config)
        if traces is not None and traces.lives:
            answer = _ask(reach, traces, seconds - int(time.monotonic() - began), condition)
            if answer is not None:
                return answer
        if time.monotonic() - began >= seconds * 2 / 3:
            return traces
        time.sleep(_LOOK_SECONDS)


def _ask(reach: Reach, traces: Traces, seconds: int, condition: str) -> ClassAd | None:
    """Ask the master; None if it does not answer, as one that has just begun or ended."""
    from kettle.client.daemon import ask_ad
    from kettle.wire.commands import Command
    from kettle.wire.sinful import Sinful

    request = ClassAd({"WaitTimeout": max(0, seconds), "WantAddrs": True})
    if condition:
        request.insert_text("ReadyRequirements", condition)
    try:
        return ask_ad(
            reach.connector,
            Sinful.parse(traces.address),
            Command.DC_QUERY_READY,
            request,
            timeout=max(0, seconds) + _GRACE_SECONDS,
        )
    except KettleError:
        return None
