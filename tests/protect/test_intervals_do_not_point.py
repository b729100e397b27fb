"""Published intervals do not point at the value: it lies anywhere in them alike.

The oracle here knows the records' own counts and sums and the published bounds, nothing else.
"""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import diskret as dk
from diskret.protect import safe_intervals
from diskret.protect.safe_intervals import with_intervals

KEYS = dk.SecretKeys(bytes(range(32)))


def pairs_beside_totals(first, second, measure):
    """A table of many totals, each of two parts."""
    parts = [(f"g{i}", f"g{i}.{side}") for i in range(len(first)) for side in "ab"]
    tree = dk.Hierarchy.from_parents(
        {
            "code": [f"g{i}" for i in range(len(first))] + [code for _, code in parts],
            "parent": ["Total"] * len(first) + [parent for parent, _ in parts],
        }
    )
    values = np.stack([first, second], axis=1).ravel().tolist()
    cells = pa.table({"part": [code for _, code in parts], "n": [1] * len(parts), measure: values})
    if measure == "count":
        return dk.Table.from_cells(
            pa.table({"part": cells["part"], "count": cells["count"]}),
            by={"part": tree},
            count="count",
        )
    return dk.Table.from_cells(cells, by={"part": tree}, value=measure, count="n")


def published_pairs(table, rule):
    """Value, total, lower and upper of every hidden part, each ``(groups, 2)``."""
    result = dk.suppress(table, rule, attacker=dk.Attacker())
    [proven] = with_intervals([result], KEYS)
    hierarchy = table.dimensions[0].hierarchy
    groups = len(hierarchy.codes) // 3
    at = np.array([[hierarchy.position[f"g{i}.{side}"] for side in "ab"] for i in range(groups)])
    assert proven.published.suppressed[at].all()
    value = table.measure.sum[at]
    return (
        value,
        value.sum(axis=1, keepdims=True),
        *(bound[at] for bound in (proven.published.lower, proven.published.upper)),
    )


@pytest.mark.parametrize("level", [1, 3])
def test_every_value_is_equally_likely_in_the_interval_of_a_count(level):
    """About 1,000 totals of 40 with each split equally often: so each place must be, too."""
    first = np.repeat(np.arange(level, 41 - level), 27)
    table = pairs_beside_totals(first, 40 - first, "count")
    value, total, low, high = published_pairs(table, dk.rules.MinimumFrequency(40, level=level))
    narrower = (low > 0) | (high < total)
    width, place = high - low, value - low
    assert 0.2 < narrower.mean() < 1
    assert (width[narrower] >= 4 * level).all()
    # a level is cut at the value itself: next to 0 smaller values are as likely as others
    inner = narrower & (low > 0) & (high < total)
    assert (place[inner] >= level).all() and (width - place)[inner].min() >= level
    found, expected = [], []
    for one in np.unique(width[inner]):
        seen = np.bincount(place[:, 0][inner[:, 0] & (width[:, 0] == one)], minlength=one + 1)
        seen = seen[level : one + 1 - level]
        found.extend(seen)
        expected.extend(np.full(len(seen), seen.mean()))
    assert found[0] and len(found) > 20
    assert stats.chi2.sf(
        sum((f - e) ** 2 / e for f, e in zip(found, expected, strict=True) if e),
        len(found) - len(np.unique(width[inner])),
    ) > 0.001  # fmt: skip


@pytest.mark.long
def test_small_counts_beside_a_large_one_are_equally_likely():
    """1 to 7 beside 1,000: [0, u] holds each from 1 to u - 1 equally often."""
    first = np.repeat(np.arange(1, 8), 150)
    table = pairs_beside_totals(first, np.full(len(first), 1000), "count")
    value, _, low, high = published_pairs(table, dk.rules.MinimumFrequency(8))
    place, upper = value[:, 0], high[:, 0]
    for one in range(4, 8):
        seen = np.bincount(place[(low[:, 0] == 0) & (upper == one)], minlength=8)[1:]
        assert (seen[one - 1 :] == 0).all()
        assert stats.chisquare(seen[: one - 1]).pvalue > 0.001


