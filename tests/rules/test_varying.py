"""Rules that differ by category: a total is judged by those of all categories it holds."""

import random as randoms
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy import sparse

import diskret as dk
from diskret.errors import HierarchyError, InputError
from diskret.protect.recode_assistant import recode_candidates
from diskret.rules import (
    Apriori,
    Dominance,
    GroupDisclosure,
    MinimumFrequency,
    MissingSafe,
    NoRule,
    PPercent,
    Shadow,
    Varying,
)
from diskret.rules import varying as module
from diskret.rules.insiders import judged_by, largest_coalition
from diskret.rules.unions import against, judge_unions, rules_for_unions
from diskret.rules.varying import check_codes, everywhere, for_tables
from diskret.tables.unions import union_table

#: Three firms in each country.
FIRMS = pa.table(
    {
        "country": ["DE"] * 3 + ["FR"] * 3 + ["IT"] * 3,
        "size": ["s", "l", "l"] * 3,
        "sales": [100, 50, 30, 80, 10, 5, 60, 60, 60],
        "staff": [9, 5, 1, 8, 8, 8, 7, 7, 1],
        "firm": list("abcdefghi"),
    }
)
TREE = dk.Hierarchy.from_parents(
    {"code": ["EU", "DE", "FR", "other", "IT"], "parent": ["", "EU", "EU", "", "other"]}
)


def tabulated(by=("country",), tree=None, **options):
    trees = {name: tree if name == "country" else None for name in by}
    options = {"value": "sales", "unit": "firm", "largest": 4, **options}
    return dk.tabulate(FIRMS, by=trees, **options)


def at(table, array):
    codes = table.dimensions[0].hierarchy.codes
    return dict(zip(codes, np.asarray(array).tolist(), strict=True))


# ── which rule holds ────────────────────────────────────────────────────────────────


def test_each_category_has_its_rule_and_the_total_has_all():
    table = tabulated()
    rule = Varying("country", {"DE": MinimumFrequency(10), "FR": PPercent(20), "*": PPercent(10)})
    found = rule(table)
    # IT: 60 is not below 10 % of 60. All nine firms are fewer than ten, which DE asks for.
    assert at(table, found.unsafe) == {"Total": True, "DE": True, "FR": True, "IT": False}
    # 10 % of 455 and of 180; FR: 20 % of 80 less the 5 that the third firm has
    assert at(table, found.upper) == {"Total": 46, "DE": 18, "FR": 11, "IT": 0}
    assert at(table, found.lower) == at(table, found.upper)
    names = np.array([*found.reasons, ""])[found.reason]
    assert at(table, names) == {
        "Total": "minimum_frequency", "DE": "minimum_frequency", "FR": "p_percent", "IT": ""
    }  # fmt: skip


def test_the_levels_of_a_cell_are_the_largest_of_all_rules_that_hold():
    one = pa.table({"country": ["DE", "DE", "FR"], "sales": [100, 4, 2]})
    table = dk.tabulate(one, by={"country": None}, value="sales", largest=2)
    rule = Varying("country", {"DE": MinimumFrequency(4), "FR": PPercent(30)})
    # the total: 10 % of 106 is 10.6; 30 % of 100 less 2 is 28
    assert at(table, rule(table).upper) == {"Total": 28, "DE": 11, "FR": 1}


@pytest.mark.parametrize(
    ("rules", "unsafe"),
    [
        ({"EU": MinimumFrequency(4), "*": None}, ["DE", "FR"]),
        ({"EU": MinimumFrequency(4), "FR": None, "*": None}, ["DE"]),
        ({"DE": None, "*": MinimumFrequency(4)}, ["FR", "other", "IT"]),
        ({"Total": MinimumFrequency(4), "EU": None}, ["other", "IT"]),
        ({"EU": MinimumFrequency(7), "*": None}, ["DE", "FR", "EU"]),
        ({"IT": MinimumFrequency(10), "*": None}, ["IT", "other", "Total"]),
    ],
)
def test_the_nearest_code_above_decides(rules, unsafe):
    table = tabulated(tree=TREE)
    found = at(table, Varying("country", rules)(table).unsafe)
    assert {code for code, is_unsafe in found.items() if is_unsafe} == set(unsafe)


