"""Random releases from records, attacked from their records; and that the attack bites.

`make attack CASES=20000` does the same with many more. The statistics below are published by hand,
as something that protects them badly would do it: the oracle must object to each, for the reason
that is given. None of that needs diskret.
"""

import json
from dataclasses import replace
from itertools import count, islice

import pytest
from campaign import releases
from campaign import run as campaign
from campaign.cases import STAFF, Axis, Case, Layout
from campaign.draws import draw
from campaign.judged import level
from campaign.noise import Noisy, attack_noise
from campaign.oracle import attack
from campaign.run import one, ratios_tell, summary
from campaign.world import Shown
from profiles import scaled

import diskret as dk
from diskret.errors import ProtectionError
from diskret.publish.verify.folder import verify

FEWER_THAN_3 = (("frequency", 3),)
NUMBERS = tuple(str(n) for n in range(1, 9))


def flat(leaves, **groups):
    """All codes below a total; those of a group in one code in their place."""
    codes = {"Total": frozenset(leaves)} | {leaf: frozenset(leaf) for leaf in leaves}
    for name, own in groups.items():
        codes = {c: of for c, of in codes.items() if c not in own} | {name: frozenset(own)}
    return Axis(codes, dict.fromkeys([*codes][1:], "Total"), {n: (*g,) for n, g in groups.items()})


def case(rule=FEWER_THAN_3, coalition=0, unit=None, **columns):
    """Records: a column for each variable, and turnover."""
    number = len(next(iter(columns.values())))
    leaves = {n: tuple(sorted(set(c))) for n, c in columns.items() if n != "turnover"}
    if STAFF in leaves:
        leaves[STAFF] = NUMBERS
    records = {"turnover": [1] * number} | columns
    records |= {"unit": unit or [*range(number)], "holding": [None] * number}
    return Case(0, records, leaves, (), rule, "auto", coalition, False, True, False, False)


def shown(name, axes, where, value, measure=None, bounds=()):
    """What was published: a value for each cell, None where it is hidden."""
    layout = Layout(name, axes, where, measure)
    told = {tuple(code.split()): own for code, own in value.items()}
    return Shown(layout, told, {tuple(c.split()): ends for c, ends in dict(bounds).items()})


def kinds(statistics, *tables):
    statistics = replace(statistics, releases=(tuple(t.layout for t in tables),))
    return {finding.kind for finding in attack(statistics, tables) if finding.claimed}


# ── what is published ───────────────────────────────────────────────────────────────


def test_one_name_for_two_groups():
    """a = 19 − 12 − 5, because Other is b there and d here."""
    jobs = case(job="a" * 2 + "b" * 12 + "c" * 20 + "d" * 5)
    first = shown(
        "first",
        {"job": flat("abcd", Other="bc")},
        {"job": ["a", "b", "d"]},
        {"Total": 19, "a": None, "d": 5, "Other": None},
    )
    second = shown(
        "second",
        {"job": flat("abcd", Other="ad")},
        {"job": ["b", "c", "d"]},
        {"Total": 37, "b": 12, "c": 20, "Other": 5},
    )
    assert kinds(jobs, first, second) == {"cell"}
    assert kinds(jobs, first) == set()


def test_a_list_and_bounds_of_the_same_numbers():
    staff = case(job="aaaabbcc", staff=["5"] * 6 + ["6"] * 2)
    listed = shown(
        "listed", {"job": flat("abc")}, {STAFF: ["5"]}, {"Total": 6, "a": None, "b": None, "c": 0}
    )
    value = {"Total": 6, "a": 4, "b": 2, "c": 0}
    bounded = shown("bounded", {"job": flat("abc")}, {STAFF: {"min": 5, "max": 5}}, value)
    assert kinds(staff, listed, bounded) == {"cell", "shown"}
    assert kinds(staff, listed) == set()


def test_the_rest_beside_a_filter():
    people = case(region="N" * 21 + "S" * 9, sex="f" * 20 + "m" + "f" * 5 + "m" * 4)
    everybody = shown("all", {"region": flat("NS")}, {}, {"Total": 30, "N": 21, "S": 9})
    women = shown("women", {"region": flat("NS")}, {"sex": "f"}, {"Total": 25, "N": 20, "S": 5})
    assert kinds(people, everybody, women) == {"rest"}
    assert kinds(people, everybody) == set()
    both = {"region": flat("NS"), "sex": flat("fm")}
    value = {"Total Total": 30, "N Total": 21, "S Total": 9, "Total f": 25, "N f": 20, "S f": 5}
    value |= {"Total m": 5, "N m": 1, "S m": 4}
    assert kinds(people, everybody, shown("both", both, {}, value)) == {"shown"}
    hidden = dict.fromkeys(["N f", "N m", "S f", "S m"])
    assert kinds(people, everybody, shown("both", both, {}, value | hidden)) == set()
    assert kinds(people, everybody, shown("both", both, {}, value | {"N m": None})) == {"cell"}


