"""Protection that is broken on purpose: the campaign finds it, case by case of the kind concerned.

Each sabotage takes away one thing that diskret does. The first cases of a kind are released and
attacked until one is disclosed; the same case is protected when nothing is broken.
"""

from dataclasses import replace
from importlib import import_module
from itertools import count, islice

import numpy as np
from campaign import releases
from campaign.cases import LATER
from campaign.draws import draw
from campaign.noise import Noisy, attack_noise
from campaign.oracle import attack
from campaign.places import places, places_tell
from campaign.run import one
from test_attack_campaign import case, flat, shown

import diskret as dk


def found(monkeypatch, belongs, *sabotage, first=1, most=40):
    """What is disclosed of the first case of a kind that the sabotage opens.

    It is looked for from a number on, where it would take long otherwise.
    """
    chosen = (seed for seed in count(first) if belongs(draw(seed)))
    for seed in islice(chosen, most):
        with monkeypatch.context() as broken:
            for where, name, instead in sabotage:
                broken.setattr(where, name, instead)
            line = one(seed)
        if line["outcome"] in ("disclosed", "crashed"):
            assert one(seed)["outcome"] in ("protected", "refused")
            return line["kinds"] if line["outcome"] == "disclosed" else line["why"]
    return f"nothing in {most} cases"


def module(name):
    return import_module(f"diskret.{name}")


def nothing(*_, **__):
    """A check that never objects."""


def small(drawn):
    return len(drawn.layouts) <= 2 and drawn.coalition < 2


# ── noise ───────────────────────────────────────────────────────────────────────────


def test_one_cell_in_two_tables_of_a_folder(monkeypatch):
    belongs = lambda c: c.unlike and not c.ledger  # noqa: E731
    sabotage = (module("protect.write"), "check_alike", nothing)
    assert found(monkeypatch, belongs, sabotage) == ["noise"]


def test_one_cell_in_two_releases(monkeypatch):
    belongs = lambda c: c.unlike == "lookup" and c.ledger  # noqa: E731
    ledger = module("ledger.beside_all")
    sabotage = [(ledger, name, nothing) for name in ("check_same_values", "check_changed")]
    assert "noise" in found(monkeypatch, belongs, *sabotage)


def test_sums_with_noise_that_no_rule_judged(monkeypatch):
    belongs = lambda c: c.judged and not c.unlike  # noqa: E731
    sabotage = (module("protect.perturb"), "_windows", lambda *_: None)
    assert "estimate" in found(monkeypatch, belongs, sabotage)


def test_a_sum_beside_a_count_of_0(monkeypatch):
    belongs = lambda c: c.noise and not c.ledger and not c.unlike  # noqa: E731
    noise = lambda *given, counts, **more: dk.MagnitudeNoise(*given, **more)  # noqa: E731
    sabotage = [
        (releases, "dk", _With(MagnitudeNoise=noise)),
        (module("protect.linked"), "_check_zeros", nothing),
    ]
    assert "zero" in found(monkeypatch, belongs, *sabotage)


class _With:
    """The package, with something in the place of its own."""

    def __init__(self, **instead):
        self.__dict__.update(instead)

    def __getattr__(self, name):
        return getattr(dk, name)


# ── rules and marks ─────────────────────────────────────────────────────────────────


def safe(rule, of):
    """A rule that finds nothing unsafe in some tables."""
    judge = rule.__call__

    def instead(self, table):
        told = judge(self, table)
        if not of(table):
            return told
        none = np.zeros(table.shape, dtype=np.int64)
        hidden = none.astype(bool)
        return replace(told, unsafe=hidden, lower=none, upper=none, sliding=none)

    return instead


def test_cells_of_those_who_did_not_consent(monkeypatch):
    belongs = lambda c: c.waivers and not c.summed and small(c)  # noqa: E731
    everybody = lambda table: table.marked["no_waiver"] >= table.count  # noqa: E731
    sabotage = (module("rules.minimum_frequency"), "unprotected", everybody)
    assert "shown" in found(monkeypatch, belongs, sabotage, first=340)


