"""What configuration says to the negotiator, read once at each (re)configuration.

The pure rooms see only these values, never the configuration itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kettle.attributes.match_words import MATCH_EXPRESSION
from kettle.classad import Expr
from kettle.classad.parser import is_expression
from kettle.config import Config
from kettle.config.knobs.negotiator import NegotiatorKnobs as Knobs
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.fair_share import PrioritySettings
from kettle.matchmaking.groups import GroupRules, GroupSettings
from kettle.matchmaking.rank import RankSettings
from kettle.matchmaking.slots import HEAVIEST
from kettle.matchmaking.time_limits import TimeLimits

# What startds round before they carve (the reference's MODIFY_REQUEST_EXPR_* knobs).
_ROUNDED = ("Cpus", "Memory", "Disk")


@dataclass(frozen=True, slots=True)
class NegotiatorSettings:
    """Everything the service reads; times in seconds."""

    interval_seconds: float
    cycle_delay_seconds: float
    min_interval_seconds: float
    update_interval_seconds: float
    schedd_timeout_seconds: float
    most_connections: int
    requests_at_a_time: int
    accounting_path: str
    accounting_bytes: int
    advertise_accounting: bool
    slot_constraint: Expr | None
    poolsize_constraint: Expr | None
    submitter_constraint: Expr | None
    job_constraint: Expr | None
    group_sort: Expr | None
    oversubscribe: bool
    weighted_demand: bool
    discount_suspended: bool
    inform_startd: bool
    priorities: PrioritySettings
    cycle: CycleSettings
    time: TimeLimits = field(default_factory=TimeLimits)
    groups: tuple[GroupSettings, ...] = field(default=())
    # What is put into slot ads (NEGOTIATOR_MATCH_EXPRS), as texts by name; None for a knob that is
    # not there or no expression.
    match_expressions: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def group_names(self) -> tuple[str, ...]:
        """The configured groups by name."""
        return tuple(group.name for group in self.groups)


def read_settings(config: Config) -> NegotiatorSettings:
    """Take the negotiator's settings out of a configuration; ConfigError names what is wrong."""
    return NegotiatorSettings(
        interval_seconds=config[Knobs.NEGOTIATOR_INTERVAL],
        cycle_delay_seconds=config[Knobs.NEGOTIATOR_CYCLE_DELAY],
        min_interval_seconds=config[Knobs.NEGOTIATOR_MIN_INTERVAL],
        update_interval_seconds=config[Knobs.NEGOTIATOR_UPDATE_INTERVAL],
        schedd_timeout_seconds=config[Knobs.NEGOTIATOR_TIMEOUT],
        most_connections=config[Knobs.NEGOTIATOR_SOCKET_CACHE_SIZE],
        requests_at_a_time=config[Knobs.NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE],
        accounting_path=config[Knobs.ACCOUNTANT_DATABASE_FILE],
        accounting_bytes=config[Knobs.MAX_ACCOUNTANT_DATABASE_SIZE],
        advertise_accounting=config[Knobs.NEGOTIATOR_ADVERTISE_ACCOUNTING],
        slot_constraint=config[Knobs.NEGOTIATOR_SLOT_CONSTRAINT],
        poolsize_constraint=config[Knobs.NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT],
        submitter_constraint=config[Knobs.NEGOTIATOR_SUBMITTER_CONSTRAINT],
        job_constraint=config[Knobs.NEGOTIATOR_JOB_CONSTRAINT],
        group_sort=config[Knobs.GROUP_SORT_EXPR],
        oversubscribe=config[Knobs.NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION],
        weighted_demand=config[Knobs.NEGOTIATOR_USE_WEIGHTED_DEMAND],
        discount_suspended=config[Knobs.NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES],
        inform_startd=config[Knobs.NEGOTIATOR_INFORM_STARTD],
        priorities=_read_priorities(config),
        cycle=_read_cycle(config),
        time=TimeLimits(
            cycle=config[Knobs.NEGOTIATOR_MAX_TIME_PER_CYCLE],
            submitter=config[Knobs.NEGOTIATOR_MAX_TIME_PER_SUBMITTER],
            schedd=config[Knobs.NEGOTIATOR_MAX_TIME_PER_SCHEDD],
            spin=config[Knobs.NEGOTIATOR_MAX_TIME_PER_PIESPIN],
        ),
        groups=_read_groups(config),
        match_expressions=_read_match_expressions(config),
    )


