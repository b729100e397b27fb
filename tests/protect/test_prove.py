"""What a method proposes may save the attack work, but never a pattern."""

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

import diskret as dk
from diskret.attack import Proposals, component, recheck
from diskret.suppression import Pattern

attack_pattern = import_module("diskret.protect.attack_pattern")
RULE = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)


@pytest.fixture(scope="module")
def table():
    register = dk.datasets.business_register(2_000, seed=2)
    by = {"nace": register.nace, "region": register.region}
    return dk.tabulate(register.records, by=by, value="turnover", unit="firm_id")


def only_primaries(problem):
    hidden = np.zeros(len(problem.cost), dtype=bool)
    hidden[problem.requirements.cell] = True
    return Pattern(hidden, "only primaries")


@pytest.mark.parametrize("work", [-1.0, component.EXACT_WORK], ids=["large", "small"])
def test_wrong_proposals_do_not_save_a_bad_pattern(table, monkeypatch, work):
    monkeypatch.setattr(component, "EXACT_WORK", work)
    plain = dk.suppress(table, RULE, method=only_primaries, attacker=dk.Attacker())
    n = plain.published.value.size
    each = sparse.eye_array(n, dtype=np.int64, format="csr") * 10**6
    wrong = Proposals(
        sparse.csr_array(sparse.vstack([each, -each], format="csr")), np.ones(2 * n, dtype=np.int64)
    )
    monkeypatch.setattr(attack_pattern, "_LARGE", 0)
    monkeypatch.setattr(attack_pattern, "propose", lambda problem, suppressed: wrong)
    again = dk.suppress(table, RULE, method=only_primaries, attacker=dk.Attacker())
    assert plain.certificate.repaired == again.certificate.repaired > 0
    assert again.public.equals(plain.public)
    proof = again.certificate.proof
    recheck(proof.publication, proof.examination)
