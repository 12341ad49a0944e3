"""Imported by the startd's zygote last: does once what every starter would do again.

Reads the configuration, and lets a made-up job go through everything that needs neither
a file nor a process: what that sets up on its first use (ciphers, patterns, modules that are
imported late) is there before any fork. Nothing is opened and nothing is kept but memory.
"""

from __future__ import annotations

import contextlib
import encodings.ascii
import encodings.idna  # noqa: F401 - resolving any address needs it
import shutil  # noqa: F401 - removing a sandbox needs it
from secrets import token_bytes

from kettle.classad import ClassAd, parse_expression
from kettle.errors import KettleError
from kettle.starter import outcome
from kettle.starter.launch import plan_launch
from kettle.starter.place import Place, Process
from kettle.starter.services.entry import warm
from kettle.starter.settings import StarterSettings
from kettle.starter.usage import Usage, update_ad
from kettle.transfer.plan import sends_only_changes
from kettle.transfer.remaps import parse_remaps
from kettle.wire.channel import Channel
from kettle.wire.messages.rpc import RepeatedCall
from kettle.wire.messages.syscalls import RegisterStarterInfo
from kettle.wire.security.claim_id import SUBMIT_SIDE, mint_claim_id

_ADDRESS = "<127.0.0.1:9618?addrs=127.0.0.1-9618>"


def _rehearse_messages() -> None:
    """Send one encrypted message to nobody, in a session of a claim that nobody has."""
    sender = Channel(token_bytes)
    claim = mint_claim_id(_ADDRESS, 1, 1, bytes(32))
    sender.start_encryption(claim.session(SUBMIT_SIDE).key or bytes(32))
    writer = sender.writer()
    RepeatedCall(RegisterStarterInfo(ClassAd({"Name": "slot1@here"}))).write(writer)
    receiver = Channel.restore(sender.export(), token_bytes)
    receiver.receive(sender.encode(writer))


def _rehearse_job(settings: StarterSettings) -> None:
    """Plan a job that is never started."""
    slot = ClassAd({"Name": "slot1@here", "Cpus": 1, "Memory": 1, "Disk": 1})
    job = ClassAd({"Cmd": "/bin/true", "Args": "a b", "Env": "A=b", "Iwd": "/"})
    place = Place(settings, slot, "slot1@here", Process(1, _ADDRESS))
    around = place.surroundings("/", job)
    with contextlib.suppress(KettleError):
        plan_launch(job, slot, place.sandbox, around, transfers=True)
    place.private_folders(slot, job, "")
    place.shown_folders("")
    place.limits(slot, job)
    place.text_of(place.slot_for(ClassAd({"MyCurrentTime": 1}), job))
    place.info().update(place.provisioned)
    update_ad(Usage(1.0), 1, "Running", 2.0).update(outcome.exit_attributes(0))
    sends_only_changes(job)
    # Patterns are compiled on their first use.
    parse_remaps("a=b;c=d")
    for old in (False, True):
        parse_expression('a.b + "c" =?= 1.5', old=old)


_rehearse_messages()
# What is wrong with the configuration the startd itself says.
with contextlib.suppress(KettleError):
    _rehearse_job(warm(0).settings)
