"""Input sent to the access point's spool, output fetched from it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import htcondor2
from htcondor2 import JobAction
from steps import Steps, wait_for

steps = Steps()
folder = Path(sys.argv[1]) / "spooled"
(folder / "sub").mkdir(parents=True)
os.chdir(folder)
Path("work.sh").write_text("#!/bin/sh\ncat in.txt sub/*; echo made > made.txt\n")
Path("work.sh").chmod(0o755)
Path("in.txt").write_text("hello\n")
Path("sub/deep.txt").write_text("deep\n")
schedd = htcondor2.Schedd()
description = htcondor2.Submit(
    {
        "executable": "work.sh",
        "transfer_input_files": "in.txt, sub",
        "transfer_output_files": "made.txt",
        "should_transfer_files": "YES",
        "output": "out.$(Process)",
        "error": "err.$(Process)",
        "log": "spool.log",
        "request_memory": "16M",
        "request_disk": "1M",
    }
)
result = schedd.submit(description, count=2, spool=True)
mine = f"ClusterId == {result.cluster()}"


def jobs():
    return schedd.query(mine)


steps.note("before", [(job["JobStatus"], job["HoldReasonCode"]) for job in jobs()])
steps.attempt("retrieve too early", schedd.retrieve, f"{result.cluster()}.0")
early = steps.seen["retrieve too early"]
if early:
    early["text"] = re.sub(r"\S+/cluster\d+\.proc(\d+)\.subproc0", r"SPOOL/\1", early["text"])
steps.attempt("spool", schedd.spool, result)
wait_for("end", lambda: all(job["JobStatus"] == 4 for job in jobs()))
steps.note("after", [(job["JobStatus"], job.get("ExitCode")) for job in jobs()])
steps.note(
    "spooled names",
    sorted(name for name in jobs()[0] if name.startswith(("SUBMIT_", "Stage"))),
)
os.unlink("in.txt")
steps.attempt("retrieve one", schedd.retrieve, f"{result.cluster()}.0")
steps.note("files", sorted(str(path) for path in Path().rglob("*")))
steps.note("output", Path("out.0").read_text() if Path("out.0").exists() else None)
steps.attempt("retrieve all", schedd.retrieve, mine)
steps.note("output 1", Path("out.1").read_text() if Path("out.1").exists() else None)
steps.attempt("remove", schedd.act, JobAction.Remove, mine)
steps.attempt("left", lambda: wait_for("empty queue", lambda: not jobs()))

plain = schedd.submit(description, count=1)
steps.attempt("spool what is not spooled", schedd.spool, plain)
schedd.act(JobAction.Remove, plain.cluster())
missing = htcondor2.Submit({"executable": "work.sh", "transfer_input_files": "no.such"})
held = schedd.submit(missing, spool=True)
steps.attempt("spool a missing file", schedd.spool, held)
steps.attempt(
    "missing file's job",
    lambda: [
        schedd.query(f"ClusterId == {held.cluster()}")[0].get(n)
        for n in ("JobStatus", "HoldReasonCode")
    ],
)
schedd.act(JobAction.Remove, held.cluster())
steps.report()
