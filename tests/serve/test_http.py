"""The service over a socket: what it answers, to whom, and what it says of the rest."""

import asyncio
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
from anyio import CapacityLimiter
from fastapi import FastAPI
from over_http import USERS, ask, listening, send, service
from serving import by_hand, census, people, tabulator
from starlette.requests import Request

import diskret as dk
from diskret.errors import InputError
from diskret.serve.client import ServiceError
from diskret.serve.web.figures import Figures
from diskret.serve.web.server import server
from diskret.serve.web.waiting import while_waited_for
from diskret.serve.web.watch import Watch
from diskret.workbench.server import workbench


@pytest.fixture(scope="module")
def url():
    with listening() as address:
        yield address


class Never:
    """A limit that lets nobody through."""

    def take(self, who, now):
        return 2.5


# ── what is answered ─────────────────────────────────────────────────────────────


def test_a_table_is_what_the_records_say_with_noise(url):
    records, data = people(), census()
    got = ask(url, ["re", "sex"], {"region": ["01"]})
    assert got.status == 200
    assert [one["variable"] for one in got.json["by"]] == ["re", "sex"]
    expected = [
        by_hand(records, data, {"re": [first], "sex": [second], "region": ["01"]})
        for first in got.json["by"][0]["codes"]
        for second in got.json["by"][1]["codes"]
    ]
    assert got.json["value"] == expected


def test_the_same_question_has_the_same_answer_for_everybody(url):
    first = ask(url, ["sex", "age"])
    again = ask(url, ["sex", "age"], {"region": ["1", "01", "N", "n"]}, token="dsk_bob")
    assert first.json["value"] == again.json["value"]
    assert ask(url, ["sex", "age"]).content == first.content


def test_data_sets_are_described(url):
    (data,) = send(url, "GET", "/v1/data").json
    assert data == send(url, "GET", "/v1/data/census").json
    assert [one["name"] for one in data["variables"]] == ["region", "re", "sex", "age"]
    assert {*data} == {
        "name", "label", "method", "variables", "measures", "most_variables", "most_cells", "left"
    }  # fmt: skip
    left = data["left"]
    ask(url, ["region", "re"])
    assert send(url, "GET", "/v1/data/census").json["left"] == left - 1


def test_a_role_has_its_rights(url):
    assert send(url, "GET", "/v1/me").json == {"name": "anne", "role": "reader", "data": ["census"]}
    assert send(url, "GET", "/v1/data/census/resistance").status == 403
    worth = send(url, "GET", "/v1/data/census/resistance", token="dsk_olga").json
    assert worth["tables"] == 100 and 0.5 < worth["certainty"] <= 1
    assert send(url, "GET", "/metrics").status == 403
    figures = send(url, "GET", "/metrics", token="dsk_adam").content.decode()
    assert 'diskret_requests_total{status="403"}' in figures
    assert ask(url, ["sex"], token="dsk_adam").status == 403


def test_what_a_user_may_not_see_is_not_there(url):
    assert send(url, "GET", "/v1/data", token="dsk_carl").json == []
    hidden = send(url, "GET", "/v1/data/census", token="dsk_carl")
    missing = send(url, "GET", "/v1/data/nothing", token="dsk_carl")
    assert hidden.status == missing.status == 404 and hidden.content == missing.content
    asked = ask(url, ["sex"], token="dsk_carl")
    assert asked.status == 404 and asked.content == ask(url, data="nothing").content


def test_health_is_told_to_everybody(url):
    got = send(url, "GET", "/health", token=None)
    assert (got.status, got.json) == (200, {"status": "ok"})


# ── what is not ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("token", [None, "", "dsk_ann", "dsk_anne ", "dsk_anne\tx", "x" * 500])
def test_nothing_without_a_token(url, token):
    for method, path in (("GET", "/v1/me"), ("GET", "/v1/data/census"), ("POST", "/v1/tables")):
        got = send(url, method, path, {} if method == "POST" else None, token)
        if token == "dsk_anne ":  # blanks around a token are no part of it
            continue
        assert got.status == 401 and got.headers["www-authenticate"] == "Bearer"
        assert "dsk_…" in got.problem and "census" not in got.problem


