"""Whatever is in a history, however it was rotated, cut or indexed: index and file agree."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kettle.classad import ClassAd, parse_expression
from kettle.records import history_query
from kettle.records.history import HistoryRecord, RotationRules
from kettle.records.history_query import HistoryQuery, Progress
from kettle.runtime.storage import history_index
from kettle.runtime.storage.files import Files
from kettle.runtime.storage.record_files import RecordFile

VALUES = {
    "ClusterId": st.sampled_from(["1", "2", "010", "1.0", "1 + 1", '"1"', "undefined", "9" * 25]),
    "ProcId": st.sampled_from(["0", "1", "true", "-1"]),
    "Owner": st.sampled_from(['"joe"', '"JOE"', '"ann"', '"a\\"b"', '"Jöe"', '""', "1", "Cmd"]),
    "CompletionDate": st.sampled_from(["0", "100", "200", "2.5e2", "ProcId"]),
    "Cmd": st.sampled_from(['"joe"', '"/bin/true"', '"*** ClusterId = 1"']),
}
SHAPES = ("{0} = {1}", "{0}={1}", "  {0} = {1}", "{0}\t= {1} ")
LINES = st.lists(
    st.one_of(
        *(
            st.builds(
                lambda name, value, shape: shape.format(name, value),
                st.sampled_from([name, name.lower(), name.upper()]),
                values,
                st.sampled_from(SHAPES),
            )
            for name, values in VALUES.items()
        ),
        st.sampled_from(["ClusterIdOf = 1", "Ownership = 2", "# ClusterId = 1"]),
    ),
    max_size=6,
)
RECORDS = st.lists(LINES, min_size=1, max_size=12)
CONSTRAINTS = st.sampled_from(
    [
        "ClusterId == 1",
        "ClusterId == 1 && ProcId == 0",
        "ClusterId == 8",
        "ClusterId == 10 || 2 == MY.ClusterId",
        '(ClusterId == 1 || ClusterId == 3) && Owner == "joe"',
        'Owner == "joe"',
        'Owner =?= "JOE"',
        'Owner == "jöe"',
        'Owner == ""',
        "CompletionDate > 100",
        "CompletionDate >= 100 && CompletionDate < 250.5",
        "ClusterId =!= 1",
        "ClusterId == undefined",
        'Cmd == "joe" || ClusterId == 1',
        "ClusterId == 99999999999999999999",
        "ClusterId < 2 && ProcId == true",
        "false",
        "Owner == 1",
    ]
)


def query(constraint: str, *, limit: int, forwards: bool) -> HistoryQuery:
    return HistoryQuery(
        constraint=parse_expression(constraint, old=True),
        since=None,
        projection=None,
        limit=limit,
        scan_limit=-1,
        streamed=True,
        forwards=forwards,
        source="",
        kinds=frozenset(),
    )


def found(records: Iterator[HistoryRecord], asked: HistoryQuery) -> list[list[str]]:
    ads = history_query.select(records, asked, Progress())
    return [list(ad.lines()) for ad in ads if isinstance(ad, ClassAd)]


@given(
    records=RECORDS,
    constraint=CONSTRAINTS,
    limit=st.sampled_from([-1, 1, 2]),
    forwards=st.booleans(),
    indexed_after=st.integers(0, 12),
    most_bytes=st.sampled_from([0, 60, 300]),
    torn=st.sampled_from([b"", b"ClusterId = 1\n", b"ClusterId = 1\n*** Offset = 1", b"*** X"]),
    spoiled=st.sampled_from(["", "missing", "junk", "cut", "history"]),
)
@settings(deadline=None, max_examples=200)
def test_index_and_file_give_the_same_answers(
    records: list[list[str]],
    constraint: str,
    limit: int,
    forwards: bool,
    indexed_after: int,
    most_bytes: int,
    torn: bytes,
    spoiled: str,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "history")
        file = RecordFile(Files(), path, RotationRules(most_bytes, 99))
        for number, lines in enumerate(records):
            text = "".join(f"{line}\n" for line in lines) + f"*** ClusterId = {number}\n"
            file.append(lambda _, text=text: text.encode(), 1_000_000 + number)  # type: ignore[misc]
            if number == indexed_after:
                refresh(path)
        with open(path, "ab") as end:
            end.write(torn)
        spoil(path, spoiled)
        asked = query(constraint, limit=limit, forwards=forwards)
        wanted = history_query.alternatives(asked, history_index.INDEXED)
        read = found(file.forwards() if forwards else file.backwards(), asked)
        if wanted is not None:
            assert found(file.find(wanted, forwards=forwards), asked) == read
            refresh(path)
            assert found(file.find(wanted, forwards=forwards), asked) == read


def refresh(path: str) -> None:
    folder = Path(path).parent
    paths = sorted(str(each) for each in folder.glob("history*") if "kettle" not in each.name)
    history_index.refresh(path, paths)


def spoil(path: str, how: str) -> None:
    index = Path(history_index.index_path(path))
    if how == "missing":
        index.unlink(missing_ok=True)
    elif how == "junk":
        index.write_bytes(b"this is no index" * 100)
    elif how == "cut" and index.exists():
        os.truncate(index, index.stat().st_size // 2)
    elif how == "history":
        # Somebody cut the history itself.
        with contextlib.suppress(OSError):
            os.truncate(path, os.path.getsize(path) // 2)
