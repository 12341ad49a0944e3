"""What may go wrong, and when: a table of troubles, and a plan drawn from a seed."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kettle.testing.simulation.administrators import drain, end_drain
from kettle.testing.simulation.disk import PLENTY, SYNC_SECONDS, SimulatedDisk
from kettle.testing.simulation.processes import SimulatedProcess
from kettle.testing.simulation.shapes import LEASES
from kettle.testing.simulation.users import (
    CONTINUE,
    HOLD,
    RELEASE,
    REMOVE,
    SUSPEND,
    VACATE,
    VACATE_FAST,
)
from kettle.wire.messages.claims import DrainCompletion, DrainHowFast

if TYPE_CHECKING:
    from kettle.testing.simulation.pool import SimulatedPool

# When troubles happen, in seconds; after the last one everything is mended.
TROUBLED_SECONDS = 900.0
# How long what was planned for the next act of somebody may still happen.
LAST_SECONDS = 120.0
# An absence shorter than any lease, as much of it as is left when a contact breaks off.
_SHORTEST_SECONDS = 10.0


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


def _daemons(pool: SimulatedPool) -> list[SimulatedProcess]:
    """Return what lives but is no job: nothing while all machines are without power."""
    return [each for each in pool.table.living() if not each.name.startswith("job ")]


def _few(source: random.Random) -> int:
    """Draw how many acts a doomed process has left: mostly few, so that it dies while at work."""
    return min(int(source.expovariate(1 / source.choice((2, 10, 60)))), 300)


def _kill_at_act(pool: SimulatedPool, source: random.Random) -> str:
    """Kill somebody just before one of the next writes, syncs, renames or messages."""
    found = _daemons(pool)
    if not found:
        return ""
    process, acts = source.choice(found), _few(source)
    process.doom(acts, SimulatedProcess.kill)
    return f"{process.name} (pid {process.pid}) on {process.machine} is killed after {acts} acts"


def _kill_newborn(pool: SimulatedPool, source: random.Random) -> str:
    """Kill the next one of a kind at one of its first acts."""
    name, acts = source.choice(("condor_shadow", "condor_starter", "condor_submit")), _few(source)
    pool.table.doom_next(name, acts, SimulatedProcess.kill)
    return f"the next {name} is killed after {acts} acts"


def _cut_power_at_act(pool: SimulatedPool, source: random.Random) -> str:
    """Cut a machine's power just before one of the next acts of somebody on it."""
    found = _daemons(pool)
    if not found:
        return ""
    process, acts = source.choice(found), _few(source)
    seconds = source.choice((5.0, 60.0, 600.0))
    machine = pool.machine(process.machine)

    def end(_: SimulatedProcess) -> None:
        machine.lose_power()
        pool.later(seconds, machine.regain_power)

    process.doom(acts, end)
    return (
        f"{machine.name} loses its power after {acts} acts of {process.name} (pid {process.pid}), "
        f"for {seconds:g} seconds"
    )


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


def _kill_all_daemons(pool: SimulatedPool, source: random.Random) -> str:
    """Kill all daemons of an execution point, and if nobody comes back for long all programs, too.

    What hides there would be ended by the next startd, but who says that it comes within a lease?
    """
    machine = source.choice(pool.execution_points)
    if not machine.up:
        return ""
    seconds = source.choice((2.0, 15.0, 600.0))
    spares = seconds < _SHORTEST_SECONDS
    machine.lose_daemons(and_programs=not spares)
    pool.later(seconds, machine.regain_power)
    what = "everything but programs" if spares else "everything"
    return f"{what} on {machine.name} is killed, for {seconds:g} seconds"


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
    ways = {(one.address, other.address), (other.address, one.address)}
    return _lose(pool, source, ways, f"{one.name} and {other.name} do not hear each other")


def _part_one_way(pool: SimulatedPool, source: random.Random) -> str:
    one, other = source.sample(pool.machines, 2)
    return _lose(pool, source, {(one.address, other.address)}, f"{other.name} misses {one.name}")


