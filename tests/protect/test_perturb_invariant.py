"""A set of tables with invariant noise: what is the same before and after, and what is refused."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack.certify_changed import certify_invariant
from diskret.cellkey import least_bias_table, two_step_table, value_frequencies
from diskret.errors import InputError, ProofError
from diskret.protect.perturb_invariant import perturb_invariant
from diskret.system import definitions


@pytest.fixture
def tables():
    random = np.random.default_rng(2)
    records = pa.table(
        {
            "x": random.choice([f"x{i}" for i in range(30)], 900),
            "y": random.choice(list("abcdefgh"), 900),
            "z": random.choice(list("rstuv"), 900),
            "key": random.integers(0, 2**32, 900),
        }
    )
    return [
        dk.tabulate(records, by={"x": None, name: None}, record_key="key") for name in ("y", "z")
    ]


def different(tables, arrays):
    """The values of all different cells."""
    number = np.concatenate([own.ravel() for own in definitions(tables)])
    first = np.unique(number, return_index=True)[1]
    return np.concatenate([own.ravel() for own in arrays])[first]


def test_no_value_gets_rarer_or_more_frequent(tables):
    results = perturb_invariant(tables, largest=15)
    before = different(tables, [t.count for t in tables])
    after = different(tables, [r.published.value for r in results])
    assert np.array_equal(np.sort(before), np.sort(after))
    assert (before != after).mean() > 0.3
    assert np.array_equal(results[0].published.value[:, 0], results[1].published.value[:, 0])
    assert all((r.published.value[r.table.count == 0] == 0).all() for r in results)
    assert results[0].published.changed == "invariant"
    assert np.abs(results[0].noise).max() <= results[0].known.largest == 3


def test_another_construction_and_the_same_again(tables):
    first, second = (
        perturb_invariant(tables, largest=9, construction=lambda t: two_step_table(t, 4))
        for _ in range(2)
    )
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.published.value, other.published.value)
    assert first[0].known.largest == 4


def test_without_exactness_each_cell_looks_its_noise_up(tables):
    results = perturb_invariant(tables, largest=15, exact=False)
    before = different(tables, [t.count for t in tables])
    after = different(tables, [r.published.value for r in results])
    assert not np.array_equal(np.sort(before), np.sort(after))
    # the same count and key have the same noise, whatever else stands in the tables
    noise = least_bias_table(value_frequencies([before], 15), max_noise=3, most_stay=0.5)
    expected = dk.perturb(tables[0], noise).published.value
    assert np.array_equal(results[0].published.value, expected)
    claimed = results[0].certificate.public()["claimed"]["en"][0]
    assert claimed.startswith("On average")


def test_the_public_certificate_names_no_parameter(tables):
    certificate = perturb_invariant(tables, largest=15)[0].certificate
    assert set(certificate.public()) == {"schema", "family", "name", "claimed", "not_claimed"}
    assert not any(c.isdigit() for s in certificate.public()["claimed"]["en"] for c in s)
    assert certificate.figures["max_noise"] == 3


@pytest.mark.parametrize(
    ("at", "far", "match"),
    [
        ((3, 2), 0, "not as frequent as they were"),
        ((3, 2), 50, "cells are farther from their values"),
        ((3, 0), 0, "1 cell has other values"),
    ],
)
def test_changed_values_are_caught(tables, at, far, match):
    results = perturb_invariant(tables, largest=15)
    true, value = tables[0].count[at], results[0].published.value.copy()
    value[at] = true + far if value[at] != true or far else true + 1
    shown = [replace(results[0].published, value=value), results[1].published]
    with pytest.raises(ProofError, match=match):
        certify_invariant(shown, tables, 3)


def test_an_opened_zero_is_caught(tables):
    results = perturb_invariant(tables, largest=15)
    empty = np.argwhere(tables[0].count == 0)[0]
    value = results[0].published.value.copy()
    value[tuple(empty)] = 1
    shown = [replace(results[0].published, value=value), results[1].published]
    with pytest.raises(ProofError, match="cells are empty but not shown as 0"):
        certify_invariant(shown, tables, 3)


def test_refusals(tables):
    with pytest.raises(InputError, match="no cell keys"):
        perturb_invariant([replace(tables[0], key_sum=None)], largest=9)
    with pytest.raises(InputError, match="different moduli"):
        perturb_invariant([tables[0], replace(tables[1], key_modulus=256)], largest=9)
    sums = pa.table({"x": ["a", "b"], "v": [5, 7]})
    table = dk.Table.from_cells(sums, by={"x": None}, value="v")
    with pytest.raises(InputError, match="not for sums of 'v'"):
        perturb_invariant([table], largest=9)


def of_a_year(seed, vintage, by=("x", "y")):
    """Thirty codes of x that each have somebody in each year, so that no count is 0 by x."""
    random = np.random.default_rng(seed)
    codes = np.append(np.arange(30), random.integers(0, 30, 970))
    records = pa.table(
        {
            "x": [f"x{code}" for code in codes],
            "y": random.choice(list("ab"), 1000),
            "key": random.integers(0, 2**32, 1000),
        }
    )
    return dk.tabulate(records, by=dict.fromkeys(by), record_key="key", vintage=vintage)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("earlier", ["2020", ""])
def test_two_vintages_are_refused_as_the_same_noise_in_both_would_tell_growth(exact, earlier):
    years = [of_a_year(1, earlier, ["x"]), of_a_year(2, "2021", ["x"])]
    assert (years[0].count != years[1].count).any()
    with pytest.raises(InputError, match=f"different vintages: '{earlier}', '2021'"):
        perturb_invariant(years, largest=60, exact=exact)
    for year in years:
        perturb_invariant([year], largest=60, exact=exact)


def test_a_certificate_of_two_vintages_is_refused():
    """The noise of each on its own, which holds all else that is certified."""
    years = [of_a_year(1, "2020", ["x"]), of_a_year(2, "2021", ["x"])]
    shown = [perturb_invariant([year], largest=60)[0].published for year in years]
    for one, year in zip(shown, years, strict=True):
        certify_invariant([one], [year], 3)
    with pytest.raises(ProofError, match="different vintages"):
        certify_invariant(shown, years, 3)


@pytest.mark.parametrize("exact", [True, False])
def test_tables_of_other_records_are_refused_before_noise_is_drawn(exact):
    with pytest.raises(InputError, match="not made from the same records"):
        perturb_invariant(
            [of_a_year(1, "2020"), of_a_year(2, "2020", ["x"])], largest=60, exact=exact
        )


def test_the_same_counts_with_other_keys_are_refused():
    table = of_a_year(1, "2020")
    other = replace(table, key_sum=table.key_sum ^ np.uint64(1))
    with pytest.raises(InputError, match="not made from the same records"):
        perturb_invariant([table, other], largest=60)