def test_other_variables_do_not_matter():
    table = tabulated(("size", "country"))
    found = Varying("country", {"DE": MinimumFrequency(2), "*": None})(table)
    codes = [d.hierarchy.codes for d in table.dimensions]
    unsafe = {(codes[0][i], codes[1][j]) for i, j in np.argwhere(found.unsafe).tolist()}
    assert unsafe == {("s", "DE")}


def test_a_category_without_records_counts_as_its_code_does():
    tree = dk.Hierarchy.flat(["DE", "FR", "IT", "LU"])
    table = tabulated(tree=tree)
    found = Varying("country", {"LU": MinimumFrequency(10), "*": None})(table)
    assert at(table, found.unsafe) == {
        "Total": True, "DE": False, "FR": False, "IT": False, "LU": False
    }  # fmt: skip


def test_a_filter_leaves_categories_and_their_rules_out():
    rule = Varying("country", {"DE": MinimumFrequency(10), "*": None})
    table = tabulated(tree=TREE, where={"country": ["FR", "IT"]})
    assert not rule(table).unsafe.any()
    table = tabulated(tree=TREE, where={"country": ["DE", "IT"]})
    assert at(table, rule(table).unsafe)["Total"]


def test_a_filter_by_numbers_leaves_rules_out():
    years = pa.table({"age": ["1", "2", "30"], "n": [1, 1, 1]})
    tree = dk.Hierarchy.flat(["1", "2", "30"])
    table = dk.tabulate(years, by={"age": tree}, where={"age": {"max": 9}})
    assert not Varying("age", {"30": MinimumFrequency(9), "*": None})(table).unsafe.any()
    assert Varying("age", {"2": MinimumFrequency(9), "*": None})(table).unsafe[0]


def test_a_table_that_is_filtered_by_the_variable_alone_is_of_that_category():
    rule = Varying("country", {"DE": MinimumFrequency(10), "FR": None, "*": MinimumFrequency(4)})
    found = {
        code: bool(rule(tabulated(("size",), where={"country": code})).unsafe[0])
        for code in ("DE", "FR", "IT")
    }
    assert found == {"DE": True, "FR": False, "IT": True}
    # one of several that are let through is enough
    assert rule(tabulated(("size",), where={"country": ["DE", "FR"]})).unsafe[0]
    # nobody knows the tree: IT may lie below any code that is named
    assert rule(tabulated(("size",), where={"country": "IT"})).upper[0] == 18


def test_combined_categories_are_judged_by_the_rules_of_all_of_them():
    table = tabulated(tree=dk.Hierarchy.flat(["DE", "FR", "IT"]))
    both = table.recode("country", {"DE+FR": ["DE", "FR"]})
    rule = Varying("country", {"FR": MinimumFrequency(7), "*": None})
    assert at(both, rule(both).unsafe) == {"Total": False, "IT": False, "DE+FR": True}
    # a combination that is called as one of its categories is not that category
    same = table.recode("country", {"FR": ["DE", "FR"]})
    rule = Varying("country", {"FR": None, "*": MinimumFrequency(7)})
    assert at(same, rule(same).unsafe)["FR"]


# ── joining ─────────────────────────────────────────────────────────────────────────


def test_the_first_rule_by_rank_is_told_across_categories():
    table = tabulated()
    inside = Varying("country", {"FR": MinimumFrequency(4) | Dominance(3, 99), "*": None})
    found = (inside | PPercent(20))(table)
    assert [found.reasons[i] for i in found.reason[found.unsafe]] == ["dominance"]
    assert found.reasons == ("dominance", "p_percent", "minimum_frequency")


def test_rules_that_differ_stand_where_the_first_of_them_does():
    rule = Varying("country", {"DE": MinimumFrequency(4), "FR": Dominance(3, 99), "*": None})
    assert rule.rank == Dominance(3, 99).rank < MinimumFrequency(4).rank
    assert Varying("country", {"*": None}).rank == Varying("country", {"*": NoRule()}).rank


