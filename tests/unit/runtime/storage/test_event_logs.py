"""Where events are written: the job's log, the DAG's, the pool's."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import unittest.mock
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import StorageError
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_kinds import ExecuteEvent, GenericEvent, JobAbortedEvent, SubmitEvent
from kettle.records.event_log import GlobalHeader, read_events, render_event
from kettle.runtime.process.privileges import Account, Privileges, account_of
from kettle.runtime.storage import event_logs
from kettle.runtime.storage.event_logs import MAX_OPEN, EventLogs
from kettle.runtime.storage.told import user_log_paths

_NO_QUOTA = OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


def logs(text: str = "") -> EventLogs:
    return EventLogs(Config.from_text(text, subsystem="SCHEDD"))


def numbers(path: Path) -> list[int]:
    return [event.number for event in read_events(path.read_bytes())]


def test_a_log_lies_in_the_jobs_directory_unless_its_name_says_otherwise() -> None:
    job = ClassAd({"Iwd": "/home/u", "UserLog": "a/../j.log", "DAGManNodesLog": "/tmp/n.log"})
    assert user_log_paths(job) == ["/home/u/j.log", "/tmp/n.log"]
    assert user_log_paths(ClassAd({"Iwd": "/", "UserLog": "/dev/null"})) == []


def test_a_dags_log_gets_only_the_events_it_asked_for(tmp_path: Path) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j", "DAGManNodesLog": "n"})
    writer = logs()
    writer.write(job, SubmitEvent(), writer.logs_of(job, frozenset({0})))
    writer.write(job, JobAbortedEvent(), writer.logs_of(job, frozenset({0})))
    writer.close()
    assert numbers(tmp_path / "j") == [0, 9]
    assert numbers(tmp_path / "n") == [0]


def test_events_written_together_appear_at_the_end_and_one_bad_log_keeps_none_back(
    tmp_path: Path,
) -> None:
    good = ClassAd({"Iwd": str(tmp_path), "UserLog": "j"})
    (tmp_path / "file").touch()
    bad = ClassAd({"Iwd": str(tmp_path), "UserLog": "file/j"})
    writer = logs()

    def write_all() -> None:
        with writer.together():
            for job in (bad, good, good):
                writer.write(job, SubmitEvent())
            assert not (tmp_path / "j").exists()

    with pytest.raises(StorageError, match="file/j"):
        write_all()
    writer.write(good, JobAbortedEvent())
    writer.close()
    assert numbers(tmp_path / "j") == [0, 0, 9]


def test_a_log_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j"})
    writer = logs()
    writer.write(job, SubmitEvent())
    (tmp_path / "j").rename(tmp_path / "old")
    writer.write(job, JobAbortedEvent())
    writer.close()
    assert numbers(tmp_path / "old") == [0]
    assert numbers(tmp_path / "j") == [9]


def test_only_so_many_logs_stay_open(tmp_path: Path) -> None:
    writer = logs()
    for number in range(MAX_OPEN + 10):
        writer.write(ClassAd({"Iwd": str(tmp_path), "UserLog": f"j{number}"}), SubmitEvent())
    writer.write(ClassAd({"Iwd": str(tmp_path), "UserLog": "j0"}), JobAbortedEvent())
    writer.close()
    assert numbers(tmp_path / "j0") == [0, 9]


def test_who_has_many_logs_gives_up_his_own_and_nobody_else_s(tmp_path: Path) -> None:
    def job(owner: str, name: str) -> ClassAd:
        return ClassAd({"Iwd": str(tmp_path), "UserLog": name, "Owner": owner})

    def open_logs() -> set[str]:
        found = set()
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(FileNotFoundError):  # the listing's own
                found.add(Path(f"/proc/self/fd/{number}").readlink())
        return {path.name for path in found if path.parent == tmp_path}

    writer = logs()
    writer.write(job("alice", "hers"), SubmitEvent())
    for number in range(2 * MAX_OPEN):
        writer.write(job("bob", f"j{number}"), SubmitEvent())
    assert len(open_logs()) == MAX_OPEN
    assert "hers" in open_logs()
    assert f"j{2 * MAX_OPEN - 1}" in open_logs()
    writer.close()
    assert not open_logs()


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
@pytest.mark.parametrize("named", [True, False])
def test_a_log_that_one_owner_has_open_is_not_open_to_another(
    open_place: Path, named: bool
) -> None:
    """The rights count, whatever the jobs' ads say of their owners."""
    alice, mallory = (Account(name, uid, uid, ()) for name, uid in (("a", 54321), ("m", 54322)))
    os.chown(open_place, alice.uid, alice.gid)
    privileges = Privileges(account_of(0), can_switch=True)
    writer = logs()
    job = {"Iwd": str(open_place), "UserLog": "j"}
    jobs = {
        account: ClassAd({**job, "Owner": account.name if named else ""})
        for account in (alice, mallory)
    }
    with privileges.as_account(alice):
        writer.write(jobs[alice], SubmitEvent())
    with privileges.as_account(mallory), pytest.raises(StorageError, match="Permission denied"):
        writer.write(jobs[mallory], JobAbortedEvent())
    with privileges.as_account(mallory), pytest.raises(StorageError, match="Permission denied"):
        asyncio.run(writer.check(jobs[mallory]))
    with privileges.as_account(alice):
        writer.write(jobs[alice], JobTerminatedEvent())
    writer.close()
    assert numbers(open_place / "j") == [0, 5]


