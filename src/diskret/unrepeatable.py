"""What no second run repeats and a ledger keeps: the time, and a number never drawn before.

Everything asks here, through the module (``unrepeatable.now()``), so that a test that compares
two runs has one place to hold still. There is no switch: nothing in a production run can.
"""

import secrets
from datetime import UTC, datetime


def now() -> str:
    """The time in UTC to the second, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def new_number() -> str:
    """A number that tells one ledger from all others: 32 hexadecimal digits."""
    return secrets.token_hex(16)