def test_where_no_rule_holds_there_is_neither_level_nor_need_of_noise():
    # FR: 20 % of 80 less 5 is 11, and noise has to lower by twice the 5 more
    found = Varying("country", {"FR": PPercent(20), "*": None})(tabulated())
    assert at(tabulated(), found.upper) == {"Total": 0, "DE": 0, "FR": 11, "IT": 0}
    assert at(tabulated(), found.sliding) == {"Total": 0, "DE": 0, "FR": 1, "IT": 0}
    assert at(tabulated(), found.below) == {"Total": 0, "DE": 0, "FR": 21, "IT": 0}
    table = tabulated(value="sales", where={"country": ["IT", "FR"]})
    own = replace(MinimumFrequency(9)(table), below=np.full(table.shape, 7))
    found = Varying("country", {"FR": lambda _: own, "*": None})(table)
    codes = table.dimensions[0].hierarchy.codes
    assert [found.lower[codes.index("IT")], found.below[codes.index("IT")]] == [0, 0]


def test_decisions_for_single_cells_stay_outside():
    table = tabulated()
    rule = Varying("country", {"*": MinimumFrequency(10)}) | MissingSafe({"country": ["DE"]})
    assert at(table, rule(table).unsafe) == {"Total": True, "DE": False, "FR": True, "IT": True}
    entries = pa.table({"country": ["DE"], "cost": [1.0]})
    for inside in (MissingSafe({"country": ["DE"]}), Apriori(entries), NoRule() | Apriori(entries)):
        with pytest.raises(InputError, match=r"stays outside: Varying\(\.\.\.\) \| (Miss|Apri)"):
            Varying("country", {"DE": inside, "*": None})
    with pytest.raises(InputError, match=r"stays outside: Varying\(\.\.\.\) \| rule"):
        Varying("country", {"*": lambda t: MissingSafe({"country": ["DE"]})(t)})(table)


def test_rules_may_differ_by_two_variables_and_look_at_shadows():
    table = tabulated(("country", "size"))
    small = Varying("size", {"s": MinimumFrequency(2), "*": None})
    found = Varying("country", {"DE": small, "*": None})(table)
    position = [d.hierarchy.position for d in table.dimensions]
    assert np.argwhere(found.unsafe).tolist() == [[position[0]["DE"], position[1]["s"]]]
    both = tabulated(value=["sales", "staff"])["sales"]
    rules = {"DE": Shadow(PPercent(20), "staff"), "*": None}
    outside = Shadow(Varying("country", {"DE": PPercent(20), "*": None}), "staff")
    # DE: 20 % of 9 less 1 is 0.8 of 15 staff, so 9.6 of 180
    for rule in (Varying("country", rules), outside):
        assert at(both, rule(both).upper) == {"Total": 0, "DE": 10, "FR": 0, "IT": 0}


def test_what_the_table_must_hold_is_the_most_that_any_rule_needs():
    rule = Varying("country", {"DE": PPercent(10, coalition=3), "*": Dominance(3, 70)})
    assert rule.largest == 4
    assert against(rule, 5).largest == 6
    assert largest_coalition(rule | MinimumFrequency(3), 1) == 3
    assert Varying("country", {"*": None}).largest == 0


def test_rules_of_groups_hide_empty_cells_only_where_they_find_something():
    cells = pa.table({"country": ["DE", "FR"], "n": [99, 1]})
    table = dk.Table.from_cells(cells, by={"country": None}, count="n")
    found = Varying("country", {"DE": GroupDisclosure(90), "FR": MinimumFrequency(3)})(table)
    assert found.zeros_may_hide
    assert not Varying("country", {"FR": GroupDisclosure(90), "DE": None})(table).zeros_may_hide


def test_no_rule_anywhere_finds_nothing():
    table = tabulated()
    assert not Varying("country", {"*": None})(table).unsafe.any()
    assert not Varying("country", {"*": NoRule(), "DE": None})(table).unsafe.any()
    assert isinstance(Varying("country", {"*": None}).strictest, NoRule)


# ── against the records ─────────────────────────────────────────────────────────────

CODES = "abcdef"


def a_case(seed):
    """Records, a tree and rules by its codes, at random: nothing of it is the package's."""
    random = randoms.Random(seed)
    parent = {code: None for code in CODES}
    for above in "XY":
        for code in random.sample(CODES, random.randint(0, 3)):
            parent[code] = parent[code] or above
    if random.random() < 0.5 and "X" in parent.values() and "Y" in parent.values():
        parent["Y"] = "X"
    parent |= {above: parent.get(above) for above in "XY" if above in parent.values()}
    records = [
        (random.choice(CODES), random.choice("uv"), random.randint(0, 30))
        for _ in range(random.randint(1, 25))
    ]
    rules = {
        code: random.choice([None, *([("n", random.randint(2, 9))] * 2),
                             ("p", random.choice([5, 20, 80])), ("both", 4, 30)])
        for code in random.sample([*parent], random.randint(0, 4))
    }  # fmt: skip
    some = {code for code, *_ in records}
    where = random.sample(sorted(some), random.randint(1, len(some)))
    where = sorted(where) if random.random() < 0.3 else None
    return parent, records, rules | {"*": random.choice([None, ("n", 3), ("p", 50)])}, where