def _lose(pool: SimulatedPool, source: random.Random, ways: set[tuple[str, str]], what: str) -> str:
    pool.hub.weather.lost |= ways
    seconds = source.choice((1.0, 30.0, 400.0, 3000.0))
    pool.later(seconds, lambda: pool.hub.mend(ways))
    return f"{what} for {seconds:g} seconds"


def _cut_at_message(pool: SimulatedPool, source: random.Random) -> str:
    pieces = pool.hub.weather.pieces_to_cut = 1 + _few(source)
    return f"a connection is cut instead of the {pieces}th message from now on"


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


def _choose_disks(pool: SimulatedPool, source: random.Random) -> tuple[list[SimulatedDisk], str]:
    """Choose a machine's disk; an access point's users may have one of their own, or the same."""
    machine = source.choice(pool.machines)
    if machine not in pool.access_points:
        return [machine.disk], f"the disk of {machine.name}"
    return source.choice(
        (
            ([machine.disk], f"the spool of {machine.name}"),
            ([machine.home], f"the disk of {machine.name}'s users"),
            ([machine.disk, machine.home], f"the disk of {machine.name}"),
        )
    )


def _fill_disk(pool: SimulatedPool, source: random.Random) -> str:
    disks, name = _choose_disks(pool, source)
    room = source.choice((0, 0, source.randrange(300), source.randrange(20_000)))
    for disk in disks:
        disk.room = room

    def make_room() -> None:
        for disk in disks:
            disk.room = PLENTY

    seconds = source.uniform(1, 200)
    pool.later(seconds, make_room)
    return f"{name} has {room} bytes left for {seconds:.0f} seconds"


def _break_disk(pool: SimulatedPool, source: random.Random) -> str:
    disks, name = _choose_disks(pool, source)
    seconds = source.choice((0.1, 2.0, 60.0))
    number, what = errno.EIO, "synced"
    if source.random() < 0.5:
        number, what = source.choice((errno.EIO, errno.EROFS)), "written"
    for disk in disks:
        if what == "written":
            disk.write_error = number
        else:
            disk.sync_error = number

    def mend() -> None:
        for disk in disks:
            disk.write_error = disk.sync_error = 0

    pool.later(seconds, mend)
    return f"{name} cannot be {what} for {seconds:g} seconds"


def _slow_disk(pool: SimulatedPool, source: random.Random) -> str:
    disk = (machine := source.choice(pool.machines)).disk
    low = source.choice((0.3, 2.0, 15.0))
    disk.sync_seconds = (low, 2 * low)

    def mend() -> None:
        disk.sync_seconds = SYNC_SECONDS

    seconds = source.uniform(5, 200)
    pool.later(seconds, mend)
    return f"a sync on {machine.name} takes {low:g} seconds and more, for {seconds:.0f} seconds"


def _jump(pool: SimulatedPool, source: random.Random) -> str:
    seconds = source.choice((-3600.0, -30.0, 30.0, 7200.0))
    machines = source.choice((pool.machines, [source.choice(pool.machines)]))
    for machine in machines:
        machine.set_clock(seconds)
    whose = machines[0].name if len(machines) == 1 else "every machine"
    return f"the clock of {whose} jumps by {seconds:g} seconds"


def _act(action: int, name: str) -> Callable[[SimulatedPool, random.Random], str]:
    def happen(pool: SimulatedPool, source: random.Random) -> str:
        wishes = [(user, wish) for user, wish in pool.wishes() if wish.acknowledged]
        if not wishes:
            return ""
        user, wish = source.choice(wishes)
        user.act(action, wish)
        return f"{name} {wish.name}"

    return happen


def _edit_lease(pool: SimulatedPool, source: random.Random) -> str:
    """Have a user change a job's lease, most often while it runs."""
    wishes = [(user, wish) for user, wish in pool.wishes() if wish.acknowledged]
    if not wishes:
        return ""
    user, wish = source.choice(wishes)
    lease = source.choice(LEASES) or "undefined"
    user.edit(wish, "JobLeaseDuration", lease)
    return f"the lease of {wish.name} becomes {lease}"


