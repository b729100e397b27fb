"""The workbench as people use it: in both languages, by keyboard, asking no other server."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from benches import records
from test_desks import waiting

#: Needs Chromium, and is run where that is installed.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

COMMAND = [sys.executable, "-c", "from diskret.cli import run; run()"]
STEPS = [
    "file",
    "columns",
    "trees",
    "rules",
    "protect",
    "table",
    "attack",
    "ways",
    "ledger",
    "export",
]


@pytest.fixture
def workbench(tmp_path):
    """Starts the command in a folder with records, and gives the folder and the address."""
    folder = tmp_path / "office"
    folder.mkdir()
    records(folder)
    started = []

    def start(language="en"):
        arguments = ["workbench", str(folder), "--no-browser", "--language", language]
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        found = re.search(r"http\S+", process.stdout.readline())
        assert found, process.stderr.read()
        return folder, found[0]

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def shown(browser, url, **how):
    """A page that knows what it asked for, and what went wrong."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, **how)
    page.asked, page.wrong = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda said: page.wrong.append(said.text))
    page.goto(url)
    step(page, "file")
    return page


def step(page, name):
    page.wait_for_selector(f"[data-step={name}][data-ready]")


def go(page, name):
    page.click(f"[data-go={name}]")
    step(page, name)


def open_records(page):
    page.get_by_role("button", name="firms.csv").click()
    step(page, "columns")


