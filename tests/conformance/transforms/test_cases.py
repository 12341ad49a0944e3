"""`condor_transform_ads` makes of the recorded ads what the recorded one made."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.known_differences import differences
from kettle.classad import ClassAd, Context, parse_ads
from kettle.classad.context import ambient, set_ambient
from kettle.tools.configuration import condor_transform_ads
from kettle.tools.programs import Streams

FOLDER = Path(__file__).parents[2] / "data" / "vectors" / "router"
DATA = {
    name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("transforms", "transform_options", "old_job_transforms", "convert_old_routes")
}
JOBS_FILE = DATA["transforms"]["jobs_file"]
JOBS = DATA["transforms"]["jobs"]

# The case that differs not only in what is said on stderr; of the others what comes out is compared
# all the same.
DIFFERENT = ("transform_options", 0)


@pytest.fixture(autouse=True)
def _stopped_clock() -> Iterator[None]:
    before = ambient()
    set_ambient(Context(now=lambda: float(DATA["transforms"]["now"])))
    yield
    set_ambient(before)


def run(folder: Path, config: str, args: list[str]) -> tuple[int, str, str]:
    (folder / "condor_config").write_text(config, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": str(folder / "condor_config")}
    code = condor_transform_ads.main(
        ["condor_transform_ads", *args], environment, Streams(io.StringIO(), out, err)
    )
    return code, out.getvalue(), err.getvalue()


def shown(ad: ClassAd) -> dict[str, str]:
    return {name: str(_text(ad, name)) for name in ad.names()}


def _text(ad: ClassAd, name: str) -> str:
    expr = ad.lookup(name)
    assert expr is not None
    return expr.text(old=True)


def changes(text: str) -> list[dict[str, Any]]:
    """Return printed ads as the recording has them."""
    sources = {(job["ClusterId"], job["ProcId"]): job for job in JOBS}
    found = []
    for ad in parse_ads(text, "long"):
        now = shown(ad)
        source = sources.get((now.get("ClusterId", ""), now.get("ProcId", "")))
        if source is None:
            found.append({"whole": now})
            continue
        found.append(
            {
                "job": f"{now['ClusterId']}.{now['ProcId']}",
                "set": {name: text for name, text in now.items() if source.get(name) != text},
                "deleted": sorted(name for name in source if name not in now),
            }
        )
    return found


def numbered(name: str) -> list[Any]:
    return [
        pytest.param(number, id=f"{name}-{number}") for number in range(len(DATA[name]["cases"]))
    ]


def check_words(name: str, number: int, said: str) -> None:
    recorded = re.sub(r" at line \d+ in file \S+", "", DATA[name]["cases"][number]["stderr"])
    if number in differences(f"router/{name}"):
        assert said != recorded, "it agrees now"
    else:
        assert said == recorded


def check_ads(case: dict[str, Any], out: str) -> None:
    expected = case.get("ads")
    if expected is None:
        # The reference dies; nothing here changes an ad.
        assert "crash" in case
        return
    for ad in expected:
        ad["deleted"] = sorted(ad.get("deleted", [])) if "whole" not in ad else None
    expected = [{key: value for key, value in ad.items() if value is not None} for ad in expected]
    assert changes(out) == expected


@pytest.mark.parametrize("number", numbered("transforms"))
def test_a_rule_makes_of_the_ads_what_was_recorded(number: int, tmp_path: Path) -> None:
    case = DATA["transforms"]["cases"][number]
    (tmp_path / "jobs").write_text(JOBS_FILE, encoding="utf-8")
    config = ""
    if "rules" in case:
        (tmp_path / "rules").write_text(case["rules"], encoding="utf-8")
        rules = ["-rules", str(tmp_path / "rules")]
    else:
        config = f"JOB_TRANSFORM_T @=end_of_it\n{case['job_transform']}\n@end_of_it\n"
        rules = ["-jobtransforms", "T"]
    code, out, err = run(tmp_path, config, [*rules, str(tmp_path / "jobs")])
    err = err.replace(str(tmp_path) + "/", "")
    check_ads(case, out)
    if "crash" in case:
        assert code in {0, 1, 255}
        assert out or err
        return
    assert code == (255 if case["exit"] == 255 else 0)
    check_words("transforms", number, err)
    if case.get("steps"):
        _, out, _ = run(tmp_path, config, [*rules, "-verbose", str(tmp_path / "jobs")])
        words = "|".join([*condor_transform_ads.STATEMENTS, "    SET"])
        steps = [line for line in out.split("\n") if re.match(rf"(?:{words}) ", line)]
        assert steps == case["steps"]


@pytest.mark.parametrize("number", numbered("old_job_transforms"))
def test_the_classad_form_makes_of_the_ads_what_was_recorded(number: int, tmp_path: Path) -> None:
    case = DATA["old_job_transforms"]["cases"][number]
    (tmp_path / "jobs").write_text(JOBS_FILE, encoding="utf-8")
    code, out, err = run(tmp_path, case["config"], ["-jobt", "T", str(tmp_path / "jobs")])
    assert (code, err) == (0, "")
    assert len(changes(out)) == len(JOBS)
    check_ads(case, out)


@pytest.mark.parametrize("number", numbered("transform_options"))
def test_options_print_what_was_recorded(number: int, tmp_path: Path) -> None:
    case = DATA["transform_options"]["cases"][number]
    (tmp_path / "jobs").write_text(JOBS_FILE, encoding="utf-8")
    (tmp_path / "rules").write_text(case["rules"], encoding="utf-8")
    args = ["-rules", str(tmp_path / "rules"), *case["args"], str(tmp_path / "jobs")]
    _, out, err = run(tmp_path, "", args)
    if ("transform_options", number) == DIFFERENT:
        assert number in differences("router/transform_options")
        assert out != case["stdout"]
        assert out.startswith("A = 5\n")
        assert not err
        return
    assert out == case["stdout"]
    check_words("transform_options", number, err)


@pytest.mark.parametrize("number", numbered("convert_old_routes"))
def test_old_routes_are_converted_as_was_recorded(number: int, tmp_path: Path) -> None:
    case = DATA["convert_old_routes"]["cases"][number]
    code, out, err = run(tmp_path, case["config"], ["-convert"])
    assert out == case["stdout"]
    check_words("convert_old_routes", number, err)
    assert code == (1 if err else 0)
