"""Perturbation tables of largest entropy: what is asked for holds, and no table says less."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from profiles import examples
from scipy.optimize import linprog, minimize

from diskret.cellkey import PerturbationTable
from diskret.cellkey.admissible import Admissible, admissible_counts, admissible_magnitudes
from diskret.cellkey.maximum_entropy import most_entropy
from diskret.errors import InputError

TAU_ARGUS = "data/tauargus/tauargus/cellkey"


@st.composite
def wishes(draw):
    """Parameters of a table for counts, possible or not."""
    largest = draw(st.integers(1, 7))
    return {
        "max_noise": largest,
        "variance": draw(st.floats(0.05, 1.0)) * draw(st.sampled_from([1, largest, largest**2])),
        "small_counts": draw(st.integers(0, 3)),
        "stay": draw(st.sampled_from([0.0, 0.0, 0.3, 0.5, 0.8])),
        "monotone": draw(st.booleans()),
        "variance_rule": draw(st.sampled_from(["at_most", "exact"])),
    }


def table_of(wish):
    try:
        return PerturbationTable.maximum_entropy(**wish)
    except InputError:
        assume(False)
        raise


def admissible_of(wish) -> Admissible:
    names = ("max_noise", "small_counts", "stay", "monotone")
    return admissible_counts(*(wish[name] for name in names))


@given(wishes())
def test_what_is_asked_for_holds(wish):
    table, largest, small = table_of(wish), wish["max_noise"], wish["small_counts"]
    p, v = table.probabilities, table.noise
    assert len(p) == largest + (small + 2 if small else 1)
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-14
    assert np.abs(table.means).max() < 1e-11 * largest
    assert (np.abs(v) <= largest).all()
    target = table.counts[:, None] + v
    assert not p[(target < 0) | ((target > 0) & (target <= small))].any()
    assert p[0].tolist() == (v == 0).tolist()
    off = table.variances[1:] - wish["variance"]
    assert off.max() < 1e-10 * largest**2
    assert wish["variance_rule"] == "at_most" or off.min() > -1e-10 * largest**2
    stays = p[table.counts > max(small, 0), largest]
    assert stays.min() > wish["stay"] - 1e-10
    if wish["monotone"]:
        for row in p:
            left = row[: largest + 1][(row > 0)[: largest + 1]]
            assert (np.diff(left) > -1e-12).all()


@examples(50)
@given(wishes())
def test_no_admissible_table_has_more_entropy(wish):
    table, admissible = table_of(wish), admissible_of(wish)
    bounds = admissible.variance_bounds()
    for row in range(1, len(table.counts)):
        low, high = bounds[row]
        inside = low + 0.02 * (high - low) < wish["variance"] < high - 0.02 * (high - low)
        if wish["variance_rule"] == "exact" and not inside:
            continue  # some probabilities are almost 0 there, and their logarithms are rough
        assume(table.probabilities[row][admissible.allowed[row]].min() > 1e-12)
        assert more_entropy(table.probabilities[row], admissible, row, wish) < 1e-5


def more_entropy(p, admissible, row, wish) -> float:
    """How much more entropy any admissible row can have at most: entropy is concave."""
    allowed = admissible.allowed[row]
    p, v = p[allowed], admissible.noise[allowed].astype(float)
    gain = -np.log(p) - 1
    rows, right = [], []
    if admissible.monotone[row]:
        for k in np.flatnonzero(v <= 0)[:-1]:
            rows.append(np.eye(len(v))[k] - np.eye(len(v))[k + 1])
            right.append(0.0)
    equal, wanted = [np.ones(len(v)), v], [1.0, 0.0]
    if wish["variance_rule"] == "exact":
        equal, wanted = [*equal, v**2], [*wanted, wish["variance"]]
    else:
        rows, right = [*rows, v**2], [*right, wish["variance"]]
    lowest = np.where(v == 0, admissible.stay[row], 0)
    best = linprog(
        -gain,
        A_ub=np.array(rows) if rows else None,
        b_ub=right or None,
        A_eq=np.array(equal),
        b_eq=wanted,
        bounds=np.column_stack([lowest, np.ones(len(v))]),
    )
    assert best.status == 0
    return -best.fun - gain @ p


def test_the_check_of_entropy_finds_a_worse_table():
    wish = {"max_noise": 5, "variance": 3.0, "small_counts": 0, "stay": 0.0, "monotone": True}
    wish["variance_rule"] = "exact"
    row = PerturbationTable.maximum_entropy(5, 3).probabilities[5]
    assert more_entropy(row, admissible_of(wish), 5, wish) < 1e-7
    other = np.zeros(11)
    other[[2, 5, 8]] = 1 / 6, 2 / 3, 1 / 6  # the same mean and variance
    assert more_entropy(0.9 * row + 0.1 * other, admissible_of(wish), 5, wish) > 0.01


def test_a_general_solver_finds_the_same_row():
    wish = {"max_noise": 3, "small_counts": 1, "stay": 0.4, "monotone": True, "variance": 2.0}
    table, admissible = PerturbationTable.maximum_entropy(**wish), admissible_of(wish)
    for row in (1, 2, 3, 4, 5):
        v = admissible.noise[admissible.allowed[row]].astype(float)
        left = np.flatnonzero(v <= 0)[:-1]
        found = minimize(
            lambda p: float((p * np.log(p)).sum()),
            np.full(len(v), 1 / len(v)),
            bounds=[(max(1e-12, s), 1) for s in np.where(v == 0, admissible.stay[row], 0)],
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p, v=v: p @ v},
                {"type": "ineq", "fun": lambda p, v=v: 2.0 - p @ v**2},
                {"type": "ineq", "fun": lambda p, k=left: p[k + 1] - p[k]},
            ],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        ours = table.probabilities[row][admissible.allowed[row]]
        assert np.abs(found.x - ours).max() < 1e-5


# ── published numbers ───────────────────────────────────────────────────────────


def test_vignette_of_ptable():
    # ptable 1.0.0, vignette "introduction": create_cnt_ptable(D = 2, V = 1)
    table = PerturbationTable.maximum_entropy(2, 1)
    rounded = [0, 0.3665, 0.3665, 0.1676, 0.0995]
    assert np.abs(table.probabilities[1] - rounded).max() < 5e-5
    assert np.abs(table.probabilities[2] - [0.0638, 0.2447, 0.3830, 0.2447, 0.0638]).max() < 5e-5
    assert table.variances.round(3).tolist() == [0, 0.932, 1]


def test_without_monotony_the_exponents_are_a_parabola():
    table = PerturbationTable.maximum_entropy(5, 3, small_counts=2)
    first = [table.probability(1, v) for v in (-1, 2, 3, 4, 5)]
    assert np.abs(np.subtract(first, [0.73447, 0.13672, 0.0728, 0.03743, 0.01858])).max() < 5e-6
    assert abs(table.probability(8, 0) - 0.2288) < 5e-5
    third = np.diff(np.log(table.probabilities[8]), n=3)
    assert np.abs(third).max() < 1e-12


def test_small_counts_may_have_less_variance_than_asked_for():
    table = PerturbationTable.maximum_entropy(5, 3)
    assert table.variances[1:].round(3).tolist() == [1.302, 3, 3, 3, 3]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter=";"):
            yield int(line["i"]), float(line["v"]), float(line["p"])


@pytest.mark.parametrize(
    ("file", "make"),
    [
        # the parameters are those that the rows of the files have
        (
            "Magnitude/ptab_freq.txt",
            lambda: PerturbationTable.maximum_entropy(5, 3, small_counts=2, stay=0.5),
        ),
        (
            "Frequency/tau_testW_ptable.txt",
            lambda: PerturbationTable.maximum_entropy(7, 4, 2, variance_rule="exact"),
        ),
        ("Magnitude/ptab_savings_all.txt", lambda: PerturbationTable.for_magnitudes(5, 1)),
        ("Magnitude/ptab_savings_smallcells.txt", lambda: PerturbationTable.for_magnitudes(8, 2)),
    ],
)
def test_tables_that_come_with_tau_argus(reference_data, file, make):
    table, entries = make(), list(read(reference_data / TAU_ARGUS / file))
    assert max(abs(table.probability(i, v) - p) for i, v, p in entries) < 1e-6
    assert len({i for i, _, _ in entries}) == len(table.counts)


# ── what is refused ─────────────────────────────────────────────────────────────


@examples(30)
@given(wishes())
def test_bounds_of_the_variance_are_sharp(wish):
    admissible = admissible_of(wish)
    assume(not np.isinf(admissible.least_variance()).any())
    bounds = admissible.variance_bounds()
    assert np.abs(bounds[:, 0] - admissible.least_variance()).max() < 1e-6
    low, high = bounds[1:, 0].max(), bounds[1:, 1].min()
    assume(high > low + 1e-3)
    inside = low + (high - low) * np.array([0.001, 0.5, 0.999])
    for variance in inside:
        p = most_entropy(admissible, float(variance), "exact")
        assert (
            np.abs(p[1:] @ admissible.noise**2 - variance).max() < 1e-9 * admissible.noise[-1] ** 2
        )
    for variance in (high * 1.001, *([low * 0.999] if low else [])):
        with pytest.raises(InputError, match="not possible"):
            most_entropy(admissible, float(variance), "exact")


def test_exact_variance_is_refused_with_both_bounds_and_the_row():
    with pytest.raises(InputError, match="row 1: from 0 to 2.727"):
        PerturbationTable.maximum_entropy(5, 3, variance_rule="exact")
    table = PerturbationTable.maximum_entropy(5, 2.72, variance_rule="exact")
    assert np.abs(table.variances[1:] - 2.72).max() < 1e-9


@pytest.mark.parametrize(("small", "least"), [(1, 1), (2, 2), (3, 4), (4, 6)])
def test_small_counts_need_variance(small, least):
    with pytest.raises(InputError, match=f"at least {least:g}"):
        PerturbationTable.maximum_entropy(6, least - 1e-6, small_counts=small)
    assert PerturbationTable.maximum_entropy(6, least + 0.1, small_counts=small)


def test_monotony_may_be_asked_for_row_by_row():
    free = PerturbationTable.maximum_entropy(2, 1.05, 1, monotone=False)
    some = PerturbationTable.maximum_entropy(2, 1.05, 1, monotone=[True, True, False, True])
    all_ = PerturbationTable.maximum_entropy(2, 1.05, 1)
    assert (some.probabilities[3] == free.probabilities[3]).all()
    assert (some.probabilities[2] == all_.probabilities[2]).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"max_noise": 0, "variance": 1}, "max_noise= must be a whole number from 1"),
        ({"max_noise": 2.5, "variance": 1}, "max_noise= must be a whole number"),
        ({"max_noise": 2, "variance": 0}, "variance= must be a number above 0"),
        ({"max_noise": 2, "variance": float("nan")}, "variance= must be a number above 0"),
        ({"max_noise": 2, "variance": 1, "small_counts": -1}, "small_counts= must be"),
        ({"max_noise": 1, "variance": 1, "small_counts": 2}, "no noise with mean 0 .* row 1"),
        ({"max_noise": 2, "variance": 1, "stay": 1.0}, "below 1"),
        ({"max_noise": 2, "variance": 1, "monotone": [True]}, "holds 1 value; there are 2 rows"),
        ({"max_noise": 2, "variance": 1, "variance_rule": "about"}, "'at_most' or 'exact'"),
    ],
)
def test_what_makes_no_table_is_refused(arguments, says):
    with pytest.raises(InputError, match=says):
        PerturbationTable.maximum_entropy(**arguments)


@pytest.mark.parametrize("rows", [(1, 4), (2, 5), (1, 5, 3), (0, 1, 5)])
def test_rows_of_magnitudes_run_from_1_to_the_largest_noise(rows):
    with pytest.raises(InputError, match=r"row"):
        PerturbationTable.for_magnitudes(5, 2, rows=rows)


def test_magnitudes_never_fall_below_zero():
    table = PerturbationTable.for_magnitudes(5, 2, step=4, rows=(1, 2, 5))
    assert table.counts.tolist() == [0, 1, 2, 5]
    below = table.counts[:, None] + table.noise / table.step < 0
    assert not table.probabilities[below].any()
    assert table.variances[2:] == pytest.approx([2, 2])
    assert admissible_magnitudes(5, (1, 5), 4, False).variance_bounds()[2] == pytest.approx([0, 25])


# ── what is just possible ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("small_counts", [1, 2, 3, 4])
@pytest.mark.parametrize("rule", ["at_most", "exact"])
def test_the_least_variance_exists(small_counts, rule):
    """A row at its least variance has two outcomes only: 0, and the smallest count shown."""
    least = max(i * (small_counts + 1 - i) for i in range(1, small_counts + 1))
    row = max(range(1, small_counts + 1), key=lambda i: i * (small_counts + 1 - i))
    rows = 2 * small_counts + 2
    rules = [rule if i == row else "at_most" for i in range(1, rows + 1)]
    table = PerturbationTable.maximum_entropy(
        small_counts + 1, least, small_counts, variance_rule=rules
    )
    assert np.abs(table.means).max() < 1e-9
    assert table.variances[1:].max() == pytest.approx(least)
    assert table.probability(row, -row) == pytest.approx(1 - row / (small_counts + 1))
    with pytest.raises(InputError, match="variance"):
        PerturbationTable.maximum_entropy(
            small_counts + 1, least - 1e-6, small_counts, variance_rule=rules
        )


def test_the_largest_variance_exists():
    """Row 1 takes 1 away or adds all it may."""
    table = PerturbationTable.maximum_entropy(2, 2, variance_rule="exact", monotone=False)
    assert table.variances[1:] == pytest.approx([2, 2])
    assert table.probability(1, 2) == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="row 1: from"):
        PerturbationTable.maximum_entropy(2, 2 + 1e-6, variance_rule="exact", monotone=False)


@pytest.mark.parametrize("rule", [["exact"] * 3 + ["at_most"] * 2, ["at_most"] * 5])
def test_each_count_may_have_a_stay_and_a_rule_of_its_own(rule):
    stay = [0.0, 0.1, 0.3, 0.5, 0.6]
    table = PerturbationTable.maximum_entropy(5, 1.5, stay=stay, variance_rule=rule)
    found = [table.probability(i, 0) for i in range(1, 6)]
    assert all(f >= s - 1e-9 for f, s in zip(found, stay, strict=True))
    exact = [i for i in range(5) if rule[i] == "exact"]
    assert table.variances[1:][exact] == pytest.approx([1.5] * len(exact))
    one = [PerturbationTable.maximum_entropy(5, 1.5, stay=s, variance_rule=r)
           for s, r in zip(stay, rule, strict=True)]  # fmt: skip
    for i, alone in enumerate(one, start=1):
        assert table.probabilities[i] == pytest.approx(alone.probabilities[i], abs=1e-9)
    with pytest.raises(InputError, match=r"stay= holds 2 values; there are 5 rows"):
        PerturbationTable.maximum_entropy(5, 1.5, stay=[0.1, 0.2])
    with pytest.raises(InputError, match=r"variance_rule= holds 1 value; there are 5 rows"):
        PerturbationTable.maximum_entropy(5, 1.5, variance_rule=["exact"])


@pytest.mark.parametrize(
    "options",
    [{"variance": np.nan}, {"stay": np.nan}, {"stay": [np.nan] * 4}, {"max_noise": np.nan}],
)
def test_nan_is_no_parameter(options):
    with pytest.raises(InputError):
        PerturbationTable.maximum_entropy(**{"max_noise": 4, "variance": 1.0} | options)
