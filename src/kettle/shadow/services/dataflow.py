"""Ending a run at its beginning because the job's output is there already (skip_if_dataflow).

Whether it is, is `transfer.dataflow`'s to say. Nothing is asked of the startd then: the claim is
free for the next job, and the job ends as if its program had ended well.
"""

from __future__ import annotations

from functools import partial

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd
from kettle.records.event_cluster import DataflowJobSkippedEvent
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.shadow.endings import ExitReport
from kettle.shadow.job_updates import texts
from kettle.shadow.services.run import Run
from kettle.transfer.dataflow import is_dataflow_job


async def skip_if_dataflow(run: Run) -> bool:
    """Report the run as ended if its job asks for that and its output is newer than its input."""
    if run.job.boolean("SkipIfDataflow") is not True:
        return False
    # A copy, aside: a look at a file may hang, and the job's ad changes meanwhile.
    skipped = await run.host.aside.run(partial(is_dataflow_job, run.job.copy(), LocalFiles()))
    run.update(texts({"DataflowJobSkipped": skipped}))
    if not skipped:
        return False
    run.log("The job's output is newer than its input: it is not run")
    run.write_event(DataflowJobSkippedEvent())
    run.skipped = run.reusable = True
    run.report = ExitReport(0, int(ShadowExit.EXITED), ClassAd())
    return True
