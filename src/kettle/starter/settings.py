"""What a starter has to know of the configuration, as plain values.

Read once in the zygote, so that a starter, which lives for one job, reads no configuration; only
after a reconfiguration does each read it again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr, parse_expression
from kettle.config import Config
from kettle.config.execute_folders import all_folders
from kettle.config.hooks import JobHooks, read_job_hooks
from kettle.config.java import JavaMachine, read_java
from kettle.config.knobs.daemon import DaemonKnobs
from kettle.config.knobs.places import PlaceKnobs
from kettle.config.knobs.security import SecurityKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.config.knobs.starter import StarterKnobs
from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import ClassAdSyntaxError, ConfigError
from kettle.starter.account import AccountRules
from kettle.starter.affinity import AffinityRules
from kettle.starter.limits import LimitRules
from kettle.transfer.plugins import PluginRules

_SLOT_CORES = re.compile(r"SLOT(\d{1,9})_CPU_AFFINITY", re.IGNORECASE)


@dataclass(frozen=True)
class StarterSettings:
    """The knobs of a starter, as plain values. Times are seconds."""

    execute: str = "/tmp/execute"  # noqa: S108 - replaced by EXECUTE of the configuration
    log: str = ""
    own_log: str = ""
    own_log_ends: str = ""
    uid_domain: str = ""
    file_system_domain: str = ""
    condor_ids: str = ""
    bin_directory: str = ""
    wrapper: str = ""
    renice_expression: str = "0"
    initial_update_interval: int = 8
    update_interval: int = 300
    enable_chirp: bool = True
    chirp_io: bool = True
    chirp_updates: bool = True
    chirp_delayed: bool = True
    chirp_prefix: str = "Chirp*"
    chirp_max_attributes: int = 100
    sets_home: bool = True
    # For which jobs their own scripts are run; None for none.
    allows_scripts: Expr | None = field(default_factory=lambda: parse_expression("true"))
    checks_reactivation: bool = True
    inherits_environment: str = ""
    job_environment: str = ""
    affinity: AffinityRules = field(default_factory=AffinityRules)
    accounts: AccountRules = field(default_factory=AccountRules)
    minimum_uid: int = 1
    limits: LimitRules = field(default_factory=LimitRules)
    private_folders: str = ""
    private_shared_memory: bool = True
    # Where sandboxes of other slots, and of local jobs, are.
    other_executes: tuple[str, ...] = ()
    own_pids: bool = True
    own_keyring: bool = True
    ssh_to_job: bool = True
    sshd: str = "/usr/sbin/sshd"
    ssh_keygen: str = "/usr/bin/ssh-keygen"
    lib: str = ""
    java: JavaMachine = field(default_factory=JavaMachine)
    starter_user_log: str = ""
    hooks: JobHooks = field(default_factory=JobHooks)
    transfer_history: str = ""
    transfer_plugins: PluginRules = field(default_factory=PluginRules)
    version: str = ""
    platform: str = ""

    def log_of(self, slot_name: str, job: ClassAd) -> str:
        """Return the file in which a job's run is told: STARTER_LOG and what its name ends with.

        Empty where there is no STARTER_LOG. Compat: an ending that is none of
        STARTER_LOG_NAME_APPEND's words is as without one, the slot (test_the_name_of_a_log).
        """
        number = str(job.integer("ClusterId") or 0)
        slot = slot_name.partition("@")[0]
        endings = {
            "false": "",
            "0": "",
            "cluster": f".{number}",
            "clusterid": f".{number}",
            "jobid": f".{number}.{job.integer('ProcId') or 0}",
        }
        ending = endings.get(self.own_log_ends.lower(), f".{slot}")
        return f"{self.own_log}{ending}" if self.own_log else ""


def read_settings(config: Config, *, version: str, platform: str) -> StarterSettings:
    """Take from the configuration what starters need."""
    value = config.value
    return StarterSettings(
        execute=value(StartdKnobs.EXECUTE),
        log=value(PlaceKnobs.LOG),
        own_log=config.get("STARTER_LOG") or "",
        own_log_ends=config.get("STARTER_LOG_NAME_APPEND") or "",
        version=version,
        platform=platform,
        uid_domain=value(SecurityKnobs.UID_DOMAIN),
        file_system_domain=value(SecurityKnobs.FILESYSTEM_DOMAIN),
        condor_ids=value(PlaceKnobs.CONDOR_IDS),
        bin_directory=value(PlaceKnobs.BIN),
        wrapper=value(StarterKnobs.USER_JOB_WRAPPER),
        renice_expression=config.get("JOB_RENICE_INCREMENT") or "",
        initial_update_interval=value(StarterKnobs.STARTER_INITIAL_UPDATE_INTERVAL),
        update_interval=value(StarterKnobs.STARTER_UPDATE_INTERVAL),
        enable_chirp=value(StarterKnobs.ENABLE_CHIRP),
        chirp_io=value(StarterKnobs.ENABLE_CHIRP_IO),
        chirp_updates=value(StarterKnobs.ENABLE_CHIRP_UPDATES),
        chirp_delayed=value(StarterKnobs.ENABLE_CHIRP_DELAYED),
        chirp_prefix=value(StarterKnobs.CHIRP_DELAYED_UPDATE_PREFIX),
        chirp_max_attributes=value(StarterKnobs.CHIRP_DELAYED_UPDATE_MAX_ATTRS),
        sets_home=value(StarterKnobs.STARTER_SETS_HOME_ENV),
        allows_scripts=_read_scripts_rule(config),
        checks_reactivation=value(StarterKnobs.CHECK_REACTIVATE_AFTER_CHECKPOINT),
        inherits_environment=value(StarterKnobs.JOB_INHERITS_STARTER_ENVIRONMENT),
        job_environment=config.get("STARTER_JOB_ENVIRONMENT") or "",
        affinity=_read_affinity(config),
        accounts=_read_account_rules(config),
        minimum_uid=value(DaemonKnobs.JOB_MINIMUM_UID),
        limits=_read_limit_rules(config),
        private_folders=config.get("MOUNT_UNDER_SCRATCH") or "",
        private_shared_memory=value(StarterKnobs.MOUNT_PRIVATE_DEV_SHM),
        other_executes=tuple(all_folders(config)),
        own_pids=value(StarterKnobs.USE_PID_NAMESPACES),
        own_keyring=value(SecurityKnobs.DISCARD_SESSION_KEYRING_ON_STARTUP),
        ssh_to_job=value(StarterKnobs.ENABLE_SSH_TO_JOB),
        sshd=value(StarterKnobs.SSHD),
        ssh_keygen=value(StarterKnobs.SSH_KEYGEN),
        starter_user_log=value(StarterKnobs.STARTER_USER_LOG),
        java=_read_java(config),
        hooks=read_job_hooks(config),
        transfer_history=config.get("FILE_TRANSFER_STATS_LOG") or "",
        transfer_plugins=PluginRules(
            config.get("FILETRANSFER_PLUGINS") or "",
            float(value(TransferKnobs.MAX_FILE_TRANSFER_PLUGIN_LIFETIME)),
            float(value(TransferKnobs.MY_POPEN_KEEPALIVE_INTERVAL)),
            value(TransferKnobs.LOG_FILETRANSFER_PLUGIN_STDOUT_ON_SUCCESS) or "",
            value(TransferKnobs.LOG_FILETRANSFER_PLUGIN_STDOUT_ON_FAILURE) or "",
        ),
    )


def _read_java(config: Config) -> JavaMachine:
    """Return the configured Java; none where it cannot be read, of which the startd complains."""
    try:
        return read_java(config)
    except ConfigError:
        return JavaMachine()


def _read_scripts_rule(config: Config) -> Expr | None:
    """Return for which jobs scripts run; what does not parse allows none."""
    text = config.get("STARTER_ALLOW_JOB_PRE_AND_POST_CMD")
    if not text:
        return config.value(StarterKnobs.STARTER_ALLOW_JOB_PRE_AND_POST_CMD)
    try:
        return parse_expression(text, old=True)
    except ClassAdSyntaxError:
        return None


def _read_affinity(config: Config) -> AffinityRules:
    lists = {}
    for macro in config.entries():
        found = _SLOT_CORES.fullmatch(macro.name)
        if found is not None:
            lists[int(found[1])] = config.get(macro.name) or ""
    assigns = config.get("ASSIGN_CPU_AFFINITY") or ""
    return AffinityRules(
        # What is most often said is not to cost every job an evaluation.
        "" if assigns.lower() == "false" else assigns,
        bool(config.boolean("ENFORCE_CPU_AFFINITY")),
        lists,
    )


def _read_account_rules(config: Config) -> AccountRules:
    users = {}
    for macro in config.entries():
        upper = macro.name.upper()
        if upper.startswith("SLOT") and upper.endswith("_USER"):
            users[upper[: -len("_USER")].lower()] = config.get(macro.name) or ""
    return AccountRules(
        uid_domain=config.value(SecurityKnobs.UID_DOMAIN),
        trust_uid_domain=config.value(SecurityKnobs.TRUST_UID_DOMAIN),
        allow_run_as_owner=config.value(StarterKnobs.STARTER_ALLOW_RUNAS_OWNER),
        slot_users=users,
        everybody=config.value(StarterKnobs.NOBODY_SLOT_USER),
        dedicated=config.value(StarterKnobs.DEDICATED_EXECUTE_ACCOUNT_REGEXP),
    )


def _read_limit_rules(config: Config) -> LimitRules:
    return LimitRules(
        memory_policy=config.value(StarterKnobs.CGROUP_MEMORY_LIMIT_POLICY),
        hard_expression=config.get("CGROUP_HARD_MEMORY_LIMIT_EXPR") or "",
        soft_expression=config.get("CGROUP_LOW_MEMORY_LIMIT_EXPR") or "",
        disable_swap=config.value(StarterKnobs.DISABLE_SWAP_FOR_JOB),
        watch_policy=config.value(StarterKnobs.JOB_MEMORY_LIMIT_POLICY),
        disk_policy="hard"
        if config.value(StartdKnobs.STARTD_ENFORCE_DISK_LIMITS)
        else config.value(StarterKnobs.JOB_DISK_LIMIT_POLICY),
        always_hold=config.value(StarterKnobs.STARTER_ALWAYS_HOLD_ON_OOM),
        polling_seconds=float(config.value(StarterKnobs.CGROUP_POLLING_INTERVAL)),
        reserved_disk_kib=config.value(StartdKnobs.RESERVED_DISK) * 1024,
        base_group=config.value(StarterKnobs.BASE_CGROUP).strip("/"),
    )
