"""Rules that differ by category, in all that asks a rule something: proven, written, told."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from scipy.optimize import linprog

import diskret as dk
from diskret.errors import HierarchyError, InputError, JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.publish.pages.settings import told
from diskret.publish.verify.folder import verify
from diskret.rules import MinimumFrequency, PPercent, Shadow, Varying
from diskret.texts.messages import translated

KEYS = dk.SecretKeys(bytes(range(32)))
REGISTER = dk.datasets.business_register(600, seed=3)
#: "1-9" asks for as many firms as no category has, so it decides of every total above it.
MANY = {"1-9": MinimumFrequency(40), "10-49": None, "*": PPercent(15)}
RULE = Varying("size", MANY)
OUTSIDER, CONTRIBUTOR = dk.Attacker(), dk.Attacker(contributor=True)


def firms(*by, **options):
    trees = {"region": REGISTER.region, "size": None, "nace": REGISTER.nace}
    options = {"value": "turnover", "unit": "firm_id", "contributions": True, **options}
    by = by or ("region", "size")
    return dk.tabulate(REGISTER.records, by={name: trees[name] for name in by}, **options)


def asked_is_kept(result, found):
    """Whether an outsider's own programmes leave each unsafe cell as far as all rules ask for."""
    seen = result.published
    value, hidden = np.ravel(seen.value), np.ravel(seen.suppressed)
    trees = [d.hierarchy for d in seen.dimensions]
    rows = []
    for axis, tree in enumerate(trees):
        for code, children in enumerate(tree.children):
            if len(children):
                flat = np.moveaxis(np.arange(value.size).reshape(seen.shape), axis, 0)
                for other in range(flat[0].size):
                    equation = np.zeros(value.size)
                    equation[flat[code].ravel()[other]] = 1
                    equation[[flat[i].ravel()[other] for i in children]] -= 1
                    rows.append(equation)
    every = np.array(rows)
    true = result.table.measure.sum.ravel()
    right = -every[:, ~hidden] @ value[~hidden]
    number = np.flatnonzero(hidden)
    for cell in np.flatnonzero(found.unsafe):
        goal = (number == cell).astype(float)
        for side, level in ((1, found.upper.flat[cell]), (-1, found.lower.flat[cell])):
            end = linprog(-side * goal, A_eq=every[:, hidden], b_eq=right)
            assert end.status in (0, 3)  # found, or without end
            if end.status == 0 and side * (goal @ end.x - true[cell]) < level - 1e-3:
                return False
    return True


# ── hidden cells ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("attacker", [OUTSIDER, CONTRIBUTOR], ids=["outsider", "contributor"])
def test_a_release_is_proven_and_verified(attacker, tmp_path):
    table = firms()
    result = dk.suppress(table, RULE, attacker=attacker, name="turnover")
    unsafe = RULE(table).unsafe
    assert unsafe.any() and result.published.suppressed[unsafe].all()
    assert asked_is_kept(result, RULE(table))
    folder = dk.write([result], tmp_path / "out", ["csv"], keys=KEYS)
    assert any("proven again" in line for line in verify(folder, keys=KEYS).lines)


def test_without_the_strictest_rule_totals_are_published():
    """What the release above hides because of one category is what others would publish."""
    table = firms()
    unsafe, others = RULE(table).unsafe, Varying("size", {"*": PPercent(15)})(table).unsafe
    small = table.dimensions[1].hierarchy.position["1-9"]
    assert (unsafe[:, 0] & ~others[:, 0]).any() and (unsafe[:, small] & ~others[:, small]).any()


