"""Full disks and silent servers under a pool: refused, held or told with the reason, and on."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kettle.errors import KettleError
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import (
    ask_queue,
    daemon_pid,
    daemon_pids,
    family_of,
    log_text,
    run_tool,
    submit,
    submit_as,
    title_of,
    wait_until,
)
from small_disks import fill, silent_server, small_disk

pytestmark = pytest.mark.root

TRUE = "executable = /bin/true\ntransfer_executable = false\nrequest_disk = 1MB\n"
HOLD = ("HoldReasonCode", "HoldReasonSubCode", "HoldReason")
FULL = "No space left on device"
ENOSPC = "28"


def test_a_full_spool_refuses_submissions_and_loses_no_end_of_a_running_job(
    tmp_path: Path, work: Path
) -> None:
    with (
        small_disk(work / "spool", "4m") as spool,
        personal_pool(tmp_path, f"SPOOL = {spool}\nRESERVED_DISK = 0\n") as pool,
    ):
        schedd = daemon_pid(pool, "condor_schedd")
        go = work / "go"
        script = "executable = /bin/sh\ntransfer_executable = false\nrequest_disk = 1MB\n"
        waits = f"arguments = \"-c 'until [ -e {go} ]; do sleep 0.2; done'\"\n"
        running = submit(pool, work / "running", f"{script}{waits}queue 2\n")
        running.wait_for(1, 30)
        waiting = submit(pool, work / "waiting", f"{TRUE}requirements = false\nqueue\n")
        filler = fill(spool)
        (work / "true.sub").write_text(f"{TRUE}queue 50\n")
        code, _, complaint = run_tool(pool, "condor_submit", str(work / "true.sub"))
        assert code != 0
        assert FULL in complaint
        # The two end while there is no room: they stay in the queue, and nothing is lost.
        go.touch()
        running.wait_for(5, 30)
        assert len(ask_queue(pool, str(running.cluster), "JobStatus")) == 2
        wait_until(lambda: f"job_queue.log: {FULL}" in log_text(pool, "SchedLog"), 30)
        filler.unlink()
        running.wait_until_gone()
        assert ask_queue(pool, str(waiting.cluster), "JobStatus") == [["1"]]
        assert run_tool(pool, "condor_rm", str(waiting.cluster))[0] == 0
        records = (spool / "history").read_text()
        for proc in (0, 1):
            assert records.count(f" ClusterId = {running.cluster} ProcId = {proc} ") == 1
        assert running.count_events(1) == {0: 1, 1: 1}
        submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)
        assert daemon_pid(pool, "condor_schedd") == schedd


def test_a_full_spool_refuses_changes_of_jobs_with_the_reason_in_every_tool(
    tmp_path: Path, work: Path
) -> None:
    with (
        small_disk(work / "spool", "4m") as spool,
        personal_pool(tmp_path, f"SPOOL = {spool}\nRESERVED_DISK = 0\n") as pool,
    ):
        never = f"{TRUE}requirements = false\nqueue\n"
        waiting = str(submit(pool, work / "waiting", never).cluster)
        held = str(submit(pool, work / "held", f"{TRUE}hold = true\nqueue\n").cluster)
        filler = fill(spool)
        fill_last_page(pool, waiting)
        before = ask_queue(pool, "-all", "JobStatus", "JobPrio", "Mark")
        for words in (
            ("condor_hold", waiting),
            ("condor_hold", f"{waiting}.0"),
            ("condor_release", held),
            ("condor_rm", waiting),
            ("condor_rm", "-constraint", "true"),
            ("condor_qedit", waiting, "Mark", "1"),
            ("condor_prio", "-p", "6", waiting),
            ("condor_submit", str(work / "waiting" / "job.sub")),
        ):
            code, _, complaint = run_tool(pool, *words)
            assert (words, code) == (words, 1)
            assert f"/job_queue.log: {FULL}" in complaint, words
        assert ask_queue(pool, "-all", "JobStatus", "JobPrio", "Mark") == before
        filler.unlink()
        assert run_tool(pool, "condor_rm", waiting, held)[0] == 0


def fill_last_page(pool: PersonalPool, waiting: str) -> None:
    """Change a job until the queue log, which may have room in its last page, takes nothing."""
    for edit in (
        *(("condor_qedit", waiting, "Mark", f'"{"x" * size}"') for size in (1000, 200, 1)),
        ("condor_prio", "-p", "5", waiting),
    ):
        wait_until(partial(is_refused, pool, *edit), 20)


def test_while_the_spool_is_full_a_job_that_nobody_starts_is_shown_as_one_that_waits(
    tmp_path: Path, work: Path
) -> None:
    settings = "RESERVED_DISK = 0\nNUM_CPUS = 2\n"
    with (
        small_disk(work / "spool", "4m") as spool,
        personal_pool(tmp_path, f"SPOOL = {spool}\n{settings}") as pool,
    ):
        go = work / "go"
        waits = f"arguments = \"-c 'until [ -e {go} ]; do sleep 0.2; done'\"\n"
        shell = "executable = /bin/sh\ntransfer_executable = false\nrequest_disk = 1MB\n"
        running = submit(pool, work / "running", f"{shell}{waits}queue 2\n")
        running.wait_for(1, 30)
        waiting = submit(pool, work / "waiting", f"{TRUE}queue 2\n")
        filler = fill(spool)
        fill_last_page(pool, str(waiting.cluster))
        # Their claims are free now, and the next jobs' starts cannot be written.
        go.touch()
        running.wait_for(5, 30)
        which = str(waiting.cluster)
        told = "It is idle because its schedd starts no job: "
        wait_until(lambda: told in run_tool(pool, "kettle", "why", which)[1], 30)
        assert f"job_queue.log: {FULL}" in run_tool(pool, "kettle", "why", which)[1]
        assert ask_queue(pool, which, "JobStatus") == [["1"], ["1"]]
        assert waiting.count_events(1) == {}
        filler.unlink()
        waiting.wait_until_gone()
        assert waiting.count_events(1) == waiting.count_events(5) == {0: 1, 1: 1}


def is_refused(pool: PersonalPool, *words: str) -> bool:
    return run_tool(pool, *words)[0] != 0


def test_a_full_execute_folder_holds_its_job_and_the_next_one_runs(
    tmp_path: Path, work: Path
) -> None:
    with (
        small_disk(work / "execute", "8m") as execute,
        personal_pool(tmp_path, f"EXECUTE = {execute}\nRESERVED_DISK = 0\n") as pool,
    ):
        (work / "large").mkdir()
        (work / "large" / "data").write_bytes(bytes(12 << 20))
        text = f"{TRUE}should_transfer_files = yes\ntransfer_input_files = data\nqueue\n"
        large = submit(pool, work / "large", text)
        code, subcode, reason = large.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("13", ENOSPC)
        assert FULL in reason
        submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)


def test_a_pool_that_began_without_room_starts_its_jobs_when_there_is_some(
    tmp_path: Path, work: Path
) -> None:
    settings = "RESERVED_DISK = 0\nPOLLING_INTERVAL = 1\nNEGOTIATOR_INTERVAL = 600\n"
    with small_disk(work / "execute", "8m") as execute:
        filler = fill(execute)
        with personal_pool(tmp_path, f"EXECUTE = {execute}\n{settings}") as pool:
            jobs = submit(pool, work, f"{TRUE}queue\n")
            which = f"{jobs.cluster}.0"
            # The negotiator has looked, and refused it.
            refused = ["LastRejMatchTime"]
            wait_until(lambda: ask_queue(pool, which, *refused) != [["undefined"]], 30)
            said = run_tool(pool, "kettle", "why", which)[1]
            assert "no machine offers any disk: EXECUTE has no room there" in said
            filler.unlink()
            jobs.wait_for(5, 30)


def test_a_pool_that_cannot_come_up_for_lack_of_room_says_so_at_once(
    tmp_path: Path, work: Path
) -> None:
    """Without room in LOG nobody learns the collector's port, and no log says why."""
    with (
        small_disk(work / "log", "1m", 0o777) as logs,
        personal_pool(tmp_path, f"DAEMON_LIST = MASTER COLLECTOR\nLOG = {logs}\n") as pool,
    ):
        assert pool.stop()
        filler = fill(logs)
        began = time.monotonic()
        with pytest.raises(KettleError, match=f"does not come up: {logs}: {FULL}"):
            pool.start(seconds=60)
        assert time.monotonic() - began < 20
        filler.unlink()
        pool.start(seconds=60)


