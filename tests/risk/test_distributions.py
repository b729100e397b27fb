"""Models of anonymity are those of their definitions, looked at record by record."""

from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from risk_files import files, keys_of
from scipy.optimize import linprog

from diskret.errors import InputError
from diskret.risk import by_record, frequencies
from diskret.risk import distributions as module
from diskret.risk.sensitive_figures import (
    disclosure,
    distinct,
    enhanced_likeness,
    entropy,
    hierarchical,
    largest_share,
    likeness,
    nominal,
    ordered,
    recursive,
)

MISSING = ["wildcard", "category", "conservative"]


def own_values(rows, values, missing, known):
    """For each record the values of all records that agree with it."""
    found = []
    for i, one in enumerate(rows):
        same = [j for j, other in enumerate(rows) if i == j or agree(one, other, missing)]
        found.append([values[j] for j in same if known[i] == known[j]])
    return found


def agree(one, other, missing):
    if missing == "category":
        return (one == other).all()
    gap = (one < 0) | (other < 0)
    return not (missing == "conservative" and gap.any()) and (gap | (one == other)).all()


def shares(own, every):
    """Value → its share among some records and in the file."""
    return {v: (own.count(v) / len(own), every.count(v) / len(every)) for v in sorted(set(every))}


def transport(own, every, distance):
    """The least share times distance that makes one distribution the other, by linear programme."""
    pairs = shares(own, every)
    m = len(pairs)
    cost = [[distance(a, b) for b in pairs] for a in pairs]
    rows = np.kron(np.eye(m), np.ones(m))
    columns = np.kron(np.ones(m), np.eye(m))
    ends = [p for p, _ in pairs.values()] + [q for _, q in pairs.values()]
    return linprog(np.ravel(cost), A_eq=np.vstack([rows, columns]), b_eq=ends).fun


@st.composite
def judged(draw):
    rows, _ = draw(files(most_rows=10, most_keys=3))
    value = st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows))
    return rows, draw(value), draw(value)


def figure(rows, values, measure, missing, known=()):
    extra = [np.array(codes, dtype=np.int32) for codes in known]
    given = np.array(values, dtype=np.int32)
    return by_record(keys_of(rows), given, lambda f: measure(f)[None], missing, extra)[0]


@examples(60)
@given(judged(), st.sampled_from(MISSING), st.booleans())
def test_figures_are_those_of_the_records_that_agree(file, missing, others_known):
    rows, values, other = file
    known = [other] if others_known else []
    own = own_values(rows, values, missing, other if others_known else [0] * len(rows))
    descending = [sorted((g.count(v) for v in set(g)), reverse=True) for g in own]
    pairs = [shares(g, values) for g in own]

    def same(measure, expected):
        found = figure(rows, values, measure, missing, known)
        assert found.tolist() == pytest.approx(expected, abs=1e-9)

    same(lambda f: f.total.astype(float), [len(g) for g in own])
    same(distinct, [len(counts) for counts in descending])
    same(entropy, [exp(-sum(p * log(p) for p, _ in pair.values() if p)) for pair in pairs])
    for least in (1, 2, 3):
        ratios = [c[0] / sum(c[least - 1 :]) if len(c) >= least else inf for c in descending]
        same(lambda f, least=least: recursive(f, least), ratios)
    same(largest_share, [counts[0] / sum(counts) for counts in descending])
    increase = [max(p / q - 1 for p, q in pair.values()) for pair in pairs]
    same(likeness, increase)
    within = [all(p / q - 1 <= -log(q) + 1e-9 for p, q in pair.values()) for pair in pairs]
    same(enhanced_likeness, [x if fine else inf for x, fine in zip(increase, within, strict=True)])
    sizes = [max(abs(log(p / q)) if p else inf for p, q in pair.values()) for pair in pairs]
    same(disclosure, sizes)


@examples(25)
@given(judged(), st.sampled_from(MISSING))
def test_distances_are_least_transports(file, missing):
    rows, values, _ = file
    own = own_values(rows, values, missing, [0] * len(rows))
    occurring = sorted(set(values))
    longest = max(len(occurring) - 1, 1)
    inner = [0, 0, 1, 1, 1]  # values 0, 1 hang on one node, 2, 3, 4 on another

    def on_line(a, b):
        return abs(occurring.index(a) - occurring.index(b)) / longest

    def in_tree(a, b):
        return 0 if a == b else 0.5 if inner[a] == inner[b] else 1

    levels = [np.array(occurring), np.array([inner[v] for v in occurring])]
    for measure, distance in (
        (nominal, lambda a, b: float(a != b)),
        (ordered, on_line),
        (lambda f: hierarchical(f, levels), in_tree),
    ):
        found = figure(rows, values, measure, missing)
        assert found.tolist() == pytest.approx([transport(g, values, distance) for g in own])


@given(judged(), st.sampled_from(MISSING))
def test_totals_are_frequencies(file, missing):
    rows, values, _ = file
    found = figure(rows, values, lambda f: f.total.astype(float), missing)
    assert found.tolist() == frequencies(keys_of(rows), None, missing).sample.tolist()


def test_blocks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(3)
    rows, values = rng.integers(-1, 3, (300, 3)), rng.integers(0, 50, 300)
    whole = figure(rows, values, ordered, "wildcard")
    monkeypatch.setattr(module, "_BLOCK", 40)
    assert figure(rows, values, ordered, "wildcard").tolist() == whole.tolist()


def test_row_order_makes_no_difference():
    rng = np.random.default_rng(4)
    rows, values = rng.integers(-1, 3, (200, 3)), rng.integers(0, 9, 200)
    order = rng.permutation(200)
    for measure in (entropy, ordered, nominal, likeness):
        found = figure(rows, values, measure, "wildcard")
        assert figure(rows[order], values[order], measure, "wildcard").tolist() == (
            found[order].tolist()
        )


def test_many_numeric_values_cost_no_table_of_classes_and_values():
    n = 200_000
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.integers(0, 300, n), rng.integers(0, 300, n)])
    found = figure(rows, rng.permutation(n), ordered, "wildcard")
    assert 0 < found.min() <= found.max() < 0.75  # 50,000 classes × 200,000 values would not fit


def test_l_is_checked():
    with pytest.raises(InputError, match="l= must be a whole number from 1 upwards"):
        figure([[0]], [0], lambda f: recursive(f, 0), "wildcard")
