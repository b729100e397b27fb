"""Published tables with suppressed cells, for the tests of the attack."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Published


def rolled_up(trees, leaves):
    """All cells of a table from its leaf values, in the plainest way."""
    value = np.zeros(tuple(len(t) for t in trees), dtype=np.int64)
    value[np.ix_(*(t.leaves for t in trees))] = leaves
    for axis, tree in enumerate(trees):
        for code in range(len(tree) - 1, 0, -1):
            at = (slice(None),) * axis
            value[(*at, int(tree.parent[code]))] += value[(*at, code)]
    return value


def publish(trees, value, hidden, frequency=False, nonnegative=True, decimals=0):
    return Published(
        name="t",
        dimensions=tuple(Dimension(f"d{i}", tree) for i, tree in enumerate(trees)),
        measure="n",
        frequency=frequency,
        decimals=decimals,
        value=np.where(hidden, 0, value),
        suppressed=hidden,
        empty=np.zeros(value.shape, dtype=bool),
        nonnegative=nonnegative,
    )


def hide(trees, *cells):
    hidden = np.zeros(tuple(len(t) for t in trees), dtype=bool)
    for codes in cells:
        hidden[tuple(t.position[code] for t, code in zip(trees, codes, strict=True))] = True
    return hidden


SQUARE = (Hierarchy.flat(["1", "2", "3"]), Hierarchy.flat(["1", "2", "3"]))
MEINDL = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
CORNERS = [("1", "1"), ("1", "3"), ("2", "1"), ("2", "3")]


def meindl(*cells, **kwargs):
    value = rolled_up(SQUARE, MEINDL)
    return publish(SQUARE, value, hide(SQUARE, *cells), **kwargs)


TREES = [
    Hierarchy.flat(["a", "b"]),
    Hierarchy.flat(["a", "b", "c"]),
    Hierarchy(("T", "a", "a1", "a2", "b"), np.array([-1, 0, 1, 1, 0])),
    Hierarchy(("T", "a", "a1", "b", "b1", "b2"), np.array([-1, 0, 1, 0, 3, 3])),
]


@st.composite
def tables(draw, dimensions=(1, 4), largest=9, frequency=None, most_hidden=60):
    n = draw(st.integers(*dimensions))
    trees = tuple(draw(st.sampled_from(TREES if n < 4 else TREES[:1])) for _ in range(n))
    leaves = tuple(len(t.leaves) for t in trees)
    size = int(np.prod(leaves))
    drawn = draw(st.lists(st.integers(0, largest), min_size=size, max_size=size))
    value = rolled_up(trees, np.array(drawn).reshape(leaves))
    share = draw(st.sampled_from([0.1, 0.3, 0.5, 0.9]))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    hidden = random.random(value.shape) < share
    hidden.ravel()[np.flatnonzero(hidden)[most_hidden:]] = False
    if frequency is None:
        frequency = draw(st.booleans())
    return publish(trees, value, hidden, frequency), value


def whole_tables(published, below):
    """Every table of whole numbers below a limit in hidden leaves that agrees with the public."""
    trees = [d.hierarchy for d in published.dimensions]
    leaf = np.zeros(published.shape, dtype=bool)
    leaf[np.ix_(*(t.leaves for t in trees))] = True
    leaves = np.flatnonzero(leaf)
    adds_up = np.array(
        [
            rolled_up(trees, unit.reshape([len(t.leaves) for t in trees])).ravel()
            for unit in np.eye(len(leaves), dtype=np.int64)
        ]
    )
    open_ = published.suppressed.ravel()[leaves]
    base = np.where(open_, 0, published.value.ravel()[leaves]) @ adds_up
    guesses = np.array(list(product(range(below), repeat=int(open_.sum()))), dtype=np.int64)
    every = base + guesses @ adds_up[open_]
    shown = ~published.suppressed.ravel()
    return every[np.all(every[:, shown] == published.value.ravel()[shown], axis=1)], leaves[open_]


def three_way(seed, frequency=True):
    """A dense three-dimensional table with all inner cells hidden."""
    tree = Hierarchy.flat([*"abcd"])
    trees = (tree, tree, tree)
    value = rolled_up(trees, np.random.default_rng(seed).integers(0, 3, (4, 4, 4)))
    hidden = np.zeros(value.shape, dtype=bool)
    hidden[1:, 1:, 1:] = True
    return publish(trees, value, hidden, frequency)
