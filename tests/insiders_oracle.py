"""What insiders learn, told from the records alone, for the tests.

Whoever knows what is his own attacks, as an outsider, what is left of the tables without his
records. Tables are plain codes with trees, systems of equations are the finest combinations.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import chain, combinations, product
from math import ceil
from typing import Any

import highspy
import numpy as np
import pyarrow as pa
from scipy import sparse

import diskret as dk

NACE, SIZE = "abcd", "xyz"
ATOMS = list(product(NACE, SIZE))
DEEP = {
    "Total": None,
    **dict.fromkeys(["A", "B"], "Total"),
    **dict.fromkeys("ab", "A"),
    **dict.fromkeys("cd", "B"),
}
FLAT = {
    "nace": {"Total": None, **dict.fromkeys(NACE, "Total")},
    "size": {"Total": None, **dict.fromkeys(SIZE, "Total")},
}


class Case:
    """A random statistic: records, tables, rules, and who attacks."""

    points = ATOMS

    def __init__(self, random, coalition, tables=1):
        self.coalition, self._inside = coalition, {}
        self.values = random.random() < 0.85
        self.holdings = self.values and random.random() < 0.3
        self.waivers = self.values and random.random() < 0.2
        firms = random.randint(3, 12 if coalition == 1 else 8)
        # many firms alone in a cell, some in several, now and then one with nothing
        self.rows = []
        for firm in range(firms):
            for _ in range(random.choice([1, 1, 1, 2, 3])):
                size = random.choice([0, random.randint(1, 9), random.randint(10, 100)])
                where = random.choice(NACE), random.choice(SIZE)
                self.rows.append((*where, firm, size, random.random() < 0.3))
        for _ in range(random.randint(0, 6 if coalition == 1 else 1)):  # large cells of small firms
            where = random.choice(NACE), random.choice(SIZE)
            for _ in range(random.randint(4, 8)):
                firms += 1
                self.rows.append((*where, firms, random.randint(1, 30), False))
        nace = random.choice([FLAT["nace"], DEEP])
        both = {"nace": nace, "size": FLAT["size"]}
        layouts = [both, both, both, {"nace": nace}]
        self.layouts = [random.choice(layouts) for _ in range(tables)]
        kinds = ["frequency", "p", "dominance"] if self.values else ["frequency"]
        chosen = random.sample(kinds, min(len(kinds), random.choice([1, 1, 2])))
        how = {"frequency": [2, 3, 4], "p": [5, 20], "dominance": [(1, 75), (2, 85)]}
        self.rules = [(kind, random.choice(how[kind])) for kind in chosen]

    @property
    def rule(self) -> Any:
        return joined(self.rules)

    def rules_at(self, trees, cells):
        """The rules that judge some cells."""
        return self.rules

    @property
    def attacker(self):
        return dk.Attacker(contributor=True, coalition=self.coalition)

    def table(self, trees):
        names = ("nace", "size", "firm", "value", "waived")
        columns = dict(zip(names, zip(*self.rows, strict=True), strict=True))
        frame = pa.table({**columns, "group": [firm // 2 for firm in columns["firm"]]})
        by = {
            name: dk.Hierarchy.from_parents(
                pa.table({"code": list(tree)[1:], "parent": list(tree.values())[1:]})
            )
            for name, tree in trees.items()
        }
        if not self.values:
            return dk.tabulate(frame, by=by)
        return dk.tabulate(
            frame, by=by, value="value", unit="firm", contributions=True,
            holding="group" if self.holdings else None, largest=5,
            waiver="waived" if self.waivers else None,
        )  # fmt: skip

    def who(self, row, number):
        """The contributor of a record."""
        if not self.values:
            return number
        return row[2] // 2 if self.holdings else row[2]

    # ── what insiders can tell ───────────────────────────────────────────────────────

    def broken(self, tables, lone=True, sides=(1, -1)):
        """Targets that a coalition tells too closely: who, cells, original, level, interval.

        `tables` are pairs of trees and what is published, None for a hidden cell.
        """
        return self._broken(tables, self.targets(tables), lone, sides)

    def targets(self, tables):
        """Hidden cells and unsafe sums of them."""
        targets = []
        for trees, public in tables:
            hidden = {cell for cell, value in public.items() if value is None}
            every = {frozenset([c]) for c in hidden} | revealed(trees, hidden)
            targets += [(trees, cells) for cells in every]
        return [t for t in targets if len(t[1]) == 1 or self.unsafe(*t)]

    def _broken(self, tables, targets, lone, sides):
        people = sorted({self.who(row, i) for i, row in enumerate(self.rows)})
        found = []
        for size in range(self.coalition + 1):
            for who in combinations(people, size):
                found += self._told(set(who), tables, targets, lone, sides)
        return found

    def _told(self, who, tables, targets, lone, sides):
        found, world = [], None
        for trees, cells in targets:
            level = self.level(who, trees, cells)
            if level is None or level <= 0:
                continue
            world = world or World(self, who, tables, lone)
            others = self.amount(trees, cells, who)
            for side in sides:
                far = level if side > 0 else min(level, others)
                end = world.end(trees, cells, side)
                if side * (end - others) < far - 1e-6 * max(1, others):
                    found.append((sorted(who), sorted(cells), others, level, end))
        return found

    def inside(self, trees, cells):
        key = id(trees), frozenset(cells)
        if key not in self._inside:
            people = [
                (self.who(row, i), row)
                for i, row in enumerate(self.rows)
                if inside(trees, cells, row)
            ]
            self._inside[key] = trees, people  # trees live on, so that ids stay theirs
        return self._inside[key][1]

    def people(self, trees, cell):
        return {name for name, _ in self.inside(trees, [cell])}

    def amount(self, trees, cells, without=frozenset()):
        own = [row for name, row in self.inside(trees, cells) if name not in without]
        return sum(row[3] for row in own) if self.values else len(own)

    def unsafe(self, trees, cells):
        rules = self.rules_at(trees, cells)
        return any(self.finds(kind, how, trees, cells) for kind, how in rules)

    def finds(self, kind, how, trees, cells):
        """Whether a rule finds a cell or sum unsafe."""
        total, waived, firms, rows = self.contributors(trees, cells)
        if total and all(waived[name] for name in total):
            return False
        m = self.coalition
        if kind == "frequency":
            return 0 < (len(firms) if self.values else rows) < how + m - 1
        if kind == "p":
            mine = max((v for n, v in total.items() if not waived[n]), default=0)
            others = sorted(total.values(), reverse=True)
            if mine in others:
                others.remove(mine)
            return sum(others[m:]) < Fraction(how, 100) * mine
        top = sorted([*total.values(), *[0] * how[0]], reverse=True)[: how[0]]
        if all(waived[name] for name, value in total.items() if value >= top[-1]):
            return False
        most = sum(top)
        return most > Fraction(how[1], 100) * sum(total.values())

    def contributors(self, trees, cells):
        total, waived, firms, rows = Counter(), defaultdict(lambda: True), set(), 0
        for name, row in self.inside(trees, cells):
            total[name] += row[3] if self.values else 1
            waived[name] &= bool(self.waivers and row[4])
            firms.add(row[2])
            rows += 1
        return total, waived, firms, rows

    def level(self, who, trees, cells):
        """What is owed to those outside a coalition; None if nobody is there."""
        total, waived, _, _ = self.contributors(trees, cells)
        outside = {name: value for name, value in total.items() if name not in who}
        open_ = [value for name, value in outside.items() if not waived[name]]
        if not open_:
            return None
        most = max(open_)
        rest = sum(outside.values()) - most
        levels = [0]
        for kind, how in self.rules_at(trees, cells):
            if kind == "p":
                levels.append(Fraction(how, 100) * most - rest)
            elif kind == "dominance":
                members = sum(name in who for name in total)
                if members < how[0] and self.finds(kind, how, trees, cells):
                    top = sorted(outside.values(), reverse=True)[: how[0] - members]
                    mine = sum(total.values()) - sum(outside.values())
                    levels.append(Fraction(100, how[1]) * (mine + sum(top)) - sum(total.values()))
            elif self.finds(kind, how, trees, cells):
                levels.append(1 if not self.values else max(1, Fraction(most + rest, 10)))
        return ceil(max(levels))


class Between(Case):
    """The same with filters and groupings that overlap, whose common parts no table shows.

    The records have a number of staff, 1 to 3, behind all else; a filter is a variable of one code.
    """

    points = list(product(NACE, SIZE, "123"))

    def __init__(self, random, coalition):
        super().__init__(random, coalition)
        self.holdings = self.waivers = False
        self.values = random.random() < 0.5
        if not self.values:
            self.rules = [("frequency", random.choice([2, 2, 3]))]
        # few records that a filter lets through, or few that it does not
        few = random.sample(self.rows, min(len(self.rows), random.randint(6, 16)))
        self.rows = [(*row, random.choice("1112223")) for row in few]
        self.rows[0] = (*few[0], "1")  # a filter for codes that nobody has is refused
        self.rows[1] = (*few[1], "2")
        names = random.choice([["nace"], ["nace"], ["size"], ["nace", "size"]])
        self.layouts = [self._layout(random, names, whole) for whole in (True, False)]

    @staticmethod
    def _layout(random, names, whole):
        trees = {name: FLAT[name] for name in names}
        if "nace" in names and random.random() < 0.4:
            trees["nace"] = grouped(*random.choice(GROUPS))
        if not whole and random.random() < 0.7:
            trees["staff"] = {FILTER: None, **dict.fromkeys(random.choice(["1", "12"]), FILTER)}
        return trees

    def table(self, trees):
        columns = dict(zip(("nace", "size", "firm", "value"), zip(*self.rows, strict=True),
                           strict=False))  # fmt: skip
        frame = pa.table({**columns, "staff": [row[-1] for row in self.rows]})
        some = (
            {"where": {"staff": sorted(below(trees["staff"], FILTER))}} if "staff" in trees else {}
        )
        more = {"value": "value", "unit": "firm", "largest": 5} if self.values else {}
        by = {
            name: dk.Hierarchy.from_parents(
                pa.table({"code": list(tree)[1:], "parent": list(tree.values())[1:]})
            )
            for name, tree in trees.items()
            if name != "staff"
        }
        table = dk.tabulate(frame, by=by, **some, **more)
        return table.recode("nace", level=1) if parts(trees) else table

    def rests(self, tables):
        """Unsafe rests beside filters: the cells of a table of what a filter leaves."""
        found = []
        wholes, filters = ([t for t in tables if ("staff" in t[0]) == part] for part in (0, 1))
        some = chain.from_iterable(combinations(filters, n + 1) for n in range(len(filters)))
        for (whole, every), parts in product(wholes, list(some)):
            codes = [below(trees["staff"], FILTER) for trees, _ in parts]
            within = set().union(*codes)
            if sum(map(len, codes)) > len(within):
                continue
            left = {REST: None, **dict.fromkeys(sorted(set("123") - within), REST)}
            trees = {**whole, "staff": left}
            inside = [{self._meant(part, c[:-1]) for c in cells} for part, cells in parts]
            cells = [c for c in every if all(self._meant(whole, c) in own for own in inside)]
            cells = [(*c, REST) for c in cells]
            found += [(trees, frozenset([c])) for c in cells if self.unsafe(trees, [c])]
        return found

    @staticmethod
    def _meant(trees, cell):
        pairs = zip(trees.items(), cell, strict=False)
        return tuple(frozenset(below(tree, code)) for (_, tree), code in pairs)

    def told_of_rests(self, tables):
        """The same as `broken` of what is left beside filters."""
        return self._broken(tables, self.rests(tables), True, (1, -1))

    def seen(self, trees, result):
        """What a result publishes, by codes; those of a filter are the last."""
        more = (FILTER,) if "staff" in trees else ()
        return {(*codes, *more): value for codes, value in published(result).items()}


class Beside(Between):
    """One table and filters of its records, one or two, more often than not of the same codes."""

    def __init__(self, random, coalition):
        super().__init__(random, coalition)
        names = list(self.layouts[0])
        filters = random.choice([["1"], ["12"], ["3"], ["1", "2"], ["1", "3"], ["12", "1"]])
        self.layouts = [self._layout(random, names, True)] + [
            self._layout(random, names, True)
            | {"staff": {FILTER: None, **dict.fromkeys(codes, FILTER)}}
            for codes in filters
        ]
        missing = set("".join(filters)) - {row[-1] for row in self.rows}
        for place, code in enumerate(sorted(missing)):  # a filter for nobody is refused
            self.rows[2 + place] = (*self.rows[2 + place][:-1], code)


class ByCategory(Case):
    """Mixed into a case: rules differ by the industry; cells that hold several have all of theirs.

    by_category: code, or "*" for all others → rules; none for no rule.
    """

    def __init__(self, random, coalition, *more):
        super().__init__(random, coalition, *more)
        self.by_category = {}
        trees = [trees["nace"] for trees in self.layouts if "nace" in trees]
        if not trees:
            return
        codes = [*NACE] + ["A", "B"] * all(tree == DEEP for tree in trees)
        how = {"frequency": [2, 3, 4], "p": [5, 20], "dominance": [(1, 75), (2, 85)]}
        kinds = ["frequency", "frequency", "p", "dominance"] if self.values else ["frequency"]

        def some():
            chosen = {random.choice(kinds) for _ in range(random.choice([0, 1, 1, 2]))}
            return [(kind, random.choice(how[kind])) for kind in sorted(chosen)]

        named = random.sample(codes, random.randint(1, len(codes)))
        self.by_category = {code: some() for code in [*named, "*"]}

    @property
    def rule(self) -> Any:
        if not self.by_category:
            return super().rule
        return dk.rules.Varying(
            "nace", {code: joined(own) if own else None for code, own in self.by_category.items()}
        )

    def rules_at(self, trees, cells):
        if not self.by_category:
            return self.rules
        held = set(NACE)
        if "nace" in trees:
            axis = [*trees].index("nace")
            held = set().union(*(below(trees["nace"], cell[axis]) for cell in cells))
        found = []
        for code in sorted(held):
            above = [code, DEEP[code], "*"]  # inner codes are named only where they are there
            found += self.by_category[next(a for a in above if a in self.by_category)]
        return [*dict.fromkeys(found)]


FILTER, REST = "some", "others"
#: Groupings of industries that cut through each other.
GROUPS = [("ab", "cd"), ("bc", "ad"), ("ab",), ("bc",), ("acd",), ("bcd",)]


def grouped(*groups):
    """A tree of groups, and of what is in none of them."""
    tree = {"Total": None}
    for group in groups:
        tree |= {group.upper(): "Total", **dict.fromkeys(group, group.upper())}
    return tree | {code: "Total" for code in NACE if code not in tree}


def parts(trees):
    """The groups of industries of a table."""
    tree = trees.get("nace", {})
    return [code for code, above in tree.items() if above and code in tree.values()]


class World:
    """What is published, without the records of some contributors."""

    def __init__(self, case, who, tables, lone):
        self.whole, self.points, rows, right = not case.values, case.points, [], []
        for trees, public in tables:
            for cell, value in public.items():
                alone = lone and case.people(trees, cell) <= who
                if value is None and not (alone and case.people(trees, cell)):
                    continue
                rows.append(atoms(trees, [cell], case.points))
                right.append(case.amount(trees, [cell], who))
        self.rows = np.array(rows).reshape(-1, len(case.points))
        self.right = np.array(right, dtype=float)
        self.solver = _solver(self.rows, self.right, self.whole)

    def end(self, trees, cells, side):
        """How far the others' amount in some cells may go on one side."""
        price = -side * atoms(trees, cells, self.points)
        n = len(price)
        self.solver.changeColsCost(n, np.arange(n, dtype=np.int32), price)
        self.solver.run()
        status = self.solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            assert status in ENDLESS, status
            return side * np.inf
        return -side * self.solver.getInfo().objective_function_value


