"""User records: what the queue keeps about each user who ever submitted.

A record is an ad of the queue log (`0.<n>`, type Owner). Pure: look-ups, and the transactions that
make, change and forget records. Source: wire notes, User records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.classad.text import quote_line, without_line_ends
from kettle.errors import NotFoundError, RefusedError
from kettle.schedd.queue.attribute_rules import check_shape
from kettle.schedd.queue.job_indices import Tally
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.transaction import Transaction
from kettle.wire.commands import Command

RECORD_TYPE = "Owner"
# The reference numbers records from 2: 0.0 is the header and 0.1 was something once.
_FIRST = 2
# Limit: users who are known to have no record; they have one from their first submission on.
_MOST_UNRECORDED = 1000

_COUNTS = (
    ("Idle", JobStatus.IDLE),
    ("Running", JobStatus.RUNNING),
    ("Held", JobStatus.HELD),
    ("Completed", JobStatus.COMPLETED),
    ("Removed", JobStatus.REMOVED),
)
# What jobs that are gone are counted as.
_GONE: dict[int, str] = {JobStatus.COMPLETED: "Completed", JobStatus.REMOVED: "Removed"}
# Limit: seconds of one job, whatever its ad says.
_MOST_SECONDS = 1e12

# What options of a request are called; they are no attributes of the record.
_OPTION = "_userrec_opt_"
_NOT_SET = frozenset(("user", "requirements", "mytype", "owner", "osuser", "enabled"))


def records(queue: JobQueue) -> Iterator[tuple[str, ClassAd]]:
    """Yield key and ad of every user record."""
    for key in list(queue.keys_of_type(RECORD_TYPE)):
        ad = queue.ad(key)
        if ad is not None:
            yield key, ad


def find(queue: JobQueue, user: str) -> tuple[str, ClassAd] | None:
    """Return key and ad of a user's record."""
    # Where it was the last time, or that it was nowhere: a submission asks for each of its jobs.
    key = queue.record_keys.get(user, "")
    ad = queue.ad(key)
    if ad is not None and ad.string("User") == user:
        return key, ad
    if user in queue.unrecorded:
        return None
    for key, ad in records(queue):
        if ad.string("User") == user:
            queue.record_keys[user] = key
            return key, ad
    queue.record_keys.pop(user, None)
    if len(queue.unrecorded) >= _MOST_UNRECORDED:
        queue.unrecorded.clear()
    queue.unrecorded.add(user)
    return None


def disabled_reason(queue: JobQueue, user: str) -> str | None:
    """Return why a user may not submit, None if nothing stands against it."""
    found = find(queue, user)
    if found is None or found[1].boolean("Enabled") is not False:
        return None
    return found[1].string("DisableReason") or f"user {user} is disabled"


def plan_record(transaction: Transaction, queue: JobQueue, user: str) -> str:
    """Make a user's record unless there is one; returns its key."""
    found = find(queue, user)
    if found is not None:
        return found[0]
    used = {int(key.partition(".")[2]) for key, _ in records(queue)}
    number = max(used, default=_FIRST - 1) + 1
    while transaction.exists(f"0.{number}"):
        number += 1
    key = f"0.{number}"
    owner = user.partition("@")[0]
    transaction.new_ad(key, RECORD_TYPE)
    for name, text in (("User", user), ("Owner", owner), ("OsUser", owner)):
        transaction.set_attribute(key, name, quote_line(text))
    transaction.set_attribute(key, "Enabled", "1")
    return key


def show(queue: JobQueue, ad: ClassAd) -> ClassAd:
    """Return a record with the counts of the user's jobs."""
    user = ad.string("User") or ""
    shown = ad.copy()
    shown["MyType"] = RECORD_TYPE
    for word, beside in (("Num", False), ("NumScheduler", True)):
        tally = queue.user_tallies.get((user, beside)) or Tally()
        shown[f"{word}Jobs"] = tally.total
        for name, status in _COUNTS:
            shown[f"{word}{name}"] = tally[status]
        if not beside:
            shown["NumSuspended"] = tally[JobStatus.SUSPENDED]
    return shown


def count_departures(transaction: Transaction, queue: JobQueue, jobs: Iterable[Job]) -> None:
    """Add jobs that leave to what the records of their users count of those that are gone.

    Jobs of the scheduler universe have a number of their own, and their seconds with the others.
    """
    for user, amounts in _sum_departures(jobs).items():
        found = find(queue, user)
        if found is None:
            continue
        key, ad = found
        for name, amount in amounts.items():
            before = (ad.real if isinstance(amount, float) else ad.integer)(name) or 0
            transaction.set_attribute(key, name, str(before + amount))