def test_the_place_of_a_sum_is_uniform():
    """Sums of very different size, each beside one of similar size."""
    rng = np.random.default_rng(4)
    total = np.rint(10 ** rng.uniform(4, 9, 1_000)).astype(np.int64)
    first = np.rint(total * rng.uniform(0.4, 0.6, 1_000)).astype(np.int64)
    table = pairs_beside_totals(first, total - first, "turnover")
    value, whole, low, high = published_pairs(table, dk.rules.MinimumFrequency(2, range=1))
    assert ((low > 0) & (high < whole)).all()
    level = np.ceil(value.max(axis=1) / 100)
    width, place = (high - low)[:, 0], (value - low)[:, 0]
    assert (width >= 4 * level).all() and (place >= level).all()
    assert (width - place >= level).all()
    share = (place - level) / (width - 2 * level)
    assert stats.kstest(share, "uniform").pvalue > 0.001
    # no width points at a value: within a factor of two of the level none is likelier
    assert np.corrcoef(np.log2(value.max(axis=1)) % 1, np.log2(width) % 1)[0, 1] < 0.5


@pytest.mark.long
def test_both_ends_of_the_offset_are_drawn():
    first = np.full(2_000, 500)
    value, _, low, high = published_pairs(
        pairs_beside_totals(first, first, "count"), dk.rules.MinimumFrequency(501)
    )
    assert {1} == {(value - low).min(), (high - value).min()}


def register(measure):
    made = dk.datasets.business_register(2_000, seed=4)
    by = {name: made.by[name] for name in ("nace", "region")}
    table = dk.tabulate(
        made.records, by=by, value=measure, unit="firm_id", largest=2 if measure else 0
    )
    return table.recode("nace", level=1)


@pytest.mark.parametrize("measure", [None, "turnover"])
def test_narrower_than_the_table_itself_means_wide_enough(measure):
    table = register(measure)
    rule = dk.rules.PPercent(10) if measure else dk.rules.MinimumFrequency(4)
    result = dk.suppress(table, rule, attacker=dk.Attacker())
    own = dk.attack.examine(result.published)
    [proven] = with_intervals([result], KEYS)
    hidden = proven.published.suppressed
    low, high = proven.published.lower[hidden], proven.published.upper[hidden]
    narrower = (low > np.ceil(own.lower)) | (high < np.floor(own.upper))
    assert 0 < narrower.mean() < 1
    needs = result.certificate.requirements
    lower, upper = np.ones(hidden.size, dtype=np.int64), np.ones(hidden.size, dtype=np.int64)
    lower[needs.cell], upper[needs.cell] = needs.lower, needs.upper
    lower, upper = lower[hidden.ravel()], upper[hidden.ravel()]
    value = table.measure.sum[hidden]
    assert (low <= value - lower)[narrower].all() and (high >= value + upper)[narrower].all()
    assert (high - low >= 2 * (lower + upper))[narrower].all()


def test_without_the_check_of_width_intervals_point_at_the_value(monkeypatch):
    """Sabotage: what equations leave of two draws is then often two wide, with the value amid."""
    monkeypatch.setattr(
        safe_intervals, "_pointing", lambda value, *_: np.zeros(len(value), dtype=bool)
    )
    result = dk.suppress(register(None), dk.rules.MinimumFrequency(4), attacker=dk.Attacker())
    own = dk.attack.examine(result.published)
    [proven] = with_intervals([result], KEYS)
    hidden = proven.published.suppressed
    low, high = proven.published.lower[hidden], proven.published.upper[hidden]
    narrower = (low > own.lower) | (high < own.upper)
    assert (high - low)[narrower].min() < 4
