"""Values: private attributes, projections, bounds, reals."""

from __future__ import annotations

import tracemalloc
from secrets import token_bytes

import pytest

from kettle.classad import ClassAd
from kettle.errors import LocalProtocolError, RemoteProtocolError
from kettle.wire.channel import UNACCEPTED_MESSAGE, Channel
from kettle.wire.codec import Reader, Writer, expand_projection, is_private_attribute, split_names
from kettle.wire.encoded_ads import AdEncoder
from kettle.wire.frames import encode_header
from kettle.wire.messages.fields import read_flagged_ads


def read_back(writer: Writer) -> ClassAd:
    reader = Reader(writer.getvalue(), writer.encrypted)
    ad = reader.ad()
    reader.finish()
    return ad


@pytest.mark.parametrize("number", [50.0, 0.005, 1e-9, 123456.78, -2.75, 0.0, 1.0])
def test_a_short_real_is_read_as_it_was(number: float) -> None:
    assert Reader(Writer().real(number).getvalue()).real() == number


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_a_real_without_a_form_is_our_mistake(number: float) -> None:
    with pytest.raises(LocalProtocolError):
        Writer().real(number)


@pytest.mark.parametrize("encrypted", [False, True])
def test_secrets_travel_only_where_they_are_meant_to(encrypted: bool) -> None:
    ad = ClassAd({"Name": "x", "ClaimId": "<1.2.3.4:5>#1#2#3", "_condor_PrivX": 1})
    assert read_back(Writer(encrypted).ad(ad)).names() == ["Name"]
    full = read_back(Writer(encrypted).ad(ad, private=True))
    assert full.string("ClaimId") == "<1.2.3.4:5>#1#2#3"
    assert full.integer("_condor_privx") == 1


def test_names_of_secrets_are_known_in_any_case() -> None:
    assert is_private_attribute("claimID")
    assert is_private_attribute("_CONDOR_PRIVREMOTEADMINCAPABILITY")
    assert not is_private_attribute("ClaimIdX")
    assert not is_private_attribute("TransferKeys")


def test_a_projection_takes_what_the_attributes_refer_to() -> None:
    ad = ClassAd()
    ad.insert_text("Requirements", "START && Memory > 5")
    ad.insert_text("START", "Cpus > 1")
    ad.insert_text("Cpus", "4")
    ad.insert_text("Memory", "10")
    ad.insert_text("Other", "1")
    wanted = expand_projection(ad, ["requirements"])
    sent = read_back(Writer().ad(ad, projection=wanted))
    assert sorted(sent.names()) == ["Cpus", "Memory", "START", "requirements"]


@pytest.mark.parametrize("encrypted", [False, True])
def test_an_answer_spells_names_as_they_were_asked_for(encrypted: bool) -> None:
    ad = ClassAd({"Owner": "ann", "FooBar": 1, "ClaimId": "<1.2.3.4:5>#1"})
    asked = ["owner", "FOObar", "OWNER", "CLAIMID", "Missing"]
    assert read_back(Writer(encrypted).ad(ad, projection=asked)).names() == ["owner", "FOObar"]
    assert Reader(AdEncoder(asked, encrypted=encrypted).encode(ad), encrypted).ad().names() == [
        "owner",
        "FOObar",
    ]


def test_projection_text_keeps_names_and_drops_formatting() -> None:
    assert split_names("Name, Memory/1024.0\nOCU GPUs_x:join(1)") == ["Name", "OCU"]


def test_a_parents_attributes_travel_with_the_childs() -> None:
    cluster = ClassAd({"Owner": "alice", "JobStatus": 1})
    proc = ClassAd({"ProcId": 3, "JobStatus": 2}, parent=cluster)
    sent = read_back(Writer().ad(proc, server_time=7))
    assert (sent.string("Owner"), sent.integer("JobStatus")) == ("alice", 2)
    assert (sent.integer("ProcId"), sent.integer("ServerTime")) == (3, 7)


def test_a_reader_says_what_is_missing_and_what_is_left_over() -> None:
    with pytest.raises(RemoteProtocolError, match="integer is expected"):
        Reader(b"\0").integer()
    with pytest.raises(RemoteProtocolError, match="left over"):
        Reader(b"\0").finish()
    with pytest.raises(RemoteProtocolError, match="inside a string"):
        Reader(b"abc").string()
    with pytest.raises(RemoteProtocolError, match="count"):
        Reader(Writer().integer(-1).getvalue()).count(5)


def test_an_ad_that_claims_more_attributes_than_bytes_is_refused_at_once() -> None:
    with pytest.raises(RemoteProtocolError, match="attributes"):
        Reader(Writer().integer(999_999).getvalue()).ad()


def test_a_newline_or_a_nul_cannot_be_smuggled_into_a_string() -> None:
    with pytest.raises(LocalProtocolError):
        Writer().string("a\0b")


