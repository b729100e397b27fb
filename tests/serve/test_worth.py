"""Answers are attacked as strangers do it; no attacker does better than the service says."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from diskret import PerturbationTable
from diskret.serve import Question, resistance
from diskret.serve.noise import MODULUS, shown_counts

NOISE = PerturbationTable.maximum_entropy(5, 3, small_counts=2)
SHAPE = (6, 5, 4, 3)
NAMES = ("region", "age", "work", "origin")


@pytest.fixture(scope="module")
def worth() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        return importlib.import_module("serve_worth")


def towns(worth: Any, number: int, answered: int):
    """Some small towns and the answers to random questions about them."""
    for seed in range(1, number + 1):
        where = worth.town(400, SHAPE, 60, seed)
        data = worth.census(where.count, NOISE, NAMES, seed)
        asked = worth.questions(data, seed)
        yield where, worth.answers(worth.service(data, seed), asked, answered, "anne")


def seen_of(worth: Any, tables: Any, question: Question, who: str = "anne") -> Any:
    """One answer as its reader knows it."""
    return worth.answers(tables, iter([question]), 1, who)[0]


def error(bound: float, number: int) -> float:
    """Four times the standard error of a share of so many."""
    return 4 * math.sqrt(bound * (1 - bound) / number)


def test_who_knows_all_others_is_no_better_than_the_bound(worth: Any):
    stated = resistance(NOISE)
    found = {most: ([], []) for most in (1, 2, 3, 5, 40)}
    for where, seen in towns(worth, 12, 40):
        for most, (right, bound) in found.items():
            there, tables = worth.knows_all_others(
                seen[:most],
                where.others,
                where.target,
                where.present,
                NOISE.probabilities,
                NOISE.noise,
            )
            right += np.where(there == 0.5, 0.5, (there > 0.5) == where.present).tolist()
            bound += [stated.certainty(int(m)) for m in tables]
    for right, bound in found.values():
        assert np.mean(right) <= np.mean(bound) + error(np.mean(bound), len(right))
    # it is an attack, and grows with the answers
    shares = [np.mean(right) for right, _ in found.values()]
    assert shares[0] < 0.7 < 0.9 < shares[-1]


@pytest.mark.long
def test_tables_that_tell_most_are_no_better_than_the_bound(worth: Any):
    """Those that are chosen for each target, twins first, then cells of few others."""
    found = {most: [] for most in (1, 2, 3)}
    for where, seen in towns(worth, 8, 200):
        for most, shares in found.items():
            known, bound = worth.all_others(seen, where, most)
            shares.append((known.right, bound))
    for most, shares in found.items():
        right, bound = np.mean(shares, 0)
        assert resistance(NOISE, known_empty=False).certainty(most, twins=False) < right
        assert right <= bound + error(bound, 8 * 60)


@pytest.mark.long
def test_who_estimates_all_cells_is_no_better_than_the_bound_and_gets_there(worth: Any):
    stated = resistance(NOISE)
    share = {}
    for most in (1, 300):
        right = {"averages": [], "known": [], "unknown": []}
        for where, seen in towns(worth, 2, most):
            equations = worth.Equations(seen, SHAPE)
            right["averages"].append(worth.estimates(equations, worth.averaged, where).right)
            right["known"].append(worth.estimates(equations, worth.noise_known, where).right)
            own = worth.estimates(equations, worth.noise_unknown, where, known=False)
            right["unknown"].append(own.right)
        bound = stated.certainty(most)
        share[most] = {name: np.mean(own) for name, own in right.items()}
        assert max(share[most].values()) <= bound + error(bound, 120)
    assert share[1]["known"] < 0.7 < 0.85 < min(share[300]["known"], share[300]["unknown"])
    assert share[300]["averages"] < share[300]["known"]


def test_counts_are_named_rightly_as_often_as_the_attacker_thinks(worth: Any):
    (where, seen), *_ = towns(worth, 1, 400)
    found = worth.estimates(worth.Equations(seen, SHAPE), worth.noise_known, where)
    named = [told for told, _ in found.told]
    assert named == sorted(named, reverse=True) and named[0] > 0.5
    wrong = found.told[0][1]
    assert wrong is not None and wrong < 0.3


def test_users_who_share_have_the_answers_of_one(worth: Any):
    where = worth.town(400, SHAPE, 60)
    data = replace(worth.census(where.count, NOISE, NAMES), share=1.0)
    tables, questions = worth.service(data), [*islice(worth.questions(data, 5), 60)]
    tables.memory.limit = 0
    one = [seen_of(worth, tables, question).value for question in questions]
    for user in range(3):
        turned = questions[user * 20 :] + questions[: user * 20]
        for i, question in enumerate(turned):
            own = seen_of(worth, tables, question, f"user {user}").value
            assert (own == one[(i + user * 20) % 60]).all()


def test_twins_tell_as_much_as_is_said_and_not_more(worth: Any):
    """Blocks of ten and perhaps one more: a total of all, and one without the code of this one."""
    count, present = blocks(400, parts=1, seed=1)
    data = worth.census(count, NOISE, ("block", "part", "odd"))
    tables = worth.service(data)
    others = count.copy()
    others[:, 0, 1] = 0
    target = np.ravel_multi_index((np.arange(400), 0, 1), count.shape)
    without = {"odd": ["000", "002"]}
    twins = [seen_of(worth, tables, asked(["block"], w)) for w in (None, without)]
    right = []
    for seen in (twins[:1], twins):
        there, m = worth.knows_all_others(
            seen, others, target, present, NOISE.probabilities, NOISE.noise
        )
        assert (m == 1).all()
        right.append(np.where(there == 0.5, 0.5, (there > 0.5) == present).mean())
    stated = resistance(NOISE, known_empty=False)
    assert right[0] <= stated.certainty(1, twins=False) + error(0.68, 400)
    assert stated.certainty(1, twins=False) + 0.1 < right[1]
    assert right[1] <= stated.certainty(1) + error(0.96, 400)


@pytest.mark.long  # it is compiled first
def test_who_knows_the_rules_names_more_than_who_only_estimates(worth: Any):
    """The same people have the same noise: with planned tables this tells who is there at all."""
    where = worth.town(400, SHAPE, 60)
    tables = worth.service(replace(worth.census(where.count, NOISE, NAMES), share=1.0))
    planned = worth.planned(tables.data["census"], 5)
    seen = worth.answers(tables, planned, 30, "bob")
    told, wrong = worth.whole_numbers(seen, where)[0]
    estimated = worth.estimates(worth.Equations(seen, SHAPE), worth.noise_known, where)
    assert told > max(estimated.told[0][0], 0.2)
    assert wrong is not None and wrong < 0.4


# ── sabotage: a service with noise of another kind is seen to be one ────────────────


def asked(by, where=None):
    return Question.of({"data": "census", "by": [*by], "where": where or {}})


def blocks(number, parts, seed):
    """Each block has ten people in each part; half have one more, in the last, with an odd code."""
    present = np.random.default_rng(seed).random(number) < 0.5
    count = np.zeros((number, parts, 3), dtype=np.int64)
    count[:, :, 0] = 10
    count[:, -1, 1] = present
    return count, present


def right_by_keys(worth: Any) -> float:
    """Who takes the key of a whole for the sum of those of its parts, and asks for all parts.

    One answer counts whom he looks for, and there are no twins. From the noise of three parts and
    their pairs, people without an odd code, he tells that of the whole.
    """
    count, present = blocks(300, parts=3, seed=3)
    data = worth.census(count, NOISE, ("block", "part", "odd"))
    tables = worth.service(data)
    without = {"odd": ["000", "002"]}
    singles = seen_of(worth, tables, asked(["block", "part"], without)).value
    pairs = [
        seen_of(worth, tables, asked(["block"], without | {"part": [a, b]})).value
        for a, b in (("000", "001"), ("000", "002"), ("001", "002"))
    ]
    noise = np.column_stack((singles - 10, *(pair[:, None] - 20 for pair in pairs)))
    whole = seen_of(worth, tables, asked(["block"])).value - 30

    draw, row = np.random.default_rng(5), NOISE.probabilities[-1]
    keys = draw.random((1_000_000, 3))
    pairs_of = [keys[:, a] + keys[:, b] for a, b in ((0, 1), (0, 2), (1, 2))]
    power = len(row) ** np.arange(6)
    pattern = interval(np.column_stack((keys, *pairs_of)), row) @ power
    total = interval(keys.sum(1), row)
    order = np.argsort(pattern, kind="stable")
    seen = (noise - NOISE.noise[0]) @ power
    start, end = (np.searchsorted(pattern[order], seen, side=side) for side in ("left", "right"))
    right = []
    for block, shown in enumerate((whole - NOISE.noise[0]).tolist()):
        alike = total[order[start[block] : end[block]]]
        absent = (np.bincount(alike, minlength=len(row)) + row) / (len(alike) + 1)
        absent, there = np.pad(absent, 1)[1:], np.pad(row, 1)[: len(row) + 1]
        right.append((there[shown] > absent[shown]) == present[block])
    return float(np.mean(right))


def interval(key: Any, row: Any) -> Any:
    """Which noise a key means, from 0 to 1, by the convention that intervals are in order."""
    return np.searchsorted(row.cumsum(), key % 1, side="right").clip(max=len(row) - 1)


@pytest.mark.long
def test_plain_sums_of_keys_would_tell_more_than_is_said(worth: Any, monkeypatch: Any):
    stated = resistance(NOISE, known_empty=False).certainty(1, twins=False)
    assert right_by_keys(worth) <= stated + error(stated, 300)
    monkeypatch.setattr("diskret.serve.noise.noise_keys", lambda key, _: key % np.uint64(MODULUS))
    assert right_by_keys(worth) > stated + error(stated, 300)


def right_by_means(worth: Any, questions: Any) -> float:
    """The share of counts of 1 and 2 that the mean of all answers tells."""
    count = np.zeros((60, 12), dtype=np.int64)
    count[:, 0] = 1 + np.arange(60) % 4
    data = worth.census(count, NOISE, ("place", "idle"))
    tables = worth.service(replace(data, share=1.0))
    tables.memory.limit = 0
    values = [seen_of(worth, tables, question).value for question in questions]
    small = np.isin(count[:, 0], (1, 2))
    return float((np.rint(np.mean(values, 0)) == count[:, 0])[small].mean())


def test_the_same_records_under_other_names_are_averaged_only_where_names_make_noise(
    worth: Any, monkeypatch: Any
):
    """Filters that keep all who are there, and other codes that nobody has."""
    codes = [f"{i:03d}" for i in range(12)]
    other = [asked(["place"], {"idle": ["000", *codes[2 : 3 + i % 9]]}) for i in range(9)]
    other += [
        asked(["place"], {"idle": ["000", a, b]}) for a in codes[1:] for b in codes[1:] if a < b
    ]
    assert right_by_means(worth, other) == 0

    def named(found: Any, family: Any, *rest: Any) -> Any:
        name = np.uint64(crc32(repr(family).encode()) << 20)
        return shown_counts(
            replace(found, key_sum=name + found.cell.astype(np.uint64)), family, *rest
        )

    monkeypatch.setattr("diskret.serve.tabulator.shown_counts", named)
    assert right_by_means(worth, other) > 0.9


def test_the_same_question_is_averaged_only_where_noise_is_new(worth: Any, monkeypatch: Any):
    again = [asked(["place"])] * 100
    assert right_by_means(worth, again) == 0
    draw = np.random.default_rng(1)

    def fresh(found: Any, *rest: Any) -> Any:
        key = draw.integers(2**32, size=len(found.cell), dtype=np.uint64)
        return shown_counts(replace(found, key_sum=key), *rest)

    monkeypatch.setattr("diskret.serve.tabulator.shown_counts", fresh)
    assert right_by_means(worth, again) > 0.9


# ── small tables ────────────────────────────────────────────────────────────────────


def test_what_fits_small_tables_holds_the_truth_and_many_answers_find_more_of_it(worth: Any):
    few, many = (np.mean([worth.village(m, seed) for seed in (1, 2)], 0) for m in (3, 60))
    assert few[2] == many[2] == 1
    assert few[0] < many[0]