def guest_s_job(folder: Path) -> ClassAd:
    """Return a job whose owner is one of two of his name."""
    return ClassAd({"Iwd": str(folder), "UserLog": "j", "Owner": "zoe", "User": "zoe@other.org"})


def test_what_is_recalled_and_what_is_new_are_one_owner_s_and_stay_in_their_order(
    tmp_path: Path,
) -> None:
    """All of his name counts, wherever it is asked whose a log is."""
    asked: list[str] = []

    def as_owner(owner: str) -> contextlib.AbstractContextManager[None]:
        asked.append(owner)
        return contextlib.nullcontext()

    job = guest_s_job(tmp_path)
    writer = EventLogs(Config.from_text("", subsystem="SCHEDD"), as_owner=as_owner)

    async def main() -> None:
        await writer.check(job)
        writer.write(job, SubmitEvent())
        writer.recall(job, writer.prepare(job, ExecuteEvent()))
        writer.write(job, JobAbortedEvent())
        await writer.settle(2)

    asyncio.run(main())
    writer.close()
    assert numbers(tmp_path / "j") == [0, 1, 9]
    assert set(asked) == {"zoe@other.org"}


@pytest.mark.parametrize("recalled", [True, False])
def test_a_log_whose_events_wait_for_its_disk_keeps_its_owner_s_jobs_from_starting(
    tmp_path: Path, recalled: bool
) -> None:
    """Also where `statvfs` says nothing of it: a quota, a broken disk."""

    def as_owner(_: str) -> contextlib.AbstractContextManager[None]:
        raise StorageError("over quota", errno=errno.EDQUOT)

    job = guest_s_job(tmp_path)
    writer = EventLogs(Config.from_text("", subsystem="SCHEDD"), as_owner=as_owner)

    async def main() -> None:
        if recalled:
            writer.recall(job, writer.prepare(job, ExecuteEvent()))
        else:
            with unittest.mock.patch.object(event_logs, "append_whole", side_effect=_NO_QUOTA):
                writer.write(job, ExecuteEvent())
        await asyncio.sleep(0)
        with pytest.raises(StorageError, match="over quota"):
            await writer.check(job)

    asyncio.run(main())
    writer.close()


def test_a_log_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "file/j"})
    with pytest.raises(StorageError, match="file/j"):
        asyncio.run(logs().check(job))


def test_a_log_s_folder_is_made_where_there_is_none(tmp_path: Path) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "a/b/j"})
    writer = logs()
    asyncio.run(writer.check(job))
    writer.write(job, SubmitEvent())
    writer.close()
    assert numbers(tmp_path / "a/b/j") == [0]


