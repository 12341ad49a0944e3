"""What a negotiator alone may say: how whoever asks stands, and what a match was made on.

The one table of these names. A request leaves out and a negotiator drops what a job says of
`OF_WHOEVER_ASKS` (`matchmaking/requests.py`). `OF_A_MATCH` is said with each match
(`negotiator/dialogue.py`), kept with the slots that come of it (`schedd/matched_slots.py`), and is
what a claim is requested with (`schedd/services/claims.py`), whatever slot or job say of it
themselves; a job's own words go when it starts (`schedd/job_runs.py`), and a running one may not
set any (`policy/job_words.py`).
"""

from __future__ import annotations

from kettle.named_tuples import NamedTuple

# What stands where there is no group.
NO_GROUP = "<none>"


class MatchWord(NamedTuple):
    """An attribute that tells of a match."""

    name: str
    # What a claim is requested with where the negotiator was silent, as a text; None for nothing.
    silent: str | None = None
    # Under which name a startd is told; its own if empty.
    asked_as: str = ""


OF_WHOEVER_ASKS = (
    "SubmitterAutoregroup",
    "SubmitterGroup",
    "SubmitterGroupQuota",
    "SubmitterGroupResourcesInUse",
    "SubmitterNegotiatingGroup",
    "SubmitterUserPrio",
    "SubmitterUserResourcesInUse",
    "SubmittorPrio",
)
OF_A_MATCH = (
    MatchWord("RemoteNegotiatingGroup", silent='"<none>"'),
    MatchWord("RemoteAutoregroup", silent="false"),
    MatchWord("RemoteGroup"),
    MatchWord("MatchedConcurrencyLimits", asked_as="ConcurrencyLimits"),
)
# Not a negotiator's word, but the schedd's of whose negotiator made the match: the pool, where it
# is not our own. It goes the same way.
REMOTE_POOL = "RemotePool"
# How the names begin that NEGOTIATOR_MATCH_EXPRS puts into the slots of a match; they are kept with
# it, too.
MATCH_EXPRESSION = "NegotiatorMatchExpr"
# All that is kept with a slot, and is no job's to say.
KEPT_WITH_A_SLOT = (*(word.name for word in OF_A_MATCH), REMOTE_POOL)
# How these names begin, but for MatchedConcurrencyLimits, and any that may come to them (in lower
# case).
FAMILIES = ("remote", "submitter", "submittor")

# How the reason begins for which a schedd did not start a job that had got a slot.
NOT_STARTED = "its schedd starts no job"