def test_what_two_filters_leave():
    people = case(job="a" * 40, sex="f" * 20 + "m" * 18 + "d" * 2)
    tables = [
        shown(name, {"job": flat("a")}, {"sex": name} if name else {}, {"Total": n, "a": n})
        for name, n in (("", 40), ("f", 20), ("m", 18))
    ]
    assert kinds(people, *tables) == {"rests"}
    assert kinds(people, *tables[:2]) == kinds(people, *tables[1:]) == set()


# ── who takes part ──────────────────────────────────────────────────────────────────


def statistics(coalition, rows):
    """Cells of a table job × sex: code, values of its firms."""
    cells = [(code.split(), value) for code, values in rows.items() for value in values]
    columns = {"job": [c[0] for c, _ in cells], "sex": [c[1] for c, _ in cells]}
    columns["turnover"] = [value for _, value in cells]
    return case((("p", 10), ("frequency", 3)), coalition, **columns)


OTHERS = {"C x": [70] * 9, "C y": [70] * 9}
INSIDER = {"A x": [50] * 6, "A y": [100], "B x": [80], "B y": [60] * 6} | OTHERS


def in_job_and_sex(rows, hidden):
    sums = {code: sum(values) for code, values in rows.items()}
    jobs = sorted({code[0] for code in rows})
    value = {}
    for job in ["Total", *jobs]:
        for sex in ["Total", "x", "y"]:
            own = [n for c, n in sums.items() if job in ("Total", c[0]) and sex in ("Total", c[2])]
            value[f"{job} {sex}"] = None if f"{job} {sex}" in hidden else sum(own)
    return shown("t", {"job": flat(jobs), "sex": flat("xy")}, {}, value, "turnover")


def test_categories_of_one_variable_in_two_tables_leave_a_sum():
    """The total without a is b and c together, as if one table showed all three."""
    people = case(job="aaabc")
    grouped = flat("abc", x="ab")
    every = shown("t", {"job": grouped}, {}, {"Total": 5, "x": None, "c": None})
    some = shown("u", {"job": flat("ab")}, {"job": ["a", "b"]}, {"Total": None, "a": 3, "b": None})
    assert kinds(people, every, some) == set()
    assert kinds(people, every, replace(some, value=some.value | {("Total",): 4})) == {"cell"}


def test_a_safe_cell_that_another_table_shows_need_not_stay_uncertain():
    people = case(job="aaaaabbbcccc")
    three = ("what three or more of these tables say",)
    hidden = {"Total": 8, "a": None, "b": None}
    one = shown("t", {"job": flat("ab")}, {"job": ["a", "b"]}, hidden)
    all_of_them = shown("u", {"job": flat("abc")}, {}, {"Total": 12, "a": 5, "b": 3, "c": 4})
    other = shown("v", {"job": flat("ac")}, {"job": ["a", "c"]}, {"Total": 9, "a": 5, "c": 4})
    tables = [replace(t, unclaimed=three) for t in (one, all_of_them, other)]
    assert kinds(people, *tables) == set()
    assert kinds(people, one, other) == {"cell"}


@pytest.mark.long
def test_what_three_earlier_tables_tell_is_told_already():
    """Beyond what those claim, and the next release says so."""
    assert one(301866)["outcome"] == "protected"


def test_a_firm_that_is_alone_in_a_hidden_cell():
    """The firm of A × y computes B × x exactly; the outsider does not."""
    table = in_job_and_sex(INSIDER, ["A x", "A y", "B x", "B y"])
    assert kinds(statistics(0, INSIDER), table) == set()
    assert kinds(statistics(1, INSIDER), table) == {"insider"}
    everything = in_job_and_sex(INSIDER, [f"{job} {sex}" for job in "ABC" for sex in "xy"])
    assert kinds(statistics(1, INSIDER), everything) == set()


