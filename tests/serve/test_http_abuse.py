"""Whoever means harm, over the wire: nothing is told, nothing breaks, the service goes on."""

import gzip
import json
import re
import secrets
import socket
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from over_http import ask, listening, send
from profiles import examples, scaled
from serving import CODES, census, people, tabulator

from diskret.serve.limits import Rate

#: Columns and values of the records that are no variables, what engines and frames say, and paths.
TELLS = re.compile(
    rb"income|4711|duckdb|sqlglot|pyarrow|Traceback|File \"|/src/|\.py|Error:|uvicorn|starlette"
    rb"|fastapi|python|key_modulus|SELECT",
    re.IGNORECASE,
)
HEAD = b"Host: x\r\nAuthorization: Bearer dsk_anne\r\n"
JSON = HEAD + b"Content-Type: application/json\r\n"
ASKED = json.dumps({"data": "census", "by": ["sex"], "where": {}}).encode()


@pytest.fixture(scope="module")
def url():
    records = people(1500)
    records["income"] = [4711] * 1500
    with listening(tabulator(census(records, questions=10_000))) as address:
        yield address


def raw(url, sent, wait=5.0):
    """All that comes back for these bytes, on one connection that is then closed."""
    host = urlsplit(url)
    with socket.create_connection((host.hostname, host.port), timeout=wait) as line:
        try:
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was sent away before it had said all
        said = b""
        try:
            while part := line.recv(65536):
                said += part
        except OSError:
            pass
    return said


def status(said):
    """Of each response; none: the connection was ended."""
    return [int(one) for one in re.findall(rb"^HTTP/1\.1 (\d{3})", said, re.MULTILINE)]


def unharmed(url):
    return send(url, "GET", "/health", token=None).status == 200


def quiet(said):
    """Nothing is told that is not public, and no header lets other sites read it."""
    assert not TELLS.search(said), said[:300]
    assert b"access-control-allow" not in said.lower() and b"set-cookie" not in said.lower()
    return True


# ── tokens ──────────────────────────────────────────────────────────────────────────


def test_guessed_tokens_are_all_alike_and_soon_wait():
    with listening(failures=Rate(0.001, 20)) as address:
        near = [
            "dsk_ann",
            "dsk_annee",
            "DSK_anne",
            "anne",
            "dsk_",
            "admin",
            "null",
            "*",
            "dsk_anne%00",
        ]
        guesses = near + [f"dsk_{secrets.token_urlsafe(32)}" for _ in range(11)]
        said = {send(address, "GET", "/v1/me", token=guess).content for guess in guesses}
        assert len(said) == 1
        for guess in guesses:
            got = send(address, "GET", "/v1/me", token=guess)
            assert got.status == 429 and int(got.headers["retry-after"]) > 0
        # whoever has one is not locked out by a neighbour that guesses
        assert send(address, "GET", "/v1/me").status == 200


@pytest.mark.parametrize(
    "header",
    [
        b"Authorization: Basic YW5uZTphbm5l",
        b"Authorization: Bearer",
        b"Authorization: Bearer dsk_no, Bearer dsk_anne",
        b"Authorization: dsk_anne",
        b"Authorization: Bearer dsk_anne dsk_anne",
        b"Authorization: Bearer \xff\xfe",
        b"Authorization: Bearer dsk_anne\x00",
        b"Authorization: Bearer dsk_anne\xa0",
        b"Proxy-Authorization: Bearer dsk_anne",
        b"Cookie: token=dsk_anne; Authorization=Bearer dsk_anne",
        b"X-User: anne\r\nX-Remote-User: anne\r\nX-Forwarded-User: anne",
        b"X-Original-URL: /health\r\nX-Rewrite-URL: /health",
    ],
)
def test_no_other_header_lets_in(url, header):
    said = raw(url, b"GET /v1/me HTTP/1.1\r\nHost: x\r\n" + header + b"\r\n\r\n")
    assert status(said) in ([401], [400]) and quiet(said)


def test_a_token_in_the_path_or_body_lets_nobody_in(url):
    for path in ("/v1/me?token=dsk_anne", "/v1/me?access_token=dsk_anne&Authorization=Bearer"):
        assert send(url, "GET", path, token=None).status == 401
    body = {"data": "census", "by": ["sex"], "token": "dsk_anne"}
    assert send(url, "POST", "/v1/tables", body, None).status == 401


