"""No cell is published with noise and as it is, whichever comes first; all others may be."""

import random

import pyarrow as pa
import pytest
from profiles import scaled

import diskret as dk

KEYS = dk.SecretKeys(bytes(range(32)))
CODES = {"job": "abc", "place": "pq", "sex": "fm"}
NOISE = dk.PerturbationTable.maximum_entropy(2, 1).lookup(order="shuffled", seed=3)
ON_SUMS = dk.MagnitudeNoise(dk.PerturbationTable.for_magnitudes(2, 1))


def records(rng):
    number = rng.randint(30, 120)
    columns = {n: rng.choices(c, range(1, len(c) + 1), k=number) for n, c in CODES.items()}
    for name, codes in CODES.items():
        columns[name][: len(codes)] = codes  # all there are
    columns |= {"firm": range(number), "pay": [rng.randint(1, 99) for _ in range(number)]}
    return dk.record_keys(pa.table(columns), id="firm", keys=KEYS)


def layout(rng):
    by = rng.sample(list(CODES), rng.choice([1, 1, 2]))
    others = [name for name in CODES if name not in by]
    where = {name: rng.choice(CODES[name]) for name in others if rng.random() < 0.4}
    return by, where


def shown(result, by, where):
    """What is public of each cell, by what it consists of."""
    columns = result.public.to_pydict()
    value = next(column for name, column in columns.items() if name not in (*by, "status"))
    rows = zip(zip(*(columns[name] for name in by), strict=True), value, strict=True)
    found = {}
    for codes, own in rows:
        inside = {n: c for n, c in zip(by, codes, strict=True) if c != "Total"}
        found[frozenset((inside | where).items())] = own
    return found


def made(frame, of, noisy, sums, ledger):
    by, where = of
    options = {"by": dict.fromkeys(by), "where": where or None}
    if sums:
        options |= {"value": "pay", "unit": "firm", "largest": 2}
    if not noisy:
        rule = dk.rules.PPercent(10) if sums else dk.rules.MinimumFrequency(3)
        table = dk.tabulate(frame, **options)
        return dk.suppress(table, rule, name="t", attacker=dk.Attacker(), ledger=ledger)
    table = dk.tabulate(frame, record_key="record_key", **options)
    return dk.perturb(table["pay"] if sums else table, ON_SUMS if sums else NOISE, name="t")


def truth(frame, cell):
    rows = frame.to_pylist()
    return sum(all(row[name] == code for name, code in cell) for row in rows)


@pytest.mark.parametrize("sums", [False, True])
@pytest.mark.parametrize("noise_first", [False, True])
@pytest.mark.parametrize("seed", range(scaled(12)))
def test_random_tables(seed, noise_first, sums, tmp_path):
    rng = random.Random(f"{seed} {noise_first} {sums}")
    frame = records(rng)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    layouts = layout(rng), layout(rng)
    first = made(frame, layouts[0], noise_first, sums, ledger)
    ledger.publish(first, tmp_path / "first", ["csv"])
    try:
        second = made(frame, layouts[1], not noise_first, sums, ledger)
    except dk.DiskretError:  # what can be hidden is told already
        return
    one, other = shown(first, *layouts[0]), shown(second, *layouts[1])
    both = [cell for cell in one.keys() & other.keys() if truth(frame, cell)]
    told = [cell for cell in both if None not in (one[cell], other[cell])]
    try:
        ledger.publish(second, tmp_path / "second", ["csv"])
    except dk.DiskretError as error:
        assert bool(told) or "show the noise itself" not in str(error)
    else:
        assert not told


def test_what_is_rounded_by_a_public_rule_has_no_secret(tmp_path):
    frame = records(random.Random(1))
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    table = dk.tabulate(frame, by={"job": None})
    ledger.publish(dk.round_table(table, 5, "deterministic", name="r"), tmp_path / "1", ["csv"])
    plain = dk.suppress(table, dk.rules.MinimumFrequency(3), name="plain", ledger=ledger)
    ledger.publish(plain, tmp_path / "2", ["csv"])
