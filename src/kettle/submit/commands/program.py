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
        "Args",
        "special",
        "Arguments of the program, in the old or the new syntax.",
    ),
    Command(
        "arguments2",
        "",
        "special",
        "The same in the new syntax, for a description that gives both.",
    ),
    Command("shell", "", "special", "A line for /bin/sh that is run in place of a program."),
    Command(
        "interactive_executable",
        "",
        "special",
        "What an interactive job runs while it waits for its user.",
    ),
    Command("interactive_args", "", "special", "Arguments of that program."),
    Command(
        "environment",
        "Environment",
        "special",
        "Environment of the program, in the old or the new syntax.",
        ("env",),
    ),
    Command(
        "environment2",
        "",
        "special",
        "The same in the new syntax, for a description that gives both.",
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
        "Whether environment and environment2 may be given together.",
    ),
    Command(
        "allow_arguments_v1",
        "",
        "special",
        "Whether arguments and arguments2 may be given together.",
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
    Command("core_size", "CoreSize", "integer", "Largest core file in bytes."),
    Command("stack_size", "StackSize", "expression", "Stack limit of the job in bytes."),
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
        "leading number",
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
        "primary_unix_group", "PrimaryUnixGroup", "plain", "Primary group of the job's process."
    ),
    Command(
        "starter_log", "JobStarterLog", "special", "Where the starter's log is brought back to."
    ),
    Command("starter_debug", "JobStarterDebug", "string", "What the starter writes into it."),
    Command("tool_daemon_cmd", "ToolDaemonCmd", "special", "A tool that is started with the job."),
    Command(
        "tool_daemon_arguments",
        "ToolDaemonArgs",
        "special",
        "Arguments of the tool, in the old or the new syntax.",
        ("tool_daemon_args",),
    ),
    Command(
        "tool_daemon_arguments2",
        "",
        "special",
        "The same in the new syntax, for a description that gives both.",
    ),
    Command("tool_daemon_input", "ToolDaemonInput", "special", "Standard input of the tool."),
    Command("tool_daemon_output", "ToolDaemonOutput", "special", "Standard output of the tool."),
    Command("tool_daemon_error", "ToolDaemonError", "special", "Standard error of the tool."),
    Command(
        "suspend_job_at_exec",
        "SuspendJobAtExec",
        "special",
        "Whether the job stands still until its tool lets it go on.",
    ),
)
