"""The key that lets the pool's administrators command this daemon: a session in its ads.

A daemon of another host than its central manager need not know who administers the pool. It puts an
id with a session of its own making into the ads that it sends to its own collectors, under
`_condor_PrivRemoteAdminCapability`; the collector shows it to its administrators only, and whoever
resumes the session is `collector-side@matchsession`, an administrator for the commands that the id
lists. SEC_ENABLE_REMOTE_ADMINISTRATION says whether. Source: wire notes, Claim sessions.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from kettle.config.knobs.security import SecurityKnobs
from kettle.levels import Level, implied_levels
from kettle.wire.security.claim_id import CLAIM_INFO, COLLECTOR_SIDE, mint_session_id

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

# Each key is good for so long after the collector may have heard of it last.
LIFETIME_SECONDS = 1800.0
# How long one key is given out: all slots of a machine share it, and so do some updates.
RENEW_SECONDS = 600.0


class RemoteAdministration:
    """The keys of one daemon; a new one is made now and then, and the last ones stay good."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._text = ""
        self._renew_at = float("-inf")

    def capability(self) -> str:
        """Return the key to be told now, empty if this daemon gives none."""
        runtime = self._runtime
        if not runtime.config[SecurityKnobs.SEC_ENABLE_REMOTE_ADMINISTRATION]:
            return ""
        now = runtime.clock.steady()
        if now >= self._renew_at:
            self._text = self._mint()
            self._renew_at = now + RENEW_SECONDS
        return self._text

    def _mint(self) -> str:
        runtime = self._runtime
        reach = set(implied_levels(Level.ADMINISTRATOR))
        commands = ".".join(str(one) for one in runtime.network.commands_at(reach))
        address, birthday = runtime.network.address, int(runtime.identity.started_at)
        key = mint_session_id(
            # A number that nobody guesses: who knows the id alone is believed by some daemons.
            f"admin_{address}#{birthday}#{secrets.randbits(62)}",
            secrets.token_bytes(32),
            f'{CLAIM_INFO[:-1]}ValidCommands="{commands}";]',
        )
        runtime.network.add_session(
            key,
            user=COLLECTOR_SIDE,
            levels=(Level.ADMINISTRATOR,),
            lifetime=RENEW_SECONDS + LIFETIME_SECONDS,
        )
        return key.text
