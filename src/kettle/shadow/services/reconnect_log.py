"""Which lost starters were found again and which were not, a line each (SHADOW_RECONNECT_LOG).

For whoever chooses leases: a line says how long a job ran, when its starter was last heard of, and
whether it came back within the lease. The line's form is in the manual's knobs; the file is shared
by the shadow hosts of all users and belongs to whom its folder belongs to.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kettle.config.knobs.shadow import ShadowKnobs
from kettle.errors import KettleError
from kettle.octets import to_bytes
from kettle.records.history import RotationRules
from kettle.runtime.process.privileges import account_of
from kettle.runtime.storage.record_files import RecordFile

if TYPE_CHECKING:
    from kettle.shadow.services.run import Run


def record_search(run: Run, *, found: bool, starter_is_dead: bool = False) -> None:
    """Write that the search for a run's lost starter is over; a failure to write is logged."""
    config = run.host.runtime.config
    path = str(config[ShadowKnobs.SHADOW_RECONNECT_LOG] or "")
    if not path or not config[ShadowKnobs.SHADOW_LOG_RECONNECT]:
        return
    now = int(run.host.now())
    heard = now - max(0, int(run.host.steady() - run.last_contact))
    line = render_line(
        f"{run.cluster}.{run.proc}",
        activated=min(run.job.integer("JobCurrentStartDate") or heard, heard),
        heard=heard,
        found=found,
        now=now,
        lease=int(run.lease_seconds),
        version=config[ShadowKnobs.SHADOW_RECONNECT_TIMEOUT_VERSION],
        starter_is_dead=starter_is_dead,
    )
    rules = RotationRules(
        config[ShadowKnobs.SHADOW_RECONNECT_LOG_MAX],
        config[ShadowKnobs.SHADOW_RECONNECT_LOG_MAX_NUM],
    )
    runtime = run.host.runtime
    try:
        keeper = account_of(os.stat(os.path.dirname(path) or ".").st_uid)
        with runtime.privileges.as_account(keeper):
            RecordFile(runtime.files, path, rules).append(lambda _: to_bytes(line), now)
    except (KettleError, OSError) as error:
        runtime.log.problem(f"{path} lacks a line: {error}")


def render_line(
    job: str,
    *,
    activated: int,
    heard: int,
    found: bool,
    now: int,
    lease: int,
    version: str,
    starter_is_dead: bool,
) -> str:
    """Return the line; times are epoch seconds, the lease is in seconds."""
    words = ("true" if found else "false", "true" if starter_is_dead else "false")
    return f"{job},{activated},{heard},{words[0]},{now},{lease},{version},{words[1]}\n"
