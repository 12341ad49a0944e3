"""The client room speaks to daemons of the real HTCondor.

Known by: FS, encrypted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from interop.real_pool import RealPool, real_pool
from kettle.attributes.codes import JobAction
from kettle.classad import ClassAd
from kettle.client import accounting, daemon, jobs
from kettle.client.connector import Connector
from kettle.client.pool import make_query, query_ads
from kettle.client.queue import Queue
from kettle.errors import AuthorizationDenied, RefusedError
from kettle.wire.commands import Command
from kettle.wire.messages.filetransfer import CHUNK
from kettle.wire.sinful import Sinful

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def pool() -> Iterator[RealPool]:
    with real_pool(f"kettle-client-{os.getpid()}") as started:
        yield started


def schedd_of(pool: RealPool, connector: Connector) -> Sinful:
    query = make_query("Scheduler")
    ads = query_ads(connector, pool.collector, Command.QUERY_SCHEDD_ADS, query)
    return Sinful.parse(ads[0].string("MyAddress") or "")


def held_job(_cluster: int) -> ClassAd:
    ad = ClassAd()
    for name, text in {
        "Cmd": '"/bin/true"',
        "Args": '""',
        "JobUniverse": "5",
        "Iwd": '"/tmp"',
        "Owner": "undefined",
        "Requirements": "true",
        "In": '"/dev/null"',
        "Out": '"/dev/null"',
        "Err": '"/dev/null"',
        "RequestCpus": "1",
        "RequestMemory": "1",
        "RequestDisk": "1",
        "ShouldTransferFiles": '"NO"',
        "HoldReason": '"made by a test"',
        "HoldReasonCode": "1",
    }.items():
        ad.insert_text(name, text)
    return ad


def submit_held(connector: Connector, schedd: Sinful, count: int) -> int:
    def proc(_cluster: int, number: int) -> ClassAd | None:
        return ClassAd({"JobStatus": 5, "Number": number}) if number < count else None

    with Queue(connector, schedd) as queue:
        cluster, made = queue.submit(held_job, proc)
        queue.commit()
    assert made == count
    return cluster


@pytest.mark.parametrize("methods", ["FS", "CLAIMTOBE"])
def test_an_authenticated_encrypted_query_and_its_resumed_session(
    pool: RealPool, methods: str
) -> None:
    connector = pool.connector(methods=methods)
    query = make_query("Machine", projection=["Name", "State"])
    for _ in range(2):
        with connector.connect(pool.collector, Command.QUERY_STARTD_ADS) as stream:
            assert stream.encrypted
            assert stream.user.startswith("tester@")
            assert stream.session is not None
            assert stream.session.method == methods
        ads = query_ads(connector, pool.collector, Command.QUERY_STARTD_ADS, query)
        assert sorted(ads[0].names()) == ["Name", "State"]


def test_jobs_are_submitted_queried_edited_and_removed(pool: RealPool) -> None:
    connector = pool.connector()
    schedd = schedd_of(pool, connector)
    cluster = submit_held(connector, schedd, 3)
    found = jobs.query_jobs(
        connector,
        schedd,
        constraint=f"ClusterId == {cluster}",
        projection=["ClusterId", "ProcId", "JobStatus", "Owner", "Number"],
    )
    ads = sorted(found, key=lambda ad: ad.integer("ProcId") or 0)
    assert [ad.integer("Number") for ad in ads] == [0, 1, 2]
    assert {(ad.integer("JobStatus"), ad.string("Owner")) for ad in ads} == {(5, "tester")}
    assert found.summary.string("MyType") == "Summary"
    with Queue(connector, schedd) as queue:
        queue.set_attribute(cluster, 1, "Number", "41 + 1")
        assert queue.set_where(f"ClusterId == {cluster}", "Mark", '"x"') == 3
        queue.commit()
        (one,) = queue.jobs(f"ClusterId == {cluster} && ProcId == 1", ["Number", "Mark"])
    assert (one.integer("Number"), one.string("Mark")) == (42, "x")
    ids = [f"{cluster}.{proc}" for proc in range(3)]
    acted = jobs.act_on_jobs(connector, schedd, JobAction.REMOVE, ids=ids, reason="enough")
    assert acted.succeeded
    assert set(acted.results) == {(cluster, proc) for proc in range(3)}


def test_many_procs_are_asked_for_ahead_of_their_answers(pool: RealPool) -> None:
    connector = pool.connector()
    schedd = schedd_of(pool, connector)
    cluster = submit_held(connector, schedd, 1800)
    constraint = f"ClusterId == {cluster}"
    found = jobs.query_jobs(connector, schedd, constraint=constraint, projection=["ProcId"])
    assert sorted(ad.integer("ProcId") or 0 for ad in found) == list(range(1800))
    acted = jobs.act_on_jobs(connector, schedd, JobAction.REMOVE, constraint=constraint)
    assert acted.succeeded


def test_a_refused_attribute_is_told_with_the_schedds_words(pool: RealPool) -> None:
    connector = pool.connector()
    schedd = schedd_of(pool, connector)
    cluster = submit_held(connector, schedd, 1)
    with Queue(connector, schedd) as queue, pytest.raises(RefusedError, match="Owner"):
        queue.set_attribute(cluster, 0, "Owner", '"somebody"')


def test_a_daemon_says_its_configuration_and_its_log(pool: RealPool) -> None:
    connector = pool.connector()
    schedd = schedd_of(pool, connector)
    assert daemon.read_config_value(connector, schedd, "SCHEDD_INTERVAL") == "2"
    assert daemon.read_config_value(connector, schedd, "NO_SUCH_NAME") is None
    details = daemon.read_config_details(connector, schedd, "SCHEDD_INTERVAL")
    assert details[:2] == ["2", "SCHEDD_INTERVAL = 2"]
    assert "condor_config" in details[2]
    assert daemon.read_config_details(connector, schedd, "NO_SUCH_NAME") == []
    text = b"".join(daemon.fetch_log(connector, schedd, "SCHEDD"))
    assert b"STARTING UP" in text
    with pytest.raises(RefusedError, match="no log of that name"):
        list(daemon.fetch_log(connector, schedd, "NO_SUCH_LOG"))
    assert len(text) < CHUNK * 100


def test_a_ping_says_as_whom_we_are_known(pool: RealPool) -> None:
    answer = daemon.ping(pool.connector(), pool.collector, Command.DC_NOP_WRITE)
    assert answer.allowed
    assert answer.encrypted
    assert answer.user.startswith("tester@")
    assert answer.method == "FS"


def test_priorities_are_read_and_set(pool: RealPool) -> None:
    connector = pool.connector()
    query = make_query("Negotiator")
    ads = query_ads(connector, pool.collector, Command.QUERY_NEGOTIATOR_ADS, query)
    negotiator = Sinful.parse(ads[0].string("MyAddress") or "")
    accounting.set_for_user(connector, negotiator, Command.SET_PRIORITYFACTOR, "bob@test", 250.0)
    ad = accounting.read_priorities(connector, negotiator)
    count = ad.integer("NumSubmittors") or 0
    factors = {ad.string(f"Name{n}"): ad.real(f"PriorityFactor{n}") for n in range(1, count + 1)}
    assert factors["bob@test"] == pytest.approx(250.0)
    assert accounting.read_resources(connector, negotiator, "bob@test").names() == []
    accounting.delete_user(connector, negotiator, "bob@test")


def test_a_command_that_is_not_granted_is_denied(pool: RealPool) -> None:
    connector = pool.connector()
    with pytest.raises(AuthorizationDenied) as caught:
        connector.connect(
            pool.collector, Command.DC_SEC_QUERY, authorized_command=Command.DC_NOP_CONFIG
        )
    assert "tester@" in str(caught.value)
