"""The transaction log: what a record looks like, and what a log cut anywhere still says."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.errors import StorageError
from kettle.records import queue_log


@dataclass
class Ads:
    """A naive table."""

    ads: dict[str, dict[str, str]] = field(default_factory=dict)
    types: dict[str, tuple[str, str]] = field(default_factory=dict)

    def new_ad(self, key: str, my_type: str, target_type: str) -> None:
        self.ads[key] = {}
        self.types[key] = (my_type, target_type)

    def destroy_ad(self, key: str) -> None:
        self.ads.pop(key, None)

    def set_attribute(self, key: str, name: str, text: str) -> None:
        self.ads.setdefault(key, {})[name] = text

    def delete_attribute(self, key: str, name: str) -> None:
        self.ads.get(key, {}).pop(name, None)


OBSERVED = b"""107 1 CreationTimestamp 1795262827
101 0.0 Job Machine
105\x20
103 0.0 UidDomain "vm"
106\x20
103 0.0 NextClusterNum 1
105\x20
101 0.2 Owner (empty)
103 0.2 User "tester@vm"
101 01.-1 Job Machine
101 1.0 Job Machine
103 01.-1 Requirements (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX")
103 01.-1 Environment ""
104 1.0 JobPreparingTasks
106\x20
105\x20
102 1.0
106 a comment
"""


def test_an_observed_log_replays_to_its_ads() -> None:
    table = Ads()
    outcome = queue_log.replay(OBSERVED, table)
    assert outcome == queue_log.Replay(1, 1795262827, len(OBSERVED), 12, OBSERVED.count(b"\n"))
    assert table.ads["0.0"] == {"UidDomain": '"vm"', "NextClusterNum": "1"}
    assert table.types["0.2"] == ("Owner", "")
    assert table.ads["01.-1"]["Requirements"].endswith('(TARGET.OpSys == "LINUX")')
    assert "1.0" not in table.ads


def test_records_are_written_as_the_reference_writes_them() -> None:
    text = queue_log.encode_sequence(1, 1795262827) + queue_log.encode_new_ad(
        "0.0", "Job", "Machine"
    )
    text += queue_log.encode_transaction(
        [queue_log.encode_set_attribute("0.0", "UidDomain", '"vm"')]
    )
    assert OBSERVED.startswith(text.encode())
    assert queue_log.encode_new_ad("0.2", "Owner") == "101 0.2 Owner (empty)\n"


def test_a_line_break_cannot_enter_a_record() -> None:
    with pytest.raises(StorageError):
        queue_log.encode_set_attribute("1.0", "A", '1\n103 1.0 Owner "root"')


@pytest.mark.parametrize("key", ["", "a b", "a\tb", "a\n102 1.0", "a\r", "a\v", "\f"])
def test_a_key_is_one_word(key: str) -> None:
    assert not queue_log.is_key(key)
    for encode in (
        queue_log.encode_new_ad,
        queue_log.encode_destroy_ad,
        lambda key: queue_log.encode_set_attribute(key, "A", "1"),
        lambda key: queue_log.encode_delete_attribute(key, "A"),
    ):
        with pytest.raises(StorageError, match="key"):
            encode(key)


@pytest.mark.parametrize(
    "key", ["Customer.u@here", "Customer.a\u00a0b\u2003c", "a\x1cb\x85", "\udcff"]
)
def test_every_key_that_is_one_word_is_read_back(key: str) -> None:
    assert queue_log.is_key(key)
    table = Ads()
    records = [queue_log.encode_new_ad(key), queue_log.encode_set_attribute(key, "A", "1")]
    records += [queue_log.encode_set_attribute(key, "B", "2")]
    records += [queue_log.encode_delete_attribute(key, "B")]
    data = queue_log.encode_transaction(records).encode("utf-8", "surrogateescape")
    assert queue_log.replay(data, table).discarded == ""
    assert table.ads == {key: {"A": "1"}}
    end = queue_log.encode_destroy_ad(key).encode("utf-8", "surrogateescape")
    queue_log.replay(end, table)
    assert table.ads == {}


INJECTED = '1\n103 1.1 Owner "root"'


@pytest.mark.parametrize(
    "change",
    [
        (queue_log.SET_ATTRIBUTE, "1.0", "A", INJECTED),
        (queue_log.SET_ATTRIBUTE, "1.0", "A 1\n103", "2"),
        (queue_log.SET_ATTRIBUTE, "1.0", "Owner x", "2"),
        (queue_log.SET_ATTRIBUTE, "1.0", "", "2"),
        (queue_log.SET_ATTRIBUTE, "1.0\n1.1", "A", "2"),
        (queue_log.SET_ATTRIBUTE, "", "A", "2"),
        (queue_log.DELETE_ATTRIBUTE, "1.0", "A\tB", ""),
        (queue_log.DELETE_ATTRIBUTE, "1.0", "", ""),
        (queue_log.NEW_AD, "1.0", "Job\n102 1.1", "Machine"),
        (queue_log.NEW_AD, "1.0", "Job", "a machine"),
        (queue_log.DESTROY_AD, "1.0\n102 1.1", "", ""),
    ],
)
def test_a_transaction_that_would_be_read_back_as_another_is_not_written(
    change: tuple[int, str, str, str],
) -> None:
    good = (queue_log.SET_ATTRIBUTE, "1.0", "A", "1")
    with pytest.raises(StorageError):
        queue_log.encode_changes([good, change, good])


@pytest.mark.parametrize("attributes", [{"A": "1", "B": INJECTED}, {"A b": "1"}])
def test_a_change_of_many_jobs_is_not_written_with_a_line_break(
    attributes: dict[str, str],
) -> None:
    with pytest.raises(StorageError):
        queue_log.encode_changes([], [([(1, 0), (1, 1)], attributes)])


def test_every_operation_is_written_as_it_is_read() -> None:
    changes = [
        (queue_log.NEW_AD, "1.0", "Job", ""),
        (queue_log.NEW_AD, "1.1", "", ""),
        (queue_log.SET_ATTRIBUTE, "1.0", "Args", '"a b\r\u2028c"'),
        (queue_log.SET_ATTRIBUTE, "1.0", "Gone", ""),
        (queue_log.DELETE_ATTRIBUTE, "1.0", "Gone", ""),
        (queue_log.DESTROY_AD, "1.1", "", ""),
    ]
    table = Ads()
    data = queue_log.encode_changes(changes, [([(1, 0), (1, 2)], {"A": "1", "B": "2"})])
    outcome = queue_log.replay(data, table)
    assert (outcome.kept_bytes, outcome.records) == (len(data), len(changes) + 4)
    assert table.ads["1.0"] == {"Args": '"a b\r\u2028c"', "A": "1", "B": "2"}
    assert table.types["1.0"] == ("Job", "")


def test_garbage_with_finished_transactions_behind_it_is_not_cut_away() -> None:
    with pytest.raises(StorageError, match="line 2 "):
        queue_log.replay(b"107 1 CreationTimestamp 1\n\0\0\0\n105 \n103 1.0 A 1\n106 \n", Ads())


def test_zeros_inside_a_record_are_garbage_and_no_value() -> None:
    good = b'107 1 CreationTimestamp 1\n105 \n103 1.0 Cmd "/bin/sleep"\n103 1.0 Args "9"\n106 \n'
    begin = good.index(b"/sleep")
    holed = good[:begin] + bytes(20) + good[begin + 20 :]
    with pytest.raises(StorageError, match="line 3 "):
        queue_log.replay(holed, Ads())
    with pytest.raises(StorageError, match="line 3 "):
        queue_log.replay(good.replace(b"sleep", b"sl\0ep"), Ads())


def test_zeros_inside_the_last_record_are_cut_off_with_it() -> None:
    good = b"107 1 CreationTimestamp 1\n105 \n103 1.0 A 1\n106 \n"
    table = Ads()
    outcome = queue_log.replay(good + b"103 1.0 A 2\0\0\n", table)
    assert outcome.kept_bytes == len(good)
    assert table.ads["1.0"] == {"A": "1"}
    assert "line 5" in outcome.discarded


def test_a_text_with_a_nul_is_not_written() -> None:
    with pytest.raises(StorageError, match="NUL"):
        queue_log.encode_changes([(queue_log.SET_ATTRIBUTE, "1.0", "A", '"a\0b"')])
    with pytest.raises(StorageError):
        queue_log.encode_set_attribute("1.0", "A", '"a\0b"')


def test_garbage_at_the_end_is_cut_and_named() -> None:
    good = b"107 1 CreationTimestamp 1\n105 \n103 1.0 A 1\n106 \n"
    outcome = queue_log.replay(good + b"105 \n\0\0\0\n103 1.0 B 2\n", Ads())
    assert outcome.kept_bytes == len(good)
    assert "line 6" in outcome.discarded


def test_a_snapshot_replays_to_the_same_ads() -> None:
    table = Ads()
    queue_log.replay(OBSERVED, table)
    pieces = queue_log.encode_snapshot(
        2, 5, ((key, *table.types[key], ad.items()) for key, ad in table.ads.items())
    )
    again = Ads()
    assert queue_log.replay("".join(pieces).encode(), again).sequence == 2
    assert again.ads == table.ads


def _snapshot_lines() -> list[bytes]:
    ads = [(f"1.{proc}", "Job", "Machine", [("A", "1")]) for proc in range(3)]
    return "".join(queue_log.encode_snapshot(1, 5, ads)).encode().splitlines(keepends=True)


def test_a_line_of_a_snapshot_that_is_no_record_is_damage_wherever_it_stands() -> None:
    lines = _snapshot_lines()
    end = queue_log.SNAPSHOT_END.encode()
    for number in range(len(lines)):
        damaged = [*lines[:number], b"\0" + lines[number][1:], *lines[number + 1 :]]
        # With its end noted, and cut short behind it or not.
        for tail in (b"", b"105 \n103 1.0 A 2\n", b"105 \n1"):
            with pytest.raises(StorageError, match=f"line {number + 1} "):
                queue_log.replay(b"".join(damaged) + end + tail, Ads())
        # As others write it: the last line may have been appended.
        for tail in (b"", b"105 \n103 1.0 A 2\n", b"105 \n1"):
            if number < len(lines) - 1:
                with pytest.raises(StorageError, match=f"line {number + 1} "):
                    queue_log.replay(b"".join(damaged) + tail, Ads(), guards_snapshot=True)


def test_what_was_cut_short_behind_a_snapshot_is_cut_off() -> None:
    whole = b"".join(_snapshot_lines())
    for begin in (whole, whole + queue_log.SNAPSHOT_END.encode()):
        for tail in (
            b"\0\0\0",
            b"\0\0\0\n",
            b"\0\0\0\n105 \n103 1.0 A 2\n",
            b"105 \n\0\0\n103 1.0 A 2\n",
        ):
            table = Ads()
            outcome = queue_log.replay(begin + tail, table, guards_snapshot=True)
            assert outcome.kept_bytes == len(begin)
            assert outcome.discarded
            assert table.ads["1.0"] == {"A": "1"}


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from(["1.0", "1.1", "01.-1"]), st.sampled_from("AB")),
        st.tuples(st.just("delete"), st.sampled_from(["1.0", "1.1"]), st.sampled_from("AB")),
        st.tuples(st.just("destroy"), st.sampled_from(["1.0", "1.1"]), st.just("A")),
    ),
    min_size=1,
    max_size=5,
)


@given(st.lists(OPERATIONS, max_size=5), st.data())
def test_a_log_cut_at_any_byte_gives_a_state_that_was_once_true(
    transactions: list[list[tuple[str, str, str]]], data: st.DataObject
) -> None:
    log = queue_log.encode_sequence(1, 1).encode()
    once_true: list[tuple[dict[str, dict[str, str]], int]] = [({}, 0), ({}, len(log))]
    table = Ads()
    for number, operations in enumerate(transactions):
        records = []
        for kind, key, name in operations:
            if kind == "set":
                records.append(queue_log.encode_set_attribute(key, name, str(number)))
                table.set_attribute(key, name, str(number))
            elif kind == "delete":
                records.append(queue_log.encode_delete_attribute(key, name))
                table.delete_attribute(key, name)
            else:
                records.append(queue_log.encode_destroy_ad(key))
                table.destroy_ad(key)
        log += queue_log.encode_transaction(records).encode()
        once_true.append((copy.deepcopy(table.ads), len(log)))
    cut = data.draw(st.integers(0, len(log)))
    replayed = Ads()
    outcome = queue_log.replay(log[:cut], replayed)
    expected, length = [state for state in once_true if state[1] <= cut][-1]
    assert replayed.ads == expected
    assert outcome.kept_bytes == length
    assert bool(outcome.discarded) == (length < cut)


class Counted(bytes):
    """A piece that counts what is copied where it is put behind another."""

    copied = 0

    def __radd__(self, other: bytes) -> bytes:
        Counted.copied += len(other) + len(self)
        return bytes(other) + bytes(self)


def test_a_long_line_is_put_together_once() -> None:
    log = b'107 1 CreationTimestamp 1\n103 1.0 A "' + b"x" * 100_000 + b'"\n103 1.0 B 2\n1'
    pieces = [Counted(log[at : at + 100]) for at in range(0, len(log), 100)]
    table = Ads()
    Counted.copied = 0
    outcome = queue_log.replay(pieces, table)
    assert Counted.copied < 3 * len(log)
    assert table.ads["1.0"] == {"A": '"' + "x" * 100_000 + '"', "B": "2"}
    assert (outcome.discarded, outcome.whole_lines) == ("a torn record of 1 bytes", 3)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b'103 1.0 A "' + b"x" * 5000, "line 1 of the log has no end"),
        (b"105 \n" + b"103 1.0 A 1\n" * 100, "a transaction of the log is larger than"),
    ],
)
def test_what_is_beyond_the_bounds_is_read_no_further(text: bytes, complaint: str) -> None:
    bounds = queue_log.Bounds(line_bytes=1000, pending_bytes=10_000)
    pieces = iter([text[at : at + 100] for at in range(0, len(text), 100)])
    with pytest.raises(StorageError, match=complaint):
        list(queue_log.replay_by_steps(pieces, Ads(), bounds))
    assert next(pieces, None) is not None


def test_a_long_transaction_is_applied_in_steps() -> None:
    lines = "".join(f"103 1.0 Word {number}\n" for number in range(5000))
    ads = Ads()
    steps = queue_log.replay_by_steps([f"101 1.0 Job Machine\n105\n{lines}106\n".encode()], ads)
    seen = [ads.ads["1.0"].get("Word") for _ in steps]
    assert seen == ["1999", "3999", "4999"]
