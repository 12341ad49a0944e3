"""What a schedd asks a negotiator for: one request for each group of jobs that are alike.

Both ends: `list_requests` and `build_request` make the ads a schedd sends, `Request` is what a
negotiator has read of one. Ids of groups come from `autoclusters.py`; the dialog that carries
the ads is in the wire notes, NEGOTIATE.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from kettle.attributes.match_words import OF_WHOEVER_ASKS
from kettle.classad import ClassAd

RESOURCE_COUNT = "_condor_RESOURCE_COUNT"
RESOURCE_CLUSTER = "_condor_RESOURCE_CLUSTER"
RESOURCE_PROC = "_condor_RESOURCE_PROC"

# What a request carries beside the significant attributes.
IDENTITY_ATTRIBUTES = ("AutoClusterId", "ClusterId", "GlobalJobId", "Owner", "ProcId")
# A job's own words of these names, here in lower case, are about nobody.
_NEGOTIATORS = frozenset(name.lower() for name in OF_WHOEVER_ASKS)
# What a negotiator needs of a request, be it significant or not.
_MATCHING_ATTRIBUTES = (
    "AccountingGroup",
    "AcctGroup",
    "AcctGroupUser",
    "ConcurrencyLimits",
    "JobPrio",
    "JobUniverse",
    "NiceUser",
    "Rank",
    "Requirements",
    "User",
)


# Limit: jobs that one request may stand for; a larger number is a mistake of the peer.
MAX_COUNT = 10_000_000


def build_request(
    job: ClassAd, attributes: Iterable[str], *, autocluster_id: int, count: int
) -> ClassAd:
    """Return the request ad for a job and `count` - 1 more like it.

    `attributes` are the significant ones. Match diagnostics are asked for, as the reference's
    schedd does (daemon reference, NEGOTIATE). What is the negotiator's to say is left out: the
    reference's takes a job's SubmitterGroup for the group of whoever is in none.
    """
    request = ClassAd()
    request[RESOURCE_COUNT] = count
    for name in (*IDENTITY_ATTRIBUTES, *_MATCHING_ATTRIBUTES, *attributes):
        if name in request or name.lower() in _NEGOTIATORS:
            continue
        text = job.text(name)
        if text is not None:
            request.insert_text(name, text)
    request["AutoClusterId"] = autocluster_id
    if "Requirements" not in request:
        request["Requirements"] = True
    request["WantMatchDiagnostics"] = 3
    request["WantPslotPreemption"] = True
    return request


@dataclass(slots=True)
class Request:
    """One request as the negotiator works on it; `left` goes down as matches are given."""

    ad: ClassAd
    # Who answers for it: the submitter's name and the schedd's address.
    submitter: str
    schedd: str
    cluster: int
    proc: int
    autocluster_id: int
    left: int
    wants_diagnostics: bool = False
    # Claims that one match may yield when the schedd knows how to divide a partitionable slot.
    divides_slots: bool = False

    @property
    def group(self) -> Hashable:
        """What requests share whose matching is the same."""
        if self.autocluster_id < 0:
            return (self.schedd, self.cluster, self.proc)
        return (self.schedd, self.submitter, self.autocluster_id)


def parse_request(ad: ClassAd, *, submitter: str, schedd: str) -> Request:
    """Read a request ad; an old schedd's full job ad counts as a request for itself alone.

    What it says of itself and is the negotiator's to say is dropped from it.
    """
    for name in [name for name in ad if name.lower() in _NEGOTIATORS]:
        ad.discard(name)

    def integer(name: str, default: int) -> int:
        value = ad.integer(name)
        return default if value is None else value

    count = max(1, min(integer(RESOURCE_COUNT, 1), MAX_COUNT))
    return Request(
        ad=ad,
        submitter=submitter,
        schedd=schedd,
        cluster=integer("ClusterId", -1),
        proc=integer("ProcId", -1),
        autocluster_id=integer("AutoClusterId", -1),
        left=count,
        wants_diagnostics=integer("WantMatchDiagnostics", 0) >= 3,
    )


def limits_text(request: ClassAd, slot: ClassAd | None = None) -> str:
    """Return the list of concurrency limits of a request, empty if it counts against none.

    The list may be an expression that looks at the slot (`concurrency_limits_expr`).
    """
    value = request.evaluate("ConcurrencyLimits", slot)
    return value if isinstance(value, str) else ""


def limits_depend_on_slot(request: ClassAd) -> bool:
    """Tell whether a request's concurrency limits are known only together with a slot."""
    expression = request.lookup("ConcurrencyLimits")
    return expression is not None and not isinstance(request.evaluate("ConcurrencyLimits"), str)


def concurrency_limits(text: str) -> Iterator[tuple[str, float]]:
    """Yield the limits that a list names, and by how much a job counts against each.

    The list is separated by commas; `name:2.5` counts more than one. Names are compared in
    lower case. What does not read as a number counts one.
    """
    for item in text.split(","):
        name, _, amount = item.strip().partition(":")
        if not name:
            continue
        try:
            increment = float(amount) if amount else 1.0
        except ValueError:
            increment = 1.0
        if not 0 < increment < float("inf"):
            increment = 1.0
        yield name.strip().lower(), increment
