"""Every job action, chosen in every way; edits; what became of the jobs."""

from __future__ import annotations

import classad2
import htcondor2
from htcondor2 import JobAction
from steps import Steps, wait_for

steps = Steps()
schedd = htcondor2.Schedd()


def sleepers(count, **more):
    description = {"executable": "/bin/sleep", "arguments": "600", "request_memory": "16M", **more}
    description.setdefault("request_disk", "1M")
    return schedd.submit(htcondor2.Submit(description), count=count).cluster()


def job(spec):
    cluster, _, proc = str(spec).partition(".")
    text = f"ClusterId == {cluster}" + (f" && ProcId == {proc}" if proc else "")
    return schedd.query(text)[0]


def all_are(cluster, status):
    jobs = schedd.query(f"ClusterId == {cluster}", ["JobStatus"])
    return jobs and all(ad["JobStatus"] == status for ad in jobs)


# Jobs that wait.
held = sleepers(6, hold="true")
steps.attempt("release one", schedd.act, JobAction.Release, f"{held}.0")
steps.attempt("hold one", schedd.act, JobAction.Hold, f"{held}.0", ("my reason", 42))
steps.attempt(
    "hold one seen",
    lambda: [job(f"{held}.0").get(name) for name in ("HoldReasonCode", "HoldReasonSubCode")],
)
steps.attempt("hold reason", lambda: job(f"{held}.0")["HoldReason"].split(" (by user")[0])
steps.attempt("hold again", schedd.act, JobAction.Hold, f"{held}.0")
steps.attempt("hold, default reason", schedd.act, JobAction.Release, f"{held}.1")
schedd.act(JobAction.Hold, f"{held}.1")
steps.attempt("default reason", lambda: job(f"{held}.1")["HoldReason"].split(" (by user")[0])
schedd.act(JobAction.Release, f"{held}.1")
schedd.act(JobAction.Hold, f"{held}.1", "a plain word")
steps.attempt("plain reason", lambda: job(f"{held}.1")["HoldReason"].split(" (by user")[0])
steps.attempt("release two", schedd.act, JobAction.Release, [f"{held}.1", f"{held}.2"])
steps.attempt("hold by constraint", schedd.act, JobAction.Hold, f"ClusterId == {held}")
tree = classad2.ExprTree(f"ClusterId == {held} && ProcId == 5")
steps.attempt("remove by tree", schedd.act, JobAction.Remove, tree)
steps.attempt("remove a list", schedd.act, JobAction.Remove, [f"{held}.3", f"{held}.4"])
steps.attempt("remove a missing one", schedd.act, JobAction.Remove, f"{held}.99")
steps.attempt("remove nobody's", schedd.act, JobAction.Remove, 'Owner == "nobody at all"')
steps.attempt("remove some", schedd.act, JobAction.Remove, [f"{held}.0", f"{held}.99"])
steps.attempt("suspend a held one", schedd.act, JobAction.Suspend, f"{held}.1")
steps.attempt("removex a held one", schedd.act, JobAction.RemoveX, f"{held}.1")
steps.attempt("wrong constraint", schedd.act, JobAction.Hold, "ClusterId ==")
steps.attempt("not an action", schedd.act, 1, f"{held}.1")
steps.attempt("not a spec", schedd.act, JobAction.Hold, 1.5)
steps.attempt("a bad list", schedd.act, JobAction.Hold, ["x"])

# Edits.
steps.attempt("edit", schedd.edit, f"{held}.2", "Colour", '"green"')
steps.attempt("edit tree", schedd.edit, f"{held}.2", "Shape", classad2.ExprTree("1 + ProcId"))
steps.attempt("edit cluster", schedd.edit, held, "Taste", "3.5")
steps.attempt("edit constraint", schedd.edit, f"ClusterId == {held}", "Sound", "true")
steps.attempt("edit list", schedd.edit, [f"{held}.1", f"{held}.2"], "Odour", "{1, 2}")
steps.attempt(
    "edited",
    lambda: {
        name: job(f"{held}.2").lookup(name)
        for name in ("Colour", "Shape", "Taste", "Sound", "Odour")
    },
)
steps.attempt("edit immutable", schedd.edit, f"{held}.2", "Owner", '"somebody"')
steps.attempt("edit cluster id", schedd.edit, f"{held}.2", "ClusterId", "1")
steps.attempt("edit a missing one", schedd.edit, f"{held}.99", "Colour", "1")
steps.attempt("edit nobody's", schedd.edit, 'Owner == "nobody at all"', "Colour", "1")
steps.attempt("edit wrongly", schedd.edit, f"{held}.2", "Colour", "1 +")
steps.attempt("edited wrongly", lambda: job(f"{held}.2").lookup("Colour"))
steps.attempt("edit a wrong name", schedd.edit, f"{held}.2", "no name", "1")
steps.attempt("remove cluster", schedd.act, JobAction.Remove, held)
steps.attempt("left", lambda: len(schedd.query(f"ClusterId == {held}")))

# Jobs that run.
running = sleepers(2)
wait_for("running job", lambda: all_are(running, 2))
steps.attempt("suspend", schedd.act, JobAction.Suspend, f"{running}.0")
wait_for("suspended job", lambda: job(f"{running}.0")["JobStatus"] == 7)
steps.attempt("suspended", lambda: job(f"{running}.0")["JobStatus"])
steps.attempt("continue", schedd.act, JobAction.Continue, str(running))
wait_for("continued job", lambda: all_are(running, 2))
steps.attempt("continued", lambda: job(f"{running}.0")["JobStatus"])
steps.attempt("vacate", schedd.act, JobAction.Vacate, f"{running}.0")
wait_for("second start", lambda: job(f"{running}.0")["NumShadowStarts"] == 2)
steps.attempt("vacate fast", schedd.act, JobAction.VacateFast, f"{running}.1")
wait_for("second start", lambda: job(f"{running}.1")["NumShadowStarts"] == 2)
steps.attempt("hold running", schedd.act, JobAction.Hold, [str(running)], ("enough", 7))
wait_for("held job", lambda: all_are(running, 5))
steps.attempt(
    "held running",
    lambda: [job(f"{running}.0").get(name) for name in ("HoldReasonCode", "HoldReasonSubCode")],
)
steps.attempt("remove running", schedd.act, JobAction.Remove, str(running))
wait_for("empty queue", lambda: not schedd.query(f"ClusterId == {running}"))
steps.attempt(
    "removed",
    lambda: [
        (ad["JobStatus"], ad["RemoveReason"].split(" (by user")[0])
        for ad in schedd.history(f"ClusterId == {running}", [], 2)
    ],
)
steps.report()
