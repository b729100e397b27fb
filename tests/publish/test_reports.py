"""The reports: what readers see, that users' texts stay text, and who sees what."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.attack import Explanations
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.publish.guard.html import page_problems
from diskret.publish.pages.internal import write_internal_report
from diskret.publish.pages.page import IntervalBar
from diskret.publish.pages.public import write_public_report
from diskret.tables import Dimension, Published
from diskret.texts.markup import _environment, template

REGION = Dimension(
    "region",
    Hierarchy(("Total", "A", "A1", "A2", "B"), np.array([-1, 0, 1, 1, 0]), {"B": "Bäcker"}),
)
SIZE = Dimension("size", Hierarchy(("Total", "small", "large"), np.array([-1, 0, 0])))
ORIGINAL = np.array([[2500, 1000, 1500], [1500, 1000, 500], [900, 613, 287], [600, 387, 213],
                     [1000, 0, 1000]])  # fmt: skip


@pytest.fixture
def published():
    """5 regions by 3 sizes in hundredths; four cells hidden, one empty."""
    suppressed = np.zeros((5, 3), dtype=bool)
    suppressed[2:4, 1:] = True
    empty = np.zeros((5, 3), dtype=bool)
    empty[4, 1] = True
    value = np.where(suppressed, 0, ORIGINAL)
    return Published("firms", (REGION, SIZE), "turnover", False, 2, value, suppressed, empty)


@pytest.fixture
def certificate():
    """The public certificate of that table."""
    return {
        "attacker": "outsider",
        "claimed": {"en": ["No exact value."], "de": ["Kein exakter Wert."]},
        "not_claimed": {"en": ["Other tables."], "de": ["Andere Tabellen."]},
        "intervals": {
            "region": ["A1", "A1", "A2", "A2"],
            "size": ["small", "large", "small", "large"],
            "lower": [4.0, 0.0, 1.0, 0.0],
            "upper": [9.0, 5.0, 6.0, None],
        },
        "files": {"firms.csv": "ab" * 32},
        "software": "diskret 0.1.0",
    }


@pytest.fixture
def cells(published):
    """The office's cells of that table; the first hidden cell is the unsafe one."""
    status = np.full(15, "published", dtype=object)
    status[published.suppressed.ravel()] = "secondary"
    status[published.empty.ravel()] = "empty"
    status[7] = "primary"
    level = np.where(status == "primary", 0.31, 0.0)
    return pa.table(
        {
            "turnover": ORIGINAL.ravel() / 100,
            "status": status,
            "rule": np.where(status == "primary", "p_percent", ""),
            "lower_level": level,
            "upper_level": level,
        }
    )


SETTINGS = {"rule": "PPercent(p=13)", "method": "sequential", "cost": "value"}


