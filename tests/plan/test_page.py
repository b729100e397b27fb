"""The page of a plan: it says what hangs together and why, needs nothing else, and is escaped."""

import re
from html.parser import HTMLParser

import pytest
from plan_templates import ANSWERS, publication, written

import diskret as dk
from diskret.plan.page import PAGE, plan_page


class Page(HTMLParser):
    """Collects texts, classes of rectangles, and lines."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.boxes, self.lines, self.links = [], [], [], 0, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.boxes += [given["class"]] if tag == "rect" else []
        self.lines += tag == "line"
        self.links += [given[name] for name in ("src", "href") if name in given]

    def handle_endtag(self, tag):
        if tag not in ("meta", "br"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_it_says_what_hangs_together_and_why(tmp_path):
    plan = dk.plan.read(publication(tmp_path))
    page = Page(plan_page(plan))
    assert page.open == [] and page.links == []
    assert page.boxes == ["measure", "planned", "tie", *["measure"] * 3, "planned"]
    assert page.lines == 1 + 3 + 3
    assert "trade = domestic + export" in page.texts
    assert "Confidential: for use in the office only" in page.texts
    assert "Was zusammenhängt, und warum" in Page(plan_page(plan, "de")).texts


def test_it_holds_no_value_and_no_parameter(tmp_path):
    written(tmp_path, **{"a": ""})
    path = publication(tmp_path)
    path.write_text(ANSWERS.replace("p = 10", "p = 13.57").replace("n = 3", "n = 7531"))
    dk.plan.write(dk.plan.read(path), tmp_path / "plan")
    text = (tmp_path / "plan" / PAGE).read_text(encoding="utf-8")
    assert "13.57" not in text and "7531" not in text and "7,531" not in text
    amounts = {line.split(",")[4] for line in (tmp_path / "firms.csv").read_text().splitlines()[1:]}
    shown = {*re.findall(r"\d+\.\d\d", re.sub(r"<svg.*?</svg>|<style>.*?</style>", "", text))}
    assert not amounts & shown


@pytest.mark.parametrize("name", ["<b>&", '"sales" \u00e9', "x" * 300])
def test_names_are_escaped_and_cut(tmp_path, name):
    frame = {"table_name": ["T"], "indicator": [name], "spanning_1": ["<i>size"]}
    import pyarrow as pa

    text = plan_page(dk.plan.read(pa.table(frame)))
    assert "<b>&" not in text and "<i>size" not in text
    assert Page(text).open == []
    assert any(name in one for one in Page(text).texts)


def test_open_questions_stand_on_it(tmp_path):
    path = publication(tmp_path)
    path.write_text(ANSWERS.replace("equations", "#"))
    page = Page(plan_page(dk.plan.read(path)))
    assert "Question 1 (template.csv, line 5, 6, 7)" in page.texts
    assert "add up as hrc_trade (how is open)" in page.texts
