"""Recorded conversations of real clients with a real schedd, repeated with ours.

What the client said is sent again byte for byte, after our own handshake in place of the recorded
in-line authentication; what ours answers is compared with what the real one answered. Times and
addresses differ, and so does what the recorded pool had counted before.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from kettle.classad import ClassAd
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.service import ScheddService
from kettle.testing.world import World, WorldDaemon, run_in_world
from kettle.wire.codec import Reader, Writer
from kettle.wire.commands import Command
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call, Reply

VECTORS = Path(__file__).parent.parent / "data" / "vectors" / "daemons"

# Not the same in two runs, or counted over the pool's past.
_DIFFERS = frozenset(("ServerTime", "TotalJobAds", "QDate", "EnteredCurrentStatus", "AdCount"))

Schedd = WorldDaemon[ScheddService]


class Recording:
    """One recorded connection without its authentication."""

    def __init__(self, file: str, number: int = 0) -> None:
        data = json.loads((VECTORS / f"{file}.json").read_text())
        connection = data["connections"][number]
        self.command = Command[connection["command"]]
        messages = connection["messages"]
        self.steps: list[tuple[bool, bytes]] = [
            (each["dir"] == "client->server", _payload(each)) for each in messages
        ]
        if self.command.force_authentication:
            # Command and methods, the server's choice, the folder, the client's word, the result.
            del self.steps[:5]
        else:
            first = self.steps[0][1]
            self.steps[0] = (True, first[8:])


def _payload(message: dict[str, Any]) -> bytes:
    return b"".join(bytes.fromhex(packet["payload"]) for packet in message["packets"])


def play(folder: Path, scenario: Callable[[World, Schedd, Runtime], Awaitable[None]]) -> None:
    """Run a scenario against a schedd of its own."""

    async def main(world: World) -> None:
        schedd = await world.start("SCHEDD", ScheddService, "MAX_JOBS_RUNNING = 1000\n")
        await scenario(world, schedd, world.client("tester@here"))

    run_in_world(folder, main)


async def repeat(
    client: Runtime, schedd: Schedd, recording: Recording
) -> list[tuple[bytes, Reader]]:
    """Say what the recorded client said; returns pairs of recorded and our answers."""
    stream = await client.network.connect(
        schedd.network.address, recording.command, force_authentication=True
    )
    # Our handshake may encrypt; the recorded bytes are those of the clear form.
    answers: list[tuple[bytes, Reader]] = []
    for from_client, body in recording.steps:
        if from_client:
            await stream.send(_rewritten(stream, body, recording.command))
        else:
            reader = await stream.receive()
            answers.append((body, reader))
    stream.close()
    return answers


def _rewritten(stream: Stream, body: bytes, command: Command) -> Writer:
    """Return a recorded message for a stream that may be encrypted, where strings have lengths."""
    writer = stream.writer()
    if not stream.encrypted:
        return writer.raw(body)
    reader = Reader(body)
    if command in {Command.QMGMT_WRITE_CMD, Command.QMGMT_READ_CMD}:
        calls.read_request(reader).write(writer)
    elif len(body) == 8:
        writer.integer(reader.integer())
    else:
        writer.ad(reader.ad())
    return writer


def ad_of(reader: Reader) -> dict[str, str]:
    """Return an ad's attributes but for those that cannot be the same."""
    ad = reader.ad()
    return {name: ad.text(name) or "" for name in ad if name not in _DIFFERS}


def same_ads(pairs: list[tuple[bytes, Reader]], *, tidy: Callable[[str], str] = str) -> None:
    """Compare answers that are one ad or one integer each."""
    for recorded, ours in pairs:
        if len(recorded) == 8:
            assert ours.integer() == Reader(recorded).integer()
            continue
        expected = {name: tidy(text) for name, text in ad_of(Reader(recorded)).items()}
        assert {name: tidy(text) for name, text in ad_of(ours).items()} == expected


async def submit(client: Runtime, schedd: Schedd, count: int, **more: str) -> int:
    """Submit a cluster as condor_submit would."""
    stream = await client.network.connect(
        schedd.network.address, Command.QMGMT_WRITE_CMD, force_authentication=True
    )

    async def call(request: Call) -> Reply:
        writer = stream.writer()
        request.write(writer)
        await stream.send(writer)
        return request.read_answer(await stream.receive())

    cluster = (await call(calls.NewCluster())).value
    shared = {"Owner": "undefined", "Cmd": '"/bin/true"', "JobUniverse": "5", **more}
    for name, text in shared.items():
        stream.post(calls.SetAttribute2(cluster, -1, text, name, 2))
    for _ in range(count):
        await call(calls.NewProc(cluster))
    assert (await call(calls.CommitTransactionNoFlags())).value == 0
    stream.close()
    return cluster


