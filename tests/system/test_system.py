"""Canonical cells and the equations between them."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import diskret as dk
from diskret.deadline import Deadline, OutOfTime
from diskret.errors import InputError, ProtectionError
from diskret.system import Cell, System, possible
from diskret.system.possible import possible_values

TREE = dk.Hierarchy.from_parents(
    {"code": ["T", "A", "B", "A1", "A2"], "parent": [None, "T", "T", "A", "A"]}
)


def table(by, **columns):
    return dk.tabulate(pa.table(columns), by=by)


def test_equations_hold_for_the_original_values():
    rng = np.random.default_rng(1)
    t = table(
        {"x": TREE, "y": TREE, "z": None},
        x=rng.choice(["A1", "A2", "B"], 50),
        y=rng.choice(["A1", "A2", "B"], 50),
        z=rng.choice(["p", "q"], 50),
    )
    system = System.of_table(t)
    assert not (system.equations @ system.value).any()
    # two inner codes in x and y, one in z, times the codes of the other dimensions
    assert system.equations.shape == (2 * 5 * 3 + 2 * 5 * 3 + 1 * 5 * 5, 75)


def test_the_same_cell_in_two_tables_is_one():
    by_both = table({"x": TREE, "y": None}, x=["A1", "B"], y=["p", "q"])
    by_one = table({"x": TREE}, x=["A1", "B"])
    both, one = System.of_table(by_both).cells, System.of_table(by_one).cells
    assert set(one) <= set(both)
    assert one[0] == Cell("count", "", ())
    assert str(one[0]) == "count[total]" and str(one[2]) == "count[x=A1]"
    assert len(set(both)) == len(both) == 15


def test_filters_are_other_cells():
    data = pa.table({"x": ["A1", "B"], "y": ["p", "q"], "v": [1, 2]})

    def cells(by, where):
        return System.of_table(dk.tabulate(data, by=by, where=where)).cells

    whole = cells({"x": TREE, "y": None}, None)
    assert not set(whole) & set(cells({"x": TREE}, {"v": {"max": 1}}))
    assert not set(whole) & set(cells({"x": TREE, "y": None}, {"y": "p"}))
    # a filter for one code selects what the code selects in a table by its column
    of_code = {cell for cell in whole if isinstance(cell, Cell) and ("y", "p") in cell.at}
    assert set(cells({"x": TREE}, {"y": "p"})) == of_code
    assert str(cells({"x": TREE}, {"v": {"max": 1}})[1]) == "count[x=A; v ≤ 1]"


def test_vintages_are_other_cells():
    old = dk.tabulate(pa.table({"x": ["A1"]}), by={"x": TREE}, vintage="2024")
    new = dk.tabulate(pa.table({"x": ["A1"]}), by={"x": TREE}, vintage="2025")
    assert not set(System.of_table(old).cells) & set(System.of_table(new).cells)


def test_values_of_cells_that_nothing_bounds_are_moderate():
    """Cells in no equation, and in equations with each other only, could be of any size."""
    alone = [[1, 0, -1, -1, -1]]
    among = [[-1, 0, 0, 0, 0, -1, -1, 0, 1], [0, 0, 0, 0, -1, -1, 0, -1, 1]]
    for rows in (alone, [*among, [0] * 7 + [-1, 1], [1, 0, 0, 0, 0, -1, 0, -1, 0]]):
        equations = sparse.csr_array(np.array(rows))
        for lowest in (0.0, -np.inf):
            least = np.full(equations.shape[1] - 1, lowest)
            values = np.append(3, possible_values(equations, np.array([3]), least))
            assert not (equations @ values).any() and (values[1:] >= lowest).all()
            assert (abs(values) < 100).all()


def test_possible_values_take_bounded_work_and_time(monkeypatch: pytest.MonkeyPatch):
    equations = sparse.csr_array(np.array([[1, -1, -1, 0], [1, 0, -1, -1]]))
    least = np.zeros(3)
    with pytest.raises(OutOfTime):
        possible_values(equations, np.array([9]), least, Deadline(-1.0))
    monkeypatch.setattr(possible, "_STEPS", 0)  # then a corner has to do
    values = np.append(9, possible_values(equations, np.array([9]), least))
    assert not (equations @ values).any() and (values >= 0).all()
    monkeypatch.setattr(possible, "_PIVOTS", 0)
    with pytest.raises(ProtectionError, match="within the work that is allowed"):
        possible_values(equations, np.array([9]), least)


def test_values_that_contradict_each_other_are_told_from_those_not_found():
    equations = sparse.csr_array(np.array([[1, 0, -1, -1], [0, 1, -1, -1]]))
    with pytest.raises(InputError, match="contradict each other"):
        possible_values(equations, np.array([9, 8]), np.zeros(2))
