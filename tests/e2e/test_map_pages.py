"""Pages with maps as a browser shows them: in both languages, by keyboard, asking for nothing."""

import pyarrow as pa
import pytest

import diskret as dk

#: Needs Chromium, and is run where that is installed.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
KEYS = dk.SecretKeys(bytes(range(32)))
FEW = dk.rules.MinimumFrequency(5)


@pytest.fixture
def show(browser):
    """Opens a page, and tells what it asked for and what went wrong."""
    shown = []

    def opened(path):
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        shown.append(page)
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text))
        page.goto(path.as_uri())
        page.wait_for_function("frames.length > 0")
        return page, asked, wrong

    yield opened
    for page in shown:
        page.close()


@pytest.fixture(scope="module")
def cells():
    counts = {"1kmN2684E4334": 12, "1kmN2684E4335": 1_234, "1kmN2685E4335": 2, "1kmN2685E4336": 3}
    codes = [code for code, count in counts.items() for _ in range(count)]
    table = dk.tabulate(pa.table({"cell": codes}), by={"cell": None})
    return dk.suppress(table, FEW, name="t")


@pytest.mark.parametrize(
    ("language", "number", "hidden", "label"),
    [("en", "1,234", "Suppressed", "closer"), ("de", "1\xa0234", "Gesperrt", "näher")],
)
def test_the_page_says_what_is_published(tmp_path, show, cells, language, number, hidden, label):
    cells.write(tmp_path / "out", ["csv", "map"], keys=KEYS, language=language)
    path = tmp_path / "out" / "public" / "t.map.html"
    page, asked, wrong = show(path)
    assert asked == [path.as_uri()]
    assert wrong == []
    assert page.evaluate("document.documentElement.lang") == language
    legend = page.inner_text("#legend")
    assert number in legend
    assert hidden in legend
    assert page.get_by_role("button", name=label).count() == 1
    said = set()
    for x in range(50, 1000, 50):
        for y in range(60, 700, 40):
            page.mouse.move(x, y)
            said.add(page.inner_text("#said").strip())
    codes = {text.split("\n")[0]: text.split("\n")[-1] for text in said if text}
    assert codes == {
        "1kmN2684E4334": "12",
        "1kmN2684E4335": number,
        "1kmN2685E4335": hidden,
        "1kmN2685E4336": hidden,
    }


def test_the_map_moves_by_keyboard_and_pointer(tmp_path, show, cells):
    cells.write(tmp_path / "out", ["csv", "map"], keys=KEYS)
    page, _, wrong = show(tmp_path / "out" / "public" / "t.map.html")
    began = page.evaluate("[scale, ...middle]")
    page.keyboard.press("Tab")
    for _ in range(5):
        if page.evaluate("document.activeElement.tagName") == "CANVAS":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    moved = page.evaluate("[scale, ...middle]")
    assert (moved[0], moved[2]) == (began[0], began[2])
    assert moved[1] > began[1]
    page.keyboard.press("+")
    assert page.evaluate("scale") > began[0]
    page.keyboard.press("0")
    assert page.evaluate("[scale, ...middle]") == pytest.approx(began)
    page.mouse.move(500, 400)
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"scale > {began[0]}")
    page.mouse.down()
    page.mouse.move(600, 450)
    page.mouse.up()
    assert page.evaluate("middle[0]") < began[1]
    assert wrong == []


@pytest.mark.parametrize(("language", "told"), [("en", "12 (3 per km²)"), ("de", "12 (3 je km²)")])
def test_cells_of_several_widths_are_coloured_by_density(tmp_path, show, language, told):
    # 12 persons on 4 km² are fewer for each than 8 on 1 km²
    counts = {"OWN3035SIZE2000mN2684000E4334000": 12, "1kmN2684E4336": 8, "1kmN2685E4337": 4_000}
    codes = [code for code, count in counts.items() for _ in range(count)]
    result = dk.suppress(dk.tabulate(pa.table({"cell": codes}), by={"cell": None}), FEW, name="t")
    result.write(tmp_path / "out", ["csv", "map"], keys=KEYS, language=language)
    page, asked, wrong = show(tmp_path / "out" / "public" / "t.map.html")
    shades = dict(zip(page.evaluate("data.codes"), page.evaluate("[...shade]"), strict=True))
    assert [shades[code] for code in counts] == [0, 1, 2]
    legend = page.inner_text("#legend").splitlines()
    assert legend[0] in told and "3 – < 8" in legend
    page.evaluate(f"say(data.codes.indexOf('{next(iter(counts))}'))")
    assert page.inner_text("#said").split("\n")[-1] == told
    assert (len(asked), wrong) == (1, [])


def test_other_variables_are_chosen(tmp_path, show):
    land = dk.datasets.country(2_000, seed=5)
    sex = pa.array(["m", "f"] * 1_000)
    table = dk.tabulate(
        land.persons.append_column("sex", sex), by={"municipality": land.tree, "sex": None}
    )
    places = {"municipality": land.municipalities}
    dk.suppress(table, FEW, name="t").write(
        tmp_path / "out", ["csv", "map"], keys=KEYS, places=places
    )
    page, _, wrong = show(tmp_path / "out" / "public" / "t.map.html")
    before = page.inner_text("#legend")
    page.select_option("select", label="f")
    assert page.inner_text("#legend") != before
    assert wrong == []


def test_sums_are_shown_where_they_are_clicked(tmp_path, show):
    land = dk.datasets.country(1_000, seed=5)
    grid = dk.spatial.Grid(4_000)
    persons = dk.spatial.locate(land.persons, grid)
    found = dk.spatial.differences(persons, ["municipality", "cell"], FEW)
    assert len(found) > 3
    path = dk.map_page(
        found, tmp_path / "internal.html", "municipality", land.municipalities, language="de"
    )
    page, asked, wrong = show(path)
    assert "Vertraulich" in page.inner_text("#note")
    texts = page.locator("#list button").all_inner_texts()
    assert texts == [one.said("de") for one in found]
    at = next(i for i, one in enumerate(found) if any(n == "municipality" for n, _ in one.areas))
    page.locator("#list button").nth(at).click()
    wanted = {code for name, code in found.found[at].areas if name == "municipality"}
    assert set(page.evaluate("marked.map(i => data.codes[i])")) == wanted
    assert (asked, wrong) == ([path.as_uri()], [])


def test_many_cells_are_drawn_without_waiting(tmp_path, show):
    # 200,000 cells: every frame writes points, none of them takes an order for each cell
    codes = [f"100mN{27_000 + row}E{43_000 + at}" for row in range(400) for at in range(500)]
    cells = pa.table({"cell": codes, "count": [7 + i % 90 for i in range(len(codes))]})
    table = dk.Table.from_cells(cells, by={"cell": None}, count="count")
    dk.suppress(table, FEW, name="t").write(tmp_path / "out", ["csv", "map"], keys=KEYS)
    page, _, wrong = show(tmp_path / "out" / "public" / "t.map.html")
    assert page.evaluate("places") == 200_000
    page.mouse.move(500, 350)
    page.mouse.down()
    for at in range(10):
        page.mouse.move(500 + 9 * at, 350)
    page.mouse.up()
    assert page.evaluate("frames.length") > 3
    assert wrong == []
