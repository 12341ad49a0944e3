"""`/metrics` and `/healthz` of a real pool."""

from __future__ import annotations

import json
import os
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import daemon_pid, run_tool, wait_until

# A daemon that dies stays away for long enough to be seen.
CONFIG = "KETTLE_METRICS_PORT = 0\nMASTER_BACKOFF_CONSTANT = 5\nMASTER_BACKOFF_FACTOR = 1\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("metrics"), CONFIG) as pool:
        yield pool


def fetch(pool: PersonalPool, page: str) -> tuple[int, str]:
    """Return the code and the text of a page."""
    base = (Path(pool.log_folder) / ".metrics_address").read_text().strip()
    assert base.startswith("http://127.0.0.1:")
    try:
        with urllib.request.urlopen(base + page, timeout=100) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_figures_are_of_the_whole_pool_and_count(pool: PersonalPool, work: Path) -> None:
    (work / "job.sub").write_text(f"executable = /bin/true\nlog = {work}/log\nqueue 2\n")
    code, _, complaint = run_tool(pool, "condor_submit", str(work / "job.sub"))
    assert code == 0, complaint
    host = socket.gethostname()
    wanted = (
        f'kettle_jobs_completed_total{{schedd="{host}"}} 2\n',
        'kettle_up{daemon="SCHEDD"} 1\n',
        "kettle_collector_reachable 1\n",
        'kettle_slots{collector="',
        f'kettle_startd_jobs_started_total{{startd="{host}"}}',
        f'kettle_daemon_resident_bytes{{type="negotiator",name="{host}"}}',
    )
    page = [""]

    def is_told() -> bool:
        code, page[0] = fetch(pool, "/metrics")
        return code == 200 and all(line in page[0] for line in wanted)

    wait_until(is_told, 20, lambda: page[0])
    assert "#" not in "".join(line for line in page[0].splitlines() if not line.startswith("# ")), (
        "a claim id"
    )


def test_health_is_a_code_and_names_who_is_down_since_when(pool: PersonalPool) -> None:
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 20)
    os.kill(daemon_pid(pool, "condor_negotiator"), signal.SIGKILL)
    wait_until(lambda: fetch(pool, "/healthz")[0] == 503, 10)
    facts = json.loads(fetch(pool, "/healthz")[1])
    assert facts["healthy"] is False
    down = [name for name, one in facts["daemons"].items() if not one["healthy"]]
    assert down == ["NEGOTIATOR"]
    assert 0 <= facts["daemons"]["NEGOTIATOR"]["seconds"] < 60
    assert 'kettle_up{daemon="NEGOTIATOR"} 0' in fetch(pool, "/metrics")[1]
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 30)


def test_a_daemon_without_an_address_file_is_asked_too(pool: PersonalPool) -> None:
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 30)
    startd = daemon_pid(pool, "condor_startd")
    # Removed by somebody, or never written: where it is, the daemon has told its master.
    (Path(pool.log_folder) / ".startd_address").unlink()
    os.kill(startd, signal.SIGSTOP)
    try:
        wait_until(lambda: fetch(pool, "/healthz")[0] == 503, 15)
        facts = json.loads(fetch(pool, "/healthz")[1])["daemons"]
        assert [name for name, one in facts.items() if not one["healthy"]] == ["STARTD"]
    finally:
        os.kill(startd, signal.SIGCONT)
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 15)


def test_nothing_is_served_where_nobody_asks_for_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with personal_pool(tmp_path_factory.mktemp("silent")) as pool:
        assert not (Path(pool.log_folder) / ".metrics_address").exists()


def test_a_port_that_is_taken_costs_the_pages_and_is_told_with_its_holder(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = f"KETTLE_METRICS_PORT = {port}\n"
        with personal_pool(tmp_path_factory.mktemp("taken"), config) as pool:
            log = (Path(pool.log_folder) / "MasterLog").read_text()
    said = f"/metrics cannot be served at 127.0.0.1 port {port}: Address already in use by "
    assert f"{said}process {os.getpid()}" in log


def test_a_daemon_that_is_stopped_is_hung_within_seconds_and_well_when_it_goes_on(
    pool: PersonalPool,
) -> None:
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 30)
    schedd = daemon_pid(pool, "condor_schedd")
    os.kill(schedd, signal.SIGSTOP)
    try:
        wait_until(lambda: fetch(pool, "/healthz")[0] == 503, 15)
        facts = json.loads(fetch(pool, "/healthz")[1])["daemons"]
        assert [name for name, one in facts.items() if not one["healthy"]] == ["SCHEDD"]
        assert facts["SCHEDD"]["state"] == "Hung"
        assert 'kettle_up{daemon="SCHEDD"} 0' in fetch(pool, "/metrics")[1]
    finally:
        os.kill(schedd, signal.SIGCONT)
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 15)


def test_a_stopped_collector_keeps_no_page_waiting_and_is_told(pool: PersonalPool) -> None:
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 30)
    wanted = (
        "kettle_collector_reachable 0\n",
        'kettle_up{daemon="COLLECTOR"} 0\n',
        'kettle_up{daemon="SCHEDD"} 1\n',
    )
    pages: list[str] = []

    def is_told() -> bool:
        # It comes at all while the collector stands still; how soon, virtual time tells
        # (test_a_silent_collector_keeps_one_page_waiting_for_seconds_and_the_next_ones_not).
        code, page = fetch(pool, "/metrics")
        assert code == 200
        pages.append(page)
        return all(line in page for line in wanted)

    collector = daemon_pid(pool, "condor_collector")
    os.kill(collector, signal.SIGSTOP)
    try:
        wait_until(is_told, 20, lambda: pages[-1])
        assert is_told(), pages[-1]
        assert fetch(pool, "/healthz")[0] == 503
    finally:
        os.kill(collector, signal.SIGCONT)
    wait_until(lambda: fetch(pool, "/healthz")[0] == 200, 15)
    wait_until(lambda: "kettle_collector_reachable 1\n" in fetch(pool, "/metrics")[1], 15)
