"""The end of a run is told, whatever goes wrong in it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, NoReturn

from kettle.attributes.codes import ShadowExit, VacateReasonCode
from kettle.classad import ClassAd
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.rests import Rests
from kettle.shadow.service import ShadowHost
from kettle.shadow.services.ending import fail_run
from kettle.wire.messages.shadow_host import ShadowExited

BUG = ZeroDivisionError("a bug")


class Host:
    """A shadow host that notes what it tells its schedd, and the bugs that it tells of."""

    def __init__(self) -> None:
        self.told: list[ShadowExited] = []
        self.bugs: list[Exception] = []
        self.report_bug = self.bugs.append
        self.tell_schedd = self.told.append
        self.runtime: Any = SimpleNamespace(log=SimpleNamespace(problem=lambda text: None))
        self.shadows: dict[object, object] = {}
        self._by_key: dict[str, object] = {}
        self._empty = asyncio.Event()

    def now(self) -> float:
        return 1000.0

    def steady(self) -> float:
        return 10.0


def run_of(host: Host) -> Any:
    """Return a run whose logs take no event."""

    async def command(message: object) -> None:
        del message

    def write_event(event: object) -> NoReturn:
        raise BUG

    return SimpleNamespace(
        host=host, name="1.0", cluster=1, proc=0, stream=None, lease_seconds=0, end_told=False,
        may_live_on=False, link=SimpleNamespace(command=command), write_event=write_event,
        claim=SimpleNamespace(text="claim"), received_bytes=0, sent_bytes=0, job=ClassAd({}),
        keeping=(), arriving=None, transfers=(), take_pending=dict, spent_seconds={},
        log=lambda text: None, trace=lambda *words: None, reusable=False, broken_off=(),
    )  # fmt: skip


def assert_is_fault(host: Host) -> None:
    """See that the schedd heard once of an end that lets a job rest which has many of them."""
    (end,) = host.told
    assert end.reason == ShadowExit.EXCEPTION
    assert end.attributes["VacateReasonCode"] == str(int(VacateReasonCode.ShadowException))
    rests = Rests()
    assert [bool(rests.after_run(JobId(1, 0), end.attributes, 0.1)) for _ in range(4)][-1]


def test_the_schedd_hears_of_a_failed_run_whose_logs_take_no_event() -> None:
    host = Host()
    asyncio.run(fail_run(run_of(host), BUG))
    assert host.bugs == [BUG, BUG]
    assert_is_fault(host)


def test_the_schedd_hears_of_a_shadow_that_could_not_even_say_that_it_failed() -> None:
    host = Host()

    async def run() -> NoReturn:
        raise BUG

    shadow: Any = SimpleNamespace(
        run=run, end_told=False, transfer_key="", transfer_session=None, claim_accepted=False
    )
    asyncio.run(ShadowHost._run(host, shadow, (1, 0)))  # type: ignore[arg-type]
    assert host.bugs == [BUG]
    assert_is_fault(host)


def test_a_mask_of_a_nodes_log_may_have_digits_without_end() -> None:
    job = ClassAd({"DAGManNodesMask": f"0, 1,{'9' * 5000},x"})
    mask = ShadowHost.nodes_mask(Host(), job)  # type: ignore[arg-type]
    assert mask is not None
    assert {0, 1} < mask
    assert len(mask) == 3