def test_the_office_is_told_which_rules_there_were(tmp_path):
    result = dk.suppress(firms(), RULE, attacker=CONTRIBUTOR, name="turnover")
    settings = result.settings
    assert settings["rule"] == repr(RULE)
    only = Varying("size", {"1-9": MinimumFrequency(40), "10-49": None, "*": None})
    assert repr(only) in settings["sums_judged_by"]
    assert settings["rules_without_sums"] == []
    for language, words in {
        "en": "by size (1-9: minimum frequency: at least 40 contribute | 10-49: no rule | "
        "all others: p% rule with p = 15)",
        "de": "je nach size (1-9: Mindestfallzahl: mindestens 40 tragen bei | 10-49: keine Regel | "
        "sonst: p-Prozent-Regel mit p = 15)",
    }.items():
        assert words in dict(told(settings, language)).values()
    folder = dk.write([result], tmp_path / "out", ["csv"], keys=KEYS)
    internal = json.loads((folder / "internal" / "turnover.certificate.json").read_text("utf-8"))
    assert repr(RULE) in json.dumps(internal, ensure_ascii=False)
    public = [p for p in (folder / "public").rglob("*") if p.is_file()]
    assert public and not any(b"Varying" in p.read_bytes() for p in public)


def test_a_cell_is_explained_with_the_rule_that_found_it():
    result = dk.suppress(firms(), RULE, attacker=OUTSIDER, name="turnover")
    cells = result.internal_cells.to_pylist()
    rules = {row["rule"] for row in cells if row["status"] == "primary"}
    assert rules == {"minimum_frequency", "p_percent"}
    assert result.explain().num_rows


@pytest.mark.long
def test_a_linked_table_without_the_variable_is_judged_by_all_rules():
    tables = [firms(), firms("nace")]
    options: dict[str, Any] = {"attacker": CONTRIBUTOR, "name": ["a", "b"]}
    both = dk.suppress(tables, RULE, **options)
    said = dk.suppress(tables, [RULE, RULE.strictest], **options)
    for one, other in zip(both, said, strict=True):
        assert (one.published.suppressed == other.published.suppressed).all()
    assert both[1].settings["rule"] == repr(MinimumFrequency(40) | PPercent(15))
    with pytest.raises(InputError, match="which the table does not have"):
        dk.suppress(tables[1], RULE)


def test_filtered_tables_are_judged_by_the_rules_of_what_is_left():
    whole = firms()
    small = firms("region", where={"size": ["1-9"]})
    large = firms("region", where={"size": ["10-49"]})
    results = dk.suppress([whole, small, large], RULE, name=["a", "b", "c"])
    assert (results[1].sensitivity.unsafe == RULE(small).unsafe).all()
    assert RULE(small).unsafe.sum() == MinimumFrequency(40)(small).unsafe.sum() > 0
    assert not RULE(large).unsafe.any()
    # the same cells have the same status, whichever table they stand in
    at = whole.dimensions[1].hierarchy.position["1-9"]
    hidden = [results[0].published.suppressed[:, at], results[1].published.suppressed]
    assert (hidden[0] == hidden[1]).all()


def test_later_tables_stand_by_what_earlier_ones_hid(tmp_path):
    ledger = dk.Ledger.create(tmp_path / "ledger.json", KEYS)
    first = dk.suppress(firms(), RULE, attacker=CONTRIBUTOR, ledger=ledger, name="first")
    ledger.publish([first], tmp_path / "first", formats=["csv"], who="clerk")
    table = firms("nace")
    with pytest.raises(InputError, match="which the table does not have"):
        dk.suppress(table, RULE, attacker=CONTRIBUTOR, ledger=ledger)
    later = dk.suppress(table, PPercent(15), attacker=CONTRIBUTOR, ledger=ledger, name="later")
    ledger.publish([later], tmp_path / "later", formats=["csv"], who="clerk")
    assert ledger.verify([tmp_path / "first", tmp_path / "later"])


def test_counts_are_protected_by_the_rules_of_their_categories():
    table = firms(value=None, unit=None, contributions=False)
    rule = Varying("size", {"1-9": MinimumFrequency(40), "*": MinimumFrequency(3)})
    result = dk.suppress(table, rule, attacker=CONTRIBUTOR, name="firms")
    assert result.published.suppressed[rule(table).unsafe].all()


# ── changed values ──────────────────────────────────────────────────────────────────

