"""Parts that subtraction reveals, against sets of kinds of records."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from kinds_of_records import CODES, DEEP, GROUPED, KINDS, NAMES, Shown, publication
from profiles import scaled

import diskret as dk
from diskret.attack import examine, revealed_parts
from diskret.attack.parts import overlapping
from diskret.protect.plan import publish
from diskret.tables import Publication
from diskret.tables.published import Changed


def grouped_tables(draw, number):
    """Tables with groupings of ages, or filters of them, that cut through each other."""
    counts = draw.integers(0, 4, len(KINDS)) * (draw.random() < 0.9)
    shown = []
    for _ in range(number):
        by = [name for name in ("region", "sex") if draw.random() < 0.4]
        some = {"region": ["N"], "sex": ["f"]}
        where = {n: some[n] for n in some if n not in by and draw.random() < 0.3}
        if not by or draw.random() < 0.7:
            by.insert(int(draw.integers(len(by) + 1)), "age")
        elif draw.random() < 0.8:
            where["age"] = [["o"], ["x", "y"], ["o", "x"]][int(draw.integers(3))]
        shown.append(Shown(by, where, counts, [DEEP, *GROUPED][int(draw.integers(3))]))
        shown[-1].hidden = draw.random(len(shown[-1].members)) < 0.2
    return counts, shown


def members(inside):
    """The kinds of records with these codes."""
    return frozenset(
        k for k, kind in enumerate(KINDS) if all(kind[n] in codes for n, codes in inside.items())
    )


def restricted(table, at):
    """What a cell is restricted to in each variable, as a set of codes."""
    one = dict(table.where)
    for name, tree, code in zip(
        table.by, table.trees, np.unravel_index(at, table.shape), strict=True
    ):
        below = set(tree.leaves_below(int(code)))
        one[name] = below & set(one.get(name, below))
    return {name: frozenset(one.get(name, CODES[name])) for name in NAMES}


def categories(table, name):
    """The codes that a table puts together, of one variable."""
    if name not in table.by:
        return [frozenset(table.where.get(name, CODES[name]))]
    tree = table.trees[table.by.index(name)]
    return [frozenset(tree.leaves_below(i)) for i in range(len(tree))]


def is_union(codes, of):
    return codes == frozenset().union(*(one for one in of if one <= codes))


def differences(shown):
    """Sets of kinds that one published cell has beyond another one, of all pairs of tables.

    With each, whether nobody is in the cell.
    """
    for one in shown:
        for other in shown:
            for i in np.flatnonzero(~one.hidden).tolist():
                whole = restricted(one, i)
                for j in np.flatnonzero(~other.hidden).tolist():
                    part = restricted(other, j)
                    apart = [name for name in NAMES if whole[name] != part[name]]
                    if len(apart) != 1 or not part[apart[0]] < whole[apart[0]]:
                        continue
                    (name,) = apart
                    rest = whole[name] - part[name]
                    if any(is_union(rest, categories(table, name)) for table in (one, other)):
                        continue
                    if name not in one.by and name not in other.by:
                        continue  # beside a filter
                    yield members({**whole, name: rest}), bool(one.empty[i])


@pytest.mark.parametrize("frequency", [True, False])
def test_parts_are_what_cells_have_beyond_others(frequency):
    found_any = more = 0
    for seed in range(scaled(150)):
        counts, shown = grouped_tables(np.random.default_rng(seed), 2 + seed % 2)
        public = publication(shown, frequency=frequency)
        parts = revealed_parts(public)
        every = [one for table in shown for one in table.members]
        sets = [members(parts.inside(i)) for i in range(len(parts))]
        assert len({*sets}) == len(sets) and not {*sets} & {*every}
        beside = [*differences(shown)]
        somebody = {one for one, empty in beside if not empty}
        for i, own in enumerate(sets):
            assert parts.value[i] == sum(counts[k] for k in own)
            assert parts.value[i] or not frequency  # nobody is no part, who has nothing is one
            table = shown[int(parts.table[i])]
            beyond = {n: w for n, w in table.where.items() if n not in table.by}
            inside = parts.inside(i)
            assert parts.cuts_filter(i) == any(inside.get(n) != {*w} for n, w in beyond.items())
            if parts.cells[i, 0] >= 0:
                whole, part = (every[cell] for cell in parts.cells[i].tolist())
                assert part < whole and whole - part == own and own in somebody
        expected = somebody - {one for one, empty in beside if empty}
        if frequency:
            expected = {one for one in expected if sum(counts[k] for k in one)}
        named = {own for own, cell in zip(sets, parts.cells[:, 0], strict=True) if cell >= 0}
        assert expected - {*every} <= named, seed
        found_any += len(expected)
        more += len({*sets} - expected)  # all equations tell more than differences
        assert overlapping(public) or not beside
    assert found_any and more


def unhidden(table, name):
    return publish(table, np.zeros(table.shape, dtype=bool), name)


def test_sums_of_published_cells_are_no_parts():
    """abc without a is b and c, which another table shows; abc without ab is c."""
    fine = dk.tabulate(pa.table({"age": list("aabbbcccddddd")}), by={"age": None})
    groups = [{"abc": list("abc")}, {"ab": list("ab"), "cd": list("cd")}, {}]
    tables = [
        unhidden(fine.recode("age", one) if one else fine, f"t{i}") for i, one in enumerate(groups)
    ]
    assert overlapping(Publication(tuple(tables)))
    assert not len(revealed_parts(Publication(tuple(tables))))
    two = revealed_parts(Publication(tuple(tables[:2])))
    assert [two.inside(i) for i in range(len(two))] == [{"age": frozenset("c")}]


def test_a_part_of_an_empty_table_is_nobody():
    nobody = np.zeros(len(KINDS), dtype=np.int64)
    shown = [Shown(["age"], {}, nobody, tree) for tree in GROUPED]
    shown.append(Shown(["region"], {"age": ["x"]}, nobody))
    assert {members({"age": {"o", "y"}})} == {one for one, _ in differences(shown)} - {
        members({"age": {age}}) for age in "oxy"
    }
    assert not len(revealed_parts(publication(shown, frequency=False)))


def cut(shown):
    """Whether a category of one table has a part of another's, and more than that or less."""
    for name in NAMES:
        leaves = [
            [one for one in categories(table, name) if is_leaf(one, categories(table, name))]
            for table in shown
            if name in table.by or name in table.where
        ]
        for own in leaves:
            for others in leaves:
                for one in own:
                    hit = [other for other in others if other & one]
                    beyond = bool(one - frozenset().union(*others))
                    if len(hit) + beyond > 1 and (beyond or any(other - one for other in hit)):
                        return True
    return False


