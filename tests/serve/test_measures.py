"""Sums, means and ratios: what each cell shows, what it costs, and what it tells of one value."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import table_of
from engines.spark_server import ONE_SPARK, in_spark
from hypothesis import given
from hypothesis import strategies as st
from over_http import ask as send_question
from over_http import listening, send
from profiles import examples
from serving import CODES, KEYS, by_hand, census, people, tabulator

from diskret import Hierarchy, PerturbationTable
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.keys.numbers import keyed_numbers
from diskret.serve import (
    DataSet,
    Measure,
    Question,
    Tabulator,
    Variable,
    certainty_of_amount,
    certainty_of_estimate,
)
from diskret.serve.answers import Refused
from diskret.serve.exports import exported
from diskret.serve.measures import Summed, shown_sums

NORMAL = NormalDist()
SPARK = pytest.param("spark", marks=ONE_SPARK)


def firms(number: int = 3000, seed: int = 5) -> dict[str, Any]:
    """Heavy tails; costs are wages in other units, and profits may be losses."""
    draw = np.random.default_rng(seed)
    turnover = (draw.pareto(0.9, number) * 1000).astype(np.int64)
    turnover[draw.random(number) < 0.1] = 0
    wages = draw.integers(1, 90_000, number)
    return people(number, seed) | {
        "turnover": turnover,
        "wages": wages / 100,
        "costs": wages,
        "sum": np.round(draw.standard_t(1.5, number) * 1000).astype(np.int64),
    }


FIRMS = firms()
MEASURES = (
    Measure("turnover", noise=0.3, unit="EUR", label="Turnover"),
    Measure("wages", noise=0.1, decimals=2),
    Measure("costs", noise=0.1),
    Measure("profit", "sum", nonnegative=False),
)
DATA = census(FIRMS, questions=100_000, measures=MEASURES, presence="public")
TABLES = tabulator(DATA)


def ask(
    measure: str,
    of: Sequence[str] | str = (),
    by: Sequence[str] = (),
    where: Mapping[str, list[str]] | None = None,
    tables: Tabulator = TABLES,
    who: str = "anne",
) -> Any:
    asked = {"data": "census", "by": [*by], "where": where or {}, "measure": measure, "of": of}
    return tables.answer(asked, who=who)


def sum_by_hand(
    records: Mapping[str, Any], data: DataSet, cell: Mapping[str, Any], name: str, source: str = ""
) -> int:
    """The scaled sum that is shown, from the records one by one."""
    measure = data.measure[name]
    inside = [
        at
        for at in range(len(records["key"]))
        if all(records[variable][at] in codes for variable, codes in cell.items())
    ]
    if not by_hand(records, data, cell):
        return 0
    values = [round(float(records[measure.column][at]) * 10**measure.decimals) for at in inside]
    key = np.array([sum(int(records["key"][at]) for at in inside) % 2**32], dtype=np.uint64)
    named = f"noise of sums that are tabulated in real time: {source or measure.column}"
    number = int(keyed_numbers(KEYS, named, key)[0])
    normal = NORMAL.inv_cdf(((number >> 11) + 0.5) / 2**53)
    noise = math.floor(max(map(abs, values)) * measure.noise * normal + 0.5)
    return max(sum(values) + noise, 0) if measure.nonnegative else sum(values) + noise


CELLS = st.fixed_dictionaries(
    {
        name: st.lists(st.sampled_from(codes), unique=True, min_size=1)
        for name, codes in CODES.items()
        if name != "re"
    }
)


@given(CELLS, st.sampled_from(["turnover", "profit", "wages"]))
@examples(30)
def test_each_sum_is_what_its_records_say(cell: dict[str, list[str]], name: str):
    shown = int(ask("sum", name, where=cell).value)
    # costs are wages in cents, and the first of the two by name
    source = "costs" if name == "wages" else ""
    expected = sum_by_hand(FIRMS, DATA, cell, name, source)
    assert abs(shown - expected) <= 1e-12 * abs(expected)


@given(st.lists(st.sampled_from([*CODES]), unique=True, max_size=3))
@examples(15)
def test_count_sum_mean_and_ratio_of_a_cell_agree(by: list[str]):
    count = ask("count", by=by)
    total, other = (ask("sum", name, by=by) for name in ("turnover", "wages"))
    mean, ratio = ask("mean", "wages", by=by), ask("ratio", ["turnover", "wages"], by=by)
    assert (total.value[count.value == 0] == 0).all()
    assert (mean.without == (count.value == 0)).all()
    assert (ratio.without == (other.value == 0)).all()
    there = ~mean.without
    cents = other.value[there] / count.value[there]  # hundredths, as wages have two decimals
    assert np.abs(mean.value[there] / 100 - cents).max(initial=0) <= 0.00501
    there = ~ratio.without
    expected = total.value[there] / (other.value[there] / 100)
    assert np.abs(ratio.value[there] / 1e4 - expected).max(initial=0) <= 0.00006
    rows = mean.cells().to_pylist()
    assert {row["mean"] for row in rows if row["status"] == "undefined"} <= {None}


def test_proportional_columns_have_one_noise_and_others_their_own():
    """Wages in euros and in cents: their ratio tells nothing that is not known."""
    by = ["sex", "age"]
    euros, cents = ask("sum", "wages", by=by).value, ask("sum", "costs", by=by).value
    assert (euros == cents).all() and (euros > 0).all()
    largest = np.array([1000, 1000, 1000])
    summed = Summed(largest, largest, largest, "a")
    keys = np.array([1, 2, 3], dtype=np.uint64)
    one = shown_sums(summed, keys, Measure("a"), KEYS)
    assert (one != shown_sums(replace(summed, source="b"), keys, Measure("b"), KEYS)).any()
    assert (one == shown_sums(replace(summed, source="A"), keys, Measure("x"), KEYS)).all()


def test_the_same_question_has_the_same_answer():
    asked = {"data": "census", "by": ["sex", "age"], "measure": "sum", "of": "turnover"}
    first = TABLES.answer(asked, who="anne").value
    shuffled = np.random.default_rng(3).permutation(len(FIRMS["key"]))
    moved = {name: column[shuffled] for name, column in FIRMS.items()}
    again = tabulator(census(moved, measures=MEASURES, presence="public"))
    turned = again.answer({**asked, "by": ["age", "sex"], "of": ["turnover"]}, who="bob")
    assert (turned.value.T == first).all()
    part = TABLES.answer({**asked, "by": ["age"], "where": {"sex": ["m"]}}, who="anne")
    assert (part.value == first[1]).all()
    other = tabulator(DATA, keys=SecretKeys(bytes(range(1, 33))))
    assert (other.answer(asked, who="anne").value != first).any()


# ── what it costs, and what is refused ──────────────────────────────────────────────


def test_sums_count_as_tables_beside_the_counts_that_they_follow():
    data = replace(DATA, questions=6)
    tables = tabulator(data)

    def left() -> int:
        return tables.allowance.left("anne", data)

    ask("sum", "turnover", ["sex"], tables=tables)
    assert left() == 4
    for measure in ("mean", "sum"):
        ask(measure, "turnover", ["sex"], tables=tables)
    ask("count", by=["sex"], tables=tables)
    assert left() == 4
    ask("ratio", ["wages", "turnover"], ["sex"], tables=tables)
    assert left() == 3
    ask("mean", "turnover", ["age"], tables=tables)
    assert left() == 1
    with pytest.raises(Refused, match="all 6 tables"):
        ask("sum", "turnover", ["re"], tables=tables)
    found = tables.read({"data": "census", "by": ["sex"], "measure": "sum", "of": "wages"})
    kept = tables.kept(found, who="anne")
    assert kept is not None and (kept.value == ask("sum", "wages", ["sex"]).value).all()
    assert tables.kept(found, who="bob") is None


def test_sums_of_a_sparse_table_are_refused():
    few = {name: column[:300] for name, column in FIRMS.items()}
    data = census(few, measures=MEASURES, presence="public", share=0.3)
    with pytest.raises(Refused, match="sparse"):
        ask("sum", "turnover", [*CODES], tables=tabulator(data))


def test_sums_are_served_only_where_presence_is_public():
    with pytest.raises(InputError, match="who is in the data"):
        census(FIRMS, measures=MEASURES)
    assert tabulator(DATA).resistance("census").certainty(1) == 1
    assert tabulator(census(FIRMS)).resistance("census").certainty(1) < 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"measure": "median", "of": "turnover"}, "quantiles"),
        ({"measure": ["sum"], "of": "turnover"}, "'measure'"),
        ({"measure": "sum"}, "'of'"),
        ({"of": "turnover"}, "'of'"),
        ({"measure": "sum", "of": ["turnover", "wages"]}, "'of'"),
        ({"measure": "ratio", "of": "turnover"}, "'of'"),
        ({"measure": "ratio", "of": ["wages", "wages"]}, "twice"),
        ({"measure": "sum", "of": "sum"}, "no measure 'sum'"),  # a column, and no measure
        ({"measure": "sum", "of": "key"}, "no measure"),
        ({"measure": "sum", "of": {"turnover": 1}}, "list of texts"),
    ],
)
def test_what_is_no_question(asked: dict[str, Any], said: str):
    with pytest.raises(InputError, match=said):
        TABLES.answer({"data": "census", "by": ["sex"], **asked}, who="anne")


def test_a_question_is_read_again():
    question = Question.of({"data": "census", "measure": "ratio", "of": ["wages", "turnover"]})
    assert Question.of(question) == question
    with pytest.raises(InputError):
        TABLES.answer(Question("census", (), (), (), "sum", ("key",)), who="anne")


def test_values_that_a_measure_cannot_have_are_told_to_the_owner_alone():
    wrong = census(FIRMS, measures=(Measure("profit", "sum"),), presence="public")
    with pytest.raises(InputError, match="below 0"):
        tabulator(wrong).check()
    with pytest.raises(Refused, match="cannot be tabulated") as found:
        ask("sum", "profit", ["sex"], tables=tabulator(wrong))
    assert "below" not in str(found.value)
    large = {**FIRMS, "turnover": FIRMS["turnover"] + 2**51}
    with pytest.raises(InputError, match="beyond"):
        tabulator(census(large, measures=MEASURES[:1], presence="public")).check()
    TABLES.check()
    for given_ in ({"noise": 0}, {"noise": 11}, {"decimals": 7}, {"name": ""}):
        with pytest.raises(InputError, match="needs a name"):
            Measure(**({"name": "x"} | given_))
    with pytest.raises(InputError, match="two measures"):
        replace(DATA, measures=MEASURES[:1] * 2)


# ── what it tells ───────────────────────────────────────────────────────────────────


def cells(largest: int, second: int, rest: int, number: int) -> tuple[Summed, Any]:
    """Many cells of the same contributions, and keys of different sets."""
    total = np.full(number, largest + second + rest)
    summed = Summed(total, np.full(number, largest), total, "turnover")
    return summed, np.random.default_rng(largest).integers(2**32, size=number, dtype=np.uint64)


@pytest.mark.parametrize("noise", [0.1, 0.3])
@pytest.mark.parametrize("second", [0, 1000, 900_000])
def test_the_second_largest_learns_no_more_than_is_stated(noise: float, second: int):
    """He takes what is shown, and off it what he contributes; all else is known to be little."""
    largest, number = 1_000_003, 20_000
    summed, keys = cells(largest, second, 50, number)
    shown = shown_sums(summed, keys, Measure("turnover", noise=noise), KEYS)
    guess = shown - second - 50
    for within in (0.02, 0.1, 0.2):
        close = (np.abs(guess - largest) <= within * largest).mean()
        exact = 2 * NORMAL.cdf(within / noise) - 1
        error = 4 * math.sqrt(0.25 / number)
        assert abs(close - exact) < error
        assert close <= certainty_of_estimate(noise, within) + error


def test_noise_in_proportion_to_the_mean_would_let_him():
    """Sabotage: the bound is broken by noise that does not follow the largest contribution."""
    summed, keys = cells(1_000_003, 1000, 50, 5000)
    weak = replace(summed, largest=summed.sum // 20)
    guess = shown_sums(weak, keys, Measure("turnover", noise=0.3), KEYS) - 1050
    close = (np.abs(guess - 1_000_003) <= 0.1 * 1_000_003).mean()
    assert close > certainty_of_estimate(0.3, 0.1) + 0.2


def test_noise_of_few_values_would_tell_all_after_two_tables():
    """Why noise is not looked up: in steps, two sums of known others leave one value."""
    draw = np.random.default_rng(7)
    value, noise, steps = 1_000_003, 0.1, np.arange(-5, 6)
    both = [value * (1 + noise * v) for v in draw.choice(steps, 2, replace=False)]
    fits = [{round(s / (1 + noise * v)) for v in steps} for s in both]
    assert fits[0] & fits[1] == {value}
    summed, keys = cells(value, 0, 0, 2)
    shown = shown_sums(summed, keys, Measure("turnover", noise=noise), KEYS)
    assert value not in set.union(*({round(s / (1 + noise * v)) for v in steps} for s in shown))


def test_the_bound_holds_for_the_best_guess_of_two_values():
    """Likelihood ratio of whoever knows all others, after several tables, largest or not."""
    draw = np.random.default_rng(11)
    for noise, apart, other in [(0.2, 0.1, 0), (0.2, 0.3, 0), (0.3, 0.1, 1.05), (0.1, 0.2, 1.5)]:
        for tables in (1, 3, 10):
            number = 4000
            truth = draw.random(number) < 0.5
            x = np.where(truth, 1 + apart, 1.0)
            seen = x + noise * np.maximum(x, other) * draw.standard_normal((tables, number))

            fits: list[Any] = []
            for value in (1.0, 1 + apart):
                scale = noise * max(value, other)
                fits.append((-np.log(scale) - ((seen - value) / scale) ** 2 / 2).sum(0))
            right = ((fits[1] > fits[0]) == truth).mean()
            error = 4 * math.sqrt(0.25 / number)
            assert 0.5 - error < right <= certainty_of_amount(noise, apart, tables) + error


def test_the_coefficient_is_the_least_of_all_cells():
    """By numerical integration, for cells with a larger contribution of somebody else."""
    grid = np.linspace(-40, 40, 400_001)
    for noise, apart in [(0.1, 0.1), (0.3, 0.2), (0.5, 1.0)]:
        stated = certainty_of_amount(noise, apart)
        for other in (0, 0.5, 1, 1 + apart / 2, 1 + apart, 2, 5):
            both = [density(grid, value, noise * max(value, other)) for value in (1.0, 1.0 + apart)]
            alike = np.sqrt(both[0] * both[1]).sum() * (grid[1] - grid[0])
            bound = 0.5 + 0.5 * math.sqrt(max(1 - alike**2, 0))
            assert bound <= stated + 1e-6
            if other <= 1:
                assert bound == pytest.approx(stated, abs=1e-4)


def density(grid: Any, mean: float, scale: float) -> Any:
    return np.exp(-(((grid - mean) / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))


def test_noise_of_parts_says_nothing_of_that_of_their_total():
    """Two parts and their total, each the value of one record and noise: no correlation."""
    number = 20_000
    summed, first = cells(10**6, 0, 0, number)
    second = np.random.default_rng(2).integers(2**32, size=number, dtype=np.uint64)
    both = (first + second) % np.uint64(2**32)
    measure = Measure("turnover", noise=0.2, nonnegative=False)
    noise = np.array(
        [shown_sums(summed, key, measure, KEYS) - 10**6 for key in (first, second, both)]
    )
    assert np.abs(noise.mean(1)).max() < 4 * 0.2e6 / math.sqrt(number)
    assert noise.std(1) == pytest.approx([0.2e6] * 3, rel=0.03)
    assert np.abs(np.corrcoef(noise) - np.eye(3)).max() < 4 / math.sqrt(number)
    # nor of the sum of the two, in which a total by its own key would show
    assert abs(np.corrcoef(noise[0] * noise[1], noise[2])[0, 1]) < 4 / math.sqrt(number)


# ── as files ────────────────────────────────────────────────────────────────────────


def test_sums_and_means_as_files():
    found = ask("mean", "wages", ["age", "sex"])
    rows = found.cells().to_pylist()
    assert [*rows[0]] == ["age", "sex", "mean", "status"]
    table = pq.read_table(io.BytesIO(exported(found, DATA, "parquet").content))
    assert table.to_pylist() == rows
    said = json.loads(exported(found, DATA, "json").content)
    assert (said["measure"], said["of"]) == ("mean", ["wages"])
    assert said["value"] == [row["mean"] for row in rows]
    book = openpyxl.load_workbook(io.BytesIO(exported(found, DATA, "xlsx").content))
    _, *lines = book.worksheets[0].iter_rows(values_only=True)
    assert [line[2] for line in lines] == [row["mean"] for row in rows]
    text = exported(ask("sum", "turnover", ["sex"]), DATA, "json-stat", "de").content.decode()
    assert "Summe: Turnover (EUR)" in text
    for form in ("csv", "sdmx-csv", "px"):
        assert exported(found, DATA, form).content == exported(found, DATA, form).content


def test_variables_may_be_called_as_figures_are():
    names = ("count", "sum", "status")
    records = {name: np.array(["a", "b"] * 200) for name in names} | {
        "key": np.arange(400) * 7919,
        "mean": np.arange(400),
    }
    data = census(
        pa.table(records).to_pydict(),
        variables=tuple(Variable(name, ("a", "b")) for name in names),
        measures=(Measure("mean"),),
        presence="public",
    )
    tables = tabulator(data)
    found = ask("sum", "mean", names, tables=tables)
    assert found.cells().column_names == ["count", "sum", "status", "sum_", "status_"]
    assert {row["status"] for row in found.cells().to_pylist()} == {"a", "b"}
    assert ask("count", by=names, tables=tables).cells().column_names[3] == "count_"


def test_sums_by_coarser_codes_are_asked_for_over_http():
    tree = Hierarchy.from_levels({"half": ["low", "low", "high"], "region": ["1", "01", "N"]})
    records = {name: column[FIRMS["region"] != "n"] for name, column in FIRMS.items()}
    variables = (Variable("region", tree=tree), *DATA.variables[1:])
    data = replace(DATA, records=pa.table(records), variables=variables)
    with listening(tabulator(data)) as url:
        (told,) = send(url, "GET", "/v1/data").json
        assert told["measures"][0] == {"name": "turnover", "label": "Turnover", "unit": "EUR"}
        assert told["variables"][0]["levels"] == [{"high": "", "low": ""}]
        by: Any = [{"variable": "region", "level": 1}]
        said = send_question(url, by, measure="sum", of="turnover").json
        assert said["by"] == [{"variable": "region", "codes": ["high", "low"]}]
        for code, value in zip(("high", "low"), said["value"], strict=True):
            leaves = {"high": ["N"], "low": ["1", "01"]}[code]
            assert value == sum_by_hand(records, data, {"region": leaves}, "turnover")
        problem = send_question(url, by, query="?language=de", measure="median", of="turnover")
        assert problem.status == 422 and "Quantile" in problem.json["detail"]


@pytest.mark.parametrize("kind", ["parquet", "postgres", SPARK])
def test_sums_are_the_same_wherever_records_lie(kind: str, tmp_path: Path):
    table = pa.table({name: column[:900] for name, column in FIRMS.items()})
    there: Any = table_of(table) if kind == "postgres" else tmp_path / "p.parquet"
    if kind != "postgres":
        pq.write_table(table, there)
    run = in_spark if kind == "spark" else None
    found = tabulator(replace(DATA, records=there), engine=run)
    here = tabulator(replace(DATA, records=table))
    for name, where in [("turnover", {}), ("profit", {"age": ["1", "2", "5"]}), ("wages", {})]:
        by = ["sex", "region"]
        expected = ask("sum", name, by, where, here).value
        assert (ask("sum", name, by, where, found).value == expected).all()


def knows_all_others(noise: float, tables: int, seed: int) -> tuple[float, int]:
    """His best guess of one value, after sums by filters that he draws, and the value."""
    draw = np.random.default_rng(seed)
    number, value = 80, int(draw.integers(500_000, 2_000_000))
    income = draw.integers(0, 400_000, number)
    income[0] = value
    records = {
        "place": np.array([f"{at % 20}" for at in range(number)]),
        "key": draw.integers(2**32, size=number),
        "income": income,
    }
    places = tuple(f"{at}" for at in range(20))
    data = census(
        pa.table(records).to_pydict(),
        variables=(Variable("place", places),),
        measures=(Measure("income", noise=noise),),
        presence="public",
        questions=10_000,
        noise=PerturbationTable.maximum_entropy(2, 1),
    )
    served = tabulator(data)
    seen: list[float] = []
    for _ in range(tables):
        where = ["0", *draw.choice(places[1:], int(draw.integers(4, 15)), replace=False).tolist()]
        shown = int(ask("sum", "income", where={"place": where}, tables=served).value)
        inside = np.isin(records["place"], where)
        seen.append(float(shown - income[inside][1:].sum()))
    # it is the largest in each cell, so each of these is the value times 1 + noise
    return float(np.mean(seen)), value


@pytest.mark.parametrize(
    ("tables", "number"), [(1, 30), pytest.param(4, 100, marks=pytest.mark.long)]
)
def test_who_knows_all_others_comes_no_closer_by_many_sums(tables: int, number: int):
    noise, within = 0.2, 0.1
    both = [knows_all_others(noise, tables, seed) for seed in range(number)]
    close = np.mean([abs(guess - value) <= within * value for guess, value in both])
    exact = 2 * NORMAL.cdf(within / noise * math.sqrt(tables)) - 1
    error = 4 * math.sqrt(exact * (1 - exact) / number)
    assert abs(close - exact) <= error  # it is an attack
    assert close <= certainty_of_estimate(noise, within, tables) + error
    shares = [abs(guess - value) <= 1 for guess, value in both]
    assert np.mean(shares) < 0.1  # and none is found to the euro
