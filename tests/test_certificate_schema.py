"""The documented schemas are those of the files that are written."""

import json
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest

import diskret as dk

SCHEMAS = Path(__file__).parents[1] / "docs" / "schema"


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    register = dk.datasets.business_register(3_000, seed=2)
    by = {"nace": register.nace, "region": register.region}
    table = dk.tabulate(register.records, by=by, value="turnover", unit="firm_id")
    by_hand = {"nace": ["Total"], "region": ["Total"], "status": ["frozen"], "cost": [None]}
    why = {"reason": ["promised"], "who": ["A. Meyer"], "date": ["2025-12-31"]}
    rule = dk.rules.PPercent(10) | dk.rules.Apriori(pa.table({**by_hand, **why}))
    result = dk.suppress(table, rule, attacker=dk.Attacker(relative=60))
    folder = tmp_path_factory.mktemp("schema") / "out"
    return result.write(folder, formats=["csv"], keys=folder.parent / "keys")


def content(folder, side):
    path = folder / side / "turnover.certificate.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("side", ["public", "internal"])
def test_certificates_follow_their_schema(released, side):
    schema = json.loads((SCHEMAS / f"certificate-{side}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content(released, side), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content(released, side) | {"p": 10}, schema)


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