ENDLESS = (
    highspy.HighsModelStatus.kUnbounded,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)


def _solver(rows, right, whole):
    model, n = highspy.HighsLp(), rows.shape[1]
    model.num_col_, model.num_row_ = n, len(right)
    model.col_cost_, model.col_lower_ = np.zeros(n), np.zeros(n)
    model.col_upper_ = np.full(n, 1e4 if whole else highspy.kHighsInf)
    model.row_lower_ = model.row_upper_ = right
    matrix = sparse.csr_array(rows.reshape(-1, n))
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = matrix.data
    if whole:
        model.integrality_ = [highspy.HighsVarType.kInteger] * n
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(model)
    return solver


def published(result):
    """What a result publishes, by codes."""
    seen = result.published
    codes = [d.hierarchy.codes for d in seen.dimensions]
    return {
        tuple(own[i] for own, i in zip(codes, at, strict=True)): (
            None if seen.suppressed[at] else int(seen.value[at])
        )
        for at in np.ndindex(seen.shape)
    }


def joined(rules):
    """Rules as the package has them."""
    made = [
        dk.rules.MinimumFrequency(how)
        if kind == "frequency"
        else dk.rules.PPercent(how)
        if kind == "p"
        else dk.rules.Dominance(*how)
        for kind, how in rules
    ]
    return made[0] if len(made) == 1 else made[0] | made[1]


