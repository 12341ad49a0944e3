"""Jobs run to their end; history, epochs, startd history, with every way to stop it."""

from __future__ import annotations

import sys
from pathlib import Path

import classad2
import htcondor2
from steps import Steps, wait_for

steps = Steps()
folder = Path(sys.argv[1])
schedd = htcondor2.Schedd()
collector = htcondor2.Collector()
startd = htcondor2.Startd(collector.locate(htcondor2.DaemonType.Startd))

first = schedd.submit(
    htcondor2.Submit(
        {
            "executable": "/bin/sh",
            "arguments": "\"-c 'exit $(Process)'\"",
            "request_memory": "16M",
            "request_disk": "1M",
            "log": str(folder / "history.log"),
        }
    ),
    count=4,
).cluster()
wait_for("end of the jobs", lambda: len(schedd.history(f"ClusterId == {first}", [], -1)) == 4)
mine = f"ClusterId == {first}"


def ids(ads):
    return [f"{ad['ClusterId'] - first}.{ad['ProcId']}" for ad in ads]


steps.attempt(
    "exit codes",
    lambda: sorted(
        (ad["ProcId"], ad["ExitCode"], ad["JobStatus"]) for ad in schedd.history(mine, [], -1)
    ),
)
steps.attempt("projection", lambda: sorted(schedd.history(mine, ["ProcId", "ExitCode"], 1)[0]))
steps.attempt("match", lambda: len(schedd.history(mine, ["ProcId"], 2)))
steps.attempt("no match limit", lambda: len(schedd.history(mine, ["ProcId"])))
steps.attempt("everything", lambda: len(schedd.history(None, ["ProcId"], 4)))
steps.attempt(
    "tree",
    lambda: len(schedd.history(classad2.ExprTree(f"ClusterId == {first} && ExitCode > 1"), [], -1)),
)
newest = schedd.history(mine, ["ProcId"], -1)
steps.attempt(
    "since a job",
    lambda: len(schedd.history(mine, ["ProcId"], -1, f"{first}.{newest[2]['ProcId']}")),
)
steps.attempt("since a cluster", lambda: len(schedd.history(None, ["ProcId"], -1, first)))
steps.attempt(
    "since an expression",
    lambda: len(schedd.history(mine, ["ProcId"], -1, f"ProcId == {newest[1]['ProcId']}")),
)
steps.attempt(
    "since a tree",
    lambda: len(
        schedd.history(mine, [], -1, classad2.ExprTree(f"ProcId == {newest[3]['ProcId']}"))
    ),
)
steps.attempt("nothing", lambda: schedd.history("false", [], -1))
steps.attempt("wrong", schedd.history, "ClusterId ==", [], -1)
steps.attempt("wrong projection", lambda: len(schedd.history(mine, ["No such"], 1)))

steps.attempt("epochs", lambda: len(schedd.jobEpochHistory(mine, ["ClusterId", "ProcId"], -1)))
for kind in ("EPOCH", "SPAWN", "INPUT", "OUTPUT", ["EPOCH", "SPAWN"]):
    steps.attempt(
        f"epochs {kind}",
        lambda kind=kind: len(schedd.jobEpochHistory(mine, [], -1, ad_type=kind)),
    )
steps.attempt(
    "an epoch",
    lambda: {
        name: schedd.jobEpochHistory(mine, [], 1, ad_type="EPOCH")[0].get(name)
        for name in ("MyType", "RunInstanceId", "EpochAdType")
    },
)
steps.attempt("daemon history", lambda: len(schedd.daemonHistory(None, [], -1)) >= 0)
steps.attempt(
    "startd history",
    lambda: len(wait_for("startd history", lambda: startd.history(mine, ["ProcId"], -1))) > 0,
)
steps.attempt("startd match", lambda: len(startd.history(mine, ["ProcId"], 1)))
steps.attempt(
    "startd ad",
    lambda: {
        name: name in startd.history(mine, [], 1)[0]
        for name in (
            "ClusterId",
            "ProcId",
            "JobStatus",
            "Cmd",
            "Owner",
            "CompletionDate",
            "JobDuration",
        )
    },
)
steps.attempt("startd wrong", startd.history, "ClusterId ==", [], -1)
steps.attempt(
    "names",
    lambda: sorted(schedd.history(mine, [], 1)[0]),
)
steps.report()
