"""Daemons turned off and on by the master; changes the pool for a while."""

from __future__ import annotations

import htcondor2
from htcondor2 import AdType, DaemonCommand
from steps import Steps, wait_for

steps = Steps()
collector = htcondor2.Collector()
master = collector.query(AdType.Master)[0]


def running(kind):
    return sorted((ad["Name"], ad["MyAddress"]) for ad in collector.query(kind))


def tell(name, ad, command, target=None):
    steps.attempt(name, htcondor2.send_command, ad, command, target)


tell("off", master, DaemonCommand.DaemonOff, "STARTD")
steps.attempt("is off", lambda: wait_for("no startd", lambda: not running(AdType.Startd)))
tell("on", master, DaemonCommand.DaemonOn, "STARTD")
steps.attempt("is on", lambda: len(wait_for("a startd", lambda: running(AdType.Startd))) > 0)
tell("nonsense", master, DaemonCommand.DaemonOff, "NONSENSE")
tell("off fast", master, DaemonCommand.DaemonOffFast, "NEGOTIATOR")
steps.attempt(
    "is off fast", lambda: wait_for("no negotiator", lambda: not running(AdType.Negotiator))
)
tell("on again", master, DaemonCommand.DaemonOn, "NEGOTIATOR")
steps.attempt(
    "is on again", lambda: len(wait_for("a negotiator", lambda: running(AdType.Negotiator)))
)
before = running(AdType.Schedd)
tell("schedd goes", collector.query(AdType.Schedd)[0], DaemonCommand.OffGraceful)
steps.attempt(
    "schedd is back",
    lambda: wait_for("another schedd", lambda: running(AdType.Schedd) not in ([], before)),
)
steps.attempt("it answers", lambda: htcondor2.Schedd().query("false"))
steps.report()
