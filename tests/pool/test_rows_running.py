"""What a job meets while it runs, and what its user sees of it (R045 to R091)."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.classad import parse_old_ad
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import (
    Jobs,
    ask_queue,
    daemon_pid,
    family_of,
    parent_of,
    run_tool,
    submit,
    title_of,
    wait_until,
)

shows = pytest.mark.shows

CONFIG = """\
NUM_CPUS = 8
MASTER_BACKOFF_CEILING = 1
PERIODIC_EXPR_INTERVAL = 1
UPDATE_INTERVAL = 300
"""
SMALL = "request_memory = 10MB\nrequest_disk = 1MB\n"
SLEEPER = f"executable = /bin/sleep\narguments = 60\ntransfer_executable = false\n{SMALL}"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("rows"), CONFIG) as pool:
        yield pool


@pytest.fixture(autouse=True)
def _no_claim_is_left(pool: PersonalPool) -> Iterator[None]:
    """Nothing of a test's jobs stays in the queue, and no slot stays claimed for them."""
    yield
    wait_until(
        lambda: ask_queue(pool, "-all", "ClusterId") == [],
        5,
        lambda: str(ask_queue(pool, "-all", "ClusterId", "JobStatus", "HoldReason")),
    )
    words = ("-af", "Name", "Activity", "-constraint", 'SlotType == "Dynamic"')
    wait_until(
        lambda: run_tool(pool, "condor_status", *words)[1] == "",
        5,
        lambda: run_tool(pool, "condor_status", *words)[1],
    )


def shell(pool: PersonalPool, work: Path, script: str, lines: str = "") -> Jobs:
    """Queue a shell script as a job whose output is `out` and `err`."""
    work.mkdir(exist_ok=True)
    path = work / "job.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    text = f"executable = {path}\noutput = out\nerror = err\n{SMALL}{lines}"
    return submit(pool, work, text + ("" if "queue" in lines else "\nqueue\n"))


def ended(jobs: Jobs) -> Jobs:
    jobs.wait_for(5, 20)
    return jobs


def running(pool: PersonalPool, work: Path, lines: str = "") -> Jobs:
    """Queue a job that sleeps and wait until it does."""
    jobs = submit(pool, work, f"{SLEEPER}{lines}\nqueue\n")
    jobs.wait_for(1, 15)
    return jobs


def remove(jobs: Jobs) -> None:
    assert run_tool(jobs.pool, "condor_rm", str(jobs.cluster))[0] == 0
    jobs.wait_until_gone()


def job_pid(jobs: Jobs) -> int:
    """Return the pid of the job's process, 0 while it has none."""
    master = jobs.pool.master_pid()
    assert master is not None
    return next((pid for pid in family_of(master) if title_of(pid).endswith("sleep 60")), 0)


def process_state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@shows("A001")
@shows("R082")
def test_each_running_job_has_a_starter_below_the_one_startd(
    pool: PersonalPool, work: Path
) -> None:
    jobs = running(pool, work)
    startd = daemon_pid(pool, "condor_startd")
    schedd = daemon_pid(pool, "condor_schedd")
    assert parent_of(startd) == pool.master_pid()
    wait_until(lambda: job_pid(jobs) != 0, 5)
    starter = parent_of(job_pid(jobs))
    assert title_of(starter).startswith("condor_starter")
    assert startd in {parent_of(starter), parent_of(parent_of(starter))}
    shadow = daemon_pid(pool, "condor_shadow")
    assert schedd in {parent_of(shadow), parent_of(parent_of(shadow))}
    remove(jobs)
    wait_until(lambda: not Path(f"/proc/{starter}").exists(), 10)


@shows("R045")
def test_condor_vacate_sends_the_job_back_to_the_queue(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)
    code, _, complaint = run_tool(pool, "condor_vacate")
    assert (code, complaint) == (0, "")
    jobs.wait_for(4, 10)
    jobs.wait_for(1, 10, each=2)
    code, _, complaint = run_tool(pool, "condor_vacate", "-fast")
    assert (code, complaint) == (0, "")
    jobs.wait_for(4, 10, each=2)
    remove(jobs)
    assert run_tool(pool, "condor_vacate")[0] == 0