def test_another_address_is_not_believed():
    """Without a proxy that is registered, nobody has another address by saying so."""
    with listening(failures=Rate(0.001, 5)) as address:
        for at in range(12):
            got = send(
                address, "GET", "/v1/me", None, "dsk_no", X_Forwarded_For=f"10.0.0.{at}",
                Forwarded=f"for=10.0.0.{at}", X_Real_IP=f"10.0.0.{at}", X_Client_IP=f"10.0.0.{at}",
            )  # fmt: skip
            assert got.status == (401 if at < 5 else 429)


def test_rights_are_no_matter_of_words(url):
    for role in ("admin", "owner"):
        for path in ("/metrics", "/v1/data/census/resistance"):
            got = send(url, "GET", f"{path}?role={role}&as=adam", X_Role=role, X_HTTP_User="adam")
            assert got.status == 403 and quiet(got.content)
    body = {"data": "census", "by": ["sex"], "who": "adam", "role": "admin"}
    assert send(url, "POST", "/v1/tables", body).status == 422


# ── bodies ──────────────────────────────────────────────────────────────────────────


def posted(url, body, *headers, length: int | None = -1):
    head = b"POST /v1/tables HTTP/1.1\r\n" + JSON + b"".join(one + b"\r\n" for one in headers)
    if length is not None:
        size = len(body) if length < 0 else length
        head += b"Content-Length: %d\r\n" % size
    return raw(url, head + b"\r\n" + body)


def test_large_bodies_are_refused_however_they_are_announced(url):
    assert status(posted(url, b" " * 200_000)) == [413]
    assert status(posted(url, b"", length=10**12)) in ([413], [400])
    assert status(posted(url, b"", length=10**18)) in ([413], [400])
    chunks = b"".join(b"%x\r\n%b\r\n" % (9000, b" " * 9000) for _ in range(20)) + b"0\r\n\r\n"
    assert status(posted(url, chunks, b"Transfer-Encoding: chunked", length=None)) == [413]
    for digits in (25, 5_000):
        said = raw(
            url,
            b"POST /v1/tables HTTP/1.1\r\n"
            + JSON
            + b"Content-Length: "
            + b"9" * digits
            + b"\r\n\r\n",
        )
        assert status(said) in ([413], [400]) and quiet(said)
    assert unharmed(url)


def test_compressed_bodies_are_never_unpacked(url):
    bomb = b" " * 50_000_000
    packed = gzip.compress(bomb, 9)[:60_000]
    for name, body in ((b"gzip", packed), (b"deflate", zlib.compress(bomb)), (b"br", b"\x00" * 99)):
        said = posted(url, body, b"Content-Encoding: " + name)
        assert status(said) in ([415], [413]) and quiet(said)
    for name in (b"Gzip", b"identity, gzip", b"x-gzip", b"IDENTITY,gzip", b"zstd"):
        assert status(posted(url, packed, b"Content-Encoding: " + name)) == [415]
    said = posted(url, ASKED, b"Transfer-Encoding: gzip, chunked", length=None)
    assert status(said) in ([400], [501], []) and quiet(said)