def sent(encrypted: bool, *lines: str) -> Reader:
    """Return what a peer sent as the lines of an ad."""
    body = Writer(encrypted).integer(len(lines))
    for line in (*lines, "", ""):
        body.string(line)
    return Reader(body.getvalue(), encrypted)


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize(
    "line",
    [
        'AssignedX = 1\n103 1.1 Owner "root"',
        'AssignedX = "a"\nOwner = "root"',
        "Assigned\nX = 1",
        'AssignedX = "a\n',
    ],
)
def test_a_line_of_an_ad_cannot_pass_for_two(encrypted: bool, line: str) -> None:
    with pytest.raises(RemoteProtocolError, match="line end"):
        sent(encrypted, 'Name = "a"', line, "Cpus = 16").ad()


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_line_end_within_a_string_is_read(encrypted: bool) -> None:
    """As condor_status sends a projection, and a startd a reason of several lines."""
    text = '"Name\nMachine"'
    # The length of the second line, 10 with its end, looks like a line end.
    ad = sent(encrypted, f"Projection = {text}", "Cpus = 16", f"R = strcat({text}, X)").ad()
    assert ad.string("Projection") == "Name\nMachine"
    assert ad.text("R") == f"strcat({text}, X)"
    assert ad.integer("Cpus") == 16
    again = ClassAd({"Reason": "two\nlines"})
    assert read_back(Writer(encrypted).ad(again)).string("Reason") == "two\nlines"


def test_any_bytes_survive_as_text() -> None:
    body = b"caf\xe9\0"
    assert Writer().string(Reader(body).string()).getvalue() == body


@pytest.mark.parametrize("encrypted", [False, True])
def test_lines_are_read_one_by_one_whatever_bytes_are_in_them(encrypted: bool) -> None:
    # A letter that breaks off at the end of its line takes nothing of the next one.
    lines = [b'A = "\xe2\x82', b'B = "\xff"', 'C = "ü"'.encode()]
    body = Writer(encrypted).ads_lines(lines).getvalue()
    ad = Reader(body, encrypted).ad()
    assert [line.encode("utf-8", "surrogateescape") for line in ad.lines()] == lines


@pytest.mark.parametrize("line", [b"A = 1\0", b"A = 1\0B = 2\0", b"A = 1\0\0\0", b"A = 1\0x"])
def test_an_encrypted_line_ends_at_its_first_nul_so_it_can_be_sent_on(line: bytes) -> None:
    body = Writer().integer(1).integer(len(line)).raw(line).getvalue()
    ad = Reader(body, encrypted=True).ad(types=False)
    assert ad.lines() == ["A = 1"]
    for encrypted in (False, True):
        again = Writer(encrypted).ad(ad).getvalue()
        assert Reader(again, encrypted).ad().lines() == ["A = 1"]


def test_an_encrypted_string_ends_at_its_first_nul() -> None:
    body = Writer().integer(8).raw(b"/tmp\0/x\0").getvalue()
    assert Reader(body, encrypted=True).string() == "/tmp"


@pytest.mark.parametrize("line", [b"A\0 = 1\0", b"\0A = 1\0"])
def test_an_encrypted_line_of_which_a_nul_leaves_no_attribute_is_an_error(line: bytes) -> None:
    body = Writer().integer(1).integer(len(line)).raw(line).getvalue()
    with pytest.raises(RemoteProtocolError, match="not Name = value"):
        Reader(body, encrypted=True).ad(types=False)


@pytest.mark.parametrize("size", [0, -40, -58, -200, 10**15])
def test_a_wrong_length_behind_an_encrypted_line_with_a_nul_is_an_error(size: int) -> None:
    """Such a line passes for two; with 58 bytes back, ads that go until a flag had no end."""
    writer = Writer().integer(1).integer(3)
    for line in (b"A = 1\0B = 2\0", b"C = 3\0"):
        writer.integer(len(line)).raw(line)
    body = writer.integer(size).raw(b"D = 4\0").raw(bytes(32)).getvalue()
    with pytest.raises(RemoteProtocolError):
        Reader(body[8:], encrypted=True).ad(types=False)
    with pytest.raises(RemoteProtocolError):
        next(read_flagged_ads(Reader(body, encrypted=True)))


def test_a_stranger_cannot_make_us_keep_a_message_without_end() -> None:
    channel = Channel(token_bytes)
    channel.maximum_message = UNACCEPTED_MESSAGE
    packet = encode_header(1 << 20, last=False) + bytes(1 << 20)
    channel.receive(packet * 5)
    with pytest.raises(RemoteProtocolError, match="longer than"):
        channel.next_message()


@pytest.mark.parametrize("encrypted", [False, True])
def test_attributes_and_their_texts_come_as_they_went(encrypted: bool) -> None:
    texts = {"Args": '"a = b"', "Rank": "1 + 2", "ClaimId": '"secret"', "Ärger": '"ü"'}
    body = Writer(encrypted).texts(texts).texts({}).getvalue()
    reader = Reader(body, encrypted)
    assert (reader.texts(), reader.texts()) == (texts, {})
    reader.finish()


@pytest.mark.parametrize("line", ["Name", " = 1", "Name = "])
def test_a_text_without_a_name_or_a_value_is_refused(line: str) -> None:
    with pytest.raises(RemoteProtocolError, match="Name = value"):
        Reader(Writer().integer(1).string(line).getvalue()).texts()


def test_a_message_of_many_small_packets_takes_no_more_memory_than_its_bytes() -> None:
    channel = Channel(token_bytes)
    packets = encode_header(2, last=False) + b"ab"
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(10):
            channel.receive(packets * 2_000)
            assert channel.next_message() is None
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 10 * 40_000
    moved = Channel.restore(channel.export(), token_bytes)
    moved.receive(encode_header(1, last=True) + b"c")
    message = moved.next_message()
    assert message is not None
    assert message.rest() == b"ab" * 20_000 + b"c"
