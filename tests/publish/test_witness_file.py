"""The office's witnesses: what is read back is what was written, and nothing else is accepted."""

import shutil

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from sealing import reseal

import diskret as dk
from diskret.attack import recheck
from diskret.attack.equations import equations
from diskret.attack.witnesses import Witnesses
from diskret.errors import VerificationError
from diskret.publish.office.witnesses import read_witnesses
from diskret.publish.verify.folder import verify

#: What refuses it is not the seal: that of the office is put on again.
SAYS = r"witness\w* |requirements|t\.witnesses\.npz"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A table with 12 hidden cells in which several witnesses change the same start."""
    random = np.random.default_rng(4)
    n = 150
    frame = pa.table(
        {
            "a": random.choice(list("pqrst"), n, p=[0.4, 0.3, 0.2, 0.06, 0.04]),
            "b": random.choice(list("uvwxy"), n, p=[0.4, 0.3, 0.2, 0.06, 0.04]),
            "value": random.integers(1, 400, n),
        }
    )
    table = dk.tabulate(frame, by={"a": None, "b": None}, value="value")
    result = dk.suppress(table, dk.rules.PPercent(20), attacker=dk.Attacker(), name="t")
    folder = tmp_path_factory.mktemp("witnesses")
    result.write(folder / "out", ("csv",), keys=folder / "keys")
    return folder / "out", result


@pytest.fixture
def out(original, tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(original[0].parent / "keys"))
    return shutil.copytree(original[0], tmp_path / "out")


def arrays_of(out):
    with np.load(out / "internal" / "t.witnesses.npz") as file:
        return dict(file)


def written(out, arrays):
    np.savez_compressed(out / "internal" / "t.witnesses.npz", **arrays)
    reseal(out)


def test_what_is_read_is_what_was_found(original):
    out, result = original
    found = result.certificate.examination
    read = read_witnesses(out / "internal" / "t.witnesses.npz", equations(result.published))
    assert np.array_equal(read.cell, found.cell)
    assert np.array_equal(read.witness_lower, found.witness_lower)
    for one, other in zip(read.witnesses, found.witnesses, strict=True):
        assert one.denominator == other.denominator
        assert np.array_equal(one.numerator, other.numerator)
    recheck(result.published, read)


def complete(arrays):
    """The layout before this one: every witness complete."""
    names = ("step_data", "step_indices", "step_indptr")
    hidden = arrays["hidden"]
    step = sparse.csr_array(
        tuple(arrays[name] for name in names), shape=(len(arrays["of"]), len(hidden))
    )
    told = Witnesses(
        hidden, arrays["start"], arrays["unit"], arrays["of"], step, arrays["denominator"]
    )
    whole = np.stack([point.numerator for point in told])
    cells, others = (sparse.csr_array(whole[:, of]) for of in (hidden, ~hidden))
    parts = ("data", "indices", "indptr")
    return {
        "cell": arrays["cell"],
        "denominator": arrays["denominator"],
        **{name: getattr(cells, name) for name in parts},
        **{f"beside_{name}": getattr(others, name) for name in parts},
        "beside_columns": np.array(others.shape[1]),
    }


def test_the_layout_before_is_read(out):
    arrays = arrays_of(out)
    lines = verify(out).lines
    written(out, complete(arrays))
    assert verify(out).lines == lines


@pytest.mark.parametrize("name", ["data", "indices", "denominator", "cell", "beside_columns"])
def test_the_layout_before_is_checked_as_well(out, name):
    arrays = complete(arrays_of(out))
    changed = arrays[name].copy()
    changed[(0,) * changed.ndim] += 1
    written(out, arrays | {name: changed})
    with pytest.raises(VerificationError, match=SAYS):
        verify(out)


def changing(name, change):
    """The arrays with one of them changed."""
    return lambda arrays: arrays | {name: change(arrays[name].copy())}


def put(array, at, value):
    array[at] = value
    return array


def doubled(arrays):
    """The last index twice: what it changes is split among both."""
    start = arrays["step_indptr"].copy()
    start[-1] += 1
    return arrays | {
        "step_indices": np.append(arrays["step_indices"], arrays["step_indices"][-1:]),
        "step_data": np.append(arrays["step_data"][:-1], [1, arrays["step_data"][-1] - 1]),
        "step_indptr": start,
    }


def published_cell(arrays):
    """A witness for a cell that everybody sees, in the place of one that is hidden."""
    shown = np.setdiff1d(np.arange(arrays["cell"].max()), arrays["cell"])[-1]
    return arrays | {"cell": np.sort(np.append(arrays["cell"][1:], shown))}


def too_small(arrays):
    """Changes that balance, but do not take any cell as far as its rule asks."""
    none = {"step_data": arrays["step_data"][:0], "step_indices": arrays["step_indices"][:0]}
    starts = {"step_indptr": arrays["step_indptr"] * 0}
    return arrays | none | starts | {"denominator": arrays["unit"][arrays["of"]]}


SABOTAGE = {
    "a changed number": changing("step_data", lambda a: put(a, -1, a[-1] + 1)),
    "a turned change": changing("step_data", lambda a: put(a, -1, -a[-1])),
    "another start": changing("start", lambda a: put(a, (0, 0), a[0, 0] + 1)),
    "a shifted index": changing("step_indices", lambda a: a - 1),
    "a shifted range": changing("step_indptr", lambda a: put(a, -2, a[-2] - 1)),
    "shortened": changing("step_indices", lambda a: a[:-1]),
    "overlong": changing("step_data", lambda a: np.append(a, 1)),
    "an index twice": doubled,
    "beyond the end": changing("step_indices", lambda a: put(a, -1, 10**6)),
    "before the beginning": changing("step_indices", lambda a: put(a, 0, -1)),
    "a descending index": changing("step_indices", lambda a: a[::-1].copy()),
    "a start beyond the end": changing("of", lambda a: put(a, 0, 9)),
    "a start before the first": changing("of", lambda a: put(a, 0, -1)),
    "no start": changing("start", lambda a: a[:0]),
    "a start that is too short": changing("start", lambda a: a[:, :-1].copy()),
    "starts far away": changing("start", lambda a: put(a, (0, 0), 2**61)),
    "changes far away": changing("step_data", lambda a: put(a, 0, 2**62)),
    "nothing to divide by": changing("denominator", lambda a: put(a, 0, 0)),
    "no multiple": changing("unit", lambda a: a * 7),
    "other unknown values": changing("hidden", lambda a: np.append(a, True)),
    "not hidden": changing("hidden", lambda a: put(a, 0, False)),
    "a published cell": published_cell,
    "too small": too_small,
    "fractions as numbers": changing("step_data", lambda a: a.astype(float)),
    "a later layout": changing("layout", lambda a: a + 1),
    "no layout": lambda arrays: {k: v for k, v in arrays.items() if k != "layout"},
    "nothing": lambda arrays: {},
}


@pytest.mark.parametrize("change", SABOTAGE.values(), ids=SABOTAGE.keys())
def test_whatever_is_changed_is_refused(out, change):
    """Even with the key: a clerk who has it cannot list witnesses that prove nothing."""
    written(out, change(arrays_of(out)))
    with pytest.raises(VerificationError, match=SAYS):
        verify(out)


def test_each_missing_array_is_named(out):
    arrays = arrays_of(out)
    for name in set(arrays) - {"layout"}:
        written(out, {k: v for k, v in arrays.items() if k != name})
        with pytest.raises(VerificationError, match=f"'{name}' is missing"):
            verify(out)
