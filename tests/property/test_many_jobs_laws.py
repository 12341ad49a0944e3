"""Of many jobs only what changes is worked out anew, and nobody can tell.

No command here is empty for some jobs and not for others: such a job keeps what the first one has
where only its own steps are done again, as in the reference.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kettle.errors import SubmitError
from kettle.submit.build import Submission, SubmitOptions
from unit.submit.submitting import submission

# Each may change from job to job or not: {} is a text that does or does not.
COMMANDS = [
    "arguments = --seed {} 'x'",
    "arguments = \"--seed '{} a' b\"",
    'environment = "A={} B=2"',
    "output = out.{}",
    "error = err.$(Cluster).{}",
    "input = in.{}",
    "log = log.{}",
    "initialdir = dir{}",
    "executable = prog{}",
    "transfer_executable = $CHOICE(Process,true,false,true,false,true,false)",
    "should_transfer_files = $CHOICE(Step,YES,IF_NEEDED,NO,YES,IF_NEEDED,NO)",
    "transfer_input_files = a.{}, b",
    'transfer_output_remaps = "a=b.{}"',
    "transfer_output_files = o{}",
    "request_memory = 1{}",
    "request_disk = $INT(x) MB",
    "request_gpus = {}",
    "requirements = (Memory > {}) && HasFile",
    "rank = {} + Mips",
    "universe = $CHOICE(Process,vanilla,vanilla,local,vanilla,vanilla,local)",
    "hold = $CHOICE(Process,true,false,true,false,true,false)",
    "priority = {}",
    "notification = $CHOICE(Process,Never,Error,Never,Error,Never,Error)",
    "periodic_hold = NumJobStarts > {}",
    "max_retries = {}",
    "concurrency_limits = lim{}",
    "accounting_group = g{}",
    "deferral_time = {}",
    "cron_minute = {}",
    "stream_output = $CHOICE(Process,true,false,true,false,true,false)",
    "kill_sig = $CHOICE(Process,SIGTERM,SIGUSR1,SIGTERM,SIGUSR1,SIGTERM,SIGUSR1)",
    '+Group = "g$INT(Process,%03d)"',
    "+Number = {} + 1",
    "MY.Nested = [ a = {}; ]",
    "notify_user = u{}@x.y",
    "x = {}7",
]
TEXTS = [
    "$(Process)",
    "$(Step)",
    "$(item)",
    "$(x)",
    "5",
    "",
    "$INT(Process)",
    "$(no:4)",
    "$$(Arch)",
]


def told(made: Submission) -> object:
    """Return all that a submission makes, or why it is refused."""
    jobs = []
    try:
        for job in made.jobs():
            shown = {**dict(made.cluster), **dict(job.differences)}
            jobs.append((job.proc, job.status, shown))
    except SubmitError as error:
        jobs.append((-1, 0, {"refused": str(error)}))
    return jobs, made.warnings, [text for _, text in made.problems]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(COMMANDS), st.sampled_from(TEXTS)), max_size=12),
    st.sampled_from(["queue 4", "queue 2 item in (0, 1, 2)", "queue item,y from (\n1 2\n3 4\n)"]),
)
def test_jobs_are_those_that_are_made_from_the_beginning(
    lines: list[tuple[str, str]], queue: str
) -> None:
    text = "executable = job.sh\nx = 3\n"
    text += "".join(line.replace("{}", value) + "\n" for line, value in lines) + queue + "\n"
    options = SubmitOptions(allow_many_queues=True)
    quick, slow = submission(text, options=options), submission(text, options=options)
    slow._has_one_statement = False
    assert told(quick) == told(slow), text
