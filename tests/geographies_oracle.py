"""Records by several geographies, and all that their totals tell, found by trying everything."""

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa

import diskret as dk


class Case:
    """Few records with heavy tails: areas of each geography, unit and value of each record."""

    def __init__(self, seed: int, geographies: int):
        draw = np.random.default_rng([seed, geographies])
        sizes = draw.integers(1, 5 if geographies == 2 else 4, geographies)
        number = int(draw.integers(1, 12))
        self.rows = np.stack([draw.integers(0, size, number) for size in sizes], axis=1)
        several = draw.integers(0, max(number // 2, 1), number)
        self.unit = np.arange(number) if draw.random() < 0.5 else several
        self.value = np.floor(draw.pareto(0.7, number) * 3 + 1).clip(max=10**6).astype(int)
        self.value[draw.random(number) < 0.1] = 0
        self.by = [f"g{at}" for at in range(geographies)]
        # codes collide between geographies on purpose
        self.codes = [[str(at) for at in column] for column in self.rows.T.tolist()]
        self.piece = np.unique(self.rows, axis=0, return_inverse=True)[1].reshape(-1)
        self.threshold = int(draw.integers(2, 6))
        columns = dict(zip(self.by, self.codes, strict=True))
        self.frame = pa.table({**columns, "value": self.value, "unit": self.unit})

    def sums(self):
        """How often each record counts in every sum that totals tell; −1, 0 or 1.

        Of two geographies by trying factors 1, 0 and −1 of all areas; of three any factors:
        what is orthogonal to all that totals say nothing of.
        """
        inside = np.array(
            [
                [c == code for c in column]
                for column in self.codes
                for code in sorted(set(column) - {None})
            ],
            np.int8,
        ).reshape(-1, len(self.unit))
        if len(self.by) == 2:
            factors = np.array(list(product([-1, 0, 1], repeat=len(inside))), np.int8)
            counts = factors @ inside
            return np.unique(counts[(np.abs(counts) <= 1).all(axis=1)], axis=0)
        _, first = np.unique(self.piece, return_index=True)
        times = np.array(list(product([-1, 0, 1], repeat=len(first))), np.int8)
        _, singular, vectors = np.linalg.svd(inside[:, first])
        untold = vectors[int((singular > 1e-9).sum()) :]
        told = times[(np.abs(times @ untold.T) < 1e-9).all(axis=1)]
        return told[:, self.piece]

    def pieces_of_few(self, signed, sums):
        """Pieces in a sum of too few units."""
        found = set()
        for times in sums:
            inside = times != 0
            if 0 < len(set(self.unit[inside])) < self.threshold and (signed or times.min() >= 0):
                found |= set(self.piece[inside])
        return found

    def amounts(self, inside):
        """Unit → what it contributes to some records, whole pieces."""
        total = {}
        for unit, piece in {*zip(self.unit[inside], self.piece[inside], strict=True)}:
            own = self.value[inside & (self.unit == unit) & (self.piece == piece)].sum()
            total[unit] = total.get(unit, 0) + abs(int(own))
        return total

    def records_in(self, one):
        """The records that a difference leaves."""
        columns = [self.codes[self.by.index(name)] for name in one.geographies]
        left = set(one.pieces)
        return np.array([row in left for row in zip(*columns, strict=True)])

    def times(self, one):
        """How often each record counts, from what a difference says is added and taken away."""
        total = np.zeros(len(self.unit))
        for name, code, factor in one.terms:
            total += factor * np.array([c == code for c in self.codes[self.by.index(name)]])
        return total


def tells(unit, amounts, rule):
    """Whether amounts of all contributors tell too much of one."""
    own = amounts[unit]
    others = sorted((x for other, x in amounts.items() if other != unit), reverse=True)
    if isinstance(rule, dk.rules.PPercent):
        return sum(others[rule.coalition :]) < Fraction(str(rule.p)) / 100 * own
    if others and others[0] > own:
        return False
    all_of_it = own + sum(others)
    return own + sum(others[: rule.n - 1]) > Fraction(str(rule.k)) / 100 * all_of_it


def many(seed, geographies=2):
    """A case of more records, several in each piece."""
    case = Case(seed, geographies)
    draw = np.random.default_rng(seed)
    times = np.floor(draw.pareto(0.6, len(case.unit)) + 1).clip(max=15).astype(int)
    at = np.repeat(np.arange(len(times)), times)
    case.codes = [[column[i] for i in at.tolist()] for column in case.codes]
    case.rows, case.unit, case.value = case.rows[at], np.arange(len(at)), case.value[at]
    case.piece = case.piece[at]
    case.frame = pa.table({**dict(zip(case.by, case.codes, strict=True)), "value": case.value})
    return case
