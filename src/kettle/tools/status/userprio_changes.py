"""What `condor_userprio` has the negotiator change, and the slots that a user holds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kettle.errors import NotFoundError, RefusedError, Unreached
from kettle.tools.status.userprio_table import render_resources
from kettle.tools.status.userprio_words import CANCELS, COMMANDS, SETTERS, SPELLINGS, Wish

if TYPE_CHECKING:
    from kettle.client.connector import Connector
    from kettle.tools.options import Given
    from kettle.tools.programs import Streams
    from kettle.tools.reach import Reach
    from kettle.wire.sinful import Sinful


def describe_unsent(wish: Wish, name: str) -> str:
    """Return what is said of a change that did not reach the negotiator."""
    if name in CANCELS:
        lease = SETTERS[CANCELS[name]].lease
        return f"failed to start {lease} lease cancel command to negotiator\n"
    if name == "setfactor" and wish.duration:
        return "failed to start MANAGE_PRIORITY_FACTOR command to negotiator\n"
    return f"failed to send {SPELLINGS.get(name) or COMMANDS[name]} command to negotiator\n"


def tell_silence(wish: Wish, streams: Streams) -> None:
    """Say that the negotiator is nowhere to be found."""
    name, pool = wish.reach.get("name", "default"), wish.reach.get("pool", "local pool")
    streams.stderr.write(f"condor_userprio: Can't locate negotiator '{name}' in {pool}\n")


def locate(reach: Reach, wish: Wish, streams: Streams) -> Sinful | None:
    """Return the negotiator's address; None, with a sentence, if it is nowhere."""
    from kettle.client.pool import NEGOTIATOR

    try:
        return reach.locate(NEGOTIATOR, to_command=True).address
    except (Unreached, NotFoundError):
        tell_silence(wish, streams)
        return None


def find_fault(option: Given) -> str:
    """Return what is wrong with a change, or with asking for what a user holds; else nothing."""
    setter = SETTERS.get(option.name)
    user = option.value if option.values else ""
    if option.name in CANCELS and "@" not in user:
        return f"condor_userprio: -{option.name} requires a full submitter name (user@domain)\n"
    if option.name != "resetall" and "@" not in user:
        which, aim = "submittor", f"update the {setter.what if setter else 'priority'} of"
        if option.name == "delete":
            which, aim = "record", "delete"
        given = f" (not {user})" if setter is not None and setter.names_word else ""
        return (
            f"condor_userprio: You must specify the full name of the {which} you wish\n"
            f"\tto {aim} (user@uid.domain or user@full.host.name){given}\n"
        )
    if setter is not None and setter.least is not None:
        return setter.too_small if setter.read(option.values[1]) < setter.least else ""
    return ""


def change(reach: Reach, wish: Wish, option: Given, streams: Streams) -> int:
    """Tell the negotiator what to change, or ask it what a user holds.

    Where the negotiator is comes first: that it is nowhere is said before what is wrong with the
    words, as in the reference.
    """
    from kettle.client import accounting
    from kettle.wire.commands import Command

    address = locate(reach, wish, streams)
    fault = find_fault(option)
    if not fault and address is None:
        fault = describe_unsent(wish, option.name)
    if fault or address is None:
        streams.stderr.write(fault)
        return 1
    connector = reach.connector
    user = option.value if option.values else ""
    setter = SETTERS.get(option.name)
    if option.name in CANCELS or (wish.duration and setter is not None and setter.lease):
        return change_lease(connector, address, wish, option, streams)
    if setter is not None:
        value = setter.read(option.values[1])
        accounting.set_for_user(connector, address, Command[setter.command], user, value)
        done = setter.done.format(user=user, value=setter.value_format % value)
    elif option.name == "getreslist":
        from kettle.classad.forms import render_ads

        held = accounting.read_resources(connector, address, user)
        long = wish.long
        done = render_ads([held], "long") if long else render_resources(held, time.time())
        done = done.removesuffix("\n")
    elif option.name == "delete":
        accounting.delete_user(connector, address, user)
        done = f"The accountant record named {user} was deleted"
    else:
        accounting.reset_usage(connector, address, user)
        done = "The accumulated usage was reset for all users"
        if user:
            done = f"The accumulated usage of {user} was reset"
    streams.stdout.write(done + "\n")
    return 0


def change_lease(
    connector: Connector, address: Sinful, wish: Wish, option: Given, streams: Streams
) -> int:
    """Have the negotiator change something for a while, or end such a change."""
    from kettle.client import accounting
    from kettle.wire.commands import Command

    cancelled = option.name in CANCELS
    setter = SETTERS[CANCELS.get(option.name, option.name)]
    command, user = Command[setter.lease_command], option.value
    try:
        if cancelled:
            accounting.cancel_lease(connector, address, command, user)
            done = f"Cancelled {setter.lease} lease for {user}"
        else:
            value = setter.read(option.values[1])
            accounting.lease_for_user(connector, address, command, user, value, wish.duration)
            shown = setter.value_format % value
            done = f"Set {setter.lease} lease on {user} to {shown} for {wish.duration} seconds"
    except RefusedError as error:
        what = "cancel" if cancelled else f"{setter.lease} lease"
        streams.stderr.write(f"negotiator rejected {what}: {error.args[0]}\n")
        return 1
    streams.stdout.write(done + "\n")
    return 0
