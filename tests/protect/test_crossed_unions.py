"""Unions of areas of two geographies: what is hidden leaves nobody alone, and is the least."""

from importlib import import_module
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from geographies_oracle import Case, many, tells
from profiles import scaled

import diskret as dk
from diskret.errors import ProofError, ProtectionError
from diskret.protect.crossed_unions import crossed_unions

LEAST = 3
RULE = dk.rules.MinimumFrequency(LEAST)


def hidden_in(result):
    """The areas that a result of one variable hides."""
    return {row[result.name] for row in result.public.to_pylist() if row["status"] == "suppressed"}


def merged(case, results):
    """The case as the public sees it: what is hidden is one area, told by the total if that is."""
    for result in results:
        at, out = case.by.index(result.name), hidden_in(result)
        rest = None if "Total" in out else ""
        case.codes[at] = [rest if code in out else code for code in case.codes[at]]
    texts = np.array(case.codes, object).T.astype(str)
    case.piece = np.unique(texts, axis=0, return_inverse=True)[1].reshape(-1)
    return case


def protected(case, rule, **options):
    asked = {"value": "value", "unit": "unit", "largest": 3, "contributions": True}
    asked = asked if options.pop("sums", False) else {}
    tables = [dk.tabulate(case.frame, by={name: None}, **asked) for name in case.by]
    tables = [table["value"] for table in tables] if asked else tables
    return dk.suppress(tables, rule, name=case.by, **options)


def alone(case):
    """Sums of too few records, by trying everything."""
    return [t for t in case.sums() if t.min() >= 0 and 0 < t.sum() < LEAST]


def firms(seed, geographies=2):
    """A case of more firms, the largest of which are not all there is."""
    case, draw = Case(seed, geographies), np.random.default_rng(seed)
    at = np.repeat(np.arange(len(case.unit)), draw.integers(1, 6, len(case.unit)))
    case.codes = [[column[i] for i in at.tolist()] for column in case.codes]
    case.value = np.floor(draw.pareto(1.1, len(at)) * 9 + 1).clip(max=10**6).astype(int)
    case.unit = draw.integers(0, len(at), len(at)) if seed % 3 else np.arange(len(at))
    columns = dict(zip(case.by, case.codes, strict=True))
    case.frame = pa.table({**columns, "value": case.value, "unit": case.unit})
    return case


@pytest.mark.parametrize("seed", range(scaled(40)))
def test_nobody_is_alone_in_any_union(seed):
    case = many(seed)
    try:
        results = protected(case, RULE)
    except (ProtectionError, ProofError):
        return
    assert not alone(merged(case, results))


def check_three(seed):
    """Whether three tables that were protected together leave nobody alone, from the records."""
    case = many(seed, 3)
    try:
        results = protected(case, RULE)
    except (ProtectionError, ProofError):
        return True
    return not alone(merged(case, results))


@pytest.mark.parametrize("seed", range(scaled(60)))
def test_nobody_is_alone_in_what_three_tables_tell(seed):
    assert check_three(seed)


@pytest.mark.slow
def test_nobody_is_alone_in_what_three_tables_tell_of_many_maps():
    for seed in range(500):
        assert check_three(seed)


@pytest.mark.parametrize("seed", [7, 39])
def test_what_only_three_tables_tell_is_missed_by_pairs(seed, monkeypatch):
    assert check_three(seed)
    monkeypatch.setattr(
        import_module("diskret.protect.crossed"), "_triples", lambda tables: iter(())
    )
    assert not check_three(seed)


@pytest.mark.parametrize("geographies", [2, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("seed", range(scaled(30)))
def test_no_union_tells_too_much_of_a_firm(seed, geographies):
    case = firms(seed, geographies)
    rule = [dk.rules.PPercent(10), dk.rules.Dominance(2, 80, quiet=True)][seed % 2]
    try:
        results = protected(case, rule, sums=True, attacker=dk.Attacker())
    except (ProtectionError, ProofError):
        return
    case = merged(case, results)
    for times in case.sums():
        amounts = case.amounts(times != 0)
        largest = max(amounts.values(), default=0)
        assert not any(
            tells(unit, amounts, rule) for unit, own in amounts.items() if own == largest > 0
        )


#: Areas 1 and 2 together hold cells x and y, none of which lies in one of them or holds one; one
#: person of z is left.
UNION = (
    [("1", "x")] * 50 + [("2", "x")] * 60 + [("1", "y")] * 30 + [("2", "y")] * 20
    + [("1", "z")] + [("3", "z")] * 70 + [("4", "z")] * 20
    + [("3", "w")] * 40 + [("4", "w")] * 30
)  # fmt: skip


def test_a_union_that_single_areas_do_not_tell_is_hidden_and_missed_without(monkeypatch):
    area, cell = zip(*UNION, strict=True)
    frame = pa.table({"area": area, "cell": cell})

    def left(results):
        out = {result.name: hidden_in(result) for result in results}
        return dk.spatial.differences(frame, ["area", "cell"], RULE, hidden=out)

    def protect():
        tables = [dk.tabulate(frame, by={name: None}) for name in ("area", "cell")]
        return dk.suppress(tables, RULE, name=["area", "cell"])

    results = protect()
    assert sum(len(hidden_in(result)) for result in results) == 2
    assert not len(left(results))

    def nothing(publication, own, rules):
        found, complete = crossed_unions(publication, own, rules)
        return found.only(np.zeros(len(found), bool)), complete

    monkeypatch.setattr(import_module("diskret.protect.crossed_unions"), "crossed_unions", nothing)
    assert len(left(protect()))


def fewest(case, new):
    """The fewest areas of a geography that have to be hidden; None: no number is enough."""
    shown = list(case.codes[new])
    for number in range(len(set(shown)) + 1):
        for out in combinations(sorted(set(shown)), number):
            case.codes[new] = ["" if code in out else code for code in shown]
            if not alone(case):
                case.codes[new] = shown
                return number
    case.codes[new] = shown
    return None


def check_fewest(seed):
    case = many(seed)
    old = pa.table({"g0": ["Total", *sorted(set(case.codes[0]))]})
    least = fewest(case, 1)
    try:
        results = protected(case, RULE, frozen=[old, None], cost="cells", method="optimal")
    except (ProtectionError, ProofError):
        assert least is None
        return
    assert [len(hidden_in(result)) for result in results] == [0, least]
    assert not alone(merged(case, results))


@pytest.mark.parametrize("seed", range(scaled(40)))
def test_beside_published_areas_the_fewest_cells_are_hidden(seed):
    check_fewest(seed)


@pytest.mark.slow
def test_five_thousand_repairs_are_the_smallest():
    for seed in range(5_000):
        check_fewest(seed)


def test_in_each_category_of_a_common_variable_nobody_is_alone():
    area, cell = zip(*UNION, strict=True)
    sex = ["f" if at % 2 else "m" for at in range(len(UNION))]
    frame = pa.table({"area": area, "cell": cell, "sex": sex})
    tables = [dk.tabulate(frame, by={name: None, "sex": None}) for name in ("area", "cell")]
    results = dk.suppress(tables, RULE, name=["area", "cell"])
    for which in ("f", "m"):
        own = frame.filter(pa.compute.equal(frame["sex"], which))
        out = {
            result.name: {
                row[result.name]
                for row in result.public.to_pylist()
                if row["sex"] == which and row["status"] == "suppressed"
            }
            & set(own[result.name].to_pylist())
            for result in results
        }
        assert not len(dk.spatial.differences(own, ["area", "cell"], RULE, hidden=out))
