"""One CEDAR connection without its socket: bytes in, messages out, and the other way round.

Holds what a connection must remember between messages: unparsed bytes, the pieces of a message,
the handshake digests, the session key with its two packet counters. Decides nothing about what the
messages mean. `runtime.sockets.stream` and `client.stream` own the sockets and feed this.

The encrypted packet (AES-256-GCM), as the peer expects it:

    header(5) || IV(16), in the first packet of a direction only || ciphertext || tag(16)

    IV of packet n = base IV with its first four bytes, as a number, increased by n
    additional data of packet n >= 1: the header
    additional data of packet 0: SHA-256 of all clear bytes its sender has sent || SHA-256 of all
        clear bytes its sender has received || the header; 32 zero bytes where nothing went

Source: wire notes, Packets and messages, AES-GCM channel.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from kettle.errors import LocalProtocolError, RemoteProtocolError
from kettle.wire.codec import Reader, Writer
from kettle.wire.frames import HEADER_SIZE, decode_header, encode_header

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.hashes import Hash

IV_SIZE = 16
TAG_SIZE = 16
KEY_SIZE = 32
DIGEST_SIZE = 32
NO_DIGEST = bytes(DIGEST_SIZE)
# Packets of ours are this long at most; any split is accepted and large ones cost fewer calls.
SENT_BODY = 256 * 1024
# Limit: clear bytes beyond the first MiB of a direction do not count (reference's own bound).
DIGESTED_BYTES = 1 << 20
# Limit: after so many packets one direction's counter would repeat; the connection must end.
MAXIMUM_PACKETS = (1 << 32) - 1
# Limit: one message, over all its packets. Queue replies of 100,000 jobs come as many messages, a
# collector's reply as a single one; 1 GiB holds every ad of a pool of that size.
MAXIMUM_MESSAGE = 1 << 30
# Limit: one message of a peer whose command has not been accepted yet.
UNACCEPTED_MESSAGE = 4 << 20

# So much of a message that has begun is shown: the arguments of a call stand there.
_LOOKED_AT = 64

_STATE_VERSION = 1
_FIRST_WORD = struct.Struct(">I")


class Cipher(Protocol):
    """What the channel needs of an AEAD cipher; the `cryptography` package's AESGCM is one."""

    def encrypt(self, nonce: bytes, data: bytes, associated_data: bytes | None) -> bytes:
        """Return ciphertext and tag."""

    def decrypt(
        self, nonce: bytes, data: bytes | bytearray, associated_data: bytes | bytearray | None
    ) -> bytes:
        """Return the plaintext, or raise InvalidTag."""


class ClearDigest:
    """SHA-256 of the clear bytes of one direction, first MiB."""

    __slots__ = ("_digest", "counted")

    def __init__(self) -> None:
        self._digest: Hash | None = None
        self.counted = 0

    def update(self, data: bytes | memoryview) -> None:
        """Count bytes that went over the connection in the clear."""
        room = DIGESTED_BYTES - self.counted
        if room <= 0:
            return
        if self._digest is None:
            self._digest = _make_digest()
        piece = data[:room]
        self._digest.update(piece)
        self.counted += len(piece)

    def value(self) -> bytes:
        """Return the digest; zeros if nothing went."""
        return self._digest.copy().finalize() if self._digest is not None else NO_DIGEST


def _make_digest() -> Hash:
    """Return a SHA-256: that of the package which encrypts, as two copies of OpenSSL are slow."""
    from cryptography.hazmat.primitives.hashes import SHA256, Hash

    return Hash(SHA256())


class Direction:
    """The encryption state of one direction of a connection."""

    __slots__ = ("_first", "_tail", "base_iv", "count")

    def __init__(self, base_iv: bytes = b"", count: int = 0) -> None:
        self.base_iv = b""
        self.count = count
        self._first = 0
        self._tail = b""
        if base_iv:
            self.set_base_iv(base_iv)

    def set_base_iv(self, base_iv: bytes) -> None:
        """Fix the base IV, which the first packet carries."""
        self.base_iv = base_iv
        self._first = int(_FIRST_WORD.unpack_from(base_iv)[0])
        self._tail = base_iv[4:]

    def next_iv(self) -> bytes:
        """Return the IV of the next packet and count the packet."""
        if self.count >= MAXIMUM_PACKETS:
            raise LocalProtocolError("this connection has used up its packet counter")
        word = (self._first + self.count) & 0xFFFFFFFF
        self.count += 1
        return _FIRST_WORD.pack(word) + self._tail