@shows("R050")
def test_attributes_of_the_slot_are_filled_in_at_the_start(pool: PersonalPool, work: Path) -> None:
    lines = "arguments = $$(Memory) $$([Memory/2]) $$(TotalSlotCpus)\n"
    ended(shell(pool, work, 'echo "$@"', lines))
    memory, half, cpus = (work / "out").read_text().split()
    assert int(memory) >= 10
    assert int(half) == int(memory) // 2
    assert cpus.isdecimal()
    jobs = shell(pool, work / "second", "true", "arguments = $$(Nope)\n")
    [reason] = jobs.wait_for_status(5, "HoldReason")
    assert "Nope" in reason
    assert jobs.count_events(12) == {0: 1}
    remove(jobs)


@shows("R048")
@shows("R052")
def test_streams_folder_and_environment_are_the_job_s(pool: PersonalPool, work: Path) -> None:
    (work / "in").write_text("said\n")
    script = 'read line; echo "$line $A $1"; echo oops >&2'
    lines = 'input = in\noutput = out.$(PROCESS)\nenvironment = "A=1"\narguments = $(PROCESS)\n'
    ended(shell(pool, work, script, f"{lines}queue 2\n"))
    assert (work / "out.0").read_text() == "said 1 0\n"
    assert (work / "out.1").read_text() == "said 1 1\n"
    assert (work / "err").read_text() == "oops\n"
    inside = work / "inside"
    inside.mkdir(mode=0o777)
    (inside / "in").write_text("here\n")
    ended(shell(pool, work, script, f"{lines}initialdir = {inside}\nqueue\n"))
    assert (inside / "out.0").read_text() == "here 1 0\n"


@shows("R056")
def test_partial_output_of_an_evicted_job_is_kept_only_if_asked(
    pool: PersonalPool, work: Path
) -> None:
    work.chmod(0o777)
    script = (
        "[ -e part ] && echo again >> part && exit 0; echo half > part; touch $1; exec sleep 60"
    )
    lines = (
        "should_transfer_files = yes\nwhen_to_transfer_output = {}\ntransfer_output_files=part\n"
        "arguments = {}\n"
    )
    wrote = [work / "kept_wrote", work / "lost_wrote"]
    kept = shell(pool, work / "kept", script, lines.format("on_exit_or_evict", wrote[0]))
    lost = shell(pool, work / "lost", script, lines.format("ON_EXIT", wrote[1]))
    wait_until(lambda: all(path.exists() for path in wrote), 15)
    assert run_tool(pool, "condor_vacate_job", str(kept.cluster), str(lost.cluster))[0] == 0
    ended(kept)
    assert (work / "kept" / "part").read_text() == "half\nagain\n"
    lost.wait_for(1, 15, each=2)
    remove(lost)
    assert not (work / "lost" / "part").exists()


@shows("R059")
def test_policies_of_the_job_are_obeyed(pool: PersonalPool, work: Path) -> None:
    again = shell(pool, work / "again", "exit 3", "on_exit_remove = NumJobStarts >= 2\n")
    stays = shell(pool, work / "stays", "exit 3", "on_exit_hold = ExitCode == 3\n")
    lines = "periodic_hold = JobStatus == 2\nperiodic_remove = JobStatus == 5 && NumHolds >= 2\n"
    lines += "periodic_release = NumHolds == 1\n"
    rounds = submit(pool, work / "rounds", f"{SLEEPER}{lines}queue\n")
    again.wait_for(1, 20, each=2)
    again.wait_for(5, 20)
    stays.wait_for(12, 20)
    assert stays.wait_for_status(5, "HoldReasonCode") == ["3"]
    rounds.wait_for(9, 25)
    assert rounds.count_events(12) == {0: 2}
    assert rounds.count_events(13) == {0: 1}
    remove(stays)


@shows("R064")
@shows("R068")
@shows("R083")
def test_a_suspended_job_stands_still_and_goes_on(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)
    wait_until(lambda: job_pid(jobs) != 0, 5)
    pid = job_pid(jobs)
    assert run_tool(pool, "condor_suspend", str(jobs.cluster))[0] == 0
    jobs.wait_for(10, 10)
    wait_until(lambda: process_state(pid) == "T", 5)
    jobs.wait_for_status(7)
    assert re.search(r":\d\d S ", run_tool(pool, "condor_q", "-nobatch", str(jobs.cluster))[1])
    assert run_tool(pool, "condor_continue", str(jobs.cluster))[0] == 0
    jobs.wait_for(11, 10)
    wait_until(lambda: process_state(pid) == "S", 5)
    jobs.wait_for_status(2)
    remove(jobs)
    assert jobs.record().integer("JobStatus") == 3
    words = ("condor_history", "-limit", "1", str(jobs.cluster))
    assert run_tool(pool, *words, "-af", "JobStatus")[1] == "3\n"
    assert " X " in run_tool(pool, *words)[1]


