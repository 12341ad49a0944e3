"""Ads encoded and read by what they have in common are what each is by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.errors import LocalProtocolError, RemoteProtocolError
from kettle.wire.ad_shapes import each_ad
from kettle.wire.codec import Reader, Writer, expand_projection
from kettle.wire.encoded_ads import AdEncoder
from kettle.wire.known_ads import KnownAds
from kettle.wire.messages.collector import PrivateQueryReply
from kettle.wire.messages.fields import read_flagged_ads
from kettle.wire.similar_ads import read_ad_runs

NAMES = ["Name", "Memory", "memory", "State", "Start", "ClaimId", "É", "Odd %s", "_condor_privX"]
TEXTS = ["1", "-3", '"plain"', '"100 %d"', "Memory > 5", "MY.State", "undefined", '"é"', "{ 1 }"]
ADS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), max_size=6)


def ad_of(attributes: dict[str, str], parent: ClassAd | None = None) -> ClassAd:
    ad = ClassAd(parent=parent)
    for name, text in attributes.items():
        ad.insert_text(name, text)
    return ad


@given(
    st.lists(ADS, max_size=6),
    st.lists(st.sampled_from([*NAMES, "Missing"]), max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_an_ad_is_encoded_as_by_itself(
    ads: list[dict[str, str]], names: list[str], encrypted: bool, chained: bool
) -> None:
    encoder = AdEncoder(names, encrypted=encrypted)
    for attributes in ads:
        ad = ad_of(attributes, ad_of({"Parent": "1"}) if chained else None)
        wanted = expand_projection(ad, names) if names else None
        # What it is chained to comes first.
        alone = Writer(encrypted).ad(ad.flattened(), projection=wanted).getvalue()
        assert encoder.encode(ad) == alone
        # Once more after somebody has looked at what it says.
        for name in ad.names():
            ad.evaluate(name)
        # What it is chained to comes first.
        alone = Writer(encrypted).ad(ad.flattened(), projection=wanted).getvalue()
        assert encoder.encode(ad) == alone


def test_a_nul_cannot_be_sent() -> None:
    with pytest.raises(LocalProtocolError):
        AdEncoder(encrypted=True).encode(ad_of({"A": '"\0"'}))


@given(st.lists(st.tuples(ADS, st.integers(1, 25)), max_size=6), st.booleans())
def test_a_sequence_is_read_as_ad_by_ad(
    runs: list[tuple[dict[str, str], int]], encrypted: bool
) -> None:
    writer = Writer(encrypted)
    for attributes, times in runs:
        for number in range(times):
            ad = ad_of({**attributes, "Number": str(number)})
            writer.integer(1).ad(ad, private=True)
    body = writer.integer(0).getvalue()
    expected = [list(ad.lines()) for ad in read_flagged_ads(Reader(body, encrypted))]
    assert [list(ad.lines()) for ad in each_ad(read_ad_runs(Reader(body, encrypted)))] == expected


@given(st.lists(st.tuples(ADS, st.integers(1, 25)), max_size=4), st.booleans())
def test_a_reply_with_secrets_is_read_as_ad_by_ad(
    runs: list[tuple[dict[str, str], int]], encrypted: bool
) -> None:
    ads = [
        ad_of({**attributes, "Number": str(number), "ClaimId": f'"secret#{number}"'})
        for attributes, times in runs
        for number in range(times)
    ]
    writer = Writer(encrypted)
    PrivateQueryReply(ads).write(writer)
    body = writer.getvalue()
    expected = PrivateQueryReply.read(Reader(body, encrypted)).ads
    found = KnownAds().read(Reader(body, encrypted))
    assert [list(ad.lines()) for ad in found] == [list(ad.lines()) for ad in expected]
    with pytest.raises(RemoteProtocolError):
        KnownAds().read(Reader(body + b"more", encrypted))


@given(st.integers(0, 3000), st.binary(min_size=1, max_size=4))
def test_a_sequence_that_breaks_off_or_lies_is_refused_or_read_alike(
    cut: int, noise: bytes
) -> None:
    writer = Writer(encrypted=True)
    for number in range(20):
        writer.integer(1).ad(ad_of({"Name": f'"slot{number}"', "Memory": "5", "State": '"Idle"'}))
    body = writer.integer(0).getvalue()
    broken = body[:cut] + noise + body[cut + len(noise) :]
    try:
        expected = [sorted(ad.lines()) for ad in read_flagged_ads(Reader(broken, encrypted=True))]
    except RemoteProtocolError:
        with pytest.raises(RemoteProtocolError):
            list(each_ad(read_ad_runs(Reader(broken, encrypted=True))))
    else:
        found = [sorted(ad.lines()) for ad in each_ad(read_ad_runs(Reader(broken, encrypted=True)))]
        assert found == expected


def test_what_becomes_of_one_ad_does_not_show_in_the_next() -> None:
    writer = Writer(encrypted=True)
    for number in range(30):
        writer.integer(1).ad(ad_of({"Number": str(number), "Odd Name": "1"}))
    body = writer.integer(0).getvalue()
    for number, ad in enumerate(each_ad(read_ad_runs(Reader(body, encrypted=True)))):
        assert list(ad.lines()) == [f"Number = {number}", "Odd Name = 1"]
        ad["LastHeardFrom"] = number
        ad["ODD NAME"] = 2
        del ad["Number"]