# ── codes ────────────────────────────────────────────────────────────────────────────


def below(tree, code):
    """The finest codes of a code."""
    parts = [part for part, above in tree.items() if above == code]
    return set().union(*(below(tree, part) for part in parts)) if parts else {code}


def inside(trees, cells, row):
    """Whether a record is in one of some cells."""
    own = {"nace": row[0], "size": row[1], "staff": row[-1]}
    return any(
        all(
            own[name] in below(tree, code)
            for (name, tree), code in zip(trees.items(), cell, strict=True)
        )
        for cell in cells
    )


def atoms(trees, cells, points=ATOMS):
    """Which of the finest combinations some cells that do not overlap consist of."""
    key = id(trees), frozenset(cells), len(points)
    if key not in _ATOMS:
        _ATOMS[key] = trees, _atoms(trees, cells, points)  # trees live on, so that ids stay theirs
    return _ATOMS[key][1]


_ATOMS = {}


def _atoms(trees, cells, points):
    return np.array([float(inside(trees, cells, point)) for point in points])


def revealed(trees, hidden):
    """Sets of hidden cells whose sum is judged: remainders, differences, pairs."""
    found, names = set(), list(trees)
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
                        if cell(code) in hidden and _uncovered(tree, code, total, cell, hidden)
                    ]
                    found.add(frozenset(map(cell, leaves)))
                if len(parts) <= 10:
                    found |= {frozenset(map(cell, pair)) for pair in combinations(parts, 2)}
    return {cells for cells in found if len(cells) > 1}


def _uncovered(tree, code, total, cell, hidden):
    """Whether everything between a code and a total is hidden."""
    above = tree[code]
    while above != total:
        if cell(above) not in hidden:
            return False
        above = tree[above]
    return True
