"""Jobs given away to another manager of theirs, and taken back."""

from __future__ import annotations

import sys
from pathlib import Path

import htcondor2
from htcondor2 import JobAction
from steps import Steps

steps = Steps()
folder = Path(sys.argv[1])
schedd = htcondor2.Schedd()


def sleepers():
    return schedd.submit(
        htcondor2.Submit({"executable": "/bin/sleep", "arguments": "1", "hold": "true"}), count=2
    ).cluster()


def managed(cluster):
    return sorted(
        (ad["ProcId"], ad["JobStatus"], ad.get("Managed"), ad.get("ManagedManager"))
        for ad in schedd.query(f"ClusterId == {cluster}")
    )


first = sleepers()
out = folder / "exported"
out.mkdir(mode=0o777)
out.chmod(0o777)
spool = folder / "newspool"
spool.mkdir(mode=0o777)
spool.chmod(0o777)
steps.attempt("export", schedd.export_jobs, f"ClusterId == {first}", str(out), str(spool))
steps.attempt("managed", managed, first)
steps.note("files", sorted(str(path.relative_to(out)) for path in out.rglob("*")))
steps.attempt("act on exported", schedd.act, JobAction.Remove, f"{first}.0")
steps.attempt("export again", schedd.export_jobs, f"{first}.0", str(folder / "other"), str(spool))
steps.attempt("unexport", schedd.unexport_jobs, first)
steps.attempt("back", managed, first)
steps.attempt("unexport again", schedd.unexport_jobs, first)

second = sleepers()
back = folder / "second"
back.mkdir(mode=0o777)
back.chmod(0o777)
steps.attempt(
    "export list", schedd.export_jobs, [f"{second}.0", f"{second}.1"], str(back), str(spool)
)
steps.attempt("import", schedd.import_exported_job_results, str(back))
steps.attempt("imported", managed, second)
steps.attempt("import nothing", schedd.import_exported_job_results, str(folder / "nowhere"))
for cluster in (first, second):
    schedd.act(JobAction.Remove, cluster)
steps.report()
