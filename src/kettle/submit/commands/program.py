"""Submit commands: the program, its arguments, environment and standard streams. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command("universe", "JobUniverse", "special", "What kind of job it is; vanilla by default."),
    Command(
        "executable",
        "Cmd",
        "special",
        "The program to run.",
        (
            "cmd",
            "command",
        ),
    ),
    Command(
        "arguments",
        "Arguments",
        "special",
        "Arguments of the program, in the old or the new syntax.",
        (
            "args",
            "arguments2",
        ),
    ),
    Command(
        "environment",
        "Environment",
        "special",
        "Environment of the program, in the old or the new syntax.",
        (
            "env",
            "environment2",
        ),
    ),
    Command(
        "getenv",
        "",
        "special",
        "Which variables of the submitter's environment the job gets.",
        ("get_env",),
    ),
    Command(
        "allow_environment_v1",
        "",
        "special",
        "Accepted and ignored: both syntaxes are always understood.",
    ),
    Command(
        "allow_arguments_v1",
        "",
        "special",
        "Accepted and ignored: both syntaxes are always understood.",
    ),
    Command(
        "initialdir",
        "Iwd",
        "special",
        "The folder that relative names start from.",
        (
            "initial_dir",
            "iwd",
            "job_iwd",
        ),
    ),
    Command("input", "In", "special", "File for the standard input.", ("stdin",)),
    Command("output", "Out", "special", "File for the standard output.", ("stdout",)),
    Command("error", "Err", "special", "File for the standard error.", ("stderr",)),
    Command("log", "UserLog", "special", "The job's event log.", ("userlog",)),
    Command(
        "stream_input",
        "StreamIn",
        "special",
        "Whether the standard input is read over the network while the job runs.",
    ),
    Command(
        "stream_output",
        "StreamOut",
        "special",
        "Whether the standard output is written over the network while the job runs.",
    ),
    Command(
        "stream_error",
        "StreamErr",
        "special",
        "Whether the standard error is written over the network while the job runs.",
    ),
    Command("log_xml", "UserLogUseXML", "boolean", "Whether the event log is written in XML."),
    Command("dagman_log", "DAGManNodesLog", "special", "The event log a workflow reads."),
    Command(
        "transfer_executable", "TransferExecutable", "special", "Whether the program is sent along."
    ),
    Command("allow_startup_script", "", "special", "Accepted and ignored."),
    Command("coresize", "CoreSize", "special", "Largest core file in bytes.", ("core_size",)),
    Command("stack_size", "StackSize", "integer", "Stack limit of the job in bytes."),
    Command("kill_sig", "KillSig", "special", "Signal that asks the job to leave."),
    Command(
        "remove_kill_sig",
        "RemoveKillSig",
        "special",
        "The same, with more weight: when it is removed, held or vacated.",
    ),
    Command(
        "hold_kill_sig",
        "HoldKillSig",
        "special",
        "Signal that asks a scheduler-universe job to leave when it goes on hold.",
    ),
    Command(
        "kill_sig_timeout",
        "KillSigTimeout",
        "integer",
        "Seconds between that signal and SIGKILL, if there is no job_max_vacate_time.",
    ),
    Command(
        "skip_filechecks",
        "",
        "special",
        "Whether files are not looked at when the job is submitted.",
    ),
    Command("image_size", "ImageSize", "special", "Size of the program in memory in KiB."),
    Command(
        "load_profile", "LoadProfile", "boolean", "Whether the owner's profile is loaded (Windows)."
    ),
    Command(
        "run_as_owner", "RunAsOwner", "boolean", "Whether the job runs under its owner's account."
    ),
    Command(
        "primary_unix_group", "PrimaryUnixGroup", "string", "Primary group of the job's process."
    ),
)
