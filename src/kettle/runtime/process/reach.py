"""Whether the account that a daemon becomes can still read Python and Kettle.

Both load what they need when they need it: a daemon that lost the way there would fail at the first
thing that it has not loaded yet, and in words that nobody understands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import kettle
from kettle.errors import StorageError
from kettle.runtime.process.privileges import Account, first_closed

# Where Python, its library and Kettle are.
PLACES = (sys.prefix, os.path.dirname(os.__file__), os.path.dirname(kettle.__file__))


def check_reach(account: Account, places: Sequence[str] = PLACES) -> None:
    """Raise StorageError if this process, which works as `account` by now, is kept from a place."""
    for place in places:
        try:
            os.stat(os.path.join(place, "."))
        except PermissionError as error:
            closed = first_closed(account, place) or place
            raise StorageError(
                f"this daemon works as the account {account.name}, to which {closed} is closed, "
                "and Python and Kettle are in there",
                hint="install Kettle where everybody can read, such as /opt/kettle, or change "
                "CONDOR_IDS",
                errno=error.errno or 0,
            ) from None