PLUGIN = """\
#!/bin/sh
case "$1" in -classad)
    printf 'PluginType = "FileTransfer"\\nSupportedMethods = "wait"\\nMultipleFileSupport = true\\n'
    exit 0;;
esac
until [ -e {go} ]; do sleep 0.1; done
url=$(sed -n 's/.*Url = "\\([^"]*\\)".*/\\1/p' "$2")
printf '[ TransferUrl = "%s"; TransferSuccess = true ]\\n' "$url" > "$4"
"""


def test_a_job_that_is_suspended_while_its_input_travels_begins_suspended(
    pool: PersonalPool, work: Path
) -> None:
    plugin = work / "plugin"
    plugin.write_text(PLUGIN.format(go=work / "go"))
    plugin.chmod(0o755)
    jobs = submit(
        pool,
        work,
        f"{SLEEPER}should_transfer_files = yes\n"
        f"transfer_plugins = wait={plugin}\ntransfer_input_files = wait://a/b\nqueue\n",
    )
    jobs.wait_for(40, 10)
    assert run_tool(pool, "condor_suspend", str(jobs.cluster))[0] == 0
    (work / "go").touch()
    jobs.wait_for(10, 10)
    jobs.wait_for_status(7)
    assert run_tool(pool, "condor_continue", str(jobs.cluster))[0] == 0
    jobs.wait_for(11, 10)
    jobs.wait_for_status(2)
    remove(jobs)


@shows("R064")
@shows("R067")
def test_a_held_job_leaves_its_slot_and_is_idle_once_released(
    pool: PersonalPool, work: Path
) -> None:
    jobs = running(pool, work)
    assert run_tool(pool, "condor_hold", f"{jobs.cluster}.0")[0] == 0
    jobs.wait_for_status(5)
    jobs.wait_for(12, 10)
    assert run_tool(pool, "condor_qedit", str(jobs.cluster), "Requirements", "false")[0] == 0
    assert run_tool(pool, "condor_release", str(jobs.cluster))[0] == 0
    jobs.wait_for_status(1)
    remove(jobs)


@shows("R066")
def test_condor_q_has_its_tables_for_every_state(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work, "+Row66 = true")
    held = submit(pool, work / "held", "executable=/bin/true\nhold=true\n+Row66 = true\nqueue\n")
    idle = submit(pool, work / "idle", f"{SLEEPER}+Row66 = true\nrequirements = false\nqueue\n")
    jobs.wait_for_status(2)

    def ask(*words: str) -> str:
        code, said, complaint = run_tool(pool, "condor_q", "-constraint", "Row66", *words)
        assert code == 0, complaint
        return said

    assert re.search(r"^OWNER +BATCH_NAME +SUBMITTED +DONE +RUN +IDLE +HOLD", ask(), re.MULTILINE)
    table = ask("-nobatch")
    assert re.search(r"^ *ID +OWNER +SUBMITTED +RUN_TIME +ST +PRI +SIZE +CMD", table, re.MULTILINE)
    letters = dict(re.findall(r"^ *(\d+)\.0 .*:\d\d ([A-Z]) ", table, re.MULTILINE))
    assert letters == {str(jobs.cluster): "R", str(held.cluster): "H", str(idle.cluster): "I"}
    assert "3 jobs; 0 completed, 0 removed, 1 idle, 1 running, 1 held, 0 suspended" in table
    assert "HOLD_REASON" in ask("-hold")
    assert "submitted on hold" in ask("-hold")
    wait_until(lambda: "slot1_" in ask("-run"), 5)
    assert "JobStatus = 5" in ask("-l")
    assert "Requirements" in ask("-better-analyze")
    for one in (jobs, held, idle):
        remove(one)


@shows("R071")
def test_condor_status_has_its_tables(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)

    def ask(*words: str) -> str:
        code, said, complaint = run_tool(pool, "condor_status", *words)
        assert (code, complaint) == (0, ""), words
        return said

    wait_until(lambda: "Claimed" in ask(), 5)
    assert re.search(
        r"^Name +OpSys +Arch +State +Activity +LoadAv +Mem +ActvtyTime", ask(), re.MULTILINE
    )
    wait_until(lambda: bool(re.search(r"^slot1_\d+@", ask("-claimed"), re.MULTILINE)), 5)
    wait_until(lambda: " 1 " in ask("-run"), 5)
    assert "slot1@" in ask("-avail")
    assert ask("-constraint", "false") == ""
    for kind in ("schedd", "master", "any", "direct", "compact", "negotiator", "collector"):
        more = [ask("-schedd", "-af", "Machine").strip()] if kind == "direct" else []
        assert ask(f"-{kind}", *more).strip()
    memory, shown = ask("-af", "Memory").split(), ask("-format", "%d ", "Memory").split()
    assert memory == shown
    assert "Memory = " in ask("-l")
    remove(jobs)