def test_those_who_asked_for_protection(monkeypatch):
    belongs = lambda c: c.requests and small(c) and not c.noise  # noqa: E731
    nobody = lambda self, table, *_: np.zeros(table.shape, dtype=bool)  # noqa: E731
    assert "shown" in found(monkeypatch, belongs, (dk.rules.Request, "_asked", nobody), first=391)


def test_the_second_measure(monkeypatch):
    belongs = lambda c: "two measures" in c.further and not c.noise and small(c)  # noqa: E731
    wages = lambda table: not table.frequency and table.measure.name == "wages"  # noqa: E731
    sabotage = [
        (rule, "__call__", safe(rule, wages))
        for rule in (dk.rules.PPercent, dk.rules.Dominance, dk.rules.MinimumFrequency)
    ]
    assert "shown" in found(monkeypatch, belongs, *sabotage)


def test_weighted_contributions(monkeypatch):
    """Of equal contributors that a weight stands for only one counts."""
    belongs = lambda c: c.weighted and small(c) and "dominance" in dict(c.rule)  # noqa: E731
    weighted = lambda table: table.weight is not None  # noqa: E731
    sabotage = (dk.rules.Dominance, "__call__", safe(dk.rules.Dominance, weighted))
    assert "shown" in found(monkeypatch, belongs, sabotage, first=681)


def test_levels_above_1(monkeypatch):
    belongs = lambda c: "level" in dict(c.rule) and small(c)  # noqa: E731
    usual = lambda n, level=None: dk.rules.MinimumFrequency(n)  # noqa: E731
    rules = _With(rules=_Rules(usual))
    assert "cell" in found(monkeypatch, belongs, (releases, "dk", rules))


def test_totals_where_rules_differ_by_category(monkeypatch):
    """A total is not judged by the rules of its categories."""
    belongs = lambda c: c.varying is not None and small(c)  # noqa: E731
    held = dk.rules.Varying.held

    def of_categories(self, table):
        found = held(self, table).copy()
        for axis, dimension in enumerate(table.dimensions):
            if dimension.name == self.variable:
                leaf = np.isin(np.arange(len(dimension.hierarchy)), dimension.hierarchy.leaves)
                np.moveaxis(found, axis, 0)[~leaf] = False
        return found

    sabotage = (dk.rules.Varying, "held", of_categories)
    assert "shown" in found(monkeypatch, belongs, sabotage, first=147)


class _Rules:
    def __init__(self, frequency):
        self.MinimumFrequency = frequency

    def __getattr__(self, name):
        return getattr(dk.rules, name)


# ── who attacks, with what ──────────────────────────────────────────────────────────


def test_contributors_where_nobody_is_named(monkeypatch):
    belongs = lambda c: c.default and c.coalition and small(c)  # noqa: E731
    outsider = lambda *_: dk.Attacker()  # noqa: E731
    sabotage = (module("protect.suppress"), "default_attacker", outsider)
    assert "insider" in found(monkeypatch, belongs, sabotage)


def test_earlier_tables_of_a_revised_vintage(monkeypatch):
    def belongs(drawn):
        late = [any(own.vintage == LATER for own in release) for release in drawn.releases]
        return drawn.coalition == 0 and sum(late) > 1 and not drawn.summed

    ties = module("tables.ties")
    before = ties.tied
    tied = lambda one, other, *more: not one.vintage and before(one, other, *more)  # noqa: E731
    assert {"cell", "rest"} & {*found(monkeypatch, belongs, (ties, "tied", tied))}


def test_earlier_counts_with_noise(monkeypatch):
    belongs = lambda c: c.changed_first and c.later is None  # noqa: E731
    none = lambda *_, **__: []  # noqa: E731
    alone = lambda *_: ([], False)  # noqa: E731
    sabotage = [
        (dk.Ledger, "earlier", none),
        (module("ledger.beside_all"), "earlier_of_results", alone),
    ]
    assert "cell" in found(monkeypatch, belongs, *sabotage)


