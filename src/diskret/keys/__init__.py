"""Secret keys and seeds of the office."""

from diskret.keys.numbers import keyed_numbers
from diskret.keys.secret import SecretKeys

__all__ = ["SecretKeys", "keyed_numbers"]
