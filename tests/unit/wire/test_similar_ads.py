"""Ads that end alike are read as every ad is, only faster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.errors import RemoteProtocolError
from kettle.wire.ad_shapes import AdRun, each_ad
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages.queue_queries import has_last, is_last
from kettle.wire.similar_ads import AlikeAds, SimilarAds

COMMON = [f'Common{number} = "{"x" * number}"' for number in range(30)]


def body(lines: list[str]) -> bytes:
    return Writer(encrypted=True).ads_lines([line.encode() for line in lines]).getvalue()


def same(data: bytes, ads: SimilarAds) -> None:
    expected = Reader(data, encrypted=True).ad()
    found = ads.read(Reader(data, encrypted=True))
    assert sorted(found.lines()) == sorted(expected.lines())


def test_jobs_of_a_cluster_are_read_with_their_own_attributes() -> None:
    ads = SimilarAds()
    for proc in range(50):
        own = [f"ProcId = {proc}", *(["Extra = 1"] if proc % 3 else [])]
        same(body(own + COMMON), ads)
    # Another cluster, whose jobs end otherwise, is learnt in turn.
    for proc in range(50):
        same(body([f"ProcId = {proc}", *COMMON[:20], 'Cmd = "/bin/false"', *COMMON[21:]]), ads)


def test_the_common_end_grows_and_shrinks_with_what_jobs_have_in_common() -> None:
    ads = SimilarAds()
    odd = body(["ProcId = 0", "JobStatus = 2", *COMMON[:3], 'Cmd = "odd"', *COMMON[4:]])
    bodies = [body([f"ProcId = {proc}", "JobStatus = 1", *COMMON]) for proc in range(1, 100)]
    held = [body([f"ProcId = {proc}", "JobStatus = 5", *COMMON]) for proc in range(100, 120)]
    for data in (odd, *bodies):
        same(data, ads)
    found = ads.read(Reader(bodies[-1], encrypted=True))
    assert found.own_names() == ["ProcId"]
    for data in held:
        same(data, ads)
    found = ads.read(Reader(held[-1], encrypted=True))
    assert found.own_names() == ["ProcId", "JobStatus"]
    assert ads.read(Reader(bodies[0], encrypted=True)).parent is found.parent


def test_a_line_that_lies_about_its_length_is_refused() -> None:
    ads = SimilarAds()
    for proc in range(3):
        same(body([f"ProcId = {proc}", *COMMON]), ads)
    lie = bytearray(body(["ProcId = 4", *COMMON]))
    lie[8 + 7] += 1
    with pytest.raises(RemoteProtocolError):
        ads.read(Reader(bytes(lie), encrypted=True))


names = st.sampled_from(["A", "B", "Common1", "Common3", "ProcId", "É"])
lines = st.builds(lambda name, value: f"{name} = {value}", names, st.integers(0, 300))


@given(st.lists(st.tuples(st.lists(lines, max_size=5), st.integers(0, 30)), max_size=30))
def test_any_sequence_of_ads_is_read_as_one_by_one(pieces: list[tuple[list[str], int]]) -> None:
    ads = SimilarAds()
    for own, start in pieces:
        same(body(own + COMMON[start:]), ads)


@given(
    st.lists(st.tuples(st.lists(lines, max_size=3), st.integers(0, 30), st.integers(1, 30))),
    st.integers(1, 50),
    st.booleans(),
)
def test_ads_that_come_together_are_read_as_one_by_one(
    pieces: list[tuple[list[str], int, int]], together: int, encrypted: bool
) -> None:
    bodies = []
    for own, start, times in pieces:
        for number in range(times):
            texts = [f"Number = {number}", *own, *COMMON[start:]]
            writer = Writer(encrypted).ads_lines([line.encode() for line in texts])
            bodies.append(writer.getvalue())
    expected = [sorted(Reader(data, encrypted).ad().lines()) for data in bodies]
    ads = SimilarAds()
    found: list[list[str]] = []
    for start in range(0, len(bodies), together):
        some = ads.read_all(bodies[start : start + together], encrypted=encrypted)
        found += [sorted(ad.lines()) for ad in each_ad(some)]
    assert found == expected


@pytest.mark.parametrize("owner", ["0", " 0 "])
def test_a_summary_is_seen_among_ads_with_the_same_names(owner: str) -> None:
    # Hostile, or just odd: jobs whose ads have the names that a summary has.
    bodies = [body([f"Owner = {number}", *COMMON]) for number in range(1, 200)]
    bodies[150] = body([f"Owner = {owner}", *COMMON])
    found = list(SimilarAds().read_all(bodies, encrypted=True))
    runs = [each for each in found if isinstance(each, AdRun)]
    assert [has_last(run) for run in runs] == [any(map(is_last, run)) for run in runs]
    assert sum(map(has_last, runs)) == 1


@given(st.binary(max_size=300), st.integers(0, 2000))
def test_bytes_that_are_no_ad_raise_and_do_no_harm(noise: bytes, cut: int) -> None:
    ads = SimilarAds()
    good = body(["ProcId = 1", *COMMON])
    for data in (good, good, noise, good[:cut] + noise, good):
        try:
            expected = sorted(Reader(data, encrypted=True).ad().lines())
        except RemoteProtocolError:
            with pytest.raises(RemoteProtocolError):
                ads.read(Reader(data, encrypted=True))
        else:
            assert sorted(ads.read(Reader(data, encrypted=True)).lines()) == expected


@pytest.mark.parametrize("value", ["1\nEvil = 2", '"a"\nEvil = "b"', "\x00"])
def test_a_value_that_could_pass_for_more_lines_is_refused_also_among_ads_alike(value: str) -> None:
    """A collector kept such an ad, and who asked for it could read none of the answer."""
    alike, similar = AlikeAds(), SimilarAds()
    usual = [body(["A = 1", f"B = {number}", 'C = "x"']) for number in range(20)]
    for data in usual:
        alike.read(Reader(data, encrypted=True))
        similar.read(Reader(data, encrypted=True))
    data = body(["A = 1", "B = 0", 'C = "x"'])
    line = f"B = {value}".encode() + b"\0"
    wrong = data.replace(
        len(b"B = 0\0").to_bytes(8, "big") + b"B = 0\0", len(line).to_bytes(8, "big") + line
    )
    assert wrong != data
    for read in (
        lambda: alike.read(Reader(wrong, encrypted=True)),
        lambda: similar.read(Reader(wrong, encrypted=True)),
        lambda: list(each_ad(similar.read_all([wrong, wrong], encrypted=True))),
    ):
        with pytest.raises(RemoteProtocolError):
            read()
    with_string = body(["A = 1", 'B = "a\nb"', 'C = "x"'])
    assert alike.read(Reader(with_string, encrypted=True)).string("B") == "a\nb"
