"""What the master says about itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.master.ads import answers, master_ad, readiness_ad
from kettle.master.child_machine import DaemonState, How, Phase


def test_the_masters_ad_has_the_size_of_its_machine() -> None:
    facts = {"DETECTED_CPUS": "6", "DETECTED_MEMORY": "2048"}
    ad = master_ad(Config.from_text("", subsystem="MASTER", facts=facts), [], uid=7)
    assert ad.integer("RealUid") == 7
    assert ad.integer("DetectedCpus") == 6
    assert ad.integer("DetectedMemory") == 2048


STARTD = DaemonState("STARTD", phase=Phase.RUNNING, run=1, pid=8, ready=True)


@pytest.mark.parametrize(
    ("state", "word", "ready"),
    [
        (STARTD, "Alive", True),
        (replace(STARTD, ready=False), "Startup", False),
        (replace(STARTD, phase=Phase.STARTING, ready=False), "Startup", False),
        (replace(STARTD, phase=Phase.WAITING, ready=False), "Dead", False),
        (replace(STARTD, phase=Phase.OFF, ready=False), "Hold", True),
        (DaemonState("STARTD"), "Startup", False),
        (replace(STARTD, phase=Phase.STOPPING, how=How.FAST), "Shutdown,Fast", True),
    ],
)
def test_a_daemons_state_has_the_references_word(
    state: DaemonState, word: str, ready: bool
) -> None:
    ad = readiness_ad([state], pid=7)
    assert ad.string("STARTD") == word
    assert ad.boolean("IsReady") is ready
    assert ad.integer("NumDaemons") == 2


def test_who_waits_is_answered_when_the_condition_holds_or_never_can() -> None:
    ready = readiness_ad([STARTD], pid=7)
    request = ClassAd()
    assert answers(ready, request)
    assert not answers(readiness_ad([DaemonState("STARTD")], pid=7), request)
    request.insert_text("ReadyRequirements", 'IsReady && SCHEDD_State =?= "Ready"')
    assert not answers(ready, request)
    request.insert_text("ReadyRequirements", 'SCHEDD_State == "Ready"')
    assert answers(ready, request)
    assert "does not evaluate" in (ready.string("Error") or "")
