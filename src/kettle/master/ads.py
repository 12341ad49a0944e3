"""What the master says about itself: the DaemonMaster ad, and the states of its daemons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.master.child_machine import DaemonState, How, Phase


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


def readiness_ad(
    daemons: Iterable[DaemonState], *, pid: int, addresses: Mapping[str, str] | None = None
) -> ClassAd:
    """Return what DC_QUERY_READY answers: each daemon's state, and the counts of the states.

    `pid` is the master's own; `addresses` are of those daemons whose address is known, by name.
    Names and words are those of the reference's answer, which `condor_who -quick` prints.
    """
    counts = Counter({_ALIVE: 1})
    ad = ClassAd({"MASTER": _ALIVE, "MASTER_PID": pid})
    for state in daemons:
        word = describe(state)
        counts[word] += 1
        ad[state.name] = word
        ad[f"{state.name}_PID"] = state.pid
        if state.ready:
            ad[f"{state.name}_State"] = "Ready"
    for name, address in (addresses or {}).items():
        ad[f"{name}_Addr"] = address
    ad["NumDaemons"] = counts.total()
    for word in (_ALIVE, _STARTUP, _HUNG, _HOLD, _DEAD):
        ad[f"Num{word}"] = counts[word]
    ad["IsReady"] = not (counts[_STARTUP] or counts[_HUNG] or counts[_DEAD])
    return ad


_ALIVE, _STARTUP, _HUNG, _HOLD, _DEAD = "Alive", "Startup", "Hung", "Hold", "Dead"


def describe(state: DaemonState) -> str:
    """Say in a word how a daemon stands."""
    if state.phase is Phase.RUNNING:
        return _ALIVE if state.ready else _STARTUP
    if state.phase is Phase.STOPPING:
        return f"Shutdown,{(state.how or How.GRACEFUL).name.capitalize()}"
    if state.phase is Phase.WAITING:
        return _DEAD
    # Off since nobody has started it yet is on its way; off after it ran is as somebody wished.
    return _HOLD if state.phase is Phase.OFF and state.run else _STARTUP


def serves(state: DaemonState) -> bool:
    """Tell whether a daemon is as it should be: at work, or off because somebody wished so."""
    return describe(state) in {_ALIVE, _HOLD}


def answers(ad: ClassAd, request: ClassAd) -> bool:
    """Tell whether a state is what somebody waits for: ReadyRequirements, else IsReady.

    A condition that is no truth value can never hold: that is said in the ad, at once.
    """
    condition = request.lookup("ReadyRequirements")
    if condition is None:
        return ad.boolean("IsReady") is True
    held = ad.evaluate_expression(condition)
    if isinstance(held, (bool, int, float)):
        return bool(held)
    ad["Error"] = "ReadyRequirements does not evaluate to a bool or equivalent"
    return True
