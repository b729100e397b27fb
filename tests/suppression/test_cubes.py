"""The cheapest hypercube around a cell, against hypercubes worked out by hand and by force."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from profiles import examples
from suppression_problems import flat, with_totals

from diskret.hierarchy import Hierarchy
from diskret.suppression.hypercube import Cube, Need, Room, Subtable, cheapest_cube, subtables
from diskret.system.equations import rectangular_equations
from diskret.tables import Dimension

VALUES = with_totals(np.array([[2, 5, 9], [7, 4, 8], [6, 10, 12]]), [flat(3), flat(3)])


def room_of(value: NDArray[np.int64]) -> Room:
    """Values can fall to 0 and rise for ever; hiding costs the value; nothing is hidden."""
    value = value.ravel()
    up = np.where(value > 0, np.inf, 0)
    return Room(
        value.astype(float), up, np.maximum(value, 1).astype(float), np.zeros(value.size, bool)
    )


def whole(*sizes: int) -> Subtable:
    (subtable,) = subtables([flat(n) for n in sizes])
    return subtable


def values_at(cube: Cube | None) -> list[int]:
    assert cube is not None
    return sorted(VALUES.ravel()[cube.at].tolist())


@pytest.mark.parametrize(
    ("above", "corners"),
    [
        (1, [2, 4, 5, 7]),  # the cheapest of all: 5 and 7 fall, 4 rises
        (5, [2, 4, 5, 7]),
        (6, [2, 7, 8, 9]),  # the 5 cannot fall by 6
        (8, [2, 9, 15, 29]),  # nor the 7 by 8: the column's total rises, and its neighbour falls
        (20, [2, 15, 16, 63]),  # with both totals everything rises
    ],
)
def test_the_hypercube_around_the_2_worked_out_by_hand(above: int, corners: list[int]):
    at = int(np.ravel_multi_index((1, 1), (4, 4)))
    assert values_at(cheapest_cube(whole(3, 3), at, Need(2, above, 1), room_of(VALUES))) == corners


def test_fewer_new_cells_go_before_cheaper_ones():
    room = room_of(VALUES)
    room.hidden[[1 * 4 + 1, 3 * 4 + 1, 1 * 4 + 3]] = True  # the 2, the 6 and the 9
    # only the 12 is new, though 4 + 5 + 7 or 10 + 5 would be cheaper without the others
    assert values_at(cheapest_cube(whole(3, 3), 5, Need(1, 1, 1), room)) == [2, 6, 9, 12]


def test_no_hypercube_is_given_where_none_is_large_enough():
    assert cheapest_cube(whole(3, 3), 5, Need(3, 1, 1), room_of(VALUES)) is None


def test_a_single_child_and_its_parent_are_a_hypercube():
    cube = cheapest_cube(whole(1), 1, Need(1, 1, 1), room_of(np.array([4, 4])))
    assert cube is not None
    assert cube.at.tolist() == [1, 0] and cube.along.tolist() == [True, True]


sizes = st.lists(st.integers(1, 3), min_size=1, max_size=3)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Subtable, NDArray[np.int64], Room, int, Need]:
    shape = draw(sizes)
    leaf = st.sampled_from([0, 1, 2, 3, 5, 8])
    leaves = draw(st.lists(leaf, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    value = with_totals(np.array(leaves).reshape(shape), [flat(n) for n in shape])
    room = room_of(value)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    room.hidden[:] = random.random(value.size) < draw(st.sampled_from([0, 0.4]))
    stay = random.random(value.size) < draw(st.sampled_from([0, 0.2]))
    room.up[stay] = room.down[stay] = 0
    need = Need(draw(st.integers(0, 2)), draw(st.integers(0, 4)), draw(st.integers(1, 5)))
    return whole(*shape), value, room, draw(st.integers(0, value.size - 1)), need


@given(questions())
@examples(100)
def test_the_hypercube_is_the_best_of_all(
    question: tuple[Subtable, NDArray[np.int64], Room, int, Need],
):
    """Movements that keep all sums are the yardstick, not the signs of the module."""
    subtable, value, room, at, need = question
    equations = rectangular_equations(
        tuple(Dimension(f"v{axis}", flat(n - 1)) for axis, n in enumerate(value.shape))
    ).toarray()
    here = np.unravel_index(at, value.shape)
    prices: list[tuple[int, float]] = []
    for other in product(
        *(set(range(n)) - {int(i)} for n, i in zip(value.shape, here, strict=True))
    ):
        corner = [
            int(np.ravel_multi_index(place, value.shape))
            for place in product(*zip(map(int, here), other, strict=True))
        ]
        moves = [
            np.array(sign)
            for sign in product((1, -1), repeat=len(corner))
            if sign[0] == 1 and not (equations[:, corner] @ np.array(sign)).any()
        ]
        assert len(moves) == 1
        up = np.where(moves[0] > 0, room.up[corner], room.down[corner]).min()
        down = np.where(moves[0] > 0, room.down[corner], room.up[corner]).min()
        if down >= need.below and up >= need.above and down + up >= need.width:
            new = [c for c in corner if not room.hidden[c]]
            prices.append((len(new), float(room.price[new].sum())))
    cube = cheapest_cube(subtable, at, need, room)
    assert (cube is None) == (not prices)
    if cube is not None:
        new = cube.at[~room.hidden[cube.at]]
        assert (len(new), room.price[new].sum()) == min(prices)
        move = np.where(cube.along, 1, -1)
        assert cube.at[0] == at and not (equations[:, cube.at] @ move).any()
        assert np.all(np.where(cube.along, room.up[cube.at], room.down[cube.at]) >= cube.up)
        assert np.all(np.where(cube.along, room.down[cube.at], room.up[cube.at]) >= cube.down)


def test_no_more_hypercubes_are_compared_than_the_limit_says(monkeypatch: pytest.MonkeyPatch):
    seen: list[int] = []

    class Counting(Need):
        def met(self, down: NDArray[np.float64], up: NDArray[np.float64]) -> NDArray[np.bool_]:
            seen.append(down.size if down.ndim == 2 else 0)
            return super().met(down, up)

    question = whole(3, 3), 5, Counting(2, 6, 1), room_of(VALUES)
    assert values_at(cheapest_cube(*question)) == [2, 7, 8, 9]
    assert max(seen) == 2 * 3  # the corner beside must have room: the 5 has not
    monkeypatch.setattr(sys.modules[Need.__module__], "LARGEST_NUMBER", 4)
    seen.clear()
    assert values_at(cheapest_cube(*question)) == [2, 7, 8, 9]
    assert 0 < max(seen) <= 4


def test_every_cell_has_every_role_once_at_most():
    tree = Hierarchy(("T", "a", "a1", "a2", "b"), np.array([-1, 0, 1, 1, 0], dtype=np.int32))
    found = list(subtables([tree, flat(2), Hierarchy(("all",), np.array([-1], dtype=np.int32))]))
    assert [s.cell.shape for s in found] == [(3, 3), (3, 3)]
    assert found[0].cell[:, 0].tolist() == [0, 3, 12]  # T, a, b
    assert found[1].cell[:, 0].tolist() == [3, 6, 9]  # a, a1, a2
    assert found[0].role.tolist() == [[3, 1, 1], [2, 0, 0], [2, 0, 0]]
    cell, role = (np.concatenate([getattr(s, n).ravel() for s in found]) for n in ("cell", "role"))
    assert len(set(zip(cell.tolist(), role.tolist(), strict=True))) == len(cell)
    assert set(cell.tolist()) == set(range(15))
