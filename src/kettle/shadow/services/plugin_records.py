"""What a starter reports of its URL plug-ins, on the way to the epoch history.

Which ads are kept is the starter's to say (`transfer.plugin_records`), where they are written the
schedd's. Source: the manual, epoch history: records of kind INPUT, OUTPUT and CHECKPOINT.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.shadow.services.run import Run
from kettle.transfer.plugin_records import TransferClass, split_records
from kettle.wire.messages.shadow_host import TransferRecord


def record_plugins(run: Run, report: ClassAd) -> None:
    """Have the schedd record what a report says of plug-ins; most say nothing."""
    for kind in TransferClass:
        if kind.list_name not in report:
            continue
        files, runs = split_records(report.evaluate(kind.list_name))
        record = ClassAd(
            {"TransferClass": kind.name, kind.list_name: files, kind.invocations_name: runs}
        )
        run.host.tell_schedd(TransferRecord(run.cluster, run.proc, kind.name, record))
