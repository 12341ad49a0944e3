"""Who is told how to speak to a workflow that runs."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.schedd.queue.actors import UNKNOWN, Actor
from kettle.schedd.services.dag_contacts import DagContacts
from kettle.wire.codec import Reader, Writer
from unit.schedd.queue_fixture import ALICE, BOB, ROOT, Schedd

DAGMAN, ADDRESS, SECRET = 8, "<10.0.0.3:7>", "session#info#key"
REFUSED = "Not permitted to talk to this job"


def ask(
    actor: Actor = ALICE,
    *,
    proc: int = 0,
    kind: int = DAGMAN,
    status: int = JobStatus.RUNNING,
    universe: int = JobUniverse.SCHEDULER,
    address: str = ADDRESS,
    secret: str = SECRET,
) -> ClassAd:
    """Return the answer to somebody who asks for a workflow of Alice's."""
    pure = Schedd()
    (job,) = pure.submit(JobUniverse=str(int(universe)))
    job.ad["JobStatus"] = int(status)
    job.ad["DAG_Address"] = address
    job = SimpleNamespace(
        id=job.id, ad=job.ad, user=job.user, status=int(status), universe=int(universe)
    )
    question = ClassAd({"ClusterId": job.id.cluster, "ProcId": proc, "ContactDaemonType": kind})
    answers: list[Any] = []

    async def receive() -> Reader:
        return Reader(Writer().ad(question).getvalue())

    async def send(message: Any) -> None:
        answers.append(message.response)

    schedd: Any = SimpleNamespace(
        queue=SimpleNamespace(job=lambda cluster, number: job if number == 0 else None),
        actor=lambda stream: actor,
    )
    stream: Any = SimpleNamespace(receive=receive, send=send)
    asyncio.run(DagContacts(schedd, lambda asked: secret).on_contact_info(stream))
    (answer,) = answers
    assert isinstance(answer, ClassAd)
    return answer


@pytest.mark.parametrize("actor", [ALICE, ROOT])
def test_its_owner_and_super_users_hear_where_it_listens_and_its_secret(actor: Actor) -> None:
    answer = ask(actor)
    told = {name: answer.evaluate(name) for name in answer}
    assert told == {"Result": True, "Permitted": True, "Address": ADDRESS, "Secret": SECRET}


@pytest.mark.parametrize("actor", [BOB, UNKNOWN, Actor("alice@elsewhere", "alice")])
def test_nobody_else_hears_more_than_that(actor: Actor) -> None:
    answer = ask(actor)
    told = {name: answer.evaluate(name) for name in answer}
    assert told == {"Result": False, "Permitted": False, "ErrorString": REFUSED}


@pytest.mark.parametrize(
    ("differently", "why"),
    [
        ({"proc": 1}, "Job not in queue"),
        ({"status": JobStatus.HELD}, "Job is not currently running"),
        ({"kind": 3}, "Unknown ContactDaemonType: 3"),
        ({"universe": JobUniverse.LOCAL}, "Specified job is not scheduler universe"),
        ({"address": ""}, "Job does not have a contact address"),
        ({"secret": ""}, "Job does not have a contact secret"),
    ],
)
def test_why_there_is_nobody_to_speak_to_is_said(differently: dict[str, Any], why: str) -> None:
    answer = ask(**differently)
    assert answer.boolean("Result") is False
    assert answer.string("ErrorString") == why
    assert "Secret" not in answer