def is_leaf(one, of):
    return not any(other < one for other in of)


def test_groupings_overlap_if_a_category_is_cut():
    answers = []
    for seed in range(scaled(100)):
        _, shown = grouped_tables(np.random.default_rng(seed), 2 + seed % 2)
        answers.append(overlapping(publication(shown)))
        assert answers[-1] == cut(shown), seed
    assert {*answers} == {True, False}
    # a total of categories is cut, but none of them; and not everybody is in the filter
    nobody = np.zeros(len(KINDS), dtype=np.int64)
    shown = [Shown(["age"], {}, nobody, tree) for tree in (DEEP, GROUPED[1])]
    shown.append(Shown(["region"], {"age": ["o"]}, nobody))
    assert not overlapping(publication(shown)) and not cut(shown)


def test_cells_of_which_intervals_were_published_are_no_judged_ones():
    """What new tables tell of them exactly is a part, as if nobody had published it."""
    told = 0
    for seed in range(scaled(60)):
        draw = np.random.default_rng(seed)
        counts = draw.integers(0, 4, len(KINDS))
        by, where = (["age"], {"sex": ["f"]}) if seed % 2 else (["region", "age"], {})
        trees = draw.permutation(np.array([DEEP, *GROUPED], dtype=object)).tolist()
        shown = [Shown(by, where, counts, tree) for tree in trees]
        for table in shown:
            table.hidden = draw.random(len(table.members)) < 0.1
        public = publication(shown)
        *own, before = public.tables
        value = shown[2].value.reshape(before.shape)
        bounded = replace(
            before.all_hidden(),
            lower=np.maximum(value - 1, 0),
            upper=value + 1,
            of_changed=Changed(before, told=True),
        )
        both = Publication((*own, bounded), (), (("r", before.name),))
        parts = revealed_parts(both)
        every = [one for table in shown for one in table.members]
        judged, first = {*shown[0].members, *shown[1].members}, int(both.starts[2])
        sets = [members(parts.inside(i)) for i in range(len(parts))]
        for i, one in enumerate(sets):
            assert parts.value[i] == sum(counts[k] for k in one) and one not in judged
        found = examine(both)
        for i, cell in enumerate(found.cell.tolist()):
            one = every[cell]
            exact = found.lower[i] == found.upper[i] > 0
            if exact and cell >= first and one not in judged:
                told += 1
                assert one in sets
    assert told