def test_daemons_go_on_without_a_line_of_log_and_say_so_when_there_is_room(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path) as pool:
        pool.stop(how="fast")
        with small_disk(Path(pool.log_folder), "1m") as log, contextlib.ExitStack() as stack:
            # Whoever stops the pool has to see its lock, which lies here.
            stack.callback(pool.stop, how="fast")
            pool.start()
            pids = {name: daemon_pid(pool, f"condor_{name}") for name in ("schedd", "startd")}
            filler = fill(log)
            jobs = submit(pool, work / "silent", f"{TRUE}queue 4\n")
            jobs.wait_for(5, 30)
            filler.unlink()
            submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)
            told = "lines of this log could not be written: No space left on device"
            wait_until(lambda: told in log_text(pool, "ShadowLog"), 10)
            assert pids == {name: daemon_pid(pool, f"condor_{name}") for name in pids}


def test_a_full_folder_of_event_logs_holds_the_job_and_its_events_follow_when_there_is_room(
    tmp_path: Path, work: Path
) -> None:
    with (
        small_disk(work / "events", "64k", 0o777) as events,
        personal_pool(tmp_path, "RESERVED_DISK = 0\n") as pool,
    ):
        filler = fill(events)
        silent = submit(pool, work / "silent", f"{TRUE}log = {events}/log\nqueue\n")
        code, subcode, reason = silent.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("22", ENOSPC)
        assert f"cannot write the event log {events}/log: {FULL} (errno 28)" in reason
        submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)
        filler.unlink()
        wait_until(lambda: b"012 (" in (events / "log").read_bytes(), 20)
        assert run_tool(pool, "condor_release", str(silent.cluster))[0] == 0
        silent.wait_until_gone()
        wait_until(lambda: b"\n005 (" in (events / "log").read_bytes(), 20)
        found = (events / "log").read_bytes()
        numbers = [line[:3] for line in found.splitlines() if line[3:5] == b" ("]
        assert sorted(numbers) == [b"000", b"001", b"005", b"006", b"012", b"013", b"040"] or (
            {b"000", b"001", b"005", b"012", b"013"} <= set(numbers)
            and len(numbers) == len(set(numbers) - {b"040"}) + numbers.count(b"040")
        )


