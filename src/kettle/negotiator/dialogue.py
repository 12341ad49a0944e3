"""The negotiator's half of NEGOTIATE: what is said to a schedd, as dialogs without a socket.

One connection a schedd, kept from cycle to cycle; on it one round after another, each beginning
with a header that names the submitter. What to offer is `matchmaking/cycle.py`'s decision.
Sequence: daemon reference, NEGOTIATE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kettle.attributes.match_words import NO_GROUP, OF_A_MATCH
from kettle.classad import ClassAd, Expr
from kettle.matchmaking.plan import Match, Rejection
from kettle.matchmaking.requests import RESOURCE_CLUSTER, RESOURCE_PROC
from kettle.wire.codec import Writer
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog, Receive, Send
from kettle.wire.messages.negotiate import (
    FROM_SCHEDD,
    EndNegotiate,
    JobInfo,
    PermissionAndAd,
    RejectedWithReason,
    SendResourceRequestList,
    read_word,
)

# What the schedd may expect of us (MatchCaps): a diagnostics ad behind a rejection.
MATCH_CAPABILITIES = "MatchDiag3"


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a round; `first` when the handshake has already named the command."""

    submitter: str
    attributes: str
    negotiator: str
    submitter_tag: str = ""
    job_constraint: Expr | None = None
    first: bool = False

    def write(self, writer: Writer) -> None:
        """Write the command, unless the handshake did, and the header ad."""
        if not self.first:
            writer.integer(Command.NEGOTIATE)
        ad = ClassAd(
            {
                "Owner": self.submitter,
                "MatchCaps": MATCH_CAPABILITIES,
                "SubmitterTag": self.submitter_tag,
                "NegotiatorName": self.negotiator,
                "AutoClusterAttrs": self.attributes,
                "MatchClaimedPslots": True,
            }
        )
        if self.job_constraint is not None:
            ad.insert("NegotiatorJobConstraint", self.job_constraint)
        writer.ad(ad)


@dataclass(frozen=True, slots=True)
class Fetched:
    """Requests of one submitter; `all_of_them` unless the list was cut at the size asked for."""

    ads: list[ClassAd]
    all_of_them: bool


def fetch_requests(maximum: int, timeout: float) -> Dialog[Fetched]:
    """Ask for up to `maximum` requests; NO_MORE_JOBS ends a shorter list."""
    yield Send(SendResourceRequestList(maximum))
    ads: list[ClassAd] = []
    while len(ads) < maximum:
        word = read_word(FROM_SCHEDD, (yield Receive(timeout)))
        if not isinstance(word, JobInfo):
            return Fetched(ads, all_of_them=True)
        ads.append(word.request)
    return Fetched(ads, all_of_them=False)


def deliver(matches: Iterable[Match], rejections: Iterable[Rejection]) -> Dialog[None]:
    """Tell a schedd what became of one submitter's requests, and end the round."""
    for match in matches:
        yield Send(PermissionAndAd(match.claim_id, offered_ad(match)))
    for rejection in rejections:
        diagnostics = diagnostics_ad(rejection) if rejection.request.wants_diagnostics else None
        yield Send(RejectedWithReason(rejection_text(rejection), diagnostics))
    yield Send(EndNegotiate())


def offered_ad(match: Match) -> ClassAd:
    """Return the slot ad of a match, with what ties it to the request.

    Where a slot is taken from somebody its own ad tells of his group: not of this match.
    """
    request = match.request
    group = request.ad.string("SubmitterGroup") or NO_GROUP
    ad = ClassAd(
        {RESOURCE_CLUSTER: request.cluster, RESOURCE_PROC: request.proc}, parent=match.slot_ad
    )
    said = {
        "RemoteNegotiatingGroup": match.negotiating_group or group,
        "RemoteAutoregroup": False,
        "RemoteGroup": "" if group == NO_GROUP else group,
        "MatchedConcurrencyLimits": match.limits,
    }
    # Every word of the table is said, or taken from the slot's ad.
    for name, *_ in OF_A_MATCH:
        if said[name] != "":
            ad[name] = said[name]
        elif name in match.slot_ad:
            ad.insert_text(name, "undefined")
    return ad


def rejection_text(rejection: Rejection) -> str:
    """Return the reason as the schedd takes it apart."""
    request = rejection.request
    return f"{rejection.reason} |{request.autocluster_id}|{request.cluster}.{request.proc}|"


def diagnostics_ad(rejection: Rejection) -> ClassAd:
    """Return the ad that follows a reason when the schedd asked for diagnostics."""
    return ClassAd({"Reason": rejection.reason})