def made(case):
    """The same as a table and a rule."""
    parent, records, rules, where = case
    order = sorted(parent, key=lambda code: len(chain(parent, code)))
    tree = dk.Hierarchy.from_parents(
        {"code": order, "parent": [parent[c] or "Total" for c in order]}
    )
    columns = dict(zip("kov", zip(*records, strict=True), strict=True))
    table = dk.tabulate(
        pa.table(columns), by={"o": None, "k": tree}, value="v", largest=2,
        where=None if where is None else {"k": where},
    )  # fmt: skip
    kinds = {
        "n": lambda n: MinimumFrequency(n),
        "p": lambda p: PPercent(p),
        "both": lambda n, p: PPercent(p) | MinimumFrequency(n),
    }
    return table, Varying("k", {c: one and kinds[one[0]](*one[1:]) for c, one in rules.items()})


def chain(parent, code):
    return [code] if parent.get(code) is None else [code, *chain(parent, parent[code])]


def rules_at(case, code):
    """The rules of all categories below a code that the filter lets through."""
    parent, _, rules, where = case
    below = [c for c in CODES if code == "Total" or code in chain(parent, c)]
    below = [c for c in below if where is None or c in where]
    return [rules[next((a for a in chain(parent, c) if a in rules), "*")] for c in below]


def levels(rule, values):
    """What a rule asks for cells of these contributions: nothing, or its levels."""
    kind, *how = rule
    if kind == "both":
        return levels(("n", how[0]), values) + levels(("p", how[1]), values)
    if kind == "n":
        return [max(1, ceil(Fraction(sum(values), 10)))] if 0 < len(values) < how[0] else []
    x = [*sorted(values, reverse=True), 0, 0]
    need = Fraction(how[0], 100) * x[0] - (sum(x) - x[0] - x[1])
    return [max(1, ceil(need))] if need > 0 else []


def compared(case):
    """Compare each cell with what its records say."""
    parent, records, _, where = case
    table, rule = made(case)
    found = rule(table)
    names = [d.hierarchy.codes for d in table.dimensions]
    for o, k in np.ndindex(table.shape):
        other, code = names[0][o], names[1][k]
        values = [
            v for c, u, v in records
            if code in ("Total", *chain(parent, c)) and other in ("Total", u)
            if where is None or c in where
        ]  # fmt: skip
        asked = [x for one in rules_at(case, code) if one for x in levels(one, values)]
        assert found.unsafe[o, k] == bool(asked), (other, code)
        assert found.upper[o, k] == max(asked, default=0), (other, code)
        assert found.lower[o, k] == min(max(asked, default=0), sum(values)), (other, code)


@examples(200)
@given(st.integers(0, 2**32))
def test_a_cell_is_unsafe_iff_a_rule_of_one_of_its_categories_says_so_of_its_records(seed):
    compared(a_case(seed))


def by_others_alone(reading):
    """Inner codes judged by the rule for all others, as if it were that of totals."""

    def read(rule, tree, asked):
        found = reading(rule, tree, asked)
        found.held[~tree.is_leaf] = rule.rules.get("*") is not None
        return found

    return read


def test_judging_totals_by_the_rule_of_others_alone_is_found_out(monkeypatch):
    for seed in range(40):
        compared(a_case(seed))
    monkeypatch.setattr(module, "_Reading", by_others_alone(module._Reading))
    with pytest.raises(AssertionError):
        for seed in range(40):
            compared(a_case(seed))


@examples(60)
@given(st.integers(0, 2**32))
def test_other_names_for_codes_change_nothing(seed):
    parent, records, rules, where = case = a_case(seed)
    # the order stays, so that cells stand where they stood
    name = {code: f"{code} of old" for code in [*CODES, "X", "Y"]} | {None: None, "*": "*"}
    renamed = (
        {name[c]: name[above] for c, above in parent.items()},
        [(name[c], u, v) for c, u, v in records],
        {name[c]: one for c, one in rules.items()},
        where and [name[c] for c in where],
    )
    (table, rule), (other, theirs) = made(case), made(renamed)
    own, found = rule(table), theirs(other)
    for part in ("unsafe", "lower", "upper", "sliding", "reason"):
        assert getattr(own, part).tolist() == getattr(found, part).tolist()


