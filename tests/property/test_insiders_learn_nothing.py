"""Contributors who know what is theirs learn nothing of others, whoever they are."""

import os
import random

import pytest
from insiders_oracle import Case, published
from profiles import scaled

import diskret as dk
from diskret.errors import ProofError, ProtectionError

CASES = int(os.environ.get("DISKRET_INSIDERS", "0"))


def protected(case):
    tables = [case.table(trees) for trees in case.layouts]
    names = [str(i) for i in range(len(tables))]
    try:
        found = dk.suppress(tables, case.rule, attacker=case.attacker, name=names)
    except (ProtectionError, ProofError):
        return None
    return [(trees, published(one)) for trees, one in zip(case.layouts, found, strict=True)]


def nobody_learns(seed, coalition, tables=1):
    case = Case(random.Random(f"{seed} {coalition} {tables}"), coalition, tables)
    seen = protected(case)
    assert seen is None or case.broken(seen) == [], seed


@pytest.mark.parametrize("seed", range(scaled(24)))
def test_single_contributors(seed):
    nobody_learns(seed, 1)


@pytest.mark.parametrize("seed", range(scaled(8)))
def test_two_who_pool(seed):
    nobody_learns(seed, 2)


@pytest.mark.parametrize("seed", range(scaled(8)))
def test_two_tables(seed):
    nobody_learns(seed, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("coalition", "cases"), [(1, 10_000), (2, 1_000)])
def test_many_more(coalition, cases):
    for seed in range(1_000, 1_000 + (CASES or cases)):
        nobody_learns(seed, coalition)
