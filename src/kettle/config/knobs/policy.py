"""Knobs of policy expressions to build from: a pure table."""

from kettle.config.knob import boolean, expression, integer, path, real, seconds, string
from kettle.config.ranges import NOT_NEGATIVE, WHOLE


class PolicyMacros:
    """Knobs of policy expressions to build from."""

    ActivityTimer = expression(
        "(time() - EnteredCurrentActivity)",
        doc="Known expression, for other settings to mention.",
    )
    BackgroundLoad = real(
        "0.3",
        sense=NOT_NEGATIVE,
        doc="Known and checked as a real number, for other settings to mention.",
    )
    BenchmarkTimer = expression(
        "(time() - LastBenchmark)",
        doc="Known expression, for other settings to mention.",
    )
    BigJob = expression(
        "(TARGET.ImageSize >= (50 * 1024))",
        doc="Known expression, for other settings to mention.",
    )
    CondorIsAdmin = string("", doc="Whether the program runs as root; detected.")
    ContinueIdleTime = expression(
        "5 * $(MINUTE)",
        doc="Known expression, for other settings to mention.",
    )
    CpuBusy = expression(None, doc="When somebody else's work keeps a machine busy.", unset="false")
    CPU_BUSY = expression(None, doc="An older name of CpuBusy.")
    EVICT_BACKFILL = expression(None, doc="When a slot ends its backfill.")
    HighLoad = real(
        "0.5",
        sense=NOT_NEGATIVE,
        doc="Known and checked as a real number, for other settings to mention.",
    )
    HOUR = seconds(
        "3600",
        within=WHOLE,
        doc="Known and checked as a span of seconds, for other settings to mention.",
    )
    IsCollector = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsMaster = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsMPI = expression(
        "(TARGET.JobUniverse == $(MPI))",
        doc="Known expression, for other settings to mention.",
    )
    IsNegotiator = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsSchedd = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsShadow = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsStandard = expression(
        "(TARGET.JobUniverse == $(STANDARD))",
        doc="Known expression, for other settings to mention.",
    )
    IsStartd = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsStarter = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsSubmit = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsTool = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    IsVanilla = expression(
        "(TARGET.JobUniverse == $(VANILLA))",
        doc="Known expression, for other settings to mention.",
    )
    IsVM = expression(
        "(TARGET.JobUniverse == $(VM))",
        doc="Known expression, for other settings to mention.",
    )
    IsWindows = boolean(
        "false",
        doc="Known and checked as a truth value, for other settings to mention.",
    )
    MAXJOBRETIREMENTTIME = expression(
        None, doc="How long, in seconds, a job may still run when its slot is wanted."
    )
    MaxSuspendTime = expression(
        "10 * $(MINUTE)",
        doc="Known expression, for other settings to mention.",
    )
    MaxVacateTime = expression(
        "10 * $(MINUTE)",
        doc="Known expression, for other settings to mention.",
    )
    MediumJob = expression(
        "(TARGET.ImageSize >= (15 * 1024) && TARGET.ImageSize < (50 * 1024))",
        doc="Known expression, for other settings to mention.",
    )
    MINUTE = seconds(
        "60",
        within=WHOLE,
        doc="Known and checked as a span of seconds, for other settings to mention.",
    )
    MPI = integer("8", within=WHOLE, doc="The number of the MPI universe.")
    MPI_CONDOR_RSH_PATH = path("", doc="Known path, for other settings to mention.")
    MPI_MASTER_IP = string("", doc="Known text, for other settings to mention.")
    RANK = expression(None, doc="Which jobs a slot prefers: the higher, the better.")
    SmallJob = expression(
        "(TARGET.ImageSize <  (15 * 1024))",
        doc="Known expression, for other settings to mention.",
    )
    STANDARD = integer("1", within=WHOLE, doc="The number of the standard universe.")
    StartIdleTime = expression(
        "15 * $(MINUTE)",
        doc="Known expression, for other settings to mention.",
    )
    START_BACKFILL = expression(None, doc="When a slot begins with backfill.")
    StateTimer = expression(
        "(time() - EnteredCurrentState)",
        doc="Known expression, for other settings to mention.",
    )
    VANILLA = integer("5", within=WHOLE, doc="The number of the vanilla universe.")
    VM = integer("13", within=WHOLE, doc="The number of the VM universe.")
    WANT_HOLD = expression(
        None, doc="When the job of a slot is put on hold instead of being run again."
    )
    WANT_HOLD_REASON = expression(None, doc="Why, in words that the owner reads.")
    WANT_HOLD_SUBCODE = expression(None, doc="Why, as a number.")
