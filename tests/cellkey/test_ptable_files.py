"""Perturbation tables go out and come back as the same intervals."""

from __future__ import annotations

import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.cellkey import Lookup, PerturbationTable
from diskret.errors import InputError

TAU_ARGUS = "data/tauargus/tauargus/cellkey"


def same(one: Lookup, other: Lookup) -> bool:
    """Whether two lookups are alike, intervals that hold no key left out."""
    if one.counts.tolist() != other.counts.tolist() or one.step != other.step:
        return False
    return all(intervals(one, row) == intervals(other, row) for row in range(len(one.counts)))


def intervals(lookup, row):
    lower, found = 0, []
    for bound, noise in zip(lookup.bounds[row].tolist(), lookup.noise[row].tolist(), strict=True):
        if bound > lower:
            found.append((bound, noise))
        lower = bound
    return found


@examples(20)
@given(
    st.integers(1, 5), st.integers(0, 2), st.booleans(), st.sampled_from([10**8, 2**32, 256, 97])
)
def test_lookups_come_back_as_they_were(tmp_path_factory, largest, small, mixed, modulus):
    table = PerturbationTable.maximum_entropy(largest + small, 4.5, small)
    lookup = table.lookup(modulus)
    lookup = lookup.shuffled(3) if mixed else lookup
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    lookup.write(path)
    assert same(Lookup.read(path, modulus), lookup)


def test_tables_come_back_to_twelve_digits(tmp_path):
    path = tmp_path / "table.csv"
    for table in (
        PerturbationTable.maximum_entropy(5, 3, 2, 0.5),
        PerturbationTable.for_magnitudes(4, 2, step=2),
    ):
        table.write(path)
        again = PerturbationTable.read(path)
        assert again.step == table.step
        assert again.counts.tolist() == table.counts.tolist()
        for n in table.counts:
            for v in table.noise / table.step:
                assert again.probability(n, v) == pytest.approx(table.probability(n, v), abs=2e-12)


def test_layout_is_that_of_the_r_package(tmp_path):
    path, link = tmp_path / "table.csv", tmp_path / "link.csv"
    path.write_text("of last year, which others may read")
    path.chmod(0o644)
    table = PerturbationTable.from_matrix([[0.25, 0.5, 0.25]], [-1, 0, 1])
    table.write(path, kind="even")
    assert path.read_text(encoding="utf-8").splitlines() == [
        "i;j;p;v;p_int_ub;type",
        "0;0;1;0;1;even",
        "1;0;0.25;-1;0.25;even",
        "1;1;0.5;0;0.75;even",
        "1;2;0.25;1;1;even",
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link.symlink_to(path)
    table.write(link, kind="odd")
    assert link.is_symlink() and "0;0;1;0;1;odd" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "rows", "step"),
    [
        ("Frequency/tau_testW_ptable.txt", 11, 1),
        ("Magnitude/ptab_freq.txt", 9, 1),
        ("Magnitude/ptab_savings_all.txt", 3, 2),
        ("Magnitude/ptab_savings_smallcells.txt", 3, 2),
    ],
)
def test_files_of_tau_argus_are_read(reference_data, file, rows, step):
    path = reference_data / TAU_ARGUS / file
    table = PerturbationTable.read(path)
    assert (len(table.counts), table.step) == (rows, step)
    assert np.abs(table.means).max() < 2e-7
    lookup = Lookup.read(path, modulus=10**10)
    line = path.read_text(encoding="utf-8").splitlines()[2].split(";")
    assert lookup.bounds[1, 0] == round(float(line[4]) * 10**10)
    assert lookup.noise[1, 0] == int(float(line[3]) * step)


def test_several_types_in_a_file_are_told_apart(tmp_path):
    path = tmp_path / "both.csv"
    lines = ["i;j;p;v;p_int_ub;type", "1;0;.5;-1;0.5;even", "1;2;.5;1;1;even", "1;1;1;0;1;odd"]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert PerturbationTable.read(path, kind="even").probability(1, 1) == 0.5
    assert PerturbationTable.read(path, kind="odd").probability(1, 0) == 1
    with pytest.raises(InputError, match="types even, odd; say which"):
        PerturbationTable.read(path)
    with pytest.raises(InputError, match="no type 'all', only even, odd"):
        PerturbationTable.read(path, kind="all")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("i,v,p_int_ub\n1,0,1\n", "must name the columns i, v and p_int_ub"),
        ("", "it names nothing"),
        ("i;v;p_int_ub\n", "holds no intervals"),
        ("i;v;p_int_ub\n1;-1;0,5\n1;1;1\n", r"line 2: '0,5' is not a number"),
        ("i;v;p_int_ub\n1;-1\n", "line 2"),
        ("i;v;p_int_ub\n1.5;0;1\n", "line 2: i must be a whole number"),
        ("i;j;v;p_int_ub\n1;3;1;1\n", "j must be i [+] v"),
        ("i;v;p_int_ub\n1;-1;0.5\n1;1;0.9\n", "ascend to 1 .* not in row 1"),
        ("i;v;p_int_ub\n1;-1;0.5\n1;0;0.4\n1;1;1\n", "ascend to 1"),
        ("i;v;p_int_ub\n1;-2;0.5\n1;2;1\n", "a count of 1 would become -1"),
        ("i;v;p_int_ub\n0;1;1\n", "0 stays 0"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, says):
    path = tmp_path / "wrong.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        Lookup.read(path)


def test_what_this_layout_cannot_say_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        Lookup.read(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("i;v;p_int_ub;type\n1;0;1;größer\n".encode("latin-1"))
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        Lookup.read(tmp_path / "latin.csv")
    lookup = Lookup.from_abs([[0, 1, -1], [0, -1, 1]], modulus=2, reuse=2)
    with pytest.raises(InputError, match="reused in turn"):
        lookup.write(tmp_path / "abs.csv")
    thirds = PerturbationTable.for_magnitudes(3, 1, step=3)
    with pytest.raises(InputError, match="steps of 1/3"):
        thirds.write(tmp_path / "thirds.csv")
    assert not (tmp_path / "thirds.csv").exists()
