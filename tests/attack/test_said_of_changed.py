"""Of every certificate of changed values the text is known, and belongs to its figures alone."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import certify_cell_key, certify_cell_key_sums
from diskret.attack.cell_key_certificate import certify_unseen
from diskret.attack.certify_changed import (
    certify_additive,
    certify_adjustment,
    certify_invariant,
)
from diskret.attack.rounding_certificate import certify_rounding
from diskret.attack.said_of_changed import may_say
from diskret.cellkey import Lookup
from diskret.hierarchy import Hierarchy
from diskret.tables import CHANGES, Dimension, Noise, Perturbed, Table
from diskret.tables.perturbed import published_with
from diskret.tables.requirements import Requirements

BY = (Dimension("region", Hierarchy.flat(["N", "S"])),)
COUNT = np.array([15, 6, 9])
TABLE = Table(BY, count=COUNT, key_sum=np.zeros(3, np.uint64), key_modulus=10)
NEEDS = Requirements(*(np.zeros(0, dtype=np.int64) for _ in range(4)))


def shown(family, *values):
    value = np.array(values or COUNT)
    return published_with(TABLE, Noise.of(value), name="t", changed=family)


def lookup(*noise):
    """Noise of every count above 0 for the keys 0 to 4 and 5 to 9; none for nobody."""
    bounds = np.array([[10, 10], [5, 10]], dtype=np.uint64)
    return Lookup(np.array([0, 1]), 10, bounds, np.array([[0, 0], noise]))


def rounded(method, examined, ruled, groups):
    return certify_rounding(
        [shown("rounding")],
        [COUNT],
        Perturbed(method, base=3),
        [NEEDS] if ruled else None,
        examined=examined,
        groups=groups,
    )[0]


MADE = {
    **{
        f"rounded {' '.join(map(str, how))}": lambda how=how: rounded(*how)
        for how in product(
            ("deterministic", "random", "controlled", "small_counts"),
            (True, False),
            (True, False),
            (True, False),
        )
    },
    "adjusted": lambda: certify_adjustment([shown("adjustment")], [TABLE], [NEEDS])[0],
    "additive": lambda: certify_additive(shown("cell_key"), shown("cell_key"), TABLE),
    "invariant": lambda: certify_invariant([shown("invariant")], [TABLE], 1)[0],
    "invariant on average": lambda: certify_invariant([shown("invariant")], [TABLE], 1, False)[0],
    "counts": lambda: certify_cell_key(
        TABLE, shown("cell_key", 14, 5, 8), lookup(-1, 1), counted=COUNT
    ),
    "counts with a mean": lambda: certify_cell_key(
        TABLE, shown("cell_key", 14, 5, 8), lookup(-1, 0), counted=COUNT
    ),
    "unseen": lambda: certify_unseen(shown("cell_key"), lookup(-1, 1), 0),
    "unseen with a mean": lambda: certify_unseen(shown("cell_key"), lookup(-1, 0), 0),
}


def text(certificate):
    public = certificate.public()
    return public["claimed"], public["not_claimed"]


@pytest.mark.parametrize("name", MADE)
def test_what_a_certificate_says_belongs_to_its_family_and_figures_alone(name):
    made = MADE[name]()
    figures = dict(made.shown)
    assert text(made) in list(may_say(made.family, figures))
    for family in CHANGES:
        if family != made.family:
            assert text(made) not in list(may_say(family, figures)), family
    for other in ({}, {"additive": True}, {**figures, "more": 1}, {**figures, "additive": False}):
        if other != figures:
            assert text(made) not in list(may_say(made.family, other)), other


def test_what_may_be_said_is_what_is_said_of_some_table():
    """No text is allowed that no method has: each is one of those above, or of sums."""
    said = [(made.family, dict(made.shown), text(made)) for made in (m() for m in MADE.values())]
    for family, figures, _ in said:
        known = [of for name, shown, of in said if (name, shown) == (family, figures)]
        of_sums = 2 if family == "cell_key" and not figures else 0
        allowed = list(may_say(family, figures))
        assert len(allowed) == len(known) + of_sums
        assert sum(one in known for one in allowed) == len(known)


def test_noise_on_sums_has_texts_of_its_own():
    """One for noise without a mean, one for noise with one; both warn of differences."""
    records = {"region": ["N", "S"], "sales": [600, 900], "key": [3, 4]}
    table = dk.tabulate(
        pa.table(records),
        by={"region": None},
        value="sales",
        record_key="key",
        key_modulus=10,
        largest=1,
    )
    found = []
    for probabilities in ([0.5, 0, 0.5], [0.5, 0.5, 0]):
        ptable = dk.PerturbationTable(
            np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], probabilities])
        )
        noise = dk.MagnitudeNoise(ptable)
        made = dk.perturb(table, noise)
        certificate = certify_cell_key_sums(
            table, made.published, noise, ptable.lookup(10), number=table.count
        )
        assert text(certificate) in list(may_say("cell_key", {}))
        assert text(certificate) not in list(may_say("cell_key", {"additive": True}))
        found.append(text(certificate))
    assert found[0] != found[1]
    assert not [one for one in found if one in [text(m()) for m in MADE.values()]]


@pytest.mark.parametrize("base", [None, "3", True, [3]])
def test_a_base_is_a_number(base):
    of = {"method": "random", "base": base, "additive": False}
    assert list(may_say("rounding", of)) == []
    assert len(list(may_say("rounding", {**of, "base": 3}))) == 8
    assert len(list(may_say("rounding", {**of, "base": 0.5}))) == 8
