"""What contributors could tell before is no reason to refuse, and is said."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import diskret as dk
from diskret.attack import Open
from diskret.protect.insiders import Asked, InsiderJudge
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.PPercent(10)
SENTENCE = "could tell already from earlier releases"


def firms(values):
    rows = [
        (region, size, firm, value) for (region, size), own in values.items() for firm, value in own
    ]
    names = ("region", "size", "firm", "sales")
    return pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


RECORDS = firms(
    {
        ("A", "x"): [(i, 50) for i in range(6)],
        ("A", "y"): [(10, 100)],
        ("B", "x"): [(11, 80)],
        ("B", "y"): [(20 + i, 60) for i in range(6)],
        ("C", "x"): [(30 + i, 90) for i in range(7)],
        ("C", "y"): [(40 + i, 90) for i in range(7)],
    }
)  # fmt: skip


def table(records=RECORDS, by=("region", "size"), **more):
    return dk.tabulate(
        records, by=dict.fromkeys(by), value="sales", unit="firm", contributions=True, **more
    )


@pytest.fixture
def ledger(tmp_path):
    """A ledger with a release in which one firm can tell what another one has."""
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    alone = pytest.MonkeyPatch()
    original = InsiderJudge.attack

    def nothing(self, publication, examination, *rest, **how):
        examination, found, asked = original(self, publication, examination, *rest, **how)
        found.open.clear()
        return examination, found, asked

    alone.setattr(InsiderJudge, "attack", nothing)
    first = dk.suppress(table(), RULE, name="first", ledger=ledger)
    alone.undo()
    assert not first.published.suppressed.all()
    ledger.publish(first, tmp_path / "one", ["csv"])
    return ledger


def test_what_was_told_before_is_no_reason_to_refuse(ledger, tmp_path):
    more = table(by=["region"], where={"size": "x"})
    second = dk.suppress(more, RULE, name="second", ledger=ledger)
    assert any(SENTENCE in line for line in second.certificate.public()["not_claimed"]["en"])
    ledger.publish(second, tmp_path / "two", ["csv"])
    earlier = [tmp_path / "one"]
    assert verify(tmp_path / "two", keys=KEYS, releases=earlier).tables == ("second",)


def test_what_new_tables_would_tell_is_not_given_up(tmp_path):
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    first = dk.suppress(table(), RULE, name="first", ledger=ledger)
    ledger.publish(first, tmp_path / "one", ["csv"])
    second = dk.suppress(table(by=["region"]), RULE, name="second", ledger=ledger)
    assert not any(SENTENCE in line for line in second.certificate.public()["not_claimed"]["en"])


TWO_EACH = firms(
    {
        ("A", "x"): [(i, 50) for i in range(6)],
        ("A", "y"): [(10, 100), (12, 90)],
        ("B", "x"): [(11, 80), (13, 70)],
        ("B", "y"): [(20 + i, 60) for i in range(6)],
        ("C", "x"): [(30 + i, 90) for i in range(7)],
        ("C", "y"): [(40 + i, 90) for i in range(7)],
    }
)  # fmt: skip


@pytest.mark.parametrize("before", [1, 2])
@pytest.mark.parametrize(
    "more",
    [
        {"by": ["region"], "where": {"size": "x"}},
        pytest.param({"by": ["size"]}, marks=pytest.mark.long),
    ],
)
def test_what_two_could_tell_together(before, more, tmp_path):
    """The firms of A × y together know B × x, which only an office that asks for it prevents."""
    rule = RULE | dk.rules.MinimumFrequency(3)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    for name, pooling, options in (("first", before, {}), ("second", 2, more)):
        attacker = dk.Attacker(contributor=True, coalition=pooling)
        made = table(TWO_EACH, **options)
        result = dk.suppress(made, rule, name=name, ledger=ledger, attacker=attacker)
        ledger.publish(result, tmp_path / name, ["csv"])
    not_claimed = result.certificate.public()["not_claimed"]["en"]
    assert any(SENTENCE in line for line in not_claimed) == (before == 1)
    earlier = [tmp_path / "first"]
    assert verify(tmp_path / "second", keys=KEYS, releases=earlier).tables == ("second",)
    third = dk.suppress(
        table(TWO_EACH, by=["region"]), rule, name="third", ledger=ledger, attacker=attacker
    )
    ledger.publish(third, tmp_path / "third", ["csv"])


def test_who_may_be_in_several_places_gives_up_one_of_them():
    """What a record could tell from one place, it must not tell from another."""
    names, places = np.array([7, 7, 9], dtype=np.uint64), np.array([0, 1, -1])
    target = sparse.csr_array(np.eye(2, dtype=np.int64))
    asked = Asked(None, names, target, None, places)
    told = [asked.told(Open((i,), 1, 2, 0)) for i in range(3)]
    assert told == [[(((7, 0),), (1,), -1)], [(((7, 1),), (1,), -1)], [(((9, -1),), (1,), -1)]]


def test_why_a_cell_is_hidden_because_of_contributors():
    register = dk.datasets.business_register(300, seed=2)
    trees = {"nace": register.nace, "region": register.region}
    sales = dk.tabulate(register.records, by=trees, value="turnover", unit="firm_id")
    sales = sales.recode("nace", level=1)
    rule = RULE | dk.rules.MinimumFrequency(3)
    against = dk.suppress(sales, rule).explain().to_pylist()
    outsider = dk.suppress(sales, rule, attacker=dk.Attacker()).explain().to_pylist()
    assert "contributors" in {row["kind"] for row in against}
    assert "contributors" not in {row["kind"] for row in outsider}
