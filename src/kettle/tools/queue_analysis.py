"""Why jobs do not run: `condor_q -better-analyze`.

Which conditions there are and which slots meet them is found here with ClassAd evaluation alone;
ads come from the schedd and the collector, or from files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kettle.errors import UsageError
from kettle.tools.programs import Streams

if TYPE_CHECKING:
    from kettle.tools.queue_wish import Wish


def analyze(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:  # noqa: ARG001
    """Explain each job that is meant; the result is the exit code."""
    raise UsageError("Error: -better-analyze is not available yet")