@shows("R071")
@shows("R074")
def test_machines_with_a_special_ability_have_tables_of_their_own(
    pool: PersonalPool, work: Path
) -> None:
    def ask(*words: str) -> str:
        code, said, complaint = run_tool(pool, "condor_status", *words)
        assert (code, complaint) == (0, ""), words
        return said

    # Whether this machine has a Java of its own is not known here.
    assert ask("-vm") == ask("-java", "-constraint", "false") == ""
    common = (
        'MyType = "Machine"\nMachine = "brewery"\nOpSys = "LINUX"\nArch = "X86_64"\nCpus = 1\n'
        'MyAddress = "<127.0.0.1:1>"\nState = "Unclaimed"\nActivity = "Idle"\nMemory = 512\n'
        "LoadAvg = 0.5\nEnteredCurrentActivity = 1700000000\nOffline = true\n"
    )
    for name, more in (
        ("kvm", 'HasVM = true\nVM_Type = "kvm"\nVM_Memory = 256\nVM_Networking = false\n'),
        ("jvm", 'HasJava = true\nJavaVendor = "Beans"\nJavaVersion = "17.0.9"\n'),
    ):
        path = work / name
        path.write_text(f'{common}Name = "{name}@brewery"\n{more}')
        code, _, complaint = run_tool(pool, "condor_advertise", "UPDATE_STARTD_AD", str(path))
        assert code == 0, complaint
    wait_until(lambda: "jvm@brewery" in ask("-java") and "kvm@brewery" in ask("-vm"), 5)
    assert re.search(r"^Name +JavaVendor +Java\w* +State +Activity", ask("-java"), re.MULTILINE)
    assert re.search(r"^jvm@brewery +Beans +17.0.9 +Unclaimed +Idle", ask("-java"), re.MULTILINE)
    assert re.search(r"^Name +V\w+ +Network +State", ask("-vm"), re.MULTILINE)
    assert re.search(r"^kvm@brewery +kvm ", ask("-vm"), re.MULTILINE)
    assert "kvm" not in ask("-java")
    assert "jvm" not in ask("-vm")
    assert ask("-constraint", "Offline", "-af", "Name").split() == ["jvm@brewery", "kvm@brewery"]
    for name in ("kvm", "jvm"):
        (work / name).write_text(
            f'MyType = "Query"\nTargetType = "Machine"\nRequirements = Name == "{name}@brewery"\n'
        )
        run_tool(pool, "condor_advertise", "INVALIDATE_STARTD_ADS", str(work / name))
    wait_until(lambda: "brewery" not in ask(), 5)


@shows("R073")
def test_condor_who_lists_the_job(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)
    wait_until(lambda: f"{jobs.cluster}.0" in run_tool(pool, "condor_who")[1], 5)
    code, said, complaint = run_tool(pool, "condor_who")
    assert code == 0, complaint
    assert re.search(r"^OWNER +CLIENT +SLOT +JOB +RUNTIME +PID +", said, re.MULTILINE)
    remove(jobs)


@shows("R073")
def test_condor_who_shows_the_jobs_as_the_startd_knows_them(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)
    mine = ("-jobs", "-constraint", f"ClusterId == {jobs.cluster}")
    asked = (*mine, "-af", "MyType", "RemoteHost", "ProcId", "JobPid", "ClaimId")
    wait_until(lambda: "undefined\n" in run_tool(pool, "condor_who", *asked)[1], 10)
    wait_until(lambda: " undefined undefined" not in run_tool(pool, "condor_who", *asked)[1], 10)
    kind, slot, proc, pid, secret = run_tool(pool, "condor_who", *asked)[1].splitlines()[0].split()
    assert (kind, proc, secret) == ("Slot.Claim", "0", "undefined")
    assert slot.startswith("slot1_")
    said = run_tool(pool, "condor_who", *mine)[1]
    assert re.search(
        rf"^{slot.partition('@')[0]} +\S+@\S+ +{pid} +\d+\.\d MB +/", said, re.MULTILINE
    )
    remove(jobs)


