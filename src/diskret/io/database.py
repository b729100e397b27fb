"""Records that lie in a table of a database, and how it is named without its password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from diskret.errors import InputError

# A password with a bare @, / or ? would be taken for a host, and shown; so none is let in.
_URL = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^@/?#:]*)(?::(?P<password>[^@/?#]*))?@)?"
    r"(?P<server>(?:\[(?P<number>[0-9A-Fa-f:.%]+)\]|(?P<name>[^@/?#:\[\],]*))(?::(?P<port>\d+))?)"
    r"(?:/(?P<database>[^@/?#]*))?(?:\?(?P<options>[^@#]*))?"
)


@dataclass(frozen=True)
class PostgresTable:
    """A table or view in PostgreSQL, as records to tabulate where they are.

    Parameters
    ----------
    url
        ``postgresql://user@host:port/database``, options after ``?`` as the page on job files
        lists them. A password may stand in it, but is better left to ``PGPASSWORD``; it is
        never shown.
    table
        ``"firms"``, or with its schema ``"register.firms"``; upper and lower case count.

    Raises
    ------
    InputError
        The url or the name of the table cannot be understood. The message does not repeat
        the url.

    Examples
    --------
    >>> PostgresTable("postgresql://clerk:secret@db.example/register", "firms")
    PostgresTable('postgresql://db.example/register', 'firms')
    """

    url: str = field(repr=False)
    table: str

    def __post_init__(self) -> None:
        if not isinstance(self.url, str) or not _URL.fullmatch(self.url):
            raise InputError(
                "the url of the database cannot be understood (it is not shown because it may "
                "hold a password); write postgresql://user@host:port/database, special "
                "characters in names and passwords as %XX, e.g. %40 for @"
            )
        if not isinstance(self.table, str) or not 1 <= len(self.path) <= 2 or not all(self.path):
            raise InputError(
                f"{self.table!r} names no table; write table='firms', or table='schema.firms'"
            )

    @property
    def path(self) -> tuple[str, ...]:
        """The table, or schema and table."""
        return tuple(self.table.split("."))

    @property
    def address(self) -> str:
        """The url without user, password and options: for messages."""
        found = url_parts(self.url)
        return f"postgresql://{found['server']}/{found['database']}"

    def __repr__(self) -> str:
        return f"PostgresTable({self.address!r}, {self.table!r})"


def url_parts(url: str) -> dict[str, str]:
    """The parts of a url by name, as they stand there; "" for what it leaves out."""
    found = _URL.fullmatch(url)
    return {} if found is None else found.groupdict("")
