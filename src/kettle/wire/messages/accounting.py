"""Accounting commands to the negotiator: read and set priorities, usage, ceilings and floors.

Setters have no reply: the connection closes. Source: wire notes, Accounting commands.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.wire.commands import Command
from kettle.wire.messages.fields import Message, ad, integer, real, string


class SetUserReal(Message, command=Command.SET_PRIORITYFACTOR):
    """A user and a real: SET_PRIORITYFACTOR, SET_PRIORITY, SET_ACCUMUSAGE."""

    user: str = string()
    value: float = real()


class SetUserInteger(Message, command=Command.SET_BEGINTIME):
    """A user and an integer: SET_BEGINTIME, SET_LASTTIME, SET_CEILING, SET_FLOOR."""

    user: str = string()
    value: int = integer()


class UserCommand(Message, command=Command.RESET_USAGE):
    """A user: RESET_USAGE, DELETE_USER, GET_RESLIST."""

    user: str = string()


class ResetAllUsage(Message, command=Command.RESET_ALL_USAGE):
    """Nothing; every usage is set to zero."""


class GetPriority(Message, command=Command.GET_PRIORITY):
    """Nothing; GET_PRIORITY and GET_PRIORITY_ROLLUP."""


class AccountingReply(Message, answers=Command.GET_PRIORITY):
    """Name1, Priority1, ... or the slots of one user; an ad without the trailing types."""

    ad: ClassAd = ad(types=False)


class ManageLease(Message, command=Command.MANAGE_CEILING):
    """A lease of a change: MANAGE_CEILING, MANAGE_FLOOR, MANAGE_PRIORITY_FACTOR."""

    request: ClassAd = ad()


class ManageLeaseReply(Message, answers=Command.MANAGE_CEILING):
    """What became of the lease."""

    response: ClassAd = ad()
