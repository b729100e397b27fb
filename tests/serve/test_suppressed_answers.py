"""Data sets whose cells are hidden: each table becomes a release, proven beside all before."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hiding import (
    CODES,
    TREE,
    asked_at_random,
    hidden_data,
    known_too_well,
    persons,
    releasing,
    shown_in,
)
from over_http import Somebody, listening, send
from profiles import scaled
from serving import KEYS

import diskret as dk
import diskret.serve.releases as releases
from diskret.errors import InputError
from diskret.serve import Measure, Suppression, Tabulator, Variable
from diskret.serve.answers import Refused
from diskret.serve.engines import TooLong
from diskret.serve.exports import exported

RULE = dk.rules.MinimumFrequency(3)


def answered(tables, questions):
    found = []
    for asked in questions:
        try:
            found.append(tables.answer(asked, who="anne"))
        except Refused:
            continue
    return found


def questions(seed, number=12):
    draw = np.random.default_rng(seed)
    return [asked_at_random(draw) for _ in range(number)]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(scaled(3)))
def test_all_answers_together_tell_no_count_of_1_or_2(tmp_path, seed):
    records = persons(seed)
    tables = releasing(tmp_path, hidden_data(records))
    answers = answered(tables, questions(seed))
    hidden = sum(figure is None for one in answers for _, figure in shown_in(one))
    shown = sum(figure is not None for one in answers for _, figure in shown_in(one))
    assert hidden > 3 and shown > 30
    assert not known_too_well(records, answers)


@pytest.mark.long
def test_the_oracle_sees_tables_that_were_protected_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("diskret.protect.linked.refuse_one_measure_twice", lambda *_, **__: None)
    found = 0
    for seed in range(2, 6):  # not each of them tells anything
        count = iter(range(10_000))
        monkeypatch.setattr(releases, "vintage_of", lambda data, at=count: f"{next(at)}")
        records = persons(seed)
        (tmp_path / f"{seed}").mkdir()
        tables = releasing(tmp_path / f"{seed}", hidden_data(records))
        found += len(known_too_well(records, answered(tables, questions(seed))))
    assert found > 0


@pytest.mark.long
def test_what_is_protected_without_the_ledger_is_refused_by_the_ledger(tmp_path, monkeypatch):
    own = releases.suppress
    monkeypatch.setattr(releases, "suppress", lambda *a, **k: own(*a, **(k | {"ledger": None})))
    refused = 0
    for seed in range(2):
        (tmp_path / f"{seed}").mkdir()
        records = persons(seed)
        tables = releasing(tmp_path / f"{seed}", hidden_data(records))
        asked = questions(seed)
        answers = answered(tables, asked)
        refused += len(asked) - len(answers)
        assert not known_too_well(records, answers)
    assert refused > 0


def test_the_same_question_has_the_same_answer_also_after_a_restart(tmp_path):
    data = hidden_data(persons())
    tables = releasing(tmp_path, data)
    asked = {"data": "persons", "by": ["age", "sex"], "where": {"region": ["N1", "N2"]}}
    first = tables.answer(asked, who="anne")
    tables.answer({"data": "persons", "by": ["sex"]}, who="anne")
    number = len(dk.Ledger(tmp_path / "ledger.db", KEYS).releases())
    turned = {"data": "persons", "by": ["sex", "age"], "where": {"region": ["N"]}}
    for again in (tables, releasing(tmp_path, data)):
        for one, cells in ((asked, first.value), (turned, first.value.T)):
            answer = again.answer(one, who="bob")
            assert (answer.value == cells).all()
        assert (answer.hidden.T == first.hidden).all()
    assert len(dk.Ledger(tmp_path / "ledger.db", KEYS).releases()) == number
    # what the public files say is what was answered
    folders = [*(tmp_path / "releases").iterdir()]
    assert len(folders) == number
    for folder in folders:
        assert dk.Published.read(folder).suppressed.size


def test_totals_coarser_codes_and_filters_are_true_where_they_are_shown(tmp_path):
    records = persons(number=400)
    tables = releasing(tmp_path, hidden_data(records))
    rows = [*zip(*(records[name].tolist() for name in CODES), strict=True)]
    total = tables.answer({"data": "persons"}, who="anne")
    assert total.value.tolist() == len(rows) and not total.hidden
    only = tables.answer({"data": "persons", "where": {"region": ["N1", "S1"]}}, who="anne")
    assert only.value.tolist() == sum(row[0] in ("N1", "S1") for row in rows)
    coarse = {"data": "persons", "by": [{"variable": "region", "level": 1}]}
    found = tables.answer(coarse, who="anne")
    assert found.codes == {"region": ("N", "S")}
    assert found.value.tolist() == [sum(row[0][0] == code for row in rows) for code in "NS"]


def test_sums_are_judged_by_their_own_rules(tmp_path):
    records = persons(2, 60)
    records["pay"][0] = 1_000_000  # stands out in its cell
    rule = Suppression(RULE, "2025", RULE | dk.rules.PPercent(10))
    data = hidden_data(records, suppression=rule, measures=(Measure("pay", unit="EUR"),))
    tables = releasing(tmp_path, data)
    asked = {"data": "persons", "by": ["sex", "region"], "of": ["pay"]}
    total = tables.answer({**asked, "measure": "sum"}, who="anne")
    counts = tables.answer({"data": "persons", "by": ["sex", "region"]}, who="anne")
    mean = tables.answer({**asked, "measure": "mean"}, who="anne")
    assert total.hidden is not None and counts.hidden is not None
    assert (mean.hidden == (total.hidden | counts.hidden)).all()
    for at, sex in enumerate(CODES["sex"]):
        for to, region in enumerate(CODES["region"]):
            own = (records["sex"] == sex) & (records["region"] == region)
            pay = records["pay"][own]
            if own[0]:
                assert total.hidden[at, to]
            if not total.hidden[at, to]:
                assert total.value[at, to] == pay.sum()
            if not mean.hidden[at, to] and len(pay):
                assert mean.value[at, to] / 100 == pytest.approx(pay.mean(), abs=0.006)
    rows = mean.cells().to_pylist()
    assert {row["status"] for row in rows} >= {"published", "suppressed"}
    assert all((row["mean"] is None) == (row["status"] != "published") for row in rows)


DISTRICTS = {"1a": (1, 9), "2a": (9, 12), "3b": (4, 4), "4b": (14, 14)}


@pytest.mark.parametrize("first", ["district", "land", "office"])
def test_districts_of_a_land_are_known_to_lie_there(first, tmp_path, monkeypatch):
    # one man of district 1 is what is left of the men of land a without those of district 2
    rows = [
        (*place, sex) for place, own in DISTRICTS.items()
        for sex, number in zip("mf", own, strict=True) for _ in range(number)
    ]  # fmt: skip
    records = dict(zip(["district", "land", "sex"], zip(*rows, strict=True), strict=True))
    codes = {"district": [*"1234"], "land": [*"ab"], "sex": [*"mf"]}
    variables = tuple(Variable(name, tuple(own)) for name, own in codes.items())

    def left(folder):
        tables = releasing(folder, hidden_data(records, variables=variables))
        shown = {}
        if first == "office":  # it publishes districts itself
            by = {"district": None, "sex": None}
            ledger = dk.Ledger(folder / "ledger.db", KEYS)
            result = dk.suppress(dk.tabulate(pa.table(records), by=by, vintage="2025"), RULE)
            ledger.publish(result, folder / "office", ["csv"])
        for name in sorted(["district", "land"], key=lambda own: own != first):
            try:
                found = tables.answer({"data": "persons", "by": [name, "sex"]}, who="anne")
            except Refused:
                return None
            for row in found.cells().to_pylist():
                shown[row[name], row["sex"]] = row["count"]
        men = shown["a", "m"], shown["2", "m"]
        return None if None in men else men[0] - men[1]

    for folder in ("asked", "not"):
        (tmp_path / folder).mkdir()
    assert left(tmp_path / "asked") is None
    monkeypatch.setattr(releases, "_SameRecords", lambda ledger, *_: ledger)
    monkeypatch.setattr("diskret.protect.suppress.with_records", lambda one, _: one)
    assert left(tmp_path / "not") == 1


def adding_up(*sums):
    """Persons with pay, tax and gross pay, which is their sum; what an owner says of it."""
    records = persons(2, 60)
    records["tax"] = np.random.default_rng(3).integers(1, 400, 60)
    records["gross"] = records["pay"] + records["tax"]
    rule = Suppression(RULE, "2025", RULE | dk.rules.PPercent(10), sums=sums)
    measures = (Measure("pay"), Measure("tax"), Measure("all", "gross"))
    return hidden_data(records, suppression=rule, measures=measures)


def test_of_measures_that_add_up_the_last_is_refused(tmp_path):
    tables = releasing(tmp_path, adding_up())
    asked = {"data": "persons", "by": ["sex", "region"], "measure": "sum"}
    first = [tables.answer({**asked, "of": [name]}, who="anne") for name in ("pay", "tax")]
    assert any(own.hidden.any() for own in first)
    with pytest.raises(Refused, match="cannot be proven") as refused:
        tables.answer({**asked, "of": ["all"]}, who="bert")
    assert "holds in all" not in str(refused.value)


def test_measures_that_are_said_to_add_up_are_released_together(tmp_path):
    names = ["pay", "tax", "all"]
    tables = releasing(tmp_path, adding_up("all = pay + tax"))
    asked = {"data": "persons", "by": ["sex", "region"], "measure": "sum"}
    answers = [tables.answer({**asked, "of": [name]}, who="anne") for name in names]
    number = np.stack([one.hidden for one in answers if one.hidden is not None]).sum(axis=0)
    assert number.any() and not (number == 1).any()  # one that is hidden alone is a difference
    counts, sums = dk.Ledger(tmp_path / "ledger.db", KEYS).releases()
    assert [note.measure for note in counts.entry.tables] == ["count"]
    assert [note.measure for note in sums.entry.tables] == ["gross", "pay", "tax"]
    folder = tmp_path / "releases" / sums.name.rpartition(" ")[2]
    said = json.loads((folder / "public" / "gross.certificate.json").read_text())
    assert said["sums"] == ["gross = pay + tax"]
    assert len(dk.verify(folder).tables) == 3
    with pytest.raises(InputError, match="names 'fee'"):
        adding_up("all = pay + fee")
    cents = Measure("pay", decimals=2), Measure("tax"), Measure("all", "gross")
    with pytest.raises(InputError, match="different decimals"):
        replace(adding_up("all = pay + tax"), measures=cents)


def test_what_was_published_elsewhere_makes_a_table_impossible(tmp_path):
    records = persons(5)
    data = hidden_data(records)
    tables = releasing(tmp_path, data)
    by = {"age": dk.Hierarchy.flat(CODES["age"]), "region": TREE}
    whole = dk.tabulate(pa.table(records), by=by, vintage="2025")
    true = whole.measure.sum
    assert ((true > 0) & (true < 3)).any()
    shown = dk.suppress(whole, RULE).published
    told = replace(shown, value=true, suppressed=np.zeros(true.shape, bool))
    dk.Ledger(tmp_path / "ledger.db", KEYS).record(told, "yearbook", why="printed")
    with pytest.raises(Refused, match="cannot be proven") as refused:
        tables.answer({"data": "persons", "by": ["age", "region"]}, who="anne")
    assert not any(code in str(refused.value) for code in CODES["region"])
    # it is counted all the same: a refusal tells something, too
    assert tables.allowance.left("anne", data) == 99


def test_no_more_tables_than_the_owner_says(tmp_path):
    tables = releasing(tmp_path, hidden_data(persons(), questions=2))
    for by in (["sex"], ["age"], ["sex"]):
        tables.answer({"data": "persons", "by": by}, who="anne")
    with pytest.raises(Refused, match="2 tables"):
        tables.answer({"data": "persons", "by": ["region"]}, who="bob")


def test_hidden_cells_in_every_form(tmp_path):
    data = hidden_data(persons())
    answer = releasing(tmp_path, data).answer({"data": "persons", "by": [*CODES]}, who="anne")
    assert answer.hidden.any() and not answer.hidden.all()
    made = json.loads(exported(answer, data, "json").content)
    assert [value is None for value in made["value"]] == answer.hidden.ravel().tolist()
    assert made["status"].count("suppressed") == answer.hidden.sum()
    assert "hidden" in made["note"]
    lines = exported(answer, data, "csv").content.decode().splitlines()[1:]
    assert sum("suppressed" in line for line in lines) == answer.hidden.sum()
    for form in ("xlsx", "parquet", "json-stat", "sdmx-csv", "px"):
        assert exported(answer, data, form, "de").content


def test_there_is_noise_or_a_ledger_to_release_in(tmp_path):
    data = hidden_data(persons())
    with pytest.raises(InputError, match="releases="):
        Tabulator([data], KEYS)
    with pytest.raises(InputError, match="noise or by suppression"):
        replace(data, suppression=None)
    tables = releasing(tmp_path, data)
    with pytest.raises(InputError, match="certificate"):
        tables.resistance("persons")
    tables.check()
    wrong = hidden_data({**persons(), "sex": np.array(["x"] * 90)})
    with pytest.raises(InputError, match="x"):
        releasing(tmp_path, wrong).check()
    with pytest.raises(Refused, match="as they are registered"):
        releasing(tmp_path, wrong).answer({"data": "persons", "by": ["sex"]}, who="anne")


def test_two_data_sets_of_the_same_records_are_refused(tmp_path, monkeypatch):
    records = {"region": ["N1"] * 9 + ["N2"] * 2 + ["S1"] * 5 + ["S2"] * 12}
    records |= {"sex": ["f", "m"] * 14, "age": ["0"] * 28}
    pq.write_table(pa.table(records), tmp_path / "persons.parquet")
    (tmp_path / "link.parquet").symlink_to("persons.parquet")
    wide = replace(hidden_data(records), name="wide", records=str(tmp_path / "link.parquet"))
    flat = (Variable("region", CODES["region"]),)
    place = str(tmp_path / "persons.parquet")
    fine = replace(hidden_data(records), records=place, variables=flat)
    with pytest.raises(InputError, match="'persons' and 'wide' are of the same records"):
        releasing(tmp_path, fine, wide)
    other = hidden_data(persons(3), name="other")
    with pytest.raises(InputError, match="have both vintage='2025'"):
        releasing(tmp_path, fine, other)
    wide = replace(wide, suppression=replace(wide.suppression, vintage="2026"))
    # without the refusal one name more tells both persons of N2: nothing ties the two
    monkeypatch.setattr("diskret.serve.tabulator.same_records", lambda *_: False)
    tables = releasing(tmp_path, fine, wide)
    lands = {"data": "wide", "by": [{"variable": "region", "level": 1}]}
    asked = [{"data": "persons", "by": ["region"]}, lands]
    regions, lands = (
        {row["region"]: row["count"] for row in tables.answer(one, who="anne").cells().to_pylist()}
        for one in asked
    )
    assert regions["N2"] is None and lands["N"] - regions["N1"] == 2


def test_over_http_hidden_cells_have_a_status_and_nothing_claims_noise(tmp_path):
    data = hidden_data(persons())
    users = {"dsk_anne": Somebody("anne", "owner", ("ask", "see_resistance"), ("persons",))}
    with listening(releasing(tmp_path, data), users=users.get) as url:
        (told,) = send(url, "GET", "/v1/data").json
        assert told["method"] == "suppression" and told["left"] == 100
        asked = {"data": "persons", "by": [*CODES]}
        got = send(url, "POST", "/v1/tables", asked)
        assert got.status == 200
        pairs = [*zip(got.json["value"], got.json["status"], strict=True)]
        assert {status for _, status in pairs} == {"published", "suppressed"}
        assert all((value is None) == (status == "suppressed") for value, status in pairs)
        worth = send(url, "GET", "/v1/data/persons/resistance")
        assert worth.status == 404 and "certificate" in worth.problem


def test_a_search_that_nobody_waits_for_is_stopped(tmp_path, monkeypatch):
    tables = releasing(tmp_path, hidden_data(persons()))
    suppress, searched = releases.suppress, []

    def watched(*given, **more):
        searched.append("begun")
        result = suppress(*given, **more)
        searched.append("done")
        return result

    monkeypatch.setattr(releases, "suppress", watched)
    question = {"data": "persons", "by": [*CODES]}
    with pytest.raises(TooLong, match="nobody waits"):
        tables.answer(question, who="anne", gone=lambda: bool(searched))
    assert searched == ["begun"]
    ledger = dk.Ledger(tmp_path / "ledger.db", KEYS)
    assert not ledger.releases() and not [*(tmp_path / "releases").iterdir()]
    # whoever asks next does not wait for it
    assert tables.answer(question, who="bob").hidden.any()
    assert searched == ["begun", "begun", "done"] and len(ledger.releases()) == 1
