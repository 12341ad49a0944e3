"""Submit to a schedd that calls us back, look at its queue, and ask who we are there."""

from __future__ import annotations

import htcondor2
from steps import Steps

steps = Steps()
schedd = htcondor2.Schedd()
jobs = htcondor2.Submit({"executable": "/bin/true", "hold": "true", "log": "job.log"})

steps.attempt("submit", lambda: schedd.submit(jobs).num_procs())
steps.attempt("query", lambda: [ad["JobStatus"] for ad in schedd.query(projection=["JobStatus"])])
location = htcondor2.Collector().locate(htcondor2.DaemonType.Schedd)
steps.attempt("called back", lambda: "CCBID=" in location["MyAddress"])
steps.attempt("method", lambda: htcondor2.ping(location, "WRITE")["AuthMethods"])
steps.report()
