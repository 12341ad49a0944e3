"""Priorities and usage, from a tool: what the negotiator answers and what it can be told.

One function a command; the sums are `matchmaking`'s, the tables the tools'. Source: wire notes,
Accounting commands.
"""

from __future__ import annotations

from kettle.attributes.version import is_ours
from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.daemon import REPLY_SECONDS
from kettle.client.pool import make_query, query_ads
from kettle.errors import RefusedError
from kettle.wire.commands import Command
from kettle.wire.messages import accounting
from kettle.wire.messages.fields import Message
from kettle.wire.sinful import Sinful

REAL_SETTERS = frozenset((Command.SET_PRIORITYFACTOR, Command.SET_PRIORITY, Command.SET_ACCUMUSAGE))
INTEGER_SETTERS = frozenset(
    (Command.SET_BEGINTIME, Command.SET_LASTTIME, Command.SET_CEILING, Command.SET_FLOOR)
)


def set_for_user(
    connector: Connector, address: Sinful, command: Command, user: str, value: float
) -> None:
    """Set one of a user's numbers.

    RefusedError if the negotiator says that it did not take it: the reference's does so only where
    a factor is set.
    """
    message: accounting.SetUserReal | accounting.SetUserInteger
    if command in REAL_SETTERS:
        message = accounting.SetUserReal(user, float(value))
    else:
        assert command in INTEGER_SETTERS
        message = accounting.SetUserInteger(user, int(value))
    if command != Command.SET_PRIORITYFACTOR:
        _tell(connector, address, command, message)
        return
    with connector.connect(address, command) as stream:
        stream.send(message)
        # A negotiator that was not told our version says nothing.
        if stream.session is None:
            return
        _check(stream.receive().ad())


def _tell(connector: Connector, address: Sinful, command: Command, message: Message | None) -> None:
    """Send a command; only a negotiator of ours says what came of it, when that is on disk."""
    with connector.connect(address, command) as stream:
        if message is not None:
            stream.send(message)
        else:
            stream.finish_bare()
        if stream.session is not None and is_ours(stream.session.peer_version):
            _check(stream.receive(REPLY_SECONDS).ad())


def _check(answer: ClassAd) -> None:
    if answer.integer("ErrorCode"):
        raise RefusedError(answer.string("ErrorString") or "the negotiator refused")


# What a lease of each command changes.
_LEASED = {
    Command.MANAGE_CEILING: "Ceiling",
    Command.MANAGE_FLOOR: "Floor",
    Command.MANAGE_PRIORITY_FACTOR: "PriorityFactor",
}


def lease_for_user(
    connector: Connector, address: Sinful, command: Command, user: str, value: float, seconds: int
) -> None:
    """Set one of a user's numbers for so many seconds; RefusedError if it is not taken."""
    kept = value if command is Command.MANAGE_PRIORITY_FACTOR else int(value)
    request = {"Submitter": user, "Action": "set", _LEASED[command]: kept, "Duration": seconds}
    _manage_lease(connector, address, command, ClassAd(request))


def cancel_lease(connector: Connector, address: Sinful, command: Command, user: str) -> None:
    """Give back what a user had before the lease; RefusedError if there is none."""
    _manage_lease(connector, address, command, ClassAd({"Submitter": user, "Action": "cancel"}))


def _manage_lease(connector: Connector, address: Sinful, command: Command, ad: ClassAd) -> None:
    with connector.connect(address, command) as stream:
        stream.send(accounting.ManageLease(ad))
        answer = accounting.ManageLeaseReply.read(stream.receive()).response
    if answer.boolean("Success") is not True:
        raise RefusedError(answer.string("ErrorString") or "unknown error")


def reset_usage(connector: Connector, address: Sinful, user: str = "") -> None:
    """Set a user's usage to zero, or without `user` everybody's."""
    if user:
        _tell(connector, address, Command.RESET_USAGE, accounting.UserCommand(user))
    else:
        _tell(connector, address, Command.RESET_ALL_USAGE, None)


def delete_user(connector: Connector, address: Sinful, user: str) -> None:
    """Have the negotiator forget a user's record."""
    _tell(connector, address, Command.DELETE_USER, accounting.UserCommand(user))


def read_priorities(connector: Connector, address: Sinful, *, rollup: bool = False) -> ClassAd:
    """Return Name1, Priority1, ... of all users, and NumSubmittors."""
    command = Command.GET_PRIORITY_ROLLUP if rollup else Command.GET_PRIORITY
    with connector.connect(address, command) as stream:
        stream.finish_bare()
        return accounting.AccountingReply.read(stream.receive()).ad


def read_resources(connector: Connector, address: Sinful, user: str) -> ClassAd:
    """Return Name1, StartTime1, ... of the slots a user holds."""
    with connector.connect(address, Command.GET_RESLIST) as stream:
        stream.send(accounting.UserCommand(user))
        return accounting.AccountingReply.read(stream.receive()).ad


def read_accounting_ads(
    connector: Connector, address: Sinful, constraint: str = ""
) -> list[ClassAd]:
    """Return one ad for each user and group."""
    query = make_query("Accounting", constraints=[constraint] if constraint else [])
    return query_ads(connector, address, Command.QUERY_ACCOUNTING_ADS, query)
