"""Runs the examples of the manual's pages against a pool, one after the other.

Used by the test that compares what they print with the pages, and by `.ci/record_examples.py`,
which writes down what they print.
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

from kettle.pool.personal import PersonalPool
from pool_jobs import ask_queue, run_tool, wait_until

ROOT = Path(__file__).parents[2]
EXAMPLES: dict[str, dict[str, Any]] = tomllib.loads(
    (ROOT / "docs/tools/examples.toml").read_text(encoding="utf-8")
)
FILES = {
    "hello.sub": "executable = /bin/echo\narguments = hello\ntransfer_executable = false\n"
    "should_transfer_files = yes\noutput = hello.out\nlog = hello.log\nqueue\n",
    "sleep.sub": "executable = sleep.sh\nshould_transfer_files = yes\noutput = sleep.out\n"
    "request_memory = 100\nqueue\n",
    "sleep.sh": "#!/bin/sh\necho working\nsleep 300\n",
    "thing.ad": 'MyType = "Generic"\nName = "thing"\nColour = "blue"\n',
    "colour.rules": 'SET Colour "$(SHADE)-$(MY.Colour)"\nEVALSET Letters size(Colour)\n',
}


def make_files(folder: Path) -> None:
    """Write the files that the examples name."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "sleep.sh").chmod(0o755)


def run_example(pool: PersonalPool, name: str) -> tuple[int, str]:
    """Run one example in the present folder; return its exit code and what it printed
    (what it complained of, if it failed or printed nothing)."""
    example = EXAMPLES[name]
    for line in example.get("before", []):
        code, _, complaint = run_tool(pool, *shlex.split(line))
        assert code == 0, complaint
    if "wait" in example:
        job, status = example["wait"]
        wait_until(lambda: _has(pool, job, status), 30)
    if "free" in example:
        # The last job's claim may live on for a moment.
        wait_until(lambda: not run_tool(pool, "condor_status", "-claimed", "-af", "Name")[1], 30)
    words = [os.uname().nodename if w == "$HOST" else w for w in shlex.split(example["command"])]
    code, said, complaint = run_tool(pool, *words)
    return code, complaint if code or not said else said


def _has(pool: PersonalPool, job: str, status: str) -> bool:
    if status == "history":
        return run_tool(pool, "condor_history", job, "-af", "ProcId")[1] != ""
    return ask_queue(pool, job, "JobStatus") == [[status]]


def _own_name() -> str:
    """Return a pattern of our account's name, whole or as far as a column has room for it."""
    name = getpass.getuser()
    lengths = range(len(name), min(len(name), 8) - 1, -1)
    return "|".join(re.escape(name[:length]) for length in lengths)


def still(text: str) -> str:
    """Return a text without what differs from run to run: numbers, names, widths."""
    text = re.sub(r"<\d+[^>\s]*>?", "ADDRESS", text)
    text = text.replace(os.uname().nodename, "HOST")
    text = re.sub(rf"(?<!\w)({_own_name()}|root|alice|kettle)(?!\w)", "USER", text)
    text = re.sub(r"[0-9a-f]{32}", "ID", text)
    text = re.sub(r"/\S+", "PATH", text)
    text = re.sub(r"-{4,}", "----", text)
    text = re.sub(r"[\d.:+]+|\[\?+\]", "N", text)
    return re.sub(r"[ ]+", " ", text)