def test_the_lower_side():
    """Somebody who has 97 of the 100 beside it knows that the rest is not less than …"""
    rows = {"A x": [97, 1, 1, 1], "A y": [100], "B x": [80], "B y": [60] * 6}
    rows |= {"C x": [70] * 9, "C y": [70] * 9}
    hidden = ["A x", "A y", "B x", "B y"]
    assert "insider" in kinds(statistics(1, rows), in_job_and_sex(rows, hidden))


def test_two_firms_that_are_alone_together():
    rows = INSIDER | {"A y": [100, 90], "B x": [80, 70]}
    table = in_job_and_sex(rows, ["A x", "A y", "B x", "B y"])
    assert kinds(statistics(1, rows), table) == set()
    assert kinds(statistics(2, rows), table) == {"insider"}


# ── intervals, values, prices ───────────────────────────────────────────────────────


def test_an_interval_that_is_too_narrow():
    people = case(job="a" * 2 + "b" * 4 + "c" * 9)
    value = {"Total": 15, "a": None, "b": None, "c": 9}
    for ends, expected in (((1, 3), set()), ((2, 5), {"cell"}), ((0, 2), {"cell"})):
        table = shown("t", {"job": flat("abc")}, {}, value, bounds={"a": ends})
        assert kinds(people, table) == expected


def test_a_value_that_is_not_that_of_the_records():
    people = case(job="a" * 2 + "b" * 4)
    table = shown("t", {"job": flat("ab")}, {}, {"Total": 6, "a": 3, "b": 3})
    assert kinds(people, table) == {"value"}


# ── noise ───────────────────────────────────────────────────────────────────────────


def noisy(name, where, value, measure="turnover"):
    layout = Layout(name, {"job": flat("abc")}, where, measure)
    return Noisy(layout, measure, {(code,): own for code, own in value.items()})


def with_noise(*tables):
    firms = case(job="abbc", sex="fffm", unit=[7, 8, 9, 9])
    firms.records.update(turnover=[1000, 500, 300, 200], wages=[400, 250, 100, 100])
    return attack_noise(firms, tables)


EVERYBODY = {"Total": 2040, "a": 1100, "b": 780, "c": 210}


def test_one_cell_has_one_value_whatever_the_filter():
    women = {"Total": 1840, "a": 1100, "b": 780, "c": 0}
    assert with_noise(noisy("all", {}, EVERYBODY), noisy("women", {"sex": "f"}, women))[0] == []
    for other in ({"a": 1101}, {"c": 1}):
        found, _ = with_noise(noisy("all", {}, EVERYBODY), noisy("f", {"sex": "f"}, women | other))
        assert [finding.kind for finding in found] == ["noise"]


def test_twice_a_measure_has_twice_the_noise():
    twice = {code: 2 * value for code, value in EVERYBODY.items()}
    tables = noisy("all", {}, EVERYBODY), noisy("twice", {}, twice, "twice")
    assert with_noise(*tables)[0] == []
    tables = noisy("all", {}, EVERYBODY), noisy("twice", {}, twice | {"a": 2100}, "twice")
    assert [finding.kind for finding in with_noise(*tables)[0]] == ["alias"]


def test_noise_of_two_measures_that_cancels():
    for wages, same in (({"a": 440, "c": 105}, 2), ({"a": 400, "c": 105}, 1)):
        told = noisy("wages", {}, {"Total": 860, "b": 400} | wages, "wages")
        _, ratios = with_noise(noisy("all", {}, EVERYBODY), told)
        assert (ratios.same, ratios.firms) == (same, 2)
    line = {"ratios": (38, 52, 3, 41)}
    assert ratios_tell([line])[0] and not ratios_tell([{"ratios": (6, 41, 2, 32)}, {}])[0]


def test_levels():
    p = (("p", 10),)
    assert level(p, None, [100, 5, 3, 2], 1, False) == 5
    assert level(p, None, [100, 50, 20], 1, False) is None
    assert level(p, [50], [100, 5], 1, False) == 5
    assert level((("dominance", (2, 80)),), None, [60, 36, 4], 1, False) == 20
    assert level((("dominance", (2, 80)),), [60], [36, 4], 1, False) == 20
    assert level((("dominance", (2, 80)),), [60, 36], [4], 1, False) is None
    assert level(FEWER_THAN_3, None, [1, 1], 1, True) == 1
    assert level(FEWER_THAN_3, None, [1, 1, 1], 1, True) is None
    assert level(FEWER_THAN_3, None, [1, 1, 1], 2, True) == 1
    assert level(FEWER_THAN_3, None, [50, 30], 1, False) == 8
    assert level(FEWER_THAN_3, [50], [30], 1, False) == 3


