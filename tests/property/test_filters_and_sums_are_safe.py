"""More than two tables: filters without common records, and sums not tabulated everywhere.

The attacker below knows nothing of the package's equations: its unknowns are the finest
contributions, and every published cell is a sum of them.
"""

from itertools import product

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from diskret.errors import ProofError, ProtectionError

REGION, SIZE, SEX = "abc", "pq", "fmd"
PLACES = list(product(REGION, SIZE))
PARTS = ("domestic", "export")
FAR = 10_000


def ends(rows, value, hidden, cell, whole):
    """The smallest and largest value of a cell that contributions ≥ 0 allow."""
    shown = LinearConstraint(rows[~hidden], value[~hidden], value[~hidden])
    found = []
    for sign in (1, -1):
        answer = milp(
            sign * rows[cell],
            constraints=[shown],
            bounds=Bounds(0, FAR),
            integrality=np.full(rows.shape[1], int(whole)),
        )
        assert answer.success
        found.append(sign * answer.fun)
    return found


def check(results, rows, whole):
    """Every claim about the tables holds against the attacker."""
    value = np.concatenate([r.table.measure.sum.ravel() for r in results])
    hidden = np.concatenate([r.published.suppressed.ravel() for r in results])
    unsafe, lower, upper = (
        np.concatenate([getattr(r.sensitivity, name).ravel() for r in results])
        for name in ("unsafe", "lower", "upper")
    )
    for cell in np.flatnonzero(hidden):
        low, high = ends(rows, value, hidden, cell, whole)
        assert high - low > 0.999
        if unsafe[cell]:
            assert low <= max(value[cell] - lower[cell], 0) + 1e-4
            assert high >= value[cell] + upper[cell] - 1e-4


def selects(code, own):
    return code in ("Total", own)


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 5, 9]), min_size=18, max_size=18),
    st.lists(st.sampled_from([("region",), ("region", "size"), ("size",)]), min_size=3, max_size=3),
    st.sampled_from([("f", "m"), ("f", "d")]),
)
def test_filters_without_common_records_are_protected_together(count, variables, sexes):
    people = list(product(PLACES, SEX))
    codes = {"region": REGION, "size": SIZE}
    tables, rows = [], []
    for names, sex in zip(variables, (None, *sexes), strict=True):
        inside = [(p, s, n) for (p, s), n in zip(people, count, strict=True) if sex in (None, s)]
        columns = {"region": [p[0] for p, _, n in inside for _ in range(n)]}
        columns["size"] = [p[1] for p, _, n in inside for _ in range(n)]
        columns["sex"] = [s for _, s, n in inside for _ in range(n)]
        if not columns["sex"]:
            return
        table = dk.tabulate(
            pa.table(columns),
            by={name: dk.Hierarchy.flat(list(codes[name])) for name in names},
            where=None if sex is None else {"sex": sex},
        )
        tables.append(table)
        for cell in product(*(d.hierarchy.codes for d in table.dimensions)):
            chosen = dict(zip(names, cell, strict=True))
            rows.append(
                [
                    sex in (None, own)
                    and selects(chosen.get("region", "Total"), place[0])
                    and selects(chosen.get("size", "Total"), place[1])
                    for place, own in people
                ]
            )
    try:
        results = dk.suppress(tables, dk.rules.MinimumFrequency(3), name=["all", "one", "two"])
    except (ProtectionError, ProofError):
        return
    check(results, np.array(rows, dtype=float), whole=True)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(PLACES), st.sampled_from([0, 1, 5, 40]), st.sampled_from([0, 2, 10, 90])
        ),
        min_size=1,
        max_size=14,
    ),
    st.lists(
        st.sampled_from([("region",), ("size",), ("region", "size"), ("size", "region")]),
        min_size=3,
        max_size=3,
    ),
)
def test_sums_are_protected_where_not_every_part_is_tabulated(firms, variables):
    codes = {"region": REGION, "size": SIZE}
    frame = pa.table(
        {
            "region": [place[0] for place, _, _ in firms],
            "size": [place[1] for place, _, _ in firms],
            "revenue": [domestic + export for _, domestic, export in firms],
            "domestic": [domestic for _, domestic, _ in firms],
            "export": [export for _, _, export in firms],
        }
    )
    tables, rows = [], []
    for names, measure in zip(variables, ("revenue", *PARTS), strict=True):
        by = {name: dk.Hierarchy.flat(list(codes[name])) for name in names}
        table = dk.tabulate(frame, by=by, value=measure, largest=2)
        tables.append(table)
        for cell in product(*(d.hierarchy.codes for d in table.dimensions)):
            chosen = dict(zip(names, cell, strict=True))
            rows.append(
                [
                    measure in ("revenue", part)
                    and selects(chosen.get("region", "Total"), place[0])
                    and selects(chosen.get("size", "Total"), place[1])
                    for place, part in product(PLACES, PARTS)
                ]
            )
    try:
        results = dk.suppress(tables, dk.rules.PPercent(10), sums=["revenue = domestic + export"])
    except (ProtectionError, ProofError):
        return
    check(results, np.array(rows, dtype=float), whole=False)
