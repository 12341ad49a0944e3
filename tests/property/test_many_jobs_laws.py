"""Of many jobs only what changes is worked out anew, and nobody can tell."""

from __future__ import annotations

from hypothesis import example, given, settings
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
    "+RequestMemory = 1{}",
    "+WantFTOnCheckpoint = {} > 1",
    "+JobStatus = $CHOICE(Process,5,1,5,1,5,1,5)",
    "request_cpus = {}",
    "request_foo = {}",
    "transfer_input_files = $CHOICE(Process,a,http://x/a,a,s,http://x/a,a,a)",
    "require_gpus = Capability > {}",
    "retry_request_memory = {}000",
    "container_image = $CHOICE(Step,a.sif,b,a.sif,b,b,b)",
    "output_destination = $CHOICE(Process,http://x/y,z,http://x/y,z,z,z)",
    "checkpoint_exit_code = {}",
    "batch_name = b{}",
    "error = /dev/{}",
    "stream_error = {}",
    "arguments2 = \"a'{}b' {}\"",
    "description = %d{}%",
    "log_xml = {}",
]
# Empty or false for some jobs and not for others, so that what others depend on is there or not.
SOMETIMES = [
    "+JobStatus = $CHOICE(Process,list6)",
    "+Requirements = $CHOICE(Process,list7)",
    "+ShouldTransferFiles = $CHOICE(Process,list7)",
    "universe = $CHOICE(Process,list8)",
    "nice_user = $CHOICE(Process,list2)",
    "log = $CHOICE(Process,list3)",
    "stream_input = $CHOICE(Process,list2)",
    "transfer_output = $CHOICE(Process,list2)",
    "container_image = $CHOICE(Process,list3)",
    "initialdir = $CHOICE(Process,list9)",
    "executable = $CHOICE(Process,job.sh,,job.sh,,prog,)",
    "max_retries = $CHOICE(Process,list1)",
    "on_exit_remove = $CHOICE(Process,list1)",
    "success_exit_code = $CHOICE(Process,list1)",
    "environment = $CHOICE(Process,list10)",
    "env = $CHOICE(Process,list10)",
    "getenv = $CHOICE(Process,list2)",
    "preserve_relative_paths = $CHOICE(Process,list2)",
    "encrypt_input_files = $CHOICE(Process,list3)",
    "output_destination = $CHOICE(Process,,http://x/y,)",
    "retry_request_memory = $CHOICE(Process,list1)",
    "gpus_minimum_memory = $CHOICE(Process,list1)",
    "kill_sig = $CHOICE(Process,,SIGUSR1,,SIGTERM,,)",
    "request_gpus = $CHOICE(Process,list1)",
    "hold = $CHOICE(Process,list2)",
    "tool_daemon_cmd = $CHOICE(Process,list1)",
    "checkpoint_exit_code = $CHOICE(Process,list1)",
    "transfer_input_files = $CHOICE(Process,list3)",
    "input = $CHOICE(Process,list3)",
    "arguments = $CHOICE(Process,list3)",
    "+CUDAVersion = $CHOICE(Process,list1)",
    "cuda_version = $CHOICE(Process,list1)",
    "deferral_time = $CHOICE(Process,list1)",
    "transfer_plugins = $CHOICE(Process,list4)",
    "on_evict_checks = $CHOICE(Process,list3)",
    "transform_body_a = SET X {}",
    "container_service_names = $CHOICE(Process,list3)",
    "a_container_port = {}",
    "request_disk = $CHOICE(Process,list1)",
    "request_memory = $CHOICE(Process,list1)",
    "should_transfer_files = $CHOICE(Process,list5)",
    "arguments = $(item)$(y)",
    "output = $(item)$$(Arch)",
]
LISTS = """\
list1 = ,1,,2,1,
list2 = true,,false,true,,true
list3 = ,a,b,,a,a
list4 = ,http=p,,ftp=q,,
list5 = YES,,NO,YES,,
list6 = ,5,1,,5,5
list7 = ,Memory > 5,undefined,,"YES",
list8 = ,local,vanilla,,scheduler,local
list9 = ,dir5,,,dir5,
list10 = ,A=1,"B=2",,"A=3 B=4",
"""
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


FILES = dict.fromkeys(("a", "b", "prog", "a.sif", "dir5/in"), "x")
QUEUES = [
    "queue 4",
    "queue 2 item in (0, 1, 2)",
    "queue item,y from (\n1 2\n3 4\n)",
    "queue item in (a1, 7, null, -0.5, true, x.9, 0)",
    "queue 2 item,y from (\n1 2\n$(Step) x\n3 4\n)",
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(COMMANDS + SOMETIMES), st.sampled_from(TEXTS)), max_size=12),
    st.sampled_from(QUEUES),
    st.sampled_from(["", "named"]),
)
@example(
    [
        ("encrypt_input_files = {}", "$CHOICE(Process,list3)"),
        ("hold = {}", "$CHOICE(Process,list2)"),
    ],
    QUEUES[3],
    "",
)
@example([("env = {}", "$CHOICE(Process,list10)")], QUEUES[3], "")
def test_no_job_shows_which_steps_ran_for_it(
    lines: list[tuple[str, str]], queue: str, batch: str
) -> None:
    text = "executable = job.sh\nx = 3\n" + LISTS
    text += "".join(line.replace("{}", value) + "\n" for line, value in lines) + queue + "\n"
    options = SubmitOptions(allow_many_queues=True, batch_name=batch)
    quick, whole = (submission(text, FILES, options=options) for _ in range(2))
    # No job is watched then, and so each is made from the beginning.
    whole._has_one_statement = False
    assert told(quick) == told(whole), text
