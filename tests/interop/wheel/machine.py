"""The execution point: drain and resume it, vacate its slots, ask for its claims."""

from __future__ import annotations

import htcondor2
from htcondor2 import CompletionType, DrainType, JobAction, VacateType
from steps import Steps, wait_for

steps = Steps()
collector = htcondor2.Collector()
schedd = htcondor2.Schedd()
startd = htcondor2.Startd(collector.locate(htcondor2.DaemonType.Startd))


def slot(name="slot1@"):
    return next(
        ad for ad in collector.query(htcondor2.AdType.Startd) if ad["Name"].startswith(name)
    )


def job(cluster):
    return schedd.query(f"ClusterId == {cluster}")[0]


SLEEP = {
    "executable": "/bin/sleep",
    "arguments": "600",
    "request_memory": "16M",
    "request_disk": "1M",
}
# What another script has removed just now may still have its claim.
wait_for("free machine", lambda: not schedd.get_claims("true"))
cluster = schedd.submit(htcondor2.Submit(SLEEP)).cluster()
wait_for("run", lambda: job(cluster)["JobStatus"] == 2)

steps.attempt("claims", lambda: len(wait_for("claim", lambda: schedd.get_claims("true"))))
steps.attempt("claims chosen", lambda: len(schedd.get_claims("false")))
steps.attempt("claims shown", lambda: schedd.get_claims("true", ["State"])[0]["State"])

name = job(cluster)["RemoteHost"]
steps.attempt("vacate slot", startd.vacateSlot, name)
steps.attempt(
    "vacated", lambda: wait_for("second shadow", lambda: job(cluster)["NumShadowStarts"] > 1)
)
wait_for("run", lambda: job(cluster)["JobStatus"] == 2)
steps.attempt("vacate", startd.vacate, VacateType.Fast)
steps.attempt(
    "vacated all", lambda: wait_for("third shadow", lambda: job(cluster)["NumShadowStarts"] > 2)
)
wait_for("run", lambda: job(cluster)["JobStatus"] == 2)

steps.attempt(
    "drain refused", startd.drainJobs, DrainType.Graceful, CompletionType.Nothing, "false"
)
request = steps.attempt(
    "drain",
    lambda: startd.drainJobs(DrainType.Fast, CompletionType.Nothing, reason="testing") or "?",
)
steps.seen["drain"] = isinstance(request, str) and len(request) > 0
steps.attempt("drained", lambda: wait_for("drained slot", lambda: slot()["State"] == "Drained"))
steps.attempt(
    "draining", lambda: {n: slot().get(n) for n in ("Draining", "DrainReason", "State", "Activity")}
)
steps.attempt("same request", lambda: slot()["DrainingRequestId"] == request)
steps.attempt("drain again", startd.drainJobs, DrainType.Fast)
steps.attempt("cancel another", startd.cancelDrainJobs, "no such request")
steps.attempt("cancel", startd.cancelDrainJobs, request)
steps.attempt("resumed", lambda: wait_for("free slot", lambda: slot()["State"] == "Unclaimed"))
steps.attempt("runs again", lambda: wait_for("run", lambda: job(cluster)["JobStatus"] == 2))
steps.attempt(
    "drain and resume",
    lambda: len(startd.drainJobs(DrainType.Quick, CompletionType.Resume)) > 0,
)
schedd.act(JobAction.Remove, cluster)
steps.attempt(
    "resumed by itself",
    lambda: wait_for(
        "free slot", lambda: slot()["State"] == "Unclaimed" and not slot().get("Draining", False)
    ),
)
steps.attempt("cancel nothing", startd.cancelDrainJobs)
steps.attempt("rehome nowhere", startd.rehome, "", "")
steps.report()
