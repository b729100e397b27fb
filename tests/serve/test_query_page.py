"""The query page: its own policy, nothing in it but words, and what the service says."""

import re
from urllib.parse import urlsplit

import pytest
from over_http import Somebody, ask, listening, send

from diskret.texts import LANGUAGES, words_in


@pytest.fixture(scope="module")
def url():
    with listening() as address:
        yield address


def test_the_page_asks_for_no_token_and_loads_only_its_own_parts(url):
    page = send(url, "GET", "/", token=None)
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
    text = page.content.decode()
    parts = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert parts and all(part.startswith("/page/") for part in parts)
    assert "http:" not in text and "https:" not in text
    for part in parts:
        got = send(url, "GET", part, token=None)
        assert got.status == 200 and got.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_are_those_of_the_catalogue_and_nothing_of_data(url, language):
    told = send(url, "GET", f"/page/words/{language}", token=None).json
    known = words_in(language, "query")
    assert told["words"] == {key: known[key] for key in known}
    assert "json" not in told["forms"] and "csv" in told["forms"]
    assert "census" not in str(told)


@pytest.mark.parametrize(
    "path",
    ["/page/nothing.js", "/page/__init__.py", "/page/..%2fapp.py", "/page/words/fr", "/page/"],
)
def test_there_are_no_other_parts(url, path):
    assert send(url, "GET", path, token=None).status == 404


def test_what_holds_values_keeps_the_stricter_policy(url):
    for path in ("/v1/data", "/v1/me"):
        policy = send(url, "GET", path).headers["content-security-policy"]
        assert policy == "default-src 'none'; frame-ancestors 'none'"
    assert send(url, "GET", "/v1/data", token=None).status == 401
    assert "/" not in send(url, "GET", "/openapi.json").json["paths"]


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(
    ("locale", "heading", "refused"),
    [("en-GB", "Ask for a table", "a valid token"), ("de-DE", "Eine Tabelle anfragen", "Token")],
)
def test_what_is_refused_is_said_as_the_service_says_it(browser, locale, heading, refused):
    from playwright.sync_api import expect
    from serving import census, tabulator

    with listening(tabulator(census(most_variables=1))) as address:
        page = browser.new_page(locale=locale)
        page.goto(address)
        page.locator("input[type=password]").fill("dsk_anne")
        page.keyboard.press("Enter")
        expect(page.locator("h2")).to_have_text(heading)
        rows = page.locator("form tbody tr")
        for i in range(2):
            rows.nth(i).locator("select").select_option("0")
        page.click("#ask")
        language = {"Accept-Language": locale[:2]}
        by = [rows.nth(i).locator("th").inner_text() for i in range(2)]
        asked = {"data": "census", "by": by}
        said = send(address, "POST", "/v1/tables", asked, **language).problem
        expect(page.locator(".wrong")).to_have_text(said)
        assert page.locator("#cells").count() == 0
        page.close()


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(
    ("locale", "heading", "refused"),
    [("en-GB", "Ask for a table", "a valid token"), ("de-DE", "Eine Tabelle anfragen", "Token")],
)
def test_a_table_is_built_asked_for_and_kept(browser, url, locale, heading, refused):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    page = browser.new_page(locale=locale, bypass_csp=True)
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(url)
    page.locator("input[type=password]").fill("dsk_nobody")
    page.keyboard.press("Enter")
    expect(page.locator(".wrong")).to_contain_text(refused)
    found = Axe().run(page).response["violations"]
    page.locator("input[type=password]").fill("dsk_anne")
    page.keyboard.press("Enter")
    expect(page.locator("h2")).to_have_text(heading)
    rows = page.locator("form tbody tr")
    rows.nth(0).locator("select").select_option("0")
    rows.nth(1).locator("select").select_option("0")
    page.click("#ask")
    expect(page.locator("#cells")).to_be_visible()
    by = [rows.nth(i).locator("th").inner_text() for i in range(2)]
    told = ask(url, by, query="?form=json").json
    expect(page.locator("#cells tbody td")).to_have_count(len(told["value"]))
    shown = [re.sub(r"\D", "", one) for one in page.locator("#cells tbody td").all_inner_texts()]
    assert shown == [str(one) for one in told["value"]]
    expect(page.locator("#answer rect")).to_have_count(len(told["value"]))
    with page.expect_download() as kept:
        page.locator("#answer button").filter(has_text="csv").first.click()
    with open(kept.value.path(), "rb") as file:
        assert file.read() == ask(url, by, query="?form=csv").content
    found += Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    rows.nth(2).locator("summary").click()
    rows.nth(2).locator("input").first.check()
    page.click("#ask")
    name = rows.nth(2).locator("th").inner_text()
    code = rows.nth(2).locator("input").first.get_attribute("value")
    told = ask(url, by, {name: [code]}, query="?form=json").json
    expect(page.locator("#cells tbody td").first).to_have_text(str(told["value"][0]))
    page.click("#leave")
    expect(page.locator("input[type=password]")).to_be_visible()
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    assert {urlsplit(one).netloc for one in asked if not one.startswith("blob:")} == {
        urlsplit(url).netloc
    }
    assert wrong == []
    page.close()


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(("locale", "hidden"), [("en-GB", "hidden"), ("de-DE", "gesperrt")])
def test_hidden_cells_are_crossed_out_and_have_no_bar(browser, tmp_path, locale, hidden):
    from axe_playwright_python.sync_playwright import Axe
    from hiding import CODES, hidden_data, persons, releasing
    from playwright.sync_api import expect

    users = {"dsk_anne": Somebody("anne", data=("persons",))}
    with listening(
        releasing(tmp_path, hidden_data(persons(number=40))), users=users.get
    ) as address:
        page = browser.new_page(locale=locale)
        page.goto(address)
        page.locator("input[type=password]").fill("dsk_anne")
        page.keyboard.press("Enter")
        rows = page.locator("form tbody tr")
        expect(rows).to_have_count(len(CODES))
        expect(page.locator("main")).to_contain_text(hidden)
        for i in range(2):
            rows.nth(i).locator("select").select_option("0")
        page.click("#ask")
        expect(page.locator("#cells")).to_be_visible()
        by = [rows.nth(i).locator("th").inner_text() for i in range(2)]
        told = send(address, "POST", "/v1/tables", {"data": "persons", "by": by}).json
        shown = page.locator("#cells tbody td").all_inner_texts()
        crossed = ["suppressed" if one == "✕" else "published" for one in shown]
        assert crossed == told["status"] and "suppressed" in crossed
        figures = [int(one) for one in shown if one != "✕"]
        assert figures == [one for one in told["value"] if one is not None]
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        page.close()
