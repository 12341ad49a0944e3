"""Where a daemon is, as a location ad or a text says it."""

from __future__ import annotations

from kettle.compat.classad2 import ClassAd
from kettle.compat.htcondor2.errors import said_as
from kettle.wire.sinful import Sinful


def address_of(location: ClassAd) -> Sinful:
    """Return the address in a location ad; ValueError if there is none."""
    found = location.get("MyAddress")
    if not isinstance(found, str):
        raise ValueError("Address not available in location ClassAd.")  # noqa: TRY004 - as the wheel
    return sinful_of(found)


def sinful_of(text: str) -> Sinful:
    """Return an address that is written as daemons write theirs; HTCondorException if it is not."""
    with said_as("Unable to connect to the remote daemon."):
        return Sinful.parse(text)


def check_location(location: object) -> ClassAd:
    """Return a location ad; TypeError for anything else."""
    if not isinstance(location, ClassAd):
        raise TypeError("location must be a ClassAd")
    return location
