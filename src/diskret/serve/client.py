"""A service from afar: data sets, and tables as frames."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import threading
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlencode, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from diskret.errors import DiskretError, InputError
from diskret.serve.tokens import checked_token

if TYPE_CHECKING:
    from diskret.remote.session import Session

Frames = Literal["arrow", "pandas", "polars"]
_FRAMES = ("arrow", "pandas", "polars")
#: Bytes of an answer that a service may send.
_LARGEST = 2**30
_HERE = ("127.0.0.1", "::1", "localhost")


class ServiceError(DiskretError):
    """What a service answers in place of a table.

    Parameters
    ----------
    said
        What the service says, in the language of the connection.
    status
        Of HTTP; 0: there was no answer.
    wait
        Seconds after which it may be asked again, where it says so.
    """

    def __init__(self, said: str, status: int = 0, wait: int | None = None):
        super().__init__(said)
        self.status = status
        self.wait = wait


class Service:
    """A connection to a tabulation service, made by `connect`; threads may share it."""

    def __init__(
        self, url: str, token: str, frames: Frames, language: str, timeout: float, ca: str | None
    ):
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        known = parts.scheme in ("http", "https") and not parts.username and port != -1
        if not known or not parts.hostname:
            raise InputError(f"{url!r} is no address of a service: https://host[:port]")
        if parts.scheme == "http" and parts.hostname not in _HERE:
            raise InputError("a token must not travel in the clear; the address begins with https")
        self._token = token
        self._frames: Frames = frames
        self._language = language
        self._path = parts.path.rstrip("/")
        self._lock = threading.Lock()
        self._shown = f"{parts.scheme}://{parts.netloc}{self._path}"
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=ca)
            self._line: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname, port, timeout=timeout, context=context
            )
        else:
            self._line = http.client.HTTPConnection(parts.hostname, port, timeout=timeout)

    def __repr__(self) -> str:
        return f"Service({self._shown!r})"

    def data(self) -> list[dict[str, Any]]:
        """The data sets that you may ask of: names, labels, variables with codes, tables left."""
        return self._json("GET", "/v1/data")

    def describe(self, name: str) -> dict[str, Any]:
        """One of them."""
        return self._json("GET", f"/v1/data/{quote(name, safe='')}")

    def table(
        self,
        data: str,
        by: Sequence[str | Mapping[str, Any]] = (),
        where: Mapping[str, Sequence[str]] | None = None,
        **more: Any,
    ) -> Any:
        """A table, protected: a frame with a row for each cell.

        Parameters
        ----------
        data
            Name of the data set.
        by
            Variables of the table, in their order, by name or as
            ``{"variable": name, "level": number}``; none: the total.
        where
            Variable → the codes that count; None: all records.
        **more
            Further keys of a question, as the service describes them.

        Returns
        -------
        frame
            Codes, the value, and ``status``, of the kind that `connect` was asked for.

        Raises
        ------
        ServiceError
            The service refuses the question; says why.
        """
        asked = {"data": data, "by": [*by], "where": {k: [*v] for k, v in (where or {}).items()}}
        content = self._sent("POST", "/v1/tables?form=parquet", asked | more)
        return _framed(pq.read_table(BytesIO(content)), self._frames)

    def download(self, question: Mapping[str, Any], form: str) -> bytes:
        """The table of a question as a file, in a form of the service such as ``csv``."""
        return self._sent("POST", f"/v1/tables?{urlencode({'form': form})}", dict(question))

    def remote(self, project: str, data: str) -> Session:
        """Remote access to a data set that nobody sees: analyses, comparisons, submissions.

        Parameters
        ----------
        project, data
            Names, as registered.
        """
        from diskret.remote.session import Session

        def gate(request: str) -> str:
            return self._sent("POST", "/v1/remote", json.loads(request)).decode()

        return Session(project, data, gate)

    def desk(self, do: str = "list", **asked: str) -> dict[str, Any]:
        """The checker's desk: ``"list"``, ``"show"``, ``"comment"`` or ``"decide"``.

        Parameters
        ----------
        do
            What is asked for.
        asked
            `project` and `result`; `text` of a comment; `decision` (``"accept"``, ``"refuse"``,
            ``"return"``) and `why`.
        """
        return json.loads(self._sent("POST", "/v1/desk", {"do": do, **asked}))

    def close(self) -> None:
        """End the connection; the next question opens it again."""
        with self._lock:
            self._line.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _json(self, method: str, path: str) -> Any:
        return json.loads(self._sent(method, path))

    def _sent(self, method: str, path: str, asked: Any = None) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Accept-Language": self._language}
        body = None
        if asked is not None:
            body = json.dumps(asked).encode()
            headers["Content-Type"] = "application/json"
        with self._lock:
            status, wait, content = self._once(method, self._path + path, body, headers)
        if status == 401:
            checked_token(self._token)
        if status != 200:
            raise ServiceError(_problem_of(content, status), status, wait)
        return content

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, int | None, bytes]:
        fresh = self._line.sock is None
        try:
            self._line.request(method, path, body, headers)
            answer = self._line.getresponse()
            content = answer.read(_LARGEST + 1)
        except (OSError, http.client.HTTPException) as error:
            self._line.close()
            if not fresh:  # the service ended a connection that nobody used
                return self._once(method, path, body, headers)
            raise ServiceError(f"{self._shown} does not answer: {error}") from error
        if len(content) > _LARGEST:
            self._line.close()
            raise ServiceError(f"{self._shown} sends more than a table")
        wait = answer.headers.get("Retry-After", "")
        return answer.status, int(wait) if wait.isdigit() else None, content


def connect(
    url: str,
    *,
    token: str | None = None,
    frames: Frames = "pandas",
    language: str = "en",
    timeout: float = 60.0,
    ca: str | os.PathLike[str] | None = None,
) -> Service:
    """Connect to a tabulation service, as ``diskret serve`` runs one.

    Parameters
    ----------
    url
        ``https://host[:port]``; ``http://`` only to this machine.
    token
        Your token; None: that of the variable ``DISKRET_TOKEN``.
    frames
        Tables are ``"arrow"``, ``"pandas"`` or ``"polars"``.
    language
        Of what the service says: ``"en"`` or ``"de"``.
    timeout
        Seconds.
    ca
        File of certificates to trust in place of the system's.

    Returns
    -------
    Service
        ``service.data()`` lists data sets, ``service.table("census", by=["sex"])`` is a table.

    Raises
    ------
    InputError
        The address is none, would send the token in the clear, or there is no token.

    Examples
    --------
    >>> connect("https://tables.example", token="dsk_example")
    Service('https://tables.example')
    """
    token = os.environ.get("DISKRET_TOKEN", "") if token is None else token
    if not token or not token.isascii() or not token.isprintable():
        raise InputError("there is no token: give token= or set the variable DISKRET_TOKEN")
    if frames not in _FRAMES:
        raise InputError(f"frames= must be one of {', '.join(_FRAMES)}")
    return Service(url, token, frames, language, timeout, None if ca is None else os.fspath(ca))


def _problem_of(content: bytes, status: int) -> str:
    try:
        return str(json.loads(content)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the service answers with status {status}"


def _framed(table: pa.Table, frames: Frames) -> Any:
    if frames == "pandas":
        return table.to_pandas()
    if frames == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return table
