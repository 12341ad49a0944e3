"""A transaction reads as if it were committed, whatever was changed in whichever order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd, is_expression
from kettle.records import queue_log
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.transaction import Transaction


class Committed:
    """What is in the queue: cluster 1 with jobs 1.0 and 1.1."""

    def __init__(self) -> None:
        self.cluster = ClassAd()
        self.cluster.insert_text("Shared", "1")
        self.cluster.insert_text("Both", "2")
        self.ads = {"01.-1": self.cluster}
        for proc in (0, 1):
            ad = ClassAd(parent=self.cluster)
            ad.insert_text("Own", str(10 + proc))
            ad.insert_text("Both", str(20 + proc))
            self.ads[f"1.{proc}"] = ad

    def ad(self, key: str) -> ClassAd | None:
        return self.ads.get(key)


def open_one() -> Transaction:
    return Transaction(Committed())


def test_without_changes_it_reads_what_is_there() -> None:
    one = open_one()
    assert not one
    assert [one.text(1, 0, name) for name in ("own", "Both", "shared", "None")] == [
        "10",
        "20",
        "1",
        None,
    ]
    assert one.text(1, -1, "Both") == "2"
    assert one.text(9, 0, "Own") is None
    assert one.exists("1.0")
    assert not one.exists("1.7")


def test_texts_of_peers_become_one_line_each() -> None:
    one = open_one()
    one.update("1.0", {"RemotePool": '"a\nb"', "Own": None})
    one.update_alike([JobId(1, 0)], {"HoldReason": '"c\nd"'})
    data = queue_log.encode_changes(one.changes, one.alike).decode()
    assert '103 1.0 RemotePool "a b"\n' in data
    assert '103 1.0 HoldReason "c d"\n' in data


@given(st.text(alphabet='-019.e"\\\0\nx ', max_size=8) | st.sampled_from(("true", "undefined")))
def test_what_is_taken_at_a_glance_is_what_a_closer_look_takes(text: str) -> None:
    one = open_one()
    one.update("1.0", {"Name": text})
    ((_, _, _, stored),) = one.changes
    if "\n" not in text:
        assert stored == (text if is_expression(text) else "undefined")
    assert "\n" not in stored
    assert is_expression(stored)


def test_a_change_of_the_cluster_shows_in_its_jobs_unless_they_have_their_own() -> None:
    one = open_one()
    one.set_attribute("01.-1", "Shared", "7")
    one.set_attribute("01.-1", "Both", "8")
    assert one.text(1, 0, "Shared") == "7"
    assert one.text(1, 0, "Both") == "20"
    one.set_attribute("1.0", "Shared", "9")
    assert (one.text(1, 0, "Shared"), one.text(1, 1, "Shared")) == ("9", "7")


def test_taking_a_job_s_own_value_away_uncovers_the_cluster_s() -> None:
    one = open_one()
    one.delete_attribute("1.0", "Both")
    assert one.text(1, 0, "Both") == "2"
    one.delete_attribute("1.0", "Own")
    assert one.text(1, 0, "Own") is None


def test_a_shared_value_is_taken_from_one_job_by_being_undefined_there() -> None:
    one = open_one()
    one.update("1.0", {"Shared": None, "Own": None, "New": "3"})
    assert one.changes == [
        (queue_log.SET_ATTRIBUTE, "1.0", "Shared", "undefined"),
        (queue_log.DELETE_ATTRIBUTE, "1.0", "Own", ""),
        (queue_log.SET_ATTRIBUTE, "1.0", "New", "3"),
    ]
    assert one.text(1, 0, "Shared") == "undefined"
    assert one.text(1, 1, "Shared") == "1"


def test_new_jobs_are_there_and_read_their_cluster() -> None:
    one = open_one()
    one.new_ad("02.-1", "Job")
    one.set_attribute("02.-1", "Cmd", '"/bin/true"')
    one.new_ad("2.0", "Job")
    one.set_attribute("2.0", "ProcId", "0")
    assert one.makes_cluster
    assert one.exists("2.0")
    assert one.exists("02.-1")
    assert one.text(2, 0, "procid") == "0"
    assert one.text(2, 0, "Cmd") == '"/bin/true"'
    one.set_attribute("2.0", "Cmd", "1")
    one.delete_attribute("2.0", "ProcId")
    assert (one.text(2, 0, "Cmd"), one.text(2, 0, "ProcId")) == ("1", None)
    assert dict(one.overlay_of("2.0")) == {"ProcId": None, "Cmd": "1"}
    assert one.own_texts(frozenset({"cmd", "procid"})) == {"2.0": {"cmd": "1"}}
    assert list(one.keys()) == ["02.-1", "2.0"]


def test_an_ad_that_others_destroy_is_gone_whatever_was_changed_in_it() -> None:
    committed = Committed()
    one = Transaction(committed)
    for key in ("01.-1", "1.0", "1.1"):
        one.set_attribute(key, "Own", "3")
        assert one.exists(key)
    del committed.ads["1.0"]
    assert [one.exists(key) for key in ("01.-1", "1.0", "1.1")] == [True, False, True]
    committed.ads.clear()
    assert not one.exists("01.-1")


def test_a_destroyed_ad_is_gone_and_its_changes_are_kept_in_order() -> None:
    one = open_one()
    one.new_ad("1.2")
    one.destroy_ad("1.2")
    one.destroy_ad("1.1")
    assert not one.exists("1.2")
    assert not one.exists("1.1")
    assert [change[0] for change in one.changes] == [
        queue_log.NEW_AD,
        queue_log.DESTROY_AD,
        queue_log.DESTROY_AD,
    ]


NAMES = st.sampled_from(["Own", "own", "Both", "Shared", "New"])
PLACES = st.sampled_from([(1, -1), (1, 0), (1, 1), (1, 2)])
SETTING = st.tuples(st.just("set"), PLACES, NAMES, st.integers(0, 9).map(str))
DELETING = st.tuples(st.just("delete"), PLACES, NAMES, st.just(""))


@given(st.lists(st.one_of(SETTING, DELETING), max_size=12), st.booleans())
def test_any_order_of_changes_reads_like_the_ads_after_the_commit(
    changes: list[tuple[str, tuple[int, int], str, str]], looks_between: bool
) -> None:
    one = open_one()
    one.new_ad("1.2", "Job")
    after = Committed()
    after.ads["1.2"] = ClassAd(parent=after.cluster)
    for what, (cluster, proc), name, text in changes:
        key = "01.-1" if proc < 0 else f"{cluster}.{proc}"
        if what == "set":
            one.set_attribute(key, name, text)
            after.ads[key].insert_text(name, text)
        else:
            one.delete_attribute(key, name)
            if name.lower() in after.ads[key].table:
                del after.ads[key][name]
        if looks_between:
            one.text(1, 2, "Own")
    for proc in (-1, 0, 1, 2):
        ad = after.ads["01.-1" if proc < 0 else f"1.{proc}"]
        for name in ("Own", "Both", "Shared", "New"):
            assert one.text(1, proc, name) == ad.text(name), (proc, name)
