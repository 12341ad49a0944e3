"""Collector updates, invalidations and queries.

Every update command has the same content, every query the same answer, so the classes are few and
the command is given beside the message: `UPDATES`, `INVALIDATIONS` and `QUERIES` map the commands
to the ad types. Keys, tables and expiry are decided in `collector`. Source: wire notes,
Collector protocol.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.wire.codec import Reader
from kettle.wire.commands import Command
from kettle.wire.messages.fields import Message, ad, flagged_ads, integer, optional
from kettle.wire.similar_ads import AlikeAds

UPDATES: dict[Command, str] = {
    Command.UPDATE_STARTD_AD: "Machine",
    Command.UPDATE_STARTD_AD_WITH_ACK: "Machine",
    Command.MERGE_STARTD_AD: "Machine",
    Command.UPDATE_SCHEDD_AD: "Scheduler",
    Command.UPDATE_SUBMITTOR_AD: "Submitter",
    Command.UPDATE_OWN_SUBMITTOR_AD: "Submitter",
    Command.UPDATE_MASTER_AD: "DaemonMaster",
    Command.UPDATE_CKPT_SRVR_AD: "CkptServer",
    Command.UPDATE_COLLECTOR_AD: "Collector",
    Command.UPDATE_LICENSE_AD: "License",
    Command.UPDATE_STORAGE_AD: "Storage",
    Command.UPDATE_NEGOTIATOR_AD: "Negotiator",
    Command.UPDATE_HAD_AD: "HAD",
    Command.UPDATE_GRID_AD: "Grid",
    Command.UPDATE_ACCOUNTING_AD: "Accounting",
    Command.UPDATE_AD_GENERIC: "Generic",
}
"""The type of the ads each update command brings; the ad's own MyType decides where it is finer."""

INVALIDATIONS: dict[Command, str] = {
    Command.INVALIDATE_STARTD_ADS: "Machine",
    Command.INVALIDATE_SCHEDD_ADS: "Scheduler",
    Command.INVALIDATE_SUBMITTOR_ADS: "Submitter",
    Command.INVALIDATE_MASTER_ADS: "DaemonMaster",
    Command.INVALIDATE_CKPT_SRVR_ADS: "CkptServer",
    Command.INVALIDATE_COLLECTOR_ADS: "Collector",
    Command.INVALIDATE_LICENSE_ADS: "License",
    Command.INVALIDATE_STORAGE_ADS: "Storage",
    Command.INVALIDATE_NEGOTIATOR_ADS: "Negotiator",
    Command.INVALIDATE_HAD_ADS: "HAD",
    Command.INVALIDATE_GRID_ADS: "Grid",
    Command.INVALIDATE_ACCOUNTING_ADS: "Accounting",
    Command.INVALIDATE_ADS_GENERIC: "Generic",
}
"""The type of the ads each invalidation withdraws."""

QUERIES: dict[Command, str] = {
    Command.QUERY_STARTD_ADS: "Machine",
    Command.QUERY_STARTD_PVT_ADS: "MachinePrivate",
    Command.QUERY_SCHEDD_ADS: "Scheduler",
    Command.QUERY_SUBMITTOR_ADS: "Submitter",
    Command.QUERY_MASTER_ADS: "DaemonMaster",
    Command.QUERY_CKPT_SRVR_ADS: "CkptServer",
    Command.QUERY_COLLECTOR_ADS: "Collector",
    Command.QUERY_LICENSE_ADS: "License",
    Command.QUERY_STORAGE_ADS: "Storage",
    Command.QUERY_NEGOTIATOR_ADS: "Negotiator",
    Command.QUERY_HAD_ADS: "HAD",
    Command.QUERY_GRID_ADS: "Grid",
    Command.QUERY_ACCOUNTING_ADS: "Accounting",
    Command.QUERY_GENERIC_ADS: "Generic",
    Command.QUERY_ANY_ADS: "Any",
    Command.QUERY_MULTIPLE_ADS: "",
    Command.QUERY_MULTIPLE_PVT_ADS: "",
}
"""The type each query asks for; the two multiple ones name theirs in TargetType."""


class Update(Message, command=Command.UPDATE_STARTD_AD):
    """An update of any update command: the ad, and for slots an optional private ad.

    Secrets that stand in the public ad travel too; the collector moves them to the private table.
    """

    public: ClassAd = ad(private=True)
    private: ClassAd | None = optional(ad(private=True))

    @classmethod
    def read_alike(cls, reader: Reader, ads: AlikeAds) -> Update:
        """Read an update as `read` does, where many are like those that `ads` has read."""
        public = ads.read(reader)
        private = reader.ad() if reader.remaining else None
        reader.finish()
        return cls(public, private)


class UpdateAcknowledged(Message, answers=Command.UPDATE_STARTD_AD_WITH_ACK):
    """The reply to UPDATE_STARTD_AD_WITH_ACK, the only update that has one."""

    code: int = integer(default=1)


class Invalidate(Message, command=Command.INVALIDATE_STARTD_ADS):
    """A withdrawal: {MyType "Query", TargetType, Requirements, [Name, Machine, MyAddress...]}."""

    query: ClassAd = ad()


class Query(Message, command=Command.QUERY_STARTD_ADS):
    """A query of any query command: {Requirements, Projection, LimitResults, TargetType, ...}."""

    query: ClassAd = ad()


class QueryReply(Message, answers=Command.QUERY_STARTD_ADS):
    """All ads found, in one message."""

    ads: list[ClassAd] = flagged_ads()


class PrivateQueryReply(Message, answers=Command.QUERY_STARTD_PVT_ADS):
    """All ads found with their secrets, in one message."""

    ads: list[ClassAd] = flagged_ads(private=True)
