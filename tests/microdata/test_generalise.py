"""The best levels of several keys: safe, and nothing in the whole lattice loses less."""

from collections import Counter
from itertools import product
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError, Hierarchy
from diskret.errors import ProtectionError
from diskret.io import Coded, coded
from diskret.microdata import lattice as lattices
from diskret.microdata.generalise import distinct_values, generalised
from diskret.microdata.lattice import Ladder, Lattice, breaks_ladder, tree_ladder
from diskret.microdata.loss import measure
from diskret.risk import Keys

METRICS = ("entropy", "precision", "height", "discernibility", "class_size")


@st.composite
def ladders_of(draw, name, size):
    """Random coarsenings of some categories, the last of them into one."""
    codes, labels = list(range(size)), []
    for level in range(draw(st.integers(0, 2))):
        width = draw(st.integers(1, 3))
        codes = [code // width for code in codes]
        labels.append(tuple(f"{level}:{code}" for code in codes))
    if labels or draw(st.booleans()):
        labels.append(("all",) * size)
    return Ladder(name, size, tuple(labels))


@st.composite
def files(draw):
    """Keys with a few missing values, and the levels of each."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    n = draw(st.integers(1, 14))
    columns, ladders = [], []
    for axis, size in enumerate(sizes):
        values = draw(st.lists(st.integers(-1, size - 1), min_size=n, max_size=n))
        categories = pa.array([f"c{i}" for i in range(size)])
        columns.append(Coded(f"k{axis}", categories, np.array(values, dtype=np.int32)))
        ladders.append(draw(ladders_of(f"k{axis}", size)))
    return Keys(tuple(columns)), ladders


def shown(keys, ladders, levels):
    """What each record shows, as the text says it; None where missing."""
    columns = []
    for column, ladder, level in zip(keys.columns, ladders, levels, strict=True):
        names = ladder.labels[level - 1] if level else range(ladder.size)
        missing = "all" if level and level == ladder.height else None
        columns.append([names[code] if code >= 0 else missing for code in column.codes.tolist()])
    return list(zip(*columns, strict=True))


def brute_force(keys, ladders, levels, k, metric, enough=lambda count: True):
    """Records whose classes do not do, and the loss, record by record."""
    rows = shown(keys, ladders, levels)
    base = shown(keys, ladders, [0] * len(ladders))
    classes, n = Counter(rows), len(rows)
    bad = [classes[row] < k or not enough(classes[row]) for row in rows]
    loss = everything = 0.0
    for axis, (ladder, level) in enumerate(zip(ladders, levels, strict=True)):
        fine, coarse = (Counter(row[axis] for row in which) for which in (base, rows))
        for row, one, hidden in zip(rows, base, bad, strict=True):
            if metric == "entropy":
                loss += log2((n if hidden else coarse[row[axis]]) / fine[one[axis]])
                everything += log2(n / fine[one[axis]])
            elif metric in ("precision", "height"):
                height = max(1, ladder.height)
                unit = 1 / height if metric == "precision" else 1
                loss += (height if hidden else level) * unit
                everything += height * unit
    if metric == "discernibility":
        loss = sum(n if hidden else classes[row] for row, hidden in zip(rows, bad, strict=True))
        everything = n * n
    if metric == "class_size":
        kept = {row for row, hidden in zip(rows, bad, strict=True) if not hidden}
        loss, everything = 1, len(kept) + any(bad)
    return sum(bad), loss / (everything or 1)


def best_of_all(keys, ladders, k, limit, metric, enough=lambda count: True):
    """The loss of the best of all combinations of levels, or None."""
    found = []
    for levels in product(*(range(ladder.height + 1) for ladder in ladders)):
        bad, loss = brute_force(keys, ladders, levels, k, metric, enough)
        if bad <= limit:
            found.append((loss, sum(levels), levels))
    return min(found, default=None)


@given(files(), st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.34]), st.sampled_from(METRICS))
def test_no_combination_of_levels_loses_less(file, k, share, metric):
    keys, ladders = file
    limit = int(share * keys.n + 1e-9)
    best = best_of_all(keys, ladders, k, limit, metric)
    if best is None:
        with pytest.raises(ProtectionError, match="even on the coarsest levels"):
            generalised(keys, ladders, k, share, metric)
        return
    made = generalised(keys, ladders, k, share, metric)
    bad, loss = brute_force(keys, ladders, made.node.levels, k, metric)
    assert bad <= limit and bad == int(made.node.count[made.hidden].sum())
    assert made.loss == pytest.approx(best[0], abs=1e-12)
    assert loss == pytest.approx(best[0], abs=1e-12)
    assert made.examined <= made.lattice_size


@given(files(), st.integers(1, 3), st.sampled_from([0.0, 0.34]), st.sampled_from(METRICS))
def test_a_criterion_that_is_not_monotone_is_met_at_least_loss(file, k, share, metric):
    keys, ladders = file
    limit = int(share * keys.n + 1e-9)
    best = best_of_all(keys, ladders, k, limit, metric, lambda count: count % 2 == 0)
    arguments = (keys, ladders, k, share, metric, lambda node: node.count % 2 == 0)
    if best is None:
        with pytest.raises(ProtectionError):
            generalised(*arguments)
        return
    assert generalised(*arguments).loss == pytest.approx(best[0], abs=1e-12)


@given(files(), st.integers(1, 3), st.data())
def test_distinct_values_are_counted_in_every_class(file, least, data):
    keys, ladders = file
    values = data.draw(st.lists(st.integers(-1, 2), min_size=keys.n, max_size=keys.n))
    sensitive = Coded("s", pa.array(["a", "b", "c"]), np.array(values, dtype=np.int32))
    enough = distinct_values(keys, sensitive, least)
    levels = [data.draw(st.integers(0, ladder.height)) for ladder in ladders]
    node = Lattice(keys, ladders).node(tuple(levels))
    found = [len({values[i] for i in np.flatnonzero(node.of == c)}) for c in range(len(node.count))]
    assert enough(node).tolist() == [number >= least for number in found]


@given(files(), st.sampled_from(METRICS), st.data())
def test_losses_rise_with_the_levels_and_with_what_is_hidden(file, metric, data):
    """What the search relies on to leave combinations out."""
    keys, ladders = file
    whole = Lattice(keys, ladders)
    by = measure(whole, metric)
    low = [data.draw(st.integers(0, ladder.height)) for ladder in ladders]
    high = [
        data.draw(st.integers(g, ladder.height)) for g, ladder in zip(low, ladders, strict=True)
    ]
    finer, coarser = whole.node(tuple(low)), whole.node(tuple(high))
    none = np.zeros(len(coarser.count), dtype=bool)
    some = data.draw(st.lists(st.booleans(), min_size=len(none), max_size=len(none)))
    bound = by.bound(coarser)
    assert by.known[finer.levels] <= by.bound(finer) <= bound == by.loss(coarser, none)
    assert bound <= by.loss(coarser, np.array(some)) <= 1 + 1e-12


@given(files(), st.data())
def test_classes_do_not_depend_on_the_node_they_are_put_together_from(file, data):
    keys, ladders = file
    whole = Lattice(keys, ladders)
    for _ in range(4):
        levels = tuple(data.draw(st.integers(0, ladder.height)) for ladder in ladders)
        node, alone = whole.node(levels), Lattice(keys, ladders).node(levels)
        assert node.count.tolist() == alone.count.tolist()
        assert [c.tolist() for c in node.codes] == [c.tolist() for c in alone.codes]
        rows = shown(keys, ladders, levels)
        assert len(set(zip(rows, node.of.tolist(), strict=True))) == len(set(rows))
        assert np.bincount(node.of).tolist() == node.count.tolist()


def example(n=400, seed=1):
    """Three keys with trees, independent of each other."""
    random = np.random.default_rng(seed)
    columns = [
        coded(pa.chunked_array([random.integers(0, 40, n)]), "age"),
        coded(pa.chunked_array([random.integers(0, 16, n)]), "region"),
        coded(pa.chunked_array([random.integers(0, 2, n)]), "sex"),
    ]
    trees = [
        Hierarchy.from_widths(range(40), (2, 4, 8)),
        Hierarchy.from_widths(range(16), (4,)),
        Hierarchy.flat([0, 1]),
    ]
    return Keys(tuple(columns)), [
        tree_ladder(column, tree) for column, tree in zip(columns, trees, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "value"), [("_LARGEST_NUMBER", 1), ("_KEPT", 1), ("_DENSE", 1000)]
)
def test_each_way_to_count_classes_gives_the_same(monkeypatch, name, value):
    keys, ladders = example()
    plain = Lattice(keys, ladders)
    every = list(product(*map(range, plain.shape)))
    expected = {levels: plain.node(levels) for levels in every}
    monkeypatch.setattr(lattices, name, value)
    other = Lattice(keys, ladders)
    for levels in every:
        node = other.node(levels)
        assert node.count.tolist() == expected[levels].count.tolist()
        assert [c.tolist() for c in node.codes] == [c.tolist() for c in expected[levels].codes]


def test_few_combinations_are_examined():
    keys, ladders = example()
    made = generalised(keys, ladders, 5)
    assert made.lattice_size == 5 * 3 * 2
    assert made.examined < made.lattice_size / 2
    assert made.node.count.min() >= 5


def test_a_function_can_measure_the_loss():
    keys, ladders = example()
    made = generalised(keys, ladders, 5, metric=lambda node, hidden: -len(node.count))
    sizes = {
        levels: len(Lattice(keys, ladders).node(levels).count)
        for levels in product(range(5), range(3), range(2))
        if Lattice(keys, ladders).node(levels).count.min() >= 5
    }
    assert len(made.node.count) == max(sizes.values()) == -made.loss


def test_row_order_does_not_matter():
    keys, ladders = example()
    order = np.random.default_rng(2).permutation(keys.n)
    shuffled = Keys(tuple(Coded(c.name, c.categories, c.codes[order]) for c in keys.columns))
    for share in (0.0, 0.05):
        first, second = (generalised(k, ladders, 4, share) for k in (keys, shuffled))
        assert (first.node.levels, first.loss) == (second.node.levels, second.loss)
        assert first.hidden[first.node.of][order].tolist() == second.hidden[second.node.of].tolist()


def test_progress_ends_at_the_whole_lattice():
    told = []
    keys, ladders = example()
    generalised(keys, ladders, 5, progress=lambda *what: told.append(what))
    assert told[-1] == ("generalise", 30, 30)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k= must be"),
        ({"k": 3, "suppression": 1.5}, "suppression= must be a number from 0 to 1"),
        ({"k": 3, "metric": "loss"}, "metric= must be"),
    ],
)
def test_options_are_checked(options, message):
    keys, ladders = example()
    with pytest.raises(DiskretError, match=message):
        generalised(keys, ladders, **options)


def test_what_cannot_be_made_safe_is_said():
    keys, ladders = example(n=50)
    fixed = [Ladder("age", ladders[0].size), *ladders[1:]]
    with pytest.raises(ProtectionError, match=r"of 50 records .*\(no levels .* for 'age'\)"):
        generalised(keys, fixed, 3)
    with pytest.raises(ProtectionError, match="further criterion"):
        generalised(keys, ladders, 3, criterion=lambda node: np.zeros(len(node.count), dtype=bool))


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(lattices, "LARGEST", 29)
    with pytest.raises(DiskretError, match="30 combinations, more than 29"):
        generalised(*example(), 3)


def test_breaks_of_coarser_levels_are_among_the_finer_ones():
    age = coded(pa.chunked_array([[3, 15, 27]]), "age")
    ladder = breaks_ladder(age, [[0, 10, 20, 30], [0, 20, float("inf")]])
    assert ladder.labels == (
        ("0-9", "10-19", "20-29"),
        ("0-19", "0-19", "≥ 20"),
        ("Total", "Total", "Total"),
    )
    with pytest.raises(DiskretError, match="breaks 15 of a coarser level of 'age'"):
        breaks_ladder(age, [[0, 10, 20, 30], [0, 15, 30]])
