"""A certificate authority of our own, and one certificate that it signed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from workflows.clusters import Certificates


def make_certificates(folder: Path) -> Certificates:
    """Write an authority's certificate, and one for schedulers, workers and clients alike."""
    folder.mkdir()
    authority, member = generate_private_key(SECP256R1()), generate_private_key(SECP256R1())
    files = Certificates(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
    Path(files.ca).write_bytes(_signed("authority", authority, authority))
    Path(files.cert).write_bytes(_signed("member", member, authority))
    private = member.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    Path(files.key).write_bytes(private)
    return files


def dask_options(files: Certificates) -> tuple[str, ...]:
    """Return the options by which a scheduler and its workers use certificates."""
    named = {"--tls-ca-file": files.ca, "--tls-cert": files.cert, "--tls-key": files.key}
    return ("--protocol", "tls", *(str(word) for pair in named.items() for word in pair))


def _signed(name: str, owner: EllipticCurvePrivateKey, signer: EllipticCurvePrivateKey) -> bytes:
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named("authority"))
        .public_key(owner.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=owner is signer, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
