"""A DAG made into a submit description."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import htcondor2
from steps import Steps

steps = Steps()
os.chdir(sys.argv[1])
# Only its name goes into the description.
Path("condor_dagman").write_text("#!/bin/sh\n")
Path("condor_dagman").chmod(0o755)
os.environ["PATH"] = f"{sys.argv[1]}:{os.environ['PATH']}"
Path("one.sub").write_text("executable = /bin/true\nqueue\n")
Path("two.dag").write_text("JOB A one.sub\nJOB B one.sub\nPARENT A CHILD B\n")
steps.attempt("from_dag", lambda: sorted(htcondor2.Submit.from_dag("two.dag", {"force": True})))
made = Path("two.dag.condor.sub")
steps.attempt("universe", lambda: htcondor2.Submit(made.read_text())["universe"])
steps.attempt("missing dag", htcondor2.Submit.from_dag, "no.dag")
steps.report()