SMALL = pa.table(
    {
        "country": ["DE"] * 3 + ["FR"] * 3,
        "branch": ["a", "a", "b", "a", "b", "b"],
        "sales": [900, 80, 10, 500, 30, 10],
        "firm": [1, 2, 3, 4, 5, 6],
        "key": [11, 222, 3333, 44444, 555555, 6666666],
    }
)
BY_COUNTRY = Varying("country", {"DE": PPercent(20), "FR": None})


def small(*by, **options):
    options = {"value": "sales", "unit": "firm", "largest": 3, **options}
    return dk.tabulate(SMALL, by=dict.fromkeys(by), **options)


def test_noise_on_sums_is_judged_by_the_rules_of_the_category():
    table = small("country", record_key="key")
    noise = dk.MagnitudeNoise(dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1))
    result = dk.perturb(table, noise, rule=BY_COUNTRY)
    # 20 % of 900 less 130 that all but the two largest have, and less 10 in DE; FR has no rule
    assert BY_COUNTRY(table).upper.tolist() == [50, 170, 0]
    assert abs(int(np.ravel(result.published.value)[1]) - 990) >= 170
    assert dk.assess(noise, rule=BY_COUNTRY, table=table).windows.sensitive.sum() == 2
    # made-up cells may be of any category
    made_up = dk.assess(noise, rule=BY_COUNTRY).windows.sensitive
    assert (made_up == dk.assess(noise, rule=PPercent(20)).windows.sensitive).all()


def test_rounding_and_adjustment_are_led_by_the_rules_of_the_category():
    counts = small("country", "branch", value=None, unit=None)
    few = Varying("country", {"DE": MinimumFrequency(3), "FR": None})
    rounded = dk.round_table(counts, 3, "controlled", rule=few, keys=KEYS)
    assert rounded.name
    sums = small("country", "branch")
    adjusted = dk.adjust(sums, BY_COUNTRY)
    unsafe = BY_COUNTRY(sums).unsafe
    value = np.reshape(adjusted.published.value, unsafe.shape)
    assert unsafe.any() and (value != sums.measure.sum)[unsafe].all()


def test_several_rounded_tables_hold_all_categories_where_one_lacks_them():
    tables = [small(name, value=None, unit=None) for name in ("country", "branch")]
    rule = Varying("country", {"DE": MinimumFrequency(4), "FR": None})
    assert len(dk.round_table(tables, 3, "controlled", rule=rule, keys=KEYS)) == 2


# ── jobs ────────────────────────────────────────────────────────────────────────────

JOB = """
[records]
path = "firms.csv"
[[tables]]
name = "by country"
by = { country = "flat", branch = "flat" }
value = "sales"
unit = "firm"
[tables.rules]
minimum_frequency = { n = 2 }
[tables.rules.varying.country]
DE = { p_percent = { p = 20 }, minimum_frequency = { n = 3 } }
FR = "none"
[[tables]]
name = "by branch"
by = { branch = "flat" }
value = "sales"
unit = "firm"
rules = { varying = { country = { DE = { p_percent = { p = 20 } }, "*" = "none" } } }
[output]
language = "de"
formats = ["csv"]
"""


@pytest.fixture
def job(tmp_path):
    pc.write_csv(SMALL, tmp_path / "firms.csv")

    def made(old="", new="", text=JOB):
        path = tmp_path / "job.toml"
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")
        return path

    return made


def test_a_job_says_rules_by_category(job):
    first, second = read_job(job()).tables
    varying = Varying("country", {"DE": PPercent(20) | MinimumFrequency(3), "FR": None})
    assert first.rule == MinimumFrequency(2) | varying
    assert second.rule == Varying("country", {"DE": PPercent(20), "*": None})