# ── unions ──────────────────────────────────────────────────────────────────────────


def pick(table, *sets):
    member = np.zeros((len(sets), int(np.prod(table.shape))), dtype=np.int64)
    for row, cells in enumerate(sets):
        member[row, list(cells)] = 1
    return sparse.csr_array(member)


@examples(100)
@given(st.integers(0, 2**32))
def test_a_union_is_never_judged_by_less_than_all_rules_of_its_cells(seed):
    case = a_case(seed)
    _, records, _, where = case
    table, rule = made(case)
    random = randoms.Random(seed)
    leaves = [k for k, code in enumerate(table.dimensions[1].hierarchy.codes) if code in CODES]
    sets = [random.sample(leaves, random.randint(1, len(leaves))) for _ in range(3)]
    found = judge_unions(rule, union_table(table, pick(table, *sets)))
    for row, own in enumerate(sets, start=1):
        codes = [table.dimensions[1].hierarchy.codes[k] for k in own]
        values = [
            v for c, _, v in records if c in codes and (where is None or c in where)
        ]  # fmt: skip
        rules = [one for code in codes for one in rules_at(case, code) if one]
        asked = [x for one in rules for x in levels(one, values)]
        assert found.unsafe[row] == bool(asked)
        assert found.upper[row] == max(asked, default=0)


def test_of_unions_each_rule_says_where_it_holds():
    table = tabulated(contributions=True)
    rule = Varying("country", {"DE": PPercent(90), "*": MinimumFrequency(4)})
    member = pick(table, (1,), (2,), (1, 2))
    first, second = judged_by(rule, table, union_table(table, member), member)
    assert isinstance(first.rule, PPercent) and first.held.tolist() == [True, False, True]
    assert isinstance(second.rule, MinimumFrequency) and second.held.tolist() == [False, True, True]
    nobody = np.zeros((3, 1), dtype=np.uint64)
    levels = [one.level(np.arange(3), nobody, nobody > 0).tolist() for one in (first, second)]
    # 90 % of 100 less 80 and less 175; 10 % of 95 for one more than three
    assert levels == [[10, 0, 0], [0, 10, 0]]


def test_unions_of_which_nobody_knows_the_cells_are_judged_by_all_rules():
    table = tabulated()
    rule = Varying("country", {"DE": MinimumFrequency(4), "*": None})
    unions = union_table(table, pick(table, (3,)))
    assert not judge_unions(rule, unions).unsafe.any()
    again = union_table(unions, pick(unions, (1,)))
    assert judge_unions(rule, again).unsafe.tolist() == [False, True]
    # nor can codes that their table does not have, or categories without a rule
    for rules in ({"LU": MinimumFrequency(4), "*": None}, {"DE": MinimumFrequency(4)}):
        assert judge_unions(Varying("country", rules), unions).unsafe[1]
    other = tabulated(("size",))
    unions = union_table(other, pick(other, (2,)))
    assert judge_unions(rule, unions).upper.tolist() == [0, 24]


def test_rules_that_judge_no_unions_are_told_with_their_category():
    rule = Varying("country", {"DE": GroupDisclosure(90) | MinimumFrequency(3), "*": None})
    used, left = rules_for_unions(rule)
    assert used == (Varying("country", {"DE": MinimumFrequency(3), "*": None}),)
    assert left == (Varying("country", {"DE": GroupDisclosure(90), "*": None}),)
    used, _ = rules_for_unions(Shadow(rule, "staff"))
    assert used == (Shadow(Varying("country", {"DE": MinimumFrequency(3), "*": None}), "staff"),)


def test_against_many_every_rule_inside_grows():
    rule = Varying("country", {"DE": MinimumFrequency(3), "FR": None, "*": PPercent(10)})
    assert against(rule, 3) == Varying(
        "country", {"DE": MinimumFrequency(5), "FR": None, "*": PPercent(10, coalition=3)}
    )


# ── several tables ──────────────────────────────────────────────────────────────────


