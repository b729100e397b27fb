"""A service that listens, for tests: users by token, and a bare client that says what it gets."""

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from serving import tabulator

from diskret.serve.config import Limits, Service
from diskret.serve.web.app import application
from diskret.serve.web.gate import Gate
from diskret.serve.web.server import server


@dataclass(frozen=True)
class Somebody:
    """A user with all rights that are named."""

    name: str
    role: str = "reader"
    rights: tuple[str, ...] = ("ask",)
    data: tuple[str, ...] = ("census",)

    def may(self, right):
        return right in self.rights

    def sees(self, data):
        return data in self.data


USERS = {
    "dsk_anne": Somebody("anne"),
    "dsk_bob": Somebody("bob"),
    "dsk_carl": Somebody("carl", data=()),
    "dsk_olga": Somebody("olga", "owner", ("ask", "see_resistance")),
    "dsk_kim": Somebody("kim", "researcher", ("ask", "analyse")),
    "dsk_eve": Somebody("eve", "researcher", ("ask", "analyse")),
    "dsk_lee": Somebody("Lee", "checker", ("check",), ()),
    "dsk_adam": Somebody("adam", "admin", ("administer",), ()),
}


class Free:
    """A limit that lets everybody through."""

    def take(self, who, now):
        return 0.0


def service(tables, **limits):
    return Service("Tables", Path("users.toml"), "log.db", (), port=0, limits=Limits(**limits))


@contextmanager
def listening(
    tables=None, *, users=USERS.get, rate=None, failures=None, office=None, desk=None, **limits
):
    """The address of a service in a thread of its own."""
    asked = service(tables, **limits)
    limits_of = [Free() if one is None else one for one in (rate, failures)]
    gate = Gate(lambda token, now: users(token), *limits_of)
    app = application(
        tables or tabulator(), gate, asked.title, asked.limits, office=office, desk=desk
    )
    ready, address = threading.Event(), []

    def told(url):
        address.append(url)
        ready.set()

    own = server(app, asked, told)
    thread = threading.Thread(target=own.run, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield address[0]
    finally:
        own.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@dataclass
class Got:
    """A response."""

    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def json(self):
        return json.loads(self.content)

    @property
    def problem(self):
        """What a reader is told of an error."""
        assert self.headers["content-type"] == "application/problem+json"
        assert self.json["status"] == self.status
        return self.json["detail"]


def send(url, method, path, body=None, token: str | None = "dsk_anne", **headers):
    """One request on a connection of its own."""
    parts = urlsplit(url)
    line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    given = {key.replace("_", "-"): value for key, value in headers.items()}
    if token is not None:
        given["Authorization"] = f"Bearer {token}"
    if body is not None and not isinstance(body, bytes):
        body, given = json.dumps(body).encode(), {"Content-Type": "application/json"} | given
    line.request(method, path, body, given)
    answer = line.getresponse()
    got = Got(answer.status, answer.headers, answer.read())
    line.close()
    return got


def ask(url, by=(), where=None, token="dsk_anne", query="", **more):
    """A question for a table."""
    asked = {"data": "census", "by": [*by], "where": where or {}} | more
    return send(url, "POST", f"/v1/tables{query}", asked, token)