@shows("R073")
def test_condor_who_waits_until_the_master_says_what_is_wished(pool: PersonalPool) -> None:
    condition = 'IsReady && STARTD_State =?= "Ready"'
    code, said, complaint = run_tool(pool, "condor_who", "-wait:60", condition)
    assert code == 0, complaint
    states = dict(line.split(" = ") for line in said.strip().splitlines())
    assert states["IsReady"] == "true"
    assert {states[name] for name in ("MASTER", "SCHEDD", "STARTD")} == {'"Alive"'}
    assert states["SCHEDD_PID"] in run_tool(pool, "condor_who", "-daemons")[1]
    told = run_tool(pool, "condor_who", "-quick", "-wait:1", 'SCHEDD_State == "Gone"')[1]
    assert 'SCHEDD = "Alive"' in told


@shows("R074")
def test_condor_advertise_puts_an_ad_into_the_collector(pool: PersonalPool, work: Path) -> None:
    ad = work / "ad"
    ad.write_text('MyType = "Row74"\nName = "row74@somewhere"\nMyAddress = "<127.0.0.1:1>"\n')
    code, _, complaint = run_tool(pool, "condor_advertise", "UPDATE_AD_GENERIC", str(ad))
    assert code == 0, complaint
    wait_until(lambda: "row74@somewhere" in run_tool(pool, "condor_status", "-any")[1], 5)


@shows("R078")
def test_the_collector_knows_at_once_that_a_slot_is_claimed(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)
    # With UPDATE_INTERVAL at 300 s only what is sent at once comes in time; how soon, a scenario
    # shows on virtual time.
    words = ("-af", "State", "-constraint", 'SlotType == "Dynamic"')
    wait_until(lambda: "Claimed" in run_tool(pool, "condor_status", *words)[1], 2)
    remove(jobs)
    wait_until(lambda: run_tool(pool, "condor_status", *words)[1] == "", 2)


@shows("R080")
def test_claim_ids_are_in_no_public_ad(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)
    said = run_tool(pool, "condor_status", "-l")[1] + run_tool(pool, "condor_q", "-l")[1]
    assert "Capability" not in said
    assert not re.search(r"^ClaimId\b", said, re.MULTILINE)
    assert "[Integrity=" not in said
    remove(jobs)


@shows("R081")
def test_a_job_goes_on_while_its_schedd_is_killed_and_comes_back(
    pool: PersonalPool, work: Path
) -> None:
    script = "echo begin >> $1/begun; while [ ! -e $1/go ]; do sleep 0.1; done; echo end"
    work.chmod(0o777)
    jobs = shell(pool, work, script, f"arguments = {work}\n")
    wait_until(lambda: (work / "begun").exists(), 15)
    schedd = daemon_pid(pool, "condor_schedd")
    os.kill(schedd, signal.SIGKILL)
    (work / "go").touch()
    ended(jobs)
    assert (work / "begun").read_text() == "begin\n"
    assert (work / "out").read_text() == "end\n"
    wait_until(lambda: run_tool(pool, "condor_q", "-all")[0] == 0, 10)


@shows("N003", "N006")
def test_a_time_that_is_said_from_the_present_one_comes(pool: PersonalPool, work: Path) -> None:
    jobs = shell(pool, work, "date +%s", "deferral_time = (CurrentTime + 2)\n")
    ended(jobs)
    times = {event.number: event.time for event in jobs.events()}
    assert 2 <= times[1] - times[0] < 15


@shows("R083")
def test_the_event_log_has_the_form_that_parsers_know(pool: PersonalPool, work: Path) -> None:
    jobs = ended(shell(pool, work, "exit 4"))
    text = jobs.log.read_text()
    events = text.split("...\n")
    assert events[-1] == ""
    for event in events[:-1]:
        head = rf"\d{{3}} \({jobs.cluster:03d}\.000\.000\) \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d "
        assert re.match(head, event), event
    last = events[-2]
    assert last.startswith("005")
    assert "(1) Normal termination (return value 4)" in last
    assert "Partitionable Resources :" in last


@shows("R084")
def test_a_job_that_dies_of_a_signal_says_so(pool: PersonalPool, work: Path) -> None:
    jobs = ended(shell(pool, work, "kill -SEGV $$"))
    assert "(0) Abnormal termination (signal 11)" in jobs.log.read_text()


