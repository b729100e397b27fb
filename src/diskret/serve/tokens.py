"""What a token looks like, and the keyed hash that is kept of it."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import date

from diskret.errors import InputError
from diskret.keys import SecretKeys

_PURPOSE = "token of a service"
_FORM = re.compile(r"dsk_([0-9a-f]{8})_([A-Za-z0-9_-]{43})([0-9a-f]{4})")
_NUMBER = re.compile(r"[0-9a-f]{8}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Token:
    """What is kept of a token.

    Parameters
    ----------
    number
        8 hexadecimal digits that name it; they are no secret.
    user
        Name of the user.
    until
        Its last day.
    hash
        Keyed hash of user, number and secret.
    """

    number: str
    user: str
    until: date
    hash: str = field(repr=False)

    def ended(self, until: date) -> Token:
        """The token with an earlier last day; a later one changes nothing."""
        return replace(self, until=min(self.until, until))


def drawn(keys: SecretKeys, user: str, until: date) -> tuple[str, Token]:
    """A new token, and what is kept of it: 256 random bits of the operating system."""
    number, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    kept = Token(number, user, until, _hash(keys, user, number, secret))
    return f"dsk_{number}_{secret}{_check(number, secret)}", kept


def number_of(token: str) -> str | None:
    """The number of a token; None: it cannot be one."""
    found = _FORM.fullmatch(token)
    return None if found is None else found[1]


def fits(token: str, kept: Token, keys: SecretKeys) -> bool:
    """Whether it is the token that this was kept of, in a time that does not say how nearly."""
    found = _FORM.fullmatch(token)
    if found is None:
        return False
    number, secret, check = found.groups()
    own = _hash(keys, kept.user, number, secret)
    return hmac.compare_digest(own, kept.hash) and check == _check(number, secret)


def checked_token(token: str) -> str:
    """A token as it was typed, where it can be one.

    Raises
    ------
    InputError
        Something is missing of it, or mistyped; the message does not repeat it.

    Examples
    --------
    >>> own, _ = drawn(SecretKeys(bytes(range(32))), "anne", date(2027, 12, 31))
    >>> checked_token(f" {own} ") == own
    True
    """
    found = _FORM.fullmatch(token.strip())
    if found is None or _check(found[1], found[2]) != found[3]:
        raise InputError("this is no token: it begins with dsk_ and must be complete")
    return token.strip()


def is_number(text: str) -> bool:
    """Whether it can be the number of a token."""
    return _NUMBER.fullmatch(text) is not None


def is_hash(text: str) -> bool:
    """Whether it can be the hash of a token."""
    return _HASH.fullmatch(text) is not None


def _check(number: str, secret: str) -> str:
    """Four characters by which a mistyped token is told before it is sent."""
    return hashlib.sha256(f"{number}_{secret}".encode()).hexdigest()[:4]


def _hash(keys: SecretKeys, user: str, number: str, secret: str) -> str:
    """Of a token; the user is part of it, so that it is of no use to another one."""
    return keys.fingerprint(_PURPOSE, [user.encode(), number.encode(), secret.encode()])
