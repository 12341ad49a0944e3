"""Where and how jobs run besides the ordinary (R062, R072, R086 to R090, S001 to S009)."""

from __future__ import annotations

import io
import os
import pwd
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from kettle.attributes.codes import JobAction
from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.config import load_config
from kettle.errors import WireError
from kettle.pool.personal import PersonalPool
from kettle.records.event_log import read_events
from kettle.runtime.storage.files import SystemSources
from kettle.testing.pool_fixture import personal_pool
from kettle.tools.programs import Streams, load_tool
from kettle.wire.commands import Command
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.sinful import Sinful
from pool_jobs import (
    Jobs,
    ask_queue,
    daemon_pid,
    daemon_pids,
    family_of,
    parent_of,
    programs_of,
    run_tool,
    submit,
    submit_script,
    title_of,
    wait_until,
)

shows = pytest.mark.shows

SMALL = "request_memory = 10MB\nrequest_disk = 1MB\n"
TOOLS = Path(__file__).parent / "rows"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    """A pool with a wrapper, a stub mailer and an execution point behind a broker."""
    folder = tmp_path_factory.mktemp("places")
    config = (
        "NUM_CPUS = 8\nSCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 1\n"
        "MAIL = $(LOCAL_DIR)/run/mailer\nPRIORITY_HALFLIFE = 5\n"
        "USER_JOB_WRAPPER = $(LOCAL_DIR)/run/wrapper\n"
        "STARTER_JOB_ENVIRONMENT = \"SITE='of ours' COLOUR=blue\"\n"
        "STARTD.CCB_ADDRESS = $(COLLECTOR_HOST)\nSTARTER.CCB_ADDRESS = $(COLLECTOR_HOST)\n"
    )
    with personal_pool(folder, config) as pool:
        run = Path(pool.folder, "run")
        (run / "mailer").write_text(f'#!/bin/sh\n{{ echo "$@"; cat; echo ---; }} >> {run}/mails\n')
        (run / "wrapper").write_text(
            '#!/bin/sh\n[ -n "$WRAPPED" ] && echo "$@" >> "$WRAPPED"\nexec "$@"\n'
        )
        for name in ("mailer", "wrapper"):
            (run / name).chmod(0o755)
        yield pool


def shell(pool: PersonalPool, work: Path, script: str, lines: str = "") -> Jobs:
    """Queue a shell script as a small job whose output is `out` and `err`."""
    work.mkdir(exist_ok=True)
    return submit_script(pool, work, script, SMALL + lines)


def test_every_job_gets_the_environment_that_the_site_gives_and_may_change_it(
    pool: PersonalPool, work: Path
) -> None:
    environment = (
        'environment = "COLOUR=red HERE=$$(CondorScratchDir)"\nshould_transfer_files = yes\n'
    )
    jobs = shell(pool, work, 'echo "$SITE,$COLOUR"; [ "$HERE" = "$PWD" ] && echo here', environment)
    jobs.wait_for(5, 20)
    assert (work / "out").read_text() == "of ours,red\nhere\n"


