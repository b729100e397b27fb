"""dk.round_table: options, results, what the certificate rests on."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.deadline import OutOfTime
from diskret.errors import InputError, ProofError

KEYS = dk.SecretKeys(bytes(range(32)))
CELLS = pa.table(
    {
        "region": ["N", "N", "S", "S", "W", "W"],
        "sex": ["f", "m"] * 3,
        "n": [7, 2, 4, 1, 0, 6],
        "sales": [7.5, 2.25, 40.0, 13.0, 0.0, 6.75],
    }
)
METHODS: list[Any] = ["deterministic", "random", "controlled", "small_counts"]


def counts():
    return dk.Table.from_cells(CELLS, by={"region": None, "sex": None}, count="n")


def sales():
    by = {"region": None, "sex": None}
    return dk.Table.from_cells(CELLS, by=by, value="sales", decimals=2)


@pytest.mark.parametrize("method", METHODS)
def test_result_holds_original_published_and_noise(method):
    result = dk.round_table(counts(), 3, method, keys=KEYS)
    cells = result.cells.to_pydict()
    assert cells["original"] == counts().count.ravel().tolist()
    assert cells["published"] == result.public.to_pydict()["count"]
    assert cells["noise"] == [
        p - o for o, p in zip(cells["original"], cells["published"], strict=True)
    ]
    assert result.published.changed == "rounding"
    assert (result.known.method, result.known.base) == (method, 3)
    assert result.settings["method"] == method


@pytest.mark.parametrize("method", METHODS[:3])
def test_amounts_are_rounded_in_their_own_unit(method):
    result = dk.round_table(sales(), 2.5, method, keys=KEYS)
    assert not np.any(result.published.value % 250)
    assert np.all(np.abs(result.noise) < 250)
    assert result.public.to_pydict()["sales"][0] == result.published.value.flat[0] / 100


def test_true_values_lie_where_the_ledger_will_look_for_them():
    from diskret.tables.perturbed import stands_for

    for method in METHODS:
        result = dk.round_table(counts(), 3, method, keys=KEYS)
        meant = stands_for(result.published, result.known)
        value = counts().measure.sum
        assert np.all(meant.lower <= value)
        assert np.all(meant.upper >= value)


def test_several_tables_are_named_and_rounded_alike():
    one, other = (
        counts(),
        dk.Table.from_cells(
            pa.table({"region": ["N", "S", "W"], "n": [9, 5, 6]}), by={"region": None}, count="n"
        ),
    )
    for method in METHODS:
        first, second = dk.round_table([one, other], 3, method, keys=KEYS, name=["a", "b"])
        assert (first.name, second.name) == ("a", "b")
        assert np.array_equal(first.published.value[:, 0], second.published.value)


def test_a_rule_is_proven_or_the_table_refused():
    rule = dk.rules.MinimumFrequency(3)
    found = dk.round_table(counts(), 5, "controlled", rule=rule, keys=KEYS)
    assert found.certificate.figures["required_and_proven"] == 2
    with pytest.raises(ProofError, match="take a larger base"):
        dk.round_table(sales(), 0.05, "controlled", rule=unsafe_sales(), keys=KEYS)


def unsafe_sales():
    """A sensitivity that asks for more than a small base can give."""
    table = sales()
    shape = table.shape
    unsafe = np.zeros(shape, dtype=bool)
    unsafe[1, 1] = True
    level = np.where(unsafe, 100, 0)
    none = np.zeros(shape, dtype=np.int64)
    reason = np.where(unsafe, 0, -1).astype(np.int8)
    return dk.Sensitivity(unsafe, level, level, none, reason, ("Request",))


def test_large_tables_are_not_attacked_unless_a_rule_asks(monkeypatch):
    import diskret.protect.round_table as module

    monkeypatch.setattr(module, "_EXAMINED", 5)
    quick = dk.round_table(counts(), 5, "controlled", keys=KEYS)
    assert any("not examined" in s.en for s in quick.certificate.not_claimed)
    rule = dk.rules.MinimumFrequency(3)
    proven = dk.round_table(counts(), 5, "controlled", rule=rule, keys=KEYS)
    assert not any("not examined" in s.en for s in proven.certificate.not_claimed)


def test_what_is_not_shown_in_time_is_not_claimed_or_refused():
    late: dict[str, Any] = {"method": "controlled", "keys": KEYS, "time_limit": 1e-6}
    told: list[str] = []
    found = dk.round_table(counts(), 5, progress=lambda *of: told.append(of[0]), **late)
    assert "intervals" not in found.certificate.figures and "attack" in told
    assert any("not examined" in s.en for s in found.certificate.not_claimed)
    with pytest.raises(OutOfTime):
        dk.round_table(counts(), 5, rule=dk.rules.MinimumFrequency(3), **late)
    calm = dk.round_table(counts(), 5, "controlled", keys=KEYS, time_limit=60)
    assert calm.certificate.figures["intervals"] == "exact"


def test_steps_of_controlled_rounding_are_said():
    result = dk.round_table(counts(), 5, "controlled", keys=KEYS)
    assert result.settings["steps"] == 0 and result.settings["fewest_steps"]
    assert result.settings["distance"] == np.abs(result.noise).sum()


def test_public_part_names_no_keys_steps_or_deviations():
    result = dk.round_table(counts(), 3, "controlled", keys=KEYS)
    told = str(result.certificate.public())
    assert not any(word in told for word in ("step", "Schritt", "key", "deviation", "seed"))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"method": "nearest"}, "method= must be 'deterministic', .* or 'small_counts'"),
        ({"base": 1}, "at least 2"),
        ({"base": 2.5}, "multiple of 1"),
        ({"base": 2**40}, "at most"),
        ({"steps": 1}, 'steps= is for method="controlled" only'),
        ({"method": "controlled", "steps": -1}, "steps= must be a whole number from 0"),
        ({"inner": counts()}, "inner= is a table of counts"),
        ({"rule": dk.rules.MinimumFrequency}, r"give its numbers, e.g. dk.rules.Mini.*\(3\)"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, why):
    with pytest.raises(InputError, match=why):
        dk.round_table(counts(), **options)


def test_small_counts_of_amounts_are_refused():
    with pytest.raises(InputError, match="is for counts, not for 'sales'"):
        dk.round_table(sales(), 3, "small_counts", keys=KEYS)


@pytest.mark.parametrize("method", ["deterministic", "random", "controlled"])
def test_what_is_not_rounded_together_is_named_with_its_decimals(method):
    records = pa.table({"r": list("aabb"), "s": list("xyxy"), "v": [1.5, 2.5, 3.5, 1.0]})
    one, two = (
        dk.tabulate(records, by={name: None}, value="v", decimals=decimals)
        for name, decimals in (("r", 1), ("s", 2))
    )
    with pytest.raises(InputError, match=r"'v_r' \(decimals=1\), 'v_s' \(decimals=2\)\. Round"):
        dk.round_table([one, two], 5, method, keys=KEYS)
    with pytest.raises(InputError, match=r"'count' \(counts\), 'v' \(decimals=1\)\. Round"):
        dk.round_table([one["count"], one], 5, method, keys=KEYS)


def test_a_table_shown_in_thousands_is_refused():
    with pytest.raises(InputError, match="round the exact table"):
        dk.round_table(sales().rounded(10), 20)


@pytest.mark.parametrize("method", METHODS)
def test_results_are_written_and_recorded(method, tmp_path):
    result = dk.round_table(counts(), 3, method, keys=KEYS)
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    ledger.publish(result, tmp_path / "out", name="first")
    published = dk.Published.read(tmp_path / "out" / "public")
    assert np.array_equal(published.value, result.published.value)
    (release,) = ledger.releases()
    assert release.entry.tables[0].perturbed == repr(result.known)
