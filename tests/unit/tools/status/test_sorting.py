"""`condor_status -sort`: values as they are printed, numbers in them as numbers.

Source: observed of 25.14.1.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.tools.programs import Streams
from kettle.tools.status.condor_status import arrange, main
from kettle.tools.status.order import natural_order, natural_text
from kettle.tools.status.wish import Wish

ADS = [
    ClassAd({"Name": name, "Memory": memory, "Tag": tag})
    for name, memory, tag in (
        ("slot10@ep2", 300, "a10"),
        ("slot5@ep2", 100, "a9"),
        ("Slot1@ep1", 200, "B1"),
        ("slot1@ep10", 600, "a010"),
        ("slot1@ep9", 500, "a10b"),
        ("slot2@ep2", 400, 7),
    )
]
BY_NUMBER = "slot5@ep2 Slot1@ep1 slot10@ep2 slot2@ep2 slot1@ep9 slot1@ep10"
AS_THEY_CAME = "slot10@ep2 slot5@ep2 Slot1@ep1 slot1@ep10 slot1@ep9 slot2@ep2"


@pytest.mark.parametrize(
    ("by", "names"),
    [
        (["Name"], "Slot1@ep1 slot1@ep9 slot1@ep10 slot2@ep2 slot5@ep2 slot10@ep2"),
        (["Tag"], "slot2@ep2 Slot1@ep1 slot1@ep10 slot5@ep2 slot10@ep2 slot1@ep9"),
        (["Memory"], BY_NUMBER),
        (["-Memory"], BY_NUMBER),
        # Errors are all alike.
        (["-Name"], AS_THEY_CAME),
        (["Nothing"], ""),
    ],
)
def test_ads_are_sorted_as_values_are_printed(by: list[str], names: str) -> None:
    wish = Wish()
    wish.sort = by
    assert " ".join(ad.string("Name") or "" for ad in arrange(wish, ADS)) == names


MEASURED = (
    "-1 -10 -1E+300 -2.5 -0.5 -1E-07 -0.0 false true 5 7 100 1E-07 0.05 0.25 "
    "4602678819172646911 0.5 4602678819172646913 1.5 10.25 relTime(1800) relTime(3600) 1E+20 "
    'real("INF") real("NaN") 9223372036854775807 "abc" error {1,2}'
)


def test_reals_are_sorted_by_their_bits_and_so_behind_whole_numbers() -> None:
    texts = MEASURED.split()[::-1]
    ads = [ClassAd({"Name": text, "M": parse_expression(text)}) for text in texts]
    ads.append(ClassAd({"Name": "nothing"}))
    wish = Wish()
    wish.sort = ["M"]
    assert [ad.string("Name") for ad in arrange(wish, ads)] == texts[::-1]


def test_ads_that_lack_a_key_are_kept_where_no_is_among_the_keys() -> None:
    ads = [ClassAd({"Name": "z", "Tag": "v"}), ClassAd({"Name": "y"}), ClassAd({"Tag": "a"})]
    for sort, kept in ((["Tag"], "a v"), (["Tag", "no"], "a None v"), (["no", "Tag"], "a None v")):
        wish = Wish()
        wish.sort = sort
        assert " ".join(str(ad.string("Tag")) for ad in arrange(wish, ads)) == kept


@pytest.mark.parametrize(
    "texts",
    [
        "é é02 é1 é2 é10 日本 02 1a 10 A Z _ aé a a1 a2 a10 a_ aa a~ r\udce9 r\udcff ra z",
        "s\udce9 s s01 s1\udce9 s1 s1@\udce9 s1@a s2@a s10@a s@",
    ],
)
def test_bytes_that_are_no_letters_stand_before_the_end_of_a_text(texts: str) -> None:
    expected = texts.split()
    backwards = expected[::-1]
    assert sorted(backwards, key=natural_text) == expected
    for machines, names in ((expected, ["x"] * len(expected)), (["x"] * len(expected), expected)):
        ads = [ClassAd({"Machine": m, "Name": n}) for m, n in zip(machines, names, strict=True)]
        assert arrange(Wish(), ads[::-1]) == ads
        order = natural_order(machines[::-1], names[::-1])
        assert order == list(range(len(expected)))[::-1]


SLOTS = """\
Machine = "m"
Name = "slot3@m"
Cpus = 3

Machine = "m"
Name = "slot2@m"
Cpus = 2

Machine = "m"
Name = "slot10@m"
Cpus = 1

Machine = "b10"
Name = "slot1@b10"
Cpus = 1

Machine = "b2"
Name = "slot1@b2"
Cpus = 5

Name = "x"
Cpus = 1

Name = "a"
Cpus = 4
"""


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("-af Name", "slot1@b2 slot1@b10 slot2@m a"),
        ("-sort Cpus -af Name", "slot1@b2 slot1@b10 slot10@m x"),
        ("-sort no -af Name", "slot1@b2 slot1@b10 slot3@m x"),
        ("-limit 1 -af Name", "slot3@m"),
    ],
)
def test_with_compact_columns_are_those_of_each_machine_s_first_slot(
    tmp_path: Path, words: str, shown: str
) -> None:
    assert compact(tmp_path, words).split() == shown.split()


def test_slots_of_no_machine_are_those_of_one_called_undefined(tmp_path: Path) -> None:
    lines = compact(tmp_path, "").splitlines()
    assert [line.split()[:2] for line in lines[2:6]] == [
        ["b2", "1"],
        ["b10", "1"],
        ["m", "3"],
        ["undefined", "2"],
    ]


def test_with_compact_and_wide_the_sums_are_as_wide_as_their_words(tmp_path: Path) -> None:
    for words, width in (("", 14), ("-wide", len("X86_64/LINUX"))):
        sums = [line for line in compact(tmp_path, words).splitlines() if " Total " in line]
        assert sums[-1].index("Total") == width - len("Total")


def compact(folder: Path, words: str) -> str:
    (folder / "ads").write_text(
        "\n\n".join(
            f'MyType = "Machine"\nOpSys = "LINUX"\nArch = "X86_64"\n{ad}'
            for ad in SLOTS.split("\n\n")
        )
    )
    out = io.StringIO()
    command = ["condor_status", "-ads", str(folder / "ads"), "-compact", *words.split()]
    around = {"CONDOR_CONFIG": "ONLY_ENV"}
    assert main(command, around, Streams(io.StringIO(), out, io.StringIO())) == 0
    return out.getvalue()
