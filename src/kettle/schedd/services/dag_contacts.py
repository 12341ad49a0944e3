"""GET_CONTACT_INFO: where a running workflow of a user's listens, and by what it knows the user.

condor_dagman takes commands (halt, resume, throttles) from whoever has the text of the session that
it was started with. Source: the reference's command and its answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import GetContactInfo, GetContactInfoReply

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.parts import Schedd

# The one kind of program that is asked for, by its number among the daemons.
_DAGMAN: Final = 8
_ADDRESS: Final = "DAG_Address"


class DagContacts:
    """The handler; `secret_of` is by what a running job knows its user."""

    def __init__(self, schedd: Schedd, secret_of: Callable[[Job], str]) -> None:
        self._schedd = schedd
        self._secret_of = secret_of

    def register(self) -> None:
        """Answer the command."""
        self._schedd.runtime.network.register(Command.GET_CONTACT_INFO, self.on_contact_info)

    async def on_contact_info(self, stream: Stream) -> None:
        """Answer with the workflow's address and its secret, or why there is none."""
        request = GetContactInfo.read(await stream.receive()).request
        cluster, proc = request.integer("ClusterId"), request.integer("ProcId")
        job = self._schedd.queue.job(cluster or 0, -1 if proc is None else proc)
        permitted = job is not None and self._schedd.actor(stream).may_change(job.user)
        answer = ClassAd({"Result": False, "Permitted": permitted})
        if job is None:
            answer["ErrorString"] = "Job not in queue"
        elif not permitted:
            answer["ErrorString"] = "Not permitted to talk to this job"
        else:
            answer.update(self._find(job, request.integer("ContactDaemonType")))
        await stream.send(GetContactInfoReply(answer))

    def _find(self, job: Job, kind: int | None) -> ClassAd:
        address = job.ad.string(_ADDRESS)
        secret = self._secret_of(job)
        if job.status != JobStatus.RUNNING:
            why = "Job is not currently running"
        elif kind != _DAGMAN:
            why = f"Unknown ContactDaemonType: {kind}"
        elif job.universe != JobUniverse.SCHEDULER:
            why = "Specified job is not scheduler universe"
        elif not address:
            why = "Job does not have a contact address"
        elif not secret:
            why = "Job does not have a contact secret"
        else:
            return ClassAd({"Result": True, "Address": address, "Secret": secret})
        return ClassAd({"ErrorString": why})