def _sum_departures(jobs: Iterable[Job]) -> dict[str, dict[str, int | float]]:
    sums: dict[str, dict[str, int | float]] = {}
    for job in jobs:
        word = _GONE.get(job.status)
        if word is None:
            continue
        own = sums.setdefault(job.user, {})
        kind = "Scheduler" if job.universe == JobUniverse.SCHEDULER else ""
        cpu = sum(_seconds(job.ad, f"CumulativeRemote{one}Cpu") for one in ("User", "Sys"))
        amounts: dict[str, int | float] = {
            f"{kind}Total{word}Jobs": 1,
            f"{word}JobsCpuTime": cpu,
            f"{word}JobsSlotTime": int(_seconds(job.ad, "CumulativeSlotTime")),
        }
        for name, amount in amounts.items():
            own[name] = own.get(name, 0) + amount
    return sums


def _seconds(ad: ClassAd, name: str) -> float:
    seconds = ad.real(name) or 0.0
    return 0.0 if math.isnan(seconds) else min(max(0.0, seconds), _MOST_SECONDS)


def look(
    queue: JobQueue, query: ClassAd, add: Callable[[str, ClassAd], None] | None = None
) -> Iterator[ClassAd | None]:
    """Yield the records that a query means, with counts, and None for each that it does not.

    `add` puts more of what is known of a user into the ad.
    """
    constraint = query.lookup("Requirements")
    limit = query.integer("LimitResults") or 0
    kinds = (query.string("TargetType") or RECORD_TYPE).lower().replace(",", " ").split()
    if RECORD_TYPE.lower() not in kinds:
        return
    found = 0
    for _, ad in list(records(queue)):
        shown = show(queue, ad)
        if add is not None:
            add(shown.string("User") or "", shown)
        if constraint is not None and not query.satisfies(constraint, shown):
            yield None
            continue
        yield shown
        found += 1
        if 0 < limit <= found:
            return


def plan_act(
    transaction: Transaction, queue: JobQueue, command: int, request: ClassAd
) -> tuple[int, int]:
    """Carry out one part of a request; returns how many records and attributes changed.

    Raises NotFoundError or RefusedError.
    """
    keys = _keys_of(transaction, queue, command, request)
    attributes = 0
    for key in keys:
        attributes += _act(transaction, queue, command, request, key)
    return len(keys), attributes


def _keys_of(
    transaction: Transaction, queue: JobQueue, command: int, request: ClassAd
) -> list[str]:
    user = request.string("User")
    if user is None:
        constraint = request.lookup("Requirements")
        if constraint is None:
            raise RefusedError("the request names no user", code=22)
        return [key for key, ad in records(queue) if ad.satisfies(constraint)]
    found = find(queue, user)
    if found is not None:
        return [found[0]]
    if command == Command.ENABLE_USERREC and request.boolean("_userrec_opt_create"):
        return [plan_record(transaction, queue, user)]
    raise NotFoundError(f"there is no record of {user}")


def _act(
    transaction: Transaction, queue: JobQueue, command: int, request: ClassAd, key: str
) -> int:
    if command == Command.DELETE_USERREC:
        ad = queue.ad(key)
        user = (ad.string("User") if ad is not None else None) or ""
        if queue.by_user.get(user):
            raise RefusedError(f"{user} has jobs in the queue", code=16)
        transaction.destroy_ad(key)
        return 0
    if command == Command.ENABLE_USERREC:
        transaction.set_attribute(key, "Enabled", "1")
        if queue.ad(key) is not None:
            transaction.delete_attribute(key, "DisableReason")
    elif command == Command.DISABLE_USERREC:
        transaction.set_attribute(key, "Enabled", "0")
        reason = request.string("DisableReason")
        if reason:
            transaction.set_attribute(key, "DisableReason", quote_line(reason))
    elif command == Command.EDIT_USERREC:
        return _edit(transaction, request, key)
    return 0


def _edit(transaction: Transaction, request: ClassAd, key: str) -> int:
    count = 0
    for name in request:
        if name.lower() in _NOT_SET or name.lower().startswith(_OPTION):
            continue
        text = without_line_ends(request.text(name) or "undefined")
        check_shape(name, text)
        transaction.set_attribute(key, name, text)
        count += 1
    return count
