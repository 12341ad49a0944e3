"""The pages of figures and of health."""

from __future__ import annotations

import json
import re

import pytest

from kettle.classad import ClassAd
from kettle.master.metrics import (
    METRICS,
    OF_EVERY_DAEMON,
    Health,
    attributes,
    render,
    render_health,
)

UP = {"SCHEDD": Health("Alive", True, 100.0), "STARTD": Health("Dead", False, 150.5)}
SAMPLE = re.compile(r'^[a-z_]+(\{([a-z]+="([^"\\\n]|\\.)*"(,|(?=\})))+\})? -?[0-9.e+-]+$')


def make_ads() -> list[ClassAd]:
    values = {name: 7 for name in attributes() if name not in {"MyType", "Name"}}
    kinds = ("Scheduler", "Collector", "Negotiator", "StartD", "DaemonMaster")
    return [ClassAd({"MyType": kind, "Name": f'{kind}"\\', **values}) for kind in kinds]


def test_every_figure_of_the_table_is_shown_with_its_kind_and_a_sentence() -> None:
    page = render(make_ads(), UP, reachable=True)
    for metric in (*METRICS, *OF_EVERY_DAEMON):
        assert f"# HELP {metric.name} {metric.doc}\n# TYPE {metric.name} {metric.kind}\n" in page
    for line in page.splitlines():
        assert line.startswith("# ") or SAMPLE.match(line), line
    assert page.endswith("\n")


def test_a_family_is_one_block_and_no_sample_comes_twice() -> None:
    page = render(make_ads(), UP, reachable=True)
    samples = [line.rpartition(" ")[0] for line in page.splitlines() if line[0] != "#"]
    assert len(samples) == len(set(samples))
    names = [sample.partition("{")[0] for sample in samples]
    blocks = [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]
    assert len(blocks) == len(set(blocks))


def test_figures_have_base_units_and_labels() -> None:
    ad = ClassAd(
        {"MyType": "Scheduler", "Name": "vm", "TotalIdleJobs": 3, "MonitorSelfResidentSetSize": 2}
    )
    page = render([ad], {}, reachable=False)
    assert 'kettle_jobs{schedd="vm",status="idle"} 3\n' in page
    assert 'kettle_daemon_resident_bytes{type="schedd",name="vm"} 2048\n' in page
    assert "kettle_collector_reachable 0\n" in page
    assert "kettle_slots" not in page


def test_a_page_is_read_whatever_ads_say() -> None:
    names = ('a"\\', "x\ny = 1", "\udcff", "\r\x0b\u2028", "twice", "twice")
    ads = [ClassAd({"MyType": "Scheduler", "Name": name, "TotalIdleJobs": 1}) for name in names]
    ads[1].insert_text("TotalHeldJobs", 'real("INF")')
    ads[2].insert_text("TotalHeldJobs", 'real("NaN")')
    page = render(ads, {}, reachable=True)
    samples = [line for line in page.split("\n")[:-1] if line[0] != "#"]
    assert all(map(SAMPLE.match, samples)), samples
    page.encode("utf-8", "strict")
    assert [line for line in samples if "jobs" in line] == [
        'kettle_jobs{schedd="a\\"\\\\",status="idle"} 1',
        'kettle_jobs{schedd="x\\ny = 1",status="idle"} 1',
        'kettle_jobs{schedd="\\\\udcff",status="idle"} 1',
        'kettle_jobs{schedd="\\\\r\\\\x0b\\\\u2028",status="idle"} 1',
        'kettle_jobs{schedd="twice",status="idle"} 1',
    ]


def test_counters_are_named_as_such() -> None:
    for metric in (*METRICS, *OF_EVERY_DAEMON):
        assert metric.name.endswith("_total") == (metric.kind == "counter"), metric.name


@pytest.mark.parametrize("down", [True, False])
def test_health_names_who_is_down_and_since_when(down: bool) -> None:
    healthy, text = render_health(UP if down else {"SCHEDD": UP["SCHEDD"]}, 160.0)
    facts = json.loads(text)
    assert healthy is facts["healthy"] is not down
    if down:
        assert facts["daemons"]["STARTD"] == {
            "state": "Dead",
            "healthy": False,
            "since": 150.5,
            "seconds": 9.5,
        }
