"""With rules that differ by category contributors learn nothing of others, whoever they are."""

import os
import random
import warnings
from dataclasses import replace

import numpy as np
import pytest
from insiders_oracle import Beside, Between, ByCategory, Case, published
from profiles import scaled
from scipy import sparse

import diskret as dk
from diskret.errors import ProofError, ProtectionError
from diskret.protect import insider_rests
from diskret.protect import rests as judged_rests
from diskret.rules import varying
from diskret.tables import rests
from diskret.tables.made_of import MadeOf

CASES = int(os.environ.get("DISKRET_INSIDERS", "0")) or 1_000


class Tables(ByCategory, Case):
    """One table or two."""

    def seen(self, trees, result):
        return published(result)


class Filtered(ByCategory, Beside):
    """One table and filters of its records."""


class Overlapping(ByCategory, Between):
    """Filters, and groupings of industries that cut through each other."""


def told(seed, kind, coalition=1, tables=()):
    """What somebody can tell of others; None if the tables are refused."""
    case = kind(random.Random(f"{kind.__name__} {seed} {coalition} {tables}"), coalition, *tables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = dk.suppress(
                [case.table(trees) for trees in case.layouts],
                case.rule,
                attacker=case.attacker,
                name=[str(i) for i in range(len(case.layouts))],
            )
        except (ProtectionError, ProofError):
            return None
    seen = [(t, case.seen(t, one)) for t, one in zip(case.layouts, found, strict=True)]
    rests = case.told_of_rests(seen) if isinstance(case, Between) else []
    return rests + case.broken(seen)


@pytest.mark.parametrize("seed", range(scaled(24)))
def test_single_contributors(seed):
    assert not told(seed, Tables)


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_two_who_pool(seed):
    assert not told(seed, Tables, 2)


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_two_tables(seed):
    assert not told(seed, Tables, 1, (2,))


@pytest.mark.parametrize("seed", range(scaled(12)))
def test_beside_filters(seed):
    assert not told(seed, Filtered)


@pytest.mark.parametrize("seed", range(scaled(12)))
def test_between_groupings_that_overlap(seed):
    assert not told(seed, Overlapping)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_000 + CASES))
def test_many_more(seed):
    kind = (Tables, Filtered, Overlapping)[seed % 3]
    assert not told(seed, kind, 1 + (seed % 8 == 0))


# ── the test itself is able to fail ─────────────────────────────────────────────────


class TotalsByOthersAlone(varying._Reading):
    """Inner codes judged by the rule for all others, as if it were that of totals."""

    def __init__(self, rule, tree, asked):
        super().__init__(rule, tree, asked)
        self.held[~tree.is_leaf] = rule.rules.get("*") is not None


def sums_by_no_rule(self, axis, there):
    return SOMEWHERE(self, axis, there) & (np.diff(self.cells.indptr) < 2)


SOMEWHERE = MadeOf.somewhere


def test_judging_totals_by_the_rule_of_others_alone_is_found_out(monkeypatch):
    monkeypatch.setattr(varying, "_Reading", TotalsByOthersAlone)
    assert told(17, Tables) and told(38, Tables)


def test_sums_of_cells_of_several_categories_judged_by_no_rule_are_found_out(monkeypatch):
    monkeypatch.setattr(MadeOf, "somewhere", sums_by_no_rule)
    assert told(45, Tables) and told(57, Tables)


def test_rests_beside_filters_judged_by_no_rule_are_found_out(monkeypatch):
    def nowhere(tables, cells):
        found = wholes_of(tables, cells)
        return replace(found, cells=sparse.csr_array(found.cells.shape, dtype=np.int64))

    wholes_of = rests.wholes_of
    for module in (rests, judged_rests, insider_rests):
        monkeypatch.setattr(module, "wholes_of", nowhere)
    assert told(106, Filtered) and told(113, Filtered)
