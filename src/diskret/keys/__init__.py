"""Secret keys and seeds of the office."""

from diskret.keys.secret import SecretKeys

__all__ = ["SecretKeys"]
