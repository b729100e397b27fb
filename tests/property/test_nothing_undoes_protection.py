"""Random small statistics, published one after the other: no attacker gets what a rule protects.

Everything an attacker does here is done again from first principles and shares nothing with
the package: records are a list, cells are sums over their finest combinations, rules are
computed in fractions from the contributions, sums of cells are found with sets, and what can
be inferred comes from one linear (for counts: integer) program for each question, over the
finest combinations.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from profiles import scaled
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from diskret.errors import ProofError, ProtectionError
from diskret.population import Population
from diskret.tables import Contributions, Dimension, Measure

X, Y, F = "abcd", "pq", "01"
ATOMS = list(product(X, Y, F))
COLUMN = {"x": 0, "y": 1, "f": 2}
CODES = {"x": X, "y": Y, "f": F}
BY = [("x",), ("x", "y"), ("y", "x"), ("x", "f"), ("y", "f"), ("x", "y", "f")]
GROUPS = [None, None, {"ab": "ab"}, {"bc": "bc"}, {"ab": "ab", "cd": "cd"}]
FILTERS = [{}, {}, {}, {"f": "1"}, {"x": ["a", "b"]}]
FAR = 10**6
#: Pairs of hidden cells are judged in lines with at most so many of them.
PAIRS = 10


# ── the statistics ──────────────────────────────────────────────────────────────────


@dataclass
class Cell:
    """A cell as the test sees it: the atoms that it holds, and its lines."""

    table: str
    where: tuple
    atoms: frozenset
    contributions: dict  # contributor -> sum
    units: set
    records: int
    value: int
    suppressed: bool
    empty: bool
    primary: bool


def economy(random):
    """Records of few units, some of them in several combinations, some in holdings."""
    rows = []
    units = int(random.integers(3, 14))
    holdings = [None if random.random() < 0.6 else f"H{random.integers(3)}" for _ in range(units)]
    for unit in range(units):
        for _ in range(1 + (random.random() < 0.3)):
            x, y, f = (codes[random.integers(len(codes))] for codes in (X, Y, F))
            value = int(random.choice([1, 2, 5, 10, 20, 50, 100, 400]))
            rows.append((x, y, f, f"u{unit}", holdings[unit], value))
    return rows


def inside(record, where):
    return all(record[COLUMN[name]] in codes for name, codes in where.items())


def spec(random, counts):
    by = BY[random.integers(len(BY))]
    groups = GROUPS[random.integers(len(GROUPS))] if "x" in by else None
    where = FILTERS[random.integers(len(FILTERS))]
    if set(where) & set(by):
        where = {}
    return by, groups, where, counts, bool(random.random() < 0.5)


def tree_of(name, groups):
    """The codes of a variable below its total, some of them below groups."""
    above = {code: new for new, old in (groups or {}).items() for code in old}
    codes = [*(groups or {}), *CODES[name]] if name == "x" else list(CODES[name])
    parents = [above.get(code, "Total") if name == "x" else "Total" for code in codes]
    return dk.Hierarchy.from_parents(pa.table({"code": codes, "parent": parents}))


def table_of(rows, by, groups, where, counts, cut):
    """The table, counted by hand."""
    own = [row for row in rows if inside(row, where)]
    if not own:
        return None
    dimensions = tuple(Dimension(name, tree_of(name, groups)) for name in by)
    shape = tuple(len(dimension) for dimension in dimensions)
    count, units, holdings, total = (np.zeros(shape, dtype=np.int64) for _ in range(4))
    largest = np.zeros((*shape, 5), dtype=np.int64)
    for at in product(*(range(n) for n in shape)):
        there = [
            row
            for row in own
            if all(
                row[COLUMN[d.name]] in d.hierarchy.leaves_below(i)
                for d, i in zip(dimensions, at, strict=True)
            )
        ]
        of_holding = contributions_of(there)
        count[at], units[at] = len(there), len({row[3] for row in there})
        holdings[at], total[at] = len(of_holding), sum(of_holding.values())
        top = sorted(of_holding.values(), reverse=True)[:5]
        largest[at][: len(top)] = top
    measures = () if counts else (Measure("v", 0, total, total, largest),)
    table = dk.Table(
        dimensions,
        count,
        units=None if counts else units,
        holdings=None if counts else holdings,
        measures=measures,
        contributors="holdings",
        where=Population.of(where),
        contributions=listed(own, by, counts),
    )
    return table.recode("x", level=1) if groups and cut else table


def contributions_of(rows):
    found = defaultdict(int)
    for row in rows:
        found[row[4] or row[3]] += row[5]
    return dict(found)


def listed(rows, by, counts):
    """A row for each unit and leaf combination."""
    found = defaultdict(list)
    for row in rows:
        found[row[3], row[4], *(row[COLUMN[name]] for name in by)].append(row[5])
    units = np.array([number(unit) for unit, *_ in found], dtype=np.uint64)
    owners = np.array([number(owner or unit) for unit, owner, *_ in found], dtype=np.uint64)
    leaf = [[CODES[n].index(c) for n, c in zip(by, key[2:], strict=True)] for key in found]
    return Contributions(
        by={name: tuple(CODES[name]) for name in by},
        leaf=np.array(leaf, dtype=np.int32),
        unit=units,
        holding=None if counts else owners,
        records=np.array([len(values) for values in found.values()]),
        values={} if counts else {"v": np.array([sum(values) for values in found.values()])},
    )


def number(name):
    return int.from_bytes(name.encode(), "big")


def cells_of(rows, name, result, where, counts):
    """The cells of a published table, recomputed from the records."""
    found = {}
    published = result.published
    for at in product(*(range(n) for n in published.shape)):
        allowed = {}
        for dimension, position in zip(published.dimensions, at, strict=True):
            tree = dimension.hierarchy
            codes = tree.leaves_below(position) if position else tuple(CODES[dimension.name])
            allowed[dimension.name] = set("".join(codes)) & set(CODES[dimension.name])
        own = [
            row
            for row in rows
            if inside(row, where) and all(row[COLUMN[n]] in codes for n, codes in allowed.items())
        ]
        atoms = frozenset(
            i
            for i, atom in enumerate(ATOMS)
            if inside(atom, where) and all(atom[COLUMN[n]] in codes for n, codes in allowed.items())
        )
        contributions = contributions_of(own)
        value = len(own) if counts else sum(row[5] for row in own)
        hidden = bool(published.suppressed[at])
        assert hidden or published.value[at] == value
        found[at] = Cell(
            *(name, at, atoms, contributions, {row[3] for row in own}, len(own), value),
            suppressed=hidden,
            empty=bool(published.empty[at]),
            primary=False,
        )
    return found


# ── the rules, in fractions ─────────────────────────────────────────────────────────


def minimum_frequency(n):
    def judge(contributions, units, records, value, counts, coalition):
        number = records if counts else len(units)
        if not 0 < number < n + coalition - 1:
            return 0
        return 1 if counts else max(1, math.ceil(Fraction(value, 10)))

    return judge


def p_percent(p):
    def judge(contributions, units, records, value, counts, coalition):
        top = sorted(contributions.values(), reverse=True)
        if not top:
            return 0
        rest = sum(top) - top[0] - sum(top[1 : 1 + coalition])
        need = Fraction(p, 100) * top[0] - rest
        return max(1, math.ceil(need)) if need > 0 else 0

    return judge


def dominance(n, k):
    def judge(contributions, units, records, value, counts, coalition):
        top = sum(sorted(contributions.values(), reverse=True)[:n])
        need = Fraction(100, k) * top - sum(contributions.values())
        return max(1, math.ceil(need)) if need > 0 else 0

    return judge


RULES = {
    False: [
        (lambda: dk.rules.PPercent(10), [p_percent(10)]),
        (
            lambda: dk.rules.PPercent(20) | dk.rules.MinimumFrequency(3),
            [p_percent(20), minimum_frequency(3)],
        ),
        (lambda: dk.rules.Dominance(3, 90), [dominance(3, 90)]),
        (lambda: dk.rules.MinimumFrequency(3), [minimum_frequency(3)]),
    ],
    True: [
        (lambda: dk.rules.MinimumFrequency(3), [minimum_frequency(3)]),
        (lambda: dk.rules.MinimumFrequency(2), [minimum_frequency(2)]),
    ],
}


def level(judges, cells, counts, coalition):
    """What the rule asks of the union of cells; 0 if it is safe."""
    contributions, units = defaultdict(int), set()
    for cell in cells:
        units |= cell.units
        for who, amount in cell.contributions.items():
            contributions[who] += amount
    records = sum(cell.records for cell in cells)
    value = sum(cell.value for cell in cells)
    return max(j(contributions, units, records, value, counts, coalition) for j in judges)


# ── sums of hidden cells ────────────────────────────────────────────────────────────


def sums_of_cells(table, published):
    """All sets of hidden cells that are claimed: remainders, differences, pairs."""
    found = set()
    for axis, dimension in enumerate(published.dimensions):
        parent = dimension.hierarchy.parent.tolist()
        children = defaultdict(list)
        for code, above in enumerate(parent):
            if above >= 0:
                children[above].append(code)
        for at in table:
            parts = [_moved(at, axis, code) for code in children[at[axis]]]
            hidden = [part for part in parts if table[part].suppressed]
            if len(hidden) <= PAIRS:
                found |= {frozenset(pair) for pair in combinations(hidden, 2)}
            if parts and not table[at].suppressed:
                found.add(frozenset(hidden))
                found.add(frozenset(_innermost(table, children, at, axis)))
    return [sorted(cells) for cells in found if len(cells) > 1]


def _moved(at, axis, code):
    return (*at[:axis], code, *at[axis + 1 :])


def _innermost(table, children, at, axis):
    for code in children[at[axis]]:
        below = _moved(at, axis, code)
        if table[below].suppressed:
            if children[code]:
                yield from _innermost(table, children, below, axis)
            else:
                yield below


# ── the attack ──────────────────────────────────────────────────────────────────────


class World:
    """All that is published of one measure: sums of atoms that everybody knows."""

    def __init__(self, counts):
        self.counts = counts
        self.rows, self.values = [], []

    def learn(self, cells):
        for cell in cells:
            if not cell.suppressed:
                row = np.zeros(len(ATOMS))
                row[list(cell.atoms)] = 1
                self.rows.append(row)
                self.values.append(cell.value)

    def ends(self, cells):
        """Smallest and largest value of a sum of cells; capped far away."""
        wanted = np.zeros(len(ATOMS))
        for cell in cells:
            wanted[list(cell.atoms)] += 1
        rows, known = np.array(self.rows).reshape(-1, len(ATOMS)), np.array(self.values)
        shown = [LinearConstraint(rows, known, known)] if len(rows) else []
        found = []
        for sign in (1, -1):
            answer = milp(
                sign * wanted,
                constraints=shown,
                bounds=Bounds(0, FAR),
                integrality=np.full(len(ATOMS), int(self.counts)),
            )
            assert answer.success
            found.append(sign * answer.fun)
        return found

    def knows_too_much(self, cells, need):
        value = sum(cell.value for cell in cells)
        low, high = self.ends(cells)
        lower = need if value >= need else value
        return low > value - lower + 1e-6 or high < value + need - 1e-6


class Office:
    """What was published so far, as a stand-in for a ledger."""

    def __init__(self):
        self.tables = []

    @property
    def position(self):
        return str(len(self.tables))

    def earlier(self, tables, sums=()):
        return self.tables

    def remember(self, release, results):
        self.tables += [result.remembered(release) for result in results]


def attack_a_statistic(seed):
    """Publish one to three releases; returns how many were attacked."""
    random = np.random.default_rng(seed)
    rows = economy(random)
    counts = bool(random.random() < 0.4)
    make, judges = RULES[counts][random.integers(len(RULES[counts]))]
    coalition = int(random.choice([0, 0, 1, 1, 2]))  # 0: an outsider
    attacker = dk.Attacker()
    if coalition:
        attacker = dk.Attacker(contributor=True, coalition=coalition)
    office, world, seen = Office(), World(counts), []
    done = 0
    for release in range(int(random.integers(1, 4))):
        specs = [spec(random, counts) for _ in range(int(random.integers(1, 3)))]
        tables = [(s, table_of(rows, *s)) for s in specs]
        tables = [(s, table) for s, table in tables if table is not None]
        if not tables:
            continue
        names = [f"r{release}t{i}" for i in range(len(tables))]
        try:
            results = dk.suppress(
                [table for _, table in tables],
                make(),
                attacker=attacker,
                name=names,
                ledger=office,
            )
        except (ProtectionError, ProofError):
            continue  # nothing is published; what was before stays as it is
        if any(map(says_less, results)):
            return done  # of three and more tables with filters not everything is claimed
        office.remember(f"r{release}", results)
        for (s, _), name, result in zip(tables, names, results, strict=True):
            cells = cells_of(rows, name, result, s[2], counts)
            world.learn(cells.values())
            seen.append((cells, result.published))
        done += 1
        check_all(world, seen, judges, counts, coalition)
    return done


def says_less(result):
    """Whether the certificate leaves open what three or more tables say together."""
    return any("three or more" in said for said in result.certificate.public()["not_claimed"]["en"])


def check_all(world, seen, judges, counts, coalition):
    shown = {cell.atoms for cells, _ in seen for cell in cells.values() if not cell.suppressed}
    for cells, published in seen:
        for cell in cells.values():
            need = level(judges, [cell], counts, max(coalition, 1))
            if not need:
                continue
            assert cell.suppressed, f"{cell.table} {cell.where} is unsafe and published"
            assert not world.knows_too_much([cell], need), f"{cell.table} {cell.where}"
        if coalition:
            # cells that another table shows are not hidden any more
            now = {
                at: cell if cell.atoms not in shown else _shown(cell) for at, cell in cells.items()
            }
            for members in sums_of_cells(now, published):
                union = [cells[at] for at in members]
                need = level(judges, union, counts, coalition)
                if need:
                    assert not world.knows_too_much(union, need), (
                        f"{union[0].table}: the sum of {members}"
                    )


def _shown(cell):
    return Cell(**{**cell.__dict__, "suppressed": False})


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, scaled(60), 10))
def test_nothing_undoes_the_protection(start):
    assert sum(attack_a_statistic(seed) for seed in range(start, start + 10)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 10_100, 100))
def test_nothing_undoes_the_protection_of_ten_thousand_statistics(start):
    assert sum(attack_a_statistic(seed) for seed in range(start, start + 100)) > 0
