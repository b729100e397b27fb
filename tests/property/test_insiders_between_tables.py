"""Contributors know what is theirs beside filters and in common parts of categories, too."""

import random
import warnings

import pytest
from insiders_oracle import Between
from profiles import scaled, some_quick

import diskret as dk
from diskret.errors import DiskretError, ProofError, ProtectionError
from diskret.ledger import check
from diskret.protect.insiders import InsiderJudge
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))


def drawn(seed, coalition=1):
    return Between(random.Random(f"{seed} {coalition}"), coalition)


def suppressed(case, tables, **more):
    names = ["a", "b", "c"][: len(tables)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dk.suppress(tables, case.rule, attacker=case.attacker, name=names, **more)


def seen(case, results):
    return [(t, case.seen(t, one)) for t, one in zip(case.layouts, results, strict=False)]


def told(seed, coalition=1):
    case = drawn(seed, coalition)
    try:
        results = suppressed(case, [case.table(trees) for trees in case.layouts])
    except (ProtectionError, ProofError):
        return []
    return case.broken(seen(case, results))


@pytest.mark.parametrize("seed", range(scaled(20)))
def test_single_contributors(seed):
    assert told(seed) == []


@pytest.mark.parametrize("seed", range(scaled(5)))
def test_two_who_pool(seed):
    assert told(seed, 2) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 500))
def test_many_single_contributors(seed):
    assert told(seed) == []


def test_without_what_they_have_there_somebody_learns(monkeypatch):
    """The test itself is able to fail."""
    monkeypatch.setattr(InsiderJudge, "between", lambda *_: None)
    assert any(told(seed) for seed in (7, 8, 9, 11, 13))


def one_after_the_other(seed, folder, at_once):
    """Two releases; the second one is protected beside the first, or before that is out."""
    case = drawn(seed)
    if not case.values:
        return []  # counts keep nobody's contributions
    first, second = ([case.table(trees)] for trees in case.layouts)
    ledger = dk.Ledger.create(folder / "ledger.db", keys=KEYS)
    results = []
    try:
        results += suppressed(case, first, ledger=ledger)
        late = suppressed(case, second) if at_once else None
        ledger.publish(results, folder / "one", ["csv"])
        late = suppressed(case, second, ledger=ledger) if late is None else late
        ledger.publish(late, folder / "two", ["csv"])
        results += late
    except DiskretError as error:
        assert "contradict" not in str(error)
    return case.broken(seen(case, results))


@pytest.mark.parametrize("seed", some_quick(range(6, 12), range(6, 9)))
def test_releases_one_after_the_other(seed, tmp_path):
    assert one_after_the_other(seed, tmp_path, at_once=False) == []


@pytest.mark.parametrize("seed", some_quick(range(6, 12), range(6, 9)))
def test_releases_that_are_protected_at_once(seed, tmp_path):
    assert one_after_the_other(seed, tmp_path, at_once=True) == []


@pytest.mark.parametrize("seed", some_quick([7, 8, 9], (7,)))
def test_what_is_written_is_verified(seed, tmp_path):
    case = drawn(seed)
    results = suppressed(case, [case.table(trees) for trees in case.layouts])
    folder = dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)
    assert any("proven again" in line for line in verify(folder, keys=KEYS).lines)


def checked(seed, folder):
    """Whether a table safe from outsiders may stand beside a release, and who learns what."""
    case = drawn(seed)
    first, second = (case.table(trees) for trees in case.layouts)
    ledger = dk.Ledger.create(folder / "ledger.db", keys=KEYS)
    [first] = suppressed(case, [first], ledger=ledger)
    ledger.publish(first, folder / "one", ["csv"])
    second = dk.suppress(second, case.rule, attacker=dk.Attacker(), name="b")
    shown = seen(case, [first, second])
    hidden = {cell for cell, value in shown[0][1].items() if value is None}
    learnt = [one for one in case.broken(shown) if hidden.issuperset(one[1])]
    return ledger.check(second), learnt


@pytest.mark.parametrize("seed", some_quick([50, 81, 94, 135, 4, 9], (50, 4, 9)))
def test_what_contributors_would_learn_speaks_against_publishing(seed, tmp_path):
    report, learnt = checked(seed, tmp_path)
    assert report.ok == (not learnt)
    assert bool(learnt) == any(cell.contributors for cell in report.broken)


def test_without_the_attack_of_contributors_nothing_speaks_against_it(tmp_path, monkeypatch):
    """The test itself is able to fail."""
    monkeypatch.setattr(check, "told_of_earlier", lambda *_: [])
    report, learnt = checked(94, tmp_path)
    assert learnt and report.ok