def test_a_log_tells_of_a_submission_first_also_where_it_was_full(
    tmp_path: Path, work: Path
) -> None:
    with small_disk(work / "logs", "1m") as logs, personal_pool(tmp_path, "NUM_CPUS = 4\n") as pool:
        lines = f"{TRUE}log = {logs}/log\nqueue 5\n"
        filler = fill(logs)
        first = submit(pool, work / "first", lines)
        wait_until(
            lambda: ask_queue(pool, str(first.cluster), *HOLD[:2]) == [["22", ENOSPC]] * 5, 30
        )
        filler.unlink()
        second = submit(pool, work / "second", lines)
        wait_until(lambda: not ask_queue(pool, str(second.cluster), "ProcId"), 30)
        assert run_tool(pool, "condor_release", str(first.cluster))[0] == 0
        wait_until(lambda: not ask_queue(pool, str(first.cluster), "ProcId"), 30)
        log = logs / "log"
        wait_until(lambda: log.read_text().count("\n005 (") == 10, 10)
        for cluster in (first.cluster, second.cluster):
            for proc in range(5):
                seen = re.findall(rf"(?m)^(\d+) \({cluster:03}\.{proc:03}\.", log.read_text())
                held = ["012", "013"] if cluster == first.cluster else []
                seen = [number for number in seen if number not in ("006", "040")]
                assert seen == ["000", *held, "001", "005"], log.read_text()


def test_output_that_finds_no_room_at_home_holds_its_job(tmp_path: Path, work: Path) -> None:
    with (
        small_disk(work / "home", "1m", 0o777) as home,
        personal_pool(tmp_path) as pool,
    ):
        script = work / "writer.sh"
        script.write_text("#!/bin/sh\nhead -c 3000000 /dev/zero >data\n")
        script.chmod(0o755)
        text = (
            f"executable = {script}\nshould_transfer_files = yes\n"
            f'transfer_output_files = data\ntransfer_output_remaps = "data={home}/data"\nqueue\n'
        )
        lost = submit(pool, work / "lost", text)
        code, subcode, reason = lost.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("12", ENOSPC)
        assert FULL in reason
        submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)


def test_a_streamed_output_that_finds_no_room_holds_its_job(tmp_path: Path, work: Path) -> None:
    with (
        small_disk(work / "home", "1m", 0o777) as home,
        personal_pool(tmp_path) as pool,
    ):
        # It does not look at how its writing went.
        script = work / "writer.sh"
        script.write_text("#!/bin/sh\nhead -c 3000000 /dev/zero\nexit 0\n")
        script.chmod(0o755)
        lines = f"output = {home}/out\nstream_output = true\nshould_transfer_files = yes\n"
        lost = submit(pool, work / "lost", f"executable = {script}\n{lines}queue\n")
        code, subcode, reason = lost.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("9", ENOSPC)
        assert f"cannot write the stream {home}/out: {FULL}" in reason
        submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 30)


