"""What the schedd's pure parts take from the configuration, frozen at each (re)configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.config.knobs.history import HistoryKnobs
from kettle.config.knobs.places import PlaceKnobs
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.tools import ToolKnobs
from kettle.policy.attribute_protection import read_protected_names
from kettle.schedd.queue.actors import ActorRules
from kettle.schedd.queue.job_rules import JobRules, read_job_rules
from kettle.submit.extended import read_commands_ad

# Attributes whose values are rounded up when set, the exact one kept beside them as `_RAW`.
ROUNDED = ("ResidentSetSize", "ProportionalSetSizeKb", "ImageSize", "DiskUsage", "ExecutableSize")


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Rules of the queue itself."""

    actors: ActorRules
    uid_domain: str
    schedd_name: str
    version: str
    platform: str
    # Attribute names in lower case.
    immutable: frozenset[str]
    protected: frozenset[str]
    secure: frozenset[str]
    # Lower-case name → percent it is rounded up by (SCHEDD_ROUND_ATTR_<name>).
    rounded: dict[str, int]
    most_jobs: int
    most_jobs_of_owner: int
    most_jobs_of_submission: int
    late_materialize: bool
    root_may_own: bool
    global_id_with_time: bool = True
    # The commands that this schedd adds to the submit language, and what explains them.
    extended_commands: ClassAd = field(default_factory=ClassAd)
    extended_help: str = ""
    # How new jobs are changed, and what they have to be.
    rules: JobRules = field(default_factory=JobRules)


