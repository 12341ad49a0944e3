"""A job beside the schedd that could not be started is held, or waits until there is room."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobUniverse, ShadowExit, VacateReasonCode
from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import NotForked, StorageError
from kettle.schedd import beside
from kettle.schedd.beside import NotStarted, Run
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services import beside as beside_service
from kettle.schedd.services.beside import BesideJobs
from kettle.schedd.start_pause import AGAIN_SECONDS
from kettle.testing.virtual_loop import run_virtually


class _Log:
    def __call__(self, text: str) -> None:
        self.problem(text)

    def problem(self, text: str) -> None:
        assert "1.0" in text


class _Session:
    text = ""


@pytest.mark.parametrize(("universe", "cools"), [(JobUniverse.SCHEDULER, True), (12, False)])
def test_a_job_that_could_not_be_started_is_held_and_cools_down_in_its_universe(
    monkeypatch: pytest.MonkeyPatch, universe: int, cools: bool
) -> None:
    reports: list[dict[str, str]] = []

    async def main() -> None:
        config = Config.from_text("SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 20")
        runtime = SimpleNamespace(config=config, log=_Log())
        schedd: Any = SimpleNamespace(runtime=runtime, now=lambda: 1000)
        jobs = BesideJobs(schedd, cast(Any, None))
        ad = ClassAd({"JobUniverse": universe, "NumJobStarts": 1})
        run = Run(cast(Any, SimpleNamespace(id=JobId(1, 0), ad=ad, universe=universe)), 0)
        monkeypatch.setattr(jobs, "_address", lambda: "<192.0.2.1:9618>")
        monkeypatch.setattr(
            jobs, "_close", lambda _run, _code, report, _events: reports.append(report)
        )
        jobs._fail(run, NotStarted("no such program", 6, 2))

    run_virtually(main())
    (report,) = reports
    assert (report["HoldReasonCode"], report["NumJobStarts"]) == ("6", "0")
    found = (report.get("JobCoolDownExpiration"), report.get("NumJobCoolDowns"))
    assert found == (("1020", "1") if cools else (None, None))


@pytest.mark.parametrize("universe", [JobUniverse.SCHEDULER, JobUniverse.LOCAL])
def test_a_job_for_which_no_process_could_be_made_waits_again_without_hold_and_cool_down(
    monkeypatch: pytest.MonkeyPatch, universe: int
) -> None:
    closed: list[tuple[int, dict[str, str], list[Any]]] = []

    async def main() -> None:
        config = Config.from_text("SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 20")
        runtime = SimpleNamespace(config=config, log=_Log())
        schedd: Any = SimpleNamespace(runtime=runtime, now=lambda: 1000)
        jobs = BesideJobs(schedd, cast(Any, None))
        ad = ClassAd({"JobUniverse": universe, "NumJobStarts": 1, "NumShadowStarts": 1})
        run = Run(cast(Any, SimpleNamespace(id=JobId(1, 0), ad=ad, universe=universe)), 0)

        async def serve(*_: object) -> int:
            raise NotForked("cannot fork it: the zygote is gone")

        monkeypatch.setattr(jobs, "_serve", serve)
        monkeypatch.setattr(jobs, "_forget", lambda _: None)
        monkeypatch.setattr(
            jobs, "_close", lambda _run, code, report, events: closed.append((code, report, events))
        )
        turn: Any = SimpleNamespace(told=asyncio.Event())
        await jobs._live(run, turn)

    run_virtually(main())
    ((code, report, events),) = closed
    assert (code, events) == (int(ShadowExit.SHOULD_REQUEUE), [])
    assert report["NumJobStarts"] == "0"
    assert report["VacateReasonCode"] == str(int(VacateReasonCode.JobNotStarted))
    assert not {"HoldReason", "JobCoolDownExpiration", "NumJobCoolDowns"} & report.keys()
    assert report.get("NumShadowStarts") == ("undefined" if universe == 12 else None)


@pytest.mark.parametrize("wish", ["", "Remove"])
def test_a_program_whose_process_was_killed_before_it_began_has_not_ended(
    monkeypatch: pytest.MonkeyPatch, wish: str
) -> None:
    """As it is with the zygote, whose title such a process has at first."""

    async def is_false(*_: object) -> bool:
        return False

    async def killed(*_: object) -> int:
        return 9

    async def start(*_: object) -> Any:
        child = SimpleNamespace(pid=7, wait=killed, usage=None, signal=lambda _: True)
        return SimpleNamespace(child=child, executed=is_false)

    async def main() -> int:
        config = Config.from_text("")
        mine = SimpleNamespace(uid=1, lent=False)
        privileges = SimpleNamespace(job_account=lambda _: mine)
        runtime = SimpleNamespace(config=config, log=_Log(), privileges=privileges)
        accounts = SimpleNamespace(to_start=lambda _: mine)
        jobs = BesideJobs(
            cast(Any, SimpleNamespace(runtime=runtime, accounts=accounts)), cast(Any, None)
        )
        monkeypatch.setattr(beside_service, "write_job_ad", lambda *_: "")
        monkeypatch.setattr(beside_service, "start_program", start)
        monkeypatch.setattr(beside_service, "hunt", is_false)
        monkeypatch.setattr(jobs, "_remember", lambda *_: None)
        monkeypatch.setattr(jobs, "_sessions", SimpleNamespace(begin=lambda _: _Session))
        job: Any = SimpleNamespace(
            id=JobId(1, 0), ad=ClassAd(), universe=7, owner="alice", user="alice@here"
        )
        turn: Any = SimpleNamespace(told=asyncio.Event())
        return await jobs._run_program(Run(job, 0, wish=wish), turn)

    if wish:
        assert run_virtually(main()) == 9
    else:
        with pytest.raises(NotForked, match="killed before the program began"):
            run_virtually(main())


def test_a_start_for_which_the_queue_has_no_room_is_tried_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[float] = []
    said: list[str] = []
    noted: list[str | None] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        log = SimpleNamespace(problem=said.append)
        runtime = SimpleNamespace(config=Config.from_text(""), log=log)
        accounts = SimpleNamespace(is_silent=lambda user: user == "silent@here")
        schedd: Any = SimpleNamespace(
            runtime=runtime, now=lambda: 1000, queue=None, accounts=accounts
        )
        jobs = BesideJobs(schedd, cast(Any, None))
        jobs._cleared = True
        waiting = [
            SimpleNamespace(id=JobId(1, proc), ad=ClassAd(), user="u@here") for proc in range(2)
        ]
        # Whose owner cannot be found just now is not even tried.
        silent = SimpleNamespace(id=JobId(2, 0), ad=ClassAd(), user="silent@here")
        waiting.insert(0, silent)
        monkeypatch.setattr(beside, "startable", lambda *_: iter(waiting))
        monkeypatch.setattr(beside, "has_idle", lambda _: True)
        monkeypatch.setattr(beside, "counts", lambda _: {})
        monkeypatch.setattr(jobs, "_read_free_kib", lambda: 0)

        def begin(job: Any) -> None:
            tried.append(loop.time())
            if len(tried) == 1:
                raise StorageError("cannot write job_queue.log: No space left on device")
            noted.extend(job.ad.string("LastRejMatchReason") for job in waiting[1:])
            assert job is not silent
            waiting.clear()

        monkeypatch.setattr(jobs, "_begin", begin)
        jobs._start_all()
        await asyncio.sleep(AGAIN_SECONDS + 1)

    run_virtually(main())
    first = tried[0]
    assert [moment - first for moment in tried] == [0, AGAIN_SECONDS]
    assert said == ["job 1.0 is not started: cannot write job_queue.log: No space left on device"]
    why = "its schedd starts no job: cannot write job_queue.log: No space left on device"
    assert noted == [why, why]
