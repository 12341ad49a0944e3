"""A startd that its broker knows by another number: what of its new address the schedd believes.

Pure. A shadow finds the new number in the collector and reports the address, but a shadow's host
lives with its user's rights: with that word no user may send the schedd elsewhere.
"""

from __future__ import annotations

from kettle.classad.unparse import unquote
from kettle.errors import ClassAdSyntaxError, RemoteProtocolError
from kettle.wire.sinful import Sinful

# Limit: characters of a reported address that is looked at.
_LONGEST = 10_000


def moved_address(known: str, told: str) -> str | None:
    """Return the address of a claim's startd now; None if `told` is not that of the same startd.

    `told` is the text of a job's attribute, a literal.

    The startd is where it was, and its brokers are those that it had: only its numbers there may
    be others. All else of the address stays as the schedd knows it.
    """
    if len(told) > _LONGEST:
        return None
    try:
        old, new = Sinful.parse(known), Sinful.parse(unquote(told))
        had, has = dict(old.ccb_contacts), new.ccb_contacts
    except (ClassAdSyntaxError, RemoteProtocolError):
        return None
    if old.endpoint != new.endpoint or old.shared_port_id != new.shared_port_id:
        return None
    contacts = new.parameter("CCBID") or ""
    if not has or len(has) != len(contacts.split()):
        return None
    if any(broker not in had or not _is_number(number) for broker, number in has):
        return None
    return str(old.with_parameter("CCBID", contacts))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 20
