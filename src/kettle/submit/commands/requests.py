"""Submit commands: what the job asks of a machine. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command("requirements", "Requirements", "special", "What a machine must satisfy."),
    Command("rank", "Rank", "special", "Which machines the job prefers.", ("preferences",)),
    Command("request_cpus", "RequestCpus", "special", "Cores the job asks for."),
    Command(
        "request_memory",
        "RequestMemory",
        "special",
        "Memory the job asks for, in MiB unless a unit is given.",
    ),
    Command(
        "request_disk",
        "RequestDisk",
        "special",
        "Disk the job asks for, in KiB unless a unit is given.",
    ),
    Command("request_gpus", "RequestGPUs", "special", "GPUs the job asks for."),
    Command("require_gpus", "RequireGPUs", "special", "What each of these GPUs must satisfy."),
    Command(
        "gpus_minimum_capability",
        "GPUsMinCapability",
        "special",
        "Least compute capability of the GPUs.",
    ),
    Command(
        "gpus_maximum_capability",
        "GPUsMaxCapability",
        "special",
        "Greatest compute capability of the GPUs.",
    ),
    Command(
        "gpus_minimum_memory",
        "GPUsMinMemory",
        "special",
        "Least memory of the GPUs, in MiB unless a unit is given.",
    ),
    Command(
        "gpus_minimum_runtime", "GPUsMinRuntime", "special", "Least runtime version of the GPUs."
    ),
    Command(
        "retry_request_memory",
        "",
        "special",
        "Memory to ask for when the job was stopped for using too much.",
    ),
    Command(
        "retry_request_memory_increase",
        "",
        "special",
        "How much more memory to ask for each time.",
    ),
    Command("retry_request_memory_max", "", "special", "Most memory to ask for."),
    Command(
        "retry_request_disk",
        "",
        "special",
        "Disk to ask for when the job was stopped for using too much.",
    ),
    Command(
        "on_evict_checks",
        "TransformOnEvict",
        "special",
        "Names of changes to make to a job that leaves its machine, transform_body_NAME each.",
    ),
    Command("disk_usage", "DiskUsage", "special", "Disk that the job needs at first, in KiB."),
    Command(
        "encrypt_execute_directory",
        "EncryptExecuteDirectory",
        "boolean",
        "Whether the job's scratch folder is encrypted.",
    ),
    Command("concurrency_limits", "ConcurrencyLimits", "special", "Limits that count this job."),
    Command(
        "concurrency_limits_expr",
        "ConcurrencyLimits",
        "special",
        "An expression that gives those limits.",
    ),
    Command(
        "job_machine_attrs",
        "JobMachineAttrs",
        "plain",
        "Attributes of the machine that the job's ad keeps.",
    ),
    Command(
        "job_machine_attrs_history_length",
        "JobMachineAttrsHistoryLength",
        "special",
        "For how many machines they are kept.",
    ),
    Command(
        "match_list_length",
        "LastMatchListLength",
        "integer",
        "How many machines the job has run on are remembered.",
    ),
    Command("cuda_version", "CUDAVersion", "special", "Runtime version of the GPUs."),
)
