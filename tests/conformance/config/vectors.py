"""What the configuration vectors need: their machine, their files, one run of the tool."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kettle.attributes.version import CONDOR_VERSION
from kettle.tools.configuration import condor_config_val
from kettle.tools.programs import Streams

VECTORS = Path(__file__).parents[2] / "data" / "vectors" / "config"
THEIR_VERSION = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $"
FACTS = {
    "REAL_UID": "0",
    "CondorIsAdmin": "true",
    "DETECTED_CORES": "2",
    "DETECTED_CPUS": "2",
    "DETECTED_CPUS_LIMIT": "2",
    "DETECTED_MEMORY": "24105",
    "DETECTED_PHYSICAL_CPUS": "2",
    "IP_ADDRESS": "192.0.2.2",
    "IPV4_ADDRESS": "192.0.2.2",
    "IPV6_ADDRESS": "fd00::2",
}


def load(name: str) -> dict[str, Any]:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def use_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tool see the machine on which the vectors were recorded."""
    machine = load("cases.json")["machine"]
    del machine["UID_DOMAIN"]  # no fact of the machine but a default
    monkeypatch.setattr(
        "kettle.runtime.storage.files.read_machine_facts", lambda: {**machine, **FACTS}
    )


def write_files(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("@DIR@", str(folder)).encode())
        if text.startswith("#!"):
            path.chmod(0o755)


def run_tool(
    arguments: list[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run `condor_config_val` in process; folder and version are as the vectors write them."""
    variables = {
        "CONDOR_CONFIG": str(folder / "condor_config"),
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C",
        "TZ": "UTC",
        "HOME": "/home/tester",
    }
    variables |= {k: v.replace("@DIR@", str(folder)) for k, v in environment.items()}
    out, err = io.StringIO(), io.StringIO()
    argv = ["condor_config_val", *(a.replace("@DIR@", str(folder)) for a in arguments)]
    code = condor_config_val.main(argv, variables, Streams(io.StringIO(), out, err))
    stdout = out.getvalue().replace(str(folder), "@DIR@").replace(CONDOR_VERSION, THEIR_VERSION)
    stderr = err.getvalue().replace(str(folder), "@DIR@")
    return code, stdout, stderr.replace(condor_config_val.USAGE, "@USAGE@\n")


def first_line(text: str) -> str:
    """The first line without the places in the reference's own source."""
    line = text.split("\n", 1)[0]
    return re.sub(r" at line \d+ in file \S+$", "", line)
