"""Users of a service: who is let in by which token, as their file or a database says."""

from __future__ import annotations

import logging
import os
import threading
from datetime import date
from pathlib import Path

from diskret.errors import DiskretError, InputError
from diskret.jobs.toml_text import toml
from diskret.keys import SecretKeys
from diskret.serve.roles import ROLES as ROLES
from diskret.serve.roles import User as User
from diskret.serve.roles import check_name
from diskret.serve.tokens import Token, drawn, fits, number_of
from diskret.serve.tokens import checked_token as checked_token
from diskret.serve.user_file import Known, UserFile, ends
from diskret.serve.user_file import make_users as make_users
from diskret.serve.user_log import UserLog

_log = logging.getLogger("diskret")

#: What a token that is not there is compared with.
_NOBODY = Token("", "", date.min, "0" * 64)


class Users:
    """The users in a file or a database, read again when it changes. Confidential.

    It only grows: a new token, or the end of one, is a section more, so what people wrote
    into it stays as it is.

    Parameters
    ----------
    place
        A file as `make_users` makes it, or a `UserLog`.
    keys
        The office's secret keys. Hashes of tokens are keyed, so who can write into the file but has
        no keys makes no token.

    Raises
    ------
    InputError
        The file is not there or others can read it.
    JobError
        It says something that cannot be; names the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     make_users(f"{folder}/users.toml")
    ...     users = Users(f"{folder}/users.toml", SecretKeys(bytes(range(32))))
    ...     users.add(User("anne", "reader", ("census",)))
    ...     token = users.new_token("anne", until=date(2027, 12, 31))
    ...     users.of(token, today=date(2027, 1, 1))
    ...     users.of(token, today=date(2028, 1, 1))
    User(name='anne', role='reader', data=('census',))
    """

    def __init__(self, place: str | os.PathLike[str] | UserLog, keys: SecretKeys):
        self._place = place if isinstance(place, UserLog) else UserFile(Path(place))
        self._path = self._place.path
        self._keys = keys
        self._lock = threading.Lock()
        self._state = self._place.state()
        self._known = self._place.read()

    def __repr__(self) -> str:
        return f"Users({str(self._path)!r})"

    @property
    def names(self) -> list[str]:
        """Of all users."""
        return [*self._now().users]

    def user(self, name: str) -> User:
        """A user by name.

        Raises
        ------
        InputError
            There is none.
        """
        return self._user(self._now(), name)

    def of(self, token: str, today: date) -> User | None:
        """The user whose token it is; None: it is nobody's, or its time is over."""
        number = number_of(token)
        if number is None:
            return None
        known = self._now()
        # a token that is unknown costs as much as one that is wrong
        kept = known.tokens.get(number, _NOBODY)
        right = fits(token, kept, self._keys)
        return known.users[kept.user] if right and today <= kept.until else None

    def tokens(self, name: str, today: date) -> list[Token]:
        """The tokens of a user that are valid, oldest first.

        Raises
        ------
        InputError
            There is no such user.
        """
        known = self._now()
        return known.valid(self._user(known, name).name, today)

    # ── changes ─────────────────────────────────────────────────────────────────

    def add(self, user: User) -> None:
        """Add a user, or change one: what is said last counts.

        Raises
        ------
        InputError
            There is no such role, or name or data sets cannot be.
        """
        if user.role not in ROLES:
            raise InputError(f"a role is one of {', '.join(ROLES)}, not {user.role!r}")
        check_name(user.name)
        if user.data is not None and not user.data:
            raise InputError("name at least one data set; None stands for all of them")
        said = ["[[users]]", f"name = {toml(user.name)}", f"role = {toml(user.role)}"]
        if user.data is not None:
            said.append(f"data = {toml([*user.data])}")
        self._place.append(lambda known: said)

    def new_token(self, name: str, until: date, *, others_until: date | None = None) -> str:
        """A token for a user. It is shown this once: only its hash is kept.

        Parameters
        ----------
        name
            Of the user.
        until
            Its last day.
        others_until
            Last day of the tokens that the user has, where they are valid longer; None: they stay
            as they are.

        Raises
        ------
        InputError
            There is no such user.
        """
        made = ""

        def said(known: Known) -> list[str]:
            nonlocal made
            self._user(known, name)
            made, kept = drawn(self._keys, name, until)
            while kept.number in known.tokens:
                made, kept = drawn(self._keys, name, until)
            lines = ["[[tokens]]", f"number = {toml(kept.number)}", f"user = {toml(name)}"]
            lines += [f"hash = {toml(kept.hash)}", f"until = {until.isoformat()}"]
            if others_until is not None:
                others = known.valid(name, others_until)
                lines += ends((one.number for one in others), others_until)
            return lines

        self._place.append(said)
        return made

    def revoke(self, name: str, today: date) -> int:
        """End all tokens of a user at once; how many there were.

        Raises
        ------
        InputError
            There is no such user.
        """
        ended: list[Token] = []

        def said(known: Known) -> list[str]:
            ended.extend(known.valid(self._user(known, name).name, today))
            return ends(one.number for one in ended)

        self._place.append(said)
        return len(ended)

    def revoke_token(self, token: str) -> User:
        """End one token at once, such as one that was found where it should not be.

        Parameters
        ----------
        token
            The token, or its number, which are the eight digits after ``dsk_``.

        Returns
        -------
        User
            Whose it was.

        Raises
        ------
        InputError
            There is no such token.
        """
        number = number_of(token.strip()) or token.strip()
        whose = ""

        def said(known: Known) -> list[str]:
            nonlocal whose
            if number not in known.tokens:
                raise InputError(
                    f"{self._path} has no such token; name its number, which are the eight digits "
                    "after dsk_"
                )
            whose = known.tokens[number].user
            return ends([number])

        self._place.append(said)
        return self.user(whose)

    def _user(self, known: Known, name: str) -> User:
        if name not in known.users:
            raise InputError(f"{self._path} has no user {name!r}")
        return known.users[name]

    def _now(self) -> Known:
        """What the file says; where a change of it cannot be read, what it said before."""
        with self._lock:
            state = self._place.state()
            if state != self._state:
                self._state = state
                try:
                    self._known = self._place.read()
                except (DiskretError, OSError) as error:
                    _log.warning(f"users stay as they were: {error}")
            return self._known
