"""Answers and complaints of a schedd, one after the other, in words."""

from __future__ import annotations

import sys
from pathlib import Path

import htcondor2
from htcondor2 import JobAction, QueryOpts
from steps import Steps, wait_for

steps = Steps()
folder = Path(sys.argv[1])
schedd = htcondor2.Schedd()
held = htcondor2.Submit({"executable": "/bin/sleep", "arguments": "1000", "hold": "true"})
cluster = schedd.submit(held, count=3).cluster()
mine = f"ClusterId == {cluster}"
job = f"{cluster}.0"


def say(what, *words, **more):
    """Return what a call returns or raises, with the cluster's number called 7."""
    try:
        return what(*words, **more)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace(f" {cluster}.", " 7.")


def note(name, what, *words, **more):
    steps.note(name, say(what, *words, **more))


note("act on nobody", schedd.act, JobAction.Hold, [])
for name, text in {
    "Foo": "1\n2", "Foo ": "1", "1Foo": "1", "Foo.Bar": "1", "ClusterId": "9", "owner": '"x"',
}.items():  # fmt: skip
    note(f"edit {name!r}", schedd.edit, [job], name, text)
note("edit CR", schedd.edit, [job], "Foo", "1\r")
note("edit empty", lambda: schedd.edit([job], "Foo", ""))
note("edit a missing one", schedd.edit, ["999999.0"], "Foo", "1")
note("edit a name by constraint", schedd.edit, mine, "Foo.Bar", "1")
note("query error", schedd.query, "error")
note("query nameless", lambda: [list(ad.keys()) for ad in schedd.query(mine, ["1+1"], limit=1)])
note(
    "query limits",
    lambda: [
        [
            ad.get("ProcId")
            for ad in schedd.query(mine, ["ProcId"], limit=n, opts=QueryOpts.IncludeClusterAd)
        ]
        for n in range(5)
    ],
)
note("proxy", schedd.refreshGSIProxy, cluster, 0, "/nonexistent", 0)
out = folder / "exported"
out.mkdir(mode=0o777)
out.chmod(0o777)
note("export none", schedd.export_jobs, "false", str(out), str(out / "s"))
note("export nowhere", schedd.export_jobs, mine, "/nonexistent/x", "/nonexistent/s")
note("import nothing", lambda: dict(schedd.import_exported_job_results("/nonexistent")))
note("unexport none", schedd.unexport_jobs, "false")
note("export", lambda: schedd.export_jobs(mine, str(out), str(out / "s"))["TotalJobAds"])
note("unexport", lambda: schedd.unexport_jobs(mine)["TotalJobAds"])
note("unexport again", lambda: schedd.unexport_jobs(mine)["TotalJobAds"])
schedd.act(JobAction.Remove, mine)
wait_for("the records", lambda: len(schedd.history(mine, ["ProcId"], -1)) == 3)
note("matches", lambda: [len(schedd.history(mine, ["ProcId"], n)) for n in (0, 1, 2, -1, -2)])
steps.report()
