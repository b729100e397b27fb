"""What is left beside filters, by an oracle that knows the records and published cells alone."""

from importlib import import_module
from itertools import chain, combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from profiles import examples
from scipy.optimize import linprog

import diskret as dk
from diskret.errors import InputError, ProofError, ProtectionError

REGIONS, SEXES, STAFF = "NS", "fmd", (5, 10, 50)
GROUPS = [(r, s, n) for r in REGIONS for s in SEXES for n in STAFF]
FILTERS = [
    {},
    {"sex": "f"},
    {"sex": "m"},
    {"sex": ["m", "d"]},
    {"staff": {"min": 10}},
    {"staff": {"min": 50}},
    {"staff": {"max": 9}},
    {"staff": {"min": 1, "max": 10}},
    {"sex": "f", "staff": {"min": 10}},
    {"sex": "f", "staff": {"min": 50}},
]
LEAST = 3


def lets_through(where, group):
    _, sex, staff = group
    asked = where.get("staff", {})
    return sex in where.get("sex", SEXES) and asked.get("min", 0) <= staff <= asked.get("max", 99)


def inside(where, other):
    """Whether a filter lets through only what another one does; by brute force."""
    mine, its = ([lets_through(w, g) for g in GROUPS] for w in (where, other))
    return mine != its and all(b or not a for a, b in zip(mine, its, strict=True))


def disjoint(*filters):
    return all(sum(lets_through(w, g) for w in filters) <= 1 for g in GROUPS)


def row(where, region):
    return np.array([float(lets_through(where, g) and region in ("Total", g[0])) for g in GROUPS])


def claimed(filters):
    """Whole tables with the filtered ones that are taken away: one, two, or as many as fit."""
    for whole in filters:
        parts = [f for f in filters if inside(f, whole)]
        every = chain.from_iterable(combinations(parts, n) for n in range(1, len(parts) + 1))
        apart = [chosen for chosen in every if disjoint(*chosen)]
        for chosen in apart:
            larger = any(set(map(str, chosen)) < set(map(str, other)) for other in apart)
            if len(chosen) < 3 or not larger:
                yield whole, chosen


def shown(results, of):
    """The published cells by (number of the table, region)."""
    return {
        (i, region): value
        for i, result in enumerate(results)
        for region, value in zip(*map(result.public.to_pydict().get, ("region", of)), strict=True)
        if value is not None
    }


def told(rows, values, rest):
    """Whether records of at least nobody leave a sum of groups a single value."""
    ends = [
        linprog(sign * rest, A_eq=rows, b_eq=values, bounds=(0, None), method="highs")
        for sign in (1, -1)
    ]
    if not all(end.status == 0 for end in ends):
        return False
    low, high = (sign * end.fun for sign, end in zip((1, -1), ends, strict=True))
    return high - low < 1e-6


def leaks(filters, results, held, unsafe, of="count"):
    """Claimed rests that are unsafe, and that published cells leave a single value."""
    known = shown(results, of)
    if not known:
        return []
    rows = np.array([row(filters[i], region) for i, region in known])
    values = np.array([float(v) for v in known.values()])
    found = []
    for whole, parts in claimed(filters):
        for region in ("Total", *REGIONS):
            rest = row(whole, region) - sum(row(part, region) for part in parts)
            if unsafe(rest) and told(rows, values, rest):
                found.append((whole, parts, region, rest @ held))
    return found


persons = st.lists(
    st.sampled_from([0, 0, 1, 1, 2, 5, 9]), min_size=len(GROUPS), max_size=len(GROUPS)
).map(np.array)
some_filters = st.lists(
    st.sampled_from(FILTERS), min_size=2, max_size=4, unique_by=lambda where: str(where)
)
each_is_slow = {
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": [HealthCheck.too_slow],
}


def tables_of(frame, filters, **options):
    try:
        return [
            dk.tabulate(
                frame, by={"region": dk.Hierarchy.flat(REGIONS[i] for i in (0, 1))},
                where=where, **options,
            )
            for where in filters
        ]  # fmt: skip
    except InputError as error:
        assert "no record" in str(error)
        return None


def protected(tables, rule):
    try:
        return dk.suppress(tables, rule, name=[f"t{i}" for i in range(len(tables))])
    except (ProtectionError, ProofError):
        return None


def people(count):
    groups = [g for g, n in zip(GROUPS, count.tolist(), strict=True) for _ in range(n)]
    region, sex, staff = zip(*groups, strict=True) if groups else ((), (), ())
    return pa.table({"region": region, "sex": sex, "staff": staff})