def _read_match_expressions(config: Config) -> dict[str, str | None]:
    """Read the knobs that NEGOTIATOR_MATCH_EXPRS names, by the names that their values get."""
    found = {}
    for knob in config[Knobs.NEGOTIATOR_MATCH_EXPRS]:
        name = knob if knob.startswith(MATCH_EXPRESSION) else MATCH_EXPRESSION + knob
        text = config.get(knob) or ""
        found[name] = text if is_expression(text) else None
    return found


def _read_priorities(config: Config) -> PrioritySettings:
    return PrioritySettings(
        half_life_seconds=config[Knobs.PRIORITY_HALFLIFE],
        default_factor=float(config[Knobs.DEFAULT_PRIO_FACTOR]),
        nice_user_factor=config[Knobs.NICE_USER_PRIO_FACTOR],
        remote_factor=config[Knobs.REMOTE_PRIO_FACTOR],
        local_domain=config[Knobs.ACCOUNTANT_LOCAL_DOMAIN],
    )


def _read_cycle(config: Config) -> CycleSettings:
    default_limit = float(config[Knobs.CONCURRENCY_LIMIT_DEFAULT])

    def limit_of(name: str) -> float:
        """Return <NAME>_LIMIT, else CONCURRENCY_LIMIT_DEFAULT_<group>, else the default."""
        capacity = config.real(f"{name.replace('.', '_')}_LIMIT".upper())
        if capacity is None and "." in name:
            prefix = name.partition(".")[0]
            capacity = config.real(f"CONCURRENCY_LIMIT_DEFAULT_{prefix}".upper())
        return default_limit if capacity is None else capacity

    rounding = {}
    for resource in _ROUNDED:
        expression = config.expression(f"MODIFY_REQUEST_EXPR_REQUEST{resource.upper()}")
        if expression is not None:
            rounding[resource.lower()] = expression
    return CycleSettings(
        ranks=RankSettings(
            pre_job_rank=config[Knobs.NEGOTIATOR_PRE_JOB_RANK],
            post_job_rank=config[Knobs.NEGOTIATOR_POST_JOB_RANK],
            preemption_requirements=config[Knobs.PREEMPTION_REQUIREMENTS],
            preemption_rank=config[Knobs.PREEMPTION_RANK],
            consider_preemption=config[Knobs.NEGOTIATOR_CONSIDER_PREEMPTION],
            consider_early_preemption=config[Knobs.NEGOTIATOR_CONSIDER_EARLY_PREEMPTION],
        ),
        use_slot_weights=config[Knobs.NEGOTIATOR_USE_SLOT_WEIGHTS],
        rounding=rounding,
        limit_of=limit_of,
        groups=GroupRules(
            rounds=config[Knobs.GROUP_QUOTA_MAX_ALLOCATION_ROUNDS],
            rate=config[Knobs.GROUP_QUOTA_ROUND_ROBIN_RATE],
            oversubscribe=config[Knobs.NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION],
            order=config[Knobs.GROUP_SORT_EXPR],
        ),
        ignore_shares=config[Knobs.NEGOTIATOR_IGNORE_USER_PRIORITIES],
        depth_first=config[Knobs.NEGOTIATOR_DEPTH_FIRST],
        describe_neighbours=config[Knobs.NEGOTIATOR_CROSS_SLOT_PRIOS],
    )


def _read_groups(config: Config) -> tuple[GroupSettings, ...]:
    """Read GROUP_NAMES and the knobs of each group; a quota that is not a number is none."""
    groups = []
    for name in config[Knobs.GROUP_NAMES]:
        static = config.real(f"GROUP_QUOTA_{name}".upper())
        dynamic = config.real(f"GROUP_QUOTA_DYNAMIC_{name}".upper())
        surplus = config.boolean(f"GROUP_ACCEPT_SURPLUS_{name}".upper())
        regroup = config.boolean(f"GROUP_AUTOREGROUP_{name}".upper())
        groups.append(
            GroupSettings(
                name=name,
                # In this order what is no number comes to nothing.
                quota=max(0.0, min(static if static is not None else dynamic or 0.0, HEAVIEST)),
                dynamic=static is None and dynamic is not None,
                accept_surplus=config[Knobs.GROUP_ACCEPT_SURPLUS] if surplus is None else surplus,
                autoregroup=config[Knobs.GROUP_AUTOREGROUP] if regroup is None else regroup,
            )
        )
    return tuple(groups)