# ── diskret's releases ──────────────────────────────────────────────────────────────


def quick(number):
    """The first cases that cost little, and some of the others: attackers, ledgers, many tables."""
    small = (s for s in count(1) if s % 8 == 0 or work(draw(s)) <= 2)
    return list(islice(small, number))


def work(drawn):
    return len(drawn.layouts) * (1 + drawn.coalition)


@pytest.mark.parametrize("first", range(0, scaled(100), 10))
def test_nothing_is_disclosed(first):
    lines = [one(seed) for seed in quick(first + 10)[first:]]
    assert [line for line in lines if line["outcome"] in ("disclosed", "crashed")] == []
    assert sum(line["outcome"] == "protected" for line in lines) > 3
    assert [line for line in lines if line.get("avoidable")] == []


@pytest.mark.parametrize("seed", [88, 106, 704, 1461, 3214, 40265])
def test_nothing_is_refused_that_could_be_protected(seed):
    """Categories that nothing bounds; records that would have to be where nobody is."""
    assert one(seed)["outcome"] == "protected"


@pytest.mark.parametrize("seed", [38, 199])
def test_what_was_proven_in_pieces_is_verified(seed, tmp_path):
    """Some pieces have cells that nobody published, others have none."""
    drawn = draw(seed)
    results = releases._protected(drawn, drawn.releases[0])
    folder = dk.write(results, tmp_path / "out", ["csv"], keys=releases.KEYS)
    assert verify(folder, keys=releases.KEYS).checked_internal


def test_refusals_that_could_be_avoided_are_noticed(monkeypatch):
    def nothing_is_found(*_):
        raise ProtectionError("nothing is found")

    monkeypatch.setattr(releases, "_protected", nothing_is_found)
    assert [one(seed).get("avoidable") for seed in quick(3)] == [True] * 3


def test_quick_cases_are_of_all_kinds():
    cases = [draw(seed) for seed in quick(100)]
    assert {c.coalition for c in cases} == {0, 1, 2}
    assert max(len(c.layouts) for c in cases) > 3
    for kind in ("ledger", "intervals", "noise", "holdings", "listed", "summed"):
        assert sum(getattr(c, kind) for c in cases) > 5, kind
    assert {c.method for c in cases} == {"auto", "hypercube", "modular", "sequential"}


def test_what_is_drawn_is_hard():
    """Names of several groups, groups of several names, filters of what is shown, attackers."""
    cases = [draw(seed) for seed in range(1, 201)]
    assert [draw(seed).releases for seed in range(1, 4)] == [c.releases for c in cases[:3]]
    colliding = renamed = filtered = 0
    for one_case in cases:
        groups = {
            (name, code, own)
            for layout in one_case.layouts
            for name, axis in layout.axes.items()
            for code, own in axis.codes.items()
        }
        colliding += len({(name, code) for name, code, _ in groups}) < len(groups)
        renamed += len({(name, own) for name, _, own in groups}) < len(groups)
        filtered += any(set(layout.where) & set(layout.axes) for layout in one_case.layouts)
    assert colliding > 20 and renamed > 20 and filtered > 20
    assert {c.coalition for c in cases} == {0, 1, 2}
    assert {c.ledger for c in cases} == {c.intervals for c in cases} == {True, False}


def test_what_several_processes_did_is_not_done_again(tmp_path, monkeypatch):
    """Two logs joined, one cut off in the middle of a line, and what other code did."""
    log, code = tmp_path / "attack.jsonl", campaign.version()
    line = one(2)
    done = [json.dumps(line | {"seed": seed, "code": code}) for seed in (1, 3, 2, 4)]
    other = json.dumps(line | {"seed": 1, "code": "other", "outcome": "disclosed"})
    late = json.dumps(line | {"seed": 4, "code": code, "outcome": "late"})
    log.write_text("\n".join([*done[:2], other, late, done[3][:40], *done[2:]]))

    def attacked(*_):
        raise AssertionError("a case is done again")

    monkeypatch.setattr(campaign.multiprocessing, "get_context", attacked)
    found = campaign.run(range(1, 5), log, 2)
    assert [one["seed"] for one in found] == [1, 2, 3, 4]
    table = summary(found).splitlines()
    assert next(row for row in table if row.startswith("| all |")).startswith("| all | 4 | 4 | 0 |")
    with pytest.raises(AssertionError, match="again"):
        campaign.run(range(1, 6), log, 2)
