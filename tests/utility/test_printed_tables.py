"""The two tables that were printed of SAFE come out again, number for number.

Höhne, *SAFE – a method for anonymising the German Census* (UNECE/Eurostat work session on
statistical data confidentiality, Tarragona). The last row of its second table of dwellings
repeats the totals of persons; the sums of its columns are 9,864, 223,317, 952,119 and 1,720,934.
"""

import numpy as np
import pytest

from diskret.utility.table_deviations import FileDeviations, TableDeviations

# deviation → cells of tables with 1, 2, 3, and 4 or 5 variables, and the printed shares
PERSONS = """
0  7730   41472  429058  764471  56.7  12.0  11.9  12.2
1  4600   86008 1053292 2034970  90.4  36.8  41.1  44.8
2  1210   73607  840969 1523732  99.2  58.0  64.4  69.2
3   104   60243  594461  954158 100.0  75.4  80.9  84.4
4     0   47035  411153  608160 100.0  89.0  92.3  94.1
5     0   26310  202569  274847 100.0  96.5  97.9  98.5
6     0   10077   66662   81715 100.0  99.5  99.7  99.8
7     0    1823    8954    9489 100.0 100.0 100.0 100.0
8     0      80     155     154 100.0 100.0 100.0 100.0
9     0       2       0       0 100.0 100.0 100.0 100.0
"""
DWELLINGS = """
0  4391   37980  155866  278551  44.5  17.0  16.4  16.2
1  5250   84913  420560  752125  97.7  55.0  60.5  59.9
2   223   64154  260389  471625 100.0  83.8  87.9  87.3
3     0   27290   86197  165421 100.0  96.0  96.9  96.9
4     0    8555   27912   51211 100.0  99.8  99.9  99.9
5     0     425    1195    1996 100.0 100.0 100.0 100.0
6     0       0       0       5 100.0 100.0 100.0 100.0
"""
NAMES = tuple((tuple(f"v{i}" for i in range(size)), "") for size in (1, 2, 3, 4, 5))


def printed(text):
    rows = [line.split() for line in text.strip().splitlines()]
    cells = np.array([[int(cell) for cell in row[1:5]] for row in rows])
    return cells, [row[5:] for row in rows]


def found_in(text):
    """Cells with these deviations, those of the last column in tables of 4 and of 5 variables."""
    cells, _ = printed(text)
    columns = np.repeat(np.tile(np.arange(4, dtype=np.int32), len(cells)), cells.ravel())
    size = np.repeat(np.repeat(np.arange(len(cells)), 4), cells.ravel())
    columns[(columns == 3) & (np.arange(len(columns)) % 3 == 0)] = 4
    original = np.full(len(size), 60)
    return TableDeviations(NAMES, columns, original, original + np.where(size % 2, size, -size))


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "totals", "means", "mean", "exact", "largest"),
    [
        (
            PERSONS,
            [13_644, 346_657, 3_607_273, 6_251_696],
            [0.54, 2.33, 2.12, 1.97],
            2.03,
            12.2,
            9,
        ),
        (
            DWELLINGS,
            [9_864, 223_317, 952_119, 1_720_934],
            [0.58, 1.48, 1.38, 1.40],
            1.40,
            16.4,
            6,
        ),
    ],
    ids=["persons", "dwellings"],
)
def test_printed_tables(text, totals, means, mean, exact, largest):
    found = found_in(text)
    cells, shares = printed(text)
    table = found.deviation_table
    assert table.totals.tolist() == totals
    for number, expected in enumerate(totals):
        parts = found.by_dimension.cells[number:] if number == 3 else found.by_dimension.cells
        assert (int(parts.sum()) if number == 3 else int(parts[number])) == expected
    deviation = np.arange(len(cells))
    np.testing.assert_allclose(deviation @ cells / totals, means, atol=0.00501)
    np.testing.assert_allclose(found.by_dimension.mean[:3], means[:3], atol=0.00501)
    assert found.figures()["largest"] == largest
    assert found.figures()["mean"] == pytest.approx(mean, abs=0.005)
    assert 100 * found.figures()["exact_share"] == pytest.approx(exact, abs=0.05)

    lines = found.lines()
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["deviation"])
    assert lines[start].count("4 or more") == 2
    for i, (row, told) in enumerate(zip(cells, shares, strict=True)):
        written = lines[start + 1 + i].split()
        assert written[1:5] == [f"{cell:,}" if cell else "–" for cell in row]
        assert written[5:9] == told
    assert lines[start + 1 + len(cells)].split()[2:] == [f"{total:,}" for total in totals]


def test_in_german():
    lines = found_in(DWELLINGS).lines("de")
    assert "2\N{NO-BREAK SPACE}906\N{NO-BREAK SPACE}234 zuvor nicht leere Felder" in lines[0]
    assert "16,4 % sind exakt" in lines[0]
    assert any("4 und mehr" in line for line in lines)
    assert any("mittlere Abweichung" in line for line in lines)


def test_zeros_and_transitions():
    original, protected = np.array([0, 1, 1, 1, 2, 40]), np.array([3, 0, 0, 3, 3, 41])
    found = TableDeviations(NAMES, np.zeros(6, dtype=np.int32), original, protected)
    assert found.overall.cells == 5
    assert (found.zeros.false_zeros, found.zeros.false_nonzeros) == (2, 1)
    seen = found.transitions(4)
    assert seen.labels == ("0", "1", "2", "3", "4+")
    assert seen.cells[1].tolist() == [2, 0, 0, 1, 0]
    assert seen.shares[1].tolist() == [2 / 3, 0, 0, 1 / 3, 0]
    assert seen.cells[4, 4] == 1
    assert seen.bias[1] == 0
    assert seen.variance[1] == 2
    assert seen.bias[4] == 1
    assert np.isnan(seen.bias[3])
    both = FileDeviations(found, None, "pyarrow")
    frame = both.frames(4)["transitions"].to_pylist()
    assert {(row["original"], row["protected"]): row["cells"] for row in frame} == {
        ("0", "3"): 1,
        ("1", "0"): 2,
        ("1", "3"): 1,
        ("2", "3"): 1,
        ("4+", "4+"): 1,
    }
