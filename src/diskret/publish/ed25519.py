"""Ed25519 (RFC 8032) by `cryptography`: the one place that knows that library."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from diskret.disk import open_to_others
from diskret.errors import InputError, KeyFileError

#: The variable that holds the password of private keys.
PASSWORD = "DISKRET_SIGNING_PASSWORD"  # noqa: S105 (a name, no password)


def available() -> bool:
    """Whether signatures can be made and checked here."""
    return find_spec("cryptography") is not None


def check_available() -> None:
    """Refuse to go on without the library.

    Raises
    ------
    InputError
        It is not installed; says how it is.
    """
    if not available():
        raise InputError(
            "signatures need cryptography; install it with: pip install 'diskret[sign]'"
        )


def new_pair() -> tuple[str, bytes]:
    """A new public key, 64 hexadecimal digits, and the private one in PEM (PKCS #8).

    It is encrypted if there is a password.
    """
    check_available()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key, word = Ed25519PrivateKey.generate(), _password()
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(word) if word else serialization.NoEncryption(),
    )
    return key.public_key().public_bytes_raw().hex(), text


def read_private(path: Path) -> tuple[str, Callable[[bytes], bytes]]:
    """The public key of a private one in a file, and what signs with it: text → 64 bytes.

    Raises
    ------
    KeyFileError
        It is missing, damaged, readable by others or no Ed25519 key, or the password is wrong.
    """
    check_available()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if not path.exists():
        raise KeyFileError(f"{path} is missing; restore it from a backup, or: diskret sign rotate")
    if open_to_others(path):
        raise KeyFileError(f"{path} can be read by others; run: chmod 600 {path}")
    try:
        key = load_pem_private_key(path.read_bytes(), _password())
    except (ValueError, TypeError):
        raise KeyFileError(
            f"{path} is no private key, or the password in {PASSWORD} is not the one it has"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path} is no Ed25519 key")
    return key.public_key().public_bytes_raw().hex(), key.sign


def read_public(path: Path) -> str:
    """The public key in a PEM file, 64 hexadecimal digits.

    Raises
    ------
    InputError
        The file holds none.
    """
    check_available()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(path.read_bytes())
    except (ValueError, TypeError):
        raise InputError(f"{path} holds no public key; a private one is for nobody else") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{path} is no Ed25519 key")
    return key.public_bytes_raw().hex()


def is_signature(public: str, signature: bytes, text: bytes) -> bool:
    """Whether the holder of a key signed exactly this text."""
    check_available()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def _password() -> bytes | None:
    return os.environ.get(PASSWORD, "").encode() or None
