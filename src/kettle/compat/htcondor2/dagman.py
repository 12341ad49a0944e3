"""`DAGMan`: words to a workflow that runs, through the access it gives to the schedd."""

from __future__ import annotations

import enum
from typing import Final

from kettle.client.daemon import ask_ad
from kettle.compat.classad2 import ClassAd
from kettle.compat.classad2.ads import of_engine, to_engine
from kettle.compat.htcondor2.addresses import sinful_of
from kettle.compat.htcondor2.errors import HTCondorException
from kettle.compat.htcondor2.process import PROCESS
from kettle.compat.htcondor2.schedd import Schedd
from kettle.errors import KettleError
from kettle.wire.commands import Command as WireCommand

_THROTTLES: Final = {
    "max_nodes": "DAGMan_MaxJobs",
    "max_idle": "DAGMan_MaxIdle",
    "max_pre": "DAGMan_MaxPreScripts",
    "max_hold": "DAGMan_MaxHoldScripts",
    "max_post": "DAGMan_MaxPostScripts",
    "max_submits": "DAGMan_MaxSubmitsPerInterval",
}


class _NotTold(Exception):  # noqa: N818 - it says what happened
    """The workflow could not be told anything; its text says why."""


class DAGMan:
    """The DAGMan job of a cluster's number; nothing is asked before the first word."""

    class Command(enum.IntEnum):
        """What a workflow can be told."""

        HALT = 1
        RESUME = 2
        SET_THROTTLES = 3

    class Failure(enum.IntEnum):
        """Why a workflow could not be told anything."""

        OPEN_SOCKET = 1
        SEND_PAYLOAD = 2
        GET_RESULT = 3
        NO_ID = 4
        CONNECT_SCHEDD = 5
        GET_CONTACT = 6
        DENIED = 7

    class ContactInfo:
        """Where a workflow listens, and the secret by which it knows its owner."""

        def __init__(self, addr: str, secret: str) -> None:
            self.addr = addr
            self.secret = secret

    def __init__(self, dag_id: int) -> None:
        if not isinstance(dag_id, int):
            raise TypeError("dag_id must be an integer")
        self._dag_id = dag_id
        self._contact: DAGMan.ContactInfo | None = None

    @property
    def dag_id(self) -> int:
        """The cluster's number."""
        return self._dag_id

    def halt(self, reason: str | None = None, pause: bool | None = None) -> tuple[bool, str]:
        """Have no new nodes started; whether that was done, and a sentence about it."""
        request = ClassAd({"DagCommand": int(self.Command.HALT)})
        if pause is not None:
            request["IsPause"] = pause
        if reason is not None:
            request["HaltReason"] = reason
        return self._say(request, "Paused" if pause else "Halted")

    def resume(self) -> tuple[bool, str]:
        """Have nodes started again; whether that was done, and a sentence about it."""
        return self._say(ClassAd({"DagCommand": int(self.Command.RESUME)}), "Resumed")

    def throttle(self, **kwargs: int) -> ClassAd | str:
        """Set how many nodes and scripts may be under way; the limits in force, or why not.

        Names: max_nodes, max_idle, max_pre, max_hold, max_post, max_submits.
        """
        request = ClassAd({"DagCommand": int(self.Command.SET_THROTTLES)})
        given = {name: kwargs[name] for name in _THROTTLES if kwargs.get(name) is not None}
        if not given:
            return "No valid throttle specified"
        for name, value in given.items():
            request[_THROTTLES[name]] = value
        try:
            answer = self._ask(request)
        except _NotTold as error:
            return str(error)
        limits = ClassAd()
        for name in _THROTTLES.values():
            limits[name] = answer.get(name)
        return limits

    def _say(self, request: ClassAd, done: str) -> tuple[bool, str]:
        try:
            self._ask(request)
        except _NotTold as error:
            return False, str(error)
        return True, f"{done} DAG {self._dag_id}"

    def _ask(self, request: ClassAd) -> ClassAd:
        """Send a request, and once more to where it is by now; _NotTold."""
        answer = None if self._contact is None else self._send(request, self._contact)
        if answer is None:
            self._contact = self._find()
            answer = self._send(request, self._contact)
        if answer is None:
            raise _NotTold("Failed to open socket")
        if not answer.get("Result", False):
            raise _NotTold(str(answer.get("ErrorString", "Unknown")))
        return answer

    def _send(self, request: ClassAd, contact: ContactInfo) -> ClassAd | None:
        """Return the answer, None if nobody is there, or somebody who does not know us."""
        request["Secret"] = contact.secret
        try:
            answer = of_engine(
                ask_ad(
                    PROCESS.connector,
                    sinful_of(contact.addr),
                    WireCommand.DAGMAN_GENERIC,
                    to_engine(request),
                    private=True,
                )
            )
        except KettleError:
            return None
        return answer if answer.get("Trusted", False) else None

    def _find(self) -> ContactInfo:
        """Ask this host's schedd where the workflow listens, and with which secret."""
        try:
            answer = Schedd()._get_dag_contact_info(self._dag_id)  # noqa: SLF001 - one interface
        except HTCondorException as error:
            raise _NotTold(f"Failed to get contact information: {error}") from error
        if not answer.get("Result", False):
            raise _NotTold(str(answer.get("ErrorString", "Unknown")))
        return DAGMan.ContactInfo(str(answer["Address"]), str(answer["Secret"]))
