"""Throw-away certificates for tests of SSL authentication."""

from __future__ import annotations

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


class Authority:
    """A throw-away certificate authority with two certificates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
        own = self._sign(self.name, self.key, authority=True)
        (folder / "ca.pem").write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, authority: bool, dns: str = ""
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - datetime.timedelta(days=1000))
            .not_valid_after(NOW + datetime.timedelta(days=10000))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if dns:
            names = x509.SubjectAlternativeName([x509.DNSName(dns)])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256())

    def make(self, name: str, subject: str, dns: str = "") -> tuple[str, str]:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(
            x509.Name.from_rfc4514_string(subject), key, authority=False, dns=dns
        )
        paths = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return str(paths[0]), str(paths[1])