def round_up(value: int, percent: int) -> int:
    """Round up to a multiple of `percent` of the value's nearest power of ten.

    So that autoclusters and event logs do not change with every page of memory: 127 becomes 150,
    43 becomes 45, 2600 becomes 2750, 5100 becomes 7500 (all observed).
    """
    if value <= 0 or percent <= 0:
        return value
    magnitude = 1
    while value * 2 >= magnitude * 10:
        magnitude *= 10
    step = magnitude * percent
    return -(-value * 100 // step) * step // 100


def read_queue_settings(
    config: Config,
    *,
    schedd_name: str,
    version: str,
    platform: str,
    own_user: str,
    root_may_own: bool,
) -> QueueSettings:
    """Take the queue's rules from a configuration; `own_user` is the daemon's account."""
    domain = config.get("UID_DOMAIN") or config.get("FULL_HOSTNAME") or "localhost"
    lists = read_protected_names(config.words)
    rounded = {}
    for name in ROUNDED:
        text = (config.get(f"SCHEDD_ROUND_ATTR_{name}") or "").strip()
        if text.endswith("%") and text[:-1].isdecimal():
            rounded[name.lower()] = int(text[:-1])
    # Compat: kept as it is beside its `_RAW`; the reference makes 10,000 checkpoints of one
    # (test_checkpoints_are_kept_exact_twice).
    rounded["numckpts"] = 0
    if not config[ScheddKnobs.PERSONAL_CONDOR_IS_SUPER_USER]:
        own_user = ""
    return QueueSettings(
        actors=ActorRules(domain, frozenset(config.words("QUEUE_SUPER_USERS")), own_user),
        uid_domain=domain,
        schedd_name=schedd_name,
        version=version,
        platform=platform,
        immutable=lists.immutable,
        protected=lists.protected,
        secure=lists.secure,
        rounded=rounded,
        most_jobs=config[ScheddKnobs.MAX_JOBS_SUBMITTED],
        most_jobs_of_owner=config[ScheddKnobs.MAX_JOBS_PER_OWNER],
        most_jobs_of_submission=config[ScheddKnobs.MAX_JOBS_PER_SUBMISSION],
        late_materialize=config[ScheddKnobs.SCHEDD_ALLOW_LATE_MATERIALIZE],
        root_may_own=root_may_own,
        global_id_with_time=config[ScheddKnobs.GLOBAL_JOB_ID_WITH_TIME],
        extended_commands=read_commands_ad(config),
        extended_help=config[ScheddKnobs.EXTENDED_SUBMIT_HELPFILE],
        rules=read_job_rules(
            config, of_made_jobs=config[ScheddKnobs.TRANSFORM_FACTORY_AND_JOB_ADS]
        ),
    )


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """What the daemon's shell needs."""

    spool: str
    queue_log: str
    queue_log_rotations: int
    history: str
    history_has_environment: bool
    epoch_history: str
    # The folder of one such file for each job.
    epoch_folder: str
    own_history: str
    own_history_seconds: int
    # What a record of the epoch history says of its job beside the rest, by kind of record.
    epoch_attributes: Mapping[str, tuple[str, ...]]
    per_job_history: str
    most_running: int
    alive_seconds: int
    # 0: periodic expressions are never evaluated.
    policy_seconds: int
    # How much of the time they may take (0: any), and the longest pause that makes up for some.
    policy_share: float
    longest_policy_seconds: int
    clean_seconds: int
    update_seconds: int
    # Between two ads of the schedd's own that tell of changes.
    own_ad_rest_seconds: int
    only_my_jobs: bool
    # Folders below which files may be fetched from where users have them; empty for anywhere.
    limited_to: tuple[str, ...]
    query_workers: int
    claim_request_seconds: int
    most_startd_contacts: int
    # Of holds after which nobody but a super user releases a job; negative is no limit.
    most_releases: int


def read_service_settings(config: Config) -> ServiceSettings:
    """Take the shell's settings from a configuration."""
    return ServiceSettings(
        spool=config[PlaceKnobs.SPOOL],
        queue_log=str(config[ScheddKnobs.JOB_QUEUE_LOG]),
        queue_log_rotations=config[ScheddKnobs.MAX_JOB_QUEUE_LOG_ROTATIONS],
        history=str(config[HistoryKnobs.HISTORY] or ""),
        history_has_environment=config[HistoryKnobs.HISTORY_CONTAINS_JOB_ENVIRONMENT],
        epoch_history=config.get("JOB_EPOCH_HISTORY") or "",
        epoch_folder=str(config[HistoryKnobs.JOB_EPOCH_HISTORY_DIR] or ""),
        own_history=str(config[HistoryKnobs.SCHEDD_DAEMON_HISTORY] or ""),
        own_history_seconds=config[HistoryKnobs.SCHEDD_HISTORY_RECORD_INTERVAL],
        epoch_attributes=_epoch_attributes(config),
        per_job_history=config.get("PER_JOB_HISTORY_DIR") or "",
        most_running=config[ScheddKnobs.MAX_JOBS_RUNNING],
        alive_seconds=config[ScheddKnobs.ALIVE_INTERVAL],
        policy_seconds=config[ScheddKnobs.PERIODIC_EXPR_INTERVAL],
        policy_share=config[ScheddKnobs.PERIODIC_EXPR_TIMESLICE],
        longest_policy_seconds=config[ScheddKnobs.MAX_PERIODIC_EXPR_INTERVAL],
        clean_seconds=config[ScheddKnobs.QUEUE_CLEAN_INTERVAL],
        update_seconds=config[ScheddKnobs.SCHEDD_INTERVAL],
        own_ad_rest_seconds=config[ScheddKnobs.SCHEDD_MIN_INTERVAL],
        only_my_jobs=config[ToolKnobs.CONDOR_Q_ONLY_MY_JOBS],
        limited_to=tuple(config.words("LIMIT_DIRECTORY_ACCESS")),
        query_workers=config[ScheddKnobs.SCHEDD_QUERY_WORKERS],
        claim_request_seconds=config[ScheddKnobs.REQUEST_CLAIM_TIMEOUT],
        most_startd_contacts=config[ScheddKnobs.MAX_PENDING_STARTD_CONTACTS],
        most_releases=config[ScheddKnobs.SYSTEM_MAX_RELEASES],
    )


def local_execute(config: Config) -> str:
    """Return where the jobs of the local universe have their folders."""
    return config.get("LOCAL_UNIV_EXECUTE") or f"{config[PlaceKnobs.SPOOL]}/local_univ_execute"


def _epoch_attributes(config: Config) -> dict[str, tuple[str, ...]]:
    """Read <KIND>_JOB_ATTRS; where a kind of transfer has none, TRANSFER_JOB_ATTRS is meant."""
    of_transfers = tuple(config.words("TRANSFER_JOB_ATTRS"))
    found = {"SPAWN": tuple(config.words("SPAWN_JOB_ATTRS"))}
    for kind in ("INPUT", "OUTPUT", "CHECKPOINT"):
        name = f"{kind}_JOB_ATTRS"
        own = config.origin(name) is not None
        found[kind] = tuple(config.words(name)) if own else of_transfers
    return found