def test_totals_of_a_file_of_cells(monkeypatch):
    belongs = lambda c: c.cells_given == "found" and small(c)  # noqa: E731
    sabotage = (module("tables.from_cells"), "check_own_totals", nothing)
    assert "other cells than were asked for" in found(monkeypatch, belongs, sabotage)


# ── by hand ─────────────────────────────────────────────────────────────────────────


def test_weights_count_equal_contributors():
    """Five firms like the first, and one with 40: with a weight of 1 the second tells the first."""
    firms = case((("p", 10),), job="aab", turnover=[60, 40, 500])
    table = shown("t", {"job": flat("ab")}, {}, {"Total": 840, "a": 340, "b": 500}, "turnover")
    firms = replace(firms, releases=((table.layout,),), weighted=True, listed=False)
    firms.records["weight"] = [5, 1, 1]
    assert [one.what for one in attack(firms, [table])] == ["t[job=b]"]
    firms.records["weight"] = [1, 1, 1]
    table = replace(table, value={("Total",): 600, ("a",): 100, ("b",): 500})
    assert {one.what for one in attack(firms, [table])} == {"t[job=Total]", "t[job=a]", "t[job=b]"}


def noisy(name, value, measure, how=""):
    layout = replace(shown(name, {"job": flat("ab")}, {}, {}, measure).layout)
    return Noisy(layout, measure, {(code,): own for code, own in value.items()}, how)


def test_rounded_twice_and_estimates():
    firms = case(job="aab", turnover=[600, 400, 5000], wages=[1, 1, 1])
    firms.leaves.pop("wages")
    rounded = {"Total": 3, "a": 3, "b": 0}
    again = noisy("again", rounded | {"a": 0}, "records", "keys")
    for tables, kinds in (([noisy("t", rounded, "records")], []), ([again], ["noise"])):
        given = [noisy("t", rounded, "records"), *tables]
        assert [one.kind for one in attack_noise(firms, given)[0]] == kinds
    judged = replace(firms, judged=True)
    sums = noisy("t", {"Total": 6000, "a": 1100, "b": 5400}, "turnover")
    assert [one.value for one in attack_noise(judged, [sums])[0]] == [5000, 5000]
    far = noisy("t", {"Total": 6600, "a": 1070, "b": 5600}, "turnover")
    assert attack_noise(judged, [far])[0] == []


def test_places_in_intervals():
    """In the middle, never at one end, and anywhere."""
    rng = np.random.default_rng(1)
    width = rng.integers(8, 33, 1500)
    place = 2 + np.floor(rng.random(1500) * (width - 3)).astype(int)
    anywhere = [(w, p, False) for w, p in zip(width, place, strict=True)]
    assert not places_tell(anywhere)[0]
    assert places_tell([(w, w / 2, False) for w in width])[0]
    assert places_tell([(w, p / 2 + 1, False) for w, p, _ in anywhere])[0]
    counts = [(8, 1 + i % 7, True) for i in range(700)]
    assert not places_tell(counts)[0]
    assert places_tell([one for one in counts if one[1] != 7])[0]


def test_places_are_those_of_intervals_that_a_draw_made():
    people = case(job="a" * 40 + "b" * 45 + "c" * 9)
    value = {"Total": 94, "a": None, "b": None, "c": 9}
    bounds = {"a": (38, 46), "b": (39, 47)}
    table = shown("t", {"job": flat("abc")}, {}, value, bounds=bounds)
    assert places(people, [table]) == [(8, 2, True)]
    assert places(people, [replace(table, noisy=True)]) == []
    wide = shown("t", {"job": flat("abc")}, {}, value, bounds={"a": (0, 60), "b": (25, 85)})
    assert places(people, [wide]) == []