@pytest.mark.parametrize(
    "body",
    [
        b"1" * 5_000,
        b'{"data": ' + b"9" * 5_000 + b"}",
        b"-1e9999",
        b'{"data": 1e400}',
        b"[" * 30_000,
        b'{"a":' * 10_000,
        b'{"data": "\\ud800", "by": []}',
        b'{"data": "census", "by": ["\\ud800"]}',
        b'{"data": "census", "by": [], "where": {"\\udfff": ["0"]}}',
        b'{"data": "census", "by": [], "where": {"age": ["\\u0000"]}}',
        b'{"data": "census", "by": ["\\u202e\\u0007"]}',
        b'{"__proto__": {"by": ["income"]}, "data": "census"}',
        b'{"data": "census", "data": "census"}',
        b'{"data": "census", "by": ["income"]}',
        b'{"data": "census", "by": ["key"]}',
        b'{"data": {"$ne": null}, "by": []}',
        b'{"data": "census", "by": ["sex"], "where": {"age": [0]}}',
        b'{"data": "census", "by": ["sex"], "where": {"age": [true]}}',
        b'{"data": "census", "by": ["sex"], "where": {"age": [NaN]}}',
        b"\xef\xbb\xbf{}",
        '{"data": "census"}'.encode("utf-16"),
        b"\x00" * 100,
        b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
    ],
    ids=lambda body: repr(body)[:40],
)
def test_strange_bodies(url, body):
    said = posted(url, body)
    assert status(said) and 400 <= status(said)[0] < 500 and quiet(said.replace(b"'income'", b""))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
    | st.sampled_from(["census", "sex", "age", "0", "f", "count", "income", "'; --"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["data", "by", "where", "measure", "age", "x"]), inner),
    max_leaves=6,
)  # fmt: skip


@given(ANYTHING)
@examples(60)
def test_whatever_json_is_sent(url, sent):
    body = json.dumps(sent).encode()
    got = send(url, "POST", "/v1/tables", body, Content_Type="application/json")
    assert got.status in (200, 400, 403, 404, 422)
    assert quiet(got.content.replace(b"'income'", b""))


# ── requests that are read in two ways ──────────────────────────────────────────────

SECOND = b"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer dsk_bob\r\n\r\n"


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(SECOND),
        b"Content-Length: 0, %d\r\n" % len(SECOND),
        b"Content-Length: +0\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 0x10\r\n",
        b"Content-Length: 1_0\r\n",
        b"Content-Length : 0\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: \x0bchunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"X: y\nTransfer-Encoding: chunked\r\n\x00",
    ],
)
def test_a_request_that_could_be_two_is_none(url, headers):
    said = raw(url, b"POST /v1/tables HTTP/1.1\r\n" + JSON + headers + b"\r\n" + SECOND)
    assert status(said) in ([], [400], [501]) and b"bob" not in said and quiet(said)


def test_chunks_and_a_length_do_not_disagree(url):
    """RFC 9112, 6.3: chunks win, or it is refused; what follows is no part of the body."""
    said = posted(url, b"0\r\n\r\n" + SECOND, b"Transfer-Encoding: chunked", length=5)
    assert status(said)[0] in (400, 422) and quiet(said)
    for bad in (
        b"-1\r\n",
        b"0x5\r\n",
        b"fffffffffffffffff\r\n",
        b"5;\n",
        b"zz\r\n",
        b"5\r\nabcdefgh",
    ):
        said = posted(url, bad + SECOND, b"Transfer-Encoding: chunked", length=None)
        assert len(status(said)) <= 1 and b"bob" not in said and quiet(said)
    assert unharmed(url)


@pytest.mark.parametrize(
    "line",
    [
        b"GET http://evil.example/v1/me HTTP/1.1",
        b"GET //evil.example/v1/me HTTP/1.1",
        b"GET * HTTP/1.1",
        b"CONNECT evil.example:443 HTTP/1.1",
        b"TRACE /v1/me HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"PRI * HTTP/2.0",
        b"GET /v1/me HTTP/9.9",
        b"GET /v1/me",
        b"get /v1/me HTTP/1.1",
        b"GET /v1/me\x00 HTTP/1.1",
        b"GET /v1/me HTTP/1.1 HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"G" * 100_000,
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1",
        b"GET /v1/data/" + b"%2e%2e%2f" * 500 + b" HTTP/1.1",
    ],
    ids=lambda line: repr(line)[:40],
)
def test_strange_request_lines(url, line):
    said = raw(url, line + b"\r\n" + HEAD + b"\r\n")
    assert all(one in (200, 400, 404, 405) for one in status(said)) and quiet(said)
    if 200 in status(said):  # of a proxy's form the path alone counts
        assert b'"anne"' in said
    assert unharmed(url)


