"""Who enters something in a ledger."""

import getpass

from diskret.errors import InputError


def who_of(given: str | None) -> str:
    """The name given, or that of the login.

    Raises
    ------
    InputError
        None is given, and the system does not say who is logged in.
    """
    if given is not None:
        return given
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        raise InputError("the system does not say who is logged in: give who=") from None
