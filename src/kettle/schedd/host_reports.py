"""What the schedd believes of a shadow host's words: only of jobs that it was given, only a run's.

Pure. A host lives with its user's rights, so these words may be the user's. Which names a run may
report is `policy/job_words.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.policy.attribute_protection import Protection, may_report
from kettle.records.unwritten_events import SHADOW_EVENTS
from kettle.remembered import Answers
from kettle.wire.security.secret_words import hide_secrets

# Where a shadow found its startd: the scheduler looks at the value (`moved_startds.py`).
_STARTD = "StartdIpAddr"
# Limit: what the names take of which it is remembered whether a run may report them.
_REMEMBERED_BYTES = 256 * 1024


class Beliefs:
    """What is believed of every host under the same lists of protected attributes."""

    def __init__(self, lists: Protection) -> None:
        self.lists = lists
        # Every run reports the same few dozen names.
        self._of_a_run: Answers[str, bool] = Answers(
            lambda name: name == _STARTD or may_report(name, lists), _REMEMBERED_BYTES
        )

    def believed(
        self, attributes: Mapping[str, str], *, running: bool
    ) -> tuple[dict[str, str], list[str]]:
        """Return what is believed of a host's words about a job, and the names of what is not.

        Of a job that it no longer runs a host knows one thing: which events it has yet to write.
        What it passes on of a machine's words may name a claim, and everybody reads a job's ad.
        """
        of_a_run = self._of_a_run
        kept = {
            name: text
            for name, text in attributes.items()
            if (of_a_run[name] if running else name == SHADOW_EVENTS)
        }
        # Nearly no report has a secret; no text alone has one that all together have not.
        together = "\n".join(kept.values())
        if hide_secrets(together) != together:
            kept = {name: hide_secrets(text) for name, text in kept.items()}
        return kept, [name for name in attributes if name not in kept]
