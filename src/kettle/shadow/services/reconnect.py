"""Looking for a starter whose connection was lost, and what is written about it.

The startd is asked where the job's starter is, the starter to go on with us; both until the job's
lease is over. Which event follows is `shadow_machine.py`'s. Source: wire reference, Disconnect and
reconnect.
"""

from __future__ import annotations

import asyncio

from kettle.errors import WireError
from kettle.records.event_grid import (
    JobDisconnectedEvent,
    JobReconnectedEvent,
    JobReconnectFailedEvent,
)
from kettle.shadow.endings import counted_start
from kettle.shadow.job_updates import texts
from kettle.shadow.services.run import Run
from kettle.shadow.shadow_machine import Event, Phase
from kettle.wire.messages import short_way
from kettle.wire.sinful import Sinful

# A startd whose port has refused every connection for so long is gone.
GONE_SECONDS = 3.0
# What a startd says that has no such claim or job any more; anything else may pass.
_FORGOTTEN = frozenset({"Failure", "NotAuthenticated", "InvalidState"})
_LOST_REASON = "Socket between submit and execute hosts closed unexpectedly"
_RESTART_REASON = "Local schedd and job shadow died, schedd now running again"


def recall_start(run: Run) -> None:
    """Count a start that the job's log tells of, and whose shadow died before the queue knew.

    The log is written first, so it may be ahead of the queue, never behind.
    """
    if run.state.executed:
        return
    told = run.host.logs.starts_told(run.job)
    if told > (run.job.integer("NumJobStarts") or 0):
        run.log("The job's log tells of its start already")
        run.update(texts(counted_start(run.job, told)))
        run.flush()
        run.state = run.state._replace(executed=True)


def note_disconnection(run: Run) -> None:
    """Write event 022 and when it was."""
    reason = _RESTART_REASON if run.state.reconnecting else _LOST_REASON
    event = JobDisconnectedEvent(
        reason=reason, startd_name=run.slot_name, startd_address=run.startd_address
    )
    run.write_event(event)
    run.update(texts({"JobDisconnectedDate": int(run.host.now())}))
    run.flush()


def note_reconnection(run: Run) -> None:
    """Write event 023; the job's lease begins anew."""
    event = JobReconnectedEvent(
        startd_name=run.slot_name,
        startd_address=run.startd_address,
        starter_address=run.starter_address,
    )
    run.write_event(event)
    reconnects = (run.job.integer("NumJobReconnects") or 0) + 1
    now = int(run.host.now())
    run.update(
        texts({"LastJobLeaseRenewal": now, "NumJobReconnects": reconnects})
        | {"JobCurrentReconnectAttempt": "undefined", "JobDisconnectedDate": "undefined"}
    )
    run.flush()


def note_failure(run: Run) -> None:
    """Write event 024 with why the job starts anew."""
    if not run.reason:
        lease = f"JobLeaseDuration ({run.lease_seconds} seconds)"
        run.reason = f"Job disconnected too long: {lease} expired"
    run.write_event(JobReconnectFailedEvent(reason=run.reason, startd_name=run.slot_name))


async def look_for_starter(run: Run) -> None:
    """Ask for the starter again and again, until something decides the run."""
    run.watch_policy()
    attempt = 0
    refused_since: float | None = None
    while run.state.phase is Phase.LOST:
        left = run.last_contact + run.lease_seconds - run.host.steady()
        if left <= 0:
            await run.happen(Event.LEASE_OVER)
            return
        attempt += 1
        try:
            if await _reconnect(run):
                await run.happen(Event.FOUND)
                return
            refused_since = None
        except (WireError, OSError) as error:
            run.log(f"Attempt {attempt} to reconnect failed: {error}")
            refused_since = _note_refusal(run, error, refused_since)
            if await _judge_refusals(run, refused_since):
                return
        if run.state.phase is Phase.LOST:
            await _pause(run, min(2.0 ** min(attempt, 16), run.host.backoff_ceiling, left))


def _note_refusal(run: Run, error: Exception, since: float | None) -> float | None:
    """Return since when the startd's own port has refused every connection, None if not.

    Behind a shared port a refusal says nothing about the startd.
    """
    shared = Sinful.parse(run.startd_address).shared_port_id is not None
    if shared or not isinstance(error.__cause__, ConnectionRefusedError):
        return None
    return run.host.steady() if since is None else since


async def _judge_refusals(run: Run, since: float | None) -> bool:
    """Give the job up if its startd has been gone for a while; its starters went with it.

    Compat: the reference waits for the whole lease (test_kills.py, the master's death).
    """
    if since is None or run.host.steady() - since < GONE_SECONDS:
        return False
    run.reason = "The startd that ran the job is gone"
    await run.happen(Event.GONE)
    return True


async def _pause(run: Run, seconds: float) -> None:
    """Wait, unless something happens first."""
    run.wake.clear()
    try:
        async with asyncio.timeout(seconds):
            await run.wake.wait()
    except TimeoutError:
        pass


async def _reconnect(run: Run) -> bool:
    """Locate the starter and take its connection; False if there is none any more."""
    stream, reply = await run.link.ask(
        "CA_LOCATE_STARTER",
        {
            "ClaimId": run.claim.text,
            "GlobalJobId": run.job.string("GlobalJobId") or "",
            "ScheddIpAddr": run.host.schedd_address,
        },
    )
    stream.close()
    if run.state.phase is not Phase.LOST:
        return False
    result = reply.string("Result") or "no answer"
    if result != "Success":
        said = reply.string("ErrorString") or result
        if result not in _FORGOTTEN:
            run.log(f"The starter could not be located: {said}")
            return False
        run.reason = f"The startd no longer knows the job: {said}"
        await run.happen(Event.GONE)
        return False
    # A startd learns its starter's address late; the starter itself told us at its start.
    address = reply.string("StarterIpAddr") or run.starter_address
    if not address:
        run.log("The startd knows the job but not where its starter is")
        return False
    stream, reply = await run.link.ask(
        "CA_RECONNECT_JOB",
        {
            "UidDomain": run.host.uid_domain,
            "TransferKey": run.transfer_key,
            "TransferSocket": str(run.host.address),
            "ShadowIpAddr": str(run.host.address),
            "ShadowVersion": run.host.version,
            short_way.SHORT_WAY: True,
        },
        address=address,
    )
    if reply.string("Result") != "Success" or run.state.phase is not Phase.LOST:
        stream.close()
        run.log(f"The starter did not reconnect: {reply.string('ErrorString')}")
        return False
    run.stream = stream
    run.starter_address = address
    run.info.update(reply)
    run.accept_claim_session()
    run.hear()
    return True