def test_a_question_that_is_none_is_explained(url):
    got = ask(url, ["sexx"])
    assert got.status == 422 and got.problem == "the data set 'census' has no variable 'sexx'"
    assert ask(url, ["sex"], query="?form=exe").status == 422
    german = ask(url, ["sexx"], query="?language=de")
    assert german.problem != got.problem and german.headers["content-language"] == "de"


def test_a_sparse_table_is_refused(url):
    with listening(tabulator(census(share=0.0))) as strict:
        got = ask(strict, ["region", "re", "sex", "age"])
    assert got.status == 403 and "sparse" in got.problem


def test_a_body_that_is_no_question(url):
    def sent(body, **headers):
        return send(url, "POST", "/v1/tables", body, **headers)

    json = {"Content_Type": "application/json"}
    assert sent(b"{}").status == 415
    assert sent(b"{}", Content_Type="text/plain").status == 415
    assert sent(b"{}", Content_Encoding="gzip", **json).status == 415
    for body in (b"", b"[", b"\xff", b"NaN", b'{"a": 1, "a": 2}', b"[" * 5000):
        assert sent(body, **json).status == 400, body
    assert sent(b'{"by": ' + b"[" * 20 + b"]" * 20 + b"}", **json).status == 400
    assert sent(b" " * 70_000, **json).status == 413
    for body in (b"{}", b"[]", b"1", b'"x"', b"null", b'{"data": "census", "by": {"sex": 1}}'):
        assert sent(body, **json).status in (404, 422), body


def test_paths_and_methods_that_are_not_there(url):
    assert send(url, "GET", "/../../etc/passwd").problem == "there is nothing at this path"
    assert send(url, "GET", "/v1/data/..%2f..%2fetc").status == 404
    got = send(url, "DELETE", "/v1/me")
    assert got.status == 405 and got.headers["allow"] == "GET"
    assert send(url, "GET", "/docs").status == 404


def test_every_response_is_kept_from_caches_and_frames(url):
    for got in (
        ask(url, ["sex"]),
        ask(url, ["no"]),
        send(url, "GET", "/no"),
        send(url, "GET", "/health"),
    ):
        assert got.headers["cache-control"] == "no-store"
        assert got.headers["x-content-type-options"] == "nosniff"
        assert "server" not in got.headers


def test_whoever_asks_too_often_waits():
    with listening(rate=Never()) as address:
        got = ask(address, ["sex"])
        assert got.status == 429 and got.headers["retry-after"] == "3"
    with listening(failures=Never()) as address:
        assert ask(address, ["sex"], token="dsk_no").status == 429
        assert ask(address, ["sex"]).status == 200


def test_an_error_of_the_engine_says_nothing(monkeypatch, caplog):
    tables = tabulator()

    def broken(*_):
        raise RuntimeError("the code 'secret' of Mrs Smith")

    monkeypatch.setattr(tables, "_counted", broken)
    with listening(tables) as address:
        got = ask(address, ["sex"])
    assert got.status == 500 and got.problem == "this cannot be answered; the office knows why"
    assert "RuntimeError" in caplog.text and "secret" not in caplog.text


def test_more_than_can_wait_are_turned_away():
    with listening(waiting=1) as address:
        host = urlsplit(address)
        with socket.create_connection((host.hostname, host.port)) as slow:
            slow.sendall(
                b"POST /v1/tables HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer dsk_anne\r\n"
                b"Content-Type: application/json\r\nContent-Length: 10\r\n\r\n"
            )
            while ask(address, ["sex"]).status != 503:
                pass
        while send(address, "GET", "/health").status != 200:
            pass


@pytest.mark.long
def test_who_sends_too_slowly_is_sent_away():
    with listening(seconds=1) as address:
        host = urlsplit(address)
        for begun in (
            b"POST /v1/tables HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer dsk_anne\r\n"
            b"Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
            b"GET /health HTTP/1.1\r\nHo",
            b"",
        ):
            with socket.create_connection((host.hostname, host.port), timeout=20) as slow:
                slow.sendall(begun)
                said = b""
                while part := slow.recv(1000):
                    said += part
            assert said.startswith(b"HTTP/1.1 408") or not said


