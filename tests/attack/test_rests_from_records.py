"""What cells leave beside filters, told from the records: whoever is in a cell and in no filter."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from kinds_of_records import (
    CODES,
    DEEP,
    FLAT,
    GROUPED,
    KINDS,
    Shown,
    ends,
    hide,
    publication,
    random_tables,
)  # fmt: skip
from profiles import scaled

from diskret.attack.rests import beside_filters, rests_beside, revealed_rests
from diskret.tables import Publication


def let_through(whole, cell, part):
    """Who of a cell is let through, where a table has this as a cell that is not all of it.

    Variables that the whole table shows are compared code by code: nothing is taken away by them.
    Categories of filters that overlap are parts of each other, which are judged as such.
    """
    left = cell & part.inside
    for name, asked in part.where.items():
        values = {KINDS[k][name] for k in cell}
        if name in whole.by and not values <= {*asked}:
            return None
        wide = {*whole.where.get(name, CODES[name])}
        if name not in whole.by and not {*asked} <= wide:
            if {KINDS[k][name] for k in left} != wide:
                return None
    return left if left != cell and left in part.members else None


def expected(shown):
    """Cells and what filters let through of them, as kinds of records: who is left then."""
    found = {}
    for whole in shown:
        others = [part for part in shown if part is not whole]
        for cell in filter(None, whole.members):
            through = [(part, let_through(whole, cell, part)) for part in others]
            through = [(part.inside, left) for part, left in through if left is not None]
            pairs = combinations(through, 2)
            chosen = [(one,) for one in through]
            chosen += [(one, two) for one, two in pairs if not one[0] & two[0]]
            for some in chosen:
                parts = frozenset(left for _, left in some if left)
                if parts:
                    found[cell, parts] = cell.difference(*parts)
    return found


def told(shown, rests):
    """The same of what the attack found."""
    every = [member for table in shown for member in table.members]
    found = {}
    for own in rests:
        assert len(own) == len(own.value)
        for cells, value in zip(own.cells.tolist(), own.value.tolist(), strict=True):
            whole, *parts = (every[cell] for cell in cells)
            assert all(part <= whole for part in parts)
            assert sum(map(len, parts)) == len(frozenset().union(*parts))  # nobody twice
            found[whole, frozenset(part for part in parts if part)] = value
    return found


def of_records(shown, counts):
    """How many records are left, where any are."""
    left = {key: int(sum(counts[k] for k in kinds)) for key, kinds in expected(shown).items()}
    return {key: number for key, number in left.items() if number}


def test_all_that_filters_leave_of_published_cells_is_found():
    several = 0
    for seed in (*range(scaled(400)), 29, 159):  # two filters apart
        counts, shown = random_tables(np.random.default_rng(seed), 2 + seed % 2)
        public = publication(shown)
        found, wanted = told(shown, revealed_rests(public)), of_records(shown, counts)
        for (whole, parts), value in found.items():
            assert value == sum(counts[k] for k in whole.difference(*parts)) > 0
        assert found == wanted, seed
        values = np.concatenate([table.value for table in shown])
        assert told(shown, rests_beside(public, values)) == {
            key: left for key, left in wanted.items()
            if any(counts[k] for part in key[1] for k in part)  # else nothing is taken away
        }  # fmt: skip
        assert beside_filters(public) or not wanted
        several += any(len(parts) > 1 for _, parts in wanted)
    assert several


def remainders(shown):
    """Cells whose value stands in the publication, or is a total without its other parts."""
    known = [~table.hidden for table in shown]
    while True:
        before = sum(map(np.sum, known))
        for table, own in zip(shown, known, strict=True):
            grid = np.arange(len(own)).reshape(table.shape)
            for axis in range(grid.ndim):
                for line in np.moveaxis(grid, axis, -1).reshape(-1, grid.shape[axis]):
                    if (~own[line]).sum() == 1:
                        own[line] = True
        if sum(map(np.sum, known)) == before:
            return np.concatenate(known)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_what_everybody_can_compute_is_found_and_nothing_else(nonnegative):
    """All that subtraction tells within tables has to be found, all that is found has to follow."""
    indirect = 0
    for seed in range(scaled(400)):
        draw = np.random.default_rng(seed)
        counts, shown = random_tables(draw, 2 + seed % 2, hide=0.4)
        rests = revealed_rests(publication(shown, frequency=nonnegative, nonnegative=nonnegative))
        hidden = np.concatenate([table.hidden for table in shown])
        for own in rests if nonnegative else ():
            signs = [1] + [-1] * (own.cells.shape[1] - 1)
            for cells, value in zip(own.cells.tolist(), own.value.tolist(), strict=True):
                if hidden[cells].any():
                    indirect += 1
                    assert np.allclose(ends(shown, counts, cells, signs), value, atol=1e-6)
        found = told(shown, rests)
        for (whole, parts), value in found.items():
            assert value == sum(counts[k] for k in whole.difference(*parts))
        known = remainders(shown)
        every = [one for table in shown for one in table.members]
        computed = {one for one, open_ in zip(every, known, strict=True) if open_}
        for whole, parts in expected(shown):
            # of a sum nobody sees whether somebody has nothing, unless it says so
            there = {*whole} if not nonnegative else whole.difference(*parts)
            if sum(counts[k] for k in there) and {whole, *parts} <= computed:
                assert (whole, parts) in found, (seed, whole, parts)
    assert indirect or not nonnegative


# ── small cases ───────────────────────────────────────────────────────────────────────

#: One of each kind, and one more of each than of the one before.
EVERY = np.arange(1, len(KINDS) + 1)


def number(**codes):
    return sum(
        int(EVERY[k]) for k, kind in enumerate(KINDS) if all(kind[n] in c for n, c in codes.items())
    )


def found_in(shown, **options):
    """Rests by the names of their cells, each of which is found once."""
    public = publication(shown, **options)
    found = [
        (own.name(public, i), int(value))
        for own in revealed_rests(public)
        for i, value in enumerate(own.value)
    ]
    assert len({*found}) == len(found)
    return dict(found)


def test_published_categories_of_what_a_filter_lets_through():
    """Where the total of the filter is hidden each published category leaves a rest of its own."""
    everybody = Shown(["region"], {}, EVERY)
    young = Shown(["region", "age"], {"age": ["o", "x"]}, EVERY, DEEP)
    assert found_in([everybody, young]) == {
        f"t0: region={r} without t1: region={r}, age=Total": number(region=c, age="y")
        for r, c in (("Total", "NS"), ("N", "N"), ("S", "S"))
    }
    hide(young, ("N", "Total"), ("S", "Total"), ("N", "ox"), ("S", "ox"), ("N", "o"), ("S", "o"))
    hide(young, ("Total", "Total"), ("Total", "ox"))
    left = found_in([everybody, young])
    assert {name: value for name, value in left.items() if "age=y" not in name} == {
        **{f"t0: region={r} without t1: region={r}, age=x": number(region=r, age="oy")
           for r in "NS"},
        **{f"t0: region=Total without t1: region=Total, age={a}": number(age=b)
           for a, b in (("o", "xy"), ("x", "oy"), ("Total", "y"))},
    }  # fmt: skip
    # nobody of y is let through: without these is with everybody
    assert left["t0: region=N without t1: region=N, age=y"] == number(region="N")
    # what is told by its parts is as good as published
    young.hidden[:] = False
    hide(young, ("N", "Total"), ("S", "Total"))
    left = found_in([everybody, young])
    assert left["t0: region=N without t1: region=N, age=Total"] == number(region="N", age="y")
    assert left["t0: region=N without t1: region=N, age=ox"] == number(region="N", age="y")


def test_categories_of_a_published_one_are_sums_of_cells_of_one_table():
    """In S the total of the filter is published and o and x together are not."""
    everybody = Shown(["region"], {}, EVERY)
    young = Shown(["region", "age"], {"age": ["o", "x"]}, EVERY, DEEP)
    hide(young, ("N", "Total"), ("S", "ox"))
    left = found_in([everybody, young])
    assert left["t0: region=N without t1: region=N, age=ox"] == number(region="N", age="y")
    assert [name for name in left if "t1: region=S" in name] == [
        "t0: region=S without t1: region=S, age=Total"
    ]


def test_cells_that_nobody_published_leave_nothing():
    """One table has x and y as one category, so what the other one shows of x is beside no cell."""
    whole = Shown(["age"], {}, EVERY, GROUPED[1])
    women = Shown(["sex", "age"], {"sex": ["f"]}, EVERY)
    hide(women, *(("Total", age) for age in ("Total", "o", "x", "y")))
    left = found_in([whole, women])
    assert {name: value for name, value in left.items() if "sex=f" in name} == {
        f"t0: age={name} without t1: sex=f, age={name}": number(sex="m", age=codes)
        for name, codes in (("Total", "oxy"), ("o", "o"))
    }


def test_a_filter_lies_within_another_one():
    """It leaves what the other one lets through beside it, whatever else both ask for."""
    some, fewer = (
        Shown(["region"], {"age": ["o", "x"]}, EVERY),
        Shown(["region"], {"age": ["o"]}, EVERY),
    )
    women = Shown(["region"], {"age": ["o", "x"], "sex": ["f"]}, EVERY)
    for part, left in ((fewer, {"age": "x"}), (women, {"age": "ox", "sex": "m"})):
        assert found_in([some, part]) == {
            f"t0: region={r} without t1: region={r}": number(region=c, **left)
            for r, c in (("Total", "NS"), ("N", "N"), ("S", "S"))
        }


@pytest.mark.parametrize("seed", range(12))
def test_categories_below_hidden_totals_are_found_from_records(seed):
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, 5, len(KINDS))
    everybody = Shown(["region"], {}, counts)
    where = {"age": ["o", "x"]} if seed % 2 else {"age": ["o", "x"], "sex": ["f"]}
    part = Shown(["age", "region"], where, counts, [DEEP, FLAT["age"], GROUPED[0]][seed % 3])
    part.hidden = draw.random(len(part.members)) < 0.5
    part.hidden[[0, 1, 2]] = True
    found = told([everybody, part], revealed_rests(publication([everybody, part])))
    tree, codes = part.trees[0], part.hidden.reshape(part.shape)
    looked_at = {*expected([everybody, part])}
    for region in range(3):
        whole = everybody.members[region]
        for code in range(1, len(tree)):
            above = tree.parent[code]
            while above >= 0 and codes[above, region]:
                above = tree.parent[above]
            through = part.members[code * 3 + region]
            if above >= 0 or codes[code, region]:
                continue
            looked_at.add((whole, frozenset([through] if through else [])))
            if through:
                assert found[whole, frozenset([through])] == sum(counts[k] for k in whole - through)
    # what a category leaves of a published one is a sum of cells of one table
    assert {*found} <= looked_at
    for (whole, parts), value in found.items():
        assert value == sum(counts[k] for k in whole.difference(*parts))


def test_what_is_hidden_in_both_tables_may_still_be_told():
    """Men by region are published, so everybody without the women is, though both are hidden."""
    everybody, women = Shown(["region"], {}, EVERY), Shown(["region"], {"sex": ["f"]}, EVERY)
    both = Shown(["region", "sex"], {}, EVERY)
    for table in (everybody, women):
        hide(table, ("N",), ("S",))
    hide(both, ("N", "Total"), ("S", "Total"), ("N", "f"), ("S", "f"))
    assert found_in([everybody, women, both]) == {
        f"t0: region={r} without t1: region={r}": number(region=c, sex="m")
        for r, c in (("Total", "NS"), ("N", "N"), ("S", "S"))
    }


def test_other_measures_and_years_are_nothing_beside_each_other():
    shown = [Shown(["region"], {}, EVERY), Shown(["region"], {"sex": ["f"]}, EVERY)]
    one, other = publication(shown).tables
    assert beside_filters(Publication((one, other)))
    for change in ({"measure": "pay"}, {"vintage": "2024"}):
        assert not beside_filters(Publication((one, replace(other, **change))))
        assert not revealed_rests(Publication((one, replace(other, **change))))


def test_a_publication_that_contradicts_itself_still_shows_differences():
    """No table has these values, but a reader subtracts what he sees."""
    shown = [Shown(["region"], {}, EVERY), Shown(["region"], {"sex": ["f"]}, EVERY)]
    hide(shown[0], ("N",), ("S",))
    one, women = publication(shown).tables
    women = replace(women, value=women.value * 3)  # more women than people
    found = revealed_rests(Publication((one, women)))
    assert [rests.cells.tolist() for rests in found] == [[[0, 3]]]
    assert [rests.value.tolist() for rests in found] == [[number() - 3 * number(sex="f")]]


def test_a_sum_of_nothing_may_be_that_of_somebody():
    """Counts of 0 are nobody; a sum that leaves 0 is of somebody where the whole has somebody."""
    counts = np.array([kind["sex"] == "f" for kind in KINDS]).astype(int)
    shown = [Shown(["region"], {}, counts), Shown(["region"], {"sex": ["f"]}, counts)]
    assert not found_in(shown)
    assert set(found_in(shown, frequency=False).values()) == {0}
    assert len(found_in(shown, frequency=False)) == 3
    nobody = [Shown(["region"], {}, 0 * counts), Shown(["region"], {"sex": ["f"]}, 0 * counts)]
    assert not found_in(nobody, frequency=False)
