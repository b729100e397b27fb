"""Tables with changed values: the same records have one value, whatever the cell is called."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from colliding_names import counts, tables, tabulated
from hypothesis import assume, given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError
from diskret.protect.linked import check_alike
from diskret.tables import Noise
from diskret.tables.perturbed import published_with


def shown(table, values, name):
    """A result that shows these values."""
    noise = Noise.of(np.asarray(values, dtype=np.int64).reshape(table.shape))
    published = published_with(table, noise, name=name, changed="cell_key")
    return SimpleNamespace(before=table, published=published, proof=None, name=name, settings={})


@examples(30)
@given(counts(), tables(), tables(), st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=2))
def test_two_values_for_the_same_records_are_refused_whatever_they_are_called(
    count, one, other, seeds
):
    """Noise that depends on the table now and then: refused where both show the same records."""
    made = [tabulated(count, drawn) for drawn in (one, other)]
    assume(all(table is not None for table in made))
    values: dict[bytes, set[int]] = {}
    results = []
    for table, drawn, seed in zip(made, (one, other), seeds, strict=True):
        rows = np.array(list(drawn.cells()))
        noise = np.random.default_rng(seed).choice(3, len(rows), p=(0.9, 0.05, 0.05))
        value = np.where(rows.any(axis=1), table.count.ravel() + noise, 0)
        for row, own in zip(rows, value.tolist(), strict=True):
            if row.any():
                values.setdefault(row.tobytes(), set()).add(own)
        results.append(shown(table, value, f"t{seed}"))
    assume(seeds[0] != seeds[1])
    own_cells = [{r.tobytes() for r in np.array(list(d.cells()))} for d in (one, other)]
    between = {
        key: found for key, found in values.items() if all(key in cells for cells in own_cells)
    }
    if any(len(found) > 1 for found in between.values()):
        with pytest.raises(InputError, match="cells? in common and show different values"):
            check_alike(results)
    else:
        check_alike(results)


def people():
    random = np.random.default_rng(3)
    n = 400
    return pa.table(
        {
            "region": random.choice(["N", "S", "W"], n),
            "sex": random.choice(["f", "m"], n),
            "key": random.integers(0, 2**32, n),
        }
    )


def perturbed(ptable, name, by, where=None):
    table = dk.tabulate(people(), by=dict.fromkeys(by), record_key="key", where=where)
    return dk.perturb(table, ptable, name=name)


MEN = {"sex": "m"}
LOOKUP = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2)
OTHER = dk.PerturbationTable.maximum_entropy(max_noise=4, variance=3)


def test_men_by_region_are_the_men_of_region_by_sex(tmp_path):
    both = perturbed(LOOKUP, "both", ["region", "sex"])
    alike = perturbed(LOOKUP, "men", ["region"], MEN)
    unlike = perturbed(OTHER, "men", ["region"], MEN)
    check_alike([both, alike])
    with pytest.raises(InputError, match="4 cells in common and show different values"):
        check_alike([both, unlike])
    with pytest.raises(InputError, match="cells? in common and show different values"):
        check_alike([unlike, both])
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=dk.SecretKeys(bytes(range(32))))
    ledger.publish(both, folder=tmp_path / "both", formats=["csv"])
    ledger.publish(alike, folder=tmp_path / "alike", formats=["csv"])
    with pytest.raises(InputError, match="(was|were) published in release 'both' with other noise"):
        ledger.publish(unlike, folder=tmp_path / "unlike", formats=["csv"])
    assert not (tmp_path / "unlike").exists()


@pytest.mark.parametrize("method", ["random", "deterministic"])
def test_rounded_men_are_rounded_alike(method, tmp_path):
    """Without record keys the same men round the same way, in a table of their own or not."""
    frame = people().drop_columns("key")
    keys = dk.SecretKeys(bytes(range(32)))
    both = dk.tabulate(frame, by={"region": None, "sex": None})
    men = dk.tabulate(frame, by={"region": None}, where=MEN)
    grouped = dk.tabulate(frame, by={"region": None, "sex": None}).recode(
        "region", {"rest": ["N", "W"]}
    )
    one_region = dk.tabulate(frame, by={"sex": None}, where={"region": ["W", "N"]})
    for base in (5, 50):
        results = [
            dk.round_table(t, base=base, method=method, keys=keys, name=name)
            for t, name in ((both, "a"), (men, "b"), (grouped, "c"), (one_region, "d"))
        ]
        check_alike(results)
    with pytest.raises(InputError, match="different values"):
        check_alike([results[0], dk.round_table(men, base=7, method=method, keys=keys, name="e")])


# ── the ledger remembers what was shown, whatever bound is known ─────────────────────


KEYS = dk.SecretKeys(bytes(range(32)))


def jobs():
    """Firms with jobs in several regions, so that counts of firms do not add up."""
    random = np.random.default_rng(5)
    firm = random.integers(0, 60, 300)
    frame = pa.table(
        {
            "region": random.choice(["N", "S", "W"], 300),
            "sex": random.choice(["f", "m"], 300),
            "firm": firm,
            "pay": random.integers(100, 5000, 300),
        }
    )
    return dk.record_keys(frame, id="firm", keys=KEYS)


def changed(what, by, where=None, scale=0.25, lookup=LOOKUP):
    table = dk.tabulate(
        jobs(),
        by=dict.fromkeys(by),
        where=where,
        value="pay",
        unit="firm",
        record_key="record_key",
    )
    if what == "firms":
        return dk.perturb(table["count"], lookup, name="firms")
    form = dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1)
    return dk.perturb(table["pay"], dk.MagnitudeNoise(form, scale), name="pay")


@pytest.mark.parametrize(
    ("what", "unlike"), [("pay", {"scale": 0.3}), ("firms", {"lookup": OTHER})]
)
def test_values_without_a_known_bound_are_the_same_in_all_releases(what, unlike, tmp_path):
    """Sums and firms in several cells: nothing follows from them, but two values tell more."""
    both = changed(what, ["region", "sex"])
    assert both.known is None
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    ledger.publish(both, tmp_path / "both", ["csv"])
    ledger.publish(changed(what, ["region"], MEN), tmp_path / "alike", ["csv"])
    with pytest.raises(InputError, match="(was|were) published in release 'both' with other noise"):
        ledger.publish(changed(what, ["region"], MEN, **unlike), tmp_path / "unlike", ["csv"])
    ledger.publish(changed(what, ["region"], {"sex": "f"}), tmp_path / "women", ["csv"])
    assert ledger.verify() == 3
    # nothing that is suppressed is protected beside them, as before
    table = dk.tabulate(jobs(), by={"region": None}, value="pay", unit="firm")
    assert not ledger.earlier([table["pay"]])
    assert ledger.releases()[0].entry.tables[0].perturbed == "without a known bound"


def test_a_count_of_0_beside_an_earlier_sum_and_the_other_way_round(tmp_path):
    """Published one after the other, in either order, they tell that somebody is there."""
    women = {"region": "N", "sex": "f", "pay": {"max": 400}}
    shape = changed("firms", ["region"], women)
    none = dk.PerturbationTable(
        np.array([0, 1, 2, 3]),
        np.arange(-3, 4),
        np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0],
                  [0.5, 0, 0, 0, 0, 0, 0.5]]),
    )  # fmt: skip
    assert shape.published.value.size == 2
    pairs = [
        (changed("firms", ["region"], women, lookup=none), changed("pay", ["region"], women)),
        (changed("pay", ["region"], women), changed("firms", ["region"], women, lookup=none)),
    ]
    for number, (first, second) in enumerate(pairs):
        counts = first if first.name == "firms" else second
        assert (counts.published.value == 0).any()
        ledger = dk.Ledger.create(tmp_path / f"{number}.db", keys=KEYS)
        ledger.publish(first, tmp_path / f"first{number}", ["csv"])
        with pytest.raises(InputError, match="somebody is there"):
            ledger.publish(second, tmp_path / f"second{number}", ["csv"])