class Channel:
    """The state of one connection between two messages; see the module's docstring.

    `random_bytes` makes the base IV; `maximum_message` in bytes is lowered while the peer is a
    stranger, and for peers who need no more.

    Feed received bytes to `receive`, take complete messages from `next_message`; compose a message
    with `writer` and turn it into bytes for the socket with `encode`.
    """

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        self.maximum_message = MAXIMUM_MESSAGE
        self._buffer = bytearray()
        self._start = 0
        # The packets of a message that is not complete, as one buffer: many small ones would take
        # thirty times their size. None between messages.
        self._partial: bytearray | None = None
        self._sent = ClearDigest()
        self._received = ClearDigest()
        self._digests: tuple[bytes, bytes] = (NO_DIGEST, NO_DIGEST)
        self._unknown_digests = False
        self._key: bytes | None = None
        self._cipher: Cipher | None = None
        self._decryption_errors: tuple[type[Exception], ...] = ()
        self._out = Direction()
        self._in = Direction()

    # What this connection is.

    @property
    def encrypted(self) -> bool:
        """Whether the session key is installed."""
        return self._cipher is not None

    @property
    def buffered(self) -> int:
        """How many received bytes have not been taken as a message or raw data yet."""
        return len(self._buffer) - self._start

    @property
    def unread(self) -> int:
        """How many received bytes are kept that no message has been made of."""
        return self.buffered + (len(self._partial) if self._partial is not None else 0)

    def digests(self) -> tuple[bytes, bytes]:
        """Return the digests of the clear bytes sent and received so far."""
        if self.encrypted:
            return self._digests
        return self._sent.value(), self._received.value()

    def start_encryption(self, key: bytes) -> None:
        """Install a 32-byte session key; both digests freeze and both directions are encrypted.

        Raises LocalProtocolError between the packets of a message, when encryption is on already,
        and on a handed-over connection whose clear bytes went through another process.
        """
        if self._cipher is not None or self._partial is not None:
            raise LocalProtocolError("encryption cannot start here")
        if self._unknown_digests:
            raise LocalProtocolError("the clear bytes of this connection are not known here")
        self._digests = (self._sent.value(), self._received.value())
        self._install(key)

    def _install(self, key: bytes) -> None:
        """Make the cipher; the package is imported only by connections that need it."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if len(key) != KEY_SIZE:
            raise LocalProtocolError(f"a session key has {KEY_SIZE} bytes, not {len(key)}")
        self._key = key
        self._cipher = AESGCM(key)
        self._decryption_errors = (InvalidTag, ValueError)

    def forgo_encryption(self) -> None:
        """Count no clear bytes: nobody will ever encrypt a connection between our own processes."""
        self._sent.counted = self._received.counted = DIGESTED_BYTES
        self._unknown_digests = True

    def reset_digests(self) -> None:
        """Forget the clear bytes so far: they were not said to the daemon behind this address."""
        self._sent = ClearDigest()
        self._received = ClearDigest()
        self._unknown_digests = False

    # Receiving.

    def receive(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes from the socket; nothing is parsed yet."""
        if self._start and self._start == len(self._buffer):
            self._buffer.clear()
            self._start = 0
        elif self._start > 1 << 18:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += data

    def next_message(self) -> Reader | None:
        """Return the next complete message, or None until more bytes have come.

        Raises RemoteProtocolError for a bad header, a packet that fails authentication, or a
        message beyond the size limit; the connection is of no use afterwards.
        """
        while True:
            packet = self._next_packet()
            if packet is None:
                return None
            last, body = packet
            partial = self._partial
            if partial is None:
                if last:
                    return Reader(body, self.encrypted)
                partial = self._partial = bytearray()
            if len(partial) + len(body) > self.maximum_message:
                raise RemoteProtocolError(f"a message is longer than {self.maximum_message} bytes")
            partial += body
            if last:
                self._partial = None
                return Reader(bytes(partial), self.encrypted)

    @property
    def begun(self) -> bytes:
        """The first bytes of a message that has begun and is not complete; else nothing."""
        return bytes(self._partial[:_LOOKED_AT]) if self._partial else b""

    def next_part(self) -> tuple[bytes, bool] | None:
        """Return what has come of a message that has begun, and whether that is its end.

        None until more bytes have come. For a message too long to be held whole; all its parts
        are taken so. Raises as `next_message` does.
        """
        if self._partial:
            part, self._partial = bytes(self._partial), bytearray()
            return part, False
        packet = self._next_packet()
        if packet is None:
            return None
        last, body = packet
        self._partial = None if last else bytearray()
        return body, last

    def next_bodies(self) -> list[bytes]:
        """Return the bodies of all messages that have come whole, as `next_message` would.

        Its errors are raised when what came before has been taken.
        """
        found: list[bytes] = []
        try:
            while True:
                message = self.next_message()
                if message is None:
                    return found
                found.append(message.rest())
                if self._in.base_iv and self._cipher is not None:
                    self._decrypt_whole_messages(self._cipher, found)
        except RemoteProtocolError:
            if not found:
                raise
            return found

    def _decrypt_whole_messages(self, cipher: Cipher, found: list[bytes]) -> None:
        """Decrypt the next packets as long as each is a message by itself: most small ones are."""
        data, start = bytes(memoryview(self._buffer)[self._start :]), 0
        decrypt, next_iv = cipher.decrypt, self._in.next_iv
        end = len(data)
        try:
            while end - start > HEADER_SIZE:
                last, length = decode_header(data, start)
                inside = start + HEADER_SIZE
                after = inside + length
                if not last or after > end:
                    break
                found.append(decrypt(next_iv(), data[inside:after], data[start:inside]))
                start = after
        except self._decryption_errors as error:
            raise RemoteProtocolError("an encrypted packet fails its authentication") from error
        finally:
            self._start += start

    def _next_packet(self) -> tuple[bool, bytes] | None:
        """Cut the next packet out of the buffer and decrypt it."""
        start, buffer = self._start, self._buffer
        if len(buffer) - start < HEADER_SIZE:
            return None
        last, length = decode_header(buffer, start)
        inside = start + HEADER_SIZE
        end = inside + length
        if len(buffer) < end:
            return None
        if self._cipher is not None:
            body = self._decrypt(buffer[start:inside], buffer[inside:end])
        else:
            with memoryview(buffer) as view:
                self._received.update(view[start:end])
                body = bytes(view[inside:end])
        self._start = end
        return last, body

    def _decrypt(self, header: bytearray, body: bytearray) -> bytes:
        """Decrypt one received packet, which is the next of its direction."""
        assert self._cipher is not None
        if self._in.base_iv:
            associated: bytes | bytearray = header
        else:
            if len(body) < IV_SIZE:
                raise RemoteProtocolError("the first encrypted packet has no room for its IV")
            self._in.set_base_iv(bytes(body[:IV_SIZE]))
            body = body[IV_SIZE:]
            associated = self._digests[1] + self._digests[0] + header
        try:
            return self._cipher.decrypt(self._in.next_iv(), body, associated)
        except self._decryption_errors as error:
            raise RemoteProtocolError("an encrypted packet fails its authentication") from error

    def take_raw(self, limit: int) -> bytes:
        """Take up to `limit` buffered bytes that are no packets: a file's body in the clear.

        Empty until more bytes have come. Such bytes exist only on unencrypted connections and do
        not count in the digests.
        """
        if self._cipher is not None or self._partial is not None:
            raise LocalProtocolError("raw bytes cannot be taken here")
        end = min(self._start + limit, len(self._buffer))
        with memoryview(self._buffer) as view:
            data = bytes(view[self._start : end])
        self._start = end
        return data

    def take_rest(self) -> bytes:
        """Take what is buffered and no message: the connection is used for something else now."""
        if self._partial is not None:
            raise LocalProtocolError("the last message has not been received in full")
        rest = bytes(self._buffer[self._start :])
        self._start = len(self._buffer)
        return rest

    # Sending.

    def writer(self) -> Writer:
        """Return a writer for a message on this connection as it stands now."""
        return Writer(self.encrypted)

    def encode(self, writer: Writer) -> bytes:
        """Return the packets of one message.

        An empty message does not exist on the wire: nothing is returned for it.
        """
        if writer.encrypted != self.encrypted:
            raise LocalProtocolError("the message was composed before encryption started")
        return self.encode_body(writer.getvalue())

    def encode_body(self, body: bytes) -> bytes:
        """Return the packets of a message whose body was composed for this channel's state."""
        return self.encode_part(body, last=True) if body else b""

    def encode_bodies(self, bodies: Sequence[bytes]) -> bytes:
        """Return the packets of several messages, as `encode_body` one after the other would."""
        out, cipher = self._out, self._cipher
        if cipher is None or not out.base_iv or max(map(len, bodies), default=0) > SENT_BODY:
            return b"".join(map(self.encode_body, bodies))
        encrypt, next_iv = cipher.encrypt, out.next_iv
        packets: list[bytes] = []
        for body in bodies:
            if body:
                header = encode_header(len(body) + TAG_SIZE, last=True)
                packets += header, encrypt(next_iv(), body, header)
        return b"".join(packets)

    def encode_part(self, part: bytes, *, last: bool) -> bytes:
        """Return the packets of a part of a message's body; `last` ends the message.

        A long message is sent part by part, so that it need never be held whole.
        """
        if len(part) <= SENT_BODY:
            return self._encode_packet(part, last=last)
        view = memoryview(part)
        packets: list[bytes] = []
        for start in range(0, len(part), SENT_BODY):
            end = start + SENT_BODY
            packets.append(
                self._encode_packet(bytes(view[start:end]), last=last and end >= len(part))
            )
        return b"".join(packets)

    def _encode_packet(self, body: bytes, *, last: bool) -> bytes:
        """Return one packet, encrypted if encryption is on."""
        if self._cipher is None:
            packet = encode_header(len(body), last=last) + body
            self._sent.update(packet)
            return packet
        out = self._out
        if out.base_iv:
            header = encode_header(len(body) + TAG_SIZE, last=last)
            return header + self._cipher.encrypt(out.next_iv(), body, header)
        out.set_base_iv(self._random_bytes(IV_SIZE))
        header = encode_header(len(body) + TAG_SIZE + IV_SIZE, last=last)
        associated = self._digests[0] + self._digests[1] + header
        base = out.base_iv
        return header + base + self._cipher.encrypt(out.next_iv(), body, associated)

    # Handing a connection to another process.

    def export(self) -> bytes:
        """Return everything another process of ours needs to go on with this connection.

        The result holds the session key: it may go through an inherited socket, never to a peer.
        What was received and not read travels with it; this object must not be used afterwards.
        """
        state = Writer()
        state.integer(_STATE_VERSION)
        clear_bytes = bool(self._sent.counted or self._received.counted) or self._unknown_digests
        state.integer(int(clear_bytes and not self.encrypted))
        for field in (
            self._key or b"",
            *self._digests,
            self._out.base_iv,
            self._in.base_iv,
            bytes(memoryview(self._buffer)[self._start :]),
        ):
            state.integer(len(field)).raw(field)
        state.integer(self._out.count).integer(self._in.count)
        state.integer(int(self._partial is not None))
        if self._partial is not None:
            state.integer(len(self._partial)).raw(bytes(self._partial))
        return state.getvalue()

    @classmethod
    def restore(cls, state: bytes, random_bytes: Callable[[int], bytes]) -> Channel:
        """Rebuild the channel that `export` described, in the process that has the socket now."""
        reader = Reader(state)
        if reader.integer() != _STATE_VERSION:
            raise RemoteProtocolError("a connection was handed over by another version")
        channel = cls(random_bytes)
        channel._unknown_digests = reader.integer() != 0
        fields = [reader.raw(reader.count(MAXIMUM_MESSAGE)) for _ in range(6)]
        key, sent, received, out_iv, in_iv, buffered = fields
        channel._digests = (sent, received)
        channel._out = Direction(out_iv, reader.integer())
        channel._in = Direction(in_iv, reader.integer())
        channel._buffer += buffered
        if reader.integer():
            channel._partial = bytearray(reader.raw(reader.count(MAXIMUM_MESSAGE)))
        if key:
            channel._install(key)
        return channel
