"""The commands about user records: query, enable, disable, edit, reset, delete."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError, StorageError
from kettle.runtime import tasks
from kettle.schedd.queue import user_records
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import (
    ActOnUserRecords,
    ActOnUserRecordsReply,
    QueryUserRecords,
    QueryUserRecordsReply,
)

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.services.ads import ScheddAds
    from kettle.schedd.services.parts import Schedd

_ACTIONS = (
    Command.ENABLE_USERREC,
    Command.DISABLE_USERREC,
    Command.EDIT_USERREC,
    Command.RESET_USERREC,
    Command.DELETE_USERREC,
)


class UserCommands:
    """Handlers of user records."""

    def __init__(self, schedd: Schedd, ads: ScheddAds) -> None:
        self._schedd = schedd
        self._ads = ads
        self._network = schedd.runtime.network
        self._queue = schedd.queue
        self._journal = schedd.journal

    def register(self) -> None:
        """Answer the commands."""
        network = self._network
        network.register(Command.QUERY_USERREC_ADS, self.on_query)
        for command in _ACTIONS:
            network.register(command, self.on_act)

    async def on_query(self, stream: Stream) -> None:
        """Answer with all records that are meant, and a summary, in one message."""
        query = QueryUserRecords.read(await stream.receive()).query
        self._ads.look_at_users()
        records = user_records.look(self._queue, query, self._add_recent_use)
        looked = await tasks.choose_in_turns(records, _is_there)
        found = [ad for ad in looked if ad is not None]
        summary = ClassAd({"MyType": "Summary", "TotalUserAds": len(found), "TotalProjectAds": 0})
        await stream.send(QueryUserRecordsReply([*found, summary]))

    def _add_recent_use(self, user: str, ad: ClassAd) -> None:
        self._schedd.statistics.recent_use.publish(user, ad, self._schedd.now())

    async def on_act(self, stream: Stream) -> None:
        """Change records, all or none."""
        requests = ActOnUserRecords.read(await stream.receive()).records
        transaction = self._queue.transaction()
        count, attributes = 0, 0
        try:
            for request in requests:
                more, changed = user_records.plan_act(
                    transaction, self._queue, stream.command, request
                )
                count, attributes = count + more, attributes + changed
            self._queue.commit_asked(transaction, tasks.report)
        except KettleError as error:
            code = error.code if isinstance(error, RefusedError) else 2
            if isinstance(error, StorageError):
                code = errno.ENOSPC
            refused = {"Result": code or 22, "NumAds": 0, "ErrorString": error.message}
            await stream.send(ActOnUserRecordsReply(ClassAd(refused)))
            return
        await self._journal.flush()
        done = ClassAd({"Result": 0, "NumAds": count})
        if stream.command == Command.EDIT_USERREC:
            done["NumAttributesSet"] = attributes
        await stream.send(ActOnUserRecordsReply(done))


def _is_there(ad: ClassAd | None) -> bool:
    return ad is not None
