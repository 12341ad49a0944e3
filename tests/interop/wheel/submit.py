"""Submit in every way the wheel has, and ask for the jobs in every way."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import classad2
import htcondor2
from steps import Steps

steps = Steps()
folder = Path(sys.argv[1])
schedd = htcondor2.Schedd()
HELD = {"executable": "/bin/sleep", "arguments": "60", "hold": "true", "request_memory": "64M"}
clusters = []


def submitted(name, description, **options):
    """Submit, and report how many jobs came of it and their arguments."""

    def act():
        result = schedd.submit(htcondor2.Submit(description), **options)
        clusters.append(result.cluster())
        jobs = []
        # Jobs that are made later are made a moment after the submission has its answer.
        for _ in range(100):
            jobs = schedd.query(f"ClusterId == {result.cluster()}")
            if jobs:
                break
            time.sleep(0.1)
        return {
            "first": result.first_proc(),
            "jobs": result.num_procs(),
            "same cluster": result.clusterad()["ClusterId"] == result.cluster(),
            "begins as": result.clusterad()["JobStatus"],
            "arguments": sorted(job.get("Args", job.get("Arguments", "")) for job in jobs),
        }

    steps.attempt(name, act)
    return clusters[-1] if clusters else 0


text = "executable=/bin/echo\nhold=true\n"
submitted("from a dictionary", HELD)
submitted("count", HELD, count=3)
submitted("from a text", text + "arguments = $(Process) of $(Cluster*0)\nqueue 2\n")
submitted("in", text + "arguments = $(x)\nqueue x in a, b, c\n")
submitted("from inline", text + "arguments = $(x)-$(y)\nqueue x,y from (\n1, 2\n3, 4\n)\n")
submitted("queue keyword", text + "arguments = $(w)\n", queue="2 w in left, right")
submitted("strings", text + "arguments = $(item)\n", itemdata=iter(["one", "two words"]))
submitted(
    "dictionaries",
    text + "arguments = $(a)/$(b)\n",
    itemdata=iter([{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]),
)
submitted("strings and count", text + "arguments = $(item)\n", count=2, itemdata=iter(["p", "q"]))
(folder / "one.dat").write_text("1")
(folder / "two.dat").write_text("2")
submitted("matching", text + f"arguments = $Fnx(f)\nqueue f matching files {folder}/*.dat\n")
(folder / "list.txt").write_text("k1 v1\nk2 v2\n")
submitted("from a file", text + f"arguments = $(k):$(v)\nqueue k,v from {folder}/list.txt\n")
late = submitted(
    "late materialization", text + "max_materialize = 2\narguments=$(Process)\nqueue 5"
)
submitted("own attributes", text + '+Colour = "red"\nMY.Shape = 1 + 2\nqueue\n')
mine = clusters[-1]
steps.attempt(
    "own attributes seen",
    lambda: {
        name: schedd.query(f"ClusterId == {mine}", ["Colour", "Shape"])[0].lookup(name)
        for name in ("Colour", "Shape")
    },
)

# What is wrong is said.
submitted("nothing to run", "arguments = 1\nqueue\n")
submitted("a value that is none", {**HELD, "request_memory": "much"})
submitted("requirements that are none", {**HELD, "requirements": "Memory >"})
submitted("an unknown universe", {**HELD, "universe": "parallel world"})
submitted("no items", text, itemdata=iter([]))
submitted("a missing list", text + "queue x from /no/such/list\n")
submitted("unknown command", {**HELD, "no_such_command": "1"})

# The description itself.
description = htcondor2.Submit(text + "arguments = $(Cluster).$(x)\nqueue x in a, b\n")
steps.attempt("keys", lambda: sorted(description))
steps.attempt("as text", lambda: str(description))
steps.attempt("queue arguments", description.getQArgs)
steps.attempt("item data", lambda: list(description.itemdata()))
steps.attempt("expand", description.expand, "arguments")
steps.attempt("method", description.getSubmitMethod)

# Queries.
cluster = clusters[1]
mine = f"ClusterId == {cluster}"
steps.attempt("projection", lambda: sorted(schedd.query(mine, ["ProcId", "JobStatus"])[0]))
steps.attempt("limit", lambda: len(schedd.query(mine, limit=2)))
steps.attempt("no limit", lambda: len(schedd.query(mine, limit=-1)))
steps.attempt("limit of 0", lambda: len(schedd.query(mine, limit=0)))
steps.attempt("tree", lambda: len(schedd.query(classad2.ExprTree(f"{mine} && ProcId < 2"))))
steps.attempt("callback", lambda: schedd.query(mine, callback=lambda ad: ad["ProcId"] or None))
steps.attempt("nothing", lambda: schedd.query("false"))
steps.attempt("wrong constraint", schedd.query, "ClusterId ==")
steps.attempt("expression", lambda: str(schedd.query(mine, ["Requirements"])[0].lookup("Cmd")))
for option in htcondor2.QueryOpt:
    steps.attempt(
        f"option {option.name}",
        lambda option=option: [
            sorted(ad) if len(ad) < 30 else len(ad)
            for ad in schedd.query(mine, ["JobStatus", "ClusterId", "ProcId"], opts=option)
        ],
    )
steps.attempt(
    "group by",
    lambda: [
        (ad["JobStatus"], ad["JobCount"])
        for ad in schedd.query(
            # The constraint is asked of the groups, too, so it can ask only what makes them up.
            mine,
            ["ClusterId", "JobStatus"],
            opts=htcondor2.QueryOpt.GroupBy,
        )
    ],
)
steps.attempt(
    "names of a job",
    lambda: sorted(
        set(schedd.query(mine, limit=1)[0]) - {"Args", "Arguments", "Env", "Environment"}
    ),
)
steps.attempt("reschedule", schedd.reschedule)
for one in clusters:
    schedd.act(htcondor2.JobAction.Remove, one)
steps.attempt(
    "left", lambda: len(schedd.query(" || ".join(f"ClusterId == {one}" for one in clusters)))
)
steps.report()
