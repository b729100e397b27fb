"""Adjusted, additive and invariant values: figures counted by hand, and claims that fail."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import Requirements
from diskret.attack.certify_changed import (
    SAME_IN_ALL,
    SAME_ON_AVERAGE,
    SAME_VALUES,
    certify_additive,
    certify_adjustment,
    certify_invariant,
)
from diskret.errors import ProofError
from diskret.tables import Noise
from diskret.tables.perturbed import published_with


def table(decimals=0, *, negative=False, **sales):
    """A line of firms, one for each code: (Total, N, S, …); nobody where sales are None."""
    there = {code: value for code, value in sales.items() if value is not None}
    records = pa.table({"region": list(there), "sales": [float(v) for v in there.values()]})
    by = {"region": dk.Hierarchy.flat(list(sales))}
    made = dk.tabulate(records, by=by, value="sales", decimals=decimals)
    assert made.nonnegative is not negative
    return made


def shown(made, *values, changed="adjustment", **masks):
    """What is published in place of these sums, the total first."""
    value = np.array(values).reshape(made.shape)
    seen = published_with(made, Noise.of(value), name="t", changed=changed)
    return replace(
        seen, **{name: np.isin(np.arange(len(values)), at) for name, at in masks.items()}
    )


def needs(cell=(), lower=(), upper=()):
    cells, down, up = (np.array(one, dtype=np.int64) for one in (cell, lower, upper))
    return Requirements(cells, down, up, down + up)


def adjusted(made, published, required=None):
    return certify_adjustment([published], [made], [required or needs()])[0]


# ── adjusted values ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("lower", "upper", "steps", "too_close"),
    [
        (3, 5, (5, 6, -3, -9), (4, 0, -2)),
        (0, 5, (5, 9), (4, 0, -5, -9)),
        (3, 0, (-3, -9), (-2, 0, 3, 9)),
        (0, 0, (1, -1), (0,)),
        (1, 1, (1, -1), (0,)),
    ],
)
def test_a_sensitive_value_moves_by_its_level_or_in_a_direction_that_has_one(
    lower, upper, steps, too_close
):
    made = table(N=40, S=25)
    for step in (*steps, *too_close):
        published = shown(made, 65, 40 + step, 25 - step)
        required = needs([1], [lower], [upper])
        if step in steps:
            assert adjusted(made, published, required).figures["sensitive"] == 1
            continue
        with pytest.raises(ProofError, match="cells are too close to their .*, e.g. region=N"):
            adjusted(made, published, required)


def test_figures_of_changes_are_those_of_the_records():
    made = table(decimals=1, N=4.0, S=2.5, W=3.5, X=0, Z=0.1)
    published = shown(made, 101, 44, 20, 35, 0, 2)
    certificate = adjusted(made, published, needs([1], [4], [4]))
    # moved: N 40 → 44 (sensitive), S 25 → 20, Z 1 → 2; W and the total stay, X has nothing
    assert certificate.figures == {
        "sensitive": 1,
        "others": 4,
        "others_changed": 2,
        "largest_change": 0.5,
        "largest_relative_change_of_others": 100.0,
        "mean_relative_change": pytest.approx((10 + 20 + 100) / 5),
        "total_change": pytest.approx(1.0),
    }
    assert certificate.shown == {"additive": True}
    said = certificate.checked[0].en
    assert "100.00" in said and "26.00" in said


def test_of_sensitive_values_alone_nothing_is_said_of_others():
    made = table(N=0, S=0)
    certificate = adjusted(made, shown(made, 0, 0, 0))
    assert certificate.figures["mean_relative_change"] == 0
    assert certificate.figures["largest_relative_change_of_others"] == 0
    assert certificate.figures["total_change"] == certificate.figures["largest_change"] == 0


def test_each_of_several_tables_is_held_to_its_own_levels():
    one, other = table(N=40, S=25), replace(table(N=40, S=25), vintage="2025")
    seen = [shown(one, 65, 43, 22), shown(other, 65, 39, 26)]
    required = [needs([1], [3], [3]), needs([2], [1], [1])]
    first, second = certify_adjustment(seen, [one, other], required)
    assert first.published is seen[0] and second.published is seen[1]
    with pytest.raises(ProofError, match="too close"):
        certify_adjustment(seen, [one, other], required[::-1])
    with pytest.raises(ValueError, match="shorter"):
        certify_adjustment(seen, [one, other], required[:1])


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ((66, 43, 22, 0), "do not add up"),
        ((65, 43, 21, 1), "cells are empty and not 0, e.g. region=W"),
        ((65, 66, -1, 0), "cells are negative, e.g. region=S"),
    ],
)
def test_adjusted_values_that_cannot_be_are_caught(values, match):
    made = table(N=40, S=25, W=None)
    adjusted(made, shown(made, 65, 43, 22, 0))
    with pytest.raises(ProofError, match=match):
        adjusted(made, shown(made, *values))


def test_values_that_may_be_negative_may_become_so():
    made = table(negative=True, N=40, S=-25)
    assert adjusted(made, shown(made, 15, -2, 17)).figures["others_changed"] == 2


@pytest.mark.parametrize("mask", ["suppressed", "empty"])
def test_an_adjusted_table_hides_nothing(mask):
    made = table(N=40, S=25, W=0)
    with pytest.raises(ProofError, match="cells are not shown, though the method shows every"):
        adjusted(made, shown(made, 65, 43, 22, 0, **{mask: [3]}))


# ── made additive ────────────────────────────────────────────────────────────────────


def made_additive(made, before, after):
    return certify_additive(
        shown(made, *after, changed="cell_key"), shown(made, *before, changed="cell_key"), made
    )


def test_what_additivity_costs_is_told():
    made = table(decimals=2, N=0.4, S=0.25, W=0)
    certificate = made_additive(made, (66, 42, 25, 0), (68, 41, 27, 0))
    assert certificate.figures == {
        "changed_again": 3,
        "share_changed_again": 75.0,
        "largest_second_change": pytest.approx(0.02),
        "mean_second_change": pytest.approx(0.05 / 4),
        "added_variance": pytest.approx((4 + 1 + 4) / 4e4),
        "mean_noise": pytest.approx((0.03 + 0.01 + 0.02) / 4),
        "mean_square_noise": pytest.approx((9 + 1 + 4) / 4e4),
    }
    said = certificate.checked[0].en
    assert "3 of 4" in said and "75.0" in said and "0.02" in said and "0.01" in said
    assert certificate.shown == {"additive": True}


@pytest.mark.parametrize(
    ("before", "after", "match"),
    [
        ((66, 42, 25, 0), (68, 41, 26, 0), "do not add up"),
        ((66, 42, 25, 0), (68, 41, 26, 1), "cells were 0 and are not any more, e.g. region=W"),
        ((66, 42, 25, 1), (40, 41, -1, 0), "cells are negative, e.g. region=S"),
    ],
)
def test_additive_values_that_cannot_be_are_caught(before, after, match):
    made = table(N=40, S=25, W=0)
    with pytest.raises(ProofError, match=match):
        made_additive(made, before, after)


def test_additive_values_may_be_negative_where_sums_are():
    made = table(negative=True, N=40, S=-25)
    assert made_additive(made, (15, 40, -24), (14, 39, -25)).figures["changed_again"] == 3


def test_an_additive_table_withholds_nothing_and_calls_nobody_impossible():
    made = table(N=40, S=25, W=None)
    before, after = (
        shown(made, 65, *own, changed="cell_key") for own in ((41, 25, 0), (40, 25, 0))
    )
    nobody = replace(after, empty=np.arange(4) == 3)
    certify_additive(nobody, before, made)
    with pytest.raises(ProofError, match="cells are not shown"):
        certify_additive(replace(after, suppressed=np.arange(4) == 3), before, made)
    none = shown(made, 40, 40, 0, 0, changed="cell_key", empty=[2])
    with pytest.raises(ProofError, match="cells are said to be impossible and hold something"):
        certify_additive(none, before, made)


# ── invariant noise ──────────────────────────────────────────────────────────────────

PERSONS = [("a", "m")] * 2 + [("a", "f")] * 3 + [("b", "m")] * 3 + [("b", "f")] * 2 + [("c", "f")]


@pytest.fixture(scope="module")
def tables():
    """Counts by town and sex (Total, a, b, c by Total, f, m), and by town: 11, 5, 5, 1."""
    town, sex = zip(*PERSONS, strict=True)
    records = pa.table({"town": town, "sex": sex})
    return [dk.tabulate(records, by=by) for by in ({"town": None, "sex": None}, {"town": None})]


def invariant(tables, by=(), beside=(), *, most=2, exact=True, change=lambda seen: seen):
    """Change cells of the table by town and sex, and of the other one beside it."""
    seen = []
    for made, steps in zip(tables, (dict(by), dict(beside)), strict=True):
        value = made.count.copy()
        for at, step in steps.items():
            value[at] += step
        noise = Noise.of(value)
        seen.append(published_with(made, noise, name=f"t{value.ndim}", changed="invariant"))
    return certify_invariant([change(seen[0]), seen[1]], tables, most, exact)


def test_values_that_changed_places_are_as_frequent(tables):
    by = {(1, 1): -1, (1, 2): 1}  # 3 women become 2, 2 men become 3
    first, second = invariant(tables, by)
    assert first.figures == second.figures == {"cells": 12, "changed": 2, "max_noise": 2}
    assert "2 of 12" in first.checked[0].en


def test_a_value_that_got_rarer_is_caught_unless_frequencies_hold_on_average(tables):
    by = {(1, 2): 1}
    with pytest.raises(
        ProofError, match="2 values are not as frequent as they were, e.g. 2 occurs 1 times instead"
    ):
        invariant(tables, by)
    on_average = invariant(tables, by, exact=False)[0]
    assert on_average.figures["changed"] == 1
    assert on_average.claimed == (SAME_ON_AVERAGE, SAME_IN_ALL)
    assert invariant(tables)[0].claimed == (SAME_VALUES, SAME_IN_ALL)


@pytest.mark.parametrize("step", [1, -1])
def test_the_largest_value_is_as_frequent_as_any_other(tables, step):
    with pytest.raises(ProofError, match="2 values are not as frequent as they were"):
        invariant(tables, {(0, 0): step}, {0: step})


@pytest.mark.parametrize(("most", "holds"), [(0, False), (1, True), (2, True)])
def test_noise_may_be_as_large_as_the_largest_one(tables, most, holds):
    by = {(1, 1): -1, (1, 2): 1}
    if holds:
        invariant(tables, by, most=most)
        return
    with pytest.raises(ProofError, match="cells are farther from their values"):
        invariant(tables, by, most=most)


def test_the_same_cell_of_two_tables_has_one_value(tables):
    """Told by what the tables are about, not by who changed them."""
    invariant(tables, {(1, 0): 1}, {1: 1}, exact=False)
    with pytest.raises(ProofError, match="1 cell has other values than the same cell of another"):
        invariant(tables, {(1, 0): 1}, exact=False)
    with pytest.raises(ProofError, match="1 cell has other values than the same cell of another"):
        invariant(tables, {}, {3: 1}, exact=False)


def test_invariant_values_that_cannot_be_are_caught(tables):
    assert tables[0].count[3].tolist() == [1, 1, 0]
    with pytest.raises(ProofError, match="cells are empty but not .* as 0, e.g. town=c, sex=m"):
        invariant(tables, {(3, 2): 1}, exact=False)
    with pytest.raises(ProofError, match="counts became negative"):
        invariant(tables, {(3, 1): -2}, exact=False)
    invariant(tables, {(3, 1): -1}, exact=False)
    for mask in ("suppressed", "empty"):
        nowhere = np.zeros(tables[0].shape, dtype=bool)
        nowhere[3, 2] = True
        with pytest.raises(ProofError, match="cells are not shown"):
            invariant(
                tables, change=lambda seen, mask=mask, at=nowhere: replace(seen, **{mask: at})
            )