def test_a_users_log_on_a_server_that_hangs_stops_neither_the_schedd_nor_other_jobs(
    tmp_path: Path, work: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    with personal_pool(tmp_path, "NUM_CPUS = 8\nALLOW_WRITE = *\n") as pool:
        far, account = work / "server", make_account("far")
        mine = submit(pool, far, f"{TRUE}hold = true\nqueue 4\n").cluster
        submit_as(pool, account, far / "his", f"{TRUE}hold = true\nqueue 4\n")
        owners = {row[0]: row[1] for row in ask_queue(pool, "-all", "Owner", "ClusterId")}
        his = owners[account.pw_name]
        with silent_server(far):
            for cluster in (mine, his):
                assert run_tool(pool, "condor_rm", f"{cluster}.0")[0] == 0
                assert run_tool(pool, "condor_release", f"{cluster}.1")[0] == 0
            submit(pool, work / "near", f"{TRUE}queue 3\n").wait_for(5, 30)
            for cluster in (mine, his):
                # The one that is removed leaves when its log has that, or cannot have it.
                found = ask_queue(pool, str(cluster), "JobStatus")
                assert len(found) == 4
                assert found[0] == ["3"]
            # A job whose shadow looks for its log later finds it again.
            wait_until(lambda: hanging_shadows(pool) == 2, 20)
            titles = [title_of(pid) for pid in family_of(daemon_pid(pool, "condor_schedd"))]
            assert f"condor_log_writer: logs of {account.pw_name}" in " ".join(titles)
        # The server is gone, and what hung is told of.
        wait_until(lambda: log_text(pool, "SchedLog").count("cannot open the event log") >= 2, 20)
        for cluster in (mine, his):
            wait_until(partial(holds_with, pool, f"{cluster}.1", "22"), 20)
            wait_until(partial(is_gone_from_queue, pool, f"{cluster}.0"), 20)


def is_gone_from_queue(pool: PersonalPool, which: str) -> bool:
    return ask_queue(pool, which, "JobStatus") == []


def hanging_shadows(pool: PersonalPool) -> int:
    """Return how many hosts of shadows have a thread that waits inside the kernel."""
    hosts = daemon_pids(pool, "condor_shadow")
    threads = [Path(f"/proc/{pid}/task").glob("*/stat") for pid in hosts]
    return sum(any(map(waits_in_the_kernel, stats)) for stats in threads)


def waits_in_the_kernel(stat: Path) -> bool:
    with contextlib.suppress(OSError):
        return ") D " in stat.read_text()
    return False


def holds_with(pool: PersonalPool, which: str, code: str) -> bool:
    return ask_queue(pool, which, "HoldReasonCode") == [[code]]


def test_a_schedd_that_dies_while_its_spool_is_full_comes_back_and_serves(
    tmp_path: Path, work: Path
) -> None:
    settings = "MASTER_BACKOFF_CONSTANT = 0\nMASTER_BACKOFF_CEILING = 1\nRESERVED_DISK = 0\n"
    with (
        small_disk(work / "spool", "4m") as spool,
        personal_pool(tmp_path, f"SPOOL = {spool}\n{settings}") as pool,
    ):
        fill(spool)
        old = daemon_pid(pool, "condor_schedd")
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: _answers(pool, "-schedd"), 30)
        new = daemon_pid(pool, "condor_schedd")
        assert new != old
        assert "EXITING WITH STATUS 1" not in log_text(pool, "SchedLog")
        # Nothing of it is left to be mended by hand.
        (spool / "filler").unlink()
        submit(pool, work / "after", f"{TRUE}queue\n").wait_for(5, 60)
        assert daemon_pid(pool, "condor_schedd") == new
        wait_until((spool / ".schedd_address.super").exists, 20)


def test_a_collector_that_dies_while_the_disk_of_its_address_is_full_is_there_again(
    tmp_path: Path, work: Path
) -> None:
    with small_disk(work / "disk", "1m") as disk:
        settings = f"COLLECTOR_ADDRESS_FILE = {disk}/address\nMASTER_BACKOFF_CEILING = 1\n"
        with personal_pool(tmp_path, settings) as pool:
            master = pool.master_pid()
            assert master is not None
            # The place of the old file is taken before there is a new one.
            os.kill(master, signal.SIGSTOP)
            os.kill(daemon_pid(pool, "condor_collector"), signal.SIGKILL)
            (disk / "address").unlink()
            filler = fill(disk)
            os.kill(master, signal.SIGCONT)
            wait_until(lambda: f"address: {FULL}" in log_text(pool, "CollectorLog"), 20)
            filler.unlink()
            wait_until(lambda: _answers(pool, "-collector"), 20)
            assert "EXITING WITH STATUS 1" not in log_text(pool, "CollectorLog")


def _answers(pool: PersonalPool, kind: str) -> bool:
    words = ("condor_q", "-totals") if kind == "-schedd" else ("condor_status", kind)
    return run_tool(pool, *words)[0] == 0
