"""Where negotiators leave what they have: matches, and refusals with their reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.schedd.negotiation import Refusal, note_autocluster

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.schedd.services.flocking import Flock
    from kettle.schedd.services.parts import Schedd


class NegotiationDesk:
    """Takes what a round brings."""

    def __init__(self, schedd: Schedd, flock: Flock) -> None:
        self._schedd = schedd
        self._flock = flock

    def on_match(self, submitter: str, claim_ids: str, slot: ClassAd) -> bool:
        """Take a match; False if nobody needs it any more."""
        return self._schedd.scheduler.on_match(submitter, claim_ids, slot)

    def on_rejected(self, refusal: Refusal) -> None:
        """Note why an autocluster found no machine, in the ad of the job that spoke for it."""
        schedd, submitter = self._schedd, refusal.submitter
        if self._flock.levels.on_rejected(submitter, refusal.pool):
            schedd.runtime.log(f"The jobs of {submitter} are offered to a further pool")
            schedd.want_matches()
        for bucket in schedd.idle.buckets(submitter):
            job = bucket.first()
            if bucket.autocluster == refusal.autocluster and job is not None:
                attributes = schedd.idle.autoclusters.attributes_text
                note_autocluster(job.ad, bucket.autocluster, attributes)
                schedd.scheduler.pause.note_rejected(
                    job, refusal.reason, schedd.now(), refusal.negotiator
                )
                return
