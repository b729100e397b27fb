"""Codes that mean missing, of a file of SPSS, Stata or SAS: no verb takes one for a value."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.io import source
from diskret.keys import SecretKeys

KEYS = SecretKeys(bytes(range(32)))
#: Of ten ages two are missing, refused (99) and not known (98); of ten incomes one (-9).
AGES = [20, 25, 31, 38, 42, 99, 57, 63, 98, 81]
INCOMES = [1200.0, 1500.0, 1800.0, 2100.0, -9.0, 2600.0, 2900.0, 3300.0, 4100.0, 9000.0]
REFUSED = np.array([age >= 98 for age in AGES])


@pytest.fixture
def persons(tmp_path):
    """Microdata of a .sav file; `age` is a key, `income` has no role."""
    path = tmp_path / "persons.sav"
    frame = pd.DataFrame({"age": AGES, "income": INCOMES, "sex": [1, 2] * 5})
    pyreadstat.write_sav(
        frame.astype(float),
        str(path),
        missing_ranges={"age": [98, 99], "income": [-9]},
        variable_value_labels={"age": {98: "not known", 99: "refused"}, "income": {-9: "refused"}},
    )
    return dk.Microdata(path, keys=["age", "sex"])


@pytest.fixture
def tagged(tmp_path):
    """The same of Stata: `.a` is refused, `.b` not known."""
    path = tmp_path / "persons.dta"
    ages = [{99: "a", 98: "b"}.get(age, age) for age in AGES]
    incomes = ["a" if one < 0 else one for one in INCOMES]
    pyreadstat.write_dta(
        pd.DataFrame({"age": ages, "income": incomes, "sex": [1, 2] * 5}),
        str(path),
        missing_user_values={"age": ["a", "b"], "income": ["a"]},
        variable_value_labels={"age": {"a": "refused", "b": "not known"}},
    )
    return dk.Microdata(path, keys=["age", "sex"])


def column(md, name="age"):
    return md.table_column(name).to_pylist()


RECODED = {
    "breaks": {"breaks": [0, 40, 60, float("inf")]},
    "method": {"method": "equal_width", "classes": 3},
    "top": {"top": 60},
    "bottom": {"bottom": (30, "≤ 30")},
    "both": {"top": (60, "≥ 60"), "bottom": 30},
    "width": {"width": 20},
}


@pytest.mark.parametrize("way", RECODED)
def test_recoding_leaves_codes_that_mean_missing_where_they_are(persons, tagged, way):
    for md, codes in ((persons, ["99", "98"]), (tagged, [".a", ".b"])):
        made = [str(value) for value in column(md.recode("age", **RECODED[way]))]
        assert [made[5], made[8]] == codes
        assert not {*codes} & {value for at, value in enumerate(made) if not REFUSED[at]}


def test_classes_are_those_of_the_values(persons):
    made = persons.recode("age", method="equal_width", classes=2)
    # of 20 to 81, not of 20 to 99
    assert column(made) == ["< 51"] * 5 + ["99", "≥ 51", "≥ 51", "98", "≥ 51"]
    top = persons.recode("age", top=(60, "≥ 60"))
    assert column(top) == ["20", "25", "31", "38", "42", "99", "57", "≥ 60", "98", "≥ 60"]
    assert column(persons.recode("age", width=20))[5:9] == [99, 60, 60, 98]
    # a second recoding knows them again among the names of classes
    assert column(top.recode("age", groups={"30-42": ["31", "38", "42"]}))[5] == "99"


def test_no_value_may_become_a_code_that_means_missing(persons):
    with pytest.raises(InputError, match="would become 98, which means missing there"):
        persons.recode("age", top=(60, 98))


def test_a_tree_decides_for_the_codes_that_it_has_and_leaves_the_others(persons):
    leaves = [age for age in AGES if age < 98]
    tree = dk.Hierarchy.from_widths(leaves, [20])
    made = column(persons.recode("age", hierarchy=tree, level=1))
    assert made == ["20-39"] * 4 + ["40-59", "99", "40-59", "60-79", "98", "80-99"]
    parents = {str(age): "known" for age in leaves} | {"known": "All", "98": "none", "99": "none"}
    whole = dk.Hierarchy.from_parents(
        {"code": [*parents, "none"], "parent": [*parents.values(), "All"]}
    )
    assert column(persons.recode("age", hierarchy=whole, level=1))[5] == "none"


@pytest.mark.parametrize("levels", [[20, 80], [[0, 40, 60, 100], [0, 60, 100]]])
def test_generalised_keys_keep_them_on_all_levels_but_the_highest(persons, tagged, levels):
    for md, codes in ((persons, ["99", "98"]), (tagged, [".a", ".b"])):
        made = md.generalise({"age": levels}, k=2, keys=["age"], suppression=0.4)
        shown = made.table_column("age").to_pylist()
        assert made.history[0].found["levels"]["age"] < len(levels) + 1
        assert {shown[5], shown[8]} <= {None, *codes}
        top = md.generalise({"age": levels}, k=10, keys=["age"])
        assert set(column(top)) == {"Total"}


def test_the_assistant_tries_no_class_that_holds_them(persons, tagged):
    import json

    for md in (persons, tagged):
        for row in md.recode_candidates(k=2).to_pylist():
            arguments = json.loads(row["arguments"])
            assert not {"98", "99", ".a", ".b"} & {
                str(one) for group in arguments.get("groups", {}).values() for one in group
            }
            made = md.recode(**arguments)
            after = made.risk()
            assert int((after.sample_frequency < 2).sum()) == row["below_k"]


def test_an_order_has_no_place_for_them(persons, tagged):
    for md in (persons, tagged):
        before = column(md)
        for made in (
            md.microaggregate([], k=2, method="gower", ordinal=["age"]),
            md.pram("age", seed=1, stay=0.1, band=1),
        ):
            after = column(made)
            assert [after[5], after[8]] == [before[5], before[8]]
            others = [value for at, value in enumerate(after) if not REFUSED[at]]
            assert not {before[5], before[8]} & {*others}
            assert others != [value for at, value in enumerate(before) if not REFUSED[at]]


CHANGED = {
    "noise": lambda md: md.add_noise(["income"], share=0.1, seed=1),
    "correlated": lambda md: md.add_noise(["income", "age"], method="correlated", seed=1),
    "romm": lambda md: md.add_noise(["income"], method="romm", seed=1),
    "outliers": lambda md: md.add_noise(["income", "age"], method="outliers", seed=1),
    "microaggregation": lambda md: md.microaggregate(["income"], k=3),
    "ranks": lambda md: md.rank_swap(["income"], window=0.3, seed=1),
    "ends": lambda md: md.rank_swap(["income"], window=0.3, bottom=0.2, top=0.2, seed=1),
    "shuffle": lambda md: md.shuffle(["income"], ["age"], seed=1),
    "top": lambda md: md.top_code("income", limit=3000, k=3),
    "bottom": lambda md: md.top_code("income", limit=1600, bottom=True, k=2),
}


@pytest.mark.parametrize("verb", CHANGED)
def test_numbers_are_changed_without_them(persons, tagged, verb):
    """The same result as with gaps in place of the codes."""
    plain = dk.Microdata(
        pd.DataFrame(
            {
                "age": [None if age >= 98 else age for age in AGES],
                "income": [None if one < 0 else one for one in INCOMES],
                "sex": [1, 2] * 5,
            }
        ),
        keys=["sex"],
    )
    wanted = CHANGED[verb](plain)
    for md in (persons, tagged):
        made = CHANGED[verb](md)
        assert made.numbers(["income"]) == pytest.approx(wanted.numbers(["income"]), nan_ok=True)
        assert column(made, "income")[4] is None
        assert made.reasons["income"].to_pylist()[4] in ("-9", ".a")
        assert md.numbers(["income"])[4, 0] != -9  # and these are as they were


def test_measures_take_them_for_missing(persons):
    made = persons.add_noise(["income"], share=0.1, seed=1)
    assert made.numeric_risk(["income"]).incomplete == 1
    found = persons.compare(made, numeric=["income"], categorical=[])
    assert (
        found.files.numbers(["income"])[0].min() == 1200
        or np.isnan(found.files.numbers(["income"])[0]).any()
    )
    for value in found.files.numbers(["income"]):
        assert np.isnan(value[4, 0]) and not (value[:, 0] == -9).any()
    moved = persons.swap("sex", probability=1, seed=1, ranges={"age": {"from": 0, "to": 200}})
    assert moved.history[0].found["outside"]["age"] == 2


def test_files_that_are_compared_have_them_missing(persons, tmp_path):
    path = tmp_path / "persons.sav"
    from diskret.utility import compare

    found = compare(path, path, numeric=["income"], categorical=["age"])
    assert np.isnan(found.files.numbers(["income"])[0][4, 0])


def test_keys_count_them_as_categories(persons):
    """Refused tells something of a person: it is seen, counted and suppressed."""
    assert persons.keys(["age"]).columns[0].categories.to_pylist()[-2:] == [98, 99]
    assert column(persons.local_suppression(k=2))[5] is None


def written(result, tmp_path, *formats):
    tmp_path.mkdir(exist_ok=True)
    folder = result.write(tmp_path / "out", ["csv", *formats], keys=KEYS)
    assert dk.verify(folder, keys=KEYS).checked_internal
    return folder / "public"


def test_recoded_keys_leave_with_their_codes(persons, tagged, tmp_path):
    for at, (md, kind, codes) in enumerate(
        ((persons, "sav", ["98", "99"]), (tagged, "dta", [".a", ".b"]))
    ):
        recoded = md.recode("age", breaks=[0, 200]).recode("sex", groups={"1": ["1", "2"]})
        result = recoded.release(
            dk.claims.RiskBelow(1.0), columns=["age", "sex"], keys=KEYS, shuffle=False
        )
        out = written(result, tmp_path / str(at), kind, "xpt")
        found = source(out / f"microdata.{kind}")
        shown = found.arrow.column("age").to_pylist()
        assert sorted(set(shown)) == sorted({"0-199", *codes})
        if kind == "sav":
            assert found.book.texts["age"] == frozenset(codes)
            assert found.book.values["age"] == {"98": "not known", "99": "refused"}


def test_numbers_without_a_role_leave_with_their_reasons(persons, tagged, tmp_path):
    for at, (md, kind, code) in enumerate(((persons, "sav", "-9"), (tagged, "dta", ".a"))):
        made = md.add_noise(["income"], share=0.1, seed=1)
        options = {"columns": ["sex"], "attributes": ["income"], "shuffle": False}
        result = made.release(dk.claims.RiskBelow(1.0), keys=KEYS, **options)
        out = written(result, tmp_path / str(at), kind)
        opened = source(out / f"microdata.{kind}")
        assert opened.arrow.column("income").cast(pa.string()).to_pylist()[4] in (code, "-9.0")
        assert opened.numbers["income"].null_count == 1


def test_weights_of_other_files_are_no_codes(tmp_path):
    """A population whose counts are missing for a reason is refused, not counted with -9."""
    path = tmp_path / "population.sav"
    frame = pd.DataFrame({"sex": [1.0, 2.0], "n": [90.0, -9.0]})
    pyreadstat.write_sav(frame, str(path), missing_ranges={"n": [-9]})
    md = dk.Microdata(pa.table({"sex": [1, 2, 2]}), keys=["sex"])
    with pytest.raises(InputError):
        md.risk(population=path, count="n")


# ── SAS ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("long", [False, True])
def test_special_missing_values_of_sas_are_read_kept_and_written(tmp_path, long):
    """As SAS writes them: a letter, and seven bytes of nothing."""
    name = "income_of_the_household" if long else "income"
    path = tmp_path / "p.xpt"
    frame = pd.DataFrame({"sex": [1.0, 2.0] * 3, name: [1.5, None, 2.0, None, None, 0.0]})
    pyreadstat.write_xport(frame, str(path), file_format_version=8 if long else 5)
    raw = path.read_bytes()
    gap = b".\0\0\0\0\0\0\0"
    assert raw.count(gap) == 3
    for letter in (b"R", b"_"):
        raw = raw.replace(gap, letter + gap[1:], 1)
    path.write_bytes(raw)
    opened = source(path)
    assert opened.arrow.column(name).to_pylist() == ["1.5", ".r", "2", "._", None, "0"]
    md = dk.Microdata(path, keys=["sex"], numeric=[name])
    assert column(md, name) == [1.5, None, 2, None, None, 0]
    result = md.add_noise(share=0.1, seed=1).release(
        dk.claims.KAnonymity(3), keys=KEYS, shuffle=False
    )
    out = written(result, tmp_path, "xpt", "dta")
    again = source(out / "microdata.xpt")
    assert again.arrow.column(name).to_pylist()[1::2] != [None] * 3
    assert again.arrow.column(name).to_pylist()[1] == ".r"
    assert again.arrow.column(name).to_pylist()[3] == "._"
    stata = source(out / "microdata.dta").arrow.column(name).to_pylist()
    assert stata[1] == ".r" and stata[3] is None  # Stata has no ._


def test_zeros_and_letters_are_told_apart(tmp_path):
    """Numbers whose first byte is that of a letter, 0.5 to 2**200, are no missing ones."""
    numbers = [16.0**power for power in range(-2, 24)]
    path = tmp_path / "p.xpt"
    pyreadstat.write_xport(pd.DataFrame({"x": numbers}), str(path))
    assert source(path).arrow.column("x").to_pylist() == numbers


def test_a_key_of_sas_keeps_its_codes(tmp_path):
    path = tmp_path / "p.xpt"
    pyreadstat.write_xport(pd.DataFrame({"age": [1.0, 1.0, None, None]}), str(path))
    path.write_bytes(path.read_bytes().replace(b".\0\0\0\0\0\0\0", b"Z\0\0\0\0\0\0\0"))
    md = dk.Microdata(path, keys=["age"])
    assert column(md) == ["1", "1", ".z", ".z"]
    result = md.release(dk.claims.KAnonymity(2), keys=KEYS, shuffle=False)
    out = written(result, tmp_path, "xpt")
    assert source(out / "microdata.xpt").arrow.column("age").to_pylist() == ["1", "1", ".z", ".z"]


@pytest.mark.parametrize(
    ("language", "said"), [("en", "the reasons stand"), ("de", "Die Gründe stehen")]
)
def test_the_certificate_says_which_files_tell_why_values_are_missing(
    persons, tmp_path, language, said
):
    import json

    noisy = persons.add_noise(["income"], share=0.1, seed=1)
    options = {"columns": ["sex"], "attributes": ["income"]}
    result = noisy.release(dk.claims.RiskBelow(1.0), keys=KEYS, **options)
    for formats, told in ((["csv", "html"], False), (["csv", "html", "sav", "dta"], True)):
        folder = tmp_path / ("told" if told else "plain")
        public = result.write(folder, formats, language=language, keys=KEYS) / "public"
        written_ = json.loads((public / "microdata.certificate.json").read_text())
        [sentence] = [s for s in written_["not_claimed"][language] if said in s] or [""]
        assert ("income" in sentence and ".sav" in sentence) is told
        assert ".dta" not in sentence  # which cannot hold a number as a reason
        assert (said in (public / "microdata.html").read_text()) is told
        assert dk.verify(folder, keys=KEYS).checked_internal


def test_safe_adds_none_of_them_up(tmp_path):
    """A number that means "not known" would count 99 persons in a dwelling."""
    path = tmp_path / "dwellings.sav"
    rooms = [1.0, 2.0] * 12
    persons = [2.0] * 23 + [99.0]
    frame = pd.DataFrame({"rooms": rooms, "persons": persons})
    pyreadstat.write_sav(frame, str(path), missing_ranges={"persons": [99]})
    tables = {"": ["rooms"], "persons": ["rooms"]}
    for roles in ({}, {"keys": ["rooms", "persons"]}):
        with pytest.raises(InputError, match="'persons', which is to be counted, are missing"):
            dk.Microdata(path, **roles).safe(tables, sweeps=1)
    there = frame.assign(persons=[2.0] * 23 + [5.0])
    pyreadstat.write_sav(there, str(path), missing_ranges={"persons": [99]})
    made = dk.Microdata(path, keys=["rooms", "persons"]).safe(tables, sweeps=60)
    assert set(column(made, "persons")) <= {2, 5}


# ── all letters ─────────────────────────────────────────────────────────────────────────


LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]


@pytest.mark.parametrize("version", [8, 12, 13, 14, 15])
def test_each_letter_of_stata_is_a_category_of_its_own(tmp_path, version):
    """Counted from the records: .a agrees with .a, and what is just missing with all."""
    sex = [1, 2, 1, 2, *(one for at, one in enumerate(LETTERS) for _ in range(2 + at % 2)), None]
    frame = pd.DataFrame({"sex": pd.Series(sex, dtype=object), "town": "x"})
    labels = {"sex": {1: "m", 2: "f", **{one: f"reason {one}" for one in LETTERS}}}
    pyreadstat.write_dta(
        frame,
        str(tmp_path / "p.dta"),
        version=version,
        missing_user_values={"sex": LETTERS},
        variable_value_labels=labels,
    )
    md = dk.Microdata(tmp_path / "p.dta", keys=["sex", "town"])
    shown = [f".{one}" if one in LETTERS else one and str(one) for one in sex]
    assert column(md, "sex") == shown
    alike = [len(sex) if one is None else shown.count(one) + 1 for one in shown]
    assert md.risk().sample_frequency.tolist() == alike
    apart = md.risk(missing="category").sample_frequency.tolist()
    assert apart == [shown.count(one) for one in shown]
    assert set(md.numbers(["sex"])[:4, 0]) == {1, 2} and np.isnan(md.numbers(["sex"])[4:]).all()
    made = md.local_suppression(k=4)
    left = column(made, "sex")
    assert all(one in (None, was) for one, was in zip(left, shown, strict=True))
    assert {one for one in left if one} == {one for one in shown if one and shown.count(one) >= 3}
    result = md.release(dk.claims.KAnonymity(2), keys=KEYS, shuffle=False)
    out = written(result, tmp_path, "dta", "xpt")
    for kind in ("dta", "xpt"):
        assert source(out / f"microdata.{kind}").arrow.column("sex").to_pylist() == shown
    known = source(out / "microdata.dta").book.values["sex"]
    assert known == {"1": "m", "2": "f", **{f".{one}": f"reason {one}" for one in LETTERS}}


def test_texts_of_one_letter_are_no_letters_of_stata(tmp_path):
    """Labels of A and B were taken for those of .a and .b, and lost."""
    path = tmp_path / "p.sav"
    labels = {"branch": {"A": "farming", "B": "mining"}}
    frame = pd.DataFrame({"branch": ["A", "B"] * 3})
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)
    md = dk.Microdata(path, keys=["branch"])
    assert md.book.values["branch"] == {"A": "farming", "B": "mining"}
    out = written(md.release(dk.claims.KAnonymity(3), keys=KEYS), tmp_path, "sav")
    assert source(out / "microdata.sav").book.values["branch"] == labels["branch"]


def test_a_letter_that_only_a_label_knows_stays_one(tmp_path):
    path = tmp_path / "p.dta"
    frame = pd.DataFrame({"sex": [1, 2, 1, 2]})
    labels = {"sex": {1: "m", "a": "refused"}}
    tags = {"sex": ["a"]}
    pyreadstat.write_dta(frame, str(path), missing_user_values=tags, variable_value_labels=labels)
    assert source(path).book.values["sex"] == {"1": "m", ".a": "refused"}
