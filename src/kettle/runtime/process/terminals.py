"""Whether a shell server that is not root can give its user a terminal.

sshd hands a new terminal to the group `tty`, and ends where it may not. Only root may, unless
/dev/pts is mounted so that terminals belong to that group from the start, as nearly everywhere.
"""

from __future__ import annotations

import enum
import grp
import os


class Terminals(enum.Enum):
    """What comes of a wish for a terminal."""

    GIVEN = "given"
    # The account may not hand a terminal of its own to the group.
    GROUP = "group"
    # There is none to be had at all.
    NONE = "none"


def try_terminal() -> Terminals:
    """Take a terminal as whoever we are at the moment, and do with it what sshd does."""
    try:
        pair = os.openpty()
    except OSError:
        return Terminals.NONE
    try:
        os.chown(pair[1], os.geteuid(), grp.getgrnam("tty").gr_gid)
    except KeyError:
        return Terminals.GIVEN
    except OSError:
        return Terminals.GROUP
    finally:
        for descriptor in pair:
            os.close(descriptor)
    return Terminals.GIVEN
