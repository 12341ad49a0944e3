"""Ads that begin alike are read as what they are, however much of them is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader, Writer, encode_lines
from kettle.wire.like_ads import LikeAds

COMMON = ClassAd({f"Common{number}": "x" * 20 for number in range(40)})


def encoded(own: ClassAd, common: ClassAd = COMMON) -> bytes:
    return Writer().ad_upon(encode_lines(common), own).getvalue()


def test_what_like_ads_have_in_common_is_read_once_and_becomes_their_parent() -> None:
    reads = LikeAds()
    ads = [
        reads.read(encoded(ClassAd({"ProcId": number, "Common7": "mine"}))) for number in range(4)
    ]
    assert [ad.integer("ProcId") for ad in ads] == [0, 1, 2, 3]
    assert ads[0].parent is None
    assert ads[2].parent is not None
    assert ads[2].parent is ads[3].parent
    assert {ad.string("Common7") for ad in ads} == {"mine"}
    assert {ad.string("Common8") for ad in ads} == {"x" * 20}


def test_another_cluster_is_learnt_when_it_comes() -> None:
    reads = LikeAds()
    other = ClassAd({f"Other{number}": "y" * 20 for number in range(40)})
    for number in range(3):
        reads.read(encoded(ClassAd({"ProcId": number})))
    *_, third = (reads.read(encoded(ClassAd({"ProcId": number}), other)) for number in range(3))
    assert third.parent is not None
    assert "Other3" in third.parent
    assert "Common3" not in third


def test_secrets_stay_out_of_what_is_kept() -> None:
    common = COMMON.copy()
    common["ClaimId"] = "secret"
    common["Later"] = 1
    reads = LikeAds()
    for number in range(3):
        ad = reads.read(encoded(ClassAd({"ProcId": number}), common))
        assert ad.string("ClaimId") == "secret"
        assert ad.integer("Later") == 1
    assert ad.parent is not None
    assert "ClaimId" not in ad.parent


def test_the_same_ad_twice_and_a_broken_one() -> None:
    reads = LikeAds()
    data = encoded(ClassAd({"ProcId": 1}))
    assert reads.read(data) == reads.read(data) == reads.read(data)
    for broken in (b"", data[:4], data[:60], (5).to_bytes(8, "big") + data[8:40]):
        with pytest.raises(RemoteProtocolError):
            LikeAds().read(broken)
    reads.read(encoded(ClassAd({"ProcId": 2})))
    with pytest.raises(RemoteProtocolError):
        # More lines are announced than come.
        reads.read((1000).to_bytes(8, "big") + data[8:])


VALUES = st.dictionaries(
    st.sampled_from(["A", "B", "ProcId", "Common1", "ClaimId", "Args"]),
    st.one_of(st.integers(-5, 5), st.text('ab"é ', max_size=5)),
)


@given(st.lists(st.tuples(st.booleans(), VALUES), max_size=8))
def test_every_ad_is_what_the_reader_alone_would_return(
    wishes: list[tuple[bool, dict[str, object]]],
) -> None:
    reads = LikeAds()
    for like, values in wishes:
        data = encoded(ClassAd(values), COMMON if like else ClassAd())
        assert reads.read(data) == Reader(data).ad()
