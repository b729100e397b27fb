"""All that is published, as sums of atoms that no published cell tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from campaign.cases import Box, Case, Layout, Rule
from campaign.judged import Share
from campaign.programme import Floats, Programme

Codes = tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """What the public sees of a table."""

    layout: Layout
    value: dict[Codes, int | None]  # None: suppressed
    bounds: dict[Codes, tuple[float, float]]  # intervals published for suppressed cells
    unclaimed: tuple[str, ...] = ()  # what the certificate says is not claimed
    noisy: bool = False  # all values are bounds only


def all_hidden(case: Case) -> list[Shown]:
    """All tables with every cell hidden that somebody is in: nothing protects more."""
    found: list[Shown] = []
    for layout in case.layouts:
        records = Records(case, None, layout.vintage)
        inside = {codes: records.inside(case.box(layout, codes)) for codes in case.cells(layout)}
        found.append(Shown(layout, {c: None if own.any() else 0 for c, own in inside.items()}, {}))
    return found


class Records:
    """Who contributes what, and where."""

    def __init__(self, case: Case, measure: str | None, vintage: str = "") -> None:
        columns = case.columns(vintage)
        number = len(columns["unit"])
        self._case, self.measure = case, measure
        self.bits = np.array(
            [
                [1 << elements.index(value) for value in columns[name]]
                for name, elements in case.elements.items()
            ],
            dtype=np.int64,
        )
        self.own = np.array(columns[measure] if measure else [1] * number, dtype=np.int64)
        weighted = case.weighted and measure is not None
        self.weight = np.array(columns["weight"] if weighted else [1] * number, dtype=np.int64)
        self.value = self.own * self.weight
        self.waived = columns["waiver"] if case.waivers else [False] * number
        self.asked = columns["request"] if case.requests else [False] * number
        holdings = measure is not None and case.holdings
        owners = (
            [h or u for h, u in zip(columns["holding"], columns["unit"], strict=True)]
            if holdings
            else columns["unit"]
            if measure
            else range(number)
        )
        _, self.owner = np.unique([str(o) for o in owners], return_inverse=True)
        self.unit = np.array(columns["unit"] if measure else range(number))
        self.held = [holdings and h is not None for h in columns["holding"]]

    def inside(self, box: Box) -> NDArray[np.bool_]:
        """Which records a box holds."""
        return (self.bits & np.array(box)[:, None] != 0).all(axis=0)

    def shares(self, inside: NDArray[np.bool_]) -> dict[int, Share]:
        """What each contributor has there, zeros included; a holding counts as one."""
        found: dict[int, Share] = {}
        for i in np.flatnonzero(inside).tolist():
            held = self.held[i]
            value, weight = (self.value[i], 1) if held else (self.own[i], self.weight[i])
            own = Share(int(value), self.waived[i], self.asked[i], int(weight))
            if before := found.get(self.owner[i]):
                value, waived = before.value + own.value, before.waived and own.waived
                own = Share(value, waived, before.asked or own.asked, own.weight)
            found[int(self.owner[i])] = own
        return found

    def rules(self, inside: NDArray[np.bool_]) -> list[Rule]:
        """The rules that judge these records."""
        varying = self._case.varying
        if varying is None:
            return self._case.rules_of(set())
        names = list(self._case.elements)
        elements = self._case.elements[varying.variable]
        bits = self.bits[names.index(varying.variable)][inside]
        return self._case.rules_of({elements[bit.bit_length() - 1] for bit in bits.tolist()})

    def units(self, inside: NDArray[np.bool_]) -> int:
        """How many are counted by a minimum frequency: units, also where there are holdings."""
        return len(set(self.unit[inside].tolist()))


class World:
    """The unknowns and equations of one measure and vintage, over all published tables."""

    def __init__(self, case: Case, tables: Sequence[Shown]) -> None:
        self.case, self.tables = case, tables
        first = tables[0].layout
        self.records = Records(case, first.measure, first.vintage)
        self.boxes: dict[Box, int] = {}  # each box with its row
        self.of: list[dict[Codes, int]] = []  # the row of each cell, table by table
        for table in tables:
            own = {}
            for codes in case.cells(table.layout):
                box = case.box(table.layout, codes)
                own[codes] = self.boxes.setdefault(box, len(self.boxes))
            self.of.append(own)
        number = len(self.boxes)
        self.true = np.array([self.total(box) for box in self.boxes], dtype=float)
        self.shown = np.zeros(number, dtype=bool)
        self.contradicted: list[tuple[Shown, Codes]] = []
        self.lower, self.upper = np.full((2, number), [[-np.inf], [np.inf]])
        for table, own in zip(tables, self.of, strict=True):
            for codes, row in own.items():
                value = table.value[codes]
                if value is not None:
                    self.shown[row] = True
                    if value != self.true[row]:
                        self.contradicted.append((table, codes))
                elif codes in table.bounds:
                    low, high = table.bounds[codes]
                    self.lower[row] = max(self.lower[row], low)
                    self.upper[row] = min(self.upper[row], high)
                    if not low <= self.true[row] <= high:
                        self.contradicted.append((table, codes))
        self.lower[self.shown] = self.upper[self.shown] = self.true[self.shown]
        self.nobody = {box for table in tables for box in case.nobody(table.layout)}
        # that nobody in these tables contributes less than nothing, they say
        self.negative = bool((self.records.value[self.union(range(number))] < 0).any())
        self._atoms()

    def total(self, box: Box) -> int:
        """What a box holds in truth."""
        return int(self.records.value[self.records.inside(box)].sum())

    def _atoms(self) -> None:
        boxes = list(self.boxes)
        nobody = list(self.nobody)
        if not self.negative:
            empty = self.shown & (self.true == 0)
            nobody += [box for box, none in zip(boxes, empty, strict=True) if none]
        every = np.array([*boxes, *nobody], dtype=np.int64)
        inside = np.ones((len(every), 1), dtype=bool)
        self.classes: list[dict[int, int]] = []  # of each variable: bit → class
        for position, elements in enumerate(self.case.elements.values()):
            bits = 1 << np.arange(len(elements), dtype=np.int64)
            member = every[:, position, None] & bits != 0
            kinds, kind = np.unique(member, axis=1, return_inverse=True)
            self.classes.append(dict(zip(bits.tolist(), kind.ravel().tolist(), strict=True)))
            inside = (inside[:, :, None] & kinds[:, None, :]).reshape(len(every), -1)
        rows = inside[: len(boxes)]
        possible = rows.any(axis=0) & ~inside[len(boxes) :].any(axis=0)
        kinds, kind = np.unique(rows[:, possible], axis=1, return_inverse=True)
        self.rows: Floats = kinds.astype(float)
        self.atom_of = np.full(inside.shape[1], -1)
        self.atom_of[possible] = kind.ravel()

    @cached_property
    def atom(self) -> NDArray[np.int64]:
        """The atom of each record; −1 where no published cell holds it."""
        position = np.zeros(len(self.records.value), dtype=np.int64)
        for classes, bits in zip(self.classes, self.records.bits, strict=True):
            number = max(classes.values()) + 1
            position = position * number + [classes[bit] for bit in bits.tolist()]
        return self.atom_of[position]

    def held(self, records: NDArray[np.bool_]) -> Floats:
        """What some records hold, atom by atom."""
        chosen = records & (self.atom >= 0)
        found = np.zeros(self.rows.shape[1])
        np.add.at(found, self.atom[chosen], self.records.value[chosen])
        return found

    @cached_property
    def programme(self) -> Programme:
        """The worlds that agree with everything published."""
        floor = np.full(self.rows.shape[1], -np.inf if self.negative else 0.0)
        return Programme(self.rows, self.lower, self.upper, floor)

    def union(self, rows: Iterable[int]) -> NDArray[np.bool_]:
        """The records of several boxes."""
        boxes = list(self.boxes)
        found = np.zeros(len(self.records.value), dtype=bool)
        for row in rows:
            found |= self.records.inside(boxes[row])
        return found