class Page(HTMLParser):
    """A page as a reader meets it: texts, tables as lists of rows, drawings with words."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.tables, self.drawings, self.open = [], [], [], []
        self.lines = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag not in ("meta",):
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag == "svg":
            self.drawings.append(attributes)
        if tag == "line":
            self.lines.append(attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.texts.append(data)
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


def public_page(published, certificate, tmp_path, **options):
    write_public_report(published, certificate, tmp_path / "t.html", **options)
    return Page((tmp_path / "t.html").read_text(encoding="utf-8"))


def internal_page(published, cells, certificate, tmp_path, **options):
    path = tmp_path / "t.report.html"
    write_internal_report(published, cells, certificate, SETTINGS, path, **options)
    return Page(path.read_text(encoding="utf-8"))


# ── the public report ───────────────────────────────────────────────────────────────


def test_a_reader_sees_what_was_suppressed_at_which_depth(published, certificate, tmp_path):
    page = public_page(published, certificate, tmp_path)
    assert page.tables[0] == [
        ["Classification", "Depth", "Cells", "Published", "Suppressed", "Empty",
         "Share suppressed", ""],
        ["region", "0", "3", "3", "0", "0", "0.0\xa0%", ""],
        ["region", "1", "6", "5", "0", "1", "0.0\xa0%", ""],
        ["region", "2", "6", "2", "4", "0", "66.7\xa0%", ""],
        ["size", "0", "5", "5", "0", "0", "0.0\xa0%", ""],
        ["size", "1", "10", "5", "4", "1", "44.4\xa0%", ""],
    ]  # fmt: skip


def test_intervals_stand_narrowest_first(published, certificate, tmp_path):
    page = public_page(published, certificate, tmp_path)
    assert page.tables[2][1:] == [
        ["A1 · small", "4.00", "9.00", "55.6\xa0%", ""],
        ["A2 · small", "1.00", "6.00", "83.3\xa0%", ""],
        ["A1 · large", "0.00", "5.00", "100.0\xa0%", ""],
        ["A2 · large", "0.00", "any", "unbounded", ""],
    ]


def test_certificate_and_digests_in_german(published, certificate, tmp_path):
    page = public_page(published, certificate, tmp_path, language="de", title="Umsätze")
    assert {"Umsätze", "Kein exakter Wert.", "Andere Tabellen.", "ab" * 32} <= set(page.texts)
    assert ["A1 · small", "4,00", "9,00", "55,6\xa0%", ""] in page.tables[2]


def test_the_map_shows_each_cell_once(published, certificate, tmp_path):
    page = public_page(published, certificate, tmp_path)
    drawn = {"open": 0, "shut": 0, "none": 0}
    for line in page.lines:
        if "stroke-dasharray" in line:
            box = int(line["stroke-dasharray"].split(",")[0]) + 1
            drawn[line["class"]] += round((float(line["x2"]) - float(line["x1"])) / box)
    assert drawn == {"open": 10, "shut": 4, "none": 1}


def test_every_drawing_has_words(published, certificate, cells, tmp_path):
    pages = (
        public_page(published, certificate, tmp_path),
        internal_page(published, cells, certificate, tmp_path),
    )
    for page in pages:
        silent = [d for d in page.drawings if d["role"] == "img" and not d["aria-label"]]
        assert len(page.drawings) > 10 and not silent


def test_the_public_report_does_not_look_at_hidden_values(published, certificate, tmp_path):
    public_page(published, certificate, tmp_path)
    expected = (tmp_path / "t.html").read_bytes()
    public_page(replace(published, value=ORIGINAL), certificate, tmp_path)
    assert (tmp_path / "t.html").read_bytes() == expected


def test_the_public_report_says_nothing_internal(published, certificate, tmp_path):
    knowing = {**certificate, "primaries": 4711, "attacker": {"relative": 50}, "rule": "p_percent"}
    for language in ("en", "de"):
        public_page(published, knowing, tmp_path, language=language)
        text = (tmp_path / "t.html").read_text(encoding="utf-8").lower()
        words = (
            "primary",
            "secondary",
            "primär",
            "sekundär",
            "4711",
            "relative",
            "p_percent",
            "p% rule",
            "p-%-regel",
        )
        assert [w for w in (*words, "level", "internal", "intern ") if w in text] == []


def test_the_guard_lets_a_report_pass(published, certificate, tmp_path):
    public_page(published, certificate, tmp_path)
    assert list(page_problems(tmp_path / "t.html")) == []


def test_a_table_without_suppression_has_a_report(published, certificate, tmp_path):
    whole = replace(published, value=ORIGINAL, suppressed=np.zeros((5, 3), dtype=bool))
    none = {**certificate, "intervals": {"region": [], "size": [], "lower": [], "upper": []}}
    page = public_page(whole, none, tmp_path)
    assert "No cell of this table is suppressed." in page.texts


def test_a_large_table_shows_part_and_says_so(certificate, tmp_path):
    one = Dimension("code", Hierarchy.flat(range(999)))
    nothing = np.zeros(1000, dtype=bool)
    hidden = nothing.copy()
    hidden[1:301] = True
    value = np.zeros(1000, dtype=np.int64)
    table = Published("long", (one,), "count", True, 0, value, hidden, nothing)
    ends = {"lower": [0] * 300, "upper": list(range(1, 301))}
    page = public_page(table, {**certificate, "intervals": ends}, tmp_path)
    text = " ".join(page.texts)
    assert "Shown are 200 of 1,000 codes of code." in text
    assert "The 40 narrowest and the 20 widest of 300 intervals" in text
    assert "… 240 more …" in text
    shown = page.tables[2]
    assert len(shown) == 1 + 40 + 1 + 20
    assert (shown[1][2], shown[-1][2]) == ("1", "300")


def test_middle_dimensions_are_shown_at_their_total(published, certificate, tmp_path):
    wide = Dimension("year", Hierarchy.flat(range(100)))
    shape = (5, 101, 3)
    nothing = np.zeros(shape, dtype=bool)
    cube = Published("cube", (REGION, wide, SIZE), "count", True, 0,
                     np.zeros(shape, np.int64), nothing, nothing)  # fmt: skip
    page = public_page(cube, {"intervals": {"lower": [], "upper": []}}, tmp_path)
    assert "Rows: region. Columns: size. All others at their total: year." in page.texts


def test_same_content_same_bytes(published, certificate, cells, tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        public_page(published, certificate, folder)
        internal_page(published, cells, certificate, folder)
    for name in ("t.html", "t.report.html"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


# ── the office's report ─────────────────────────────────────────────────────────────


def test_the_office_sees_why_and_at_what_price(published, cells, certificate, tmp_path):
    page = internal_page(published, cells, certificate, tmp_path)
    lost, reasons, positions = page.tables[:3]
    assert lost[0][2:4] == ["Primary", "Secondary"]
    assert lost[3] == ["region", "2", "1", "3", "66.7\xa0%", "", "15.00", "50.0\xa0%", ""]
    assert reasons[1] == ["p% rule", "1", ""]
    # (6.13 − 4) / 5, 2.87 / 5, (3.87 − 1) / 5; the fourth has no upper end
    assert [row[1] for row in positions[1:]] == [*"0000120000", "1"]
    assert "Confidential" in "".join(page.texts)


def test_the_office_sees_true_values_levels_and_settings(published, cells, certificate, tmp_path):
    page = internal_page(published, cells, certificate, tmp_path, language="de")
    first = page.tables[4][1]
    assert first == [
        "A1 · small", "Primär (p-%-Regel)", "6,13", "0,31 / 0,31", "4,00", "9,00",
        "55,6\xa0%", "",
    ]  # fmt: skip
    assert ["Regeln", "p-Prozent-Regel mit p = 13"] in page.tables[5]


def test_cells_of_another_table_are_refused(published, cells, certificate, tmp_path):
    with pytest.raises(InputError, match="14 rows for 15 cells"):
        internal_page(published, cells.slice(1), certificate, tmp_path)
    other = cells.set_column(1, "status", pa.array(["published"] * 15))
    with pytest.raises(InputError, match="status of 4 internal cells differs"):
        internal_page(published, other, certificate, tmp_path)
    with pytest.raises(InputError, match="lack the columns rule"):
        internal_page(published, cells.drop_columns(["rule"]), certificate, tmp_path)


# ── why secondaries are hidden ──────────────────────────────────────────────────────


@pytest.fixture
def explanations():
    """Cell 7 is primary; 8 protects it, 10 hides 8, 11 is needed by none."""
    return Explanations(
        secondary=np.array([8, 10, 11]),
        kind=("protects", "hides", "together"),
        needed_by=np.array([7, 8, -1]),
        lower=np.array([600.0, 287.0, -np.inf]),
        upper=np.array([np.inf, 287.0, np.inf]),
    )


def test_the_office_sees_which_cells_need_a_secondary(
    published, cells, certificate, explanations, tmp_path
):
    page = internal_page(published, cells, certificate, tmp_path, explanations=explanations)
    assert page.tables[2:5] == [
        [["Secondary", "Cells"], ["protects", "1"], ["hides another secondary", "1"],
         ["needed only together with others", "1"]],
        [["Needed by", "True value", "Without it, known would be", "Must stay possible"],
         ["A1 · small", "6.13", "[6.00; ∞]", "[5.82; 6.44]"]],
        [["Needed by", "True value", "Without it, known would be", "Must stay possible"],
         ["A1 · large", "2.87", "the exact value", "no exact value"]],
    ]  # fmt: skip
    assert " (2.87): protects: A1 · small" in page.texts
    # what the map says where the pointer rests
    assert "A1 · large – protects: A1 · small" in page.texts
    assert "A2 · large – needed only together with others" in page.texts


def test_reasons_in_german(published, cells, certificate, explanations, tmp_path):
    options = {"language": "de", "explanations": explanations}
    page = internal_page(published, cells, certificate, tmp_path, **options)
    assert ["A1 · small", "6,13", "[6,00; ∞]", "[5,82; 6,44]"] in page.tables[3]
    assert "A2 · large – nur zusammen mit anderen nötig" in page.texts


def test_a_report_says_what_was_not_examined(published, cells, certificate, tmp_path):
    none = np.full(3, -1)
    left = Explanations(
        np.array([8, 10, 11]), ("not examined",) * 3, none, none - np.inf, none + np.inf
    )
    page = internal_page(published, cells, certificate, tmp_path, explanations=left)
    assert any(text.startswith("3 secondaries were not examined") for text in page.texts)


def test_a_long_list_of_reasons_is_cut_and_says_so(certificate, tmp_path):
    one = Dimension("code", Hierarchy.flat(range(300)))
    hidden = np.arange(301) > 0
    nothing = np.zeros(301, dtype=bool)
    table = Published("long", (one,), "count", True, 0, np.zeros(301, np.int64), hidden, nothing)
    office = pa.table(
        {
            "count": np.full(301, 5),
            "status": np.where(hidden, np.where(np.arange(301) == 1, "primary", "secondary"),
                               "published").astype(object),
            "rule": [""] * 301,
            "lower_level": [0] * 301,
            "upper_level": [0] * 301,
        }
    )  # fmt: skip
    second = np.arange(2, 301)
    zero = np.zeros(299)
    found = Explanations(second, ("protects",) * 299, np.ones(299, np.int64), zero, zero + 9)
    ends = {**certificate, "intervals": {"lower": [0] * 300, "upper": [9] * 300}}
    page = internal_page(table, office, ends, tmp_path, explanations=found)
    assert "99 more are in the file of explanations (CSV)." in page.texts
    assert sum(table[0][:1] == ["Needed by"] for table in page.tables) == 200


def test_reasons_do_not_pass_the_guard_of_public_pages(
    published, cells, certificate, explanations, tmp_path
):
    internal_page(published, cells, certificate, tmp_path, explanations=explanations)
    assert "t.report.html has the element <details>" in list(
        page_problems(tmp_path / "t.report.html")
    )


# ── texts of users ──────────────────────────────────────────────────────────────────

#: Classes tell primary from secondary cells.
INTERNAL = "t.report.html has another text in the attribute class"
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!-- hidden -->",
    "</title></style><style>*{display:none}",
    "' onmouseover='x",
    "&lt;b&gt; &amp; http://example.org",
    "\x00\x1b\ud800 odd",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_labels_stay_text_in_reasons(
    published, certificate, cells, explanations, text, tmp_path
):
    tree = Hierarchy(("Total", f"{text}1", f"{text}2"), np.array([-1, 0, 0]), {f"{text}2": text})
    table = replace(published, dimensions=(REGION, Dimension(text, tree)))
    page = internal_page(table, cells, certificate, tmp_path, explanations=explanations)
    assert page.open == []
    assert set(page_problems(tmp_path / "t.report.html")) == {
        "t.report.html has the element <details>",
        "t.report.html has the element <summary>",
        "t.report.html has a title in its body",
        INTERNAL,
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_labels_stay_text(published, certificate, cells, text, tmp_path):
    tree = Hierarchy(("Total", f"{text}1", f"{text}2"), np.array([-1, 0, 0]), {f"{text}2": text})
    table = replace(published, dimensions=(REGION, Dimension(text, tree)), name=text)
    hostile = {**certificate, "files": {text: text}, "claimed": {"en": [text]}, "software": text}
    pages = (
        public_page(table, hostile, tmp_path, title=text),
        internal_page(table, cells, hostile, tmp_path, title=text),
    )
    shown = re.sub("[\x00-\x1f\ud800]", "\N{REPLACEMENT CHARACTER}", text)
    for page in pages:
        assert page.texts.count(shown) >= 3
        assert page.open == []
    assert list(page_problems(tmp_path / "t.html")) == []
    assert list(page_problems(tmp_path / "t.report.html")) == [INTERNAL]


@given(st.text(), st.text())
def test_escaped_text_comes_back(text, attribute):
    seen = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append((tag, attrs))

        def handle_data(self, data):
            seen.append(data)

    reader = Reader()
    piece = _environment("diskret.texts").from_string('<p aria-label="{{ one }}">{{ two }}</p>')
    reader.feed(piece.render(one=attribute, two=text))
    reader.close()
    unprintable = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
    plain, label = (unprintable.sub("\N{REPLACEMENT CHARACTER}", t) for t in (text, attribute))
    assert seen[0] == ("p", [("aria-label", label)])
    assert "".join(seen[1:]) == plain


@given(st.lists(st.integers(-(10**12), 10**12), min_size=3, max_size=3), st.booleans(),
       st.booleans())  # fmt: skip
def test_bars_and_marks_stay_in_their_frame(ends, open_below, open_above):
    low, value, high = sorted(ends)
    bar = IntervalBar(None if open_below else low, None if open_above else high, value, "x")
    parts = vars(template("diskret.publish.pages", "parts.html").module)
    drawing = parts["drawing"](bar)
    # the last width is that of the interval, the first that of the frame
    numbers = dict(re.findall(r'\b(x|width|x1)="([^"]+)"', drawing))
    [frame] = re.findall(r'<svg width="(\d+)"', drawing)
    start = float(numbers["x"])
    assert 0 <= start and start + float(numbers["width"]) <= float(frame) + 1
    assert 0 <= float(numbers["x1"]) <= float(frame)
    assert start - 1 <= float(numbers["x1"]) <= start + float(numbers["width"]) + 1


# ── what is refused ─────────────────────────────────────────────────────────────────


def test_intervals_of_another_table_are_refused(published, certificate, tmp_path):
    fewer = {**certificate, "intervals": {"lower": [1.0], "upper": [2.0]}}
    with pytest.raises(InputError, match="1 lower and 1 upper ends for 4 suppressed cells"):
        public_page(published, fewer, tmp_path)


def test_an_unknown_language_is_refused(published, certificate, tmp_path):
    with pytest.raises(InputError, match="language= must be 'en' or 'de'"):
        public_page(published, certificate, tmp_path, language="fr")


def test_a_missing_folder_is_refused(published, certificate, tmp_path):
    with pytest.raises(InputError, match="the report cannot be written"):
        public_page(published, certificate, tmp_path / "nowhere")
