"""What leaves: columns on a list, new numbers, a new order, proven claims."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from released_microdata import KEYS, SECRET_TOWN, microdata, persons, protected

import diskret as dk
from diskret.anonymize.verb import Step
from diskret.anonymize.write import outline
from diskret.attack.microdata.claims import KAnonymity, LDiversity, NoIdentifiers, RiskBelow

THREE = KAnonymity(3)


def released(md=None, claim=THREE, **options):
    return (protected() if md is None else md).release(claim, keys=KEYS, **options)


def test_only_variables_with_a_role_leave():
    made = released()
    assert made.public.column_names == ["town", "sex", "income", "illness", "w"]
    assert made.table.num_rows == 60
    assert made.public.schema.metadata is None


def test_chosen_columns_leave_and_no_others():
    made = released(columns=["illness", "town"], attributes=["note"], weight=False)
    assert made.public.column_names == ["illness", "town", "note"]
    assert made.certificate.shown["keys"] == ["town"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["town", "name"]}, "'name' identifies persons directly and is never"),
        ({"attributes": ["name"]}, "'name' identifies persons directly"),
        ({"columns": ["hid"]}, "household=True releases new ones"),
        ({"attributes": ["pid"]}, "id=True releases new ones"),
        ({"columns": ["note"]}, "'note' has no role"),
        ({"columns": ["age"]}, "'age' cannot be released, because the records do not have it"),
        ({"columns": ["town", "town"]}, "twice"),
        ({"columns": ["w"], "weight": False}, "say which"),
        ({"name": "a/b"}, "cannot be used for files"),
        ({"level": "some"}, "level= must be"),
    ],
)
def test_what_must_not_leave_is_refused(options, message):
    with pytest.raises(dk.DiskretError, match=message):
        released(**options)


def test_a_follower_does_not_leave_with_what_its_key_was():
    frame = pd.DataFrame({"town": ["A", "B", "C"] * 40, "age": [30, 50] * 60})
    frame = frame.assign(name="of " + frame.town, born=2020 - frame.age)
    names = {"town": ["name"], "age": ["born"]}
    md = dk.Microdata(frame, keys=["town", "age"], followers=names)
    random = md.pram(["town"], stay=0.2, seed=1)
    assert (random.frame.name.str[3:] != random.frame.town).any()  # the name is the true one
    coarse = md.recode("age", breaks=[0, 40, 99])
    for made, key, name in ((random.local_suppression(3), "town", "name"), (coarse, "age", "born")):
        with pytest.raises(dk.DiskretError, match=f"'{name}' follows '{key}', which"):
            released(made, columns=[key, name])
    assert released(coarse, columns=["town", "name"]).certificate
    both = coarse.recode("born", breaks=[1900, 1980, 2020])
    assert released(both, columns=["age", "born"]).certificate


def test_columns_that_give_back_what_others_were_do_not_leave():
    draw = np.random.default_rng(4)
    wage, rent = draw.lognormal(8, 1, (2, 300)).round(2)
    job = draw.choice(list("abc"), 300)
    frame = pd.DataFrame({"sex": [*"mf"] * 150, "job": job, "wage": wage, "rent": rent})
    frame["tax"], frame["total"] = (wage * 0.25).round(2), wage + rent
    frame["title"], frame["loan"] = "of " + frame.job, [1.0, *[None] * 299]
    numbers = ["wage", "rent", "tax", "total", "loan"]
    md = dk.Microdata(frame, keys=["sex"], numeric=numbers, sensitive=["job", "title"])
    noisy, random = md.add_noise(["wage"], seed=1), md.pram(["job"], seed=1)
    for made, columns, by in (
        (noisy, ["wage", "tax"], "'tax' would"),
        (noisy, ["wage", "tax", "loan"], "'tax' would"),
        (noisy, ["wage", "rent", "total", "loan"], "'rent', 'total' would"),
        (md.microaggregate(["wage"]), ["wage", "tax"], "'tax' would"),
        (md.rank_swap(["wage"], seed=1), ["wage", "tax"], "'tax' would"),
        (random, ["job", "title"], "'title' would tell what 'job' was before pram"),
        (random.recode("title", groups={"of b": "B"}), ["job", "title"], "'title' would"),
    ):
        with pytest.raises(dk.DiskretError, match=by):
            released(made, columns=["sex", *columns])
    for made, columns in (
        (noisy, ["wage", "rent"]),
        (noisy, ["wage", "total"]),
        (md.add_noise(["wage", "tax"], seed=1), ["wage", "tax"]),
        (random, ["job", "wage"]),
        (random.pram(["title"], seed=2), ["job", "title"]),
    ):
        assert released(made, columns=["sex", *columns]).certificate


def test_nothing_leaves_without_a_claim():
    with pytest.raises(dk.DiskretError, match="nothing is claimed"):
        microdata().release(keys=KEYS)


def test_numbers_that_nobody_named_cannot_be_replaced():
    md = dk.Microdata(persons(), keys=["sex"])
    for option in ("id", "household"):
        with pytest.raises(dk.DiskretError, match=f"{option}=True needs"):
            released(md, **{option: True})


def test_columns_no_file_can_hold_are_refused():
    frame = persons(3).append_column("parts", pa.array([[1], [2], [3]]))
    with pytest.raises(dk.DiskretError, match=r"'parts' holds list<.*> values"):
        released(dk.Microdata(frame, keys=["sex"]), attributes=["parts"])


def test_a_claim_that_fails_names_rows_of_the_offices_own_file():
    with pytest.raises(dk.DiskretError, match="1 of 60 records .* rows 31;"):
        released(microdata())
    with pytest.raises(dk.DiskretError, match="have a risk above"):
        released(microdata(), RiskBelow(0.001))


def test_identifiers_do_not_leave_under_another_name():
    frame = persons().append_column("alias", persons()["name"])
    with pytest.raises(dk.DiskretError, match="holds the values of the direct identifier 'name'"):
        released(microdata(frame), NoIdentifiers(), attributes=["alias"])


@pytest.mark.parametrize("new", [False, True], ids=["left out", "new numbers"])
def test_numbers_of_records_do_not_leave_under_another_name(new):
    number = persons()["pid"]
    frame = persons().append_column("case", number)
    with pytest.raises(dk.DiskretError, match="'case' holds the values of the direct identifier"):
        released(microdata(frame), NoIdentifiers(), attributes=["case"], id=new)
    other = persons().append_column("case", pa.array([i % 7 for i in range(len(number))]))
    file = released(microdata(other), NoIdentifiers(), attributes=["case"], id=new)
    assert ("pid" in file.public.column_names) == new


def test_levels_bring_their_claims():
    factual = released(claim=None, level="factual")
    assert [type(claim).__name__ for claim in factual.claims] == [
        "NoIdentifiers",
        "RiskBelow",
        "ExpectedBelow",
    ]
    absolute = released(claim=None, level="absolute")
    assert KAnonymity(5) in absolute.claims and LDiversity(2) in absolute.claims
    assert released(claim=None, level="formal").claims == (NoIdentifiers(),)


# ── order and numbers ───────────────────────────────────────────────────────────────


def rows(table):
    return table.to_pylist()


def test_the_same_records_leave_in_another_order():
    made = released()
    kept = protected().table.select(made.table.column_names)
    assert rows(made.table) != rows(kept)
    assert sorted(map(str, rows(made.table))) == sorted(map(str, rows(kept)))
    assert rows(made.table) == rows(kept.take(pa.array(made.order)))


def test_the_order_is_the_offices_secret():
    other = protected().release(KAnonymity(3), keys=dk.SecretKeys(bytes(range(1, 33))))
    assert rows(other.table) != rows(released().table)
    assert rows(released(name="again").table) != rows(released().table)
    assert rows(released().table) == rows(released().table)


@given(st.permutations(range(20)))
def test_the_order_of_the_original_file_has_no_influence(order):
    frame = persons(20)
    made = released(microdata(frame), NoIdentifiers())
    again = released(microdata(frame.take(pa.array(order))), NoIdentifiers())
    assert rows(made.table) == rows(again.table)


def test_the_order_stays_if_asked_and_that_is_said():
    made = released(shuffle=False)
    assert made.order.tolist() == list(range(60))
    said = made.certificate.public()["not_claimed"]
    assert any("in the order of the original file" in text for text in said["en"])
    assert any("Reihenfolge der Ausgangsdatei" in text for text in said["de"])
    assert not any("order" in t for t in released().certificate.public()["not_claimed"]["en"])


def test_new_numbers_keep_who_lives_together_and_nothing_else():
    made = released(id=True, household=True)
    assert made.public.column_names[:2] == ["pid", "hid"]
    old = [protected().table["hid"][at].as_py() for at in made.order]
    new = made.table["hid"].to_pylist()
    assert len(set(zip(old, new, strict=True))) == len(set(old)) == len(set(new)) == 20
    assert not set(old) & set(new)
    assert len(set(made.table["pid"].to_pylist())) == 60
    # neither the order of the numbers nor that of the rows tells of the old numbers
    assert abs(np.corrcoef(old, new)[0, 1]) < 0.5
    assert abs(np.corrcoef(made.order, made.table["pid"].to_numpy())[0, 1]) < 0.5
    assert any("Who lives together" in t for t in made.certificate.public()["not_claimed"]["en"])


def test_a_record_without_household_gets_no_number():
    frame = persons(6).set_column(2, "hid", pa.array([1, 1, None, None, 2, 2]))
    made = released(microdata(frame), NoIdentifiers(), household=True)
    old = [frame["hid"][at].as_py() for at in made.order]
    new = made.table["hid"].to_pylist()
    assert [value is None for value in new] == [value is None for value in old]


def test_the_link_leads_back():
    made = released(id=True, household=True)
    link = made.link.to_pydict()
    original = persons()
    assert link["record"] == list(range(1, 61))
    assert link["original_id"] == [original["pid"][row - 1].as_py() for row in link["row"]]
    assert link["new_household"] == made.table["hid"].to_pylist()


# ── kinds of frames ─────────────────────────────────────────────────────────────────


def test_pandas_keeps_types_and_forgets_everything_else():
    frame = persons().to_pandas().set_index(pd.Index(range(100, 160), name="secret_index"))
    frame["town"] = frame["town"].astype("category")
    frame["sex"] = pd.Categorical(frame["sex"], categories=["m", "f", "x"], ordered=True)
    frame["illness"] = frame["illness"].astype("string")
    frame.attrs["source"] = "register"
    made = released(protected(frame)).public
    assert made.index.equals(pd.RangeIndex(60)) and made.index.name is None and not made.attrs
    assert SECRET_TOWN not in made["town"].cat.categories
    assert list(made["sex"].cat.categories) == ["m", "f"] and made["sex"].cat.ordered
    assert made["illness"].dtype == frame["illness"].dtype
    assert made["income"].dtype == np.float64
    assert made["town"].isna().sum() == 1


def test_large_whole_numbers_with_gaps_stay_exact():
    frame = pd.DataFrame({"a": pd.array([2**60 + 1, None, 2**60 + 1], dtype="Int64")})
    made = released(dk.Microdata(frame, keys=["a"]), NoIdentifiers()).public
    assert made["a"].dtype == "Int64"
    assert sorted(made["a"].dropna().tolist()) == [2**60 + 1] * 2


def test_polars_lists_no_category_that_is_gone():
    frame = pl.DataFrame(persons().to_pydict()).with_columns(
        pl.col("town").cast(pl.Enum(["Süd", SECRET_TOWN, "Nord"])),
        pl.col("sex").cast(pl.Categorical),
    )
    made = released(protected(frame)).public
    assert list(made.schema["town"].categories) == ["Süd", "Nord"]
    assert made.schema["sex"] == pl.Categorical()
    assert made["town"].null_count() == 1


def test_arrow_lists_no_category_that_is_gone_and_drops_metadata():
    frame = persons()
    frame = frame.set_column(3, "town", frame["town"].dictionary_encode())
    frame = frame.replace_schema_metadata({"made": "by the register of " + SECRET_TOWN})
    made = released(protected(frame)).public
    assert pa.types.is_dictionary(made.schema.field("town").type)
    assert SECRET_TOWN not in made["town"].combine_chunks().dictionary.to_pylist()
    assert made.schema.metadata is None


def test_what_is_certified_is_what_leaves_even_if_the_frame_changes_meanwhile():
    frame = persons().to_pandas()
    md = protected(frame)
    made = released(md)
    frame.loc[0, "illness"] = "secret"
    assert "secret" not in made.public["illness"].tolist()


def test_the_microdata_stay_as_they_are():
    md = protected()
    before = md.table
    released(md, id=True, household=True)
    assert md.table is before and [step.verb for step in md.history] == ["local_suppression"]


def test_a_report_names_the_columns_that_changed_whatever_arguments_say():
    """A category may be called like a column that another step changed."""
    records = pa.table({"age": ["a", "b"] * 4, "job": ["x", "y"] * 4})
    md = dk.Microdata(records, keys=["age", "job"])
    made = md.recode("age", groups={"b": "job"}).recode("job", groups={"x": "y"})
    made = made.after({"job": made.table["job"]}, Step("pram", {"variables": ["job"]}))
    assert [step.columns for step in made.history] == [("age",), ("job",), ("job",)]
    made = md.recode("age", groups={"b": "job"})
    made = made.after({"job": made.table["job"]}, Step("pram", {"variables": ["job"]}))
    result = made.release(KAnonymity(2), keys=KEYS)
    assert outline(result).families == {"recoded": ("age",), "randomised": ("job",)}
