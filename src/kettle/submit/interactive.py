"""Interactive jobs: a job that waits for a person and a shell in its place (S001 to S003).

The job itself only holds the slot until the person has come and gone; the shell is
condor_ssh_to_job's. Executable and arguments of the description are ignored, and one job is made
whatever the queue statement says.
"""

from __future__ import annotations

from kettle.attributes.codes import JobUniverse
from kettle.errors import SubmitError
from kettle.submit import arguments
from kettle.submit.job import JobBuilder

# What is submitted where no description is given. It waits three minutes for the person, and then
# as long as the person's shell is there.
DEFAULT_DESCRIPTION = """\
universe = vanilla
executable = /bin/sh
environment = "TMOUT=7200"
transfer_executable = false
notification = never
priority = 1000
request_memory = 512 MB
queue
"""
DEFAULT_COMMAND = "/bin/sh"
DEFAULT_ARGUMENTS = (
    "\"-c 'sleep 180 && while test -d ${_CONDOR_SCRATCH_DIR}/.condor_ssh_to_job_1;"
    " do /bin/sleep 3; done'\""
)


def set_interactive(job: JobBuilder) -> None:
    """Replace the program by one that waits, and mark the job."""
    if job.universe is not JobUniverse.VANILLA:
        raise SubmitError(
            "Interactive jobs are vanilla universe jobs, no others", command="universe"
        )
    attributes, config = job.attributes, job.config
    attributes.set("OrigCmd", attributes.get("Cmd") or '""')
    job.set_string("Cmd", config.get("INTERACTIVE_SUBMIT_CMD_OVERRIDE") or DEFAULT_COMMAND)
    job.set_boolean("TransferExecutable", False)
    text = config.get("INTERACTIVE_SUBMIT_ARGS_OVERRIDE") or DEFAULT_ARGUMENTS
    attributes.remove("Args")
    words = arguments.split_new(arguments.strip_outer_quotes(text))
    job.set_string("Arguments", arguments.join_new(words))
    job.set_boolean("InteractiveJob", True)
    if "JobDescription" not in attributes:
        job.set_string("JobDescription", "interactive job")
