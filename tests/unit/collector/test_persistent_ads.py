"""The text in which the ads of sleeping machines are kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.collector.persistent_ads import decode_ads, encode_ads, encode_departures
from kettle.wire.codec import Reader, Writer

GOOD = ['Name = "slot1@a"', 'MyType = "Machine"', "Offline = true", "Memory = 5"]


def from_the_wire(lines: list[str], *, encrypted: bool = False) -> ClassAd:
    writer = Writer(encrypted).integer(len(lines))
    for line in lines:
        writer.string(line)
    return Reader(writer.string("").string("").getvalue(), encrypted).ad()


def again(*ads: ClassAd) -> list[ClassAd]:
    return decode_ads(encode_ads(ads, created=1))


def test_a_line_end_in_a_string_is_a_blank_in_the_log() -> None:
    odd = from_the_wire(['Name = "slot1@b"', "Offline = true", 'Note = "a\nb"'])
    good, back = again(from_the_wire(GOOD), odd)
    assert good.integer("Memory") == 5
    assert back.string("Note") == "a b"


def test_an_attribute_that_no_log_can_have_is_left_out() -> None:
    odd = from_the_wire(['Name = "slot1@b"', "Foo Bar = 1", "A\tB = 2", "Memory = 7"])
    good, back = again(from_the_wire(GOOD), odd)
    assert good.string("Name") == "slot1@a"
    assert set(back.own_names()) == {"MyType", "Name", "Memory"}


def test_names_without_end_keep_nothing_else_from_being_remembered() -> None:
    endless = "x" * 70_000
    odd = from_the_wire([f'Name = "{endless}"', "Offline = true"])
    long = from_the_wire(['Name = "slot1@b"', f"{endless} = 1", "Memory = 7"])
    good, back = again(from_the_wire(GOOD), odd, long)
    assert good.string("Name") == "slot1@a"
    assert set(back.own_names()) == {"MyType", "Name", "Memory"}
    log = encode_ads([from_the_wire(GOOD)], created=1) + encode_departures([endless, "slot1@a"])
    assert decode_ads(log) == []


def test_bytes_that_are_no_text_are_kept_as_they_are() -> None:
    odd = from_the_wire(['Name = "slot1@\udce4"', 'Note = "\udcff"'])
    (back,) = again(odd)
    assert back.string("Note") == "\udcff"
    log = encode_ads([odd], created=1) + encode_departures(["slot1@\udce4"])
    assert decode_ads(log) == []


def test_slots_without_names_are_kept_apart() -> None:
    ads = [from_the_wire(['Machine = "m"', f"SlotID = {number}"]) for number in (1, 2)]
    assert [ad.integer("SlotID") for ad in again(*ads)] == [1, 2]


# What an encrypted stream can bring: any characters but NUL, and bytes that are no UTF-8.
_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
_ODD = st.one_of(_TEXT, st.sampled_from(["\udcff", "\n", "a\nb", "\r", "\t", '"', "\\", "#"]))


@given(st.lists(st.lists(st.tuples(_ODD, _ODD), max_size=5), max_size=4))
def test_whatever_peers_say_as_many_ads_come_back(ads: list[list[tuple[str, str]]]) -> None:
    stored = []
    for number, attributes in enumerate(ads):
        ad = ClassAd()
        for name, text in attributes:
            ad.insert_text(name, '"' + text.replace('"', '\\"') + '"')
        ad["Name"] = f"slot{number}@m"
        stored.append(ad)
    assert [ad.string("Name") for ad in again(*stored)] == [ad.string("Name") for ad in stored]
