"""Follow the log of jobs while they run, and read it again afterwards."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import htcondor2
from htcondor2 import JobAction, JobEventType
from steps import Steps, wait_for

steps = Steps()
folder = Path(sys.argv[1])
schedd = htcondor2.Schedd()
path = folder / "events.log"
script = folder / "work.sh"
script.write_text("#!/bin/sh\ncat input.txt\necho out > result.txt\nsleep ${1:-0}\nexit 3\n")
script.chmod(0o755)
suicide = folder / "suicide.sh"
suicide.write_text("#!/bin/sh\nkill -9 $$\n")
suicide.chmod(0o755)
(folder / "input.txt").write_text("input\n")
COMMON = {
    "executable": str(script),
    "initialdir": str(folder),
    "transfer_input_files": "input.txt",
    "transfer_output_files": "result.txt",
    "should_transfer_files": "YES",
    "output": "events.$(Cluster).out",
    "log": str(path),
    "request_memory": "16M",
    "request_disk": "1M",
}
cluster = schedd.submit(htcondor2.Submit({**COMMON, "+Note": '"x"'})).cluster()


def events_until(log, kind, ours, seconds=40):
    """Read on until an event of this kind of our cluster; return those read."""
    found = []
    for event in log.events(stop_after=seconds):
        if event.cluster == ours:
            found.append(event)
            if event.type == kind:
                break
    return found


log = htcondor2.JobEventLog(str(path))
life = events_until(log, JobEventType.JOB_TERMINATED, cluster)
steps.note("a life", [event.type.name for event in life])
for event in life:
    steps.note(
        f"{event.type.name} names",
        sorted(set(event.keys())),
    )
    steps.note(f"{event.type.name} stamp", event.timestamp > 1_700_000_000)
end = life[-1]
steps.note("end", {name: end.get(name) for name in ("TerminatedNormally", "ReturnValue")})
steps.note("end bytes", end.get("SentBytes", -1) > 0)
steps.note("end usage", str(end.get("RunRemoteUsage", ""))[:4])
steps.note("mapping", end["Proc"] == end.proc == 0 and "Cluster" in end and len(end) > 5)
steps.attempt("nothing more", lambda: len(list(log.events(stop_after=0))))

# Another life, with everything one can do to a job.
second = schedd.submit(htcondor2.Submit({**COMMON, "arguments": "600", "hold": "true"})).cluster()
events_until(log, JobEventType.JOB_HELD, second)
schedd.act(JobAction.Release, second, ("go", 0))
steps.note("released", [e.type.name for e in events_until(log, JobEventType.EXECUTE, second)])
wait_for("run", lambda: schedd.query(f"ClusterId == {second}")[0]["JobStatus"] == 2)
schedd.act(JobAction.Suspend, second)
steps.note(
    "suspended", [e.type.name for e in events_until(log, JobEventType.JOB_SUSPENDED, second)][-1]
)
# The log is a moment ahead of the queue, whose status says what may be done next.
wait_for("stand", lambda: schedd.query(f"ClusterId == {second}")[0]["JobStatus"] == 7)
schedd.act(JobAction.Continue, second)
steps.note(
    "continued", [e.type.name for e in events_until(log, JobEventType.JOB_UNSUSPENDED, second)][-1]
)
wait_for("run", lambda: schedd.query(f"ClusterId == {second}")[0]["JobStatus"] == 2)
schedd.act(JobAction.Vacate, second)
evicted = events_until(log, JobEventType.JOB_EVICTED, second)[-1]
steps.note("evicted", {n: evicted.get(n) for n in ("Checkpointed", "ReasonCode", "Reason")})
steps.note("evicted names", sorted(evicted.keys()))
again = events_until(log, JobEventType.EXECUTE, second)
steps.note("again", again[-1].type.name)
wait_for("run", lambda: schedd.query(f"ClusterId == {second}")[0]["JobStatus"] == 2)
schedd.edit(f"{second}.0", "Colour", '"red"')
schedd.act(JobAction.Hold, second, ("enough", 5))
held = events_until(log, JobEventType.JOB_HELD, second)[-1]
steps.note("held", {n: held.get(n) for n in ("HoldReasonCode", "HoldReasonSubCode")})
steps.note("held names", sorted(held.keys()))
schedd.act(JobAction.Remove, second, ("gone", 0))
aborted = events_until(log, JobEventType.JOB_ABORTED, second)[-1]
steps.note("aborted names", sorted(aborted.keys()))

# A cluster that is made as it goes.
late = schedd.submit(
    htcondor2.Submit("executable=/bin/true\nmax_materialize=1\nlog=" + str(path) + "\nqueue 2\n")
).cluster()
kinds = [e.type.name for e in events_until(log, JobEventType.CLUSTER_REMOVE, late)]
steps.note("cluster", sorted({k for k in kinds if k in {"CLUSTER_SUBMIT", "CLUSTER_REMOVE"}}))
steps.note("cluster jobs", kinds.count("JOB_TERMINATED"))

# Failures.
bad = schedd.submit(
    htcondor2.Submit({**COMMON, "executable": "/bin/true", "transfer_output_files": "none.such"})
).cluster()
held = events_until(log, JobEventType.JOB_HELD, bad)[-1]
steps.note("missing output", {n: held.get(n) for n in ("HoldReasonCode", "HoldReasonSubCode")})
schedd.act(JobAction.Remove, bad)
events_until(log, JobEventType.JOB_ABORTED, bad)
shot = schedd.submit(
    htcondor2.Submit(
        {
            **COMMON,
            "executable": str(suicide),
            "transfer_output_files": '""',
        }
    )
).cluster()
end = events_until(log, JobEventType.JOB_TERMINATED, shot)[-1]
steps.note("signal", {n: end.get(n) for n in ("TerminatedNormally", "TerminatedBySignal")})

# Again from the start, from a copy of the reader, and from nowhere.
whole = [event.type.name for event in htcondor2.JobEventLog(str(path)).events(stop_after=0)]
steps.note("kinds", sorted(set(whole)))
steps.attempt(
    "pickled",
    lambda: len(list(pickle.loads(pickle.dumps(log)).events(stop_after=0))),
)
steps.attempt("closed", log.close)
steps.attempt("missing", htcondor2.JobEventLog, str(folder / "no.log"))
steps.note("output", (folder / f"events.{cluster}.out").read_text())
steps.report()
