"""What a cluster's jobs have in common travels once, and each shadow has its whole ad."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.schedd import kept_ads as sending
from kettle.shadow.services import kept_ads as keeping
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.shadow_host import (
    DropAd,
    HostMessage,
    KeepAd,
    SignalShadow,
    StartShadow,
    read_host_message,
)

SLOT = ClassAd({"Name": "slot1@ep", "Memory": 1024})


class Ends:
    """Both halves, and all words between them."""

    def __init__(self) -> None:
        self.sent = sending.KeptAds()
        self.kept = keeping.KeptAds()
        self.words: list[str] = []

    def tell(self, message: HostMessage) -> None:
        """Take one word as the host reads it."""
        if isinstance(message, KeepAd):
            self.kept.keep(message)
        elif isinstance(message, DropAd):
            self.kept.drop(message)

    def start(self, cluster: int, job: ClassAd) -> tuple[StartShadow, keeping.CommonAd | None]:
        """Return a job's start as it comes out at the host."""
        message = StartShadow(cluster, 0, "<1.2.3.4:5>", job, SLOT)
        words = self.sent.words_for(message)
        self.words = [type(word).__name__ for word in words]
        for word in words:
            writer = Writer()
            word.write(writer)
            read = read_host_message(Reader(writer.getvalue()))
            self.tell(read)
            if isinstance(read, StartShadow):
                return read, self.kept.complete(read)
        raise AssertionError("the start itself is missing")


def chained(cluster: ClassAd, **own: object) -> ClassAd:
    """Return a job's ad."""
    return ClassAd({"ClaimId": "<1.2.3.4:5>#1#1#secret", **own}, parent=cluster)


def test_a_clusters_ad_is_sent_once_and_every_job_has_all_of_it() -> None:
    ends = Ends()
    cluster = ClassAd({"Cmd": "/bin/true", "Iwd": "/tmp", "RequestCpus": 1})
    for proc in range(3):
        job = chained(cluster, ProcId=proc, RequestCpus=2)
        start, _ = ends.start(1, job)
        assert ends.words == (["StartShadow"] if proc else ["KeepAd", "StartShadow"])
        assert start.job == job
        assert start.job.integer("RequestCpus") == 2


def test_a_cluster_that_changed_is_sent_anew_and_older_shadows_go_on_with_what_they_had() -> None:
    ends = Ends()
    cluster = ClassAd({"Cmd": "/bin/true", "JobPrio": 1})
    before, _ = ends.start(1, chained(cluster))
    cluster["JobPrio"] = 2
    after, _ = ends.start(1, chained(cluster))
    assert ends.words == ["DropAd", "KeepAd", "StartShadow"]
    assert (before.job.integer("JobPrio"), after.job.integer("JobPrio")) == (1, 2)


def test_a_host_keeps_so_many_ads_and_no_more() -> None:
    ends = Ends()
    clusters = [ClassAd({"Number": number}) for number in range(sending.MOST_KEPT + 1)]
    for number, cluster in enumerate(clusters):
        ends.start(number, chained(cluster))
    assert ends.words == ["DropAd", "KeepAd", "StartShadow"]
    ends.start(1, chained(clusters[1]))
    assert ends.words == ["StartShadow"]
    ends.start(0, chained(clusters[0]))
    assert ends.words == ["DropAd", "KeepAd", "StartShadow"]


def test_a_slots_ad_travels_with_a_job_that_asks_for_something_of_it_alone() -> None:
    ends = Ends()
    cluster = ClassAd({"Cmd": "/bin/true"})
    assert len(ends.start(1, chained(cluster))[0].slot) == 0
    asking = chained(cluster, Arguments="$$(Memory)")
    assert ends.start(1, asking)[0].slot == SLOT
    limited = chained(cluster)
    limited.insert_text("MaxTransferInputMB", "TARGET.Memory / 2")
    assert ends.start(1, limited)[0].slot == SLOT
    limited.insert_text("MaxTransferInputMB", "100")
    assert len(ends.start(1, limited)[0].slot) == 0
    assert ends.start(2, chained(ClassAd({"Cmd": "$$(Cmd)"})))[0].slot == SLOT


def test_an_ad_written_upon_its_common_lines_is_read_as_the_whole_one() -> None:
    ends = Ends()
    cluster = ClassAd({"Cmd": "/bin/true", "Environment": "A=1", "TransferKey": "of all"})
    start, common = ends.start(1, chained(cluster, Environment="A=2"))
    assert common is not None
    own = start.job.copy()
    own.parent = None
    upon = Writer().ad_upon(common.lines, own).getvalue()
    whole = Writer().ad(start.job, private=True).getvalue()
    assert Reader(upon).ad() == Reader(whole).ad()


def test_other_words_pass_as_they_are() -> None:
    word = SignalShadow(1, 0, "Remove")
    assert sending.KeptAds().words_for(word) == [word]