def few(count):
    return lambda rest: 0 < rest @ count < LEAST


@examples(12, **each_is_slow)
@given(persons, some_filters)
def test_nobody_is_alone_beside_a_filter(count, filters):
    no_rest_is_small(count, filters)


@pytest.mark.slow
@examples(15, **each_is_slow)
@given(persons, some_filters)
def test_nobody_is_alone_beside_a_filter_in_many_cases(count, filters):
    no_rest_is_small(count, filters)


def no_rest_is_small(count, filters):
    tables = tables_of(people(count), filters) if count.sum() else None
    results = tables and protected(tables, dk.rules.MinimumFrequency(LEAST))
    assert not results or not leaks(filters, results, count, few(count))


CROWD = np.full(len(GROUPS), 9)


@pytest.mark.parametrize(
    ("filters", "empty"),
    [
        ([{}, {"sex": "f"}], lambda g: g[1] != "f"),
        ([{}, {"sex": "f"}, {"sex": "m"}], lambda g: g[1] == "d"),
        ([{"staff": {"min": 10}}, {"staff": {"min": 50}}], lambda g: g[2] == 10),
        ([{}, {"staff": {"min": 10}}], lambda g: g[2] == 5),
        ([{"staff": {"min": 1, "max": 10}}, {"staff": {"max": 9}}], lambda g: g[2] == 10),
        ([{"staff": {"min": 10}}, {"staff": {"min": 50}, "sex": "f"}],
         lambda g: g[2] >= 10 and (g[2], g[1]) != (50, "f")),
    ],
)  # fmt: skip
def test_one_person_beside_a_filter_is_protected_and_without_it_leaks(filters, empty, monkeypatch):
    rest = [i for i, g in enumerate(GROUPS) if empty(g)]
    count = CROWD.copy()
    count[[i for i in rest if GROUPS[i][0] == "N"]] = 0
    count[rest[0]] = 1
    tables = tables_of(people(count), filters)
    results = protected(tables, dk.rules.MinimumFrequency(LEAST))
    assert results is not None
    assert not leaks(filters, results, count, few(count))
    said = results[0].certificate.public()
    assert any("without the same cell of a filter" in line for line in said["claimed"]["en"])
    assert "rests_judged" in results[0].certificate.internal()

    monkeypatch.setattr(import_module("diskret.protect.parts"), "rests_judge", lambda *_: None)
    results = protected(tables, dk.rules.MinimumFrequency(LEAST))
    if {} in filters or len(filters[1]) > 1:  # what lies between bounds is a part of a category
        assert leaks(filters, results, count, few(count))
    claims = results[0].certificate.public()
    assert not any("the same cell of a filter" in line for line in claims["claimed"]["en"])
    assert any("the same cell of a filter" in line for line in claims["not_claimed"]["en"])


# ── sums: who really contributes ────────────────────────────────────────────────────

SALES = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(GROUPS), st.sampled_from([0, 1, 5, 20, 100, 400])),
    min_size=8,
    max_size=40,
)


@examples(12, **each_is_slow)
@given(SALES, some_filters)
def test_no_firm_can_be_told_beside_a_filter(records, filters):
    """A firm in the whole table and in the filter is in the rest with what is left of it."""
    no_rest_tells_a_firm(records, filters)


@pytest.mark.slow
@examples(15, **each_is_slow)
@given(SALES, some_filters)
def test_no_firm_can_be_told_beside_a_filter_in_many_cases(records, filters):
    no_rest_tells_a_firm(records, filters)


def no_rest_tells_a_firm(records, filters):
    firm, groups, sales = zip(*records, strict=True)
    region, sex, staff = zip(*groups, strict=True)
    frame = {"firm": firm, "region": region, "sex": sex, "staff": staff, "sales": sales}
    options = {"value": "sales", "unit": "firm", "contributions": True, "largest": 2}
    tables = tables_of(pa.table(frame), filters, **options)
    rule = dk.rules.PPercent(20) | dk.rules.MinimumFrequency(3)
    results = tables and protected(tables, rule)

    def unsafe(rest):
        of = {}
        for who, group, value in records:
            if rest[GROUPS.index(group)]:
                of[who] = of.get(who, 0) + value
        sizes = sorted(of.values(), reverse=True)
        return 0 < len(sizes) < 3 or bool(sizes) and 5 * sum(sizes[2:]) < sizes[0]

    held = np.array([sum(v for _, g, v in records if g == group) for group in GROUPS])
    assert not results or not leaks(filters, results, held, unsafe, of="sales")
