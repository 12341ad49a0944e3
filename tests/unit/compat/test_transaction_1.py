"""Transactions of version 1 that go wrong: what is committed, and who hears of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.compat import classad, htcondor
from kettle.compat.htcondor import transaction
from kettle.compat.htcondor2.process import PROCESS
from kettle.errors import ConnectionLost

GOOD = "executable = /bin/true\nqueue 2"
# The third of its jobs cannot be made.
BAD = "executable = /bin/true\nrequest_memory = $(memory)\nqueue memory in 1,2,3x"


class Schedd:
    """A schedd's queue, as one connection sees it."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, int]] = []
        self.committed: list[tuple[int, int]] = []
        self.connections = 0
        self.breaks_off = False
        self._clusters = 0

    def connect(self, *_: object) -> Schedd:
        self.connections += 1
        return self

    def __exit__(self, *_: object) -> None:
        self.sent.clear()

    def capabilities(self) -> ClassAd:
        return ClassAd()

    def submit(self, cluster_ad: Any, procs: Any, on_proc: Any) -> tuple[int, int]:
        self._clusters += 1
        cluster_ad(self._clusters)
        proc = 0
        while procs(self._clusters, proc) is not None:
            if self.breaks_off:
                raise ConnectionLost("the schedd closed the connection")
            self.sent.append((self._clusters, proc))
            on_proc(self._clusters, proc)
            proc += 1
        return self._clusters, proc

    def append(self, cluster: int, first: int, procs: Any, on_proc: Any) -> int:
        proc = first
        while procs(cluster, proc) is not None:
            self.sent.append((cluster, proc))
            on_proc(cluster, proc)
            proc += 1
        return proc

    def commit(self, what: str) -> str:
        self.committed += self.sent
        return ""


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path) -> Iterator[None]:
    file = tmp_path / "condor_config"
    file.write_text("LOCAL_DIR = /nowhere\n")
    PROCESS.reload(str(file), {"HOME": str(tmp_path)})
    yield
    PROCESS.reload("/dev/null", {})


@pytest.fixture(name="queue")
def queue_of_the_schedd(monkeypatch: pytest.MonkeyPatch) -> Schedd:
    queue = Schedd()
    monkeypatch.setattr(transaction, "Queue", queue.connect)
    return queue


def schedd() -> htcondor.Schedd:
    """Return a schedd; its queue is the test's."""
    place = {"MyAddress": "<127.0.0.1:1>", "CondorVersion": htcondor.version(), "MyType": "S"}
    return htcondor.Schedd(classad.ClassAd(place))


