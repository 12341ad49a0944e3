"""The schedd's half of NEGOTIATE: what it asks for, and what it does with each answer.

A dialog for one round of one submitter; the connection stays open for the next round. Which jobs
wait is `idle_jobs`', what a match leads to the scheduler's. Source: wire notes, NEGOTIATE
(R079, R092).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from kettle.attributes.match_words import REMOTE_POOL
from kettle.classad import ClassAd
from kettle.classad.text import quote_operand, read_count
from kettle.matchmaking.requests import build_request
from kettle.schedd.idle_jobs import IdleJobs
from kettle.wire.codec import split_names
from kettle.wire.dialog import Dialog, Receive, Send
from kettle.wire.messages.negotiate import (
    FROM_NEGOTIATOR,
    EndNegotiate,
    JobInfo,
    NoMoreJobs,
    PermissionAndAd,
    Rejected,
    RejectedWithReason,
    SendJobInfo,
    SendResourceRequestList,
    read_word,
)

# How long a negotiator may think between two words: other submitters have their turns meanwhile.
THINKING_SECONDS = 600.0

# Limit: requests in one answer, whatever the negotiator asks for.
MOST_REQUESTS = 10_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """An autocluster that found no machine; -1 where it is not said which."""

    submitter: str
    autocluster: int = -1
    reason: str = ""
    # The pool, empty for our own, and its negotiator's name.
    pool: str = ""
    negotiator: str = ""


class Desk(Protocol):
    """Who a round's answers concern."""

    def on_match(self, submitter: str, claim_ids: str, slot: ClassAd) -> bool:
        """Take a match."""

    def on_rejected(self, refusal: Refusal) -> None:
        """Note that an autocluster found no machine in this round."""


def serve_round(
    header: ClassAd, idle: IdleJobs, desk: Desk, avoided: Mapping[str, float] | None = None
) -> Dialog[int]:
    """Serve one round from its header to its end; returns how many requests were sent.

    `avoided` are the addresses of startds that cannot be reached, and since when (epoch seconds).
    """
    submitter = header.string("Owner") or header.string("Name") or ""
    refusal = Refusal(
        submitter,
        pool=header.string("SubmitterTag") or "",
        negotiator=header.string("NegotiatorName") or "",
    )
    idle.request(split_names(header.string("AutoClusterAttrs") or ""))
    requests = list_requests(header, idle, submitter)
    sent = 0
    while True:
        word = read_word(FROM_NEGOTIATOR, (yield Receive(THINKING_SECONDS)))
        if isinstance(word, (SendResourceRequestList, SendJobInfo)):
            maximum = 1 if isinstance(word, SendJobInfo) else word.maximum
            given = 0
            for request in islice(requests, max(0, min(maximum, MOST_REQUESTS))):
                avoid(request, avoided or {})
                yield Send(JobInfo(request))
                given += 1
            sent += given
            if given < maximum:
                yield Send(NoMoreJobs())
                if sent == 0:
                    return 0
        elif isinstance(word, EndNegotiate):
            return sent
        else:
            _hear(word, desk, refusal)


def _hear(word: object, desk: Desk, refusal: Refusal) -> None:
    """Pass on what became of a request; `refusal` says whose and where."""
    if isinstance(word, PermissionAndAd):
        if refusal.pool:
            word.slot[REMOTE_POOL] = refusal.pool
        desk.on_match(refusal.submitter, word.claim_ids, word.slot)
    elif isinstance(word, RejectedWithReason):
        reason, autocluster = parse_rejection(word.reason)
        desk.on_rejected(replace(refusal, reason=reason, autocluster=autocluster))
    else:
        assert isinstance(word, Rejected)
        desk.on_rejected(refusal)


def list_requests(header: ClassAd, idle: IdleJobs, submitter: str) -> Iterator[ClassAd]:
    """Yield a submitter's requests, best first, within the bounds that a header sets."""
    constraint = header.lookup("NegotiatorJobConstraint")
    least, most = header.integer("JOBPRIO_MIN"), header.integer("JOBPRIO_MAX")
    for bucket in idle.buckets(submitter):
        job = bucket.first()
        if job is None:
            continue
        priority = job.ad.integer("JobPrio") or 0
        if (least is not None and priority < least) or (most is not None and priority > most):
            continue
        if constraint is not None and not job.ad.satisfies(constraint):
            continue
        note_autocluster(job.ad, bucket.autocluster, idle.autoclusters.attributes_text)
        yield build_request(
            job.ad,
            idle.autoclusters.attributes,
            autocluster_id=bucket.autocluster,
            count=len(bucket.live),
        )


def avoid(request: ClassAd, startds: Mapping[str, float]) -> None:
    """Ask for no slot of these startds, unless the collector has heard from them since.

    The job itself says nothing of it.
    """
    if not startds:
        return
    conditions = [
        f"(TARGET.MyAddress =!= {quote_operand(address)} || TARGET.LastHeardFrom > {int(since)})"
        for address, since in startds.items()
    ]
    own = request.text("Requirements") or "true"
    request.insert_text("Requirements", " && ".join((f"({own})", *conditions)))


def note_autocluster(job: ClassAd, number: int, attributes: str) -> None:
    """Show in a job's ad which group it was matched with, and what makes that group."""
    if job.integer("AutoClusterId") != number or job.string("AutoClusterAttrs") != attributes:
        job["AutoClusterId"] = number
        job["AutoClusterAttrs"] = attributes


def parse_rejection(text: str) -> tuple[str, int]:
    """Return the reason and the autocluster of `reason |autocluster|cluster.proc|`."""
    reason, _, rest = text.partition("|")
    number = read_count(rest.partition("|")[0].strip())
    return reason.strip(), -1 if number is None else number
