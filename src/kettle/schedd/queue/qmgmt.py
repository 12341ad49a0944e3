"""The queue management protocol: one connection, one request message after the other.

`Connection.handle` takes a request apart, changes the connection's transaction or reads through it,
and says what is answered. It performs nothing: the shell sends the answer, waits for the disk
before it sends one that is `durable`, and closes where told. What is said about new jobs is served
by `qmgmt_submitting`, about queued ones by `qmgmt_edits`, of the transaction's end by
`qmgmt_commits` and to who only asks by `qmgmt_reading`; the transaction is `qmgmt_changes`'.
Source: wire notes, Schedd queue management (R046, R065, R069).
"""

# ruff: noqa: SLF001 - the tables at the end name methods of the one class here
from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Protocol

from kettle.classad import ClassAd
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.schedd.queue import qmgmt_submitting
from kettle.schedd.queue.actors import Actor
from kettle.schedd.queue.item_intake import ItemIntake
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.qmgmt_answers import CLOSE, SILENCE, Answer, Steps, code
from kettle.schedd.queue.qmgmt_changes import Changes
from kettle.schedd.queue.qmgmt_commits import COMMITTING, ENDING, Commits
from kettle.schedd.queue.qmgmt_edits import EDITING, Edits
from kettle.schedd.queue.qmgmt_reading import READING, Reading, SlotOf
from kettle.schedd.queue.qmgmt_submitting import SUBMITTING, Submitting
from kettle.schedd.queue.transaction import Change
from kettle.schedd.settings import QueueSettings
from kettle.transfer.plan import is_url
from kettle.wire.codec import Reader
from kettle.wire.messages import qmgmt as calls
from kettle.wire.messages.rpc import Call

_SET_ATTRIBUTE2 = 10027

# The bit of GetCapabilities that asks for texts too.
_WITH_HELP_TEXT = 1


class Spool(qmgmt_submitting.Spool, Protocol):
    """Where a submission's files are kept, and what explains how to submit."""

    def read_help(self, path: str) -> str:
        """Return the text that explains the schedd's own submit commands, empty without one."""


def _nobody(_: Sequence[Change]) -> None:
    return None


def _silent(_: str) -> None:
    return None