def test_a_log_that_is_a_pipe_is_refused_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "j")
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j"})
    with pytest.raises(StorageError, match="/j"):
        asyncio.run(logs().check(job))
    reader = os.open(tmp_path / "j", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(StorageError, match="no regular file"):
            asyncio.run(logs().check(job))
    finally:
        os.close(reader)


def test_a_job_may_want_its_log_in_xml(tmp_path: Path) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j", "UserLogUseXML": True})
    writer = logs()
    writer.write(job, SubmitEvent(cluster=1))
    writer.close()
    assert (tmp_path / "j").read_text().startswith("<c>\n")


def test_a_job_may_ask_to_be_told_more(tmp_path: Path) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j", "JobAdInformationAttrs": "Owner"})
    job["Owner"] = "u"
    writer = logs()
    writer.write(job, SubmitEvent())
    writer.close()
    assert numbers(tmp_path / "j") == [0, 28]
    assert '\nOwner = "u"\n' in (tmp_path / "j").read_text()


def test_the_global_log_begins_with_its_header_and_is_rotated(tmp_path: Path) -> None:
    writer = logs(
        f"EVENT_LOG = {tmp_path}/all\nEVENT_LOG_MAX_SIZE = 600\nEVENT_LOG_MAX_ROTATIONS = 2\n"
        f"EVENT_LOG_ROTATION_LOCK = {tmp_path}/lock\n"
    )
    job = ClassAd({"Iwd": str(tmp_path)})
    for _ in range(20):
        writer.write(job, GenericEvent(info="something", time=1795262865.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "all",
        "all.1",
        "all.2",
        "lock",
    ]
    for name in ("all", "all.1", "all.2"):
        first = read_events((tmp_path / name).read_bytes())[0]
        assert GlobalHeader.parse(first) is not None


def test_a_global_log_that_cannot_be_written_harms_no_job(tmp_path: Path) -> None:
    writer = logs(f"EVENT_LOG = {tmp_path}/no/all\nLOCK = {tmp_path}\n")
    writer.write(ClassAd({"Iwd": str(tmp_path), "UserLog": "j"}), SubmitEvent())
    writer.close()
    assert numbers(tmp_path / "j") == [0]


def test_what_an_earlier_process_could_not_write_is_written_unless_a_log_has_it(
    tmp_path: Path,
) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j", "ClusterId": 7, "ProcId": 1})
    path = str(tmp_path / "j")
    submitted = render_event(SubmitEvent(cluster=7, proc=1))
    begun = render_event(ExecuteEvent(cluster=7, proc=1))
    ended = render_event(JobTerminatedEvent(cluster=7, proc=1))
    (tmp_path / "j").write_bytes(submitted + begun)

    async def main() -> None:
        writer = logs()
        left = [(path, begun), ("/etc/passwd", b"x"), (path, ended)]
        writer.recall(job, left)
        # It is known at once, and what is known is not recalled again.
        assert isinstance(writer.told.last_of(job), JobTerminatedEvent)
        assert writer.told.starts_told(job) == 1
        assert not writer.told.shows(job)
        writer.recall(job, left)
        await writer.settle(10)
        assert writer.told.shows(job)
        assert writer.unwritten((7, 1)) == []
        writer.close()

    asyncio.run(main())
    assert numbers(tmp_path / "j") == [0, 1, 5]


def test_two_runs_within_a_second_end_twice(tmp_path: Path) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "j", "ClusterId": 7, "ProcId": 1})
    path = str(tmp_path / "j")
    begun = render_event(ExecuteEvent(cluster=7, proc=1))
    evicted = render_event(JobEvictedEvent(cluster=7, proc=1))
    (tmp_path / "j").write_bytes(begun + evicted + begun)

    async def main() -> None:
        writer = logs()
        writer.recall(job, [(path, evicted)])
        await writer.settle(10)
        # After a crash it is not known whether the log has them: now it has.
        writer.recall(job, [(path, begun), (path, evicted)])
        await writer.settle(10)
        assert numbers(tmp_path / "j") == [1, 4, 1, 4]
        # Who made an event just now knows that no log has it, whatever its form.
        writer.recall(job, [(path, evicted)], unsure=False)
        # One more than waits already.
        writer.recall(job, [(path, evicted), (path, evicted)], unsure=False)
        await writer.settle(10)
        writer.close()

    asyncio.run(main())
    assert numbers(tmp_path / "j") == [1, 4, 1, 4, 4, 4]


def test_a_log_of_any_form_tells_later_what_happened_if_it_is_at_hand(tmp_path: Path) -> None:
    ad = {"Iwd": str(tmp_path), "UserLog": "j"}
    assert logs().told.shows(ClassAd(ad))
    assert not logs().told.shows(ClassAd({"Iwd": str(tmp_path)}))
    assert logs().told.shows(ClassAd({**ad, "UserLogUseXML": True}))
    assert logs("DEFAULT_USERLOG_FORMAT_OPTIONS = JSON\n").told.shows(ClassAd(ad))
    far = EventLogs(Config.from_text("", subsystem="SCHEDD"), is_far=lambda _: True)
    assert not far.told.shows(ClassAd(ad))


def test_whether_a_log_tells_of_a_submission_is_known_if_all_of_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ClassAd({"Iwd": str(tmp_path), "UserLog": "log", "ClusterId": 7, "ProcId": 1})
    path = str(tmp_path / "log")
    writer = logs()
    assert writer.told.submission_told(job, path, removed=False) is False
    writer.write(ClassAd({"Iwd": str(tmp_path), "UserLog": "log"}), SubmitEvent(cluster=7, proc=2))
    assert writer.told.submission_told(job, path, removed=False) is False
    monkeypatch.setattr("kettle.runtime.storage.event_log_tail.TAIL_BYTES", 10)
    assert logs().told.submission_told(job, path, removed=False) is None
    monkeypatch.undo()
    writer.write(job, SubmitEvent(cluster=7, proc=1))
    assert writer.told.submission_told(job, path, removed=False) is True
    far = EventLogs(Config.from_text("", subsystem="SCHEDD"), is_far=lambda _: True)
    assert far.told.submission_told(job, path, removed=False) is None
