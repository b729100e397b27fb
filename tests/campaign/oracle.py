"""What published tables give away, found from the records and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from campaign.cases import Box, Case, Rule
from campaign.judged import Share, strictest
from campaign.programme import End, Floats
from campaign.world import Codes, Shown, World

_TINY = 1e-6
#: The most coalitions of two that are tried for one case.
_PAIRS = 150
#: Lines with more suppressed parts are asked for no pairs.
_LONG = 10
_CIRCLE = "three or more of these tables"
_PARTS = "parts of overlapping categories"
_NOT_KEPT = "contributors to tables of earlier releases"
_ALREADY = "could tell already from earlier releases alone"


@dataclass(frozen=True)
class Finding:
    """Something that is known too well."""

    kind: str  # value, shown, cell, rest, rests, atom, sum, insider
    what: str
    value: int
    needed: float
    lower: float
    upper: float
    claimed: bool
    exact: bool = True

    def __str__(self) -> str:
        beyond = "" if self.claimed else " (beyond what is claimed)"
        sure = "" if self.exact else " (not proven in fractions)"
        return (
            f"{self.kind}: {self.what} = {self.value} is within [{self.lower:g}, {self.upper:g}], "
            f"needed ± {self.needed:g}{beyond}{sure}"
        )


def attack(case: Case, tables: Sequence[Shown]) -> list[Finding]:
    """All that is known too well, each measure and vintage on its own."""
    found: list[Finding] = []
    for own in apart(tables):
        alone = _Attack(case, World(case, own))
        found += alone.run()
        if alone.circle:  # what two tables say together is claimed all the same
            for pair in combinations(own, 2):
                two = _Attack(case, World(case, pair))
                two.circle, two.all_tables = False, own
                found += two.run()
    return found


def apart(tables: Sequence[Shown]) -> list[list[Shown]]:
    """Tables of one measure and vintage together."""
    found: dict[tuple[str | None, str], list[Shown]] = {}
    for table in tables:
        found.setdefault((table.layout.measure, table.layout.vintage), []).append(table)
    return [*found.values()]


@dataclass(frozen=True)
class _Target:
    """A cell or a sum of cells, and what those who contribute to it are owed."""

    what: str
    kind: str
    rows: tuple[int, ...]
    goal: Floats
    value: int
    shares: dict[int, Share]
    units: int
    rules: list[Rule]


class _Attack:
    def __init__(self, case: Case, world: World) -> None:
        self.case, self.world = case, world
        self.counts = world.records.measure is None
        self.coalition = max(case.coalition, 1)
        self.worlds: list[Floats] = []
        self.nowhere: dict[tuple[int, Box], int] = {}
        self.along: dict[tuple[int, Box], list[list[int]]] = {}
        unclaimed = " ".join(s for table in world.tables for s in table.unclaimed)
        self.circle = _CIRCLE in unclaimed
        self.parts = _PARTS not in unclaimed
        self.kept = _NOT_KEPT not in unclaimed
        self.all_tables: Sequence[Shown] = world.tables

    def run(self) -> list[Finding]:
        wrong = self.world.contradicted
        if wrong:
            return [
                Finding("value", _told(table, codes), 0, 0, 0, 0, True) for table, codes in wrong
            ]
        found = [*self._shown(), *self._cells(), *self._rests(), *self._atoms()]
        if self.case.coalition:
            sums = list(self._sums())
            found += [one for target in sums for one in self._uncertain(target, "sum")]
            found += self._insiders(sums)
        return found

    # ── cells ───────────────────────────────────────────────────────────────────

    def _shown(self) -> Iterator[Finding]:
        """Unsafe cells that somebody just published."""
        for box, row in self.world.boxes.items():
            if self.world.shown[row]:
                need, value = self._level(self.world.records.inside(box))
                if need is not None:
                    what = self._named(box)
                    yield Finding("shown", what, value, float(need), value, value, True)

    def _hidden(self) -> Iterator[_Target]:
        done: set[int] = set()
        for table, own in zip(self.world.tables, self.world.of, strict=True):
            for codes, row in own.items():
                if table.value[codes] is None and not table.noisy and row not in done:
                    done.add(row)
                    yield self._target(_told(table, codes), "cell", (row,))

    def _target(self, what: str, kind: str, rows: tuple[int, ...]) -> _Target:
        goal = self.world.rows[list(rows)].sum(axis=0)
        inside = self.world.union(rows)
        shares = self.world.records.shares(inside)
        value = int(self.world.true[list(rows)].sum())
        records = self.world.records
        units, rules = records.units(inside), records.rules(inside)
        return _Target(what, kind, rows, goal, value, shares, units, rules)

    def _level(self, inside: NDArray[np.bool_]) -> tuple[Fraction | None, int]:
        """What some records are owed by the rule, and what they have together."""
        records = self.world.records
        shares = list(records.shares(inside).values())
        rules, units = records.rules(inside), records.units(inside)
        need = strictest(rules, None, shares, self.coalition, self.counts, units)
        return need, int(records.value[inside].sum())

    def _cells(self) -> Iterator[Finding]:
        for target in self._hidden():
            yield from self._uncertain(target, "cell")

    def _uncertain(self, target: _Target, kind: str) -> Iterator[Finding]:
        """The outsider's attack; a safe cell may be shown by another table, of a later release."""
        need, _ = self._level(self.world.union(target.rows))
        if need is None and (kind != "cell" or self._shown_by_any(target.rows[0])):
            return
        yield from self._narrow(target, kind, need, target.value if self._floored else None)

    def _shown_by_any(self, row: int) -> bool:
        """Whether a cell is published, by tables that are not looked at, too."""
        box = list(self.world.boxes)[row]
        return any(
            value is not None and self.case.box(table.layout, codes) == box
            for table in self.all_tables
            for codes, value in table.value.items()
        )

    def _smallest(self, goal: Floats) -> End:
        """The least that a sum of atoms can be; counts are whole."""
        programme = self.world.programme
        end = programme.smallest_whole(goal) if self.counts else programme.smallest(goal)
        if end.world is not None:
            self.worlds.append(end.world)
        return end

    @property
    def _floored(self) -> bool:
        return not self.world.negative

    def _narrow(
        self, target: _Target, kind: str, need: Fraction | None, room: int | None
    ) -> Iterator[Finding]:
        """Whether the interval is too narrow; `room`: how far the value can fall at most."""
        programme = self.world.programme
        ends = [self._smallest(sign * target.goal) for sign in (1, -1)]
        low, high = ends[0].value, -ends[1].value
        value, far = target.value, need or Fraction(0)
        down = far if room is None else min(far, Fraction(room))
        slack = _TINY * max(1.0, abs(value))
        for end, bound, sign in ((ends[0], value - down, 1), (ends[1], value + far, -1)):
            short = end.value > sign * float(bound) + slack
            if far and short:
                exact = end.price is not None and programme.proven(
                    sign * target.goal, end.price, sign * bound
                )
                yield Finding(
                    kind, target.what, value, float(far), low, high, not self.circle, exact
                )
                return
        if need is None and high - low < 1 - slack:
            yield Finding(kind, target.what, value, 0, low, high, not self.circle)

    # ── what subtraction reveals ────────────────────────────────────────────────

    def _rests(self) -> Iterator[Finding]:
        """Published cells without published parts that differ in one variable only."""
        boxes = list(self.world.boxes)
        shown = [box for box, out in zip(boxes, self.world.shown, strict=True) if out]
        for position in range(len(self.case.elements)):
            alike: dict[Box, list[int]] = {}
            for box in shown:
                rest = (*box[:position], *box[position + 1 :])
                alike.setdefault(rest, []).append(box[position])
            for rest, masks in alike.items():
                yield from self._rests_along(position, rest, masks)

    def _rests_along(self, position: int, rest: Box, masks: list[int]) -> Iterator[Finding]:
        def box(mask: int) -> Box:
            return (*rest[:position], mask, *rest[position:])

        done: set[int] = set()
        for whole in masks:
            parts = [mask for mask in masks if mask != whole and mask & whole == mask and mask]
            for number in (1, 2):
                for taken in combinations(parts, number):
                    if number == 2 and taken[0] & taken[1]:
                        continue
                    left = self._without_nobody(position, rest, whole & ~sum(taken))
                    if not left or left in done:
                        continue
                    done.add(left)
                    between = [mask for mask in parts if sum(taken) & mask == sum(taken)]
                    said = [left, *(mask & ~sum(taken) for mask in between)]
                    if box(left) in self.world.boxes or any(
                        self._of_one_table(
                            position, rest, self._without_nobody(position, rest, own)
                        )
                        for own in said
                        if own
                    ):
                        continue  # cells of one table, with what is judged by itself
                    yield from self._revealed(
                        position, box(left), box(whole), [box(t) for t in taken]
                    )

    def _of_one_table(self, position: int, rest: Box, left: int) -> bool:
        """Whether cells make up what is left: of one table, or all categories of a variable."""
        if (position, rest) not in self.along:
            boxes = list(self.world.boxes)
            along = [
                [
                    self._without_nobody(position, rest, other[position])
                    for other in map(boxes.__getitem__, own.values())
                    if (*other[:position], *other[position + 1 :]) == rest
                ]
                for own in self.world.of
            ]
            # tables that show a variable are read as one tree of its categories
            name = list(self.case.elements)[position]
            shown = [name in table.layout.axes for table in self.world.tables]
            along.append([m for masks, own in zip(along, shown, strict=True) if own for m in masks])
            self.along[position, rest] = along
        for masks in self.along[position, rest]:
            covered = 0
            for mask in masks:
                covered |= mask if mask & left == mask else 0
            if covered == left:
                return True
        return False

    def _without_nobody(self, position: int, rest: Box, left: int) -> int:
        """Values of a variable, without those that no record there can have."""
        if (position, rest) not in self.nowhere:
            nowhere = 0
            for nobody in self.world.nobody:
                others = (*nobody[:position], *nobody[position + 1 :])
                if all(mask & own == mask for mask, own in zip(rest, others, strict=True)):
                    nowhere |= nobody[position]
            self.nowhere[position, rest] = nowhere
        return left & ~self.nowhere[position, rest]

    def _revealed(
        self, position: int, left: Box, whole: Box, taken: list[Box]
    ) -> Iterator[Finding]:
        need, value = self._level(self.world.records.inside(left))
        if need is None:
            return
        what = f"{self._named(whole)} without {' and '.join(map(self._named, taken))}"
        judged = self.parts and (self.counts or self.case.listed)
        if len(taken) > 1:  # of more than one part only filters are claimed
            judged &= all(self._by_filter(position, part) for part in taken)
        kind = "rest" if len(taken) == 1 else "rests"
        yield Finding(kind, what, value, float(need), value, value, judged)

    def _by_filter(self, position: int, box: Box) -> bool:
        """Whether some table that does not show a variable has this cell."""
        name = list(self.case.elements)[position]
        row = self.world.boxes[box]
        return any(
            name not in table.layout.axes and row in own.values()
            for table, own in zip(self.world.tables, self.world.of, strict=True)
        )

    def _named(self, box: Box) -> str:
        row = self.world.boxes[box]
        for table, own in zip(self.world.tables, self.world.of, strict=True):
            for codes, place in own.items():
                if place == row:
                    return _told(table, codes)
        raise AssertionError(box)

    def _atoms(self) -> Iterator[Finding]:
        """Unsafe atoms that are no cells, and that the equations leave a single value."""
        world = self.world
        shown = world.rows[world.shown]
        if not len(shown):
            return
        loose = null_space(shown)
        told = (np.abs(loose) < _TINY).all(axis=1)
        for atom in np.flatnonzero(told):
            alone = np.zeros(world.rows.shape[1])
            alone[atom] = 1
            if (world.rows == alone).all(axis=1).any():
                continue  # a cell
            need, value = self._level(world.atom == atom)
            if need is not None:
                yield Finding("atom", f"atom {atom}", value, float(need), value, value, False)

    # ── insiders ────────────────────────────────────────────────────────────────

    def _sums(self) -> Iterator[_Target]:
        """Sums of suppressed cells that a reader can name: remainders, differences, pairs."""
        done: set[frozenset[int]] = set()
        for table, own in zip(self.world.tables, self.world.of, strict=True):
            for kind, cells in _sums_of(table):
                rows = frozenset(own[codes] for codes in cells)
                if len(rows) > 1 and rows not in done:
                    done.add(rows)
                    what = f"{kind} {' + '.join(_told(table, codes) for codes in cells)}"
                    yield self._target(what, "sum", tuple(sorted(rows)))

    def _insiders(self, sums: list[_Target]) -> Iterator[Finding]:
        targets = [*self._hidden(), *sums]
        contributors = sorted({owner for target in targets for owner in target.shares})
        coalitions = [(one,) for one in contributors]
        if self.case.coalition > 1:
            rng = np.random.default_rng(self.case.seed)
            pairs = list(combinations(contributors, 2))
            rng.shuffle(pairs)
            coalitions += pairs[:_PAIRS]
        for coalition in coalitions:
            yield from self._insider(frozenset(coalition), targets)

    def _insider(self, coalition: frozenset[int], targets: list[_Target]) -> Iterator[Finding]:
        world = self.world
        wanted: list[tuple[_Target, Fraction, Fraction]] = []
        for target in targets:
            own = [x for owner, x in target.shares.items() if owner in coalition]
            others = [x for owner, x in target.shares.items() if owner not in coalition]
            need = strictest(target.rules, own, others, self.coalition, self.counts, target.units)
            if need is not None:
                down = (
                    min(need, Fraction(sum(one.value for one in others))) if self._floored else need
                )
                wanted.append((target, down, need))
        if not wanted:
            return
        lower, upper, floor, lone = self._known_to(coalition)
        fitting = self._fitting(floor, lone, lower)
        open_: list[tuple[_Target, Fraction, int]] = []
        for target, down, up in wanted:
            reached = fitting @ target.goal if len(fitting) else np.zeros(0)
            slack = _TINY * max(1.0, abs(target.value))
            if not (reached <= target.value - float(down) + slack).any():
                open_.append((target, down, 1))
            if not (reached >= target.value + float(up) - slack).any():
                open_.append((target, up, -1))
        if not open_:
            return
        before = world.lower, world.upper, world.programme.floor
        world.programme.within(lower, upper, floor)
        for target, far, sign in open_:
            yield from self._insider_end(coalition, target, far, sign)
        world.programme.within(*before)

    def _known_to(self, coalition: frozenset[int]) -> tuple[Floats, Floats, Floats, list[int]]:
        """Bounds of cells and of atoms that a coalition knows, and where it is alone."""
        world = self.world
        held = world.held(np.isin(world.records.owner, list(coalition)))
        lone = [
            row
            for row in self._hidden_rows
            if self._contributors[row] and self._contributors[row] <= coalition
        ]
        floor = held if self._floored else np.full(len(held), -np.inf)
        lower, upper = world.lower.copy(), world.upper.copy()
        lower[lone] = upper[lone] = (world.rows @ held)[lone]
        return lower, upper, floor, lone

    def _insider_end(
        self, coalition: frozenset[int], target: _Target, far: Fraction, sign: int
    ) -> Iterator[Finding]:
        programme = self.world.programme
        end = self._smallest(sign * target.goal)
        bound = sign * target.value - far
        if end.value <= float(bound) + _TINY * max(1.0, abs(target.value)):
            return
        exact = end.price is not None and programme.proven(sign * target.goal, end.price, bound)
        low, high = sorted((sign * end.value, sign * np.inf))
        what = f"{target.what} for {sorted(coalition)}"
        claimed = not self.circle and self.kept
        claimed = claimed and not self._already(coalition, target, float(bound), sign)
        yield Finding("insider", what, target.value, float(far), low, high, claimed, exact)

    def _already(self, coalition: frozenset[int], target: _Target, bound: float, sign: int) -> bool:
        """Whether it is told by releases before one that says so, beyond what these claim."""
        boxes = list(self.world.boxes)
        wanted = [boxes[row] for row in target.rows]

        def told(tables: Sequence[Shown]) -> bool:
            """Whether the coalition can tell so much from some tables."""
            attack = _Attack(self.case, World(self.case, tables))
            if not wanted_in(attack.world.boxes):
                return False
            lower, upper, floor, _ = attack._known_to(coalition)
            attack.world.programme.within(lower, upper, floor)
            rows = [attack.world.boxes[box] for box in wanted]
            end = attack._smallest(sign * attack.world.rows[rows].sum(axis=0))
            return end.value > bound + _TINY * max(1.0, abs(target.value))

        def wanted_in(boxes: Iterable[Box]) -> bool:
            return set(wanted) <= set(boxes)

        first = min(
            self._release(table)
            for table in self.all_tables
            if wanted_in(self.case.box(table.layout, c) for c in self.case.cells(table.layout))
        )
        for release in sorted({*map(self._release, self.all_tables)} - {*range(first)}):
            earlier = [t for t in self.all_tables if self._release(t) < release]
            says = [t for t in self.all_tables if self._release(t) == release]
            if not any(_ALREADY in s for t in says for s in t.unclaimed):
                continue
            new = [t for t in self.all_tables if self._release(t) >= release]
            silent = [replace(t, value=dict.fromkeys(t.value), bounds={}) for t in new]
            if not told([*earlier, *silent]):
                continue
            # what is claimed of those releases holds nevertheless
            circle = any(_CIRCLE in s for t in earlier for s in t.unclaimed)
            if not any(map(told, combinations(earlier, 2) if circle else [earlier])):
                return True
        return False

    def _release(self, table: Shown) -> int:
        """The number of a table's release."""
        releases = enumerate(self.case.releases)
        return next((i for i, layouts in releases if table.layout in layouts), 0)

    @property
    def _hidden_rows(self) -> list[int]:
        return [row for row, shown in enumerate(self.world.shown) if not shown]

    @property
    def _contributors(self) -> dict[int, frozenset[int]]:
        if not hasattr(self, "_who"):
            self._who = {
                row: frozenset(self.world.records.shares(self.world.union([row])))
                for row in self._hidden_rows
            }
        return self._who

    def _fitting(self, floor: Floats, lone: list[int], value: Floats) -> Floats:
        """The worlds found so far that a coalition could still believe in."""
        if not self.worlds:
            return np.zeros((0, len(floor)))
        worlds = np.array(self.worlds)
        fits = (worlds >= floor - _TINY).all(axis=1)
        fits &= (np.abs(worlds @ self.world.rows[lone].T - value[lone]) < _TINY).all(axis=1)
        return worlds[fits]


