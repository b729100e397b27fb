"""Small files for local suppression, and oracles that share no code with it."""

import highspy
import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

from diskret.io import Coded
from diskret.microdata.suppression import Condition, Problem
from diskret.risk import Keys


def keys_of(rows):
    rows = np.asarray(rows, dtype=np.int32)
    return Keys(
        tuple(
            Coded(f"q{q}", pa.array(range(int(rows[:, q].max(initial=-1)) + 1)), rows[:, q])
            for q in range(rows.shape[1])
        )
    )


def problem_of(rows, k, price=None, group=None, sets=None):
    """`k`: one number, one for each record, or one for each of `sets`."""
    rows = np.asarray(rows)
    n, m = rows.shape
    sets = [tuple(range(m))] if sets is None else sets
    needs = k if isinstance(k, list) else [k] * len(sets)
    return Problem(
        keys_of(rows),
        tuple(
            Condition(of, np.broadcast_to(least, n).astype(np.int64))
            for of, least in zip(sets, needs, strict=True)
        ),
        np.ones(m) if price is None else np.asarray(price, dtype=float),
        np.zeros(n, dtype=np.int64) if group is None else np.asarray(group, dtype=np.int64),
    )


def agreeing(rows, group=None):
    """How many records agree with each, counted pair by pair."""
    gap = (rows[:, None] < 0) | (rows[None] < 0)
    agree = (gap | (rows[:, None] == rows[None])).all(axis=2)
    if group is not None:
        agree &= np.equal.outer(group, group)
    return agree.sum(axis=1)


@st.composite
def files(draw, missing=True, most=14):
    """Codes of a few records, some of them missing."""
    n, m = draw(st.integers(3, most)), draw(st.integers(1, 4))
    lowest = -1 if missing and draw(st.booleans()) else 0
    values = st.lists(st.integers(lowest, 2), min_size=n * m, max_size=n * m)
    return np.array(draw(values), dtype=np.int32).reshape(n, m)


def least_number(rows, k):
    """The smallest number of values whose suppression makes all agree with k: an exact programme.

    Binary s_iq: value q of record i is suppressed. a_ij in [0, 1]: i and j agree, at most
    s_iq + s_jq for every key in which they differ. The sum of a_ij over j is at least k - 1.
    """
    n, m = rows.shape
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    entries, lower = [], []
    partners = [[] for _ in range(n)]
    for p, (i, j) in enumerate(pairs):
        partners[i].append(p)
        partners[j].append(p)
        for q in np.flatnonzero(rows[i] != rows[j]).tolist():
            entries += [(len(lower), at, 1) for at in (i * m + q, j * m + q)]
            entries.append((len(lower), n * m + p, -1))
            lower.append(0)
    for i, found in enumerate(partners):
        alike = (rows == rows[i]).all(axis=1).sum() - 1
        if alike < k - 1:
            entries += [(len(lower), n * m + p, 1) for p in found]
            lower.append(k - 1)
    if not entries:
        return 0
    row, column, value = np.array(entries).T
    columns = n * m + len(pairs)
    matrix = sparse.csr_array((value, (row, column)), shape=(len(lower), columns))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = columns, len(lower)
    program.col_cost_ = np.repeat([1.0, 0.0], [n * m, len(pairs)])
    program.col_lower_, program.col_upper_ = np.zeros(columns), np.ones(columns)
    program.row_lower_ = np.array(lower, dtype=float)
    program.row_upper_ = np.full(len(lower), highspy.kHighsInf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.num_col_, program.a_matrix_.num_row_ = columns, len(lower)
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data.astype(float)
    kinds = highspy.HighsVarType
    program.integrality_ = [kinds.kInteger] * (n * m) + [kinds.kContinuous] * len(pairs)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_abs_gap", 0.99)  # the optimum is a whole number
    solver.passModel(program)
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return round(solver.getInfo().objective_function_value)
