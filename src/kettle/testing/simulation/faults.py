"""What may go wrong, and when: a table of troubles, and a plan drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kettle.testing.simulation.users import HOLD, RELEASE, REMOVE

if TYPE_CHECKING:
    from kettle.testing.simulation.pool import SimulatedPool

# When troubles happen, in seconds; after the last one everything is mended.
TROUBLED_SECONDS = 900.0


@dataclass(frozen=True)
class Trouble:
    """One kind of trouble; `weight` says how often, next to the others, it is drawn."""

    name: str
    weight: int
    happen: Callable[[SimulatedPool, random.Random], str]


def _kill(subsystem: str) -> Callable[[SimulatedPool, random.Random], str]:
    def happen(pool: SimulatedPool, source: random.Random) -> str:
        machines = [each for each in pool.machines if subsystem in each.daemons and each.up]
        if not machines:
            return ""
        machine = source.choice(machines)
        process = machine.daemons[subsystem]
        if not process.alive:
            return ""
        process.kill()
        return f"{subsystem} of {machine.name} is killed"

    return happen


def _kill_child(title: str) -> Callable[[SimulatedPool, random.Random], str]:
    def happen(pool: SimulatedPool, source: random.Random) -> str:
        found = [each for each in pool.table.living() if each.name.startswith(title)]
        if not found:
            return ""
        process = source.choice(found)
        process.kill()
        return f"{process.name} (pid {process.pid}) on {process.machine} is killed"

    return happen


def _kill_startd_and_starters(pool: SimulatedPool, source: random.Random) -> str:
    machine = source.choice(pool.execution_points)
    victims = [
        each
        for each in pool.table.living(machine.name)
        if each.name == "STARTD" or each.name.startswith("condor_starter")
    ]
    for process in victims:
        process.kill()
    return f"startd and starters of {machine.name} are killed" if victims else ""


def _cut_power(pool: SimulatedPool, source: random.Random) -> str:
    machine = source.choice(pool.machines)
    if not machine.up:
        return ""
    machine.lose_power()
    seconds = source.choice((5.0, 60.0, 600.0, 4000.0))
    pool.later(seconds, machine.regain_power)
    return f"{machine.name} has no power for {seconds:g} seconds"


def _part(pool: SimulatedPool, source: random.Random) -> str:
    one, other = source.sample(pool.machines, 2)
    pair = frozenset((one.address, other.address))
    pool.hub.weather.parted.add(pair)
    seconds = source.choice((1.0, 30.0, 400.0, 3000.0))
    pool.later(seconds, lambda: pool.hub.mend(pair))
    return f"{one.name} and {other.name} do not hear each other for {seconds:g} seconds"


def _cut_connections(pool: SimulatedPool, source: random.Random) -> str:
    cables = sorted(pool.hub.cables, key=lambda cable: cable.number)
    cut = [cable for cable in cables if source.random() < 0.5]
    for cable in cut:
        cable.reset()
    return f"{len(cut)} connections are cut" if cut else ""


def _slow_down(pool: SimulatedPool, source: random.Random) -> str:
    weather = pool.hub.weather
    low = source.uniform(0.01, 1.0)
    usual, weather.latency = weather.latency, (low, low * 4)

    def recover() -> None:
        weather.latency = (0.0002, 0.003)

    pool.later(source.uniform(5, 120), recover)
    return f"the network takes {low:.2f} seconds and more, not {usual[0]:g}"


def _fill_disk(pool: SimulatedPool, source: random.Random) -> str:
    machine = source.choice(pool.machines)
    machine.disk.full = True

    def make_room() -> None:
        machine.disk.full = False

    seconds = source.uniform(1, 200)
    pool.later(seconds, make_room)
    return f"the disk of {machine.name} is full for {seconds:.0f} seconds"


def _jump(pool: SimulatedPool, source: random.Random) -> str:
    seconds = source.choice((-3600.0, -30.0, 30.0, 7200.0))
    pool.clock.set_forward += seconds
    return f"every clock jumps by {seconds:g} seconds"


def _act(action: int, name: str) -> Callable[[SimulatedPool, random.Random], str]:
    def happen(pool: SimulatedPool, source: random.Random) -> str:
        wishes = [wish for wish in pool.user.wishes if wish.acknowledged]
        if not wishes:
            return ""
        wish = source.choice(wishes)
        pool.user.act(action, wish)
        return f"{name} {wish.name}"

    return happen


TROUBLES = (
    Trouble("kill schedd", 4, _kill("SCHEDD")),
    Trouble("kill startd", 4, _kill("STARTD")),
    Trouble("kill collector", 2, _kill("COLLECTOR")),
    Trouble("kill negotiator", 2, _kill("NEGOTIATOR")),
    Trouble("kill shadow host", 4, _kill_child("condor_shadow")),
    Trouble("kill starter", 4, _kill_child("condor_starter")),
    Trouble("kill startd and starters", 2, _kill_startd_and_starters),
    Trouble("cut power", 3, _cut_power),
    Trouble("part", 4, _part),
    Trouble("cut connections", 4, _cut_connections),
    Trouble("slow down", 2, _slow_down),
    Trouble("fill disk", 2, _fill_disk),
    Trouble("jump", 1, _jump),
    Trouble("hold", 2, _act(HOLD, "hold")),
    Trouble("release", 2, _act(RELEASE, "release")),
    Trouble("remove", 1, _act(REMOVE, "remove")),
)


def draw(source: random.Random) -> list[tuple[float, Trouble]]:
    """Draw what happens when, in order; mostly a few troubles, sometimes many close together."""
    count = source.choice((0, 1, 1, 2, 2, 3, 4, 6, 10))
    weights = [trouble.weight for trouble in TROUBLES]
    span = source.choice((20.0, 120.0, TROUBLED_SECONDS))
    moments = sorted(source.uniform(0.0, span) for _ in range(count))
    return [(moment, source.choices(TROUBLES, weights)[0]) for moment in moments]
