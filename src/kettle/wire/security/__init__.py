"""Who is speaking, proven how, and what they may do: negotiation, methods, sessions, levels."""

from kettle.levels import Level
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.security.session import Peer, Session, SessionCache

__all__ = ["ClaimId", "Level", "Peer", "Session", "SessionCache"]
