"""Keeping the secrets of claims and sessions out of what others may read.

Pure, and without anything to load: every line of every log passes here.
"""

from __future__ import annotations

from kettle.patterns import late_pattern

# What is a secret inside a text: behind an address and two numbers, or behind a session's info. No
# part is looked at twice, whatever a peer sends.
_SECRET = late_pattern(
    r"((?:>|&gt;)#\d++#\d++#|#(?=\[\s*+\w++\s*+=))(?:\[[^\[\]\n]*+\])?[^\s()\[\]<>&'\",;\\]++"
)


def hide_secrets(text: str) -> str:
    """Return a text with every claim id and session id in it in its public form.

    A peer may say in full what it was asked with: a startd of HTCondor names the claim that it does
    not find. So whatever becomes a line of a log, an event, or an attribute that others may read
    passes here.
    """
    # In XML the address ends with an entity.
    if ">#" not in text and "#[" not in text and "&gt;#" not in text:
        return text
    return _SECRET.sub(r"\1...", text)
