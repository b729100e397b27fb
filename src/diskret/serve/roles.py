"""Who may do what: roles, and users who have one."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from diskret.errors import InputError

#: Role → what it may do.
ROLES: Mapping[str, frozenset[str]] = {
    "reader": frozenset({"ask"}),
    "researcher": frozenset({"ask", "analyse"}),
    "checker": frozenset({"check"}),
    "owner": frozenset({"ask", "see_resistance"}),
    "admin": frozenset({"administer"}),
}


@dataclass(frozen=True)
class User:
    """Somebody who may ask.

    Parameters
    ----------
    name
        By which the service knows the user for ever: allowances are counted by it.
    role
        One of `ROLES`.
    data
        Names of the data sets that may be asked of; None: all.

    Examples
    --------
    >>> User("anne", "reader").may("ask"), User("anne", "reader").may("check")
    (True, False)
    """

    name: str
    role: str
    data: tuple[str, ...] | None = None

    def may(self, right: str) -> bool:
        """Whether the role has a right: ask, analyse, check, see_resistance or administer."""
        return right in ROLES[self.role]

    def sees(self, data: str) -> bool:
        """Whether the user may ask of a data set."""
        return self.data is None or data in self.data


def check_name(name: str) -> None:
    """Refuse what cannot be printed, or looks like another name and is not the same."""
    plain = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(name) <= 100 or not name.isprintable() or name != plain:
        raise InputError(
            "names of users have 1 to 100 characters that can be printed, composed (NFC), and no "
            "blank at either end"
        )
