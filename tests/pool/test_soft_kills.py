"""Which signals a real program gets that has to leave, and that it is killed when its time is over.

What the reference does was observed with the same programs (HTCondor 25.14.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, programs_of, run_tool, submit, wait_until

pytestmark = pytest.mark.timeout(240)

# Notes that it is ready, then every signal; ends at those that are named. A run after the first
# has notes of its own. What is waited for in the background keeps no signal waiting.
PROGRAM = """#!/bin/sh
notes=$1; shift
[ ! -e $notes ] || notes=$notes.again
note() {
    echo $1 >>$notes
    case " $leaves " in *" $1 "*) exit 7 ;; esac
}
leaves=$*
for name in TERM USR1 USR2 HUP INT; do trap "note $name" $name; done
echo ready >$notes.new && mv $notes.new $notes
while :; do sleep 0.1 & wait; done
"""
# Long enough that nobody waits for it in vain, and that a job which has more was not killed.
LONG = "job_max_vacate_time = 500\n"
SHORT = "job_max_vacate_time = 2\n"
EVERY = "kill_sig = SIGUSR1\nremove_kill_sig = SIGUSR2\nhold_kill_sig = SIGHUP\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    # Time is over when the job's is: the machine gives more.
    text = "NUM_CPUS = 8\nMachineMaxVacateTime = 600\nKILLING_TIMEOUT = 600\n"
    # A personal pool's machine evicts at once.
    text += "WANT_VACATE = true\n"
    with personal_pool(tmp_path_factory.mktemp("soft"), text) as pool:
        yield pool


class Stubborn:
    """A job that runs, and what it has noted."""

    def __init__(self, pool: PersonalPool, folder: Path, lines: str = "", leaves: str = "") -> None:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        program = folder / "program.sh"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        self.pool, self.notes, self.pid = pool, folder / "notes", 0
        files = "" if "universe" in lines else "should_transfer_files = yes\n"
        self.jobs: Jobs = submit(
            pool,
            folder,
            f"executable = {program}\narguments = {self.notes} {leaves}\nrequest_memory = 10\n"
            f"request_disk = 10MB\n{files}{lines}\nqueue\n",
        )

    def wait(self) -> Stubborn:
        """Wait until the program runs and is known to."""
        self.jobs.wait_for(1, 30)
        wait_until(self.notes.exists, 30)
        (self.pid,) = programs_of(f"program.sh {self.notes}")
        return self

    def do(self, tool: str, *words: str) -> None:
        """Have a tool do something with the job."""
        code, _, complaint = run_tool(self.pool, tool, *words, str(self.jobs.cluster))
        assert code == 0, complaint

    def wait_until_dead(self) -> list[str]:
        """Wait until the program is dead; return the signals it had."""
        wait_until(lambda: is_gone(self.pid), 20, self.notes.read_text)
        return self.signals()

    def signals(self) -> list[str]:
        """Return the signals so far."""
        return self.notes.read_text().split()[1:]

    def numbers(self) -> list[int]:
        """Return what the event log tells, without sizes and transfers."""
        return [event.number for event in self.jobs.events() if event.number not in (6, 40)]


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


@pytest.mark.parametrize(
    ("tool", "numbers"),
    [("condor_rm", [0, 1, 4, 9]), ("condor_hold", [0, 1, 4, 12]), ("condor_vacate_job", [0, 1, 4])],
)
def test_which_signal_a_job_gets_is_what_htcondor_sends(
    pool: PersonalPool, work: Path, tool: str, numbers: list[int]
) -> None:
    jobs = {
        "TERM": Stubborn(pool, work / "none", SHORT + "hold_kill_sig = SIGHUP"),
        "USR1": Stubborn(pool, work / "one", "kill_sig_timeout = 2\nkill_sig = SIGUSR1"),
        # What is said for a removal counts for every other order, too.
        "USR2": Stubborn(pool, work / "all", SHORT + EVERY),
    }
    for job in jobs.values():
        job.wait().do(tool)
    for name, job in jobs.items():
        assert job.wait_until_dead() == [name]
        wait_until(lambda job=job: job.numbers()[: len(numbers)] == numbers, 20)  # type: ignore[misc]
        if tool == "condor_vacate_job":
            job.do("condor_rm")


@pytest.mark.parametrize(
    ("tool", "numbers"), [("condor_rm", [0, 1, 4, 9]), ("condor_hold", [0, 1, 4, 12])]
)
def test_a_job_that_obeys_has_left_at_once(
    pool: PersonalPool, work: Path, tool: str, numbers: list[int]
) -> None:
    job = Stubborn(pool, work, LONG + EVERY, "USR2").wait()
    job.do(tool)
    assert job.wait_until_dead() == ["USR2"]
    if tool == "condor_rm":
        record = job.jobs.record()
        assert record.integer("JobStatus") == 3
        assert record.integer("VacateReasonCode") == 1023
    else:
        assert job.jobs.wait_for_status(5, "HoldReasonCode") == ["1"]
    assert job.numbers() == numbers
    assert job.jobs.count_events(5) == {}


def test_a_job_that_wants_no_grace_gets_no_signal(pool: PersonalPool, work: Path) -> None:
    lines = LONG + "want_graceful_removal = false\n"
    jobs = {tool: Stubborn(pool, work / tool, lines) for tool in ("condor_rm", "condor_hold")}
    for tool, job in jobs.items():
        job.wait().do(tool)
    for job in jobs.values():
        assert job.wait_until_dead() == []


def test_who_asks_again_sends_no_second_signal_and_who_forces_waits_for_nothing(
    pool: PersonalPool, work: Path
) -> None:
    job = Stubborn(pool, work, LONG).wait()
    job.do("condor_hold")
    wait_until(lambda: job.signals() == ["TERM"], 20)
    job.do("condor_rm")
    run_tool(pool, "condor_rm", str(job.jobs.cluster))
    assert job.jobs.wait_for_status(3) == []
    job.do("condor_rm", "-forcex")
    assert job.wait_until_dead() == ["TERM"]
    job.jobs.record()
    # Its log has its end, and nothing after it.
    assert job.numbers() == [0, 1, 9]


def test_a_job_that_its_machine_asked_to_leave_is_not_asked_again_for_its_removal(
    pool: PersonalPool, work: Path
) -> None:
    job = Stubborn(pool, work, "job_max_vacate_time = 5\n").wait()
    assert run_tool(pool, "condor_vacate", "-all")[0] == 0
    wait_until(lambda: job.signals() == ["TERM"], 20)
    job.do("condor_rm")
    assert job.wait_until_dead() == ["TERM"]
    job.jobs.record()
    assert job.numbers() == [0, 1, 4, 9]


def test_a_vacated_job_may_be_thrown_out_before_its_time_is_over(
    pool: PersonalPool, work: Path
) -> None:
    job = Stubborn(pool, work, LONG).wait()
    job.do("condor_vacate_job")
    wait_until(lambda: job.signals() == ["TERM"], 20)
    job.do("condor_vacate_job", "-fast")
    assert job.wait_until_dead()[:1] == ["TERM"]
    job.jobs.wait_for(4, 20)
    job.do("condor_rm")


@pytest.mark.parametrize("tool", ["condor_rm", "condor_hold"])
def test_a_suspended_job_goes_on_to_hear_its_signal(
    pool: PersonalPool, work: Path, tool: str
) -> None:
    job = Stubborn(pool, work, LONG, "TERM").wait()
    job.do("condor_suspend")
    job.jobs.wait_for(10, 20)
    job.do(tool)
    assert job.wait_until_dead() == ["TERM"]
    last = 9 if tool == "condor_rm" else 12
    wait_until(lambda: job.numbers() == [0, 1, 10, 4, last], 20, lambda: str(job.numbers()))


@pytest.mark.parametrize(
    ("universe", "tool", "signal"),
    [
        ("scheduler", "condor_rm", "USR2"),
        ("scheduler", "condor_hold", "HUP"),
        ("scheduler", "condor_vacate_job", "USR1"),
        ("local", "condor_rm", "USR2"),
        ("local", "condor_hold", "USR2"),
        ("local", "condor_vacate_job", "USR2"),
    ],
)
def test_a_job_beside_the_schedd_gets_its_signal_and_then_its_end(
    pool: PersonalPool, work: Path, universe: str, tool: str, signal: str
) -> None:
    job = Stubborn(pool, work, f"universe = {universe}\n{SHORT}{EVERY}").wait()
    job.do(tool)
    assert job.wait_until_dead()[:1] == [signal]
    if tool == "condor_vacate_job":
        job.jobs.wait_for(1, 20, each=2)
        job.do("condor_rm")
    elif tool == "condor_hold":
        job.jobs.wait_for_status(5)
    else:
        wait_until(lambda: ask_queue(pool, str(job.jobs.cluster), "JobStatus") == [], 20)


@pytest.mark.parametrize("universe", ["scheduler", "local"])
def test_a_job_beside_the_schedd_that_is_forgotten_is_killed(
    pool: PersonalPool, work: Path, universe: str
) -> None:
    job = Stubborn(pool, work, f"universe = {universe}\n{LONG}").wait()
    job.do("condor_rm")
    wait_until(lambda: job.signals() == ["TERM"], 20)
    job.do("condor_rm", "-forcex")
    assert job.wait_until_dead() == ["TERM"]


def test_a_script_after_the_job_is_asked_to_leave_as_well(pool: PersonalPool, work: Path) -> None:
    post = work / "post.sh"
    post.write_text(PROGRAM)
    post.chmod(0o755)
    notes = work / "notes"
    work.chmod(0o777)
    lines = (
        "executable = /bin/true\ntransfer_executable = false\nshould_transfer_files = yes\n"
        f'request_disk = 10MB\n+PostCmd = "{post}"\n+PostArguments = "{notes} TERM"\n'
    )
    jobs = submit(pool, work, f"{lines}{LONG}queue\n")
    wait_until(notes.exists, 30)
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
    wait_until(lambda: notes.read_text().split()[1:] == ["TERM"], 20)
    jobs.wait_until_gone()
