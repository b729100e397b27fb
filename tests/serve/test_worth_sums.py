"""Sums are attacked as strangers do it; no attacker does better than the service says."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret import PerturbationTable
from diskret.serve import certainty_of_estimate

NOISE = PerturbationTable.maximum_entropy(5, 3, small_counts=2)
SHAPE = (6, 5, 4, 3)
NAMES = ("region", "age", "work", "origin")


@pytest.fixture(scope="module")
def worth() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        return importlib.import_module("serve_worth_sums")


def by_finest(one: Any) -> Any:
    return importlib.import_module("_serve_answers").by_finest(one)


def answered(worth: Any, share: float, most: int):
    own = worth.People(400, SHAPE)
    data = worth.census(own.count, NOISE, NAMES, pay=own.pay, share=share)
    asked = worth.questions(data, 5, "sum")
    return own, worth.answers(worth.service(data), asked, most, "anne")


@pytest.mark.long
@pytest.mark.parametrize("most", [1, 3])
def test_who_knows_all_other_values_is_no_better_than_the_bound(worth: Any, most: int):
    own, seen = answered(worth, worth.SHARE, most)
    bound = certainty_of_estimate(worth.SHARE, worth.WITHIN, most)
    error = 4 * math.sqrt(bound * (1 - bound) / len(own.target))
    assert len(own.target) > 40
    for attack in (worth.all_others(seen, own), worth.least_squares(seen, own).ravel()[own.target]):
        assert own.right(attack) <= bound + error


@pytest.mark.long
def test_noise_that_is_too_small_is_seen_by_both_attackers(worth: Any, monkeypatch: Any):
    own, seen = answered(worth, 0.001, 60)
    monkeypatch.setattr(worth, "SHARE", 0.001)
    assert own.right(worth.all_others(seen, own)) > 0.9
    assert own.right(worth.least_squares(seen, own).ravel()[own.target]) > 0.9


@pytest.mark.long
def test_an_answer_by_coarser_codes_is_the_same_as_answers_with_filters(worth: Any):
    own = worth.People(400, SHAPE)
    data = worth.census(own.count, NOISE, NAMES, groups={"region": (3,), "age": (4, 2)})
    tables = worth.service(data)
    seen = worth.answers(tables, worth.questions(data, 5), 20, "anne")
    coarse = [by_finest(one) for one in seen]
    assert sum(len(parts) > 1 for parts in coarse) > 5
    for parts in coarse:
        for part in parts:
            where = {
                name: np.array(data.variable[name].codes)[kept].tolist()
                for at, (name, kept) in enumerate(zip(NAMES, part.kept, strict=True))
                if at not in part.by and not kept.all()
            }
            asked = {"data": "census", "by": [NAMES[at] for at in part.by], "where": where}
            assert (tables.answer(asked, who="bob").value == part.value).all()


@pytest.mark.long
def test_coarser_codes_are_equations_of_their_own(worth: Any):
    """What answers by coarser codes add up is what their parts by finest codes do."""
    own = worth.People(400, SHAPE)
    data = worth.census(own.count, NOISE, NAMES, groups={"region": (3,), "age": (4, 2)})
    seen = worth.answers(worth.service(data), worth.questions(data, 5), 20, "anne")
    parts = [part for one in seen for part in by_finest(one)]
    whole, apart = worth.Equations(seen, SHAPE), worth.Equations(parts, SHAPE)
    cells = np.random.default_rng(1).random(SHAPE)
    for these in (whole.sums(cells), whole.shown):
        those = apart.sums(cells) if these is not whole.shown else apart.shown
        one, other = (np.sort(np.concatenate([x.ravel() for x in y])) for y in (these, those))
        assert np.allclose(one, other)
    back = whole.back(whole.shown)
    assert np.allclose(back, apart.back(apart.shown))
