"""Steps: the arguments of the program, of its tool and of the Java machine.

Each has one command for both syntaxes and one for the new syntax alone. They exclude each other
unless `allow_arguments_v1` is set; then the second counts (vectors, submit commands).
"""

from __future__ import annotations

from kettle.attributes.codes import JobUniverse
from kettle.errors import SubmitError
from kettle.named_tuples import NamedTuple
from kettle.octets import BLANKS
from kettle.submit import arguments
from kettle.submit.job import JobBuilder


class WordCommands(NamedTuple):
    """One pair of commands, what they set, and how a text that cannot be read is told."""

    either: str
    new: str
    old_attribute: str
    new_attribute: str
    before: str
    after: str


PROGRAM = WordCommands(
    "arguments", "arguments2", "Args", "Arguments", "", "The full arguments you specified were:"
)
JAVA = WordCommands(
    "java_vm_arguments",
    "java_vm_arguments2",
    "JavaVMArgs",
    "JavaVMArguments",
    "failed to parse java VM arguments: ",
    "The full arguments you specified were",
)
TOOL = WordCommands(
    "tool_daemon_arguments",
    "tool_daemon_arguments2",
    "ToolDaemonArgs",
    "ToolDaemonArguments",
    "failed to parse tool daemon arguments: ",
    "The arguments you specified were:",
)
TOOL_FILES = (
    ("tool_daemon_input", "ToolDaemonInput"),
    ("tool_daemon_output", "ToolDaemonOutput"),
    ("tool_daemon_error", "ToolDaemonError"),
)


def set_arguments(job: JobBuilder) -> None:
    """Decide Arguments or Args; a line for the shell stands in for both."""
    line = job.shell_line
    if line is not None:
        # Looked at, so that nobody calls it a typing error; it is the line that counts.
        job.param("arguments"), job.param("arguments2")
        job.set_string("Arguments", arguments.join_new(["-c", line]))
        return
    if not set_words(job, PROGRAM):
        if job.of_cluster("Args") is None:
            job.set_default("Arguments", '""')
        if job.universe is JobUniverse.JAVA and not job.is_later:
            raise SubmitError(
                "In Java universe, you must specify the class name to run.\n"
                "Example:\n\narguments = MyClass\n",
                command="universe",
            )


def set_java_words(job: JobBuilder) -> None:
    """Decide JavaVMArguments or JavaVMArgs; the reference does so in every universe."""
    if job.text_of("java_vm_args") and (
        job.text_of("java_vm_arguments") or job.text_of(JAVA.old_attribute)
    ):
        raise SubmitError("you specified a value for both java_vm_args and java_vm_arguments.")
    set_words(job, JAVA)


def set_tool(job: JobBuilder) -> None:
    """Decide the attributes of the tool that is started with the job."""
    command = job.said("tool_daemon_cmd", "ToolDaemonCmd")
    if command is None:
        return
    job.set_string("ToolDaemonCmd", command)
    for name, attribute in TOOL_FILES:
        text = job.param(name)
        if text is not None:
            job.set_string(attribute, text)
    suspends = job.boolean("suspend_job_at_exec")
    if suspends is not None:
        job.set_boolean("SuspendJobAtExec", suspends)
    old = job.text_of("tool_daemon_args")
    if old and (job.text_of("tool_daemon_arguments") or job.text_of(TOOL.old_attribute)):
        raise SubmitError("you specified both tdp_daemon_args and tdp_daemon_arguments")
    set_words(job, TOOL)


def set_words(job: JobBuilder, commands: WordCommands) -> bool:
    """Set the attribute of one pair of commands; false where neither gives any.

    Raises SubmitError for both together and for what is in neither syntax.
    """
    either, new = job.param(commands.either), job.param(commands.new)
    allowed = job.boolean("allow_arguments_v1")
    if either is not None and new is not None and not allowed:
        raise job.pair_error(commands.either, commands.new, "allow_arguments_v1")
    text = either if new is None else new
    if text is None:
        return False
    try:
        if new is not None:
            arguments.require_new_syntax(new)
        if arguments.is_new_syntax(text):
            words = arguments.split_new(arguments.strip_outer_quotes(text))
            job.set_string(commands.new_attribute, arguments.join_new(words))
        elif text.strip(BLANKS) or commands is PROGRAM:
            job.set_string(commands.old_attribute, arguments.parse_old_arguments(text))
    except SubmitError as error:
        raise SubmitError(
            f"{commands.before}{error.message}\n{commands.after} {text}",
            command=commands.either if new is None else commands.new,
        ) from None
    return True
