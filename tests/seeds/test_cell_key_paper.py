"""Simon (2022), "Statistische Geheimhaltung: Cell Key Methode": its matrix and its examples."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.keys import scaled_keys

# Höhne and Höninger (2019), as printed in the listing: cumulative, for the counts 1 to 7. The row
# of 0 is printed with one entry too few, and is never looked up.
MATRIX = [
    [0, 0, 0, 0.6875, 0.6875, 0.6875, 0.9375, 1, 1],
    [0, 0, 0.3533, 0.3533, 0.3533, 0.9440, 0.9970, 0.9990, 1],
    [0, 0.1620, 0.1620, 0.1620, 0.6620, 0.8560, 0.9970, 0.9990, 1],
    [0.0870, 0.0870, 0.0870, 0.1920, 0.6920, 0.8590, 0.9970, 0.9990, 1],
    [0, 0, 0.1450, 0.3270, 0.8270, 0.8590, 0.8930, 0.9490, 1],
    [0, 0.0400, 0.1500, 0.2850, 0.7850, 0.8600, 0.9200, 0.9600, 1],
    [0.0200, 0.0600, 0.1450, 0.2500, 0.7500, 0.8550, 0.9400, 0.9800, 1],
]
NOISE = [-4, -3, -2, -1, 0, 1, 2, 3, 4]

RECORDS = [
    ("Würzburg", "m", "0.611853"),
    ("Eichstätt", "w", "0.139494"),
    ("München", "w", "0.292145"),
    ("München", "m", "0.366362"),
    ("Würzburg", "m", "0.456070"),
    ("Würzburg", "m", "0.785176"),
    ("Bamberg", "m", "0.199674"),
    ("München", "w", "0.514234"),
    ("München", "m", "0.592415"),
    ("München", "m", "0.046450"),
]
# table 5 of the paper: university, sex, count, noise, final value
PRINTED = [
    ("Bamberg", "m", 1, -1, 0),
    ("Eichstätt", "w", 1, -1, 0),
    ("München", "m", 3, -3, 0),
    ("München", "w", 2, 1, 3),
    ("Würzburg", "m", 3, 1, 4),
]


def tabulated(records, digits):
    """University, sex → count and cell key of all cells, totals included."""
    university, sex, keys = zip(*records, strict=True)
    frame = pa.table({"u": university, "s": sex, "key": scaled_keys(keys, digits).astype(np.int64)})
    by = {"u": None, "s": None}
    table = dk.tabulate(frame, by=by, record_key="key", key_modulus=10**digits)
    codes = zip(table.cells["u"].to_pylist(), table.cells["s"].to_pylist(), strict=True)
    cells = zip(codes, table.count.ravel().tolist(), table.key_sum.ravel().tolist(), strict=True)
    return {code: (count, key) for code, count, key in cells}


def noise_of(lookup, count, key) -> int:
    return int(lookup(np.array([count]), np.array([key], dtype=np.uint64))[0])


def test_ten_records_give_the_printed_table():
    lookup = dk.Lookup.from_cumulative(MATRIX, NOISE, modulus=10**6)
    cells = tabulated(RECORDS, digits=6)
    assert cells["Würzburg", "m"] == (3, 853_099)
    for university, sex, count, noise, final in PRINTED:
        n, key = cells[university, sex]
        assert n == count
        assert noise_of(lookup, n, key) == noise
        assert n + noise == final
    empty = [(n, key) for n, key in cells.values() if n == 0]
    assert len(empty) == 3
    assert all(noise_of(lookup, n, key) == 0 for n, key in empty)


@pytest.fixture(scope="module")
def generated():
    """The cells of `generate_data(1001, 42)` of the listing."""
    random = np.random.RandomState(42)
    places = ["Bamberg", "Wuerzburg", "Muenchen", "Eichstaett"]
    university = random.choice(places, size=1001, replace=True, p=[0.15, 0.3, 0.5, 0.05])
    sex = random.choice(["m", "w"], size=1001, replace=True, p=[0.5, 0.5])
    keys = [f"{key:.12f}" for key in random.uniform(low=0.0, high=1.0, size=1001)]
    return tabulated(list(zip(university.tolist(), sex.tolist(), keys, strict=True)), digits=12)


def test_generated_data_give_what_the_listing_prints(generated):
    lookup = dk.Lookup.from_cumulative(MATRIX, NOISE, modulus=10**12)
    places = ["Bamberg", "Eichstaett", "Muenchen", "Wuerzburg"]
    cells = [generated[place, sex] for place in places for sex in ("m", "w")]
    assert [n for n, _ in cells] == [75, 91, 17, 29, 258, 235, 135, 161]
    final = [n + noise_of(lookup, n, key) for n, key in cells]
    assert final == [75, 91, 20, 32, 259, 238, 136, 161]


def test_margins_have_noise_of_their_own(generated):
    """Table 6 of the paper, where 29 and 32 have changed places: 46 is 17 + 29, not 17 + 32."""
    lookup = dk.Lookup.from_cumulative(MATRIX, NOISE, modulus=10**12)
    for place, true, final in (("Bamberg", 166, 168), ("Eichstaett", 46, 48)):
        n, key = generated[place, "Total"]
        assert (n, n + noise_of(lookup, n, key)) == (true, final)
    assert generated["Eichstaett", "m"][0] + generated["Eichstaett", "w"][0] == 46


def test_table_and_cumulative_matrix_are_the_same_lookup():
    probabilities = np.diff(np.array(MATRIX), axis=1, prepend=0).round(12).tolist()
    table = dk.PerturbationTable.from_matrix(probabilities, NOISE)
    direct = dk.Lookup.from_cumulative(MATRIX, NOISE, modulus=10**8)
    count = np.repeat(np.arange(9), 10_000)
    key = np.tile(np.arange(0, 10**8, 10_000, dtype=np.uint64), 9)
    assert (table.lookup(10**8)(count, key) == direct(count, key)).all()


# ── errata ──────────────────────────────────────────────────────────────────────


def test_what_the_paper_calls_a_standard_deviation_is_the_variance():
    probabilities = np.diff(np.array(MATRIX), axis=1, prepend=0).round(12).tolist()
    table = dk.PerturbationTable.from_matrix(probabilities, NOISE)
    assert table.variances[1:] == pytest.approx(
        [2.25, 2.2499, 2.25, 2.25, 2.25, 2.25, 2.25], abs=1e-4
    )
    assert np.abs(table.means).max() < 2e-4
    # not the table of largest entropy for these parameters, whose variance is no constant either
    entropy = dk.PerturbationTable.maximum_entropy(4, 2.25, small_counts=2, stay=0.5)
    assert np.abs(entropy.probabilities - table.probabilities).max() > 0.01


def test_the_first_bound_that_is_greater_than_the_key_counts():
    """The text says "erstmalig kleiner"; its own example needs the first that is greater."""
    lookup = dk.Lookup.from_cumulative(MATRIX, NOISE, modulus=10**6)
    assert noise_of(lookup, 3, 853_099) == 1
    as_written = NOISE[next(j for j, bound in enumerate(MATRIX[2]) if bound < 0.853099)]
    assert 3 + as_written < 0
    assert noise_of(lookup, 3, 855_999) == 1
    assert noise_of(lookup, 3, 856_000) == 2


def test_a_second_draw_would_break_consistency():
    """The listing draws again with p0 > 0: the same cell then differs from table to table."""
    random = np.random.RandomState(42)
    redrawn = {int(random.choice([1, 0], p=[0.5, 0.5])) for _ in range(20)}
    assert redrawn == {0, 1}
    lookup = dk.Lookup.from_cumulative(MATRIX, NOISE, modulus=10**6)
    assert {noise_of(lookup, 3, 853_099) for _ in range(20)} == {1}
