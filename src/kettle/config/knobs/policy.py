"""Knobs of policy expressions to build from: a pure table."""

from kettle.config.knob import boolean, expression, integer, path, real, seconds, string


class PolicyMacros:
    """Knobs of policy expressions to build from."""

    ActivityTimer = expression(
        "(time() - EnteredCurrentActivity)",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    BackgroundLoad = real(
        "0.3",
        doc="Known and checked as a real number; no part of Kettle acts on it yet.",
    )
    BenchmarkTimer = expression(
        "(time() - LastBenchmark)",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    BigJob = expression(
        "(TARGET.ImageSize >= (50 * 1024))",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    CondorIsAdmin = string("", doc="Whether the program runs as root; detected.")
    ContinueIdleTime = expression(
        "5 * $(MINUTE)",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    EVICT_BACKFILL = expression(None, doc="When a slot ends its backfill.")
    HighLoad = real(
        "0.5",
        doc="Known and checked as a real number; no part of Kettle acts on it yet.",
    )
    HOUR = seconds(
        "3600",
        doc="Known and checked as a span of seconds; no part of Kettle acts on it yet.",
    )
    IsCollector = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsMaster = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsMPI = expression(
        "(TARGET.JobUniverse == $(MPI))",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    IsNegotiator = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsSchedd = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsShadow = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsStandard = expression(
        "(TARGET.JobUniverse == $(STANDARD))",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    IsStartd = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsStarter = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsSubmit = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsTool = boolean(
        "true",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    IsVanilla = expression(
        "(TARGET.JobUniverse == $(VANILLA))",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    IsVM = expression(
        "(TARGET.JobUniverse == $(VM))",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    IsWindows = boolean(
        "false",
        doc="Known and checked as a truth value; no part of Kettle acts on it yet.",
    )
    MAXJOBRETIREMENTTIME = expression(
        None, doc="How long, in seconds, a job may still run when its slot is wanted."
    )
    MaxSuspendTime = expression(
        "10 * $(MINUTE)",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    MaxVacateTime = expression(
        "10 * $(MINUTE)",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    MediumJob = expression(
        "(TARGET.ImageSize >= (15 * 1024) && TARGET.ImageSize < (50 * 1024))",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    MINUTE = seconds(
        "60",
        doc="Known and checked as a span of seconds; no part of Kettle acts on it yet.",
    )
    MPI = integer("8", doc="The number of the MPI universe.")
    MPI_CONDOR_RSH_PATH = path("", doc="Known path; no part of Kettle acts on it yet.")
    MPI_MASTER_IP = string("", doc="Known text; no part of Kettle acts on it yet.")
    RANK = expression(None, doc="Which jobs a slot prefers: the higher, the better.")
    SmallJob = expression(
        "(TARGET.ImageSize <  (15 * 1024))",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    STANDARD = integer("1", doc="The number of the standard universe.")
    StartIdleTime = expression(
        "15 * $(MINUTE)",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    START_BACKFILL = expression(None, doc="When a slot begins with backfill.")
    StateTimer = expression(
        "(time() - EnteredCurrentState)",
        doc="Known expression; no part of Kettle evaluates it yet.",
    )
    VANILLA = integer("5", doc="The number of the vanilla universe.")
    VM = integer("13", doc="The number of the VM universe.")
    WANT_HOLD = expression(
        None, doc="When the job of a slot is put on hold instead of being run again."
    )
    WANT_HOLD_REASON = expression(None, doc="Why, in words that the owner reads.")
    WANT_HOLD_SUBCODE = expression(None, doc="Why, as a number.")
