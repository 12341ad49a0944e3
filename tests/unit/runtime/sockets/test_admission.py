"""Who has to go when there are too many connections."""

from __future__ import annotations

from kettle.runtime.sockets.admission import Admission


def test_the_host_with_most_strangers_gives_its_oldest_away() -> None:
    books: Admission[str] = Admission(4)
    assert [books.enter(f"flood {n}", "10.0.0.9") for n in range(4)] == [None] * 4
    assert books.enter("honest", "10.0.0.1") == "flood 0"
    assert books.enter("flood 4", "10.0.0.9") == "flood 1"
    assert (len(books), books.crowded_out) == (4, 2)


def test_who_is_at_work_is_not_counted_until_it_rests() -> None:
    books: Admission[str] = Admission(1)
    books.enter("daemon", "10.0.0.1")
    books.promote("daemon")
    assert books.enter("stranger", "10.0.0.2") is None
    books.leave("stranger")
    books.rest("daemon")
    books.rest("daemon")
    assert len(books) == 1
    assert books.enter("stranger", "10.0.0.2") in {"daemon", "stranger"}


def test_whoever_leaves_is_forgotten() -> None:
    books: Admission[str] = Admission(10)
    for name in ("one", "two"):
        books.enter(name, "10.0.0.1")
        books.promote(name)
        books.leave(name)
        books.rest(name)
    assert len(books) == 0


def test_one_host_with_a_network_of_addresses_crowds_out_only_itself() -> None:
    books: Admission[str] = Admission(3)
    assert books.enter("friend", "2001:db8:1::1") is None
    assert books.enter("other", "::ffff:10.0.0.1") is None
    gone = [books.enter(f"flood {n}", f"2001:db8:2::{n}") for n in range(5)]
    assert gone == [None, "flood 0", "flood 1", "flood 2", "flood 3"]


def test_strangers_who_keep_too_much_together_lose_the_one_who_keeps_most() -> None:
    books: Admission[str] = Admission(10, most_bytes=100)
    assert books.hold("small", 5) is None
    assert [books.hold(f"flood {n}", 30) for n in range(3)] == [None] * 3
    assert books.hold("flood 3", 31) == "flood 3"
    assert books.hold("flood 4", 5) is None
    assert books.hold("small", 6) == "flood 0"
    for name in ("flood 1", "flood 2"):
        books.leave(name)
    books.promote("flood 4")
    assert books.hold("flood 5", 94) is None
