"""What a file of cells calls unsafe or protected, and an .hst file sets safe."""

import pytest
from argus_jobs import written

import diskret as dk
from diskret import argus
from diskret.errors import DiskretError

METADATA = """\
<SEPARATOR> ";"
<SAFE> S
<UNSAFE> U
<PROTECT> P
R
<RECODEABLE>
<TOTCODE> T
Z
<RECODEABLE>
<TOTCODE> T
V
<NUMERIC>
Status
<STATUS>
"""
CELLS = """\
a;N;100;U
b;N;20;S
c;N;30;S
a;M;50;P
b;M;60;S
c;M;70;S
T;N;150;S
T;M;180;S
a;T;150;S
b;T;80;S
c;T;100;S
T;T;330;S
"""
BATCH = """\
<OPENTABLEDATA> "c.tab"
<OPENMETADATA> "c.rda"
<SPECIFYTABLE> "R""Z"|"V"||
<SAFETYRULE> MAN(10)
<READTABLE> 1T
{}<SUPPRESS> OPT(1,1)
"""


def run(folder, *known, **files):
    """The primaries and what is hidden, of a job that reads these .hst files."""
    reads = ""
    for number, text in enumerate(known):
        files[f"k{number}.hst"] = text
        reads += f'<APRIORI> "k{number}.hst",1,";"\n'
    standard = {"job.arb": BATCH.format(reads), "c.tab": CELLS, "c.rda": METADATA}
    (found,) = argus.run(written(folder, **standard | files)).tables
    assert isinstance(found.result, dk.Result)
    at = [d.hierarchy.codes for d in found.table.dimensions]

    def named(mask):
        return {(at[0][i], at[1][j]) for i, j in zip(*mask.nonzero(), strict=True)}

    return found, named(found.result.sensitivity.unsafe), named(found.result.published.suppressed)


def test_a_cell_that_the_file_calls_unsafe_is_set_safe(tmp_path):
    _, unsafe, hidden = run(tmp_path)
    assert unsafe == {("a", "N")} and ("a", "N") in hidden and ("a", "M") not in hidden
    found, unsafe, hidden = run(tmp_path, "a;N;s\n")
    assert not unsafe and not hidden and found.unsafe == 0


def test_so_is_one_that_it_calls_protected(tmp_path):
    _, _, hidden = run(tmp_path, "a;M;s\na;M;c;1\n")
    assert ("a", "M") in hidden  # the cheapest, which only its status had kept


def test_what_it_costs_to_hide_stays_and_other_cells_stay_unsafe(tmp_path):
    first = "b;M;u\nb;M;pl;3;4\nb;M;c;7\nc;N;u\n"
    found, unsafe, _ = run(tmp_path, first, "b;M;s\n")
    assert unsafe == {("a", "N"), ("c", "N")}
    at = tuple(
        d.hierarchy.position[c] for d, c in zip(found.table.dimensions, ("b", "M"), strict=True)
    )
    assert isinstance(found.result, dk.Result)
    assert found.result.sensitivity.cost[at] == 7
    assert found.result.sensitivity.lower[at] == found.result.sensitivity.upper[at] == 0


def test_a_total_with_a_single_part_is_that_part(tmp_path):
    cells = "a;N;100;S\nb;N;50;S\nT;N;150;U\na;T;100;S\nb;T;50;S\nT;T;150;U\n"
    _, unsafe, _ = run(tmp_path, "T;T;s\n", **{"c.tab": cells})
    assert not unsafe


def test_one_file_that_says_both_is_still_refused(tmp_path):
    with pytest.raises(DiskretError, match="line 6, <APRIORI>.*line 2.*set in an earlier"):
        run(tmp_path, "b;N;u\nb;N;s\n")


def test_a_cell_hidden_to_protect_others_is_not_set_safe_in_passing(tmp_path):
    with pytest.raises(DiskretError, match="declared safe by another"):
        run(tmp_path, "b;N;m\n", "b;N;s\n")