def test_many_at_once_have_what_one_has(url):
    questions = [
        (["sex"], {}),
        (["re"], {"age": ["1", "2"]}),
        (["age", "sex"], {}),
        (["region"], {}),
    ]
    alone = [ask(url, *one).json["value"] for one in questions]
    with ThreadPoolExecutor(16) as pool:
        asked = [(at % 4, [*USERS][at % 2]) for at in range(200)]
        found = [*pool.map(lambda one: ask(url, *questions[one[0]], token=one[1]), asked)]
    assert all(got.json["value"] == alone[at] for (at, _), got in zip(asked, found, strict=True))


# ── the client ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("frames", ["arrow", "pandas", "polars"])
def test_the_client_gives_frames(url, frames):
    with dk.connect(url, token="dsk_anne", frames=frames) as service:
        found = service.table("census", ["sex"], {"region": ["N"]})
        assert service.describe("census")["name"] == service.data()[0]["name"]
    assert type(found).__module__.startswith({"arrow": "pyarrow"}.get(frames, frames))
    expected = ask(url, ["sex"], {"region": ["N"]}).json["value"]
    assert [*map(int, found["count"].to_numpy())] == expected


def test_the_client_says_what_the_service_says(url):
    service = dk.connect(url, token="dsk_anne", language="de")
    with pytest.raises(ServiceError, match="Variable|Merkmal") as error:
        service.table("census", ["no"])
    assert error.value.status == 422
    assert "dsk_anne" not in repr(service) + str(error.value)
    assert isinstance(service.table("census", ["sex"]), pd.DataFrame)
    assert service.download({"data": "census", "by": ["sex"]}, "csv").startswith(b'"sex","count"')


def test_a_token_never_travels_in_the_clear(monkeypatch):
    with pytest.raises(InputError, match="in the clear"):
        dk.connect("http://tables.example", token="dsk_anne")
    for url in (
        "tables.example",
        "ftp://x",
        "https://",
        "https://anne@tables.example",
        "https://x:8o",
    ):
        with pytest.raises(InputError):
            dk.connect(url, token="dsk_anne")
    monkeypatch.delenv("DISKRET_TOKEN", raising=False)
    with pytest.raises(InputError, match="DISKRET_TOKEN"):
        dk.connect("https://tables.example")


def test_a_service_that_went_away_is_an_error_and_a_new_one_is_found():
    with listening() as address:
        service = dk.connect(address, token="dsk_anne")
        service.table("census", ["sex"])
    with pytest.raises(ServiceError, match="does not answer"):
        service.table("census", ["sex"])


def test_a_port_that_another_program_has_is_told(url):
    port = int(url.rpartition(":")[2])
    asked = replace(service(None), port=port)
    with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 cannot be used: another"):
        server(FastAPI(), asked, print).run()
    with (
        pytest.raises(InputError, match=f"port {port} of .* or 0 for one that is free"),
        workbench(Path(), port),
    ):
        pass


def test_ctrl_c_waits_for_no_answer_and_a_system_that_stops_the_service_does(tmp_path):
    ended = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        own = server(FastAPI(), service(None), print)
        own.handle_exit(number, None)
        ended[number] = own.should_exit, own.force_exit
    assert ended == {signal.SIGINT: (True, True), signal.SIGTERM: (True, False)}


def test_what_computes_when_the_server_ends_is_told_and_its_asker_hears_it():
    """Then the engine is stopped; in a server that waits for its thread it would go on."""
    said, told = [], threading.Event()

    async def computes(scope, receive, send):
        def ask(gone):
            begun.set()
            while not gone():
                time.sleep(0.01)
            told.set()

        await while_waited_for(Request(scope, receive), ask, CapacityLimiter(1))

    async def receive():
        await asyncio.sleep(600)

    async def send(message):
        said.append(message.get("status"))

    async def main():
        watch = Watch(computes, Figures(), 10, 30.0)
        scope = {"type": "http", "headers": [], "query_string": b"", "method": "GET", "path": "/"}
        task = asyncio.create_task(watch(scope, receive, send))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() and told.wait(30)

    begun = threading.Event()
    asyncio.run(main())
    assert said[0] == 503
