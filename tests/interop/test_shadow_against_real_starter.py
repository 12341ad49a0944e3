"""Our shadow host with the real startd and starter: run, suspended, held and found again.

Known by: CLAIMTOBE, and the claims' sessions.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from interop.real_pool import RealPool, real_pool
from kettle.classad import ClassAd, Context
from kettle.classad.context import set_ambient
from kettle.config import Config
from kettle.records.event_log import read_events
from kettle.runtime import tasks
from kettle.runtime.clock import SystemClock
from kettle.runtime.context import Runtime
from kettle.runtime.identity import DaemonIdentity
from kettle.runtime.logs import Log
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.sockets.stream import Stream
from kettle.runtime.sockets.system_network import SystemNetwork
from kettle.runtime.storage.files import Files
from kettle.shadow.service import ShadowHost
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages.claims import ReleaseClaim, RequestClaim, RequestClaimReply
from kettle.wire.messages.shadow_host import (
    HostReady,
    ShadowExited,
    SignalShadow,
    StartShadow,
    UpdateJob,
    read_host_message,
)
from kettle.wire.security.claim_id import ClaimId

pytestmark = [pytest.mark.interop, pytest.mark.timeout(180)]

CONFIG = """\
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_DEFAULT_AUTHENTICATION = OPTIONAL
SEC_DEFAULT_ENCRYPTION = OPTIONAL
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_DAEMON = *
NETWORK_INTERFACE = 127.0.0.1
BIND_ALL_INTERFACES = false
UID_DOMAIN = vm
PERIODIC_EXPR_INTERVAL = 2
"""
# What a partitionable claim request says beside the job (wire notes, REQUEST_CLAIM).
_REQUEST = {
    "ScheddName": "kettle@vm",
    "_condor_SEND_LEFTOVERS": True,
    "_condor_SECURE_CLAIM_ID": True,
    "_condor_SEND_CLAIMED_AD": True,
    "_condor_NUM_DYNAMIC_SLOTS": 1,
    "_condor_CLAIM_PARTITIONABLE_SLOT": False,
    "StartdSendsAlives": True,
    "_condor_StartdHandlesAlives": True,
}


@pytest.fixture(scope="module")
def pool() -> Iterator[RealPool]:
    with real_pool("kettleshadow", "CLAIM_WORKLIFE=0\nNUM_CPUS=8\n") as pool:
        yield pool


@pytest.fixture
def work() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="kettle-shadow-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Access:
    """The access point's half: a host, and what it told."""

    def __init__(self, network: SystemNetwork, work: Path, startd: str) -> None:
        self.network = network
        self.work = work
        self.startd = startd
        self.updates: dict[str, str] = {}

    async def begin(self, runtime: Runtime) -> None:
        self.stream, theirs = Stream.pair()
        self.host = ShadowHost(
            runtime, Stream.over(theirs), schedd_address=str(self.network.address)
        )
        await self.host.start()
        tasks.spawn(self.host.serve(), "host")

    async def signal(self, signal: str, reason: str = "", code: int = 0) -> None:
        await self.stream.send(SignalShadow(501, 0, signal, reason, code))

    async def ended(self) -> int:
        """Wait for the end and return the exit reason."""
        while True:
            message = read_host_message(await self.stream.receive_forever())
            if isinstance(message, HostReady):
                continue
            assert isinstance(message, (UpdateJob, ShadowExited))
            self.updates |= message.attributes
            if isinstance(message, ShadowExited):
                return message.reason

    async def wait_for_event(self, number: int) -> None:
        async with asyncio.timeout(60):
            while number not in self.numbers():  # noqa: ASYNC110 - a file of another process
                await asyncio.sleep(0.05)

    def numbers(self) -> list[int]:
        log = self.work / "job.log"
        return [event.number for event in read_events(log.read_bytes())] if log.exists() else []


@asynccontextmanager
async def access_point(pool: RealPool, work: Path, job: ClassAd) -> AsyncIterator[Access]:
    """Claim a slot of the real startd for a job and start its shadow."""
    config = Config.from_text(CONFIG, subsystem="SHADOW")
    clock = SystemClock()
    set_ambient(Context(clock.now))
    log = Log(None)
    identity = DaemonIdentity("SHADOW", "vm", "vm", clock.now())
    network = SystemNetwork(config, identity, clock, log)
    await network.listen(None)
    network.begin_accepting()
    privileges = Privileges(account_of(os.getuid()), can_switch=False)
    runtime = Runtime(config, clock, network, SystemProcesses(), Files(), log, privileges, identity)
    claimed, slot, startd = await _claim(network, pool, job)
    access = Access(network, work, startd)
    await access.begin(runtime)
    now = int(clock.now())
    job.update({"ClaimId": claimed, "RemoteHost": slot.string("Name"), "JobStatus": 2})
    job.update({"JobCurrentStartDate": now, "ShadowBday": now, "LastJobLeaseRenewal": now})
    await access.stream.send(StartShadow(501, 0, startd, job, slot))
    try:
        yield access
    finally:
        stream = await network.connect(startd, Command.RELEASE_CLAIM, session=ClaimId(claimed))
        await stream.send(ReleaseClaim(claimed))
        stream.close()
        access.stream.close()
        access.host.control.close()
        await network.close()
        await tasks.cancel_all()


