"""The last guard of the difference to the last delivery: nothing but what both tables show."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret.hierarchy import Hierarchy
from diskret.publish.difference import PREVIOUS, difference_outline
from diskret.publish.digests import public_digests
from diskret.publish.formats.data_files import write_columns, write_csv
from diskret.publish.guard.difference import decimals_in, difference_problems, said_problems
from diskret.publish.json_files import write_json
from diskret.tables import Difference, Dimension, Published
from diskret.tables.difference import counted
from diskret.tables.public_files import structure


def a_table(values, vintage, hidden=(), empty=(), decimals=0, sizes=("big",)):
    """The same values for each size; cells whose number is in `hidden` or `empty` show none."""
    tree = Hierarchy(tuple(values), np.array([-1] + [0] * (len(values) - 1)))
    dimensions = (Dimension("region", tree), Dimension("size", Hierarchy.flat(list(sizes))))
    shown = np.array([[one] * (len(sizes) + 1) for one in values.values()])
    at = np.arange(shown.size).reshape(shown.shape)
    suppressed, nothing = (np.isin(at, one) for one in (hidden, empty))
    shown[suppressed | nothing] = 0
    return Published(
        "firms", dimensions, "count", decimals == 0, decimals, shown, suppressed, nothing,
        vintage=vintage,
    )  # fmt: skip


THEN = a_table({"Total": 21, "N": 8, "S": 7, "W": 5, "Q": 1}, "2025", hidden=[4, 8], empty=[9])
NOW = a_table({"Total": 23, "N": 2, "W": 5, "S": 7, "E": 9}, "2026", hidden=[2, 7], empty=[9])
KINDS = {
    "both of whole numbers": (NOW, THEN),
    "decimals": tuple(replace(one, decimals=2, frequency=False) for one in (NOW, THEN)),
    "more decimals now": (
        replace(NOW, decimals=2, frequency=False, value=NOW.value * 100 + (NOW.value > 0)),
        replace(THEN, frequency=False),
    ),
    "more decimals then": (
        replace(NOW, frequency=False),
        replace(THEN, decimals=2, frequency=False, value=THEN.value * 100 + (THEN.value > 0)),
    ),
    "nothing changed": (replace(THEN, vintage="2026"), THEN),
    "all hidden then": (
        NOW,
        replace(THEN, value=THEN.value * 0, suppressed=THEN.value >= 0, empty=THEN.value < 0),
    ),
}  # fmt: skip


class Delivery:
    """A difference among public files, and the delivery before."""

    def __init__(self, home, now, then):
        self.before, self.folder = home / "before", home / "public"
        for folder in (self.before, self.folder):
            folder.mkdir(parents=True)
        write_csv(then, self.before / "firms.csv")
        write_json(structure(then), self.before / "firms.structure.json")
        files = public_digests(self.before)
        write_json({"files": files}, self.before / "firms.certificate.json")
        self.now = now
        self.difference = Difference("changes", now, then)
        write_columns(self.difference, self.folder, ("parquet", "xlsx"))
        self.outline = self.folder / f"changes{PREVIOUS}"
        write_json(difference_outline(self.difference, [self.before]), self.outline)
        self.csv = self.folder / "changes.csv"
        self.said = {"name": "changes", **self.difference.counts}

    def problems(self):
        return list(difference_problems(self.folder, self.difference, [self.before]))

    def said_problems(self, said=None):
        return list(said_problems(self.folder, self.now, self.said if said is None else said))

    def change(self, old, new):
        text = self.csv.read_text("utf-8")
        assert old in text, text
        self.csv.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def delivery(tmp_path):
    return Delivery(tmp_path, NOW, THEN)


@pytest.mark.parametrize("kind", KINDS)
def test_what_both_tables_show_may_leave(kind, tmp_path):
    delivery = Delivery(tmp_path, *KINDS[kind])
    assert delivery.problems() == []
    assert delivery.said_problems() == []
    for ending in ("parquet", "xlsx"):
        (delivery.folder / f"changes.{ending}").unlink()
        assert delivery.problems() == delivery.said_problems() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Total,big,21,published,23,published\n", ""),
        ("Total,big,21,published,23,published\n", "Total,big,21,published,23,published\n" * 2),
        ("Total,big,21,published", "Total,big,20,published"),
        ("Total,big,21,published", "Total,big,,suppressed"),
        ("Total,big,21,published,23", "Total,big,21,published,24"),
        ("N,Total,8,published,,suppressed", "N,Total,8,published,3,published"),
        ("N,Total,8,published,,suppressed", "N,Total,8,published,,primary"),
        ("region,size", "place,size"),
    ],
)
def test_nothing_else_may_leave(delivery, old, new):
    delivery.change(old, new)
    assert delivery.problems() != []


def test_rows_stand_in_the_order_of_the_table(delivery):
    head, *rows = delivery.csv.read_text("utf-8").splitlines()
    delivery.csv.write_text("\n".join([head, *reversed(rows)]) + "\n", encoding="utf-8")
    assert delivery.problems() == [
        "changes.csv does not hold its rows in the order of the table",
        "changes.parquet does not hold what stands in the CSV",
        f"changes.xlsx has {len(rows)} rows that do not show what is published, e.g. 2, 3, 4 "
        "(xl/worksheets/sheet1.xml)",
    ]


def test_other_values_are_said_to_be_such(delivery):
    delivery.change("Total,big,21,published", "Total,big,20,published")
    assert delivery.problems()[0] == (
        "changes.csv does not hold the difference between what the two deliveries show"
    )


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_other_files_hold_the_same_rows(delivery, kind):
    other = Difference("changes", replace(NOW, value=NOW.value * 2), THEN)
    folder = delivery.folder.parent / "other"
    folder.mkdir()
    write_columns(other, folder, (kind,))
    path = delivery.folder / f"changes.{kind}"
    path.write_bytes((folder / path.name).read_bytes())
    [problem] = delivery.problems()
    assert problem.startswith(path.name)
    path.write_bytes(b"4711")
    [problem] = delivery.problems()
    assert path.name in problem


def test_a_missing_file_and_another_outline_are_refused(delivery):
    content = difference_outline(delivery.difference, [delivery.before])
    write_json(content | {"schema": "diskret/difference/2"}, delivery.outline)
    problem = f"{delivery.outline.name} does not say how the file beside it is made"
    assert delivery.problems() == [problem]
    delivery.csv.unlink()
    assert len(delivery.problems()) == 2
    delivery.outline.unlink()
    assert len(delivery.problems()) == 1


# ── what a certificate says ─────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "change",
    [{"name": "other"}, {"value": 0}, {"suppressed": 9}, {"removed": 0}, {"added": 0}, {"more": 1}],
)
def test_a_certificate_counts_what_the_file_shows(delivery, change):
    [problem] = delivery.said_problems(delivery.said | change)
    named = "does not name its difference" if "name" in change else "counts other changes than"
    assert named in problem


def test_a_difference_that_no_certificate_names_is_refused(delivery):
    found = list(said_problems(delivery.folder, delivery.now, None))
    assert found == ["the certificate of firms does not name its difference (['changes'])"]
    assert list(said_problems(delivery.before, delivery.now, None)) == []
    [problem] = said_problems(delivery.before, delivery.now, delivery.said)
    assert "does not name its difference ([])" in problem


def test_a_difference_of_another_table_is_its_own_affair(delivery):
    other = replace(delivery.now, name="other")
    assert list(said_problems(delivery.folder, other, None)) == []


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("Total,big,21,published,23", "Total,big,21,published,24", "shows other values"),
        ("8,published,,suppressed", "8,published,3,published", "shows other values than firms.csv"),
        ("21,published,23", "twenty,published,23", "holds 1 row that no delivery can have shown"),
        ("21,published,23", "21/2,published,23", "holds 1 row that no delivery"),
        ("21,published,23", ",published,23", "holds 1 row that no delivery"),
        ("21,published,23", "21,primary,23", "holds 1 row that no delivery"),
        ("21,published,23", "21,suppressed,23", "holds 1 row that no delivery"),
        ("21,published,23", "21,absent,23", "holds 1 row that no delivery"),
    ],
)  # fmt: skip
def test_without_the_last_delivery_its_side_must_be_possible(delivery, old, new, named):
    delivery.change(old, new)
    shown = counted_in(delivery)
    assert named in " ".join(delivery.said_problems({"name": "changes", **shown}))


def counted_in(delivery):
    from diskret.tables.difference import difference_columns
    from diskret.tables.read_public import read_text

    return counted(read_text(delivery.csv, difference_columns(delivery.now)))


def test_parquet_is_compared_with_the_csv_there_too(delivery):
    path = delivery.folder / "changes.parquet"
    cells = pq.read_table(path)
    pq.write_table(cells.slice(1), path, store_schema=False)
    assert delivery.said_problems() == ["changes.parquet does not hold what stands in the CSV"]
    delivery.csv.unlink()
    [problem] = delivery.said_problems()
    assert "the file is missing" in problem


def test_decimals_are_those_that_texts_have():
    table = replace(NOW, decimals=1, frequency=False)
    shown = pa.table({"previous": ["", "2.50", "3.75"], "now": ["1.0", "", ""]})
    assert decimals_in(shown, table) == {"previous": 2, "now": 1}
    assert decimals_in(shown.slice(0, 1), table) == {"now": 1}
    whole = pa.table({"previous": ["25"], "now": ["1.0"]})
    assert decimals_in(whole, table) == {"previous": 0, "now": 1}
