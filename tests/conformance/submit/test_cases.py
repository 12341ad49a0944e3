"""`condor_submit -dry-run` makes of the recorded submit files what the recorded one made."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from conformance.known_differences import differences, numbered
from kettle.attributes.version import CONDOR_VERSION
from kettle.tools.configuration.condor_version import platform_text
from kettle.tools.programs import Streams
from kettle.tools.submitting import condor_submit

VECTORS = Path(__file__).parents[2] / "data" / "vectors" / "submit" / "cases.json"
DATA = json.loads(VECTORS.read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = DATA["cases"]
FACTS = {
    "ARCH": "X86_64",
    "OPSYS": "LINUX",
    "FULL_HOSTNAME": "ap.example.org",
    "HOSTNAME": "ap",
    "USERNAME": "tester",
    "DETECTED_CPUS": "2",
}


def case_name(number: int) -> str:
    return f"{number}-{CASES[number]['topic'].replace(' ', '_')}"


def write_files(folder: Path, case: dict[str, Any]) -> None:
    for name, text in DATA["common_files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name == "big.bin":
            path.write_bytes(bytes(3145728))
        else:
            path.write_bytes(text.encode())
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    submit = case["submit"].replace("@DIR@", str(folder))
    (folder / "job.sub").write_bytes(submit.encode())


def read_ads(text: str) -> list[dict[str, str]]:
    """The dry run's tables; a line without `=` continues the one before."""
    ads: list[dict[str, str]] = []
    # The recording took the byte between the lines of a transform for a line end of its own.
    for line in text.replace("\x1e", "\n").split("\n"):
        name, equals, value = line.partition("=")
        if not line:
            ads.append({})
        elif equals and re.fullmatch(r'[\w"]+', name):
            ads[-1][name] = value
        else:
            ads[-1].setdefault("@text", "")
            ads[-1]["@text"] += line
    return [ad for ad in ads if ad]


def expected_ads(case: dict[str, Any]) -> list[dict[str, str]]:
    tables = []
    for index, table in enumerate(case.get("ads", [])):
        ad = {} if index else dict(DATA["base_ad"])
        for name in case.get("absent", []) if not index else []:
            ad.pop(name, None)
        ad.update({k: v if isinstance(v, str) else "".join(v) for k, v in table.items()})
        tables.append(ad)
    return tables


def run_case(case: dict[str, Any], folder: Path) -> tuple[int, str, str, list[dict[str, str]]]:
    environment = {
        "CONDOR_CONFIG": str(folder / "the_configuration"),
        "LC_ALL": "C.UTF-8",
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin:/usr/libexec/condor",
        "TZ": "UTC",
        **DATA["environment"],
    }
    out, err = io.StringIO(), io.StringIO()
    argv = ["condor_submit", "-dry-run", "dry.out", *case.get("args", []), "job.sub"]
    code = condor_submit.main(argv, environment, Streams(io.StringIO(), out, err))
    dry = folder / "dry.out"
    text = dry.read_text(encoding="utf-8") if dry.exists() else ""

    def plain(shown: str) -> str:
        shown = shown.replace(str(folder / "the_configuration"), "@CONFIG@")
        shown = shown.replace(str(folder), "@DIR@").replace(condor_submit.USAGE, "@USAGE@\n")
        shown = shown.replace(CONDOR_VERSION, "$CondorVersion: @VERSION@ $")
        return shown.replace(platform_text(), "$CondorPlatform: @PLATFORM@ $")

    text = re.sub(
        r"^(QDate|EnteredCurrentStatus)=\d+$", r"\1=@TIME@", plain(text), flags=re.MULTILINE
    )
    return code, plain(out.getvalue()), plain(err.getvalue()), read_ads(text)


def first_words(text: str) -> str:
    return text.lstrip("\n").split("\n", 1)[0].strip()


@pytest.mark.parametrize("number", numbered(CASES, differences("submit/cases")), ids=case_name)
def test_a_dry_run_makes_the_recorded_jobs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[number]
    write_files(tmp_path, case)
    (tmp_path / "the_configuration").write_text(case.get("config", ""))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kettle.runtime.storage.files.read_machine_facts", lambda: FACTS)
    code, stdout, stderr, ads = run_case(case, tmp_path)
    assert first_words(stderr) == first_words(case["stderr"])
    assert code == case["exit"]
    assert ads == expected_ads(case)
    assert stdout == case["stdout"]
