"""Jobs of a description that was read, put into a schedd's queue: by tools and programs.

What the description means is `kettle.submit`'s; what is shown meanwhile is the caller's.
"""

from __future__ import annotations

from kettle.attributes.codes import JobUniverse
from kettle.client.queue import Queue
from kettle.errors import SubmitError
from kettle.submit.build import Submission


def check_universe(universe: int | None) -> None:
    """Raise SubmitError for jobs that no pool of Kettle's runs, however well they are described.

    Compat: the reference takes parallel jobs, which wait for machines under a dedicated schedd; the
    seeds want them refused (S011, test_a_parallel_job_is_described_and_refused).
    """
    if universe == JobUniverse.PARALLEL:
        raise SubmitError("ERROR: 'Parallel' is not a supported universe.")


def submit_factory(queue: Queue, submission: Submission) -> tuple[int, int]:
    """Submit a cluster whose jobs the schedd makes later; returns its number and their count."""
    from kettle.submit.digest import encode_items, render_digest
    from kettle.wire.messages import qmgmt

    cluster = queue.new_cluster()
    submission.begin(cluster)
    statement = submission.first_of_later()
    check_universe(submission.cluster_ad().integer("JobUniverse"))
    count = submission.job_count
    most = submission.materialize_limit() or count
    if statement.items is None:
        digest = render_digest(submission, statement, "")
        queue.ask(qmgmt.SetJobFactory(cluster, most, "", digest), "Failed to set job factory")
    else:
        queue.set_factory(
            cluster,
            encode_items(statement),
            most,
            lambda name, _rows: render_digest(submission, statement, name),
        )
    queue.post_attribute(cluster, -1, "ClusterId", str(cluster))
    for name, text in submission.cluster:
        if name.lower() != "clusterid":
            queue.post_attribute(cluster, -1, name, text)
    queue.post_attribute(cluster, -1, "TotalSubmitProcs", str(count))
    return cluster, count
