"""Secret keys and seeds of the office."""

from diskret.keys.numbers import keyed_numbers
from diskret.keys.records import (
    derive_record_keys,
    draw_record_keys,
    members_keys,
    modulus_with,
    scaled_keys,
)
from diskret.keys.secret import SecretKeys, key_file

__all__ = [
    "SecretKeys",
    "derive_record_keys",
    "draw_record_keys",
    "key_file",
    "keyed_numbers",
    "members_keys",
    "modulus_with",
    "scaled_keys",
]
