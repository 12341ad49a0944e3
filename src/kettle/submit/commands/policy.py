"""Submit commands: what happens to the job and when. A pure table."""

from kettle.submit.commands.command import Command

COMMANDS = (
    Command("periodic_hold", "PeriodicHold", "expression", "When the job goes on hold."),
    Command(
        "periodic_hold_reason", "PeriodicHoldReason", "expression", "Why it went on hold then."
    ),
    Command("periodic_hold_subcode", "PeriodicHoldSubCode", "expression", "Subcode of that hold."),
    Command(
        "periodic_release", "PeriodicRelease", "expression", "When the job is released from hold."
    ),
    Command("periodic_remove", "PeriodicRemove", "expression", "When the job is removed."),
    Command("periodic_vacate", "PeriodicVacate", "expression", "When the job leaves its machine."),
    Command(
        "want_graceful_removal",
        "WantGracefulRemoval",
        "expression",
        "Whether a removed or held job may end by itself; else it is killed at once.",
    ),
    Command(
        "on_exit_hold", "OnExitHold", "special", "Whether the job goes on hold when it has ended."
    ),
    Command("on_exit_hold_reason", "OnExitHoldReason", "expression", "Why it went on hold then."),
    Command("on_exit_hold_subcode", "OnExitHoldSubCode", "expression", "Subcode of that hold."),
    Command(
        "on_exit_remove",
        "OnExitRemove",
        "special",
        "Whether the job leaves the queue when it has ended.",
    ),
    Command(
        "leave_in_queue",
        "LeaveJobInQueue",
        "special",
        "Whether the job stays in the queue after its end.",
    ),
    Command("max_retries", "JobMaxRetries", "special", "How often the job is tried again."),
    Command("success_exit_code", "JobSuccessExitCode", "special", "Exit code that means success."),
    Command("retry_until", "", "special", "When trying again ends."),
    Command("hold", "", "special", "Whether the job is submitted on hold."),
    Command("priority", "JobPrio", "integer", "The job's place among its owner's jobs.", ("prio",)),
    Command("nice_user", "", "special", "Whether the job yields to all others."),
    Command("accounting_group", "AcctGroup", "special", "Group that the job's use is charged to."),
    Command(
        "accounting_group_user",
        "AcctGroupUser",
        "special",
        "User that the job's use is charged to.",
    ),
    Command(
        "notification",
        "JobNotification",
        "special",
        "When mail is sent: never, always, complete or error.",
    ),
    Command("notify_user", "NotifyUser", "special", "Who gets the mail."),
    Command("email_attributes", "EmailAttributes", "list", "Attributes that the mail shows."),
    Command(
        "keep_claim_idle",
        "KeepClaimIdle",
        "expression",
        "How long the slot is kept for the next job, in seconds.",
    ),
    Command(
        "job_lease_duration",
        "JobLeaseDuration",
        "special",
        "How long the job may run on when its schedd is not heard of, in seconds.",
    ),
    Command(
        "max_job_retirement_time",
        "MaxJobRetirementTime",
        "expression",
        "How long the job may run on when its slot is wanted, in seconds.",
    ),
    Command(
        "job_max_vacate_time",
        "JobMaxVacateTime",
        "expression",
        "How long the job may take to leave, in seconds.",
    ),
    Command(
        "allowed_job_duration",
        "AllowedJobDuration",
        "expression",
        "How long the job may take including transfer, in seconds.",
    ),
    Command(
        "allowed_execute_duration",
        "AllowedExecuteDuration",
        "expression",
        "How long the job may execute, in seconds.",
    ),
    Command(
        "next_job_start_delay",
        "NextJobStartDelay",
        "expression",
        "Pause after this job's start before the next, in seconds.",
    ),
    Command("noop_job", "IsNoopJob", "expression", "Whether the job ends at once without running."),
    Command(
        "noop_job_exit_signal", "NoopJobExitSignal", "expression", "Signal with which it ends."
    ),
    Command("noop_job_exit_code", "NoopJobExitCode", "expression", "Code with which it ends."),
    Command("deferral_time", "DeferralTime", "special", "When the job starts, in epoch seconds."),
    Command(
        "deferral_window",
        "DeferralWindow",
        "special",
        "How much later it may start, in seconds.",
        ("cron_window",),
    ),
    Command(
        "deferral_prep_time",
        "DeferralPrepTime",
        "special",
        "How long before that it is sent to a machine, in seconds.",
        ("cron_prep_time",),
    ),
    Command("cron_minute", "CronMinute", "special", "Minutes at which the job starts."),
    Command("cron_hour", "CronHour", "special", "Hours at which the job starts."),
    Command(
        "cron_day_of_month",
        "CronDayOfMonth",
        "special",
        "Days of the month on which the job starts.",
    ),
    Command("cron_month", "CronMonth", "special", "Months in which the job starts."),
    Command(
        "cron_day_of_week", "CronDayOfWeek", "special", "Days of the week on which the job starts."
    ),
    Command(
        "max_materialize",
        "JobMaterializeLimit",
        "special",
        "Most jobs of the cluster that are made at a time.",
    ),
    Command(
        "max_idle",
        "JobMaterializeMaxIdle",
        "special",
        "Most idle jobs of the cluster at a time.",
        ("materialize_max_idle",),
    ),
)