@shows("R085")
def test_each_daemon_has_its_log(pool: PersonalPool, work: Path) -> None:
    ended(shell(pool, work, "true"))
    names = {path.name for path in Path(pool.log_folder).iterdir()}
    assert {
        "MasterLog",
        "CollectorLog",
        "NegotiatorLog",
        "SchedLog",
        "ShadowLog",
        "StartLog",
    } <= names
    starters = [name for name in names if name.startswith("StarterLog.slot1_")]
    assert "** PID = " in Path(pool.log_folder, starters[0]).read_text()


@shows("R085")
def test_full_debug_adds_detail_to_one_daemon_s_log_alone(
    pool: PersonalPool, tmp_path: Path
) -> None:
    def details(of: PersonalPool, name: str) -> int:
        return Path(of.log_folder, name).read_text().count("Sent UPDATE_")

    with personal_pool(tmp_path, "STARTD_DEBUG = D_FULLDEBUG\n") as chatty:
        wait_until(lambda: details(chatty, "StartLog") > 0, 10)
        assert details(chatty, "SchedLog") == details(pool, "StartLog") == 0


@shows("R088")
def test_the_job_works_in_a_folder_below_execute_that_is_gone_afterwards(
    pool: PersonalPool, work: Path
) -> None:
    script = "pwd; echo $_CONDOR_SCRATCH_DIR; echo $PWD"
    # Without file transfer a job works in the folder it was submitted from, as the reference's.
    ended(shell(pool, work, script, "should_transfer_files = YES\n"))
    said = set((work / "out").read_text().split())
    assert len(said) == 1
    folder = said.pop()
    assert re.fullmatch(rf"{re.escape(pool.folder)}/execute/dir_\d+(/scratch)?", folder)
    wait_until(lambda: not Path(folder).exists(), 5)


@shows("R091")
@pytest.mark.slow
def test_usage_is_what_the_job_used(pool: PersonalPool, work: Path) -> None:
    script = work / "burn.py"
    script.write_text(
        "import time\nhold = bytearray(b'x') * (200 << 20)\nwhile time.process_time() < 6: pass\n"
    )
    lines = f"arguments = {script}\nrequest_memory = 300\n"
    jobs = ended(shell(pool, work, 'exec /usr/bin/env python3 "$1"', lines))
    record = jobs.record()
    cpu = (record.real("RemoteUserCpu") or 0) + (record.real("RemoteSysCpu") or 0)
    assert 5.4 <= cpu <= 6.6
    assert 200 <= (record.integer("ResidentSetSize") or 0) / 1024 <= 300
    assert 190 <= (record.integer("MemoryUsage") or 0) <= 300


@shows("R091")
def test_the_size_of_a_job_that_grows_is_seen_while_it_runs(tmp_path: Path, work: Path) -> None:
    script = work / "grow.py"
    script.write_text(
        "import os, sys, time\nhold = []\n"
        "for wanted in (20, 150):\n"
        "    hold.append(bytearray(b'x') * (wanted << 20))\n"
        "    while not os.path.exists(f'{sys.argv[1]}/go{wanted}'): time.sleep(0.1)\n"
    )
    config = "STARTER_INITIAL_UPDATE_INTERVAL = 1\nSTARTER_UPDATE_INTERVAL = 1\n"
    with personal_pool(tmp_path, config) as pool:
        lines = f"arguments = {script} {work}\nrequest_memory = 300\n"
        jobs = shell(pool, work, 'exec /usr/bin/env python3 "$@"', lines)

        def shown() -> float:
            said = run_tool(pool, "condor_q", "-nobatch", str(jobs.cluster))[1]
            row = re.search(rf"^ *{jobs.cluster}\.0 .* R +-?\d+ +([\d.]+) ", said, re.MULTILINE)
            return float(row[1]) if row else 0.0

        wait_until(lambda: 20 <= shown() < 100, 20, lambda: str(shown()))
        (work / "go20").touch()
        wait_until(lambda: 170 <= shown() < 300, 20, lambda: str(shown()))
        attributes = ("ImageSize", "ResidentSetSize", "MemoryUsage", "DiskUsage")
        [row] = ask_queue(pool, str(jobs.cluster), *attributes)
        image, resident, memory, _ = map(int, row)
        assert image >= resident >= 170 * 1024
        assert 170 <= memory < 300
        assert jobs.count_events(6)[0] >= 2
        (work / "go150").touch()
        ended(jobs)


