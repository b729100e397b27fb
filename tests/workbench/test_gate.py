"""The workbench answers its own page, and nobody else."""

import pytest
from benches import HOST, PORT, SECRET, client, records

from diskret.publish.pages.served import page_parts
from diskret.workbench.bench import Bench
from diskret.workbench.gate import MOST, TOKEN


@pytest.fixture
def bench(tmp_path):
    records(tmp_path)
    return Bench(tmp_path)


def test_the_page_itself_holds_nothing_and_needs_no_token(bench, tmp_path):
    answer = client(bench, token=None).get("/")
    assert answer.status_code == 200
    assert str(tmp_path) not in answer.text and SECRET not in answer.text


@pytest.mark.parametrize("token", [None, "", SECRET[:-1], SECRET + "t", SECRET.upper()])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/state"),
        ("GET", "/api/files"),
        ("GET", "/api/words/de"),
        ("POST", "/api/protect"),
        ("GET", "/api/nothing"),
        ("PUT", "/api/draft"),
    ],
)
def test_another_user_of_this_computer_gets_nothing(bench, token, method, path):
    answer = client(bench, token).request(method, path, json={"draft": {}})
    assert (answer.status_code, answer.content) == (401, b"")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        f"127.0.0.1:{PORT + 1}",
        f"127.0.0.1.evil.example:{PORT}",
        f"LOCALHOST.:{PORT}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/page/main.js", "/api/state"])
def test_a_name_that_was_made_to_lead_here_gets_nothing(bench, host, path):
    answer = client(bench).get(path, headers={"Host": host})
    assert (answer.status_code, answer.content) == (421, b"")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", "file://"])
def test_another_page_gets_nothing_even_with_the_token(bench, origin):
    page = client(bench)
    for path in ("/", "/api/state", "/page/main.js"):
        answer = page.get(path, headers={"Origin": origin})
        assert (answer.status_code, answer.content) == (403, b"")
    assert page.get("/api/state", headers={"Origin": HOST}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_sends_for_another_site_gets_nothing(bench, site):
    page = client(bench)
    for path in ("/api/state", "/page/main.js"):
        assert page.get(path, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert page.get("/api/state", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_two_tokens_are_none(bench):
    headers = [(TOKEN, SECRET), (TOKEN, SECRET)]
    assert client(bench, token=None).get("/api/state", headers=headers).status_code == 401


def test_no_answer_may_be_framed_cached_sniffed_or_load_from_elsewhere(bench):
    page = client(bench)
    refused = client(bench, token=None).get("/api/state")
    for answer in (page.get("/"), page.get("/api/state"), page.get("/page/style.css"), refused):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy and "http" not in policy and "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Set-Cookie" not in answer.headers
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_what_is_too_large_is_not_read(bench):
    page = client(bench)
    headers = {"Content-Length": str(MOST + 1)}
    assert page.post("/api/save", content=b"{}", headers=headers).status_code == 413

    def endless():
        yield b"{}"

    assert page.post("/api/save", content=endless()).status_code == 413


@pytest.mark.parametrize("name", ["../bench.py", "..%2fbench.py", "%2e%2e/app.py", "nothing.js"])
def test_only_files_of_the_page_are_served(bench, name):
    assert client(bench).get(f"/page/{name}").status_code == 404


def test_no_part_of_the_page_names_another_server_or_makes_markup_of_texts(bench):
    page = client(bench)
    names = page_parts("diskret.workbench")
    assert len(names) > 20
    for name in names:
        text = page.get(f"/page/{name}").text.replace("http://www.w3.org/2000/svg", "")
        for word in (
            "http:",
            "https:",
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "eval(",
            "WebSocket",
        ):
            assert word not in text, name