def test_a_recorded_submission_gets_the_recorded_answers(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        pairs = await repeat(client, schedd, Recording("qmgmt_submit_vanilla"))
        same_ads(pairs)
        (job,) = schedd.service.queue.jobs.values()
        assert job.ad.string("Cmd") == "/tmp/qmtest/job.sh"
        assert job.ad.string("Args") == "5"
        assert job.ad.string("User") == "tester@here"
        assert job.ad.integer("RequestMemory") == 64

    play(tmp_path, scenario)


def test_recorded_edits_get_the_recorded_answers(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        await submit(client, schedd, 1)
        await submit(client, schedd, 3)
        same_ads(await repeat(client, schedd, Recording("qmgmt_qedit", 0)))
        same_ads(await repeat(client, schedd, Recording("qmgmt_qedit", 1)))
        job = schedd.service.queue.job(2, 1)
        assert job is not None
        assert (job.ad.integer("Foo"), job.ad.string("Bar"), job.ad.integer("Baz")) == (17, "x", 3)

    play(tmp_path, scenario)


def test_recorded_actions_get_the_recorded_answers(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        # The recorded pool had run cluster 1 before, and 2 is what is acted on.
        schedd.service.queue.take_cluster_number()
        await submit(client, schedd, 3)
        for file, count in (("act_hold", 2), ("act_release", 1), ("act_remove", 3)):
            for number in range(count):
                same_ads(
                    await repeat(client, schedd, Recording(file, number)),
                    # Our tester is nobody's super user, as the recorded one was not.
                    tidy=str,
                )

    play(tmp_path, scenario)


def test_a_query_of_an_empty_queue_gets_the_recorded_summary(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        same_ads(await repeat(client, schedd, Recording("query_jobs_empty")))

    play(tmp_path, scenario)


def test_a_limited_query_gets_the_recorded_ads_and_counts(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        schedd.service.queue.take_cluster_number()
        await submit(client, schedd, 3)
        same_ads(await repeat(client, schedd, Recording("act_hold", 1)))
        same_ads(await repeat(client, schedd, Recording("query_jobs_limit")))

    play(tmp_path, scenario)


def test_a_query_for_autoclusters_gets_the_recorded_groups(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        same_ads(await repeat(client, schedd, Recording("qmgmt_submit_vanilla")))
        job = schedd.service.queue.job(1, 0)
        assert job is not None
        schedd.service.queue.update(job.id, {"JobStatus": "5"})
        ((recorded, ours), *others) = await repeat(client, schedd, Recording("query_autoclusters"))
        # The recorded schedd remembered a group whose job was gone; ours has it while it has jobs,
        # whatever their status, which the reference counts, too.
        alive = {"JobCount": "1", "JobIds": '"1.0"'}
        assert ad_of(ours) == ad_of(Reader(recorded)) | alive
        same_ads(others)

    play(tmp_path, scenario)


def finish(schedd: Schedd, **more: object) -> None:
    """Let the queue's only job have ended."""
    (job,) = schedd.service.queue.jobs.values()
    schedd.service.queue.update(job.id, {"JobStatus": "2"})
    schedd.service.scheduler.on_shadow_exited(
        job.id, 100, dict(ClassAd(more).own_texts()), reusable=False
    )


def test_history_is_streamed_as_recorded(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        for _ in range(6):
            schedd.service.queue.take_cluster_number()
        await submit(client, schedd, 1)
        finish(schedd, ExitCode=0)
        await asyncio.sleep(1)  # Its record is on disk, and the job is out of the queue.
        same_ads(await repeat(client, schedd, Recording("history_streamed", 0)))

    play(tmp_path, scenario)


def test_history_in_one_message_is_as_recorded(tmp_path: Path) -> None:
    async def scenario(world: World, schedd: Schedd, client: Runtime) -> None:
        await submit(client, schedd, 1)
        finish(schedd)
        await asyncio.sleep(1)
        ((recorded, ours),) = await repeat(client, schedd, Recording("history_unstreamed_python"))
        expected = Reader(recorded)
        for _ in range(2):
            assert ad_of(ours) == ad_of(expected)
        assert ours.remaining == expected.remaining == 0

    play(tmp_path, scenario)