def test_a_job_is_carried_out_as_the_same_calls_are(job, tmp_path):
    first, second = (table.rule for table in read_job(job()).tables)
    folder, results = run_job(job(), folder=tmp_path / "out", keys=KEYS)
    tables = [small(*by, contributions=True) for by in (("country", "branch"), ("branch",))]
    names = ["by country", "by branch"]
    expected = dk.suppress(tables, [first, second], name=names, attacker=CONTRIBUTOR)
    for result, own in zip(results, expected, strict=True):
        assert (result.published.suppressed == own.published.suppressed).all()
    # the second table lacks the column, so its cells hold all countries
    assert results[1].settings["rule"] == repr(PPercent(20))
    assert verify(folder, keys=KEYS).lines
    told_in_german = dict(told(results[0].settings, "de"))["Regeln"]
    assert "; je nach country (DE: p-Prozent-Regel mit p = 20; Mindest" in told_in_german


def test_a_shadow_holds_inside_as_well(job):
    shadow = 'shadow = "size"\n[tables.rules]'
    rule = read_job(job("[tables.rules]", shadow)).tables[0].rule
    inside = Shadow(PPercent(20), "size") | MinimumFrequency(3)
    assert rule == MinimumFrequency(2) | Varying("country", {"DE": inside, "FR": None})


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("country]", "contry]", 11, "no such column: 'contry'.* did you mean 'country'"),
        ('FR = "none"', 'FR = "nothing"', 13, "'FR' in .* must be rules, e.g."),
        ('FR = "none"', "FR = 3", 13, "'FR' in .* must be rules, e.g."),
        ('FR = "none"', "FR = {}", 13, "must name at least one rule: p_percent"),
        ('FR = "none"', 'FR = { missing_safe = { branch = ["a"] } }', 13, "to .tables.rules.,"),
        ("p = 20", "p = 0.2", 12, "'p' in .* must be a percentage from 1 upwards .5 for 5 %"),
        ("varying.country]", "varying]", 12, "no such column: 'DE'"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_line(job, old, new, line, words):
    with pytest.raises(JobError, match=rf"line {line}: .*({words})"):
        read_job(job(old, new))


def test_a_section_without_columns_is_refused(job):
    text = JOB[: JOB.index("minimum_frequency")] + "varying = {}\n"
    with pytest.raises(JobError, match="line 10: .* must name a column and the rules of its codes"):
        read_job(job(text=text))


def test_unknown_codes_of_a_job_are_named(job, tmp_path):
    words = "table 'by country': rules differ by 'country', which has no code 'DEU'"
    with pytest.raises(HierarchyError, match=words):
        run_job(job("\nDE = ", "\nDEU = "), folder=tmp_path / "out", keys=KEYS)
    assert not (tmp_path / "out").exists()


# ── words ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rules", "german"),
    [
        ({"DEE": None, "*": None}, "keinen Code 'DEE'; gemeint war wohl 'DE'? Codes seines Baums"),
        ({"DE": None}, "1 seiner Kategorien hat keine: 'FR'; sie nennen oder sagen"),
    ],
)
def test_what_is_wrong_is_said_in_german(rules, german):
    with pytest.raises(InputError) as caught:
        Varying("country", rules)(small("country"))
    assert german in translated(str(caught.value), "de")


def test_a_missing_variable_is_said_in_german():
    with pytest.raises(InputError) as caught:
        Varying("countri", {"*": None})(small("country"))
    said = translated(str(caught.value), "de")
    assert "das die Tabelle nicht hat; gemeint war wohl 'country'? Sie hat 'country'." in said


def test_argus_gets_the_cells_judged_here(tmp_path):
    table = small("country", "branch")
    dk.argus.write_job(table, BY_COUNTRY, tmp_path / "job.arb")
    [cells] = tmp_path.glob("*.tab")
    status = [line.split(";")[-3] for line in cells.read_text("utf-8").splitlines()]
    assert status.count("U") == BY_COUNTRY(table).unsafe.sum()
    with pytest.raises(InputError, match="τ-ARGUS has no rule for Varying"):
        dk.argus.write_job(table, BY_COUNTRY, tmp_path / "there.arb", judged="there")
