"""What the office is told of the cheapest pattern, and that nobody else is."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.cli.command import Language
from diskret.cli.show import show_results
from diskret.rules import MinimumFrequency
from diskret.suppression import optimal

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"
COUNTS = [[13, 10, 2, 22], [8, 8, 5, 7], [24, 24, 1, 30], [35, 41, 9, 53]]


def counts():
    rows = [(f"r{i}", f"c{j}", n) for i, r in enumerate(COUNTS) for j, n in enumerate(r)]
    r, c, n = zip(*rows, strict=True)
    cells = pa.table({"r": r, "c": c, "n": n})
    return dk.Table.from_cells(cells, by={"r": None, "c": None}, count="n")


@pytest.fixture
def result():
    return dk.suppress(counts(), MinimumFrequency(3), method="optimal", cost="count")


def test_the_result_says_what_it_costs_and_that_nothing_is_cheaper(result):
    secondary = result.status == "secondary"
    cost = int(result.table.count[secondary].sum())
    assert cost == result.settings["cost_of_secondaries"] == result.bound == 34
    assert result.gap == 0
    assert result.settings["method"] == "optimal"


def test_sequential_claims_no_bound():
    result = dk.suppress(counts(), MinimumFrequency(3), method="sequential")
    assert result.bound is None and result.gap is None
    assert "bound" not in result.settings


def test_cost_and_bound_stay_in_the_office(result, tmp_path):
    folder = result.write(tmp_path / "out", formats=["csv", "xlsx", "html"], keys=tmp_path / "keys")
    inside = (folder / "internal" / "count.certificate.json").read_text(encoding="utf-8")
    assert '"bound": 34.0' in inside and '"gap": 0.0' in inside
    page = (folder / "internal" / "count.report.html").read_text(encoding="utf-8")
    assert "bound" in page
    words = [b"cost", b"bound", b"gap", b"optimal"]
    public = {p.name: p.read_bytes() for p in (folder / "public").glob("*.json")}
    public |= {p.name: p.read_bytes() for p in (folder / "public").glob("*.csv")}
    assert "count.certificate.json" in public
    for name, content in public.items():
        assert not [word for word in words if word in content], name
    page = (folder / "public" / "count.html").read_text(encoding="utf-8").lower()
    assert "optimal" not in page and "cost" not in page and "bound" not in page


def test_the_schemas_know_what_the_office_alone_is_told(result, tmp_path):
    folder = result.write(tmp_path / "out", formats=["csv"], keys=tmp_path / "keys")
    told = {}
    for side in ("public", "internal"):
        schema = json.loads((SCHEMAS / f"certificate-{side}.schema.json").read_text("utf-8"))
        told[side] = json.loads((folder / side / "count.certificate.json").read_text("utf-8"))
        jsonschema.validate(told[side], schema)
    schema = json.loads((SCHEMAS / "certificate-public.schema.json").read_text("utf-8"))
    for key in ("bound", "gap", "cost_of_secondaries"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(told["public"] | {key: told["internal"][key]}, schema)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (Language.en, "cost 34; no safe pattern costs less than 34 (gap 0.00 %)"),
        (Language.de, "kosten 34; kein sicheres Muster kostet weniger als 34 (Abstand 0,00 %)"),
    ],
)
def test_the_terminal_tells_the_office(result, tmp_path, capsys, language, sentence):
    show_results([result], tmp_path, language)
    shown = " ".join(capsys.readouterr().out.split())
    assert sentence in shown


def test_tables_of_the_same_records_share_cost_and_bound():
    table = counts()
    rows = dk.Table.from_cells(
        pa.table({"r": [f"r{i}" for i in range(4)], "n": np.sum(COUNTS, axis=1)}),
        by={"r": None},
        count="n",
    )
    columns = dk.Table.from_cells(
        pa.table({"c": [f"c{j}" for j in range(4)], "n": np.sum(COUNTS, axis=0)}),
        by={"c": None},
        count="n",
    )
    results = dk.suppress([table, rows, columns], MinimumFrequency(3), method=optimal, cost="count")
    assert {result.bound for result in results} == {34}
    assert {result.settings["cost_of_secondaries"] for result in results} == {34}


def test_margins_of_a_table_that_nobody_publishes():
    """Cells of the common table are free, so hiding them costs nothing."""
    leaves = {"a": ["1", "1", "2", "2"], "b": ["1", "2", "1", "2"], "c": ["1", "1", "1", "2"]}
    frame = pa.table({k: v * 5 for k, v in leaves.items()})
    first = dk.tabulate(frame, by={"a": None, "b": None})
    second = dk.tabulate(frame, by={"a": None, "c": None})
    rule = MinimumFrequency(6)
    cheap = dk.suppress([first, second], rule, method="optimal", cost="count")
    greedy = dk.suppress([first, second], rule, cost="count")

    def cost(results):
        return sum(int(r.table.count[r.status == "secondary"].sum()) for r in results)

    assert cost(cheap) <= cost(greedy)
    assert cheap[0].bound == cheap[0].settings["cost_of_secondaries"]