def _ask_to_leave(pool: SimulatedPool, source: random.Random) -> str:
    """Ask a daemon to shut down, which is started again as one that died."""
    found = [
        (machine, subsystem)
        for machine in pool.machines
        for subsystem in machine.daemons
        if machine.service(subsystem) is not None
    ]
    if not found:
        return ""
    machine, subsystem = source.choice(found)
    how = source.choice(("graceful", "fast"))
    machine.stop(subsystem, how)
    return f"{subsystem} of {machine.name} is asked to leave: {how}"


def _reconfigure(pool: SimulatedPool, source: random.Random) -> str:
    machine = source.choice(pool.machines)
    for subsystem in machine.daemons:
        machine.reconfigure(subsystem)
    return f"{machine.name} is reconfigured"


def _drain(pool: SimulatedPool, source: random.Random) -> str:
    """Drain an execution point; one that would stay drained for ever is freed after a while."""
    machine = source.choice(pool.execution_points)
    how_fast, then = source.choice(tuple(DrainHowFast)), source.choice(tuple(DrainCompletion))
    seconds = source.choice((1.0, 60.0, 300.0))
    drain(machine, how_fast, then)
    pool.later(seconds, partial(end_drain, pool, machine))
    what = f"{how_fast.name.lower()}, then {then.name.lower()}"
    return f"{machine.name} is drained: {what}; for {seconds:g} seconds at most"


TROUBLES = (
    Trouble("kill schedd", 4, _kill("SCHEDD")),
    Trouble("kill startd", 4, _kill("STARTD")),
    Trouble("kill collector", 2, _kill("COLLECTOR")),
    Trouble("kill negotiator", 2, _kill("NEGOTIATOR")),
    Trouble("kill shadow host", 4, _kill_child("condor_shadow")),
    Trouble("kill starter", 4, _kill_child("condor_starter")),
    Trouble("kill startd and starters", 2, _kill_startd_and_starters),
    Trouble("kill all daemons", 3, _kill_all_daemons),
    Trouble("kill at an act", 10, _kill_at_act),
    Trouble("kill a newborn", 6, _kill_newborn),
    Trouble("cut power", 3, _cut_power),
    Trouble("cut power at an act", 4, _cut_power_at_act),
    Trouble("part", 4, _part),
    Trouble("part one way", 3, _part_one_way),
    Trouble("cut connections", 4, _cut_connections),
    Trouble("cut at a message", 4, _cut_at_message),
    Trouble("slow down", 2, _slow_down),
    Trouble("fill disk", 3, _fill_disk),
    Trouble("break disk", 3, _break_disk),
    Trouble("slow disk", 2, _slow_disk),
    Trouble("jump", 2, _jump),
    Trouble("hold", 2, _act(HOLD, "hold")),
    Trouble("release", 2, _act(RELEASE, "release")),
    Trouble("remove", 1, _act(REMOVE, "remove")),
    Trouble("vacate", 1, _act(VACATE, "vacate")),
    Trouble("vacate fast", 1, _act(VACATE_FAST, "vacate at once")),
    Trouble("suspend", 1, _act(SUSPEND, "suspend")),
    Trouble("continue", 1, _act(CONTINUE, "continue")),
    Trouble("edit lease", 2, _edit_lease),
    Trouble("ask to leave", 4, _ask_to_leave),
    Trouble("reconfigure", 1, _reconfigure),
    Trouble("drain", 2, _drain),
)


def draw(source: random.Random) -> list[tuple[float, Trouble]]:
    """Draw what happens when, in order; mostly a few troubles, sometimes many close together."""
    count = source.choice((0, 1, 1, 2, 2, 3, 4, 6, 10))
    weights = [trouble.weight for trouble in TROUBLES]
    span = source.choice((20.0, 120.0, TROUBLED_SECONDS))
    moments = sorted(source.uniform(0.0, span) for _ in range(count))
    return [(moment, source.choices(TROUBLES, weights)[0]) for moment in moments]


def end_all(pool: SimulatedPool) -> None:
    """Forget what was planned and has not happened; what is broken mends itself in time."""
    pool.table.spare_all()
    pool.hub.weather.pieces_to_cut = -1
    pool.hub.loss = pool.hub.repeated = 0.0