def test_a_schedd_that_cannot_be_told_to_reschedule_has_the_jobs_all_the_same(
    queue: Schedd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who were told that the submission failed would submit once more."""

    def refuse(_: htcondor.Schedd) -> None:
        raise htcondor.HTCondorIOError("Failed to connect to schedd.")

    monkeypatch.setattr(htcondor.Schedd, "reschedule", refuse)
    with schedd().transaction() as txn:
        cluster = htcondor.Submit(GOOD).queue(txn)
    assert queue.committed == [(cluster, 0), (cluster, 1)]


@pytest.mark.parametrize("how", ["a description", "the connection"])
def test_jobs_that_cannot_be_queued_undo_a_transaction_whose_program_goes_on(
    how: str, queue: Schedd
) -> None:
    def go_on() -> None:
        with schedd().transaction() as txn:
            htcondor.Submit(GOOD).queue(txn)
            queue.breaks_off = how == "the connection"
            with pytest.raises(htcondor.HTCondorException):
                htcondor.Submit(BAD).queue(txn)
            assert not queue.sent
            # Its connection may be out of step: nothing more is said on it.
            queue.breaks_off = False
            with pytest.raises(htcondor.HTCondorIOError, match="none of it"):
                htcondor.Submit(GOOD).queue(txn)

    with pytest.raises(htcondor.HTCondorIOError, match="none of it is in the queue"):
        go_on()
    assert not queue.committed


def test_jobs_that_cannot_be_queued_in_a_part_of_a_transaction_undo_the_whole(
    queue: Schedd,
) -> None:
    place = schedd()

    def go_on() -> None:
        with place.transaction() as txn:
            htcondor.Submit(GOOD).queue(txn)
            with pytest.raises(htcondor.HTCondorException), place.transaction(0, True) as part:
                htcondor.Submit(BAD).queue(part)

    with pytest.raises(htcondor.HTCondorIOError, match="none of it"):
        go_on()
    assert not queue.committed
    # The next one is a new beginning.
    with place.transaction() as txn:
        htcondor.Submit(GOOD).queue(txn)
    assert (len(queue.committed), queue.connections) == (2, 2)


def test_what_ends_a_transaction_is_told_as_it_is(queue: Schedd) -> None:
    with (
        pytest.raises(htcondor.HTCondorInternalError, match="3x"),
        schedd().transaction() as txn,
    ):
        htcondor.Submit(BAD).queue(txn)
    assert not queue.committed


def test_a_description_that_was_just_queued_goes_on_with_its_cluster(queue: Schedd) -> None:
    one = htcondor.Submit({"executable": "/bin/true", "arguments": "$(Process)"})
    ads: list[Any] = []
    with schedd().transaction() as txn:
        made = [one.queue(txn, 2), one.queue(txn), one.queue(txn, 2, ad_results=ads)]
    assert made == [1, 1, 1]
    assert queue.committed == [(1, proc) for proc in range(5)]
    assert [(ad["ProcId"], ad["Args"]) for ad in ads] == [(3, "3"), (4, "4")]


@pytest.mark.parametrize(
    "between",
    [
        {"universe": "local"},
        # Compat: the wheel leaves these jobs in the cluster, of the first one's universe, and
        # makes them all at once.
        {"max_materialize": "1"},
    ],
)
def test_jobs_of_another_kind_have_a_cluster_of_their_own(
    between: dict[str, str], queue: Schedd, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_later(schedd: Schedd, submission: Any) -> tuple[int, int]:
        submission.begin(9)
        submission.first_of_later()
        return 9, 1

    monkeypatch.setattr("kettle.compat.htcondor2.submitting.submit_factory", make_later)
    monkeypatch.setattr(Schedd, "post_attribute", lambda *_: None, raising=False)
    one = htcondor.Submit({"executable": "/bin/true"})
    with schedd().transaction() as txn:
        first = one.queue(txn)
        one.update(between)
        assert one.queue(txn) != first


@pytest.mark.parametrize(
    ("said", "status"),
    [({}, 1), ({"hold": "true"}, 5), ({"+JobStatus": "5"}, 5), ({"MY.HoldReasonCode": "7"}, 1)],
)
def test_a_result_shows_what_the_first_job_begins_as(
    said: dict[str, str], status: int, queue: Schedd
) -> None:
    one = htcondor.Submit({"executable": "/bin/true", **said})
    with schedd().transaction() as txn:
        assert one.queue_with_itemdata(txn).clusterad()["JobStatus"] == status
    assert queue.committed == [(1, 0)]


def test_items_and_other_descriptions_and_transactions_begin_a_cluster(queue: Schedd) -> None:
    one = htcondor.Submit({"executable": "/bin/true"})
    place = schedd()
    with place.transaction() as txn:
        made = [one.queue(txn), one.copy().queue(txn), one.queue(txn)]
        made.append(one.queue_with_itemdata(txn).cluster())
        made += [one.queue(txn), one.queue(txn)]
        one.setQArgs("x in (1, 2)")
        made += [one.queue(txn), one.queue(txn)]
    with place.transaction() as txn:
        one.setQArgs("")
        made.append(one.queue(txn))
    assert made == [1, 2, 3, 4, 5, 5, 6, 7, 8]