def _told(table: Shown, codes: Codes) -> str:
    cell = ", ".join(f"{n}={c}" for n, c in zip(table.layout.axes, codes, strict=True))
    return f"{table.layout.name}[{cell}]"


def _sums_of(table: Shown) -> Iterator[tuple[str, list[Codes]]]:
    axes = table.layout.axes
    for position, (name, axis) in enumerate(axes.items()):
        others = [own.codes for other, own in axes.items() if other != name]
        for rest in product(*others):

            def cell(code: str, rest: Codes = rest, position: int = position) -> Codes:
                return (*rest[:position], code, *rest[position:])

            def hidden(code: str, cell=cell) -> bool:  # noqa: ANN001
                return table.value[cell(code)] is None

            for total, parts in axis.parts.items():
                gone = [code for code in parts if hidden(code)]
                if not hidden(total):
                    yield "remainder", [cell(code) for code in gone]
                    deep = _below(axis.parts, total, hidden)
                    yield "difference", [cell(code) for code in deep]
                if len(gone) <= _LONG:
                    for pair in combinations(gone, 2):
                        yield "pair", [cell(code) for code in pair]


def _below(parts: dict[str, list[str]], code: str, hidden) -> list[str]:  # noqa: ANN001
    """Suppressed codes without parts that have no published code between them and this one."""
    found: list[str] = []
    for part in parts.get(code, []):
        if hidden(part):
            found += _below(parts, part, hidden) if part in parts else [part]
    return found