def remove(jobs: Jobs) -> None:
    assert run_tool(jobs.pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_for(9, 10)


@shows("R062")
def test_mail_is_sent_only_as_asked_and_never_by_default(pool: PersonalPool, work: Path) -> None:
    (work / "s").mkdir()
    ends = {}
    for name, lines, script in (
        ("default", "", "true"),
        ("never", "notification = never\n", "true"),
        ("complete", "notification = complete\nnotify_user = a@b\n", "true"),
        ("error_good", "notification = error\nnotify_user = a@b\n", "true"),
        ("error_bad", "notification = error\nnotify_user = a@b\n", "kill -9 $$"),
        (
            "error_code",
            "notification = error\nnotify_user = a@b\nsuccess_exit_code = 0\nmax_retries = 0\n",
            "exit 3",
        ),
        # Its shadow holds it: the output it promised is not there.
        (
            "error_held",
            (
                "notification = error\nnotify_user = a@b\nshould_transfer_files = yes\n"
                "transfer_output_files = nothere\n"
            ),
            "true",
        ),
        ("never_held", "on_exit_hold = true\n", "true"),
    ):
        ends[name] = shell(pool, work / name, script, lines)
    for name, jobs in ends.items():
        jobs.wait_for(12 if "held" in name else 5, 20)
    mails = Path(pool.folder, "run", "mails")
    mailed = {"complete", "error_bad", "error_code", "error_held"}
    wait_until(lambda: mails.exists() and mails.read_text().count("---") == len(mailed), 10)
    text = mails.read_text()
    for name, jobs in ends.items():
        assert (f"{jobs.cluster}.0" in text) == (name in mailed), name
    assert "a@b" in text
    assert "was put on hold: " in text
    for name in ("error_held", "never_held"):
        run_tool(pool, "condor_rm", str(ends[name].cluster))


@shows("R072")
def test_condor_userprio_shows_and_sets_priorities(pool: PersonalPool, work: Path) -> None:
    shell(pool, work, "true").wait_for(5, 15)
    said = run_tool(pool, "condor_userprio", "-all")[1]
    found = re.search(r"^(\S+@\S+) ", said, re.MULTILINE)
    assert found, said
    user = found[1]
    assert run_tool(pool, "condor_userprio", "-setfactor", user, "10000")[0] == 0

    def factor() -> str:
        said = run_tool(pool, "condor_userprio", "-negotiator", "-l")[1]
        return "\n".join(line for line in said.splitlines() if "PriorityFactor" in line)

    wait_until(lambda: "10000" in factor(), 10, factor)
    # By itself -long shows what the collector has, and a negotiator is named by its host.
    (negotiator,) = run_tool(pool, "condor_status", "-negotiator", "-af", "Name")[1].split()
    assert f'NegotiatorName = "{negotiator}"' in run_tool(pool, "condor_userprio", "-l")[1]
    words = ("-name", negotiator, "-allusers", "-af", "Name")
    assert user in run_tool(pool, "condor_userprio", *words)[1].split()
    assert run_tool(pool, "condor_userprio", "-setfactor", user, "1000")[0] == 0


@shows("R089")
def test_an_execution_point_known_only_to_a_broker_runs_jobs(
    pool: PersonalPool, work: Path
) -> None:
    wait_until(lambda: "CCBID=" in run_tool(pool, "condor_status", "-af", "MyAddress")[1], 10)
    jobs = shell(pool, work, "echo reached")
    jobs.wait_for(5, 20)
    assert (work / "out").read_text() == "reached\n"


@shows("R090")
def test_the_wrapper_gets_the_job_s_command_and_its_exit_code_is_the_job_s(
    pool: PersonalPool, work: Path
) -> None:
    log = work / "wrapped"
    jobs = shell(pool, work, "exit 9", f'environment = "WRAPPED={log}"\narguments = one two\n')
    jobs.wait_for(5, 20)
    assert "(return value 9)" in jobs.log.read_text()
    assert re.fullmatch(r"\S+/job\.sh one two\n", log.read_text())


@shows("S007", "M015")
def test_a_local_job_runs_below_a_starter_of_the_schedd(tmp_path: Path, work: Path) -> None:
    text = "universe = local\nexecutable = /bin/sleep\narguments = 61\nqueue\n"
    # Nobody to match it, and no machine to match it with.
    with personal_pool(tmp_path, "DAEMON_LIST = MASTER COLLECTOR SCHEDD\n") as pool:
        jobs = submit(pool, work, text)
        jobs.wait_for(1, 15)
        schedd = daemon_pid(pool, "condor_schedd")

        def job() -> int:
            return next((pid for pid in family_of(schedd) if title_of(pid).endswith("sleep 61")), 0)

        wait_until(lambda: job() != 0, 5)
        line = [parent_of(job())]
        while line[-1] != schedd and len(line) < 4:
            line.append(parent_of(line[-1]))
        assert "condor_starter" in title_of(line[0])
        assert line[-1] == schedd
        assert daemon_pids(pool, "condor_shadow") == []
        remove(jobs)


@pytest.mark.root
def test_a_local_job_writes_where_its_submitter_may(pool: PersonalPool, tmp_path: Path) -> None:
    for folder in list(tmp_path.parents)[:3]:
        if folder.stat().st_uid == os.getuid():
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o055)
    own = tmp_path / "own"
    own.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    text = "universe = local\nexecutable = /usr/bin/id\narguments = -u\noutput = out\nqueue\n"
    jobs = submit(pool, own, text)
    jobs.wait_for(5, 20)
    # The file is root's, though no job runs as root (R087).
    assert (own / "out").read_text() == f"{pwd.getpwnam('nobody').pw_uid}\n"
    assert (own / "out").stat().st_uid == 0


