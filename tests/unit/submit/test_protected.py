"""URLs that a map has wait in queues of their own are listed apart."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.submit.materialize import later_jobs
from kettle.submit.protected import read_protected
from kettle.submit.sources import MemorySubmitSources
from unit.submit.submitting import FACTS, MACHINE, jobs_of, submission

MAP = """\
# scheme, beginning, queue
null /data/one alpha
null /data/one/two beta
null /data/star *
http example.org/ Gamma
* any.org/ delta
"null" "/quo ted" eps
null /^reg.*x/ expression
"""
CONFIG = "PROTECTED_URL_TRANSFER_MAPFILE = /etc/protected.map\n"
FILES = {"/etc/protected.map": MAP}
LISTS = "TransferQueueInputList"
PROGRAM = MemorySubmitSources(files={"job.sh": "#!/bin/sh\n"})
APART = "TransferInputFrom_"


def test_the_urls_of_a_map_wait_in_queues_of_their_own() -> None:
    # As HTCondor 25.14.1's condor_submit lists them.
    urls = (
        "plain, null:///data/one/f, null:///data/one/two/g, null:///data/one/two/h, "
        "null:///data/star/i, http://example.org/j, HTTP://example.org/k, https://any.org/l, "
        "null://any.org/m, NULL:///data/one/n, null:///quo ted/o, null:///regxx, null:///data/on"
    )
    made, _ = jobs_of(f"transfer_input_files = {urls}\nqueue\n", files=FILES, config=CONFIG)
    found = {name: text for name, text in made.cluster if name.startswith(("TransferInput", LISTS))}
    found.pop("TransferInputSizeMB")
    assert found == {
        "TransferInput": '"plain,https://any.org/l,null://any.org/m,null:///regxx,null:///data/on"',
        f"{APART}ALPHA": '"null:///data/one/f,NULL:///data/one/n"',
        f"{APART}BETA": '"null:///data/one/two/g,null:///data/one/two/h"',
        f"{APART}EPS": '"null:///quo ted/o"',
        f"{APART}GAMMA": '"http://example.org/j,HTTP://example.org/k"',
        f"{APART}LOCAL": '"null:///data/star/i"',
        LISTS: f"{{ {APART}ALPHA,{APART}BETA,{APART}EPS,{APART}GAMMA,{APART}LOCAL }}",
    }
    requirements = made.cluster.get("Requirements") or ""
    assert all(f'stringListIMember("{one}"' in requirements for one in ("http", "https", "null"))


def test_a_later_job_has_none_of_the_lists_that_are_the_first_ones_alone() -> None:
    items = "null:///data/one/f null:///data/one/two/g other null:///data/one/h"
    text = f"transfer_input_files = plain,$(item)\nqueue in ({items})\n"
    made, jobs = jobs_of(text, files=FILES, config=CONFIG)
    assert made.cluster.get(f"{APART}ALPHA") == '"null:///data/one/f"'
    found = [
        {name: text for name, text in job.differences if name.startswith(("TransferInput", LISTS))}
        for job in jobs
    ]
    assert found == [
        {},
        {
            f"{APART}ALPHA": '""',
            f"{APART}BETA": '"null:///data/one/two/g"',
            LISTS: f"{{ {APART}BETA }}",
        },
        {"TransferInput": '"plain,other"', f"{APART}ALPHA": '""'},
        {f"{APART}ALPHA": '"null:///data/one/h"'},
    ]


def _cluster() -> ClassAd:
    cluster = ClassAd()
    cluster.insert_text("Cmd", '"/work/job.sh"')
    cluster.insert_text("TransferInput", '"plain"')
    cluster.insert_text(f"{APART}ALPHA", '"null:///data/one/0"')
    cluster.insert_text(LISTS, f"{{ {APART}ALPHA }}")
    return cluster


def test_jobs_that_a_schedd_makes_have_the_lists_of_its_map() -> None:
    config = Config.from_text(CONFIG, facts=MACHINE)
    protected = read_protected(config, FILES.__getitem__, print)
    cluster = _cluster()
    digest = (
        "transfer_input_files = plain,null:///data/$(item)\nqueue item in (one/0 star/1 other/2)\n"
    )
    jobs = list(later_jobs(digest, cluster, PROGRAM, config, FACTS, protected=protected))
    assert [job.differences.get(f"{APART}ALPHA") for job in jobs] == [None, '""', '""']
    assert jobs[1].differences.get(f"{APART}LOCAL") == '"null:///data/star/1"'
    assert jobs[2].differences.get("TransferInput") == '"plain,null:///data/other/2"'


def test_a_later_job_that_names_no_files_asks_for_what_its_clusters_lists_need() -> None:
    config = Config.from_text(CONFIG, facts=MACHINE)
    cluster = _cluster()
    digest = "transfer_output_files = o$(Process)\nrequirements = $(Process)\nqueue 2\n"
    jobs = list(later_jobs(digest, cluster, PROGRAM, config, FACTS))
    assert 'stringListIMember("null"' in (jobs[1].differences.get("Requirements") or "")


def test_the_first_of_jobs_that_are_made_later_has_its_lists() -> None:
    text = "executable = job.sh\ntransfer_input_files = null:///data/one/$(Process)\nqueue 2\n"
    made = submission(text, files=FILES, config=CONFIG)
    made.first_of_later()
    assert made.cluster.get(f"{APART}ALPHA") == '"null:///data/one/0"'


def test_a_map_that_cannot_be_read_protects_nothing_and_is_told() -> None:
    text = "transfer_input_files = null:///data/one/f\nqueue\n"
    made, _ = jobs_of(text, config=CONFIG)
    assert made.cluster.get("TransferInput") == '"null:///data/one/f"'
    assert ["PROTECTED_URL_TRANSFER_MAPFILE" in said for said in map(str, made.warnings)] == [True]
