"""What a starter has to know of the configuration, as plain values.

Read once in the zygote, so that a starter, which lives for one job, reads no configuration; only
after a reconfiguration does each read it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kettle.config import Config
from kettle.config.hooks import JobHooks, read_job_hooks
from kettle.starter.account import AccountRules
from kettle.starter.limits import LimitRules
from kettle.transfer.plugins import PluginRules


@dataclass(frozen=True)
class StarterSettings:
    """The knobs of a starter, as plain values. Times are seconds."""

    execute: str = "/tmp/execute"  # noqa: S108 - replaced by EXECUTE of the configuration
    log: str = ""
    uid_domain: str = ""
    file_system_domain: str = ""
    network_interface: str = "127.0.0.1"
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
    inherits_environment: str = ""
    job_environment: str = ""
    accounts: AccountRules = field(default_factory=AccountRules)
    minimum_uid: int = 1
    limits: LimitRules = field(default_factory=LimitRules)
    private_folders: str = ""
    private_shared_memory: bool = True
    ssh_to_job: bool = True
    sshd: str = "/usr/sbin/sshd"
    ssh_keygen: str = "/usr/bin/ssh-keygen"
    lib: str = ""
    starter_user_log: str = ""
    hooks: JobHooks = field(default_factory=JobHooks)
    transfer_plugins: PluginRules = field(default_factory=PluginRules)
    max_lease: int = 2400
    version: str = ""
    platform: str = ""


def read_settings(config: Config, *, version: str, platform: str) -> StarterSettings:
    """Take from the configuration what starters need."""

    def text(name: str, default: str = "") -> str:
        return config.get(name) or default

    def flag(name: str, *, default: bool) -> bool:
        value = config.boolean(name)
        return default if value is None else value

    def number(name: str, default: int) -> int:
        value = config.integer(name)
        return default if value is None else value

    return StarterSettings(
        execute=text("EXECUTE", "/tmp/execute"),  # noqa: S108
        log=text("LOG"),
        version=version,
        platform=platform,
        uid_domain=text("UID_DOMAIN", text("FULL_HOSTNAME")),
        file_system_domain=text("FILESYSTEM_DOMAIN", text("FULL_HOSTNAME")),
        network_interface=text("NETWORK_INTERFACE", "127.0.0.1"),
        condor_ids=text("CONDOR_IDS"),
        bin_directory=text("BIN"),
        wrapper=text("USER_JOB_WRAPPER"),
        renice_expression=text("JOB_RENICE_INCREMENT", "0"),
        initial_update_interval=number("STARTER_INITIAL_UPDATE_INTERVAL", 8),
        update_interval=number("STARTER_UPDATE_INTERVAL", 300),
        enable_chirp=flag("ENABLE_CHIRP", default=True),
        chirp_io=flag("ENABLE_CHIRP_IO", default=True),
        chirp_updates=flag("ENABLE_CHIRP_UPDATES", default=True),
        chirp_delayed=flag("ENABLE_CHIRP_DELAYED", default=True),
        chirp_prefix=text("CHIRP_DELAYED_UPDATE_PREFIX", "Chirp*"),
        chirp_max_attributes=number("CHIRP_DELAYED_UPDATE_MAX_ATTRS", 100),
        sets_home=flag("STARTER_SETS_HOME_ENV", default=True),
        inherits_environment=text("JOB_INHERITS_STARTER_ENVIRONMENT"),
        job_environment=text("STARTER_JOB_ENVIRONMENT"),
        accounts=_read_account_rules(config),
        minimum_uid=number("JOB_MINIMUM_UID", 1),
        limits=_read_limit_rules(config),
        private_folders=text("MOUNT_UNDER_SCRATCH"),
        private_shared_memory=flag("MOUNT_PRIVATE_DEV_SHM", default=True),
        ssh_to_job=flag("ENABLE_SSH_TO_JOB", default=True),
        sshd=text("SSHD", "/usr/sbin/sshd"),
        ssh_keygen=text("SSH_KEYGEN", "/usr/bin/ssh-keygen"),
        starter_user_log=text("STARTER_USER_LOG"),
        hooks=read_job_hooks(config),
        transfer_plugins=PluginRules(
            text("FILETRANSFER_PLUGINS"),
            float(number("MAX_FILE_TRANSFER_PLUGIN_LIFETIME", 72_000)),
            float(number("MY_POPEN_KEEPALIVE_INTERVAL", 60)),
        ),
    )


def _read_account_rules(config: Config) -> AccountRules:
    users = {}
    for macro in config.entries():
        upper = macro.name.upper()
        if upper.startswith("SLOT") and upper.endswith("_USER"):
            users[upper[: -len("_USER")].lower()] = config.get(macro.name) or ""
    return AccountRules(
        uid_domain=config.get("UID_DOMAIN") or config.get("FULL_HOSTNAME") or "",
        trust_uid_domain=config.boolean("TRUST_UID_DOMAIN") is True,
        allow_run_as_owner=config.boolean("STARTER_ALLOW_RUNAS_OWNER") is not False,
        slot_users=users,
        everybody=config.get("NOBODY_SLOT_USER") or "",
        dedicated=config.get("DEDICATED_EXECUTE_ACCOUNT_REGEXP") or "",
    )


def _read_limit_rules(config: Config) -> LimitRules:
    return LimitRules(
        memory_policy=config.get("CGROUP_MEMORY_LIMIT_POLICY") or "hard",
        hard_expression=config.get("CGROUP_HARD_MEMORY_LIMIT_EXPR") or "",
        soft_expression=config.get("CGROUP_LOW_MEMORY_LIMIT_EXPR") or "",
        disable_swap=config.boolean("DISABLE_SWAP_FOR_JOB") is not False,
        disk_policy=config.get("JOB_DISK_LIMIT_POLICY") or "hard",
        always_hold=config.boolean("STARTER_ALWAYS_HOLD_ON_OOM") is not False,
        polling_seconds=float(config.integer("CGROUP_POLLING_INTERVAL") or 5),
        reserved_disk_kib=(config.integer("RESERVED_DISK") or 0) * 1024,
        base_group=(config.get("BASE_CGROUP") or "").strip("/"),
    )