class Connection:
    """One client's dialogue with the queue."""

    def __init__(
        self,
        queue: JobQueue,
        actor: Actor,
        settings: QueueSettings,
        *,
        writable: bool,
        now: Callable[[], int],
        spool: Spool,
        edited: Callable[[Sequence[Change]], object] = _nobody,
        slot_of: SlotOf = lambda job: None,  # noqa: ARG005
        own_ad: Callable[[], ClassAd] = ClassAd,
        tell: Callable[[str], object] = _silent,
        monotonic: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`edited` is told what a client changed in jobs that are already queued.

        `own_ad` is the schedd's own, for conditions that speak of it; `tell` is its log, and
        `monotonic` counts the seconds of what takes long.
        """
        self._settings = settings
        self._spool = spool
        may_write = writable and actor.known
        self.changes = changes = Changes(queue, actor, settings, may_write=may_write)
        self.submitting = Submitting(changes, now, spool, tell)
        self.edits = Edits(changes, now)
        self.commits = Commits(changes, now, edited, own_ad, tell, monotonic)
        self.reading = Reading(queue, changes, actor, now, slot_of, expands=may_write)

    def handle(self, request: Reader) -> Answer:
        """Serve one request; RemoteProtocolError costs the connection."""
        changes = self.changes
        changes.check_not_cut_off()
        op = request.integer()
        if op == _SET_ATTRIBUTE2:
            return changes.take_attribute(request)
        kind = calls.CALLS.get(op)
        if kind is None or (kind not in _HANDLERS and kind not in READING):
            raise RemoteProtocolError(f"queue management has no operation {op}")
        call = kind.read(request)
        if kind in _WRITING and not changes.may_write:
            return Answer(call.answer(-1, errno=errno.EACCES))
        try:
            if kind in READING:
                return READING[kind](self.reading, call)
            part, serve = _HANDLERS[kind]
            answer = serve(part(self), call)
            changes.check_size()
        except RefusedError as refusal:
            return Answer(call.answer(-1, errno=refusal.code))
        if answer.steps is not None:
            return Answer(steps=self._go_on(call, answer.steps))
        return answer

    def _go_on(self, call: Call, steps: Steps) -> Steps:
        """Do long work step by step, refused as short work is."""
        while True:
            self.changes.check_not_cut_off()
            try:
                next(steps)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            except RefusedError as refusal:
                return Answer(call.answer(-1, errno=refusal.code))
            self.changes.check_size()
            yield

    @property
    def has_uncommitted(self) -> bool:
        """Whether hanging up now would lose changes."""
        return bool(self.changes.transaction)

    @property
    def spooled(self) -> set[int]:
        """New clusters, also of what came to nothing, that may have files in the spool."""
        return self.submitting.spooled

    def begin_items(self, begun: Reader) -> ItemIntake:
        """Serve item rows of which only the beginning has come; they are given to what returns."""
        self.changes.check_not_cut_off()
        begun.integer()
        return self.submitting.begin_items(calls.SendMaterializeData.read(begun))

    # -- who it is, and what there is -------------------------------------------------------

    def _on_close(self, _call: Call) -> Answer:
        return CLOSE

    def _on_obsolete(self, _call: Call) -> Answer:
        return SILENCE

    def _on_set_effective_owner(self, call: calls.SetEffectiveOwner) -> Answer:
        name = call.owner.partition("@")[0]
        if not name or name == self.changes.actor.owner:
            self.changes.act_as(self.changes.actor)
        elif self.changes.actor.super_user:
            user = call.owner if "@" in call.owner else f"{name}@{self._settings.uid_domain}"
            self.changes.act_as(self.changes.actor.acting_for(user, name))
        else:
            return code(-1, errno.EACCES)
        return code(0)

    def _on_allow_protected(self, call: calls.SetAllowProtectedAttrChanges) -> Answer:
        before = int(self.changes.protected_allowed)
        self.changes.allow_protected(allowed=self.changes.actor.super_user and call.allow != 0)
        return code(before)

    def _on_get_capabilities(self, call: calls.GetCapabilities) -> Answer:
        late = self._settings.late_materialize
        ad = ClassAd({"UseJobsets": False, "LateMaterialize": late})
        if late:
            ad["LateMaterializeVersion"] = 2
        if len(self._settings.extended_commands):
            ad["ExtendedSubmitCommands"] = self._settings.extended_commands
        explained = self._settings.extended_help
        if explained and call.mask & _WITH_HELP_TEXT and not is_url(explained):
            ad["ExtendedSubmitHelp"] = self._spool.read_help(explained)
        elif explained:
            ad["ExtendedSubmitHelpFile"] = explained
        return Answer(call.answer(result=ad))

    def _on_unsupported(self, _call: Call) -> Answer:
        # Sets of jobs are not kept; the capabilities say so.
        return code(-1, errno.ENOSYS)


def _itself(connection: Connection) -> Connection:
    return connection


_PLAIN: dict[type[Call], Callable[[Connection, Any], Answer]] = {
    calls.InitializeConnection: Connection._on_obsolete,
    calls.InitializeReadOnlyConnection: Connection._on_obsolete,
    calls.GetCapabilities: Connection._on_get_capabilities,
    calls.CloseSocket: Connection._on_close,
}

_OWN_WRITING: dict[type[Call], Callable[[Connection, Any], Answer]] = {
    calls.SetEffectiveOwner: Connection._on_set_effective_owner,
    calls.SetAllowProtectedAttrChanges: Connection._on_allow_protected,
    calls.SendJobQueueAd: Connection._on_unsupported,
}

# Operations that need an authenticated client on a write connection.
_WRITING = {*_OWN_WRITING, *SUBMITTING, *EDITING, *COMMITTING}

# By operation, what serves it and how.
_HANDLERS: dict[type[Call], tuple[Callable[[Connection], Any], Callable[[Any, Any], Answer]]] = {
    kind: (part, serve)
    for part, table in (
        (_itself, _PLAIN),
        (_itself, _OWN_WRITING),
        (attrgetter("submitting"), SUBMITTING),
        (attrgetter("edits"), EDITING),
        (attrgetter("commits"), ENDING),
        (attrgetter("commits"), COMMITTING),
    )
    for kind, serve in table.items()
}
