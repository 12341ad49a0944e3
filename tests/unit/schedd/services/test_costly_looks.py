"""What a stranger's expression costs at each job is counted in time: others have their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from types import SimpleNamespace
from typing import Any

from kettle.runtime import tasks
from kettle.schedd import beside as pure
from kettle.schedd.queue.qmgmt_answers import Steps
from kettle.schedd.service import ScheddService
from kettle.schedd.services import beside
from kettle.schedd.services.beside import BesideJobs
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call
from unit.schedd.queue_fixture import Schedd

# About what one evaluation of a row of attributes takes that has no end.
COSTLY = 0.3


class Costly:
    """A loop on whose clock each look takes long, and whoever else wants a turn."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looks = 0
        # How many looks there were, whenever others had their turn.
        self.turns: list[int] = []

    def look(self, *_: object) -> bool:
        self.looks += 1
        self.now += COSTLY
        return False

    async def _others(self) -> None:
        while True:
            self.turns.append(self.looks)
            await asyncio.sleep(0)

    def during(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        async def both() -> Any:
            asyncio.get_running_loop().time = lambda: self.now  # type: ignore[method-assign]
            others = asyncio.ensure_future(self._others())
            await asyncio.sleep(0)
            result = await work()
            others.cancel()
            return result

        return asyncio.run(both())


def test_a_turn_of_long_work_is_so_long_however_few_steps_it_has() -> None:
    costly = Costly()

    def steps() -> Iterator[None]:
        for _ in range(4):
            costly.look()
            yield

    costly.during(lambda: tasks.in_turns(steps(), 100))
    assert costly.turns == [0, 1, 2, 3, 4]
    chosen = costly.during(lambda: tasks.choose_in_turns([1, 2, 3], lambda n: not costly.look(n)))
    assert chosen == [1, 2, 3]
    assert costly.turns[-4:] == [4, 5, 6, 7]


def test_the_periodic_policy_of_a_user_s_jobs_lets_others_have_their_turn() -> None:
    """500 of them were looked at in one piece."""
    schedd, costly = Schedd(), Costly()
    schedd.submit(5)
    service: Any = SimpleNamespace(queue=schedd.queue)
    costly.during(lambda: ScheddService._look_at(service, [1], costly.look))  # type: ignore[arg-type]
    assert costly.turns == [0, 1, 2, 3, 4, 5]


def test_each_look_of_a_request_by_constraint_is_a_step() -> None:
    """All jobs of the queue were looked at before others had their turn."""
    schedd = Schedd()
    schedd.submit(5)
    connection = schedd.client().connection

    def steps_of(call: Call) -> int:
        writer = Writer()
        call.write(writer)
        answer = connection.handle(Reader(writer.getvalue()))
        assert answer.steps is not None
        return sum(1 for _ in through(answer.steps))

    def through(steps: Steps) -> Iterator[None]:
        yield from steps

    assert steps_of(calls.GetJobByConstraint("ProcId > 7")) == 5
    assert steps_of(calls.GetNextJobByConstraint(1, "ProcId > 7")) == 5
    assert steps_of(calls.GetNextDirtyJobByConstraint(1, "ProcId > 7")) == 5


def test_jobs_beside_the_schedd_whose_requirements_are_costly_keep_nobody_waiting(
    monkeypatch: Any,
) -> None:
    schedd, costly = Schedd(), Costly()
    schedd.submit(5, JobUniverse="12")
    monkeypatch.setattr("kettle.schedd.beside._may_start", costly.look)
    monkeypatch.setattr(beside, "read_free_kib", lambda _: 1)
    monkeypatch.setattr(beside, "execute_folder", lambda _: "/")
    monkeypatch.setattr(pure, "schedd_as_machine", lambda *_: SimpleNamespace(update=id))
    shell: Any = SimpleNamespace(
        _schedd=SimpleNamespace(
            queue=schedd.queue, now=lambda: 1000, runtime=SimpleNamespace(config=None)
        ),
        _stopping=False,
        _cleared=True,
        _looking=False,
        _looks_again=False,
        _allowed={},
    )
    for name in ("_start_all", "_start_each", "_go_on_starting", "_read_free_kib"):
        setattr(shell, name, getattr(BesideJobs, name).__get__(shell))

    async def look() -> None:
        shell._start_all()
        # Who asks meanwhile has a look of its own behind this one.
        shell._start_all()
        for _ in range(20):
            await asyncio.sleep(0)

    costly.during(look)
    assert costly.looks == 10
    assert {1, 2, 3, 4, 5}.issubset(costly.turns)
    assert not shell._looking
