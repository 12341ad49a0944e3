"""User and project records of a schedd: read, made, changed, forgotten.

Source: wire notes, User records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.jobs import QUERY_SECONDS, check_summary
from kettle.wire.commands import Command
from kettle.wire.messages.queue_queries import (
    ActOnUserRecords,
    ActOnUserRecordsReply,
    QueryUserRecords,
    QueryUserRecordsReply,
)
from kettle.wire.sinful import Sinful


def query_records(
    connector: Connector,
    address: Sinful,
    *,
    constraint: str = "",
    projection: Iterable[str] = (),
    limit: int = -1,
    kind: str = "",
) -> list[ClassAd]:
    """Return the records that the constraint is true for; `kind` is Owner, if empty, or Project.

    A negative `limit` is none. Raises RefusedError, and ClassAdSyntaxError for a constraint that
    is none.
    """
    query = ClassAd()
    if constraint:
        query.insert_text("Requirements", constraint, check=True)
    names = list(projection)
    if names:
        query["Projection"] = "\n".join(names)
    if limit >= 0:
        query["LimitResults"] = limit
    if kind:
        query["TargetType"] = kind
    command = Command.QUERY_USERREC_ADS
    with connector.connect(
        address, command, timeout=QUERY_SECONDS, force_authentication=True
    ) as stream:
        stream.send(QueryUserRecords(query))
        found = QueryUserRecordsReply.read(stream.receive()).ads
    for ad in found:
        if ad.string("MyType") == "Summary":
            check_summary(ad)
    return [ad for ad in found if ad.string("MyType") != "Summary"]


def act_on_records(
    connector: Connector, address: Sinful, command: Command, records: Sequence[ClassAd]
) -> ClassAd:
    """Enable, disable, edit or delete the records that each ad names; return what came of it."""
    with connector.connect(
        address, command, timeout=QUERY_SECONDS, force_authentication=True
    ) as stream:
        stream.send(ActOnUserRecords(list(records)))
        return ActOnUserRecordsReply.read(stream.receive()).response
