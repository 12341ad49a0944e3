"""What a run knows of its file transfers: keys and bounds, those under way, what they came to.

`services/transfers.py` moves the files and enters here what it did.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from kettle.runtime.storage.access_limits import AccessLimits
from kettle.shadow.endings import Request
from kettle.shadow.services.record import JobRecord
from kettle.transfer.spool_names import spool_directory
from kettle.wire.security.claim_id import ClaimId, mint_session_id

if TYPE_CHECKING:
    from kettle.shadow.services.kept_ads import CommonAd
    from kettle.shadow.services.parts import Host
    from kettle.wire.messages.shadow_host import StartShadow


class TransferRecord(JobRecord):
    """A job's ad, and the transfers of one run of it."""

    __slots__ = (
        "arriving",
        "input_transfer",
        "keeping",
        "max_input_bytes",
        "max_output_bytes",
        "received_bytes",
        "sent_bytes",
        "spent_seconds",
        "transfer_failure",
        "transfer_key",
        "transfer_session",
        "transfers",
    )

    def __init__(self, host: Host, start: StartShadow, common: CommonAd | None) -> None:
        super().__init__(host, start, common)
        self.transfer_key = f"{host.next_number()}#{secrets.token_hex(12)}"
        self.transfer_session: ClaimId | None = None
        # Set when our side of the input transfer is over; None until one begins.
        self.input_transfer: asyncio.Event | None = None
        # Why the last file transfer failed; None if it worked.
        self.transfer_failure: Request | None = None
        # Those under way; what becomes of the job may end them.
        self.transfers: set[asyncio.Task[None]] = set()
        # The one that brings files now: there is a single one, the newest.
        self.arriving: asyncio.Task[None] | None = None
        # What arrived whole and is being put on disk; the run's end waits for it.
        self.keeping: set[asyncio.Task[None]] = set()
        self.max_input_bytes = -1
        self.max_output_bytes = -1
        self.sent_bytes = 0
        self.received_bytes = 0
        # What transfers took, as the schedd's ad counts it; what broke off is not known.
        self.spent_seconds: dict[str, float] = {}

    def break_off_transfers(self) -> None:
        """End the transfers that are under way, with their connections."""
        for transfer in self.transfers:
            transfer.cancel()

    def access_limits(self) -> AccessLimits | None:
        """Return where the job's files may be; None for anywhere."""
        host = self.host
        own = spool_directory(host.spool, self.cluster, self.proc) if host.spool else ""
        return AccessLimits.of(host.limited_to, self.rights.fence, own)

    def offer_transfer_session(self) -> ClaimId:
        """Return the session for this job's file transfers, made on first use."""
        if self.transfer_session is None:
            session = mint_session_id(
                f"filetransfer.{secrets.token_hex(8)}", secrets.token_bytes(32)
            )
            self.transfer_session = session
            self.host.add_transfer_session(session)
        return self.transfer_session
