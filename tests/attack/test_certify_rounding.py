"""What a certificate of rounded tables says is checked, and fails where it is wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest

from diskret.attack import Requirements, certify_rounding
from diskret.attack.statements import GROUP_DISCLOSURE
from diskret.errors import ProofError
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Noise, Perturbed, Published, Table
from diskret.tables.perturbed import published_with

COUNTS = [[8, 7, 3, 6], [1, 4, 0, 9]]
FLAT = (
    Dimension("x", Hierarchy.flat(["a", "b"])),
    Dimension("y", Hierarchy.flat(["p", "q", "r", "s"])),
)
# zero-restricted, base 3; the last: small counts
BY_METHOD = {
    "deterministic": [[39, 9, 12, 3, 15], [24, 9, 6, 3, 6], [15, 0, 3, 0, 9]],
    "random": [[36, 9, 12, 3, 15], [24, 6, 9, 3, 6], [12, 3, 3, 0, 9]],
    "controlled": [[39, 9, 12, 3, 15], [24, 6, 9, 3, 6], [15, 3, 3, 0, 9]],
    "small_counts": [[37, 8, 11, 3, 15], [24, 8, 7, 3, 6], [13, 0, 4, 0, 9]],
}


def with_totals(leaves):
    inner = np.array(leaves)
    rows = np.vstack([inner.sum(axis=0), inner])
    return np.column_stack([rows.sum(axis=1), rows])


ORIGINAL = with_totals(COUNTS)


def published(values, name="t"):
    table = Table(FLAT, count=ORIGINAL)
    return published_with(table, Noise.of(np.array(values)), name=name, changed="rounding")


def certify(values, method, requirements=None, **options):
    perturbed = Perturbed(method, base=3)
    asked = None if requirements is None else [requirements]
    return certify_rounding([published(values)], [ORIGINAL], perturbed, asked, **options)[0]


@pytest.mark.parametrize("method", BY_METHOD)
def test_rounded_cells_that_are_withheld_are_refused(method):
    shown = published(BY_METHOD[method])
    for hidden in (np.ones(shown.shape, bool), shown.value == shown.value.max()):
        with pytest.raises(ProofError, match="are not shown"):
            certify_rounding(
                [replace(shown, suppressed=hidden)],
                [ORIGINAL],
                Perturbed(method, base=3),
                examined=False,
            )


def test_requirements_are_those_of_each_table():
    rounded = [published(BY_METHOD["controlled"], name) for name in "ab"]
    none = Requirements(*(np.zeros(0, np.int64) for _ in range(4)))
    given = [ORIGINAL] * 2, Perturbed("controlled", base=3)
    assert len(certify_rounding(rounded, *given, [none, none])) == 2
    with pytest.raises(ProofError, match="1 requirements do not belong to 2 tables"):
        certify_rounding(rounded, *given, [none])


@pytest.mark.parametrize("order", [1, -1])
def test_the_base_of_each_table_is_in_its_own_decimals(order):
    """Two measures, 12 in whole units and 12.0 in tenths, rounded to 5: both become 10."""
    flat = (Dimension("x", Hierarchy.flat(["a", "b"])),)
    tables = [
        Published(
            name, flat, name, False, decimals, one * unit, one < 0, one < 0, changed="rounding"
        )
        for name, decimals, unit in (("v", 0, 1), ("w", 1, 10))
        for one in [np.array([25, 10, 15])]
    ][::order]
    true = [np.array([24, 11, 13]) * 10**table.decimals for table in tables]
    perturbed = Perturbed("deterministic", base=5)
    assert len(certify_rounding(tables, true, perturbed, examined=False)) == 2
    for at in range(2):
        wrong = [array + 2 * 10 ** tables[at].decimals * (i == at) for i, array in enumerate(true)]
        with pytest.raises(ProofError, match=f"table '{tables[at].name}'.* nearest"):
            certify_rounding(tables, wrong, perturbed, examined=False)


@pytest.mark.parametrize("method", BY_METHOD)
def test_true_claims_pass_and_public_part_is_silent_on_true_values(method):
    certificate = certify(BY_METHOD[method], method)
    public = json.dumps(certificate.public())
    additive = method in ("controlled", "small_counts")
    assert certificate.public()["shown"] == {
        "method": method,
        "base": 3,
        "additive": additive,
    }
    assert certificate.figures["largest_deviation"] > 0
    small = ((ORIGINAL > 0) & (ORIGINAL < 3)).sum()
    assert certificate.figures["required"] == certificate.figures["required_and_proven"] == small
    assert "largest" not in public and "deviation" not in public
    assert len(certificate.summary("de")) == len(certificate.summary("en"))


@pytest.mark.parametrize(
    ("method", "cell", "value", "why"),
    [
        ("deterministic", (1, 1), 8, "cells are no multiples of 3, e.g. x=a, y=p"),
        ("deterministic", (1, 1), 6, "not the multiple nearest to the true value"),
        ("random", (1, 1), 7, "no multiples"),
        ("random", (1, 1), 12, "a base or more from the true value"),
        ("random", (2, 4), 12, "a base or more"),  # a multiple stays
        ("random", (2, 3), 3, "a base or more"),
        ("controlled", (0, 0), 38, "no multiples"),
        ("controlled", (0, 0), 42, "too far from the true value"),
        ("controlled", (2, 4), 6, "too far"),
        ("controlled", (2, 3), 3, "too far"),
        ("controlled", (1, 1), 9, "do not add up"),
        ("small_counts", (1, 3), 2, "lie between 0 and the base 3"),
        ("small_counts", (2, 3), 3, "stand for a true zero"),
        ("small_counts", (1, 1), 9, "do not add up"),
    ],
)
def test_a_value_that_is_off_is_refused(method, cell, value, why):
    values = np.array(BY_METHOD[method])
    values[cell] = value
    with pytest.raises(ProofError, match=why):
        certify(values, method)


@pytest.mark.parametrize(
    ("true", "shown"),
    [(9, 12), (9, 3), (9, 0), (4, 3), (2, 6), (1, 5)],
)
def test_counts_that_are_not_small_are_the_true_ones(true, shown):
    """Whoever reads the table takes them for these, so what they tell is computed from these."""
    table = Table(FLAT, count=with_totals([[8, 7, 3, 6], [1, 4, 0, true]]))
    values = with_totals([[8, 7, 3, 6], [0, 4, 0, shown]])

    def rounded(values, examined=True):
        given = published_with(table, Noise.of(values), name="t", changed="rounding")
        perturbed = Perturbed("small_counts", base=3)
        return certify_rounding([given], [table.count], perturbed, examined=examined)

    with pytest.raises(ProofError, match="cells are neither true nor small .* x=b, y=s"):
        rounded(values)
    rounded(values, examined=False)  # they may be sums of finer ones that were rounded
    rounded(with_totals([[8, 7, 3, 6], [0, 4, 0, true if true >= 3 else 3]]))


def test_steps_widen_what_is_allowed():
    values = np.array(BY_METHOD["controlled"])
    values[2, 4] += 3  # 9, a multiple, may move by a step
    values[[0, 0, 2], [0, 4, 0]] += 3
    with pytest.raises(ProofError, match="too far"):
        certify(values, "controlled")
    perturbed = Perturbed("controlled", base=3, steps=1)
    (found,) = certify_rounding([published(values)], [ORIGINAL], perturbed)
    assert found.figures["steps"] == 1


def levels(cell, lower, upper):
    as_array = (
        np.array([level]) for level in (np.ravel_multi_index(cell, (3, 5)), lower, upper, 0)
    )
    return Requirements(*as_array)


def test_levels_of_a_rule_are_proven_or_refused():
    # 8 is shown as 6: an outsider takes it for 4 to 8
    reached = certify(BY_METHOD["controlled"], "controlled", levels((1, 1), 3, 0))
    assert reached.figures["required_and_proven"] == 1
    with pytest.raises(ProofError, match="1 true value is not as uncertain as the rule asks"):
        certify(BY_METHOD["controlled"], "controlled", levels((1, 1), 0, 1))


def test_equations_narrow_what_a_value_stands_for():
    """One part of a total: 2 is shown as 3, the total 2 as 0, so it is less than 3."""
    one = Table((Dimension("x", Hierarchy.flat(["a"])),), count=np.array([2, 2]))
    shown = published_with(one, Noise.of(np.array([0, 3])), name="t", changed="rounding")
    (found,) = certify_rounding([shown], [one.count], Perturbed("random", base=3))
    assert found.figures["required_and_proven"] == 2  # 1 or 2
    same = Table((Dimension("x", Hierarchy.flat(["a"])),), count=np.array([1, 1]))
    asked = [Requirements(np.array([1]), np.array([1]), np.array([0]), np.array([0]))]
    shown = published_with(same, Noise.of(np.array([0, 3])), name="t", changed="rounding")
    with pytest.raises(ProofError, match="as uncertain as the rule asks"):
        certify_rounding([shown], [same.count], Perturbed("random", base=3), asked)


def test_unpicked_values_are_counted_but_not_claimed():
    """Deterministic, base 3: 1 + 1 shown as 0 + 0, their total 2 as 3, so both are 1."""
    table = Table((Dimension("x", Hierarchy.flat(["a", "b"])),), count=np.array([2, 1, 1]))
    shown = published_with(table, Noise.of(np.array([3, 0, 0])), name="t", changed="rounding")
    (found,) = certify_rounding([shown], [table.count], Perturbed("deterministic", base=3))
    assert found.figures["known_exactly"] == 3
    assert (found.figures["required"], found.figures["required_and_proven"]) == (3, 0)
    assert not any("tell exactly" in s.en for s in found.claimed)
    assert any("Differences of published values" in s.en for s in found.not_claimed)


def test_the_office_reads_how_far_values_are_off_and_what_was_proven():
    """In hundredths, with a cell of which all know that nobody is in it."""
    flat = (Dimension("x", Hierarchy.flat(["a", "b", "c", "d"])),)
    true, value = np.array([1300, 800, 200, 300, 0]), np.array([1500, 900, 300, 300, 0])
    nobody = np.arange(5) == 4
    table = Published(
        "t",
        flat,
        "v",
        False,
        2,
        value,
        nobody & False,
        nobody,
        changed="rounding",
        nonnegative=True,
    )
    asked = Requirements(*(np.array(one) for one in ([1, 2], [50, 10], [0, 0], [0, 60])))
    perturbed = Perturbed("random", base=3)
    (found,) = certify_rounding([table], [true], perturbed, [asked], groups=True)
    figures = dict(found.figures)
    assert figures.pop("mean_absolute_deviation") == pytest.approx(1)
    assert figures == {
        "method": "random",
        "base": 3,
        "cells": 4,
        "changed": 3,
        "largest_deviation": 2.0,
        "sum_of_deviations": 4.0,
        "intervals": "exact",
        "known_exactly": 0,
        "required": 2,
        "required_and_proven": 2,
    }
    off, proven = (one.en for one in found.checked)
    assert off.startswith("3 of 4 values differ from the true ones, by 2 at most and 1 on average")
    assert proven.startswith("2 of 2 sensitive true values are proven") and "; 0 values" in proven
    more = replace(asked, cell=np.array([1, 3]), upper=np.array([0, 400]))
    with pytest.raises(ProofError, match=r"1 true value is not .*, e\.g\. x=c; take a larger base"):
        certify_rounding([table], [true], perturbed, [more])
    less = Requirements(*(np.array([one]) for one in (3, 100, 100, 0)))
    two = certify_rounding([table, replace(table, name="u")], [true] * 2, perturbed, [asked, less])
    assert [one.figures["required_and_proven"] for one in two] == [2, 1]
    assert [one.figures["required"] for one in two] == [2, 1]
    keys = [{one.key for one in made.not_claimed} for made in (found, two[0])]
    assert keys[1] - keys[0] == {GROUP_DISCLOSURE.key}
    nowhere = replace(table, value=true * 0, empty=nobody | True)
    (nothing,) = certify_rounding([nowhere], [true * 0], perturbed, examined=False)
    assert (nothing.figures["cells"], nothing.figures["mean_absolute_deviation"]) == (0, 0)


def test_what_was_not_examined_is_said():
    found = certify(BY_METHOD["controlled"], "controlled", examined=False)
    assert any("not examined" in s.en for s in found.not_claimed)
    assert not any("tell exactly" in s.en for s in found.claimed)
    assert "known_exactly" not in found.figures


def test_tables_that_contradict_each_other_are_refused():
    region = Table(FLAT[:1], count=ORIGINAL[:, 0])
    values = np.array([36, 24, 12])
    alone = published_with(region, Noise.of(values), name="x", changed="rounding")
    perturbed = Perturbed("controlled", base=3)
    assert certify_rounding([alone], [region.count], perturbed)
    both = [published(BY_METHOD["controlled"]), alone]
    with pytest.raises(ProofError, match="do not add up"):
        certify_rounding(both, [ORIGINAL, region.count], perturbed)
