"""What a startd gives to a starter it forks: one job's activation, as bytes.

The connection to the shadow and the control socket travel beside it as descriptors, in this
order. Plain values only: both ends are the same program, but a starter unpacks before anything
else works.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kettle.classad import ClassAd, parse_old_ad


@dataclass(frozen=True)
class Activation:
    """One activation of a claim. `channel` is the state of the handed-over connection."""

    number: int
    slot_name: str
    claim_id: str
    channel: bytes
    slot_ad: ClassAd
    job_ad: ClassAd
    settings: Mapping[str, Any] = field(default_factory=dict)
    ancestors: Mapping[str, str] = field(default_factory=dict)
    peer_user: str = ""
    peer_address: str = ""

    def to_bytes(self) -> bytes:
        """Pack for the zygote."""
        return marshal.dumps(
            (
                self.number,
                self.slot_name,
                self.claim_id,
                self.channel,
                "\n".join(self.slot_ad.lines()),
                "\n".join(self.job_ad.lines()),
                dict(self.settings),
                dict(self.ancestors),
                self.peer_user,
                self.peer_address,
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Activation:
        """Unpack what our own startd packed."""
        values = list(marshal.loads(data))  # noqa: S302 - bytes of our own startd
        values[4] = parse_old_ad(values[4], check=False)
        values[5] = parse_old_ad(values[5], check=False)
        return cls(*values)
