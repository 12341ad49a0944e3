"""What a seed's pool looks like: its machines, its users, its rules, and the jobs they submit."""

from __future__ import annotations

import random
from dataclasses import dataclass

from kettle.attributes.codes import JobUniverse
from kettle.classad.text import quote_old
from kettle.testing.simulation.users import Wish

# What jobs say of their leases, as expressions; empty for nothing at all.
LEASES = (
    *("2400", "2400", "600", "60", "20", "5", "1", "", "0", "undefined", "-1", '"long"', "1/0"),
    *("time() % 600 + 20", "JobStatus == 2 ? 0 : 600"),
)
LONGEST_LEASE = 2400

# Policies that are true when their job is submitted, or as soon as it runs. Those that hold or
# vacate it do so once: it is to come to its end.
_ONCE_HELD = "(NumHolds ?: 0) < 1"
POLICIES: tuple[dict[str, str], ...] = (
    {"PeriodicHold": _ONCE_HELD},
    {"PeriodicHold": _ONCE_HELD, "PeriodicRelease": "true"},
    {"PeriodicHold": f"JobStatus == 2 && {_ONCE_HELD}", "PeriodicRelease": "true"},
    {"PeriodicRelease": "true"},
    {"PeriodicRemove": "true"},
    {"PeriodicRemove": "true", "PeriodicHold": _ONCE_HELD, "PeriodicRelease": "true"},
    {"PeriodicRemove": "JobStatus == 2"},
    # A job that its policy takes before its program began has only a shadow's start, and one of
    # the scheduler universe only its own.
    {"PeriodicVacate": "JobStatus == 2 && max({NumShadowStarts ?: 0, NumJobStarts ?: 0}) < 2"},
    {"OnExitHold": _ONCE_HELD},
    {"OnExitRemove": "(NumJobCompletions ?: 0) > 1"},
    {"LeaveJobInQueue": "time() - EnteredCurrentStatus < 100"},
)

_PREEMPTION = """\
PREEMPTION_REQUIREMENTS = {requirements}
ALLOW_PSLOT_PREEMPTION = true
RANK = {rank}
MAXJOBRETIREMENTTIME = {retirement}
"""
_GROUPS = """\
GROUP_NAMES = group_a, group_b
GROUP_QUOTA_group_a = 1
GROUP_QUOTA_group_b = 3
GROUP_ACCEPT_SURPLUS = {surplus}
"""
_DATAGRAMS = "UPDATE_COLLECTOR_WITH_TCP = false\n"


@dataclass(frozen=True)
class Shape:
    """A pool before it is built; `users` are names, each with the number of an access point."""

    access_points: int = 1
    execution_points: int = 1
    users: tuple[tuple[str, int], ...] = (("alice", 0),)
    text: str = ""
    groups: bool = False
    # Updates of ads are datagrams, which may be lost, doubled and overtaken.
    datagrams: bool = False
    # Every machine has its own idea of the time.
    skewed: bool = False
    # Whether there is a second pool, with an execution point, to which jobs are flocked.
    flocks: bool = False


def draw_shape(source: random.Random) -> Shape:
    """Draw a pool; half of them are the simple one with a few execution points."""
    execution_points = source.randint(1, 3)
    if source.random() < 0.5:
        return Shape(execution_points=execution_points)
    access_points = source.choice((1, 2))
    users = (("alice", 0), ("bob", access_points - 1))
    preemption, groups, datagrams = (source.random() < share for share in (0.4, 0.4, 0.25))
    text = ""
    if preemption:
        # Two users who may preempt each other at any time would do so for ever.
        requirements, retirement = source.choice((("true", 450), ("false", 0), ("false", 30)))
        text += _PREEMPTION.format(
            requirements=requirements,
            rank=source.choice(("0", 'TARGET.Owner == "bob"')),
            retirement=retirement,
        )
    if groups:
        text += _GROUPS.format(surplus=source.choice(("true", "false")))
    if datagrams:
        text += _DATAGRAMS
    skewed, flocks = source.random() < 0.3, source.random() < 0.15
    return Shape(access_points, execution_points, users, text, groups, datagrams, skewed, flocks)


def draw_wishes(source: random.Random, shape: Shape, user: str) -> list[Wish]:
    """Draw what a user submits: a few jobs of any length, or many short ones."""
    many = source.random() < 0.15
    return [
        _draw_wish(source, shape, user, number, many=many)
        for number in range(source.randint(10, 25) if many else source.randint(1, 8))
    ]


def _draw_wish(source: random.Random, shape: Shape, user: str, number: int, *, many: bool) -> Wish:
    code = source.choice((0, 0, 0, 3))
    wish = Wish(
        f"{user[0]}{number}",
        seconds=source.choice((0.0, 0.5)) if many else source.choice((0.0, 0.5, 5.0, 60.0, 400.0)),
        code=code,
        lease=source.choice(LEASES),
        transfers=source.random() < 0.2,
    )
    wish.spools = wish.transfers and source.random() < 0.4
    kind = source.random() if not wish.transfers else 1.0
    if kind < 0.1:
        wish.procs = source.randint(2, 6)
    elif kind < 0.16:
        wish.more["JobUniverse"] = str(int(JobUniverse.SCHEDULER))
    if shape.groups:
        group = source.choice(("group_a", "group_b"))
        wish.more |= {
            "AccountingGroup": quote_old(f"{group}.{user}"),
            "AcctGroup": quote_old(group),
            "AcctGroupUser": quote_old(user),
        }
    if code and source.random() < 0.3:
        # max_retries = 1
        wish.more |= {
            "JobMaxRetries": "1",
            "OnExitRemove": "NumJobCompletions > JobMaxRetries || ExitCode =?= 0",
        }
    elif source.random() < 0.3:
        policy = source.choice(POLICIES[:-1] if wish.spools else POLICIES)
        wish.more |= policy
        wish.removes_itself = "PeriodicRemove" in policy
    return wish