def test_beside_a_table_with_the_variable_one_without_is_judged_by_all_rules():
    first, second = tabulated(), tabulated(("size",))
    rule = Varying("country", {"DE": MinimumFrequency(10), "*": PPercent(10)}) | MinimumFrequency(2)
    own, other = for_tables([rule, rule], [first, second])
    assert own is rule
    assert other.rules == (MinimumFrequency(10), PPercent(10), MinimumFrequency(2))
    shadow = Shadow(Varying("country", {"*": PPercent(10)}), "staff")
    assert for_tables([shadow, shadow], [first, second])[1] == Shadow(PPercent(10), "staff")
    filtered = tabulated(("size",), where={"country": "DE"})
    assert for_tables([rule, rule], [first, filtered])[1] is rule
    # one rule for several tables stays one
    _, one, two = for_tables([rule] * 3, [first, second, replace(second)])
    assert one is two


def test_codes_that_do_not_fit_are_told_before_anything_is_judged():
    rule = MinimumFrequency(3) | Shadow(Varying("country", {"XX": None, "*": None}), "staff")
    with pytest.raises(HierarchyError, match="no code 'XX'"):
        check_codes(rule, tabulated())
    check_codes(MinimumFrequency(3) | Varying("country", {"*": None}), tabulated())


def test_cells_of_any_category_are_judged_by_all_rules():
    rule = Varying("country", {"DE": MinimumFrequency(3), "*": PPercent(10)}) | PPercent(5)
    assert everywhere(rule).rules == (MinimumFrequency(3), PPercent(10), PPercent(5))
    assert everywhere(PPercent(5)) == PPercent(5)


# ── what is wrong ───────────────────────────────────────────────────────────────────


def refused(rules, match, error=InputError, variable="country", table=None):
    with pytest.raises(error, match=match):
        Varying(variable, rules)(table or tabulated())


def test_what_is_wrong_is_said_by_name():
    three = MinimumFrequency(3)
    refused({"*": three}, "variable= must be text, not 5", variable=5)
    refused({}, "needs a mapping")
    refused([three], "needs a mapping")
    refused({"DE": "p", "*": None}, "the rule for 'DE' of 'country' is a rule, or None")
    refused({"DE": MinimumFrequency, "*": None}, "the rule for 'DE'")
    refused({1: three, "1": three}, "given twice")
    refused({"": three}, "'' is no code of 'country'")
    refused({"DEE": three, "*": None}, "no code 'DEE'; did you mean 'DE'", HierarchyError)
    refused({"DEE": None, "*": None}, "no code 'DEE'", HierarchyError)
    refused({"9": three, "*": three}, r"no code '9'\. Name codes", HierarchyError)
    refused({"DE": three}, "2 of its categories have none: 'FR', 'IT'; name them")
    refused({"*": three}, "did you mean 'country'", variable="contry")
    refused({"*": three}, r"not have\. It has 'country'\. Break it down by 'branch'.*strictest",
            variable="branch")  # fmt: skip


def test_in_a_coarser_table_leaves_are_known_and_inner_codes_are_gone():
    codes = ["world", "EU", "DE", "FR", "IT", "US"]
    parent = ["", "world", "EU", "EU", "world", "world"]
    table = tabulated(tree=dk.Hierarchy.from_parents({"code": codes, "parent": parent}))
    named = Varying("country", {"DE": MinimumFrequency(7), "*": None})
    inner = Varying("country", {"EU": MinimumFrequency(7), "*": None})
    cut = table.recode("country", level=1)
    for rule in (named, inner):
        assert at(cut, rule(cut).unsafe) == {"world": False, "EU": True, "IT": False, "US": False}
    both = table.recode("country", {"Europe": ["EU", "IT"]})
    assert at(both, named(both).unsafe) == {"world": False, "Europe": False, "US": False}
    with pytest.raises(HierarchyError, match="no code 'EU'"):
        inner(both)


def test_recodings_are_tried_with_rules_that_differ():
    table = tabulated(tree=TREE)
    rule = Varying("country", {"DE": MinimumFrequency(4), "other": None, "*": None})
    tried = {(r["level"], r["code"]): r for r in recode_candidates(table, rule).to_pylist()}
    assert tried[1, None]["unsafe_before"] == 1
    assert tried[1, None]["unsafe_after"] == 0
