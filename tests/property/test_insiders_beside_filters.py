"""What a filter leaves stays uncertain to contributors where its value does not follow for all."""

import os
import random
import warnings

import pytest
from insiders_oracle import Beside
from profiles import scaled, some_quick

import diskret as dk
from diskret.errors import ProofError, ProtectionError
from diskret.protect import insiders
from diskret.publish.verify.folder import verify

CASES = int(os.environ.get("DISKRET_INSIDERS", "0")) or 1_000
#: Cases in which somebody learns of a rest if nobody asks.
SABOTAGED = (0, 5, 38, 90, 145)
KEYS = dk.SecretKeys(bytes(range(32)))


def protected(seed, coalition=1):
    """A random statistic, its results, and what these publish; None if it is refused."""
    case = Beside(random.Random(f"{seed} {coalition}"), coalition)
    names = ["all", "some", "few"][: len(case.layouts)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            results = dk.suppress(
                [case.table(trees) for trees in case.layouts],
                case.rule,
                attacker=case.attacker,
                name=names,
            )
        except (ProtectionError, ProofError):
            return case, None, []
    shown = [(t, case.seen(t, one)) for t, one in zip(case.layouts, results, strict=True)]
    return case, results, shown


def told(seed, coalition=1):
    case, _, shown = protected(seed, coalition)
    return case.told_of_rests(shown) + case.broken(shown)


@pytest.mark.parametrize("seed", range(scaled(16)))
def test_single_contributors(seed):
    assert told(seed) == []


@pytest.mark.parametrize("seed", range(scaled(4)))
def test_two_who_pool(seed):
    assert told(seed, 2) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_000 + CASES))
def test_many_more(seed):
    assert told(seed, 1 + (seed % 8 == 0)) == []


def test_without_rests_among_the_targets_somebody_learns(monkeypatch):
    """The test itself is able to fail."""
    monkeypatch.setattr(insiders.InsiderJudge, "rests", lambda *_: [])
    assert any(told(seed) for seed in SABOTAGED)


@pytest.mark.parametrize("seed", some_quick(SABOTAGED, SABOTAGED[:2]))
def test_what_is_written_is_verified(seed, tmp_path):
    case, results, shown = protected(seed)
    assert case.rests(shown)
    folder = dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)
    assert any("proven again" in line for line in verify(folder, keys=KEYS).lines)
