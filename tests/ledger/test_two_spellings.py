"""Tables are tied by the names of measures, variables and periods: one name has one spelling."""

import unicodedata
from dataclasses import replace

import pyarrow as pa
import pytest

import diskret as dk
from diskret.io.names import canonical

KEYS = dk.SecretKeys(bytes(range(32)))
REGIONS = [*"NNNNNNSSWWWWWEEEE"]
TURNOVER = [10 + i for i in range(len(REGIONS))]
#: What the two firms of S have together, which is never to be known.
SECRET = sum(v for r, v in zip(REGIONS, TURNOVER, strict=True) if r == "S")
NAMES = {"measure": "turnover é", "variable": "region", "vintage": "2025 q1"}
#: The same names, as another program or another clerk writes them.
SPELLINGS = [
    {"measure": "Turnover É"},
    {"measure": unicodedata.normalize("NFD", "turnover é")},
    {"measure": " turnover é"},
    {"variable": "REGION"},
    {"variable": "region "},
    {"vintage": "2025 Q1"},
    {"vintage": "2025 q1 "},
]


def table(measure, variable, vintage, where=None, more=0):
    turnover = [own + more for own in TURNOVER]
    records = pa.table({variable: REGIONS, "firm": range(len(REGIONS)), measure: turnover})
    return dk.tabulate(
        records,
        by={variable: None},
        value=measure,
        unit="firm",
        where=where and {variable: where},
        vintage=vintage,
    )


def both(spelling):
    """All regions, and all but S under names that are spelled otherwise."""
    return table(**NAMES), table(**NAMES | spelling, where=[*"NWE"])


def known(results):
    """What a reader subtracts: everything less all but S; None where either is hidden."""
    everything, others = (result.published for result in results)
    hidden = everything.suppressed[0] or others.suppressed[0]
    return None if hidden else int(everything.value[0] - others.value[0])


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
def test_a_later_release_that_spells_a_name_otherwise_is_refused(tmp_path, spelling):
    first, second = both(spelling)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    rule = dk.rules.MinimumFrequency(3)
    ledger.publish(dk.suppress(first, rule, ledger=ledger, name="all"), tmp_path / "1", ["csv"])
    with pytest.raises(dk.errors.InputError, match="in two spellings"):
        dk.suppress(second, rule, ledger=ledger, name="others")
    alone = dk.suppress(second, rule, name="others")
    with pytest.raises(dk.errors.InputError, match="in two spellings"):
        ledger.publish(alone, tmp_path / "2", ["csv"])
    with pytest.raises(dk.errors.InputError, match="in two spellings"):
        ledger.check(alone)
    with pytest.raises(dk.errors.InputError, match="in two spellings"):
        ledger.record(alone.published, "elsewhere")
    assert [release.name for release in ledger.releases()] == ["1"]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
def test_a_call_and_a_folder_with_two_spellings_are_refused(tmp_path, spelling):
    tables, rule = both(spelling), dk.rules.MinimumFrequency(3)
    with pytest.raises(dk.errors.InputError, match="in two spellings"):
        dk.suppress([*tables], rule, name=["all", "others"])
    apart = [dk.suppress(t, rule, name=n) for t, n in zip(tables, "ab", strict=True)]
    with pytest.raises(dk.errors.InputError, match="in two spellings"):
        dk.write(apart, tmp_path / "out", ["csv"], keys=KEYS)
    rounded = [
        dk.round_table(t, 5, "random", keys=KEYS, name=f"r{i}") for i, t in enumerate(tables)
    ]
    with pytest.raises(dk.errors.InputError, match="in two spellings"):
        dk.write(rounded, tmp_path / "out", ["csv"], keys=KEYS)


@pytest.mark.parametrize("spelling", [one for one in SPELLINGS if "variable" not in one], ids=str)
def test_without_the_refusal_the_secret_would_be_out(spelling):
    rule = dk.rules.MinimumFrequency(3)
    assert known([dk.suppress(own, rule) for own in both(spelling)]) == SECRET
    assert known(dk.suppress([*both({})], rule, name=["all", "others"])) is None


def test_other_periods_and_records_keep_their_spelling(tmp_path):
    rule = dk.rules.MinimumFrequency(3)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    for number, own in enumerate(
        (
            table(**NAMES, where=[*"NW"]),
            table(**NAMES | {"measure": "Turnover é"}, where=["E"]),  # nobody is in both
            table(**NAMES | {"measure": "Turnover é", "vintage": "2026"}, more=1),
        )
    ):
        result = dk.suppress(own, rule, ledger=ledger, name=f"t{number}")
        ledger.publish(result, tmp_path / str(number), ["csv"])
    assert len(ledger.releases()) == 3


def test_names_that_one_table_tells_apart_are_two(tmp_path):
    records = pa.table({"k": REGIONS, "K": REGIONS[::-1]})
    tables = [dk.tabulate(records, by=dict.fromkeys(names)) for names in (("k", "K"), ("k",))]
    results = dk.suppress(tables, dk.rules.MinimumFrequency(2), name=["two", "one"])
    dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)


def test_a_name_that_was_spelled_alike_goes_through(tmp_path):
    spelled = [replace(own, vintage=canonical(own.vintage)) for own in both({"vintage": "2025 Q1"})]
    results = dk.suppress(spelled, dk.rules.MinimumFrequency(3), name=["all", "others"])
    dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)
    assert known(results) is None
