"""What people can compute from a table with hidden cells, from the records and nothing else."""

from collections import defaultdict
from itertools import product

import numpy as np
from scipy.optimize import linprog


def contributions(records, rows, columns, value, unit):
    """Cell → unit → what it adds; a cell is what its row and its column are called."""
    found = defaultdict(lambda: defaultdict(float))
    for at, record in enumerate(records.to_dict("records")):
        cell = tuple(str(record[one]) for one in rows), tuple(str(record[one]) for one in columns)
        found[cell][at if unit is None else record[unit]] += 1 if value is None else record[value]
    return found


class Shown:
    """A table of pandas with totals in the last row and column, and the records behind it."""

    def __init__(self, output, records, rows, columns, value=None, unit=None):
        self.of = contributions(records, rows, columns, value, unit)
        down = [_texts(one, len(rows)) for one in output.index[:-1]]
        across = [_texts(one, len(columns)) for one in output.columns[:-1]]
        self.counted = value is None
        numbers = output.to_numpy(float, na_value=np.nan)
        self.shape = len(down), len(across)
        self.cells = list(product(down, across))
        self.hidden = np.isnan(numbers)
        self.numbers = numbers
        self.true = np.array([sum(self.of[cell].values()) for cell in self.cells])
        assert {*self.of} <= {*self.cells}

    def lines(self):
        """For each row, each column and the whole: its cells, and whether its total is shown."""
        at = np.arange(len(self.cells)).reshape(self.shape)
        for row in range(self.shape[0]):
            yield at[row], self.numbers[row, -1]
        for column in range(self.shape[1]):
            yield at[:, column], self.numbers[-1, column]
        yield at.reshape(-1), self.numbers[-1, -1]

    def check_true(self, close):
        """What is shown is what the records have."""
        inner = self.numbers[:-1, :-1].reshape(-1)
        assert (
            np.allclose(inner, self.true, atol=close, equal_nan=False, rtol=0)
            or (np.abs(inner - self.true)[~np.isnan(inner)] <= close).all()
        )
        for cells, total in self.lines():
            assert np.isnan(total) or abs(total - self.true[cells].sum()) <= close

    def highest(self, target, known):
        """The most and the least that a cell may have, to whoever knows some contributions."""
        gone = self.hidden[:-1, :-1].reshape(-1)
        bounds = []
        for at, cell in enumerate(self.cells):
            own = known.get(cell, 0.0)
            alone = cell in known and len(self.of[cell]) == 1
            if not gone[at] or not self.of[cell]:  # empty cells are shown
                bounds.append((self.true[at], self.true[at]))
            else:
                bounds.append((own, own if alone else None))
        lines = [(cells, total) for cells, total in self.lines() if not np.isnan(total)]
        rows = np.zeros((len(lines), len(self.cells)))
        for at, (cells, _) in enumerate(lines):
            rows[at, cells] = 1
        right = [self.true[cells].sum() for cells, _ in lines]
        goal = np.zeros(len(self.cells))
        goal[target] = 1
        ends = [
            linprog(sign * goal, A_eq=rows, b_eq=right, bounds=bounds, method="highs")
            for sign in (1, -1)
        ]
        assert ends[0].status == 0 and ends[1].status in (0, 3)  # 3: without an end
        least, most = ends
        return least.fun, -most.fun if most.status == 0 else np.inf

    def disclosed(self, rules, close=0.0):
        """What somebody can compute that the rules do not allow: cells, and rests of lines."""
        for at, cell in enumerate(self.cells):
            if not unsafe([self.of[cell]], rules, self.counted):
                continue
            if not self.hidden[:-1, :-1].reshape(-1)[at]:
                yield cell
                continue
            least, most = self.highest(at, {})
            if self.counted:
                if least > max(self.true[at] - 1, 0) + 1e-6 or most < self.true[at] + 1 - 1e-6:
                    yield cell
                continue
            largest = sorted(self.of[cell], key=self.of[cell].__getitem__, reverse=True)
            for who in [None, *largest[:3]]:
                others = sorted((v for u, v in self.of[cell].items() if u != who), reverse=True)
                known = {one: own[who] for one, own in self.of.items() if who in own}
                most = self.highest(at, known)[1]
                if others and most < self.true[at] + self.owed(others, rules) - close:
                    yield (cell, who)
        gone = self.hidden[:-1, :-1].reshape(-1)
        for cells, total in self.lines():
            rest = [self.of[self.cells[at]] for at in cells if gone[at]]
            if not np.isnan(total) and rest and unsafe(rest, rules, self.counted):
                yield ("rest", *(self.cells[at] for at in cells if gone[at]))

    @staticmethod
    def owed(others, rules):
        """How far above a cell an estimate has to stay, for the largest of the others."""
        return max(rules.p_percent / 100 * others[0] - sum(others[1:]), 0)


def unsafe(cells, rules, counted):
    """Whether all that cells have together must not be known."""
    units = defaultdict(float)
    for one in cells:
        for who, value in one.items():
            units[who] += value
    if not units:
        return False
    values = sorted(units.values(), reverse=True)
    number, percent = rules.dominance
    return len(values) < rules.threshold or (
        not counted
        and (
            100 * sum(values[2:]) < rules.p_percent * values[0] * (1 - 1e-6)
            or 100 * sum(values[:number]) > percent * sum(values) * (1 + 1e-6)
        )
    )


def _texts(label, levels):
    several = label if isinstance(label, tuple) else (label,)
    return tuple(map(str, several[len(several) - levels :]))
