"""One function for each kind of collector command: what it does to the store and what it answers.

Decoded messages in, effects on the `AdStore` and reply messages out; the reading and sending is
`service.py`. The meaning of tables and keys is `ad_kinds.py`, of queries `ad_query.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from kettle.classad import ClassAd
from kettle.collector.ad_kinds import (
    MERGE_SLOT,
    SLOT,
    UPDATE_OWN_SUBMITTER,
    UPDATE_WITH_ACK,
    kind_of_invalidation,
    kind_of_update,
)
from kettle.collector.ad_query import MAX_QUERY, Answer, Secrets, answer, extent, parse_query
from kettle.collector.ad_store import AdStore, Sender, StoredAd
from kettle.errors import LocalProtocolError, RefusedError
from kettle.wire.codec import Writer, expand_projection
from kettle.wire.encoded_ads import AdEncoder
from kettle.wire.messages.collector import Update
from kettle.wire.security.claim_id import ADMIN_CAPABILITY

# About 250 kB of ads with 185 attributes.
_ADS_IN_A_PART = 50
# Limit: projections, if each ad says which of its attributes it shows.
_MOST_ENCODERS = 100


def update(
    store: AdStore, command: int, message: Update, *, now: float, sender: Sender
) -> StoredAd | None:
    """Perform one update; None if there was no ad to merge into.

    An ad without a name, of no type, or refused by COLLECTOR_REQUIREMENTS costs its sender the
    connection: RefusedError.
    """
    kind = kind_of_update(command, message.public)
    if kind is None:
        raise RefusedError(f"command {command} brought an ad without a MyType that names a type")
    if command == MERGE_SLOT:
        return store.merge(kind, message.public, sender=sender)
    if command == UPDATE_OWN_SUBMITTER and not _is_own(
        message.public, sender, store.settings.groups
    ):
        raise RefusedError(f"{sender.identity} may only advertise itself as a submitter")
    entry = store.update(
        kind,
        message.public,
        now=now,
        private=message.private if kind is SLOT else None,
        sender=sender,
        asleep=command == UPDATE_WITH_ACK and _goes_to_sleep(message.public),
    )
    if entry is None:
        raise RefusedError(f"an ad of type {kind.my_type} has no name, or is not wanted here")
    return entry


def _is_own(ad: ClassAd, sender: Sender, groups: Container[str]) -> bool:
    """Tell whether a submitter's ad names its sender, by himself or in an accounting group.

    The domain is another matter: such ads come from access points of other pools, where the user
    has a token of this one, and the name's domain is the access point's.

    Compat: the reference takes what is behind the last dot for the user, so there john.smith may
    not advertise himself and smith may advertise him. Ours knows the groups of this pool
    (test_a_user_whose_name_has_a_dot_advertises_himself).
    """
    user, _, domain = sender.identity.partition("@")
    if not user or domain == "unmapped":
        return False
    name = (ad.string("Name") or "").partition("@")[0]
    if name == user:
        return True
    return name.endswith(f".{user}") and name.removesuffix(f".{user}").lower() in groups


def _goes_to_sleep(ad: ClassAd) -> bool:
    """Tell a machine's last word from an ordinary acknowledged update.

    Compat: the reference takes every command 60 for a farewell. A startd that goes to sleep says
    so in the ad, and one that only wants to know that its ad arrived (the first of a new pool)
    must not be taken for gone; test_an_acknowledged_update_of_a_waking_machine_is_an_ordinary_one.
    """
    if ad.boolean("Offline"):
        return True
    level = ad.lookup("HibernationLevel")
    return level is not None and (ad.integer("HibernationLevel") or 0) > 0


def invalidate(store: AdStore, command: int, query: ClassAd, *, now: float, sender: Sender) -> int:
    """Withdraw ads; the number of those that went."""
    kind = kind_of_invalidation(command, query)
    if kind is None:
        raise RefusedError(f"command {command} does not say what type of ads to withdraw")
    return store.invalidate(kind, query, now=now, sender=sender)


Parts = Iterator[tuple[bytes, bool]]


Unsent = Callable[[StoredAd, Exception], None]
"""Is told of an ad that no message can hold, and why."""


def find(
    store: AdStore, command: int, query: ClassAd, *, most: Secrets, unsent: Unsent
) -> tuple[int, Callable[[bool], Parts]]:
    """Return about how many ads have to be looked at, and what composes the reply.

    That is one message, in parts: each with whether it ends there, for a connection that is
    encrypted or not. RefusedError for a query that is too long.

    An ad that cannot be encoded costs nobody the others: it is left out, and `unsent` told.
    """
    if sum(len(query.text(name) or "") for name in query) > MAX_QUERY:
        raise RefusedError(f"the query is longer than {MAX_QUERY} bytes")
    asked = parse_query(command, query, store, most=most)
    return extent(store, asked), lambda encrypted: _reply(answer(store, asked), encrypted, unsent)


def _reply(answers: Iterable[Answer | None], encrypted: bool, unsent: Unsent) -> Parts:
    """Yield the reply: each ad after a 1 that announces it, and a 0 at the end."""
    one, none = (Writer(encrypted).integer(number).getvalue() for number in (1, 0))
    encoders: dict[tuple[str, ...], AdEncoder] = {}
    part: list[bytes] = []
    for number, found in enumerate(answers, 1):
        if found is not None:
            try:
                part += one, _encode_answer(found, encoders, encrypted=encrypted)
            except (LocalProtocolError, UnicodeError) as error:
                unsent(found.entry, error)
        if number % _ADS_IN_A_PART == 0:
            yield b"".join(part), False
            part.clear()
    yield b"".join((*part, none)), True


def _encode_answer(
    found: Answer, encoders: dict[tuple[str, ...], AdEncoder], *, encrypted: bool
) -> bytes:
    """Return one ad of a reply, as much of it as is asked for.

    Without what it refers to an attribute such as Requirements would mean something else to the
    receiver, so that goes along with the names asked for.
    """
    entry, names = found.entry, found.names
    if found.private or found.secret:
        return _encode_secrets(found, encrypted=encrypted)
    known = entry.shown((names, encrypted)) if names else None
    if known is not None:
        return known
    encoder = encoders.get(names)
    if encoder is None:
        encoder = AdEncoder(names, encrypted=encrypted)
        if len(encoders) < _MOST_ENCODERS:
            encoders[names] = encoder
    encoded = encoder.encode(entry.ad)
    if names:
        entry.note_shown((names, encrypted), encoded)
    return encoded


def _encode_secrets(found: Answer, *, encrypted: bool) -> bytes:
    """Return an ad with its secrets, which are sent along whatever is asked for."""
    ad, names, private = found.ad, found.names, found.entry.private
    wanted = expand_projection(ad, names) if names else None
    if found.private:
        secrets = ClassAd(parent=private)
        if found.private is Secrets.ALL and found.entry.capability:
            secrets[ADMIN_CAPABILITY] = found.entry.capability
        wanted = None if wanted is None else [*wanted, *secrets]
        ad = _with_secrets(ad, secrets)
    return Writer(encrypted).ad(ad, private=True, projection=wanted).getvalue()


def _with_secrets(public: ClassAd, private: ClassAd) -> ClassAd:
    """Return a public ad together with the secrets of its private one."""
    whole = ClassAd(parent=public)
    for name in private:
        if name not in public:
            text = private.text(name)
            if text is not None:
                whole.insert_text(name, text)
    return whole