def test_a_job_reads_in_its_ad_what_it_has_and_where_its_files_are(
    pool: PersonalPool, work: Path
) -> None:
    ended(shell(pool, work, 'pwd >where; cat "$_CONDOR_JOB_AD"', "should_transfer_files = yes\n"))
    ad = parse_old_ad((work / "out").read_text())
    assert ad.string("Iwd") == (work / "where").read_text().strip()
    assert (ad.string("OrigIwd"), ad.string("OriginalOut")) == (str(work), "out")
    assert ad.string("Out") == "_condor_stdout"
    assert (ad.integer("CpusProvisioned"), ad.integer("GpusProvisioned")) == (1, 0)
    assert "Cpus" in (ad.string("ProvisionedResources") or "")
    assert ad.text("TransferInputFileCounts") == "[ CEDAR = 1 ]"


@shows("S012")
def test_a_job_without_a_lease_of_its_own_runs(pool: PersonalPool, work: Path) -> None:
    jobs = ended(shell(pool, work, "echo ran", "job_lease_duration = 0\n"))
    assert (work / "out").read_text() == "ran\n"
    record = jobs.record()
    assert record.integer("NumJobStarts") == 1
    assert (record.integer("JobLeaseDuration") or 0) == 0


@shows("S013")
def test_a_job_changes_its_own_ad(pool: PersonalPool, work: Path) -> None:
    chirp = [
        "import sys",
        f"sys.path[:0] = {[str(Path(__file__).parents[2] / 'src')]!r}",
        "from kettle.tools.programs import run_program",
        "sys.argv = ['condor_chirp', 'set_job_attr', 'ChirpX', '1']",
        "sys.exit(run_program('condor_chirp'))",
    ]
    (work / "chirp.py").write_text("\n".join(chirp))
    # The interpreter of the tests may be out of the job account's reach.
    script = f"python3 {work}/chirp.py && exec sleep 60"
    jobs = shell(pool, work, script, "+WantIOProxy = true\n")
    jobs.wait_for(1, 15)
    wait_until(lambda: ask_queue(pool, str(jobs.cluster), "ChirpX") == [["1"]], 15)
    assert "Setting job attribute ChirpX to 1\n" in jobs.log.read_text()
    remove(jobs)


def test_the_log_tells_of_a_priority_that_was_changed(pool: PersonalPool, work: Path) -> None:
    jobs = submit(pool, work, f"executable = /bin/true\nhold = true\n{SMALL}queue\n")
    run_tool(pool, "condor_prio", "-p", "5", str(jobs.cluster))
    run_tool(pool, "condor_prio", "+2", f"{jobs.cluster}.0")
    log = jobs.log.read_text()
    assert log.count("\n033 (") == 2
    assert "Changing job attribute JobPrio from 0 to 5\n" in log
    assert "Changing job attribute JobPrio from 5 to 7\n" in log
    remove(jobs)


@shows("S015")
def test_programs_of_any_language_run_and_a_missing_interpreter_is_told(
    pool: PersonalPool, work: Path
) -> None:
    awk = work / "job.awk"
    awk.write_text('#!/usr/bin/awk -f\nBEGIN { print "awk" }\n')
    awk.chmod(0o755)
    ended(submit(pool, work, f"executable = {awk}\noutput = out\n{SMALL}queue\n"))
    assert (work / "out").read_text() == "awk\n"
    awk.write_text("#!/no/such/interpreter\n")
    words = "arguments = \"1 '2 3'\"\n"
    jobs = submit(pool, work / "bad", f"executable = {awk}\n{words}{SMALL}queue\n")
    [reason] = jobs.wait_for_status(5, "HoldReason")
    assert "' with arguments 1 2' '3: invalid interpreter (/no/such/interpreter) " in reason
    remove(jobs)


def test_an_argument_that_is_too_long_for_the_kernel_is_not_repeated_in_the_reason(
    pool: PersonalPool, work: Path
) -> None:
    words = f"arguments = {'x' * 200_000}\n"
    jobs = submit(pool, work, f"executable = /bin/true\n{words}{SMALL}queue\n")
    [reason] = jobs.wait_for_status(5, "HoldReason")
    assert "xxx... (200000 characters in all): (errno=7: 'Argument list too long')" in reason
    assert len(reason) < 1500
    assert len(jobs.log.read_text()) < 10_000
    remove(jobs)


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("/dev/stdout", "the starter's"),
        ("//dev/../dev/stderr", "the starter's"),
        ("/proc/thread-self/fd/1", "the starter's"),
        ("/proc/1/fd/1", "another process's"),
    ],
)
def test_output_to_dev_stdout_on_a_shared_file_system_is_refused_in_a_sentence(
    pool: PersonalPool, work: Path, name: str, whose: str
) -> None:
    lines = f"output = {name}\nerror = /dev/null\nshould_transfer_files = NO\n"
    jobs = submit(pool, work, f"executable = /bin/true\n{lines}{SMALL}queue\n")
    reason, code, subcode = jobs.wait_for_status(
        5, "HoldReason", "HoldReasonCode", "HoldReasonSubCode"
    )
    said = f"as standard output: it is {whose} own, and not the job's"
    assert reason.endswith(f"Failed to open '{name}' {said}")
    # The kernel was not asked.
    assert (code, subcode) == ("7", "0")
    remove(jobs)


