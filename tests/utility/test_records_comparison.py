"""What protection cost records: figures by hand, from other programs, and their invariances."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv
from scipy import stats

import diskret as dk
from diskret.utility import (
    category_distance,
    eigenvalue_loss,
    inverse_correlation_loss,
    moments,
    value_loss,
)

NUMBERS = st.one_of(st.none(), st.integers(-1000, 1000))
ROWS = st.lists(
    st.tuples(NUMBERS, NUMBERS, st.sampled_from(["x", "y", None])), min_size=3, max_size=25
)
NAMES = ["a", "b", "c"]
#: Figures that say what was lost.
LOSSES = {
    "changed_share", "suppressed_share", "il1s", "il1s_sum", "relative", "squares", "means",
    "variances", "covariances", "correlations", "spearman", "quantiles", "eigenvalues",
    "eigenvalues_robust", "gamma", "category_changes", "category_gaps", "ctbil", "moved",
    "hellinger", "lambda", "pmse", "pmse_ratio",
}  # fmt: skip


def file(rows, factor=1):
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    numbers = {
        name: pa.array([None if v is None else v * factor for v in columns[name]], pa.int64())
        for name in NAMES[:2]
    }
    return pa.table({**numbers, "c": pa.array(columns["c"], pa.string())})


@given(ROWS)
def test_equal_files_lose_nothing(rows):
    figures = dk.utility.compare(file(rows), file(rows)).figures
    lost = {name: v for name, v in figures.items() if name in LOSSES and v == v}
    assert set(figures) - set(LOSSES) == {"records", "ebil", "pmse_standardised"}
    assert lost["pmse"] == 0 and lost["ctbil"] == 0
    assert lost == pytest.approx(dict.fromkeys(lost, 0), abs=1e-12)


@given(ROWS, st.data())
def test_no_figure_depends_on_the_unit(rows, data):
    after = data.draw(st.lists(st.sampled_from(rows), min_size=len(rows), max_size=len(rows)))
    found = dk.utility.compare(file(rows), file(after)).figures
    other = dk.utility.compare(file(rows, 1000), file(after, 1000)).figures
    assert other == pytest.approx(found, rel=1e-6, abs=1e-8, nan_ok=True)


def test_distances_of_values_by_hand():
    before = pa.table({"v": [0, 2, 4, 6, 8, None, 3], "w": [1.0] * 7})
    after = pa.table({"v": [1.0, 2.0, 4.0, 6.0, 10.0, 5.0, None], "w": [1.0] * 7})
    found = dk.utility.compare(before, after)
    loss = found.values["v"]
    assert (loss.compared, loss.changed, loss.suppressed, loss.filled, loss.zeros) == (
        5,
        2,
        1,
        1,
        1,
    )
    spread = np.std([0, 2, 4, 6, 8, 3], ddof=1)
    assert loss.il1s == pytest.approx(3 / 5 / np.sqrt(2) / spread)
    assert loss.relative == pytest.approx(2 / 8 / 4)
    assert loss.squares == pytest.approx(5 / 40)
    far = 2 / np.pi * (np.arctan(1 / spread) + np.arctan(2 / spread))
    assert loss.distance == pytest.approx((far + 1) / 6)
    # the mean over all 12 values that are compared, and the sum that sdcMicro calls IL1s
    assert found.il1s_sum == pytest.approx(3 / np.sqrt(2) / spread)
    assert found.il1s == pytest.approx(found.il1s_sum / 12)
    assert found.relative == pytest.approx(2 / 8 / 11)
    assert found.figures["lambda"] == pytest.approx(loss.distance / 2)


def test_a_constant_that_changes_has_no_scale():
    loss = value_loss(np.ones(3), np.array([1.0, 1.0, 2.0]))
    assert np.isnan([loss.il1s, loss.squares, loss.distance]).all() and loss.changed == 1
    assert value_loss(np.ones(3), np.ones(3)).il1s == 0
    nothing = value_loss(np.full(2, np.nan), np.full(2, np.nan))
    assert nothing.compared == 0 and np.isnan(nothing.il1s)


def test_equal_nominal_values_have_distance_0_and_not_1():
    # a handbook prints the nominal distance the other way round
    codes = np.array([0, 1, 2])
    assert category_distance(codes, codes) == 0
    assert category_distance(codes, np.array([1, 2, 0])) == 1
    assert category_distance(np.array([0, 3]), np.array([1, 3]), ranks=5) == pytest.approx(1 / 8)
    assert np.isnan(category_distance(np.array([-1]), codes[:1]))


def test_ordered_categories_are_nearer_the_nearer_they_are():
    before = pa.table({"size": ["small", "middle", "large", "large"]})
    after = pa.table({"size": ["small", "large", "small", None]})
    order = {"size": ["small", "middle", "large"]}
    found = dk.utility.compare(before, after, ordered=order)
    assert found.distances["size"] == (0 + 0.5 + 1 + 1) / 4
    assert dk.utility.compare(before, after).distances["size"] == 0.75
    classes = pa.table({"age": [1, 2, 3]}), pa.table({"age": ["1", "3", "3"]})
    found = dk.utility.compare(*classes, categorical="age", ordered={"age": [1, 2, 3]})
    assert found.distances["age"] == pytest.approx(1 / 6)
    assert (
        dk.utility.compare(*classes, categorical="age", ordered="age").distances == found.distances
    )


def test_moments_are_those_of_other_programs():
    rng = np.random.default_rng(1)
    values = rng.lognormal(size=(60, 3)).round(1)
    found = moments(values)
    assert found.mean == pytest.approx(values.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(values.T))
    assert found.deviation == pytest.approx(values.std(axis=0, ddof=1))
    assert found.correlation == pytest.approx(np.corrcoef(values.T))
    assert found.spearman == pytest.approx(stats.spearmanr(values).statistic)
    spoilt = values.copy()
    spoilt[0] = 1e6, -1e6, 1e6
    assert np.abs(moments(spoilt).robust - found.robust).max() < 0.3
    assert np.abs(moments(spoilt).correlation - found.correlation).max() > 0.9


def test_a_weight_is_a_number_of_equal_records():
    rng = np.random.default_rng(2)
    values, weights = rng.normal(size=(40, 2)), rng.integers(1, 5, 40)
    one, many = moments(values, weights.astype(float)), moments(np.repeat(values, weights, axis=0))
    assert one.mean == pytest.approx(many.mean)
    assert one.quantiles == pytest.approx(many.quantiles)
    assert one.correlation == pytest.approx(many.correlation)
    total = weights.sum()
    assert one.covariance == pytest.approx(many.covariance * (total - 1) / total * 40 / 39)


def test_each_file_has_its_own_weights():
    before = pa.table({"v": [1.0, 2.0, 3.0], "w": [1, 1, 2]})
    after = pa.table({"v": [1.0, 2.0, 3.0], "w": [2, 1, 1]})
    found = dk.utility.compare(before, after, weight="w")
    assert found.numeric == ("v",) and found.il1s == 0
    assert (found.before.mean[0], found.after.mean[0]) == (2.25, 1.75)


def test_eigenvalues_and_inverse_correlations_by_hand():
    def of(r):
        return np.array([[1, r], [r, 1.0]])

    # eigenvalues 1 ± r
    assert eigenvalue_loss(of(0.6), of(0.2)) == pytest.approx((0.4 / 1.6 + 0.4 / 0.4) / 2)
    # singular: only the eigenvalue 2 counts
    assert eigenvalue_loss(of(1), of(0)) == pytest.approx(0.5)
    # diagonals (1, 1, 1) and (c, c, 1) with c = 1/(1 − r²)
    after = np.eye(3)
    after[0, 1] = after[1, 0] = 0.8
    c = 1 / 0.36
    cosine = (2 * c + 1) / np.sqrt(3 * (2 * c * c + 1))
    assert inverse_correlation_loss(np.eye(3), after) == pytest.approx(np.sqrt(1 - cosine))
    assert np.isnan(inverse_correlation_loss(np.eye(3), np.full((3, 3), np.nan)))


def groups_of_mdav(values, k):
    """MDAV as it is defined, of small files."""
    left, groups = np.arange(len(values)), []

    def take(point):
        nonlocal left
        near = np.argsort(((values[left] - point) ** 2).sum(axis=1), kind="stable")[:k]
        groups.append(left[near])
        left = np.delete(left, near)

    def farthest(point):
        return values[left[((values[left] - point) ** 2).sum(axis=1).argmax()]]

    while len(left) >= 3 * k:
        first = farthest(values[left].mean(axis=0))
        second = farthest(first)
        take(first)
        take(second)
    if len(left) >= 2 * k:
        take(farthest(values[left].mean(axis=0)))
    return [*groups, left]


@pytest.mark.parametrize(
    ("name", "percent"), [("CASCrefmicrodata", 5.692), ("Tarragona", 16.93)]
)  # Domingo-Ferrer and Torra 2005; Solanas and Martínez-Ballesté 2006
def test_squares_are_the_published_loss_of_microaggregation(reference_data, name, percent):
    table = csv.read_csv(reference_data / "data" / "sdcmicro" / f"{name}.csv")
    values = np.column_stack([column.to_numpy() for column in table.columns]).astype(float)
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    made = values.copy()
    for group in groups_of_mdav(scaled, 3):
        made[group] = values[group].mean(axis=0)
    protected = pa.table(dict(zip(table.column_names, made.T, strict=True)))
    figures = dk.utility.compare(table, protected).figures
    assert 100 * figures["squares"] == pytest.approx(percent, abs=0.006)
    assert figures["means"] == pytest.approx(0, abs=1e-12)
    # what variances lose is exactly what is lost in squares
    assert figures["variances"] == pytest.approx(figures["squares"])
    assert all(value == value for name, value in figures.items() if name in LOSSES & {"gamma"})


def test_strata_are_compared_as_if_they_were_files():
    rng = np.random.default_rng(3)
    before = pa.table(
        {
            "region": rng.choice(np.array(["N", "S", None]), 90).tolist(),
            "job": rng.choice(["x", "y"], 90),
            "income": rng.integers(0, 100, 90),
        }
    )
    after = before.set_column(2, "income", pa.array(rng.integers(0, 100, 90)))
    md = dk.Microdata(before, keys=["job"], numeric=["income"], strata=["region"])
    found = dk.utility.compare(md, after)
    rows = {row["region"]: row for row in found.by().to_pylist()}
    assert list(rows) == [None, "N", "S"] and sum(row["records"] for row in rows.values()) == 90
    for region in ("N", "S"):
        part = pa.compute.equal(before.column("region"), region)
        alone = dk.utility.compare(
            before.filter(part), after.filter(part), numeric="income", categorical="job"
        )
        mine = {name: value for name, value in rows[region].items() if name != "region"}
        assert mine == pytest.approx(alone.figures, nan_ok=True)
    assert len(found.by(["region", "job"])) == 6


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_come_back_as_they_came(kind):
    before = kind({"job": ["a", "b", "b"], "income": [1, 2, 3], "age": [3.0, 5.0, 4.0]})
    after = kind({"job": ["a", "a", "b"], "income": [1, 3, 3], "age": [3.0, 5.0, 4.0]})
    found = dk.utility.compare(before, after)
    assert isinstance(found.to_frame(), kind)
    assert set(found.frames()) == {"numeric", "quantiles", "pairs", "categorical", "tables"}
    assert all(isinstance(frame, kind) for frame in found.frames().values())
    numeric = found.frames()["numeric"]
    assert list(numeric["mean_after"]) == pytest.approx([7 / 3, 4])
    assert list(found.frames()["categorical"]["changed"]) == [1]
    entropy = 2 * 1  # bits of two records published as "a", one of which was "b"
    assert list(found.frames()["categorical"]["entropy"]) == [entropy]


def test_a_method_of_microdata_compares_with_the_original():
    table = pa.table({"job": ["a", "b", "c", "c"], "n": [1, 2, 3, 4], "town": list("wxyz")})
    md = dk.Microdata(table, keys=["job", "town"], numeric=["n"])
    after = md.recode("job", groups={"a or b": ["a", "b"]}).drop(["town"])
    found = after.compare()
    assert found.dropped == ("town",) and found.categories.changed == (2,) and found.il1s == 0
    assert "town" in found.lines()[-7] or any("town" in line for line in found.lines())
    assert md.compare(after).figures == pytest.approx(found.figures, nan_ok=True)


def test_sentences_say_the_figures_in_both_languages():
    before = pa.table({"job": list("aabb") * 50, "n": np.arange(200), "m": np.arange(200) % 7})
    after = before.set_column(1, "n", pa.array(np.arange(200) + np.resize([0, 2, 0, -2], 200)))
    found = dk.utility.compare(before, after)
    said = found.lines()
    assert said[0] == "200 records."
    assert any(
        line.startswith("n: 100 values changed (50.0 %), 0 suppressed; IL1s 0.0122")
        for line in said
    )
    assert "m: no value changed." in said
    german = found.lines("de")
    assert len(german) == len(said) and any("pMSE von 0,0000" in line for line in german)
    with pytest.raises(dk.DiskretError, match="language="):
        found.lines("fr")


ONE = pa.table({"job": ["a", "b"], "n": [1, 2], "w": [1, 0]})


@pytest.mark.parametrize(
    ("after", "options", "message"),
    [
        (ONE.slice(1), {}, "2 records and the protected one 1"),
        (ONE, {"numeric": "job"}, "not numbers"),
        (ONE, {"numeric": "q"}, "no column 'q'"),
        (ONE, {"numeric": "n", "categorical": "n"}, "numeric= and in categorical="),
        (ONE, {"numeric": [], "categorical": []}, "nothing to compare"),
        (ONE, {"ordered": "n"}, "not compared as categorical"),
        (ONE, {"ordered": {"job": ["a"]}}, "does not stand in the order"),
        (ONE, {"weight": "w"}, "1 weight in 'w' of the original records"),
    ],
)
def test_what_cannot_be_compared_is_refused(after, options, message):
    with pytest.raises(dk.DiskretError, match=message):
        assert dk.utility.compare(ONE, after, **options).figures


def test_other_questions_that_have_no_answer():
    found = dk.utility.compare(ONE, ONE)
    with pytest.raises(dk.DiskretError, match="no strata"):
        found.by()
    with pytest.raises(dk.DiskretError, match="no column 'q'"):
        found.by("q")
    with pytest.raises(dk.DiskretError, match="'q' is not compared"):
        found.propensity(["q"])
    table = dk.Table.from_cells(pa.table({"r": ["N"], "n": [3]}), by={"r": None}, count="n")
    with pytest.raises(dk.DiskretError, match="without options"):
        dk.utility.compare(table, table.count, numeric="n")


def test_slow_parts_are_loaded_when_needed_only():
    script = (
        "import sys, pyarrow as pa, diskret as dk\n"
        "dk.utility.compare(pa.table({'n': [1]}), pa.table({'n': [1]})).values\n"
        "assert not {'matplotlib', 'scipy.stats'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