def test_headers_that_want_another_host_method_or_page(url):
    for headers in (
        b"X-Forwarded-Host: evil.example\r\nX-Host: evil.example\r\n",
        b"X-HTTP-Method-Override: DELETE\r\nX-Method-Override: POST\r\n_method: POST\r\n",
        b"X-Original-URL: /metrics\r\nX-Rewrite-URL: /metrics\r\n",
        b"Range: bytes=0-3\r\nIf-None-Match: *\r\nExpect: 999\r\n",
        b"Accept-Language: ../../../etc/passwd\r\nAccept: ../../etc\r\n",
        b"X-Forwarded-Proto: https\r\nX-Forwarded-Prefix: //evil.example\r\n",
    ):
        said = raw(url, b"GET /v1/me HTTP/1.1\r\n" + HEAD + headers + b"Connection: close\r\n\r\n")
        assert status(said) == [200] and b'"anne"' in said and b"evil" not in said and quiet(said)
    for host in (b"evil.example", b"", b"x\r\nHost: y", b"a b", b"\xff"):
        head = HEAD.replace(b"Host: x", b"Host: " + host)
        said = raw(url, b"GET /v1/data HTTP/1.1\r\n" + head + b"\r\n")
        assert status(said) in ([200], [400]) and b"evil" not in said and quiet(said)
    many = b"".join(b"X-%d: %b\r\n" % (i, b"a" * 50) for i in range(3_000))
    assert status(raw(url, b"GET /v1/me HTTP/1.1\r\n" + HEAD + many + b"\r\n")) in (
        [],
        [400],
        [431],
    )
    assert unharmed(url)


def test_nobody_is_upgraded(url):
    for protocol in (b"websocket", b"h2c", b"TLS/1.0"):
        said = raw(
            url,
            b"GET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: " + protocol
            + b"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13"
            b"\r\n\r\n",
        )  # fmt: skip
        assert status(said) == [401] and quiet(said)


def test_other_sites_get_nothing(url):
    """No cookies, no header that lets them read, and what a form can send is no question."""
    said = raw(
        url,
        b"OPTIONS /v1/tables HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\n"
        b"Access-Control-Request-Method: POST\r\n"
        b"Access-Control-Request-Headers: authorization, content-type\r\n\r\n",
    )
    assert status(said) == [405] and quiet(said)
    for kind in (
        b"text/plain",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=x",
    ):
        head = HEAD + b"Origin: https://evil.example\r\nContent-Type: " + kind
        head += b"\r\nContent-Length: %d\r\n\r\n" % len(ASKED)
        said = raw(url, b"POST /v1/tables HTTP/1.1\r\n" + head + ASKED)
        assert status(said) == [415] and quiet(said)
    said = posted(url, ASKED, b"Origin: https://evil.example", b"Sec-Fetch-Site: cross-site")
    assert quiet(said)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/data/..%2f..%2f..%2fetc%2fpasswd",
        "/v1/data/../../../../etc/passwd",
        "/v1/data/%2e%2e/me",
        "/v1/data/census%00",
        "/v1/data/census%0d%0aX-Evil:%201",
        "/v1/data/census;.json",
        "/v1/data/Census",
        "/v1/data/%ff%fe",
        "/v1/data/%",
        "/v1/data/census/",
        "/v1//data",
        "/static/..%5c..%5cusers.toml",
        "/.env",
        "/users.toml",
        "/log.db",
        "/docs",
        "/redoc",
        "/v1/tables/../../metrics",
    ],
)
def test_paths_lead_nowhere(url, path):
    said = raw(url, f"GET {path} HTTP/1.1\r\n".encode() + HEAD + b"\r\n")
    assert status(said) in ([404], [400]) and quiet(said)
    assert b"x-evil" not in said.lower().partition(b"\r\n\r\n")[0]


def test_words_of_the_query_are_taken_as_words(url):
    body = {"data": "census", "by": ["sex"]}
    for query in (
        "?form=../../etc/passwd",
        "?form=json&form=exe",
        "?form[]=json",
        "?form=json%00",
        "?language=../../../etc/passwd",
        "?language=de%0d%0aSet-Cookie:%20a=b",
        "?" + "a=1&" * 5_000,
        "?%ff=%ff",
    ):
        got = send(url, "POST", f"/v1/tables{query}", body)
        assert got.status in (200, 422) and quiet(got.content)
        assert "set-cookie" not in {key.lower() for key in got.headers}


