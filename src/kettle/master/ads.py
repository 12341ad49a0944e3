"""What the master says about itself: the DaemonMaster ad, and the states of its daemons."""

from __future__ import annotations

from collections.abc import Iterable

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.master.child_machine import DaemonState, Phase


def master_ad(config: Config, daemons: Iterable[DaemonState], *, uid: int) -> ClassAd:
    """Return the DaemonMaster ad, without the attributes that all daemons' ads have."""
    ad = ClassAd({"MyType": "DaemonMaster", "RealUid": uid})
    for name in ("OpSys", "Arch", "OpSysAndVer"):
        value = config.get(name.upper())
        if value is not None:
            ad[name] = value
    for name in ("DetectedCpus", "DetectedMemory"):
        number = config.integer(name.replace("Detected", "DETECTED_").upper())
        if number is not None:
            ad[name] = number
    names = []
    for state in daemons:
        names.append(state.name)
        if state.phase is Phase.RUNNING:
            ad[f"{state.name}_StartTime"] = int(state.started_at)
    ad["DaemonList"] = ",".join(["MASTER", *names])
    for name in config.words("MASTER_ATTRS"):
        text = config.get(name)
        if text is not None:
            ad.insert_text(name, text)
    return ad


def readiness_ad(daemons: Iterable[DaemonState]) -> ClassAd:
    """Return what DC_QUERY_READY answers: a state for each daemon, and for all together."""
    ad = ClassAd()
    everything = True
    for state in daemons:
        word = describe(state)
        ad[state.name] = word
        everything = everything and (word == "Ready" or state.phase is Phase.OFF)
    ad["MASTER"] = "Ready" if everything else "Starting"
    ad["AllReady"] = everything
    return ad


def describe(state: DaemonState) -> str:
    """Say in a word how a daemon stands."""
    if state.phase is Phase.RUNNING:
        return "Ready" if state.ready else "Alive"
    return {
        Phase.OFF: "Off",
        Phase.WAITING: "Backoff",
        Phase.STARTING: "Starting",
        Phase.STOPPING: "Exiting",
    }[state.phase]
