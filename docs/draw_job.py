"""Draws `docs/generated/life-of-a-job.md`: one job's way through the daemons, from their own logs.

    python docs/draw_job.py

A pool is started with D_COMMAND on, a job runs through it, and every command that a daemon's log
tells of becomes an arrow. Only who sends a command is not in the receiver's log; SENDERS knows it.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from kettle.pool.personal import PersonalPool  # noqa: E402 - the checkout's, installed or not
from kettle.tools.jobs import condor_wait  # noqa: E402
from kettle.tools.programs import Streams  # noqa: E402
from kettle.tools.submitting import condor_submit  # noqa: E402

TARGET = ROOT / "docs" / "generated" / "life-of-a-job.md"
RECEIVERS = {
    "CollectorLog": "collector",
    "NegotiatorLog": "negotiator",
    "SchedLog": "schedd",
    "ShadowLog": "shadow",
    "StartLog": "startd",
}
SENDERS = {
    "QMGMT_WRITE_CMD": "condor_submit",
    "UPDATE_SUBMITTOR_AD": "schedd",
    "RESCHEDULE": "schedd",
    "QUERY_MULTIPLE_PVT_ADS": "negotiator",
    "NEGOTIATE": "negotiator",
    "REQUEST_CLAIM": "schedd",
    "UPDATE_STARTD_AD": "startd",
    "INVALIDATE_STARTD_ADS": "startd",
    "ACTIVATE_CLAIM": "shadow",
    "FILETRANS_UPLOAD": "starter",
    "FILETRANS_DOWNLOAD": "starter",
    "DEACTIVATE_CLAIM_JOB_DONE": "shadow",
    "RELEASE_CLAIM": "schedd",
}
# Lines that tell of something happening inside one daemon.
NOTES = (
    (re.compile(r"slot1_1: Changing [^:]*: (.*)"), "startd", "slot1_1: {}"),
    (re.compile(r"Create_Process succeeded, pid=\d+"), "starter", "the program runs"),
    (re.compile(r"Process exited, pid=\d+, status=(\d+)"), "starter", "the program ends: {}"),
    (re.compile(r"Reporting job exit reason (\d+)"), "shadow", "job exit reason {}"),
)
PAGE = """\
# The life of a job

One job, `/bin/true`, in a personal pool, drawn by `docs/draw_job.py` from the daemons' own logs
(D_COMMAND). The number behind each step is milliseconds since the submission began.

```mermaid
sequenceDiagram
{diagram}
```
"""
LINE = re.compile(r"(\d\d/\d\d/\d\d) (\d\d):(\d\d):(\d\d\.\d+) (?:\(pid:\d+\) )?(.*)")
COMMAND = re.compile(r"Calling handler for (\w+) ")


def run_job(folder: Path) -> dict[str, str]:
    """Run one job in a fresh pool; return the daemons' logs by name."""
    settings = "ALL_DEBUG = D_COMMAND D_SUB_SECOND\n"
    with PersonalPool(str(folder / "pool"), configuration=settings) as pool:
        path = folder / "job.sub"
        path.write_text(
            f"executable = /bin/true\nshould_transfer_files = YES\nlog = {folder}/log\nqueue\n"
        )
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        condor_submit.main(["condor_submit", str(path)], pool.environment(), streams)
        condor_wait.main(["condor_wait", f"{folder}/log"], pool.environment(), streams)
        time.sleep(1)
        return {log.name: log.read_text() for log in Path(pool.log_folder).glob("*Log*")}


def read_steps(logs: dict[str, str]) -> list[tuple[float, str]]:
    """Return (second of the day, line of the diagram) in the order of time."""
    steps = []
    for name, text in logs.items():
        receiver = RECEIVERS.get(name)
        for line in text.splitlines():
            found = LINE.match(line)
            if found is None:
                continue
            now = int(found[2]) * 3600 + int(found[3]) * 60 + float(found[4])
            said = found[5]
            command = COMMAND.match(said)
            if command and receiver and command[1] in SENDERS:
                steps.append((now, f"{SENDERS[command[1]]}->>{receiver}: {command[1]}"))
            for pattern, who, shown in NOTES:
                note = pattern.search(said)
                if note:
                    steps.append((now, f"Note over {who}: {shown.format(*note.groups())}"))
    steps.sort(key=lambda step: step[0])
    start = next(i for i, (_, line) in enumerate(steps) if "QMGMT_WRITE_CMD" in line)
    return steps[start:]


def render(steps: list[tuple[float, str]]) -> str:
    """Return the page."""
    began = steps[0][0]
    who = ("condor_submit", "schedd", "negotiator", "collector", "startd", "shadow", "starter")
    lines = [f"    participant {name}" for name in who]
    seen: set[str] = set()
    for now, line in steps:
        # Ads that follow a change are many and alike; the first of each kind tells the story.
        if "_AD" in line and line in seen:
            continue
        seen.add(line)
        lines.append(f"    {line} ({(now - began) * 1000:.0f} ms)")
    diagram = "\n".join(lines)
    return PAGE.format(diagram=diagram)


def main() -> None:
    """Run, read, write."""
    with tempfile.TemporaryDirectory(prefix="kettle-trace-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        TARGET.write_text(render(read_steps(run_job(folder))), encoding="utf-8")
    print(TARGET)


if __name__ == "__main__":
    main()
