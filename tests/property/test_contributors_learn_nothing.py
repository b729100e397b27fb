"""Contributors take their own contributions out of sums of suppressed cells, and learn nothing.

What follows knows nothing of the package's way: which sums totals reveal is told by plain sets
of codes, who contributes to them by going through the records, and how far they are known by
linear programmes over the finest combinations.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from diskret.errors import ProofError, ProtectionError

NACE, SIZE = "abcde", "xyz"
ATOMS = list(product(NACE, SIZE))
PARENTS = {
    "Total": None,
    **dict.fromkeys(["A", "B"], "Total"),
    **dict.fromkeys("ab", "A"),
    **dict.fromkeys("cde", "B"),
}
FLAT = {name: {"Total": None, **dict.fromkeys(codes, "Total")} for name, codes in
        (("nace", NACE), ("size", SIZE))}  # fmt: skip
FAR = 10**6


# ── records, tables, rules ──────────────────────────────────────────────────────────


@st.composite
def records(draw):
    row = st.tuples(
        st.sampled_from(NACE), st.sampled_from(SIZE), st.integers(0, 7), st.integers(0, 40)
    )
    return draw(st.lists(row, min_size=1, max_size=25))


@st.composite
def layout(draw):
    """The variables of a table with their trees, and whether it sums values."""
    nace = draw(st.sampled_from([FLAT["nace"], PARENTS]))
    trees = draw(st.sampled_from([{"nace": nace}, {"nace": nace, "size": FLAT["size"]}]))
    return trees


@st.composite
def judged_by(draw, values):
    """Joined rules: each a name with its parameters."""
    kinds = ["frequency", "p", "dominance"] if values else ["frequency"]
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True))
    parameters = {"frequency": (2, 3, 4), "p": (5, 20), "dominance": ((1, 70), (2, 85))}
    return [(kind, draw(st.sampled_from(parameters[kind]))) for kind in chosen]


def as_rule(chosen):
    made = [
        dk.rules.MinimumFrequency(how)
        if kind == "frequency"
        else dk.rules.PPercent(how)
        if kind == "p"
        else dk.rules.Dominance(*how)
        for kind, how in chosen
    ]
    return made[0] if len(made) == 1 else made[0] | made[1]


def tabulated(rows, trees, values, holdings, largest):
    columns = dict(zip(("nace", "size", "firm", "value"), zip(*rows, strict=True), strict=True))
    frame = pa.table({**columns, "group": [firm // 2 for firm in columns["firm"]]})
    by = {
        name: dk.Hierarchy.from_parents(
            pa.table({"code": list(tree)[1:], "parent": list(tree.values())[1:]})
        )
        for name, tree in trees.items()
    }
    if not values:
        return dk.tabulate(frame, by=by)
    return dk.tabulate(
        frame,
        by=by,
        value="value",
        unit="firm",
        holding="group" if holdings else None,
        largest=largest,
        contributions=True,
    )


# ── what a contributor could learn ──────────────────────────────────────────────────


def below(tree, code):
    """The finest codes of a code."""
    parts = [part for part, above in tree.items() if above == code]
    return set().union(*(below(tree, part) for part in parts)) if parts else {code}


def cells_of(trees):
    return list(product(*trees.values()))


def revealed(trees, hidden):
    """Sets of suppressed cells whose sum has to satisfy the rule."""
    found = set()
    names = list(trees)
    for axis, name in enumerate(names):
        tree = trees[name]
        inner = {above for above in tree.values() if above}
        for rest in product(*(trees[n] for n in names if n != name)):

            def cell(code, axis=axis, rest=rest):
                return (*rest[:axis], code, *rest[axis:])

            for total in inner:
                parts = [p for p, above in tree.items() if above == total and cell(p) in hidden]
                if cell(total) not in hidden:
                    found.add(frozenset(map(cell, parts)))
                    leaves = [
                        code
                        for code in below(tree, total)
                        if cell(code) in hidden and _open(tree, code, total, cell, hidden)
                    ]
                    found.add(frozenset(map(cell, leaves)))
                if len(parts) <= 10:
                    found |= {frozenset(map(cell, pair)) for pair in combinations(parts, 2)}
    return {cells for cells in found if len(cells) > 1}


def _open(tree, code, total, cell, hidden):
    """Whether everything between a code and a total is suppressed."""
    above = tree[code]
    while above != total:
        if cell(above) not in hidden:
            return False
        above = tree[above]
    return True


def inside(trees, cells, row):
    """Whether a record is in one of some cells."""
    own = dict(zip(("nace", "size"), row, strict=False))
    return any(
        all(own[name] in below(tree, code) for (name, tree), code in zip(trees.items(), cell,
                                                                         strict=True))
        for cell in cells
    )  # fmt: skip


def needed(rows, chosen, values, holdings, coalition):
    """How far the sum of some records has to be uncertain below and above, or None if safe."""
    levels = []
    firms = {firm for _, _, firm, _ in rows}
    totals = Counter()
    for _, _, firm, value in rows:
        totals[firm // 2 if holdings else firm] += value
    top = sorted(totals.values(), reverse=True) + [0] * 5
    whole = sum(top)
    for kind, how in chosen:
        if kind == "frequency":
            number = len(firms) if values else len(rows)
            if 0 < number < how + coalition - 1:
                levels.append(Fraction(whole, 10) if values else 1)
        elif kind == "p":
            rest = whole - sum(top[: 1 + coalition])
            if rest < Fraction(how, 100) * top[0]:
                levels.append(Fraction(how, 100) * top[0] - rest)
        else:
            largest, share = sum(top[: how[0]]), Fraction(how[1], 100)
            if largest > share * whole:
                levels.append(largest / share - whole)
    value = whole if values else len(rows)
    if not levels:
        return None
    level = max([Fraction(1), *levels])
    return min(level, value), level


class World:
    """All that is published of some tables, in terms of the finest combinations."""

    def __init__(self, tables, values):
        self.values = values
        self.rows, self.shown = [], []
        for trees, public in tables:
            for cell, value in public.items():
                if value is not None:
                    self.rows.append(self.row(trees, [cell]))
                    self.shown.append(value)

    @staticmethod
    def row(trees, cells):
        return np.array([sum(inside(trees, [cell], atom) for cell in cells) for atom in ATOMS])

    def ends(self, trees, cells):
        found = []
        for sign in (1, -1):
            answer = milp(
                sign * self.row(trees, cells),
                constraints=[LinearConstraint(np.array(self.rows), self.shown, self.shown)]
                if self.rows
                else [],
                bounds=Bounds(0, FAR),
                integrality=np.full(len(ATOMS), 0 if self.values else 1),
            )
            assert answer.success
            found.append(sign * answer.fun)
        return found


def leaks(rows, tables, chosen, values, holdings, coalition):
    """Suppressed cells and revealed sums that are known too closely."""
    world = World(tables, values)
    found = []
    for trees, public in tables:
        hidden = {cell for cell, value in public.items() if value is None}
        for cells in [*({cell} for cell in hidden), *revealed(trees, hidden)]:
            own = [row for row in rows if inside(trees, cells, row)]
            level = needed(own, chosen, values, holdings, coalition)
            if level is None:
                continue
            value = sum(row[3] for row in own) if values else len(own)
            low, high = world.ends(trees, cells)
            tolerance = 1e-6 * max(1, value)
            wide = low <= value - level[0] + tolerance and high >= value + level[1] - tolerance
            if not wide:
                found.append((sorted(cells), value, level, low, high))
    return found


def published(result, trees):
    value = result.certificate.published.value
    hidden = result.certificate.published.suppressed
    codes = [d.hierarchy.codes for d in result.table.dimensions]
    return {
        tuple(own[i] for own, i in zip(codes, at, strict=True)): None if hidden[at] else value[at]
        for at in np.ndindex(value.shape)
    }


def nothing_leaks(data, tables):
    rows = data.draw(records())
    values = data.draw(st.booleans())
    holdings = values and data.draw(st.booleans())
    chosen = data.draw(judged_by(values))
    coalition = data.draw(st.sampled_from([1, 1, 2]))
    layouts = [data.draw(layout()) for _ in range(tables)]
    attacker = dk.Attacker(contributor=True, coalition=coalition)
    rule = as_rule(chosen)
    most = max(rule.largest, coalition + 1)
    made = [tabulated(rows, trees, values, holdings, most) for trees in layouts]
    try:
        results = dk.suppress(made, rule, attacker=attacker, name=[str(i) for i in range(tables)])
    except (ProtectionError, ProofError):
        return
    seen = [
        (trees, published(result, trees)) for trees, result in zip(layouts, results, strict=True)
    ]
    assert leaks(rows, seen, chosen, values, holdings, coalition) == []


@examples(60)
@given(st.data())
def test_one_table(data):
    nothing_leaks(data, 1)


@examples(40)
@given(st.data())
def test_two_tables_of_the_same_records(data):
    nothing_leaks(data, 2)


@pytest.mark.slow
@examples(100)
@given(st.data())
def test_many_more_tables(data):
    nothing_leaks(data, data.draw(st.sampled_from([1, 2])))
