"""Jobs that are given to another manager of theirs, and taken back.

Source: wire notes, EXPORT_JOBS.
"""

from __future__ import annotations

from collections.abc import Sequence

from kettle.classad import ClassAd
from kettle.client.connector import Connector
from kettle.client.daemon import ask_ad
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful


def export_jobs(
    connector: Connector,
    address: Sinful,
    *,
    ids: Sequence[str] = (),
    constraint: str = "",
    folder: str,
    spool: str = "",
) -> ClassAd:
    """Have the schedd write jobs into a folder and leave them to another manager.

    Returns its answer, which has ActionResult 1 if all went well. Jobs are named by `ids`, or by
    `constraint` where there are none.
    """
    request = _choose(ids, constraint)
    request["ExportDir"] = folder
    if spool:
        request["NewSpoolDir"] = spool
    return ask_ad(connector, address, Command.EXPORT_JOBS, request)


def import_results(connector: Connector, address: Sinful, folder: str) -> ClassAd:
    """Have the schedd take back jobs with what has become of them; return its answer."""
    request = ClassAd({"ExportDir": folder})
    return ask_ad(connector, address, Command.IMPORT_EXPORTED_JOB_RESULTS, request)


def unexport_jobs(
    connector: Connector, address: Sinful, *, ids: Sequence[str] = (), constraint: str = ""
) -> ClassAd:
    """Have the schedd take back jobs as it gave them away; return its answer."""
    return ask_ad(connector, address, Command.UNEXPORT_JOBS, _choose(ids, constraint))


def _choose(ids: Sequence[str], constraint: str) -> ClassAd:
    if ids:
        return ClassAd({"ActionIds": ",".join(ids)})
    request = ClassAd()
    request.insert_text("ActionConstraint", constraint or "true")
    return request
