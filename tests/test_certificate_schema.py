"""The documented schemas are those of the files that are written."""

import json
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest

import diskret as dk

SCHEMAS = Path(__file__).parents[1] / "docs" / "schema"


pytestmark = pytest.mark.xdist_group("schema")


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    register = dk.datasets.business_register(400, seed=2)
    by = {"nace": register.nace, "region": register.region}
    table = dk.tabulate(register.records, by=by, value="turnover", unit="firm_id")
    table = table.recode("nace", level=1)
    by_hand = {"nace": ["Total"], "region": ["Total"], "status": ["frozen"], "cost": [None]}
    why = {"reason": ["promised"], "who": ["A. Meyer"], "date": ["2025-12-31"]}
    rule = dk.rules.PPercent(10) | dk.rules.Apriori(pa.table({**by_hand, **why}))
    result = dk.suppress(table, rule, attacker=dk.Attacker(relative=60))
    folder = tmp_path_factory.mktemp("schema") / "out"
    return result.write(folder, formats=["csv"], keys=folder.parent / "keys")


def content(folder, side):
    path = folder / side / "turnover.certificate.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.parametrize("side", ["public", "internal"])
def test_certificates_follow_their_schema(released, side):
    schema = json.loads((SCHEMAS / f"certificate-{side}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content(released, side), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content(released, side) | {"p": 10}, schema)


def test_certificates_of_every_option_follow_their_schema(tmp_path):
    cells = pa.table({"region": ["N", "S", "W", "Total"], "sales": [70, 20, 40, 100]})
    table = dk.Table.from_cells(cells, by={"region": None}, value="sales", additivity="totals")
    unsafe = pa.table({"region": ["S"], "status": ["unsafe"], "reason": ["x"], "who": ["y"],
                       "date": ["2025-12-31"]})  # fmt: skip
    result = dk.suppress(
        table,
        dk.rules.Apriori(unsafe),
        method="optimal",
        attacker=dk.Attacker.around(cells, 500, value="sales", mistaken="drop"),
        previous=pa.table({"region": ["W"]}),
        previous_discount=10,
        keys=dk.SecretKeys(bytes(range(32))),
    )
    folder = result.write(tmp_path / "out", formats=["csv"], keys=tmp_path / "keys")
    path = folder / "internal" / "sales.certificate.json"
    internal = json.loads(path.read_text(encoding="utf-8"))
    assert internal["attacker"]["last_period_within"] == 500
    assert internal["recomputed_totals"] and internal["ties"] == "keyed"
    schema = json.loads((SCHEMAS / "certificate-internal.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(internal, schema)


def test_what_was_set_by_hand_follows_the_schema(released):
    schema = json.loads((SCHEMAS / "certificate-internal.schema.json").read_text(encoding="utf-8"))
    internal = content(released, "internal")
    assert internal["apriori"]["who"] == ["A. Meyer"]
    internal["apriori"]["status"] = ["secret"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(internal, schema)


def test_internal_certificate_is_no_public_one(released):
    schema = json.loads((SCHEMAS / "certificate-public.schema.json").read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content(released, "internal"), schema)


def test_certificates_of_changed_values_follow_their_schema(tmp_path):
    schema = json.loads((SCHEMAS / "certificate-changed.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    register = dk.datasets.business_register(500, seed=2)
    keys = dk.SecretKeys(bytes(range(32)))
    records = dk.record_keys(register.records, id="firm_id", keys=keys)
    by = {"nace": register.nace, "size": None}
    table = dk.tabulate(records, by=by, unit="firm_id", record_key="record_key")
    table = table.recode("nace", level=1)
    noise = dk.perturb(table, dk.PerturbationTable.maximum_entropy(3, 1), name="noise")
    results = [
        noise,
        dk.make_additive(noise),
        dk.perturb_invariant([table], largest=50, name=["invariant"])[0],
        dk.round_table(table, 5, "controlled", keys=keys, name="controlled"),
        dk.round_table(table, 5, "small_counts", keys=keys, name="small counts"),
        dk.round_table(table, 5, "random", keys=keys, name="random"),
        dk.adjust(table, dk.rules.MinimumFrequency(3), name="adjusted", time_limit=2),
    ]
    where_they_are = dk.perturb_records(
        records,
        by=by,
        ptable=dk.PerturbationTable.maximum_entropy(3, 1),
        record_key="record_key",
        name="listed",
    )
    for number, result in enumerate([*results, where_they_are]):
        folder = result.write(tmp_path / str(number), formats=["csv"], keys=keys)
        path = folder / "public" / f"{result.name}.certificate.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(found, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(found | {"max_noise": 3}, schema)


def test_certificates_of_tables_that_nobody_holds_follow_the_same_schema(tmp_path):
    schema = json.loads((SCHEMAS / "certificate-changed.schema.json").read_text(encoding="utf-8"))
    folder = dk.write_perturbed_records(
        pa.table({"town": ["N", "S"], "key": [1, 2]}),
        tmp_path / "out",
        by={"town": None},
        ptable=dk.PerturbationTable.maximum_entropy(3, 1),
        record_key="key",
        keys=dk.SecretKeys(bytes(range(32))),
    )
    path = folder / "public" / "count.certificate.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    for more in ({"max_noise": 3}, {"inputs": {"records": "0" * 64}}, {"files": {"a": "short"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(found | more, schema)


def test_certificates_of_microdata_follow_their_schema(tmp_path):
    from diskret.attack.microdata.claims import KAnonymity, RiskBelow

    path = SCHEMAS / "certificate-microdata.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    persons = pa.table({"town": ["N"] * 4 + ["S"] * 4, "sex": ["m", "f"] * 4})
    md = dk.Microdata(persons, keys=["town", "sex"])
    claims = [KAnonymity(2), KAnonymity(4, keys=("sex",)), KAnonymity(2, size=1), RiskBelow(0.9)]
    for number, asked in enumerate(([], claims)):
        result = md.release([RiskBelow(1), *asked], keys=dk.SecretKeys(bytes(range(32))))
        folder = result.write(tmp_path / str(number), ["csv"])
        certificate = folder / "public" / "microdata.certificate.json"
        found = json.loads(certificate.read_text(encoding="utf-8"))
        jsonschema.validate(found, schema)
        assert len(found.get("shown", {}).get("further", [])) == max(len(asked) - 2, 0)
        for secret in ({"threshold": 0.9}, {"shown": {"k": 2, "t": 0.3}}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(found | secret, schema)


def test_certificates_of_safe_files_follow_their_schema(tmp_path):
    from diskret.anonymize.verb import Step
    from diskret.attack.microdata.claims import Safe

    path = SCHEMAS / "certificate-microdata.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    persons = pa.table({"town": [f"T{i % 40}" for i in range(160)], "sex": ["m", "f"] * 80})
    fewer = persons.slice(0, 159)
    step = Step("safe", {}, {"tables": [["town"], ["town", "sex"], []]})
    md = dk.Microdata(persons).replaced(fewer, step)
    keys = dk.SecretKeys(bytes(range(32)))
    folder = md.release(Safe(), keys=keys).write(tmp_path / "out", ["csv"])
    certificate = folder / "public" / "microdata.certificate.json"
    found = json.loads(certificate.read_text(encoding="utf-8"))
    assert found["shown"]["by_size_in_file"][0]["cells"] >= 30
    jsonschema.validate(found, schema)
    for secret in ({"exact": [["town"]]}, {"mean": 0.5}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(found | {"shown": found["shown"] | secret}, schema)
