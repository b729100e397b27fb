"""What a notebook shows: small, safe markup, and nothing secret in what says it is public."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk

SECRET = 987_654_321
RECORDS = pa.table(
    {
        "region": ["N", "N", "N", "S", "W", "W", "W", "W"],
        "size": ["a", "b", "b", "a", "a", "a", "b", "b"],
        "sales": [9, 8, 7, SECRET, 6, 5, 4, 3],
    }
)
TAGS = {"div", "b", "span", "table", "tr", "td", "th", "ul", "li"}


class Reader(HTMLParser):
    """Collects what a card consists of."""

    def __init__(self, card):
        super().__init__()
        self.tags, self.attributes, self.texts, self.styles = set(), set(), [], []
        self.open = []
        self.feed(card)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.styles += [value for name, value in attrs if name == "style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def values():
    table = dk.tabulate(RECORDS, by={"region": None, "size": None}, value="sales")
    result = dk.suppress(table, dk.rules.PPercent(20) | dk.rules.MinimumFrequency(2))
    rounded = dk.round_table(table["count"], base=3)
    md = dk.Microdata(RECORDS, keys=["region", "size"], numeric=["sales"])
    released = dk.Microdata(RECORDS.select(["region"]), keys=["region"]).local_suppression(k=2)
    out = released.release(claim=dk.claims.KAnonymity(2))
    return {
        "table": table,
        "microdata": md,
        "risk": md.risk(),
        "result": result,
        "published": result.published,
        "certificate": result.certificate,
        "rounded": rounded,
        "noise": rounded.certificate,
        "released": out,
        "claims": out.certificate,
    }


OFFICE = ("table", "microdata", "risk")
PUBLIC = ("result", "published", "certificate", "rounded", "noise", "released", "claims")


@pytest.mark.parametrize("name", [*OFFICE, *PUBLIC])
def test_cards_are_small_and_safe(values, name):
    card = values[name]._repr_html_()
    reader = Reader(card)
    assert reader.tags <= TAGS and reader.attributes <= {"style", "title"} and reader.open == []
    assert len(card) < 12_000
    assert "url(" not in card and "://" not in card and "{" not in card
    badge = "confidential" if name in OFFICE else "public"
    assert badge in reader.texts


@pytest.mark.parametrize("name", [*OFFICE, *PUBLIC])
def test_no_card_holds_a_value_that_must_not_leave(values, name):
    """The hidden contribution dominates its cell, its row and its column, so none may be there."""
    texts = "".join(Reader(values[name]._repr_html_()).texts).replace(",", "")
    assert str(SECRET)[:5] not in texts


def test_a_public_card_shows_what_is_published_and_no_more(values):
    published = values["published"]
    hidden = np.flatnonzero(published.suppressed)
    assert len(hidden)
    value = published.value.copy()
    value.ravel()[hidden] = 4_444_444
    # whatever stands in a suppressed cell, the card is the same
    assert replace(published, value=value)._repr_html_() == published._repr_html_()
    for name in PUBLIC:
        words = " ".join(Reader(values[name]._repr_html_()).texts).split()
        assert not {"primary", "secondary", "PPercent", "p=20"} & {*words}


def test_names_of_users_stay_text():
    bad = "<script>alert(1)</script>"
    frame = pa.table({bad: ["x", "y", bad] * 3})
    cards = [
        dk.tabulate(frame, by={bad: None})._repr_html_(),
        dk.Microdata(frame, keys=[bad])._repr_html_(),
        dk.suppress(dk.tabulate(frame, by={bad: None}), dk.rules.MinimumFrequency(2),
                    name="t").published._repr_html_(),
    ]  # fmt: skip
    for card in cards:
        assert "<script" not in card and "&lt;script&gt;" in card
