"""Units that are gone through one by one by compiled loops have what pandas' grouping finds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret.outputs.cells as cells
import diskret.outputs.units as spelled
from diskret.io.names import alike
from diskret.outputs import Profile, crosstab
from diskret.outputs.groups import Axis, Groups
from diskret.outputs.units import units_of


def grouped(seed, counting):
    """Cells of two axes and their totals; some records lie in none, some have no value."""
    draw = np.random.default_rng(seed)
    number, shape = int(draw.integers(1, 200)), draw.integers(1, 5, 2)
    axes = tuple(
        Axis(draw.integers(-1 if seed % 2 else 0, size, number), [(str(at),) for at in range(size)])
        for size in shape
    )
    groups = Groups(axes, number)
    values = None
    if not counting:
        values = draw.choice([-2.0, 0.0, 0.5, 1.0, 7.0, 1e6], number)
        values[draw.random(number) < draw.choice([0, 0.2])] = np.nan
    unit = draw.integers(0, max(number // int(draw.integers(1, 5)), 1), number)
    unit = pd.factorize(unit)[0].astype(np.int32)
    inner = groups.cells(values, unit)
    return [inner, *(inner.together(one.names, one.into) for one in groups.totals)]


@pytest.mark.long
@given(st.integers(0, 10**6), st.booleans())
@examples(60)
def test_is_what_pandas_finds(seed, counting):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_COMPILED", 10**9)
        plain = [facts(one, counting) for one in grouped(seed, counting)]
        patch.setattr(cells, "_COMPILED", 0)
        compiled = [facts(one, counting) for one in grouped(seed, counting)]
    for one, other in zip(plain, compiled, strict=True):
        for own, found in zip(one, other, strict=True):
            np.testing.assert_allclose(found, own, rtol=1e-12, atol=1e-9)


def facts(one, counting):
    condition = np.arange(len(one.records[0])) % 3 == 0
    found = [one.units, one.units_where(condition), one.lost]
    if not counting:
        found += [one.negative, one.sizes, one.largest(1), one.largest(4), one.largest(2)]
        at = np.where(np.isfinite(one.bounds[0]), one.bounds[0], 0.0) + 0.5
        found += [*one.around(at), one.sharing(at), *one.around(one.medians)]
    return found


def test_units_are_numbered_from_0_on_and_left_out_where_each_has_one_record():
    rows = pd.RangeIndex(6)
    for values in (
        [7, 9, 7, 8, 9, 9],
        [10**12, 1, 10**12, 5, 1, 1],
        list("abacbb"),
        [1.5, 2, 1.5, np.nan, 2, 2],
    ):
        found = units_of(pd.Series(values), rows, 6)
        assert found.dtype == np.int32 and {*found} == {0, 1, 2}
        assert found[0] == found[2] and found[1] == found[4] == found[5]
    assert units_of(pd.Series([3, 1, 2, 9, 8, 7]), rows, 6) is None
    for kind in ("int8", "uint8", "int64", "uint64"):
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        ends = np.array([least, most] * 200, kind)
        assert units_of(pd.Series(ends), pd.RangeIndex(400), 400).tolist() == [0, 1] * 200
        high = np.array([most, most - 1, most], kind)
        assert units_of(pd.Series(high), pd.RangeIndex(3), 3).tolist() in ([1, 0, 1], [0, 1, 0])


@pytest.mark.parametrize("aggfunc", [None, "sum", "mean", "median", "max", "std"])
def test_verdicts_are_the_same_either_way(aggfunc, monkeypatch):
    draw = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "region": draw.choice(list("NSW"), 500, p=[0.7, 0.27, 0.03]),
            "job": np.array(["a", "b", None])[draw.integers(0, 3, 500)],
            "turnover": draw.lognormal(3, 2, 500),
            "firm": draw.integers(0, 200, 500),
        }
    )
    values = {} if aggfunc is None else {"values": frame.turnover, "aggfunc": aggfunc}
    found = []
    for limit in (0, 10**9):
        monkeypatch.setattr(cells, "_COMPILED", limit)
        checked = crosstab(frame.region, frame.job, margins=True, unit=frame.firm, **values)
        found.append([(one.check, one.places) for one in checked.findings])
    assert found[0] == found[1] != []


# ── spellings ───────────────────────────────────────────────────────────────────────


def firms(*spellings):
    """Ten records of one firm in A, of ten firms in B."""
    one = [spellings[at % len(spellings)] for at in range(10)]
    frame = pd.DataFrame({"town": ["A"] * 10 + ["B"] * 10, "all": "x"})
    return frame, pd.Series(one + [f"other {at}" for at in range(10)], dtype=object)


@pytest.mark.parametrize(
    "spellings",
    [
        (" Firm A", "firm a"),
        (7, "007"),
        ("7", "007", "7.0"),
        (7, 7.0, "7"),
        ("Ärzte", "a\u0308rzte"),
        ("ﬁrm", "Fi\u00adrm"),
        (None, np.nan),
    ],
)
def test_a_firm_in_several_spellings_is_one(spellings, monkeypatch):
    frame, unit = firms(*spellings)
    profile = Profile(threshold=2, group_percent=None)
    checked = crosstab(frame.town, frame["all"], unit=unit, profile=profile)
    assert {one.check: one.places for one in checked.findings} == {"threshold": (("A", "x"),)}
    monkeypatch.setattr(spelled, "_readings", lambda kinds: None)  # each spelling a unit
    if len({*map(str, spellings)}) > 1 and spellings[0] is not None:
        assert crosstab(frame.town, frame["all"], unit=unit, profile=profile).verdict == "pass"


@given(st.lists(st.text("aA ß0071.\n\x1c\xad-", max_size=6) | st.none(), min_size=1, max_size=12))
@examples(100)
@pytest.mark.parametrize("kind", [object, "str", "category"])
def test_units_are_those_of_what_each_name_says(kind, names):
    found = units_of(pd.Series(names, dtype=kind), None, len(names))
    found = range(len(names)) if found is None else found
    said = ["none" if name is None else alike(name) for name in names]
    pairs = {(int(one), name) for one, name in zip(found, said, strict=True)}
    assert len(pairs) == len({one for one, _ in pairs}) == len({*said})
