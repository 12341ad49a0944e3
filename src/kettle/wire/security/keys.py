"""Keys: ECDH on P-256, HKDF, HMAC, and the wrapping of a key under a method's own.

Arithmetic only. `cryptography` is imported where it is needed, so that a tool that does not connect
does not pay for it; neither does it pay for the standard library's
hashes, which bring a second copy of OpenSSL (3 ms). Source: wire notes, ECDH key, Key
exchange message.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from kettle.errors import RemoteProtocolError
from kettle.named_tuples import NamedTuple

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

SALT = b"htcondor"
KEYGEN = b"keygen"
AES_KEY_SIZE = 32
# AES cannot seal a datagram here; a session's key does it under this cipher, if both name it.
DATAGRAM_CIPHER = "BLOWFISH"


def hkdf(secret: bytes, *, salt: bytes, info: bytes, size: int = AES_KEY_SIZE) -> bytes:
    """Derive `size` bytes with HKDF-SHA-256."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), size, salt, info).derive(secret)


def session_key(secret: bytes, size: int = AES_KEY_SIZE) -> bytes:
    """Derive the session key from an ECDH secret or from a claim's secret."""
    return hkdf(secret, salt=SALT, info=KEYGEN, size=size)


def hmac_sha1(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA-1, which the password exchange is built on."""
    import hashlib
    import hmac

    return hmac.digest(key, data, hashlib.sha1)


class KeyPair(NamedTuple):
    """One side's fresh key pair; `public` is the text that goes into its ad."""

    private: EllipticCurvePrivateKey
    public: str

    def shared_key(self, peer_public: str) -> bytes:
        """Return the session key shared with the owner of `peer_public`.

        Raises RemoteProtocolError for text that is no point of the curve.
        """
        from cryptography.hazmat.primitives.asymmetric import ec

        try:
            point = base64.b64decode(peer_public, validate=True)
            public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        except (binascii.Error, ValueError) as error:
            raise RemoteProtocolError("the peer's ECDH key is not valid") from error
        return session_key(self.private.exchange(ec.ECDH(), public))


def make_key_pair(scalar: int | None = None) -> KeyPair:
    """Make a fresh key pair; a fixed scalar is for tests."""
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        # The public name's package loads every key format there is, which costs a tool 7 ms.
        from cryptography.hazmat.primitives._serialization import Encoding, PublicFormat
    except ImportError:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    curve = ec.SECP256R1()
    private = (
        ec.generate_private_key(curve) if scalar is None else ec.derive_private_key(scalar, curve)
    )
    point = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return KeyPair(private, base64.b64encode(point).decode("ascii"))


def adapt_3des_key(key: bytes) -> bytes:
    """Fit a key to 24 bytes: repeat a shorter one, fold the rest of a longer one by XOR."""
    if not key:
        raise RemoteProtocolError("an empty key cannot wrap anything")
    if len(key) < 24:
        return (key * (24 // len(key) + 1))[:24]
    folded = bytearray(key[:24])
    for position, byte in enumerate(key[24:]):
        folded[position % 24] ^= byte
    return bytes(folded)


def wrap(key: bytes, data: bytes) -> bytes:
    """Encrypt a session key under a method's wrap key: 3DES, CFB-64, zero IV."""
    encryptor = _wrap_cipher(key).encryptor()
    return bytes(encryptor.update(data) + encryptor.finalize())


def unwrap(key: bytes, data: bytes) -> bytes:
    """Decrypt what `wrap` encrypted."""
    decryptor = _wrap_cipher(key).decryptor()
    return bytes(decryptor.update(data) + decryptor.finalize())


def _wrap_cipher(key: bytes) -> Any:
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES

    return cfb64(TripleDES(adapt_3des_key(key)))


def cfb64(algorithm: Any) -> Any:
    """Make a cipher of 64-bit blocks in CFB mode, zero IV, wherever the package keeps the mode."""
    from cryptography.hazmat.primitives.ciphers import Cipher

    try:
        from cryptography.hazmat.decrepit.ciphers.modes import CFB
    except ImportError:
        from cryptography.hazmat.primitives.ciphers.modes import CFB

    return Cipher(algorithm, CFB(bytes(8)))