async def _claim(network: SystemNetwork, pool: RealPool, job: ClassAd) -> tuple[str, ClassAd, str]:
    request = job.copy()
    request.update(_REQUEST)
    end = time.monotonic() + 60
    while True:
        stream = await network.connect(pool.collector, Command.QUERY_STARTD_PVT_ADS)
        query = ClassAd({"MyType": "Query", "TargetType": "Machine", "Requirements": True})
        await stream.send(Words(query))
        reader = await stream.receive()
        stream.close()
        ads = []
        while reader.integer():
            ads.append(reader.ad())
        for slot in ads:
            claim = ClaimId(slot.string("ClaimId") or slot.string("Capability") or "")
            startd = slot.string("MyAddress") or ""
            if not (slot.string("Name") or "").startswith("slot1@") or not claim.has_session:
                continue
            stream = await network.connect(startd, Command.REQUEST_CLAIM, session=claim)
            await stream.send(RequestClaim(claim.text, request, str(network.address), 300, []))
            reply = RequestClaimReply.read(await stream.receive(30))
            stream.close()
            if reply.claimed:
                return *reply.claimed[0], startd
        # The collector's ad may be older than the claim id it names.
        assert time.monotonic() < end, "no slot could be claimed"
        await asyncio.sleep(0.5)


def make_job(work: Path, script: str, **attributes: object) -> ClassAd:
    (work / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
    (work / "job.sh").chmod(0o755)
    job = ClassAd(
        {
            "ClusterId": 501,
            "ProcId": 0,
            "MyType": "Job",
            "Owner": "tester",
            "User": "tester@vm",
            "GlobalJobId": f"vm#501.0#{int(time.time())}",
            "JobUniverse": 5,
            "Cmd": str(work / "job.sh"),
            "Iwd": str(work),
            "Environment": "",
            "Args": "",
            "In": "/dev/null",
            "Out": "out",
            "Err": "err",
            "StreamOut": False,
            "StreamErr": False,
            "TransferIn": False,
            "ShouldTransferFiles": "YES",
            "WhenToTransferOutput": "ON_EXIT",
            "UserLog": "job.log",
            "RequestCpus": 1,
            "RequestMemory": 64,
            "RequestDisk": 10240,
            "Requirements": True,
            "Rank": 0.0,
            "QDate": int(time.time()),
            "JobLeaseDuration": 2400,
            "ImageSize": 1,
            "DiskUsage": 1,
            "JobPrio": 0,
        }
    )
    job.update(attributes)
    return job


def play(
    pool: RealPool, work: Path, job: ClassAd, scenario: Callable[[Access], Awaitable[Any]]
) -> Access:
    async def main() -> Access:
        async with asyncio.timeout(150), access_point(pool, work, job) as access:
            await scenario(access)
            return access

    return asyncio.run(main())


def test_a_job_runs_with_files_both_ways(pool: RealPool, work: Path) -> None:
    (work / "in.txt").write_text("input\n")
    (work / "sub").mkdir()
    (work / "sub/s1").write_text("s1\n")
    script = "echo said; cat in.txt sub/s1 > res; mkdir made; echo x > made/y; exit 3"
    job = make_job(
        work,
        script,
        TransferInput="in.txt,sub",
        TransferOutput="res,made",
        TransferOutputRemaps="res=renamed",
    )

    async def scenario(access: Access) -> None:
        assert await access.ended() == 100

    access = play(pool, work, job, scenario)
    assert (work / "renamed").read_text() == "input\ns1\n"
    assert (work / "made/y").read_text() == "x\n"
    assert (work / "out").read_text() == "said\n"
    assert access.updates["ExitCode"] == "3"
    assert [n for n in access.numbers() if n != 6] == [40, 40, 1, 40, 40, 5]


def test_a_job_is_suspended_continued_and_held(pool: RealPool, work: Path) -> None:
    async def scenario(access: Access) -> None:
        await access.wait_for_event(1)
        await access.signal("Suspend")
        await access.wait_for_event(10)
        await access.signal("Continue")
        await access.wait_for_event(11)
        await access.signal("Hold", "via condor_hold (by user tester)", 1)
        assert await access.ended() == 112

    access = play(pool, work, make_job(work, "sleep 60"), scenario)
    assert [n for n in access.numbers() if n not in (6, 40)] == [1, 10, 11, 4, 12]
    assert access.updates["HoldReasonCode"] == "1"


def test_a_lost_connection_is_made_again_and_the_job_goes_on(pool: RealPool, work: Path) -> None:
    async def scenario(access: Access) -> None:
        await access.wait_for_event(1)
        [shadow] = access.host.shadows.values()
        assert shadow.stream is not None
        shadow.stream.close()
        await access.wait_for_event(23)
        assert await access.ended() == 100

    access = play(pool, work, make_job(work, "sleep 8; echo done"), scenario)
    assert [n for n in access.numbers() if n not in (6, 40)] == [1, 22, 23, 5]
    assert access.updates["NumJobStarts"] == "1"
    assert (work / "out").read_text() == "done\n"


def test_a_missing_input_file_holds_the_job_as_the_real_shadow_does(
    pool: RealPool, work: Path
) -> None:
    async def scenario(access: Access) -> None:
        assert await access.ended() == 112

    access = play(pool, work, make_job(work, "true", TransferInput="nope"), scenario)
    assert access.numbers() == [40, 40, 21, 4, 12]
    assert access.updates["HoldReasonCode"] == "13"
    assert access.updates["HoldReason"].startswith(
        '"Transfer input files failure at access point vm while sending files to execution point'
    )


def test_a_removed_job_is_gone_at_once(pool: RealPool, work: Path) -> None:
    async def scenario(access: Access) -> None:
        await access.wait_for_event(1)
        await access.signal("Remove", "no more")
        assert await access.ended() == 102

    access = play(pool, work, make_job(work, "sleep 60"), scenario)
    assert [n for n in access.numbers() if n not in (6, 40)] == [1, 4]
