#!/usr/bin/env python3
"""Record what HTCondor's own tools print, for the tests that compare ours with them.

    record_tools.py command_lines <LINES    adds to tests/data/cli/command_lines.json
    record_tools.py condor_q      <LINES    adds to tests/data/cli/condor_q/recordings.json
    record_tools.py condor_history <LINES   adds to tests/data/cli/condor_history/recordings.json
    record_tools.py condor_wait   <LINES    adds to tests/data/cli/condor_wait/recordings.json
    record_tools.py condor_watch_q <LINES   adds to tests/data/cli/condor_watch_q/recordings.json
    record_tools.py silent_pool   <LINES    adds to tests/data/cli/silent_pool/recordings.json

Each line is a command line; words `NAME=VALUE` before the tool are its environment. No daemon is
there. The tools are those of `.ci/peer-condor` ($KETTLE_PEER_ROOT), as root (of a silent pool: as
nobody) and in UTC, in a new folder with the files beside the recordings. A line that is recorded
already is recorded anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests/data"
ROOT = Path(os.environ.get("KETTLE_PEER_ROOT", "/var/cache/kettle-peer"))
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
USAGE = re.compile(r"^\s*use?(age)?:.*", re.IGNORECASE | re.DOTALL | re.MULTILINE)
# Kind of recording: its file, the folder that is copied, CONDOR_CONFIG, who asks.
KINDS = {
    "command_lines": ("cli/command_lines.json", "", "ONLY_ENV", "root"),
    "condor_q": ("cli/condor_q/recordings.json", "cli/condor_q", "/dev/null", "root"),
    "condor_history": (
        *("cli/condor_history/recordings.json", "cli/condor_history", "config", "root"),
    ),
    "condor_wait": ("cli/condor_wait/recordings.json", "cli/condor_wait", "/dev/null", "root"),
    "condor_watch_q": (
        *("cli/condor_watch_q/recordings.json", "cli/condor_watch_q", "/dev/null", "root"),
    ),
    "silent_pool": ("cli/silent_pool/recordings.json", "cli/silent_pool", "nobody", "nobody"),
}


def record(line: str, kind: str) -> dict[str, Any]:
    """Return what the real tool says to a command line."""
    words = shlex.split(line)
    count = next(n for n, word in enumerate(words) if "=" not in word)
    environment = dict(word.split("=", 1) for word in words[:count])
    _, files, configuration, user = KINDS[kind]
    # condor_watch_q wants a terminal for its keys.
    keys, keyboard = os.openpty()
    with tempfile.TemporaryDirectory(dir=ROOT / "tmp") as folder:
        if files:
            shutil.copytree(TESTS / files, folder, dirs_exist_ok=True)
        os.chmod(folder, 0o755)
        done = subprocess.run(
            [
                *("chroot", f"--userspec={user}", ROOT, "env", "-i"),
                *("PATH=/usr/bin:/bin:/usr/sbin", "TZ=UTC"),
                *("LANG=C.UTF-8", "HOME=/dev/null", f"CONDOR_CONFIG={configuration}"),
                *(f"{name}={value}" for name, value in environment.items()),
                *("sh", "-c", f'cd /tmp/{Path(folder).name} && exec "$@"', "sh", *words[count:]),
            ],
            stdin=keyboard if kind == "condor_watch_q" else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        made = Path(folder) / "extracted"
        extracted = made.read_text(encoding="utf-8") if made.exists() else ""
    os.close(keys)
    os.close(keyboard)
    said = [done.stdout, done.stderr]
    if kind == "condor_watch_q":
        here = f"/tmp/{Path(folder).name}"
        said = [MOMENT.sub("@MOMENT@", text).replace(here, "@FOLDER@") for text in said]
    elif kind != "condor_q":
        said = [USAGE.sub("@USAGE@", text) for text in said]
    found: dict[str, Any] = {"argv": words[count:]}
    if environment:
        found["environment"] = environment
    if extracted:
        found["extracted"] = extracted
    return {**found, "exit": done.returncode, "stdout": said[0], "stderr": said[1]}


def main() -> None:
    """Record the lines of standard input."""
    kind = sys.argv[1]
    path = TESTS / KINDS[kind][0]
    cases = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for line in filter(str.strip, sys.stdin):
        case = record(line, kind)
        same = [
            n
            for n, old in enumerate(cases)
            if old["argv"] == case["argv"] and old.get("environment") == case.get("environment")
        ]
        if same:
            cases[same[0]] = case
        else:
            cases.append(case)
    if kind != "condor_q":
        lines = ",\n".join(f" {json.dumps(case, ensure_ascii=False)}" for case in cases)
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    else:
        path.write_text(json.dumps(cases, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
