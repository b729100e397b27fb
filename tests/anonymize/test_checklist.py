"""The checklist says what is done, what is missing, and what nobody can tell but a person."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from released_microdata import microdata, persons, protected

import diskret as dk
from diskret.anonymize.levels import PRESETS
from diskret.texts import words_in


def states(md, level="factual"):
    return {item.name: item.state for item in md.checklist(level).items}


def found(md, name, level="factual", language="en"):
    [item] = [item for item in md.checklist(level, language).items if item.name == name]
    return item


def test_formal_anonymity_asks_for_identifiers_only():
    assert states(microdata(), "formal") == {
        "identifiers": "done",
        "id": "done",
        "free text": "done",
        "roles": "unknown",
    }


def test_identifiers_that_nobody_named_are_suspected():
    md = dk.Microdata(persons(), keys=["sex", "pid"])
    item = found(md, "identifiers", "formal")
    assert item.state == "missing" and "pid" in item.found and "name" in item.found
    assert "hid" not in item.found
    assert "identifiers=" in item.next


def test_free_text_is_found():
    frame = pa.table({"job": [f"worked {i} years as baker in many towns" for i in range(30)]})
    assert found(dk.Microdata(frame, keys=["job"]), "free text", "formal").state == "missing"


def test_risks_are_missing_before_and_done_after_protection():
    before, after = states(microdata()), states(protected())
    assert before["uniques"] == "done"  # with its weight it is hardly unique in the population
    assert before["risk"] == "done" and after["risk"] == "done"
    strict = states(microdata(), "absolute"), states(protected(), "absolute")
    assert (strict[0]["uniques"], strict[1]["uniques"]) == ("missing", "done")
    assert (strict[0]["k-anonymity"], strict[1]["k-anonymity"]) == ("missing", "done")


def test_a_census_knows_no_excuse():
    md = dk.Microdata(persons(), keys=["town", "sex"])
    item = found(md, "uniques")
    assert item.state == "missing" and item.found == "1 of 60 records is unique."
    assert found(md, "population").state == "unknown"
    assert found(md, "risk").state == "missing"


def test_without_keys_no_risk_is_known():
    md = dk.Microdata(persons(), sensitive=["illness"])
    assert found(md, "keys").state == "missing"
    assert found(md, "sensitive").state == "missing"
    assert "risk" not in states(md)


def test_keys_with_decimals_are_pointed_at():
    frame = pa.table({"x": [1.5, 2.5], "s": ["a", "b"]})
    item = found(dk.Microdata(frame, keys=["x"], sensitive=["s"]), "risk")
    assert item.state == "missing" and "recode" in item.next


def test_alike_sensitive_values_are_counted_with_wildcards():
    frame = pa.table({"job": ["a", "a", "b", "b", None], "ill": ["flu", None, "flu", "flu", "flu"]})
    md = dk.Microdata(frame, keys=["job"], sensitive=["ill"])
    # b, b and the unknown job all have flu; the unknown job may also be with a and its gap
    assert found(md, "sensitive").found.endswith("of ill: 2.")


def test_small_areas_are_found_by_weight():
    frame = pa.table({"region": ["N", "N", "S"], "w": [60_000.0, 60_000.0, 99_999.0]})
    item = found(dk.Microdata(frame, keys=["region"], weight="w"), "region")
    assert item.state == "missing" and "has 99,999 persons; usual are 100,000" in item.found
    frame = frame.set_column(1, "w", pa.array([60_000.0, 60_000.0, 100_000.0]))
    assert found(dk.Microdata(frame, keys=["region"], weight="w"), "region").state == "done"


def test_households():
    frame = pa.table({"hid": [1] * 7 + [2], "sex": ["f"] * 8})
    md = dk.Microdata(frame, keys=["sex"], household="hid")
    assert found(md, "household size").found == (
        "Households of 6 members or more: 1, the largest has 7."
    )
    # two households with 7 and 1 members of risk 1/8 each
    expected = 1 - (7 / 8) ** 7 + 1 / 8
    assert f"{expected:.2f}" in found(md, "household").found


def test_numeric_variables():
    shared = [1.0, 2.0, 3.0, 9.5, 9.5, 9.5]
    unique = [1.0, 2.0, 3.0, 4.0, 5.0, np.nan]

    def item(values, level="factual"):
        return found(dk.Microdata(pa.table({"x": values}), numeric=["x"]), "numeric", level)

    assert item(unique).state == "missing"
    assert item(shared).state == "done"
    assert item(shared, "absolute").state == "missing"
    assert found(dk.Microdata(pa.table({"x": shared})), "numeric").state == "done"


@pytest.mark.parametrize("level", PRESETS)
def test_every_sentence_is_there_in_both_languages(level):
    words = words_in("en", "checklist")
    titles, levels, checks = (
        {key.split(".")[1] for key in words if key.startswith(f"{part}.")}
        for part in ("titles", "levels", "checks")
    )
    assert titles == checks and levels == PRESETS.keys()
    english, german = (microdata().checklist(level, language) for language in ("en", "de"))
    assert [item.state for item in english.items] == [item.state for item in german.items]
    assert all(a.found != b.found for a, b in zip(english.items, german.items, strict=True))
    assert "BStatG" in str(english) and "BStatG" in str(german)
    assert "{" not in str(english) + str(german)


def test_it_comes_as_a_frame_and_as_text():
    made = microdata(persons().to_pandas()).checklist("absolute")
    assert isinstance(made.frame, pd.DataFrame)
    assert list(made.frame.columns) == ["check", "state", "found", "next"]
    assert {"uniques", "k-anonymity", "numeric"} <= {item.name for item in made.missing}
    assert not {item.name for item in made.missing} & {item.name for item in made.unknown}
    text = str(made)
    assert text.count("[ ]") == len(made.missing) and text.count("[?]") == len(made.unknown)
    assert repr(made) == "Checklist('absolute': {} done, {} missing, {} not known.)".format(
        *(sum(i.state == s for i in made.items) for s in ("done", "missing", "unknown"))
    )


def test_unknown_levels_and_languages_are_refused():
    with pytest.raises(dk.DiskretError, match="level= must be 'formal', 'factual' or 'absolute'"):
        microdata().checklist("total")
    with pytest.raises(dk.DiskretError, match="language= must be"):
        microdata().checklist("formal", "fr")


def test_the_published_file_has_its_published_uniques(reference_data):
    md = dk.Microdata(
        reference_data / "data" / "sdcmicro" / "testdata.csv",
        keys=["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"],
    )
    assert found(md, "uniques").found == "157 of 4,580 records are unique."
