"""What answers tell about one record: the bound against every attacker, by brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_tables import random_table, seed_table, tiny_table
from profiles import examples
from serving import CODES, census, people

from diskret.attack.noise import average_out, chances, recovery_probability
from diskret.cellkey import PerturbationTable, as_lookup
from diskret.engines.duckdb import DuckDBEngine
from diskret.io import source
from diskret.keys import SecretKeys
from diskret.serve import Question, resistance
from diskret.serve.noise import MODULUS, counted, noise_keys, shown_counts


def joint(sets, shown):
    """All answers to cells that hold these sets of records, with their probabilities.

    Equal sets have one draw; all others draw for themselves.
    """
    own = sorted({*sets}, key=sorted)
    found = {}
    for draws in itertools.product(*(range(shown.shape[1]) for _ in own)):
        chance = math.prod(shown[len(one), at] for one, at in zip(own, draws, strict=True))
        if chance:
            drawn = dict(zip(own, draws, strict=True))
            found[tuple(drawn[one] for one in sets)] = chance
    return found


def right(one, other):
    """How often the best guess between two worlds is right, both equally likely."""
    answers = {*one, *other}
    return sum(max(one.get(a, 0), other.get(a, 0)) for a in answers) / 2


CELLS = st.lists(
    st.tuples(st.frozensets(st.integers(1, 3), max_size=2), st.booleans(), st.booleans()),
    min_size=1,
    max_size=4,
)


@given(CELLS, st.integers(0, 5))
@examples(60)
def test_presence_against_every_set_of_cells(cells, seed):
    noise = random_table(np.random.default_rng(seed), 1, 4)
    shown, worth = chances(noise, 4), resistance(noise)
    others = [rest for rest, _, _ in cells]
    within = [rest | {0} if there else rest for rest, there, _ in cells]
    certainty = right(joint(others, shown), joint(within, shown))
    tables = len({rest for rest, there, _ in cells if there})
    assert certainty <= worth.certainty(tables) + 1e-9
    alone = {rest for rest, there, _ in cells if not there}
    if not alone & {rest for rest, there, _ in cells if there}:
        assert certainty <= worth.certainty(tables, twins=False) + 1e-9


@given(CELLS, st.integers(0, 5))
@examples(60)
def test_value_against_every_set_of_cells(cells, seed):
    noise = random_table(np.random.default_rng(seed), 1, 4)
    shown, worth = chances(noise, 4), resistance(noise)
    one = [rest | {0} if first else rest for rest, first, _ in cells]
    other = [rest | {0} if second else rest for rest, _, second in cells]
    tables = max(sum(first for _, first, _ in cells), sum(second for _, _, second in cells))
    certainty = right(joint(one, shown), joint(other, shown))
    assert certainty <= worth.certainty_of_value(tables) + 1e-9


def test_the_bound_is_nearly_reached_where_a_record_is_alone():
    """One empty cell and m tables: exactly ½ + ½ (1 − q^m), q: shown as 0 though somebody is."""
    noise = tiny_table()
    q = noise.probability(1, -1)
    shown, worth = chances(noise, 4), resistance(noise)
    assert worth.neighbours == pytest.approx(math.sqrt(q))
    exact = right(joint([frozenset()], shown), joint([frozenset({0})], shown))
    assert exact == pytest.approx(1 - q / 2)
    certainty = worth.certainty(1, twins=False)
    assert exact <= certainty == pytest.approx(0.5 + 0.5 * math.sqrt(1 - q))


def test_twins_tell_more_than_neighbours():
    """Two cells that are one without the record: a reader sees whether they differ."""
    noise = seed_table()
    shown, worth = chances(noise, 12), resistance(noise, known_empty=False)
    rest = frozenset(range(1, 11))
    twins = right(joint([rest, rest], shown), joint([rest | {0}, rest], shown))
    alone = right(joint([rest], shown), joint([rest | {0}], shown))
    assert alone <= worth.certainty(1, twins=False) < twins <= worth.certainty(1)
    assert twins == pytest.approx(1 - (shown[10] * shown[11]).sum() / 2)


def test_tables_for_a_certainty_are_the_most():
    worth = resistance(PerturbationTable.maximum_entropy(5, 3), known_empty=False)
    for certainty in (0.7, 0.9, 0.99):
        tables = worth.tables(certainty, twins=False)
        assert worth.certainty(tables, twins=False) <= certainty + 1e-9
        assert worth.certainty(tables + 1, twins=False) > certainty
    assert worth.tables(0.5) == 0


# ── what the bound relies on: keys of different sets are independent ────────────────


def triples(number=40_000):
    """Keys of two cells and of their total, over random records."""
    draw = np.random.default_rng(5)
    one, other = (draw.integers(2**32, size=number).astype(np.uint64) for _ in range(2))
    return one, other, (one + other) % np.uint64(2**32)


def distance(keys):
    """Between what (1, 1 | 2) shows together and the product of what each shows."""
    noise = tiny_table()
    lookup, shown = as_lookup(noise, 2**32), chances(noise, 2)
    values = [n + lookup(np.full(len(k), n), k) for n, k in zip((1, 1, 2), keys, strict=True)]
    seen = np.zeros((5, 5, 5))
    np.add.at(seen, tuple(values), 1 / len(keys[0]))
    product = np.einsum("i,j,k", shown[1], shown[1], shown[2])
    return abs(seen - product).sum() / 2


def test_keys_of_parts_and_total_are_independent():
    keys = SecretKeys(bytes(range(32)))
    assert distance([noise_keys(one, keys) for one in triples()]) < 0.02


def test_sums_of_record_keys_are_not():
    """Sabotage: without the keyed function parts tell about their total."""
    assert distance(triples()) > 0.2


# ── attacks with answers of the service ─────────────────────────────────────────────


def test_averages_over_margins_get_no_better_than_the_formula_says():
    """All margins of the census add up to its total: the mean of their sums, over 300 keys."""
    records = people(500)
    data = census(records)
    lookup = as_lookup(data.noise, MODULUS)
    names = [*CODES]
    asked = [by for size in (1, 2) for by in itertools.combinations(names, size)]
    families = [Question("census", by).family(data) for by in asked]
    with DuckDBEngine(source(data.records)) as engine:
        cells = [counted(family, data, engine) for family in families]
    found = 0
    for seed in range(300):
        keys = SecretKeys(bytes([seed % 251, seed // 251, *range(30)]))
        sums = [
            shown_counts(one, family, data, lookup, keys).sum()
            for one, family in zip(cells, families, strict=True)
        ]
        found += round(average_out(np.array(sums)).value) == 500
    # the mean has the variance of all their cells, as independent noise has
    variances = data.noise.variances
    variance = sum(float(variances[data.noise.row(one.count)].sum()) for one in cells)
    variance /= len(cells) ** 2
    expected = math.erf(0.5 / math.sqrt(2 * variance))
    assert abs(found / 300 - expected) < 4 * math.sqrt(expected * (1 - expected) / 300) + 0.02


def test_one_cell_asked_in_other_words_is_never_averaged():
    """Supersets that add nobody: the records of one cell are one draw, in all tables."""
    records = people(500)
    for name in ("re", "sex"):
        records[name] = np.full(500, CODES[name][0])
    data = census(records)
    lookup = as_lookup(data.noise, MODULUS)
    whole = []
    with DuckDBEngine(source(data.records)) as engine:
        for by in ((), ("re",), ("sex",), ("re", "sex")):
            family = Question("census", by).family(data)
            cells = counted(family, data, engine)
            shown = shown_counts(cells, family, data, lookup, SecretKeys(bytes(range(32))))
            whole.append(int(shown.sum()))
    assert len({*whole}) == 1
    one = recovery_probability(data.noise, (500,), 1)
    assert one < 0.5 < recovery_probability(data.noise, (500,), 25)
