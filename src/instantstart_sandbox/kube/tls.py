"""The certificate authority of a state folder and the server certificate that strict clients accept."""

from __future__ import annotations

import base64
import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_YEARS = timedelta(days=3650)


@dataclass(frozen=True)
class CaFiles:
    """Paths of the authority's certificate and of the server's certificate and key."""

    ca: Path
    certificate: Path
    key: Path

    @property
    def ca_data(self) -> str:
        """The authority's certificate as kubeconfig and DescribeCluster carry it (base64 of the PEM)."""
        return base64.b64encode(self.ca.read_bytes()).decode()


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePublicKey, signer: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    start = datetime.now(UTC) - timedelta(days=1)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _YEARS)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def ensure_ca(state_dir: Path) -> CaFiles:
    """The files of a state folder (`ca.pem`, `server.pem`, `server.key`), made once; the CA's key is not kept."""
    found = CaFiles(state_dir / "ca.pem", state_dir / "server.pem", state_dir / "server.key")
    if all(p.exists() for p in (found.ca, found.certificate, found.key)):
        return found
    state_dir.mkdir(parents=True, exist_ok=True)
    root, leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = (
        _builder("kubernetes", "kubernetes", root.public_key(), root.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .sign(root, hashes.SHA256())
    )
    names = [
        x509.DNSName("localhost"),
        x509.DNSName("kubernetes"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        x509.IPAddress(ipaddress.ip_address("::1")),
    ]
    server = (
        _builder("kube-apiserver", "kubernetes", leaf.public_key(), root.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(root, hashes.SHA256())
    )
    found.key.touch(mode=0o600)
    found.key.write_bytes(_pem(leaf))
    found.certificate.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    found.ca.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    return found


def server_context(files: CaFiles) -> ssl.SSLContext:
    """The TLS settings of the Kubernetes port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    return context
