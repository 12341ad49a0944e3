"""The key that a negotiator gets to this schedd: in submitter ads, good for NEGOTIATE alone.

A schedd of another host than its central manager cannot check who a negotiator is: it has a token
that says who it is itself, not the key that tokens are signed with. So it puts an id with a
session of its own making into its submitter ads, under `Capability`; the collector shows that to
negotiators only, and who resumes the session is `negotiator-side@matchsession`. Each pool that
hears of our submitters gets one of its own. Source: wire notes, Claim sessions.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from kettle.config.knobs.security import SecurityKnobs
from kettle.levels import Level
from kettle.named_tuples import NamedTuple
from kettle.wire.commands import Command
from kettle.wire.security.claim_id import (
    CLAIM_INFO,
    NEGOTIATOR_SIDE,
    ClaimId,
    mint_claim_id,
)

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.runtime.context import Runtime

ATTRIBUTE = "Capability"
# An interval may be set very short; a negotiator takes longer to come.
SHORTEST_SECONDS = 60.0
_INFO = f'{CLAIM_INFO[:-1]}ValidCommands="{int(Command.NEGOTIATE)}";]'


class _Given(NamedTuple):
    """What a pool was given last, and from when on it gets a new one."""

    capability: ClaimId
    renew_at: float


class Capabilities:
    """The capabilities of one schedd, by pool; the own pool's name is empty.

    A new one is made once an interval and each is good for two, so that the ad that tells of the
    next reaches the negotiator before the last has ended.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._given: dict[str, _Given] = {}
        self._count = 0

    def put_into(self, ad: ClassAd, pool: str, interval_seconds: float) -> None:
        """Give a submitter ad the capability of the pool that it goes to."""
        runtime = self._runtime
        if not runtime.config[SecurityKnobs.SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION]:
            return
        now = runtime.clock.steady()
        given = self._given.get(pool)
        if given is None or now >= given.renew_at:
            interval = max(interval_seconds, SHORTEST_SECONDS)
            given = _Given(self._mint(2 * interval), now + interval)
            self._given[pool] = given
        ad[ATTRIBUTE] = given.capability.text

    def _mint(self, lifetime_seconds: float) -> ClaimId:
        runtime = self._runtime
        self._count += 1
        capability = mint_claim_id(
            str(runtime.network.address),
            int(runtime.identity.started_at),
            self._count,
            secrets.token_bytes(32),
            _INFO,
        )
        runtime.network.add_session(
            capability,
            user=NEGOTIATOR_SIDE,
            levels=(Level.NEGOTIATOR,),
            lifetime=lifetime_seconds,
        )
        return capability
