"""How long the master waits before it starts a daemon again. Arithmetic only.

The manual's formula: a constant plus a factor to the power of the starts that failed in a row,
at most a ceiling; a daemon that ran for the recover time has a clean sheet again.
"""

from __future__ import annotations

from dataclasses import dataclass

# Limit: the exponent, so that a factor to its power stays a number.
_MOST_FAILURES = 64


@dataclass(frozen=True, slots=True)
class Backoff:
    """MASTER_BACKOFF_CONSTANT, _FACTOR, _CEILING and MASTER_RECOVER_FACTOR, in seconds.

    Each may be set for one daemon alone: MASTER_<NAME>_BACKOFF_CONSTANT and so on.
    """

    constant: float = 9.0
    factor: float = 2.0
    ceiling: float = 3600.0
    recover_seconds: float = 300.0

    def delay(self, failures: int) -> float:
        """Return the seconds to wait after so many earlier failures in a row."""
        grown = self.constant + self.factor ** min(failures, _MOST_FAILURES)
        return min(grown, self.ceiling)
