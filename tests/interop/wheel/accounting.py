"""The negotiator's books: priorities, factors, usage, ceilings, who uses what."""

from __future__ import annotations

import htcondor2
from steps import Steps, wait_for

steps = Steps()
negotiator = htcondor2.Negotiator()
schedd = htcondor2.Schedd()
cluster = schedd.submit(
    htcondor2.Submit(
        {
            "executable": "/bin/sleep",
            "arguments": "600",
            "request_memory": "16M",
            "request_disk": "1M",
        }
    )
).cluster()
wait_for("run", lambda: schedd.query(f"ClusterId == {cluster}")[0]["JobStatus"] == 2)
user = schedd.query(f"ClusterId == {cluster}")[0]["User"]


def entry(name=user):
    return next((ad for ad in negotiator.getPriorities() if ad.get("Name") == name), {})


wait_for("usage", lambda: entry().get("ResourcesUsed"))
steps.attempt("names", lambda: sorted(entry()))
steps.attempt("used", lambda: entry()["ResourcesUsed"])
steps.attempt("rollup", lambda: len(negotiator.getPriorities(rollup=True)) > 0)
usage = wait_for("resource usage", lambda: list(negotiator.getResourceUsage(user)))
steps.attempt("usage names", lambda: sorted(usage[0]))
steps.attempt("set factor", negotiator.setFactor, "x@y", 25.5)
steps.attempt("factor", lambda: wait_for("factor", lambda: entry("x@y").get("PriorityFactor")))
steps.attempt("factor too small", negotiator.setFactor, "x@y", 0.5)
steps.attempt("no user", negotiator.setFactor, "nobody", 2.0)
steps.attempt("set priority", negotiator.setPriority, "x@y", 7.0)
steps.attempt(
    "priority",
    lambda: wait_for(
        "priority", lambda: entry("x@y")["Priority"] > 100 and entry("x@y")["Priority"] / 25.5 > 6
    ),
)
steps.attempt("set usage", negotiator.setUsage, "x@y", 1234.0)
steps.attempt(
    "usage", lambda: wait_for("usage", lambda: round(entry("x@y")["WeightedAccumulatedUsage"]))
)
steps.attempt("set begin", negotiator.setBeginUsage, "x@y", 1_000_000_000)
steps.attempt(
    "begin", lambda: wait_for("begin", lambda: entry("x@y")["BeginUsageTime"] == 1_000_000_000)
)
steps.attempt("set last", negotiator.setLastUsage, "x@y", 1_000_000_001)
steps.attempt(
    "last", lambda: wait_for("last", lambda: entry("x@y")["LastUsageTime"] == 1_000_000_001)
)
steps.attempt("set ceiling", negotiator.setCeiling, "x@y", 3)
steps.attempt("ceiling", lambda: wait_for("ceiling", lambda: entry("x@y")["Ceiling"] == 3))
steps.attempt("reset usage", negotiator.resetUsage, "x@y")
steps.attempt(
    "after reset",
    lambda: wait_for("reset", lambda: entry("x@y")["WeightedAccumulatedUsage"] == 0),
)
steps.attempt("reset all", negotiator.resetAllUsage)
steps.attempt("delete", negotiator.deleteUser, "x@y")
steps.attempt("deleted", lambda: wait_for("deletion", lambda: not entry("x@y")))
schedd.act(htcondor2.JobAction.Remove, cluster)
steps.report()
