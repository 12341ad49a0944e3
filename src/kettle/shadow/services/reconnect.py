"""Looking for a starter whose connection was lost, and what is written about it.

The startd is asked where the job's starter is, the starter to go on with us; both until the job's
lease is over. Where the startd is itself, after it was started again, `services/whereabouts.py`
finds out. Which event follows is `shadow_machine.py`'s. Source: wire notes, Disconnect and
reconnect.
"""

from __future__ import annotations

import asyncio

from kettle.classad import ClassAd
from kettle.errors import SessionUnknown, WireError
from kettle.records.event_grid import (
    JobDisconnectedEvent,
    JobReconnectedEvent,
    JobReconnectFailedEvent,
)
from kettle.shadow.endings import counted_start
from kettle.shadow.job_updates import texts
from kettle.shadow.services.reconnect_log import record_search
from kettle.shadow.services.run import Run
from kettle.shadow.services.whereabouts import Place
from kettle.shadow.shadow_machine import Event, Phase
from kettle.wire.messages import short_way
from kettle.wire.sinful import Sinful

# How soon is asked a second time.
FIRST_PAUSE_SECONDS = 1.0
# What a startd says that has no such claim or job any more; anything else may pass.
_FORGOTTEN = frozenset({"Failure", "NotAuthenticated", "InvalidState"})
_LOST_REASON = "Socket between submit and execute hosts closed unexpectedly"
# Compat: the reference's words, whatever the startd says, whose words name the claim
# (test_the_secret_of_a_claim_that_a_startd_names_goes_nowhere).
_NOT_FOUND_REASON = "Job not found at execution machine"
_RESTART_REASON = "Local schedd and job shadow died, schedd now running again"


def recall_start(run: Run) -> None:
    """Count a start that the job's log tells of, and whose shadow died before the queue knew.

    The log is written first, so it may be ahead of the queue, never behind.
    """
    if run.state.executed:
        return
    told = run.host.logs.told.starts_told(run.job)
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
    record_search(run, found=True)


def note_failure(run: Run) -> None:
    """Write event 024 with why the job starts anew."""
    record_search(run, found=False, starter_is_dead=bool(run.reason))
    if not run.reason:
        lease = f"JobLeaseDuration ({run.lease_seconds} seconds)"
        run.reason = f"Job disconnected too long: {lease} expired"
    run.write_event(JobReconnectFailedEvent(reason=run.reason, startd_name=run.slot_name))


async def look_for_starter(run: Run) -> None:
    """Ask for the starter again and again, until something decides the run.

    That nobody answers, or that every connection is refused, proves nothing: a job may live on
    where all daemons are dead. Only the lease's end does, or a startd that says that it does not
    know the job; one that was started again has ended what the last one left before it answers.
    """
    run.watch_policy()
    attempt = 0
    began, moved = run.host.steady(), False
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
            moved = False
        except (WireError, OSError) as error:
            run.log(f"Attempt {attempt} to reconnect failed: {error}")
            # Where it has moved is asked at once, but not if it moves back and forth.
            moved = await follow(run) and not moved
        if moved:
            continue
        if run.state.phase is Phase.LOST:
            lost_seconds = run.host.steady() - began
            await _pause(run, min(_pause_seconds(lost_seconds), run.host.backoff_ceiling, left))


def _pause_seconds(lost_seconds: float) -> float:
    """Return when to ask again: what comes back is found after a quarter more of its absence."""
    return max(FIRST_PAUSE_SECONDS, lost_seconds / 4)


async def _find_startd(run: Run) -> Place | None:
    """Return where the startd of our claim is, or the one that followed it; None if nobody tells.

    It is one of the same name on the same host: elsewhere nobody knows what lives on here.
    """
    startd = run.slot_name.partition("@")[2]
    found = await run.host.whereabouts.find(startd, run.job.string("RemotePool") or "")
    if found is None or found.address.host != Sinful.parse(run.startd_address).host:
        return None
    given = run.claim.birthday
    if given is None or found.began_at < given:
        return None
    # The same startd is elsewhere only as far as its broker has another number for it, or its
    # shared port had to move.
    address = found.address
    moves = address.ccb_contacts or address.shared_port_id
    return found if moves or _is_another(run, found) else None


def _is_another(run: Run, found: Place) -> bool:
    """Whether a startd that is no older than that of our claim is another one.

    Both may have begun in one second; but no process changes its port.
    """
    if found.began_at != run.claim.birthday or not run.claim.address:
        return found.began_at != run.claim.birthday
    before, now = Sinful.parse(run.claim.address), found.address
    if before.shared_port_id:
        # Its name behind a shared port, which may have moved, no other process has.
        return before.shared_port_id != now.shared_port_id
    return (before.port, before.shared_port_id) != (now.port, now.shared_port_id)


async def _is_successor(run: Run) -> bool:
    """Whether who is asked now followed the startd of our claim, and nobody else has its port.

    Nor its number at a broker, where a number may have been given to another daemon.
    """
    found = await _find_startd(run)
    return (
        found is not None and _is_another(run, found) and str(found.address) == run.startd_address
    )


async def follow(run: Run) -> bool:
    """See whether the startd is at another address now.

    That is so since it was started again, or since its broker has another number for it. Then it
    still has our claim, and the schedd is told where.
    """
    found = await _find_startd(run)
    if found is None or str(found.address) == run.startd_address:
        return False
    run.log(f"The startd of {run.slot_name} is at {found.address} now")
    run.startd_address = run.link.address = str(found.address)
    if not _is_another(run, found):
        run.update(texts({"StartdIpAddr": run.startd_address}))
        run.flush()
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
    reply = await _locate(run)
    if run.state.phase is not Phase.LOST:
        return False
    result = reply.string("Result") or "no answer"
    if result != "Success":
        said = reply.string("ErrorString") or result
        if result not in _FORGOTTEN:
            run.log(f"The starter could not be located: {said}")
            return False
        run.log(f"The startd no longer knows the job: {said}")
        run.reason = _NOT_FOUND_REASON
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


async def _locate(run: Run) -> ClassAd:
    """Ask the startd where the starter is; one that was started again knows no session of ours."""
    try:
        stream, reply = await run.link.ask(
            "CA_LOCATE_STARTER",
            {
                "ClaimId": run.claim.text,
                "GlobalJobId": run.job.string("GlobalJobId") or "",
                "ScheddIpAddr": run.host.schedd_address,
            },
        )
    except SessionUnknown as error:
        if not await _is_successor(run):
            raise
        return ClassAd({"Result": "NotAuthenticated", "ErrorString": error.message})
    stream.close()
    return reply
