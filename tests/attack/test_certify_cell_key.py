"""Certificates of the cell key method: what is claimed holds, and sabotage is caught."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.attack import Windows, certify_cell_key, certify_cell_key_sums
from diskret.attack.cell_key_certificate import certify_unseen, unseen_certificate
from diskret.attack.cell_key_noise import (
    interval_noise,
    measure_key,
    row_moments,
    turned_key,
)
from diskret.cellkey import Lookup, PerturbationTable
from diskret.cellkey.further_keys import measure_keys, turned
from diskret.errors import ProofError

#: No published value of 1, though noise goes down to -3: the last row stands for 5 and more.
TABLE = PerturbationTable(
    np.array([0, 1, 2, 3, 4, 5]),
    np.arange(-3, 4),
    np.array(
        [
            [0, 0, 0, 1, 0, 0, 0],
            [0, 0, 0.6, 0, 0.3, 0.0, 0.1],
            [0, 0.3, 0, 0.3, 0.2, 0.2, 0],
            [0.1, 0, 0.2, 0.3, 0.3, 0.1, 0],
            [0, 0.1, 0.2, 0.4, 0.2, 0.1, 0],
            [0.1, 0.1, 0.1, 0.3, 0.2, 0.2, 0],
        ]
    ),
)
CENTRED = PerturbationTable(
    np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
)
random = np.random.default_rng(11)
RECORDS = pa.table(
    {
        "region": random.choice(["N", "S", "W", "E"], 120, p=[0.6, 0.3, 0.08, 0.02]),
        "age": random.choice(["young", "old"], 120),
        "turnover": random.integers(0, 5000, 120),
        "weight": random.integers(10, 90, 120) / 10,
        "key": random.integers(0, 2**32, 120),
    }
)
BY = {"region": None, "age": None}


def counts():
    return dk.perturb(dk.tabulate(RECORDS, by=BY, record_key="key"), TABLE)


def sums(**options):
    table = dk.tabulate(RECORDS, by=BY, value="turnover", record_key="key", largest=3)
    return table, dk.MagnitudeNoise(**{"ptable": CENTRED, **options})


def changed(published, by, cell=3):
    value = published.value.copy()
    value.ravel()[cell] += by
    return replace(published, value=value)


def certified(published, *, table=None, lookup=None, **options):
    result = counts()
    table = result.table if table is None else table
    lookup = TABLE.lookup() if lookup is None else lookup
    return certify_cell_key(table, published, lookup, counted=result.table.count, **options)


def test_certificate_says_what_holds_and_names_no_parameter():
    certificate = counts().certificate
    public = certificate.public()
    assert public["family"] == "cell_key"
    assert "not additive" in public["not_claimed"]["en"][0]
    assert "nicht additiv" in public["not_claimed"]["de"][0]
    said = " ".join(s for part in ("claimed", "not_claimed") for s in public[part]["en"])
    assert not any(digit in said.replace("published 0", "") for digit in "123456789")
    assert "shown" not in public
    assert certificate.figures["max_noise"] == 3
    assert certificate.figures["smallest_positive"] == 2


def test_a_changed_value_is_caught():
    published = counts().published
    for by in (-1, 1):
        with pytest.raises(ProofError, match=r"cells are not the counts plus"):
            certified(changed(published, by))


def test_small_numbers_are_ruled_out_for_larger_counts_too():
    """A last row of 3 with noise of -3 makes a 4 a 1."""
    rows = PerturbationTable(TABLE.counts[:4], TABLE.noise, TABLE.probabilities[:4])
    assert counts().certificate.figures["smallest_positive"] == 2
    found = dk.perturb(counts().table, rows).certificate
    assert found.figures["smallest_positive"] == 1


def test_what_the_table_makes_impossible_is_told_as_such():
    """Each property has a check of its own, before values are computed again."""
    cells = pa.table({"region": ["N", "S", "W"], "n": [2, 2, 0]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="n")
    table = replace(table, key_sum=np.zeros(4, np.uint64))
    shown = dk.perturb(table, TABLE).published
    for value, what in (
        ([1, 0, 0, 1], "cells are empty but shown as a number"),
        ([1, 1, 0, 0], r"cells show a small number.*\(2 in all\)"),
        ([9, 0, 0, 0], "cells are farther from the truth"),
        ([4, 0, 2, 0], "cells were changed otherwise"),
        ([4, 2, 2, 0], r"cells are not the counts plus.*\(3 in all\)"),
    ):
        with pytest.raises(ProofError, match=what):
            certify_cell_key(
                table,
                replace(shown, value=np.array(value)),
                TABLE.lookup(),
                counted=table.count,
            )


def test_counts_beyond_the_last_row_take_the_last_ones_in_turn():
    lookup = Lookup(np.arange(5), 9, [[9]] * 5, [[n] for n in range(5)], reuse=3)
    for count, row in enumerate([0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2]):
        key = np.zeros(1, np.uint64)
        assert interval_noise(lookup, np.array([count]), key) == row
        assert lookup(np.array([count]), key) == row


def test_cells_that_hold_something_are_not_impossible():
    table, noise = sums()
    for result in (counts(), dk.perturb(table, noise)):
        shown = result.published
        nobody = shown.empty | (np.arange(shown.value.size).reshape(shown.value.shape) == 4)
        wrong = replace(shown, empty=nobody, value=np.where(nobody, 0, shown.value))
        with pytest.raises(
            ProofError, match=r": cells are said to be impossible and hold.*\(1 in all\)"
        ):
            if shown.frequency:
                certified(wrong)
            else:
                certify_cell_key_sums(table, wrong, noise, CENTRED.lookup(), number=table.count)


def test_a_certificate_is_told_in_short_and_in_full():
    made = counts().certificate
    assert repr(made) == f"NoiseCertificate('count': {len(made.claimed)} claims)"
    assert "NoiseCertificate" in made._repr_html_() and made.claimed[0].en in made._repr_html_()
    outline = dk.tables.Outline(
        "a <b>", made.published.dimensions, "count", True, 0, changed="cell_key"
    )
    unseen = unseen_certificate(outline, TABLE.lookup())
    assert (
        unseen._repr_html_()
        == f"NoiseCertificate(&#x27;a &lt;b&gt;&#x27;: {len(unseen.claimed)} claims)"
    )
    told = made.internal()
    assert {**told, **made.figures} == told and told["checked"]["en"] == [
        one.en for one in made.checked
    ]
    assert (told["family"], told["name"]) == ("cell_key", "count")
    assert made.summary() == [one.en for one in (*made.claimed, *made.checked, *made.not_claimed)]
    with pytest.raises(dk.DiskretError, match="fr"):
        made.summary("fr")


def test_a_changed_key_is_caught():
    table = counts().table
    keys = (table.key_sum + np.uint64(2**31)) % np.uint64(2**32)
    with pytest.raises(ProofError, match=r"cells are not the counts plus"):
        certified(counts().published, table=replace(table, key_sum=keys))


def test_keys_of_another_modulus_are_caught():
    for table in (
        replace(counts().table, key_modulus=256),
        replace(counts().table, key_sum=None),
    ):
        with pytest.raises(ProofError, match=r"keys of 'count' do not belong"):
            certified(counts().published, table=table)


def test_a_changed_row_of_the_table_is_caught():
    lookup = TABLE.lookup()
    noise = lookup.noise.copy()
    noise[-1] = noise[-1][::-1]
    with pytest.raises(ProofError, match=r"are not the counts plus"):
        certified(counts().published, lookup=replace(lookup, noise=noise))


def test_an_empty_cell_with_a_number_is_caught():
    """Even where a broken table demands it."""
    table = dk.Table.from_cells(
        pa.table({"region": ["N", "S"], "n": [3, 0]}), by={"region": None}, count="n"
    )
    table = replace(table, key_sum=np.zeros(3, np.uint64))
    shown = dk.perturb(table, CENTRED).published
    broken = SimpleNamespace(
        counts=np.array([0, 1]),
        modulus=2**32,
        bounds=np.full((2, 1), 2**32, np.uint64),
        noise=np.array([[1], [-1]]),
        step=1,
        reuse=1,
    )
    with pytest.raises(ProofError, match=r"cells are empty but shown as a number"):
        certify_cell_key(
            table, replace(shown, value=np.array([2, 2, 1])), broken, counted=table.count
        )


def test_what_is_withheld_must_be_what_would_be_published_below_the_threshold():
    result = dk.perturb(counts().table, TABLE, threshold=30)
    assert 0 < result.published.suppressed.sum() < 15
    certified(result.published, threshold=30)
    with pytest.raises(ProofError, match=r"withheld for another reason"):
        certified(result.published, threshold=10)
    with pytest.raises(ProofError, match=r"withheld for another reason"):
        certified(result.published)


def test_a_table_with_a_mean_claims_no_balance():
    biased = Lookup(
        np.array([0, 1]), 2**32, np.full((2, 1), 2**32, np.uint64), np.array([[0], [1]])
    )
    unbiased = dk.perturb(counts().table, CENTRED).certificate
    found = dk.perturb(counts().table, biased).certificate
    assert any("on average neither up nor down" in s.en for s in unbiased.claimed)
    assert not any("on average" in s.en for s in found.claimed)
    assert any("on average" in s.en for s in found.not_claimed)


def no_small_counts(largest):
    """A lookup with which no count from 1 to `largest` is ever shown."""
    noise = [[0, 0], *([-n, largest + 1 - n] for n in range(1, largest + 1)), [0, 0]]
    bounds = np.tile(np.array([2**31, 2**32], np.uint64), (len(noise), 1))
    return Lookup(np.arange(len(noise)), 2**32, bounds, np.array(noise))


def test_the_office_reads_how_large_noise_is():
    table = counts().table
    for lookup, noise, variance in (
        (TABLE.lookup(), "Noise is at most 3; no published value is 1;", "is 1.2 – 2.4,"),
        (CENTRED.lookup(), "Noise is at most 1; empty cells", "is 0.5,"),
        (no_small_counts(2), "at most 2; no published value is 1 to 2;", "is 0 – 2.25,"),
        (no_small_counts(4), "at most 4; no published value is 1 to 4;", "is 0 – 6.25,"),
        (Lookup([0], 2**32, [[2**32]], [[0]]), "at most 0; empty cells", "is 0,"),
    ):
        certificate = dk.perturb(table, lookup, threshold=9).certificate
        said = [one.en for one in certificate.checked]
        hidden = (dk.perturb(table, lookup).published.value < 9).sum()
        assert f"{15 - hidden} published values of 15 cells" in said[0] and 0 < hidden < 15
        assert noise in said[1] and variance in said[2]
        means = np.array(certificate.figures["means"])
        assert not np.signbit(means[means == 0]).any()  # no mean is -0


def test_what_nobody_compared_is_certified_as_such():
    """Values are those of an engine; the perturbation table tells which cannot be."""
    shown = counts().published
    made = certify_unseen(shown, TABLE.lookup(), 0)
    told, seen = ({s.key for s in one.claimed} for one in (made, counts().certificate))
    assert told - seen == {"cell key.unseen"} and seen <= told
    told, seen = ({s.key for s in one.not_claimed} for one in (made, counts().certificate))
    assert told - seen == {"cell key.not compared"} and seen <= told
    assert made.checked == counts().certificate.checked[1:]
    assert made.figures == counts().certificate.figures
    value = shown.value.copy()
    value[-1, -1], value[0, 0] = 2, 4
    hidden = value < 4
    few = replace(shown, value=np.where(hidden, 0, value), suppressed=hidden)
    certify_unseen(few, TABLE.lookup(), 4)
    with pytest.raises(ProofError, match="cells are shown though they are below"):
        certify_unseen(replace(shown, value=np.where(hidden, 3, 4)), TABLE.lookup(), 4)
    value = np.maximum(shown.value, 2)
    for wrong, what in ((1, "cells show a small number"), (-1, "cells are negative")):
        value[1, 1] = wrong
        with pytest.raises(ProofError, match=what):
            certify_unseen(replace(shown, value=value), TABLE.lookup(), 0)


def test_weighted_counts_are_checked_too():
    table = dk.tabulate(RECORDS, by=BY, value="weight", record_key="key", decimals=1)
    result = dk.perturb(table, CENTRED, weighted_count=True)
    for by in (-10, 10):
        with pytest.raises(ProofError, match=r"are not the counts plus"):
            certify_cell_key(
                table,
                changed(result.published, by),
                CENTRED.lookup(),
                counted=table.count,
                weighted=True,
            )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shares": (1, 0.5, 0.2), "scale": 0.3},
        {"shares": (1, 0.5, 0.2), "keys": "cell", "scale": 0.3},
        {"shares": (1, 0.5, 0.2), "keys": "cell", "own_keys": True, "scale": 0.3},
        {"of": "mean", "odd": TABLE},
        {"of": "sum", "scale": (0.4, 0.01), "flex_point": 77.5, "flex_power": 1},
        {"small": TABLE, "scale": 0.0001},
        # between rows that leave out counts, and just those
        {"ptable": PerturbationTable.for_magnitudes(5, 1), "scale": 0.9},
        {"ptable": TABLE, "scale": 0.9},
    ],
)
def test_sums_are_computed_again_in_other_code(options):
    """The certificate accepts what the method computed, and nothing one unit away."""
    table, noise = sums(**options)
    rows = options.get("ptable", CENTRED).lookup()
    published = dk.perturb(table, noise).published
    small, odd = (None if options.get(t) is None else TABLE.lookup() for t in ("small", "odd"))

    def certify(shown, table=table):
        return certify_cell_key_sums(
            table, shown, noise, rows, number=table.count, small=small, odd=odd
        )

    assert certify(published).family == "cell_key"
    for by in (-1, 1):
        with pytest.raises(ProofError, match=r"cells are not the sums plus"):
            certify(changed(published, by))
    keys = (table.key_sum + np.uint64(2**31)) % np.uint64(2**32)
    with pytest.raises(ProofError, match=r"are not the sums plus"):
        certify(published, replace(table, key_sum=keys))


LEANING = PerturbationTable(  # up more often than down; by a third
    np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0, 2 / 3, 1 / 3]])
)


@pytest.mark.parametrize(
    ("options", "unbiased"),
    [
        ({}, True),
        ({"small": CENTRED, "odd": CENTRED}, True),
        ({"small": LEANING}, False),
        ({"odd": LEANING}, False),
        ({"ptable": LEANING}, False),
        ({"shares": (1, 0.5)}, False),
        ({"counts": CENTRED}, False),
        ({"extra": 0.5, "risk": 1.0}, False),  # sensitive cells are moved apart
    ],
)
def test_sums_are_said_to_keep_their_level_only_if_all_noise_does(options, unbiased):
    table, noise = sums()
    rule = dk.rules.PPercent(60) if "extra" in options else None
    found = dk.perturb(table, replace(noise, **options), rule=rule).certificate
    key = {one.key for one in found.claimed} & {"cell key.unbiased"}
    other = {one.key for one in found.not_claimed} & {"cell key.biased"}
    assert (bool(key), bool(other)) == (unbiased, not unbiased)
    mean = 0.333333333 if options.get("ptable") is LEANING else 0.0
    assert found.figures["means"] == [0.0, mean]


def test_a_sum_beside_a_count_of_0_is_0():
    """Every count of one becomes 0, and nothing else does."""
    cells = {"region": ["N", "S", "W"], "n": [3, 1, 1], "x": [300, 50, 70], "x1": [200, 50, 70]}
    table = dk.Table.from_cells(
        pa.table(cells), by={"region": None}, count="n", value="x", largest=["x1"]
    )
    table = replace(table, key_sum=np.array([7, 2**31, 9, 2**32 - 1], np.uint64))
    gone = Lookup([0, 1, 2], 2**32, [[2**32]] * 3, [[0], [-1], [0]])
    noise = dk.MagnitudeNoise(CENTRED, counts=gone)
    shown = dk.perturb(table, noise).published
    assert (shown.value == 0).tolist() == [False, False, True, True]

    def certify(published):
        certify_cell_key_sums(
            table, published, noise, CENTRED.lookup(), number=table.count, counts=gone
        )

    certify(shown)
    with pytest.raises(ProofError, match=r"no 0 beside a count of 0, e\.g\. region=S \(1 in"):
        certify(changed(shown, 1, 2))
    with pytest.raises(ProofError, match=r"not the sums plus .*, e\.g\. region=N \(1 in all"):
        certify(changed(shown, 1, 1))


def test_sums_of_both_signs_may_be_negative():
    records = RECORDS.set_column(2, "turnover", pa.array(random.integers(-900, 900, 120)))
    table = dk.tabulate(records, by=BY, value="turnover", record_key="key", largest=1)
    noise = dk.MagnitudeNoise(CENTRED)
    shown = dk.perturb(table, noise).published
    assert (shown.value < 0).any() and (shown.value != table.measure.sum).any()
    for cell in (3, int(shown.value.argmin())):
        with pytest.raises(ProofError, match=r"not the sums plus .* \(1 in all\)"):
            certify_cell_key_sums(
                table, changed(shown, 1, cell), noise, CENTRED.lookup(), number=table.count
            )


@pytest.mark.parametrize(("scale", "some"), [(0.9, True), (1.4, True), (0.1, False)])
def test_estimates_by_difference_are_counted_as_published_cells_tell_them(scale, some):
    table, noise = sums(scale=scale, extra=0.2, risk=1.0)
    rule = dk.rules.PPercent(60)
    found = dk.perturb(table, noise, rule=rule)
    sensitive, shown = rule(table), found.published.value.astype(float)
    tried, close = set(), set()
    for i, j in zip(*np.nonzero(sensitive.unsafe), strict=True):
        estimates = []
        if i:  # of a region: the total less the other regions
            estimates.append(shown[0, j] - (shown[1:, j].sum() - shown[i, j]))
        if j:
            estimates.append(shown[i, 0] - (shown[i, 1:].sum() - shown[i, j]))
        for estimate in estimates:
            tried.add((i, j))
            error = estimate - table.measure.sum[i, j]
            if -sensitive.noise_below[i, j] < error < sensitive.noise_above[i, j]:
                close.add((i, j))
    figures = found.certificate.figures
    assert figures["with_a_difference"] == len(tried) and (len(tried) > len(close)) == some
    assert figures["too_close_by_difference"] == len(close)
    said = [one.en for one in found.certificate.checked]
    assert any(f"put {len(close)} of {len(tried)} sensitive cells" in one for one in said)


@pytest.mark.parametrize(("extra", "shares"), [(0.5, (1,)), (None, (1,)), (None, (1, 0.5))])
def test_sensitive_cells_must_be_moved_at_least_by_the_extra_protection(extra, shares):
    table, noise = sums(scale=0.1, extra=extra, risk=1.0, shares=shares)
    rule = dk.rules.PPercent(60)
    result = dk.perturb(table, noise, rule=rule)
    sensitive = rule(table)
    assert sensitive.unsafe.any()
    assert any("extra protection" in s.en for s in result.certificate.checked)
    without = dk.perturb(table, replace(noise, extra=0.0), rule=rule).published
    windows = Windows(sensitive.unsafe, sensitive.noise_above, sensitive.noise_below)
    with pytest.raises(ProofError, match=r"are not the sums plus"):
        certify_cell_key_sums(table, without, noise, CENTRED.lookup(), windows=windows)


def test_sums_that_cannot_be_are_caught():
    cells = pa.table({"region": ["N", "S"], "n": [3, 0], "x": [30, 0], "x1": [20, 0]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="n", value="x", largest=["x1"])
    table = replace(table, key_sum=np.zeros(3, np.uint64))
    noise = dk.MagnitudeNoise(CENTRED)
    shown = dk.perturb(table, noise).published
    for cell, by, match in (
        (2, 1, r"hold 0 but are shown otherwise"),
        (1, -99, r"are negative, which no sum"),
    ):
        with pytest.raises(ProofError, match=match):
            certify_cell_key_sums(table, changed(shown, by, cell), noise, CENTRED.lookup())
    # half a unit from what the noise demands, and in steps that rounding would have hidden
    odd = replace(shown, value=np.where(shown.value > 0, shown.value // 2 * 2 + 1, 0), rounding=2)
    with pytest.raises(ProofError, match="cells are shown in a finer unit"):
        certify_cell_key_sums(table, odd, noise, CENTRED.lookup())


widths = st.lists(st.integers(0, 9), min_size=2, max_size=6)


@given(st.lists(widths, min_size=1, max_size=4), st.data())
def test_the_noise_of_the_certificate_is_that_of_the_method(rows, data):
    modulus, longest = 60, max(map(len, rows)) + 1
    bounds = np.full((len(rows) + 1, longest), modulus, np.uint64)
    for row, found in enumerate(rows, start=1):
        bounds[row, : len(found)] = np.cumsum(found)
    noise = np.zeros(bounds.shape, np.int64)
    noise[1:] = np.arange(len(rows) * longest).reshape(len(rows), longest)
    reuse = data.draw(st.integers(1, max(len(rows), 1)))
    lookup = Lookup(np.arange(len(rows) + 1), modulus, bounds, noise, reuse=reuse)
    count = np.repeat(np.arange(12), modulus)
    keys = np.tile(np.arange(modulus, dtype=np.uint64), 12)
    assert np.array_equal(interval_noise(lookup, count, keys), lookup(count, keys))
    means, variances = row_moments(lookup)
    for row in range(len(rows) + 1):
        drawn = lookup(np.full(modulus, row), np.arange(modulus, dtype=np.uint64))
        assert (means[row], variances[row]) == pytest.approx((drawn.mean(), drawn.var()))


@given(st.integers(0, 10**8 - 1), st.sampled_from([10**8, 2**32, 2**27]), st.integers(0, 6))
def test_further_keys_of_the_certificate_are_those_of_the_method(key, modulus, times):
    keys = np.array([key % modulus], np.uint64)
    assert turned_key(keys, modulus, times) == turned(keys, modulus, times)


@pytest.mark.parametrize("modulus", [1, 2, 3, 5, 7, 12, 26, 100, 257, 1001, 10**8, 2**32])
def test_keys_of_measures_in_the_certificate_are_those_of_the_method(modulus):
    """And every key is the key of one cell."""
    keys = np.arange(min(modulus, 1001), dtype=np.uint64)
    for draw, source in ((0, "turnover"), (2, "wages")):
        found = measure_key(keys, modulus, source, draw)
        assert np.array_equal(found, measure_keys(keys, modulus, source, draw))
        assert len({*found.tolist()}) == len(keys) and found.max() < modulus
    other = measure_key(keys, modulus, "wages", 1)
    assert modulus < 6 or (other != found).any()