def files(folder):
    return {one.relative_to(folder): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.mark.parametrize(
    ("language", "unsafe", "done", "primary"),
    [
        ("en", "Unsafe cells", "Protected and proven", "unsafe (primary)"),
        ("de", "Unsichere Felder", "Geschützt und bewiesen", "unsicher (primär)"),
    ],
)
def test_from_a_file_to_a_released_table(browser, workbench, language, unsafe, done, primary):
    from playwright.sync_api import expect

    folder, url = workbench(language)
    page = shown(browser, url)
    assert page.evaluate("document.documentElement.lang") == language
    assert "token" not in page.evaluate("location.href")
    open_records(page)
    go(page, "trees")
    place = page.locator("section[aria-label=code]")
    place.get_by_role("textbox").first.fill("1, 1")
    place.get_by_role("button").nth(1).click()
    expect(place.locator("h3")).to_contain_text("code.tree.csv")
    go(page, "rules")
    assert unsafe in page.inner_text("main")
    before = int(page.inner_text("#unsafe"))
    page.get_by_label("n", exact=True).first.fill("40")
    expect(page.locator("#unsafe")).not_to_have_text(str(before))
    assert int(page.inner_text("#unsafe")) > before
    page.get_by_label("n", exact=True).first.fill("3")
    expect(page.locator("#unsafe")).to_have_text(str(before))
    go(page, "protect")
    page.locator("main button.main").first.click()
    page.wait_for_selector("#ended", timeout=60_000)
    assert done in page.inner_text("#ended")
    go(page, "table")
    expect(page.locator(".cell.P").first).to_be_visible()
    expect(page.locator(".cell.S").first).to_be_visible()
    page.click("#next-hidden")
    page.wait_for_selector(".panel dl")
    label = page.locator(".cell.P").first.get_attribute("aria-label")
    assert primary in label
    go(page, "attack")
    expect(page.locator("#attacked tbody tr").first).to_be_visible()
    hidden = page.locator("#attacked tbody tr").count()
    go(page, "export")
    page.locator("main button.main").click()
    expect(page.locator("#saved")).to_contain_text("job.toml")
    assert page.wrong == []
    assert {urlsplit(one).netloc for one in page.asked} == {urlsplit(url).netloc}
    page.close()
    public = (folder / "out" / "public" / "turnover.csv").read_text("utf-8")
    assert public.count(",suppressed") == hidden > 0
    subprocess.run([*COMMAND, "protect", "job.toml", "--folder", "again"], cwd=folder, check=True,
                   capture_output=True)  # fmt: skip
    assert files(folder / "again") == files(folder / "out")


@pytest.mark.parametrize(
    ("language", "done"), [("en", "Protected and proven"), ("de", "Geschützt und bewiesen")]
)
def test_from_a_file_to_released_records(browser, workbench, language, done):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    folder, url = workbench(language)
    rows = "".join(f"{'NSWO'[i % 4]},{'fm'[i % 3 % 2]},{i % 7},{i}\n" for i in range(200))
    (folder / "persons.csv").write_text(f"region,sex,age,income\n{rows}", encoding="utf-8")
    page = shown(browser, url, bypass_csp=True)
    page.locator("main select").first.select_option("records")
    page.get_by_role("button", name="persons.csv").click()
    step(page, "columns")
    found = []
    for name in ("columns", "risk", "protect", "compare", "ways", "export"):
        go(page, name)
        if name == "risk":
            expect(page.locator("#below")).to_have_text(re.compile(r"^[1-9]"))
            page.locator("#add-step").select_option("microaggregate")
            expect(page.locator("#steps-of fieldset")).to_have_count(2)
            page.locator("#steps-of fieldset").last.get_by_role("button").last.click()
            expect(page.locator("#steps-of fieldset")).to_have_count(1)
        if name == "protect":
            page.locator("main button.main").first.click()
            page.wait_for_selector("#ended", timeout=60_000)
            assert done in page.inner_text("#ended")
        if name == "compare":
            assert page.locator("main section table").count() == 3
        findings = Axe().run(page).response["violations"]
        found += [(name, one["id"]) for one in findings if one["impact"] in ("serious", "critical")]
    assert found == [] and page.wrong == []
    page.close()
    assert (folder / "out" / "public" / "microdata.csv").exists()


@pytest.mark.parametrize("language", ["en", "de"])
def test_results_that_wait_are_decided(browser, workbench, language):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    folder, url = workbench(language)
    waiting(folder)
    page = shown(browser, url, bypass_csp=True)
    page.get_by_role("button", name="centre.db").click()
    step(page, "desk")
    page.get_by_role("button", name="large").click()
    expect(page.locator("#result li")).to_have_count(1)
    findings = Axe().run(page).response["violations"]
    assert [one["id"] for one in findings if one["impact"] in ("serious", "critical")] == []
    page.locator("#result button").first.click()
    expect(page.locator("#result li")).to_have_count(2)
    assert page.wrong == []
    page.close()


@pytest.mark.parametrize(
    ("language", "dominance", "use", "warning"),
    [
        ("en", "Dominance", "Use of turnover", "Warning: the (1,k) dominance rule"),
        ("de", "Dominanz", "Verwendung von turnover", "Warnung: die (1,k)-Dominanzregel"),
    ],
)
def test_all_rules_and_other_methods_have_forms_and_files_are_kept(
    browser, workbench, language, dominance, use, warning
):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    folder, url = workbench(language)
    page = shown(browser, url, bypass_csp=True)
    open_records(page)
    go(page, "rules")
    place = page.locator("fieldset").filter(has_text=dominance)
    place.locator("input[type=checkbox]").check()
    place.locator("input[type=number]").first.fill("1")
    expect(page.locator("#warnings .warning")).to_contain_text(warning)
    place.locator("input[type=checkbox]").uncheck()
    expect(page.locator("#warnings .warning")).to_have_count(0)
    page.locator("fieldset").last.get_by_role("button").last.click()
    row = page.locator("fieldset").last.locator(".row").first
    row.locator("input[type=text]").fill("A1")
    row.locator("input[type=text]").press("Tab")
    expect(page.locator("fieldset").last.locator(":scope > .muted")).not_to_be_empty()
    for one in page.locator("main details").all():
        one.evaluate("element => { element.open = true; }")
    found = Axe().run(page).response["violations"]
    go(page, "columns")
    page.get_by_label(use).select_option("")
    page.wait_for_selector("#undo:not([disabled])")
    go(page, "protect")
    page.locator("#way").select_option("cell_key")
    expect(page.locator("#noise details")).to_be_visible()
    page.locator("#noise input[type=number]").first.fill("4")
    for name in ("px", "jsonstat"):
        page.locator(f"input[value={name}]").check()
    found += Axe().run(page).response["violations"]
    page.locator("main button.main").first.click()
    page.wait_for_selector("#ended[data-state=done]", timeout=60_000)
    go(page, "export")
    expect(page.locator("main pre")).to_contain_text("max_noise = 4")
    expect(page.locator("main pre")).to_contain_text("A1 = { minimum_frequency = { n = 3 } }")
    with page.expect_download() as kept:
        page.locator("#public button").filter(has_text="count.px").click()
    made = folder / "out" / "public" / "count.px"
    assert Path(kept.value.path()).read_bytes() == made.read_bytes()
    found += Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    assert page.wrong == []
    page.close()


def test_changes_made_faster_than_they_are_kept_all_count(browser, workbench):
    folder, url = workbench("en")
    page = shown(browser, url)
    open_records(page)
    go(page, "protect")
    page.evaluate(
        """() => {
          for (const name of ["px", "jsonstat", "sdmx1"])
            document.querySelector(`input[value=${name}]`).click();
          document.querySelector("main button.main").click();
        }"""
    )
    page.wait_for_selector("#ended[data-state=done]", timeout=60_000)
    made = {path.suffix for path in (folder / "out" / "public").iterdir()}
    assert {".px", ".json", ".csv", ".xlsx"} <= made
    go(page, "export")
    assert '"px", "jsonstat", "sdmx1"' in page.locator("main pre").inner_text()
    page.close()


@pytest.mark.parametrize(("language", "best"), [("en", "not beaten"), ("de", "unübertroffen")])
def test_risk_is_shown_against_loss_and_a_way_is_taken(browser, workbench, language, best):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    _, url = workbench(language)
    page = shown(browser, url, bypass_csp=True)
    open_records(page)
    go(page, "ways")
    for box in page.locator("main fieldset").first.locator("input:checked").all()[:0:-1]:
        box.uncheck()
    page.locator("main input[type=text]").first.fill("500")
    page.locator("main button.main").click()
    expect(page.locator("#ways[data-state=done]")).to_be_visible(timeout=120_000)
    expect(page.locator("#ways circle")).to_have_count(2)
    expect(page.locator("#ways tbody tr")).to_have_count(2)
    expect(page.locator("#ways tbody")).to_contain_text(best)
    findings = Axe().run(page).response["violations"]
    assert [one["id"] for one in findings if one["impact"] in ("serious", "critical")] == []
    page.locator("#ways tbody tr").last.get_by_role("button").click()
    step(page, "protect")
    go(page, "export")
    expect(page.locator("main pre")).to_contain_text('method = "controlled"')
    assert page.wrong == []
    page.close()


@pytest.mark.parametrize(
    ("language", "free"), [("en", "entered nowhere"), ("de", "nirgends eingetragen")]
)
def test_a_draft_is_attacked_and_tried_beside_the_ledger_before_it_is_protected(
    browser, workbench, language, free
):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    _, url = workbench(language)
    page = shown(browser, url, bypass_csp=True)
    open_records(page)
    go(page, "attack")
    expect(page.locator("#close")).to_be_visible()
    rows = page.locator("#attacked tbody tr")
    expect(rows.first).to_be_visible()
    page.locator("main input[type=number]").fill("50")
    page.click("#attack")
    expect(rows.first).to_be_visible()
    found = Axe().run(page).response["violations"]
    page.locator("main .card").first.get_by_role("button").last.click()
    page.wait_for_selector("#undo:not([disabled])")
    go(page, "ledger")
    page.locator("main .card button").click()
    page.wait_for_selector("[data-step=ledger][data-ready] #rehearse")
    page.click("#rehearse")
    expect(page.locator("#checked [data-state=done]")).to_contain_text(free, timeout=60_000)
    found += Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    go(page, "export")
    expect(page.locator("main pre")).to_contain_text("relative = 50")
    assert page.wrong == []
    page.close()


def test_the_table_is_walked_through_by_keyboard(browser, workbench):
    _, url = workbench()
    page = shown(browser, url)
    open_records(page)
    go(page, "table")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "grid":
            break
    assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Control+End", "Control+Home", "ArrowDown"):
        page.keyboard.press(key)
    active = page.evaluate("document.activeElement.getAttribute('aria-activedescendant')")
    assert active == "c1-0"
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel dl")
    page.close()


def test_several_tables_are_added_changed_and_removed(browser, workbench):
    from playwright.sync_api import expect

    _, url = workbench()
    page = shown(browser, url)
    open_records(page)
    page.get_by_role("button", name="Add a table").click()
    page.wait_for_selector("[data-step=columns][data-ready] >> text=Remove this table")
    assert page.get_by_label("This table").input_value() == "1"
    page.get_by_label("Use of size").select_option("")
    page.wait_for_selector("#undo:not([disabled])")
    go(page, "export")
    text = page.inner_text("main pre")
    assert text.count("[[tables]]") == 2 and 'name = "turnover_2"' in text
    assert text.count("size = ") == 1
    go(page, "table")
    expect(page.locator(".grid .name")).to_have_count(1)
    go(page, "columns")
    page.get_by_role("button", name="Remove this table").click()
    page.wait_for_selector("[data-step=columns][data-ready] >> text=Add a table")
    go(page, "export")
    assert page.inner_text("main pre").count("[[tables]]") == 1
    assert page.wrong == []
    page.close()


def test_work_is_there_after_a_crash_and_steps_are_undone(browser, workbench):
    _, url = workbench()
    page = shown(browser, url)
    open_records(page)
    page.get_by_label("Use of size").select_option("")
    page.wait_for_selector("#undo:not([disabled])")
    page.close()
    _, again = workbench()  # a second one, as after a crash of the first
    page = shown(browser, again)
    assert "not saved" in page.inner_text("#main")
    go(page, "columns")
    assert page.get_by_label("Use of size").input_value() == ""
    page.get_by_label("Use of size").select_option("dimension")
    page.wait_for_selector("#undo:not([disabled])")
    page.keyboard.press("Control+z")
    page.wait_for_selector("#undo[disabled]")
    assert page.get_by_label("Use of size").input_value() == ""
    page.close()


def test_a_page_without_the_token_shows_nothing(browser, workbench):
    _, url = workbench()
    page = browser.new_page()
    page.goto(url.partition("#")[0])
    page.wait_for_selector("#main .wrong")
    assert "firms.csv" not in page.inner_text("body")
    page.close()


def test_texts_of_files_stay_texts(browser, workbench):
    folder, url = workbench()
    bad = "<img src=x onerror=alert(1)>"
    rows = "".join(f"{bad},{i % 3},{i}\n" for i in range(60))
    (folder / "bad.csv").write_text(f"{bad} a,size,v\n{rows}", encoding="utf-8")
    page = shown(browser, url)
    page.get_by_role("button", name="bad.csv").click()
    step(page, "columns")
    assert bad in page.inner_text("main")
    assert page.locator("main img").count() == 0
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_serious_findings_of_axe(browser, workbench, language, scheme):
    from axe_playwright_python.sync_playwright import Axe

    _, url = workbench(language)
    page = shown(browser, url, color_scheme=scheme, bypass_csp=True)
    open_records(page)
    found = []
    for name in STEPS:
        go(page, name)
        if name == "trees":
            page.locator("summary").first.click()
        if name == "protect":
            page.locator("main button.main").first.click()
            page.wait_for_selector("#ended", timeout=60_000)
        if name == "table":
            page.click("#next-hidden")
            page.wait_for_selector(".panel dl")
        for one in Axe().run(page).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                found.append((name, one["id"], one["nodes"][0]["html"][:200]))
    assert found == []
    page.close()


@pytest.mark.parametrize(("width", "zoom"), [(1024, 1), (1280, 2), (1920, 1)])
def test_nothing_is_cut_off_on_narrow_screens_and_when_enlarged(browser, workbench, width, zoom):
    _, url = workbench("de")
    page = shown(browser, url)
    page.set_viewport_size({"width": width // zoom, "height": 800 // zoom})
    open_records(page)
    for name in STEPS:
        go(page, name)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width // zoom, name
    page.close()


def test_the_address_is_not_in_the_list_of_processes(workbench):
    _, url = workbench()
    token = url.partition("=")[2]
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert token.encode() not in place.read_bytes()
        except OSError:
            continue
