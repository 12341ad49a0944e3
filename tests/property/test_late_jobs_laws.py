"""A job that is made later is the same, wherever the schedd went on after a restart."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import SubmitError
from kettle.schedd.queue.factory import DigestSources
from kettle.submit.digest import encode_items, render_digest
from kettle.submit.materialize import later_jobs
from property.test_many_jobs_laws import COMMANDS, FILES, LISTS, SOMETIMES, TEXTS
from unit.submit.submitting import FACTS, MACHINE, submission

QUEUES = [
    "queue 5",
    "queue 2 item in (0, 1, 2)",
    "queue item,y from (\n1 2\n3 4\n5 6\n7 8\n)",
]
Told = list[tuple[int, int, dict[str, str]]]


def told(digest: str, cluster: ClassAd, items: list[str], skip: int) -> Told:
    """Return the jobs from one on, each with its status and what it has of its own."""
    config = Config.from_text("", facts=MACHINE)
    made = []
    sources = DigestSources("items", items)
    try:
        for plan in later_jobs(digest, cluster, sources, config, FACTS, skip=skip):
            own = {name.lower(): text for name, text in plan.differences}
            made.append((plan.proc, plan.status, own))
    except SubmitError:
        made.append((-1, 0, {}))
    return made


@settings(max_examples=100, deadline=None)
@example(
    [("+Requirements = $CHOICE(Process,list7)", ""), ("cuda_version = $(Process)1", "")],
    "queue 5",
    2,
)
@given(
    st.lists(st.tuples(st.sampled_from(COMMANDS + SOMETIMES), st.sampled_from(TEXTS)), max_size=4),
    st.sampled_from(QUEUES),
    st.integers(1, 4),
)
def test_no_job_shows_where_its_schedd_was_started_again(
    lines: list[tuple[str, str]], queue: str, skip: int
) -> None:
    text = "executable = job.sh\nx = 3\n" + LISTS
    text += "".join(line.replace("{}", value) + "\n" for line, value in lines) + queue + "\n"
    made = submission(text, FILES)
    try:
        statement = made.first_of_later()
        digest = render_digest(made, statement, "items")
    except SubmitError:
        assume(False)
    items = [item.decode().removesuffix("\n") for item in encode_items(statement)]
    cluster = made.cluster_ad()
    whole = told(digest, cluster, items, 0)
    assume((-1, 0, {}) not in whole)
    assert told(digest, cluster, items, skip) == whole[skip:]