def test_a_local_job_has_no_slot(pool: PersonalPool, work: Path) -> None:
    """As with a real starter: nothing limits its threads, and its machine's ad is empty."""
    script = 'env; wc -c < "$_CONDOR_MACHINE_AD"; cat "$_CONDOR_JOB_AD"'
    program = work / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    text = f"universe = local\nexecutable = {program}\noutput = out\nqueue\n"
    submit(pool, work, f"should_transfer_files = yes\n{text}").wait_for(5, 20)
    lines = (work / "out").read_text().splitlines()
    assert "_CONDOR_SLOT=" in lines
    assert "0" in lines
    names = {line.partition("=")[0].strip() for line in lines}
    assert not names & {"OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "_CONDOR_AssignedGPUs"}
    assert not names & {"KettleJobPid", "RemoteHost", "ShadowIpAddr", "UidDomain"}
    assert {"NumJobStarts = 0", 'ShouldTransferFiles = "YES"'} <= set(lines)


@shows("S008")
def test_a_scheduler_job_is_a_child_of_the_schedd(pool: PersonalPool, work: Path) -> None:
    script = f"while [ ! -e {work}/go ]; do sleep 0.1; done"
    text = f"universe = scheduler\nexecutable = /bin/sh\narguments = \"-c '{script}'\"\nqueue\n"
    jobs = submit(pool, work, text)
    jobs.wait_for(1, 15)
    schedd = daemon_pid(pool, "condor_schedd")
    found: list[int] = []

    def has_begun() -> bool:
        found[:] = [pid for pid in family_of(schedd) if title_of(pid).endswith(script)]
        return len(found) == 1

    wait_until(has_begun, 5)
    line = {parent_of(found[0]), parent_of(parent_of(found[0]))}
    assert schedd in line
    assert not any("condor_starter" in title_of(pid) for pid in line)
    (work / "go").touch()
    jobs.wait_for(5, 15)
    assert [event.number for event in jobs.events()] == [0, 1, 5]


def test_what_a_scheduler_job_writes_is_its_owner_s_alone(pool: PersonalPool, work: Path) -> None:
    """As with a real 25.14.1; a file that is there keeps its mode."""
    (work / "err").write_text("")
    (work / "err").chmod(0o664)
    text = "universe = scheduler\nexecutable = /bin/echo\narguments = said\n"
    submit(pool, work, f"{text}output = out\nerror = err\nqueue\n").wait_for(5, 15)
    modes = [(work / name).stat().st_mode & 0o777 for name in ("out", "err")]
    assert modes == [0o600, 0o664]


@shows("S008")
@pytest.mark.parametrize("ends", ["by itself", "condor_rm"])
def test_a_scheduler_job_can_read_its_ad_as_long_as_it_runs(
    pool: PersonalPool, work: Path, ends: str
) -> None:
    ad, told = work / "ad", work / "told"
    program = work / "reader"
    program.write_text(
        f'#!/bin/sh\ncat "$_CONDOR_JOB_AD" >{ad}\necho "$_CONDOR_JOB_AD" >{told}\n'
        f"[ -e {work}/go ] || exec sleep 300\n"
    )
    program.chmod(0o755)
    if ends == "by itself":
        (work / "go").touch()
    text = f"universe = scheduler\nexecutable = {program}\n+Mine = 3 + 4\nqueue\n"
    jobs = submit(pool, work, text)
    wait_until(lambda: told.exists() and told.read_text().endswith("\n"), 20)
    path = Path(told.read_text().strip())
    assert path.parts[-3:] == ("local_univ_execute", f"dir_{jobs.cluster}_0", ".job.ad")
    if ends != "by itself":
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755
        assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_until_gone()
    wait_until(lambda: not path.parent.exists(), 10)
    lines = ad.read_text().splitlines()
    # Observed of a real schedd: the ad is that of a job that has not begun.
    for line in (f"ClusterId = {jobs.cluster}", "JobUniverse = 7", "JobStatus = 1", "Mine = 3 + 4"):
        assert line in lines


def test_a_scheduler_job_has_the_home_and_the_path_of_its_schedd_and_no_more_of_it(
    pool: PersonalPool, work: Path
) -> None:
    text = "universe = scheduler\nexecutable = /usr/bin/env\narguments = -0\noutput = out\n"
    submit(pool, work, f'{text}environment = "LANG=own"\nqueue\n').wait_for(5, 15)
    pairs = (work / "out").read_text().split("\0")
    own = dict(pair.partition("=")[::2] for pair in pairs if pair)
    # The daemons have what whoever started the pool had.
    schedd = pool.environment()
    assert (own["HOME"], own["PATH"]) == (schedd["HOME"], schedd["PATH"])
    assert own["LANG"] == "own"
    inherited = {"HOME", "PATH", "LANG", "TZ", "CONDOR_CONFIG"}
    assert not {name for name in own if name in schedd} - inherited


def test_a_scheduler_job_is_known_to_its_schedd_by_a_session_that_ends_with_it(
    pool: PersonalPool, work: Path
) -> None:
    told = work / "told"
    text = (
        "universe = scheduler\nexecutable = /bin/sh\n"
        f"arguments = \"-c 'env >{told}.new; mv {told}.new {told}; exec sleep 300'\"\nqueue\n"
    )
    jobs = submit(pool, work, text)
    wait_until(told.exists, 20)
    environment = dict(line.partition("=")[::2] for line in told.read_text().splitlines())
    config = load_config(SystemSources(), pool.environment(), subsystem="TOOL")
    for name in ("SCHEDD_ADDRESS_FILE", "SCHEDD_DAEMON_AD_FILE"):
        assert environment[f"_condor_{name}"] == config.get(name)
    secret = environment["CONDOR_SECURITY_SESSION"]
    assert secret.startswith(f"scheduler-universe-{jobs.cluster}.0#[")
    found = Path(environment["_condor_SCHEDD_ADDRESS_FILE"]).read_text(encoding="utf-8")
    address = Sinful.parse(found.split("\n")[0])
    # Whoever has nothing but the session may do what the job's user may, and no other daemon's
    # commands; and that as long as the job runs.
    job = ClaimId(secret)
    with Connector(config).connect(address, Command.DC_OFF_FAST, session=job) as stream:
        stream.send(stream.writer())
        with pytest.raises(WireError):
            stream.receive()
    with Connector(config).connect(address, Command.ACT_ON_JOBS, session=job) as stream:
        asked = {"JobAction": int(JobAction.REMOVE), "ActionResultType": 2}
        stream.send(stream.writer().ad(ClassAd({**asked, "ActionIds": f"{jobs.cluster}.0"})))
        assert stream.receive().ad().integer("ActionResult") == 1
        stream.send(stream.writer().integer(1))
        stream.receive()
    jobs.wait_until_gone()
    with pytest.raises(WireError):
        Connector(config).connect(address, Command.ACT_ON_JOBS, session=job)


def test_what_a_scheduler_job_submits_is_trusted_by_its_session_and_shows_nobody_the_secret(
    pool: PersonalPool, work: Path
) -> None:
    """As a workflow's manager submits its nodes; its tools have nothing else to be known by."""
    told = work / "told"
    text = (
        "universe = scheduler\nexecutable = /bin/sh\n"
        f"arguments = \"-c 'env >{told}.new; mv {told}.new {told}; exec sleep 300'\"\nqueue\n"
    )
    jobs = submit(pool, work, text)
    wait_until(told.exists, 20)
    environment = dict(line.partition("=")[::2] for line in told.read_text().splitlines())
    secret = environment["CONDOR_SECURITY_SESSION"]
    environment["_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS"] = "ANONYMOUS"

    def run(environment: dict[str, str], name: str, *words: str) -> tuple[int, str]:
        streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
        code = load_tool(name)([name, *words], environment, streams)
        assert isinstance(streams.stdout, io.StringIO)
        return code, streams.stdout.getvalue()

    node = work / "node.sub"
    node.write_text("executable = /bin/true\nhold = true\ngetenv = true\nqueue\n")
    code, said = run(environment, "condor_submit", "-terse", str(node))
    assert code == 0
    cluster = said.partition(".")[0]
    shown = run_tool(pool, "condor_q", "-l", cluster)[1]
    assert "_condor_SCHEDD_ADDRESS_FILE" in shown
    for word in (secret, "CONDOR_SECURITY_SESSION", ClaimId(secret).secret):
        assert word not in shown
    assert ask_queue(pool, cluster, "Owner") == ask_queue(pool, str(jobs.cluster), "Owner")
    assert run(environment, "condor_rm", cluster)[0] == 0
    # Without it they are strangers.
    del environment["CONDOR_SECURITY_SESSION"]
    assert run(environment, "condor_submit", "-terse", str(node))[0] != 0
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_until_gone()


def test_scheduler_jobs_are_told_of_in_order(pool: PersonalPool, work: Path) -> None:
    text = "universe = scheduler\nexecutable = /bin/sleep\narguments = 1\n"
    jobs = submit(pool, work, text + "priority = $(process)\nqueue 12\n")
    jobs.wait_for(5, 60)
    begun = [event.proc for event in jobs.events() if event.number == 1]
    assert begun == list(range(11, -1, -1))


@shows("S008")
@pytest.mark.parametrize("bare", [False, True], ids=["", "without its environment"])
@pytest.mark.parametrize("seconds", [0, 300], ids=["its end", "condor_rm"])
def test_what_a_scheduler_job_leaves_behind_ends_with_it(
    pool: PersonalPool, work: Path, seconds: int, bare: bool
) -> None:
    notes = work / "pid"
    away = "env -i setsid sleep 321" if bare else "setsid sleep 321"
    script = f"({away} & echo $! >{notes}); exec sleep {seconds}"
    text = f"universe = scheduler\nexecutable = /bin/sh\narguments = \"-c '{script}'\"\nqueue\n"
    jobs = submit(pool, work, text)
    wait_until(lambda: notes.exists() and notes.read_text().endswith("\n"), 20)
    if seconds:
        assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_until_gone()
    assert "sleep" not in title_of(int(notes.read_text()))


@pytest.mark.parametrize(
    ("line", "codes", "reason"),
    [
        ("output = no/out", (7, 2), "Failed to open '{work}/no/out' as standard output: No such"),
        ("input = none", (8, 2), "Failed to open '{work}/none' as standard input: No such file"),
        ("executable = {work}/odd", (6, 2), "Failed to execute '{work}/odd': (errno=2: 'No such"),
        ("executable = {work}/flat", (6, 13), "File '{work}/flat' is missing or not executable"),
    ],
)
def test_a_scheduler_job_that_cannot_be_started_is_held_with_the_reason(
    pool: PersonalPool, work: Path, line: str, codes: tuple[int, int], reason: str
) -> None:
    odd = work / "odd"
    odd.write_text("#!/no/such/interpreter\n")
    odd.chmod(0o755)
    (work / "flat").write_text("#!/bin/sh\n")
    text = "universe = scheduler\nexecutable = /bin/true\nskip_filechecks = true\n"
    text += f"{line.format(work=work)}\n"
    jobs = submit(pool, work, f"{text}queue\n")
    assert jobs.wait_for_status(5, "HoldReason")[0].startswith(reason.format(work=work))
    names = ("HoldReasonCode", "HoldReasonSubCode", "NumJobStarts", "NumJobCoolDowns")
    assert jobs.wait_for_status(5, *names) == [str(code) for code in (*codes, 0, 1)]


def test_a_local_job_whose_files_cannot_be_opened_never_began(
    pool: PersonalPool, work: Path
) -> None:
    text = "universe = local\nexecutable = /bin/true\nskip_filechecks = true\ninput = none\n"
    jobs = submit(pool, work, f"{text}queue\n")
    names = ("HoldReasonCode", "HoldReasonSubCode", "NumJobStarts", "NumShadowStarts")
    assert jobs.wait_for_status(5, *names) == ["8", "2", "0", "1"]
    assert [event.number for event in read_events(jobs.log.read_bytes())] == [0, 21, 4, 12]


def test_a_local_job_that_is_vacated_may_end_by_itself(pool: PersonalPool, work: Path) -> None:
    script = work / "job.sh"
    script.write_text("#!/bin/sh\ntrap 'exit 7' TERM\n: > ready\nsleep 60 &\nwait\n")
    script.chmod(0o755)
    jobs = submit(pool, work, f"universe = local\nexecutable = {script}\nqueue\n")
    # Its log says that it runs before the script has said what it does with the signal.
    wait_until((work / "ready").exists, 15)
    assert run_tool(pool, "condor_vacate_job", str(jobs.cluster))[0] == 0
    jobs.wait_for(4, 15)
    assert "(1) Normal termination (return value 7)" in jobs.log.read_text()


@shows("S009")
def test_a_tool_daemon_runs_beside_the_job_and_ends_with_it(pool: PersonalPool, work: Path) -> None:
    tool = work / "tool.sh"
    slept = f"sleep 62.{os.getpid()}"
    tool.write_text(f'#!/bin/sh\necho "$1" > {work}/tool.said\nexec {slept}\n')
    tool.chmod(0o755)
    lines = (
        f'+ToolDaemonCmd = "{tool}"\n+ToolDaemonArgs = "beside"\n'
        f"transfer_input_files = {tool}\nshould_transfer_files = yes\n"
    )
    script = f"while [ ! -s {work}/tool.said ]; do sleep 0.05; done; sleep 0.2"
    jobs = shell(pool, work, script, lines)
    jobs.wait_for(5, 20)
    assert (work / "tool.said").read_text() == "beside\n"
    wait_until(lambda: not programs_of(slept), 5)


@pytest.mark.root
@shows("R086")
@shows("R087")
def test_no_job_ever_runs_as_root(pool: PersonalPool, work: Path) -> None:
    jobs = shell(pool, work, "id -u", "run_as_owner = true\n")
    jobs.wait_for(5, 20)
    assert (work / "out").read_text() == f"{pwd.getpwnam('nobody').pw_uid}\n"
    held = shell(pool, work / "second", "id -u", "hold = true\n")
    run_tool(pool, "condor_qedit", str(held.cluster), "Owner", '"root"')
    run_tool(pool, "condor_qedit", str(held.cluster), "OsUser", '"root"')
    assert run_tool(pool, "condor_release", str(held.cluster))[0] == 0
    # The first hold's event is in the log from the submission on.
    wait_until(lambda: bool(held.count_events(5)) or held.count_events(12).get(0, 0) > 1, 20)
    if held.count_events(5):
        assert (work / "second" / "out").read_text() != "0\n"


@pytest.mark.skipif(os.getuid() == 0, reason="as root there are accounts to change to")
@shows("R086")
def test_without_privileges_everything_is_one_account_s(pool: PersonalPool, work: Path) -> None:
    jobs = shell(pool, work, "id -u; touch made; exec sleep 60", "should_transfer_files = yes\n")
    jobs.wait_for(1, 20)
    master = pool.master_pid()
    assert master is not None
    family = [master, *family_of(master)]
    wait_until(lambda: any(title_of(pid).endswith("sleep 60") for pid in family_of(master)), 5)
    assert {Path(f"/proc/{pid}").stat().st_uid for pid in family} == {os.getuid()}
    wait_until(lambda: any(Path(pool.folder, "execute").rglob("made")), 5)
    everything = [Path(pool.folder), *Path(pool.folder).rglob("*")]
    assert {path.lstat().st_uid for path in everything} == {os.getuid()}
    remove(jobs)


@pytest.mark.slow
@shows("R092")
def test_ten_thousand_idle_jobs_do_not_slow_the_queue(tmp_path: Path, work: Path) -> None:
    # The row's 5 seconds are counted in time of a processor, which other work does not stretch.
    def used(pool: PersonalPool) -> float:
        daemons = [
            psutil.Process(daemon_pid(pool, name)).cpu_times()
            for name in ("condor_schedd", "condor_negotiator")
        ]
        return time.process_time() + sum(times.user + times.system for times in daemons)

    with personal_pool(tmp_path, "NUM_CPUS = 2\nMAX_JOBS_SUBMITTED = 20000\n") as pool:
        text = "executable = /bin/true\ntransfer_executable = false\nrequirements = false\n"
        many = submit(pool, work / "many", f"{text}{SMALL}queue 10000\n")
        begin = used(pool)
        assert len(ask_queue(pool, str(many.cluster), "JobStatus")) == 10_000
        assert run_tool(pool, "condor_q", "-totals")[0] == 0
        assert used(pool) - begin < 5
        begin = used(pool)
        one = submit(pool, work / "one", "executable = /bin/true\n" + SMALL + "queue\n")
        one.wait_for(5, 5)
        assert used(pool) - begin < 5


@shows("S001")
@shows("S003")
def test_an_interactive_submission_is_one_job_that_policy_can_tell_apart(
    pool: PersonalPool, work: Path
) -> None:
    path = work / "job.sub"
    path.write_text(f"executable = /bin/false\nlog = {work}/log\nhold = true\n{SMALL}queue 5\n")
    code, said, _ = run_tool(pool, "condor_submit", "-interactive", "-dry-run", "-", str(path))
    assert code == 0
    assert len(re.findall(r"^ProcId *= *0$", said, re.MULTILINE)) == 1
    assert re.search(r"^InteractiveJob *= *true$", said, re.MULTILINE)
    assert re.search(r"^JobUniverse *= *5$", said, re.MULTILINE)
    assert not re.search(r'^Cmd *= *"/bin/false"', said, re.MULTILINE)
    assert "ProcId=1" not in said


@pytest.mark.parametrize("universe", ["local", "scheduler"])
def test_a_job_beside_the_schedd_that_is_tried_again_is_told_of_each_time(
    pool: PersonalPool, work: Path, universe: str
) -> None:
    text = f"universe = {universe}\nexecutable = /bin/false\nmax_retries = 2\nqueue 3\n"
    jobs = submit(pool, work, text)
    jobs.wait_for(5, 30)
    for proc in range(3):
        told = [event.number for event in jobs.events() if event.proc == proc]
        assert told == [0, 1, 4, 1, 4, 1, 5]
    left = jobs.record().integer("NumJobCoolDowns")
    assert left == (3 if universe == "scheduler" else None)


@pytest.mark.parametrize("universe", ["local", "scheduler"])
def test_a_job_beside_the_schedd_that_wants_another_machine_waits(
    pool: PersonalPool, work: Path, universe: str
) -> None:
    text = f"universe = {universe}\nexecutable = /bin/true\n"
    waiting = submit(pool, work, f'{text}requirements = TARGET.Machine == "x"\nqueue\n')
    jobs = submit(pool, work, f"{text}requirements = TARGET.Cpus > 0\nqueue\n")
    jobs.wait_for(5, 20)
    assert waiting.wait_for_status(1, "NumJobStarts") == ["0"]
    remove(waiting)


@pytest.mark.parametrize("universe", ["local", "scheduler"])
def test_a_job_beside_the_schedd_is_not_suspended_and_held_at_once(
    pool: PersonalPool, work: Path, universe: str
) -> None:
    text = f"universe = {universe}\nexecutable = /bin/sleep\narguments = 300\nqueue\n"
    jobs = submit(pool, work, text)
    jobs.wait_for(1, 15)
    name = str(jobs.cluster)
    assert run_tool(pool, "condor_suspend", name)[0] == 1
    assert run_tool(pool, "condor_suspend", f"{name}.0")[0] == 0
    assert run_tool(pool, "condor_continue", f"{name}.0")[0] == 1
    jobs.wait_for_status(2)
    assert run_tool(pool, "condor_hold", name)[0] == 0
    jobs.wait_for(12, 10)
    assert run_tool(pool, "condor_release", name)[0] == 0
    jobs.wait_for(1, 15, each=2)
    remove(jobs)
    told = [event.number for event in jobs.events()]
    assert told == [0, 1, 4, 12, 13, 1, 4, 9]