def test_output_to_dev_null_on_a_shared_file_system_is_nobody_s(
    pool: PersonalPool, work: Path
) -> None:
    lines = "output = /dev/null\nerror = /dev/null\nshould_transfer_files = NO\n"
    ended(submit(pool, work, f"executable = /bin/echo\n{lines}{SMALL}queue\n"))


def test_hooks_that_are_configured_and_not_called_are_named_in_the_logs(
    tmp_path: Path, work: Path
) -> None:
    config = (
        "STARTD_JOB_HOOK_KEYWORD = far\nFAR_HOOK_FETCH_WORK = /bin/true\n"
        "SITE_HOOK_JOB_EXIT = /bin/true\nSITE_HOOK_PREPARE_JOB = /bin/true\n"
    )

    def log_of(pool: PersonalPool, name: str) -> str:
        return "".join(path.read_text() for path in Path(pool.log_folder).glob(name))

    with personal_pool(tmp_path, config) as pool:
        warning = "WARNING: FAR_HOOK_FETCH_WORK will not be called: there are no hooks yet"
        assert warning in log_of(pool, "StartLog")
        ended(shell(pool, work / "plain", "true"))
        assert "will not be called" not in log_of(pool, "StarterLog*")
        ended(shell(pool, work / "wishes", "true", '+HookKeyword = "site"\n'))
        warning = "WARNING: SITE_HOOK_JOB_EXIT, SITE_HOOK_PREPARE_JOB will not be called"
        assert log_of(pool, "StarterLog*").count(warning) == 1


@shows("S016")
def test_every_ad_names_the_version(pool: PersonalPool) -> None:
    said = run_tool(pool, "condor_version")[1]
    assert said.startswith("$CondorVersion: ")
    version = said.splitlines()[0]
    ads = run_tool(pool, "condor_status", "-any", "-af:t", "MyType", "CondorVersion")[1]
    rows = [line.split("\t") for line in ads.splitlines()]
    assert len(rows) >= 5
    missing = [
        row
        for row in rows
        if row[0] not in {"Row74", "Accounting", "Submitter"} and row[1] != version
    ]
    assert missing == []


def test_what_is_edited_in_a_running_job_counts_at_once(pool: PersonalPool, work: Path) -> None:
    jobs = running(pool, work)
    code, _, complaint = run_tool(pool, "condor_qedit", f"{jobs.cluster}.0", "Enough", "true")
    assert code == 0, complaint
    words = ("condor_qedit", f"{jobs.cluster}.0", "PeriodicHold", "Enough")
    code, _, complaint = run_tool(pool, *words)
    assert code == 0, complaint
    jobs.wait_for(12, 5)
    remove(jobs)


@shows("R064")
def test_a_job_whose_output_is_on_its_way_has_a_status_of_its_own(
    pool: PersonalPool, work: Path
) -> None:
    jobs = submit(
        pool,
        work,
        "executable = /usr/bin/env\narguments = head -c 200000000 /dev/zero\n"
        "transfer_executable = false\nshould_transfer_files = yes\noutput = big\n"
        "request_memory = 10MB\nrequest_disk = 300MB\nqueue\n",
    )
    arrived = work / "big"
    wait_until(lambda: arrived.exists() and arrived.stat().st_size > 0, 30)
    starter = daemon_pid(pool, "condor_starter")
    # So that it does not end meanwhile.
    os.kill(starter, signal.SIGSTOP)
    try:
        jobs.wait_for_status(6)
        said = run_tool(pool, "condor_q", "-nobatch", str(jobs.cluster))[1]
        [row] = [line for line in said.splitlines() if "env head" in line]
        assert " > " in row
    finally:
        os.kill(starter, signal.SIGCONT)
    jobs.wait_for(5, 30)
    assert arrived.stat().st_size == 200_000_000