# ── many, and many at once ──────────────────────────────────────────────────────────


def test_attackers_at_once_leave_the_service_as_it_was(url):
    before = ask(url, ["sex", "age"]).content
    attacks = [
        lambda: raw(url, b"\x00" * 500),
        lambda: posted(url, b"[" * 60_000),
        lambda: posted(url, b" " * 100_000),
        lambda: raw(url, b"GET /" + b"a" * 70_000),
        lambda: raw(url, b"POST /v1/tables HTTP/1.1\r\n" + JSON + b"Content-Length: 9\r\n\r\n{"),
        lambda: ask(url, ["sex"], {"age": [f"{i}" for i in range(9)]}),
    ]
    with ThreadPoolExecutor(8) as pool:
        said = [*pool.map(lambda at: attacks[at % len(attacks)](), range(scaled(500)))]
    assert len(said) >= 4
    assert ask(url, ["sex", "age"]).content == before
    assert unharmed(url)


def test_filters_that_mean_the_same_cost_once_over_the_wire():
    with listening(tabulator(census(people(1500)))) as address:
        had = set()
        for where in (
            {},
            {"age": [*CODES["age"]]},
            {"age": [*CODES["age"]][::-1], "re": [*CODES["re"]]},
            {"sex": ["f", "m"]},
            {"sex": ["m", "f"], "region": [*CODES["region"]]},
        ):
            got = ask(
                address, ["sex", "region"], where, token=["dsk_anne", "dsk_bob"][len(where) % 2]
            )
            had.add(tuple(sorted(got.json["value"])))
        assert len(had) == 1
        assert send(address, "GET", "/v1/data/census").json["left"] == 99


# ── what the service says of itself ─────────────────────────────────────────────────


def test_the_description_says_nothing_of_the_data(url):
    got = send(url, "GET", "/openapi.json", token=None)
    assert got.status == 200 and got.json["openapi"].startswith("3.1") and quiet(got.content)
    schemas = json.dumps(got.json["paths"])
    known = got.json["components"]["schemas"]
    assert {*re.findall(r'"\$ref": "([^"]+)"', schemas)} <= {
        f"#/components/schemas/{k}" for k in known
    }
    with listening(tabulator(census(people(10), name="other", label="Others"))) as address:
        assert send(address, "GET", "/openapi.json", token=None).content == got.content


@pytest.mark.long
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_whatever_the_description_allows_or_forbids_breaks_nothing(url, mode):
    """Requests made from OpenAPI, as they should be and as they should not be."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    tried = set()
    for operation in schema.get_all_operations():
        made = operation.ok()  # pyright: ignore[reportAttributeAccessIssue]
        if mode == "negative" and not made.body:
            continue  # any text is a path

        @given(case=made.as_strategy(schemathesis.GenerationMode(mode)))
        @examples(100, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
        def each(case):
            case.headers = {**(case.headers or {}), "Authorization": "Bearer dsk_olga"}
            got = case.call(base_url=url)
            tried.add((case.path, got.status_code))
            assert got.status_code < 500, (case.method, case.path, case.body, case.query)
            quiet(got.content)

        each()
    paths = {path for path, _ in tried}
    assert "/v1/tables" in paths and (mode == "negative" or "/v1/data/{name}" in paths)
    assert unharmed(url)


@pytest.mark.long
def test_who_drips_bytes_is_sent_away():
    """A byte now and then keeps nobody connected, in the head or in the body."""
    with listening(seconds=1) as address:
        host = urlsplit(address)
        for begun in (
            b"POST /v1/tables HTTP/1.1\r\n" + JSON + b"Content-Length: 60000\r\n\r\n",
            b"POST /v1/tables HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n",
            b"GET /v1/me HTTP/1.1\r\nX: ",
        ):
            chunk = b"1\r\n \r\n" if b"chunked" in begun else b" "
            with socket.create_connection((host.hostname, host.port), timeout=20) as line:
                line.sendall(begun)
                dripped = 0
                try:
                    while dripped < 100:
                        line.sendall(chunk)
                        dripped += 1
                        time.sleep(0.1)
                except OSError:
                    pass
            assert 3 < dripped < 60
        assert unharmed(address)
