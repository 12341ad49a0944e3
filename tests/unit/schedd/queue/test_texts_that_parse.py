"""What is in the queue parses, whichever way it came: one odd text would spoil every answer."""

from __future__ import annotations

import errno

import pytest

from kettle.classad import is_expression, parser
from kettle.schedd.queue.job_ids import JobId
from kettle.wire.codec import Reader, Writer
from kettle.wire.messages import qmgmt as calls
from unit.schedd.queue_fixture import Client, Schedd

BAD = ["1 +", "((((", '"a" "b"', '"a\0b"', '"open', "A = 1"]


def new_job(client: Client) -> tuple[int, int]:
    cluster = client.call(calls.NewCluster()).value
    client.set(cluster, -1, "Owner", "undefined")
    return cluster, client.call(calls.NewProc(cluster)).value


def set_unasked(client: Client, cluster: int, proc: int, text: str) -> None:
    """Set Junk as on an encrypted connection, where a string may have a NUL inside."""
    writer = Writer(encrypted=True)
    calls.SetAttribute2(cluster, proc, text.replace("\0", "@"), "Junk", 2).write(writer)
    body = writer.getvalue()
    if "\0" in text:
        body = body.replace(b"@", b"\0")
    client.connection.handle(Reader(body, encrypted=True))


@pytest.mark.parametrize("text", BAD)
def test_a_text_that_does_not_parse_is_refused_at_the_commit(text: str) -> None:
    schedd = Schedd()
    client = schedd.client()
    set_unasked(client, *new_job(client), text)
    reply = client.call(calls.CommitTransactionNoFlags())
    assert (reply.value, reply.errno) == (-1, errno.EINVAL)
    assert reply.details is not None
    assert "Junk" in (reply.details.string("ErrorReason") or "")
    assert not schedd.queue.jobs


@pytest.mark.parametrize("text", BAD)
def test_an_edit_to_nonsense_that_nobody_waits_for(text: str) -> None:
    schedd = Schedd()
    (job,) = schedd.submit()
    client = schedd.client()
    set_unasked(client, 1, 0, text)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert job.ad.text("Junk") == "undefined"
    assert schedd.client().call(calls.SetAttribute(1, 0, "1 +", "Junk")).errno == errno.EINVAL


def test_a_submitter_who_asks_is_told_at_once() -> None:
    client = Schedd().client()
    cluster, proc = new_job(client)
    reply = client.call(calls.SetAttribute(cluster, proc, "1 +", "Junk"))
    assert (reply.value, reply.errno) == (-1, errno.EINVAL)
    assert client.call(calls.CommitTransactionNoFlags()).value == 0


@pytest.mark.parametrize("text", BAD)
def test_what_a_machine_says_is_undefined_where_it_does_not_parse(text: str) -> None:
    schedd = Schedd()
    one, other = schedd.submit(2)
    transaction = schedd.queue.transaction()
    transaction.update("1.0", {"MachineAttrCpus0": text, "MemoryUsage": "5"})
    transaction.update_alike([JobId(1, 1)], {"HoldReason": text})
    schedd.queue.commit(transaction)
    assert one.ad.text("MachineAttrCpus0") == "undefined"
    assert one.ad.integer("MemoryUsage") == 5
    assert other.ad.text("HoldReason") == "undefined"


def test_each_distinct_text_of_a_submission_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    class Counted(parser.Parser):
        def __init__(self, text: str, *, old: bool) -> None:
            parsed.append(text)
            super().__init__(text, old=old)

    monkeypatch.setattr(parser, "Parser", Counted)
    long = " + ".join(f"OfThisTestAlone{number}" for number in range(1000))
    client = Schedd().client()
    cluster, _ = new_job(client)
    for proc in range(1, 200):
        client.call(calls.NewProc(cluster))
        client.set(cluster, proc, "Rank", long)
        client.set(cluster, proc, "Out", f'"out.{proc}"')
        client.set(cluster, proc, "Number", str(proc))
    assert client.call(calls.CommitTransactionNoFlags()).value == 0
    assert parsed.count(long) == 1
    assert not [text for text in parsed if "out." in text or text.isdecimal()]


@pytest.mark.parametrize(
    "text",
    ["0.5", "12.000977", "0.", ".5", "1.5e3", "01.5", "00.5", "1.5.2", "1. 5", "1.\u0665", "-1.5"],
)
def test_a_number_is_an_expression_exactly_where_the_parser_says_so(text: str) -> None:
    assert is_expression(text) == parser._parses[text]


def test_an_expression_is_the_whole_text() -> None:
    good = ["1", "0", "-5", "1.5", '"a"', '"a\\"b"', '"a\nb"', "Memory > 5", "{1, [a = 2]}", "TRUE"]
    assert [text for text in good if not is_expression(text)] == []
    assert [text for text in [*BAD, "", "1 2", "\0"] if is_expression(text)] == []


@pytest.mark.parametrize(
    ("job", "name", "text", "reason"),
    [
        ((1, 0), "Foo", "", "the value of Foo is not one expression"),
        (
            (1, 0),
            "Args",
            f'"{"x" * 2**20}"',
            "the value of Args has 1,048,578 characters, 1,048,576 are allowed",
        ),
        ((1, 0), "Foo", "1\n2", "Received invalid attribute value '1\n2' for job 1.0; ignoring"),
        ((1, 0), "Foo", "1\r", "Received invalid attribute value '1\r' for job 1.0; ignoring"),
        ((1, 0), "Foo.Bar", "1", "Got invalid attribute named Foo.Bar for job 1.0"),
        ((9, 4), "Foo", "1", "Modifying attribute Foo in nonexistent job 9.4"),
        ((1, 0), "owner", '"x"', "Attempt to edit immutable attribute owner in job 1.0"),
    ],
)
def test_an_edit_is_refused_in_the_reference_s_words(
    job: tuple[int, int], name: str, text: str, reason: str
) -> None:
    schedd = Schedd()
    schedd.submit()
    client = schedd.client()
    client.set(*job, name, text)
    reply = client.call(calls.CommitTransactionNoFlags())
    assert reply.value == -1
    assert reply.details is not None
    assert reply.details.string("ErrorReason") == reason
