"""Files of Stata, SPSS and SAS: codes that mean missing, labels from the file to the release."""

import re
import struct

import pandas as pd
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError, ProofError
from diskret.io import source, to_arrow
from diskret.keys import SecretKeys

KEYS = SecretKeys(bytes(range(32)))
LABELS = {"sex": "Geschlecht", "town": "Ort", "age": "Alter", "inc": "Einkommen"}
SEXES = {1: "männlich", 2: "weiblich"}
#: Age 9 is one person's: it will be suppressed, and nobody shall read that somebody was so old.
AGES = {1: "jung", 2: "alt", 9: "Methusalem"}


def persons(missing):
    """16 persons of sex 1, 2 or missing for a reason, and a lonely one."""
    sex = [1, 2] * 6 + [missing] * 4 + [1]
    town = ["Köln", "Köln", "Bonn", "Bonn"] * 4 + ["Köln"]
    age = [1] * 16 + [9]
    income = [100.5 + i for i in range(17)]
    return pd.DataFrame({"sex": sex, "town": town, "age": age, "inc": income})


def stata(folder):
    frame = persons("a")
    frame["inc"] = [*frame["inc"][:-1], "r"]
    pyreadstat.write_dta(
        frame,
        str(folder / "persons.dta"),
        column_labels=LABELS,
        variable_value_labels={
            "sex": {1: "männlich", 2: "weiblich", "a": "keine Angabe"},
            "age": AGES,
        },
        missing_user_values={"sex": ["a"], "inc": ["r"]},
    )
    return folder / "persons.dta"


def spss(folder):
    pyreadstat.write_sav(
        persons(8),
        str(folder / "persons.sav"),
        column_labels=LABELS,
        variable_value_labels={
            "sex": {1: "männlich", 2: "weiblich", 8: "keine Angabe"},
            "age": AGES,
        },
        missing_ranges={"sex": [8], "inc": [{"lo": 116, "hi": 999}]},
    )
    return folder / "persons.sav"


def released(path, formats):
    md = dk.Microdata(path, keys=["sex", "town", "age"], numeric=["inc"])
    result = md.local_suppression(k=2).release(dk.claims.KAnonymity(2), keys=KEYS)
    return result.write(path.parent / "out", formats=formats, keys=KEYS)


def test_codes_that_mean_missing_are_categories_of_keys_and_missing_numbers(tmp_path):
    for path, missing in ((stata(tmp_path), ".a"), (spss(tmp_path), 8)):
        opened = source(path)
        assert opened.arrow.column("sex").to_pylist()[12] == missing
        assert to_arrow(path, ["sex"])[0].column("sex").to_pylist()[12] is None
        md = dk.Microdata(path, keys=["sex", "town"], numeric=["inc"])
        assert md.table_column("inc").to_pylist()[-1] is None
        assert md.table_column("inc").to_pylist()[0] == 100.5


@pytest.mark.parametrize(("write", "missing"), [(stata, ".a"), (spss, "8")])
@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_labels_survive_protection(tmp_path, write, missing, kind):
    folder = released(write(tmp_path), ["csv", kind])
    assert dk.verify(folder, keys=KEYS).checked_internal
    path = folder / "public" / f"microdata.{kind}"
    book = source(path).book
    assert book.labels == LABELS
    assert book.values["sex"] == {"1": "männlich", "2": "weiblich", missing: "keine Angabe"}
    assert book.values["age"] == {"1": "jung"}
    assert b"Methusalem" not in path.read_bytes()


def test_stata_knows_the_codes_that_mean_missing_again(tmp_path):
    folder = released(stata(tmp_path), ["csv", "dta"])
    found, told = pyreadstat.read_dta(str(folder / "public" / "microdata.dta"), user_missing=True)
    assert told.missing_user_values == {"sex": ["a"], "inc": ["r"]}
    assert list(pd.DataFrame(found)["sex"]).count("a") == 4
    plain, _ = pyreadstat.read_dta(str(folder / "public" / "microdata.dta"))
    assert pd.DataFrame(plain)["sex"].isna().sum() >= 4


def numeric_codes(path):
    """Income → how often, of a written file as it says itself."""
    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    found, _ = read(str(path), user_missing=True)
    return [v for v in pd.DataFrame(found)["inc"] if isinstance(v, str) or v != v or v > 900]


@pytest.mark.parametrize("kind", ["dta", "sav"])
def test_why_a_number_is_missing_stays_in_the_record_that_it_is_of(tmp_path, kind):
    """Refused (r, 997), no income (n, 998 to 999), and missing without a word."""
    codes = ["r", "n", "n", None] if kind == "dta" else [997, 998, 999, None]
    frame = pd.DataFrame({"sex": [1, 2] * 6, "inc": [*codes, *(100.5 + i for i in range(8))]})
    path = tmp_path / f"persons.{kind}"
    if kind == "dta":
        labels = {"inc": {"r": "refused", "n": "no income"}}
        pyreadstat.write_dta(
            frame, str(path), missing_user_values={"inc": ["r", "n"]}, variable_value_labels=labels
        )
    else:
        ranges = {"inc": [997, {"lo": 998, "hi": 999}]}
        labels = {"inc": {997: "refused", 998: "no income"}}
        pyreadstat.write_sav(frame, str(path), missing_ranges=ranges, variable_value_labels=labels)
    md = dk.Microdata(path, keys=["sex"], numeric=["inc"])
    assert md.numbers()[4:].min() == 100.5

    def written(made, folder):
        result = made.release(dk.claims.KAnonymity(2), keys=KEYS, shuffle=False)
        out = result.write(tmp_path / folder, ["csv", kind], keys=KEYS)
        assert dk.verify(out, keys=KEYS).checked_internal
        return out / "public" / f"microdata.{kind}"

    noisy = written(md.add_noise(["inc"], seed=1), "noisy")
    assert list(map(str, numeric_codes(noisy)))[:3] == list(map(str, map(_as_read, codes[:3])))
    assert len(numeric_codes(noisy)) == 4
    assert source(noisy).book.values["inc"].keys() == md.book.values["inc"].keys()
    assert [v is None for v in to_arrow(noisy, ["inc"])[0].column("inc").to_pylist()] == (
        [True] * 4 + [False] * 8
    )
    # a value of one record in another one: nobody knows any more why it is missing there
    moved = written(md.rank_swap(["inc"], window=0.5, seed=1), "moved")
    assert all(v != v for v in numeric_codes(moved)) and len(numeric_codes(moved)) == 4
    assert "r" not in str(source(moved).book.values.get("inc", {}).keys())


def _as_read(code):
    return code if isinstance(code, str) else float(code)


def test_a_protected_value_is_never_read_as_a_missing_one(tmp_path):
    """Noise made a value one of the numbers that mean missing: then no number means that."""
    frame = pd.DataFrame({"sex": [1, 2] * 3, "inc": [90.0, 91.0, 92.0, 93.0, 94.0, 116.0]})
    path = tmp_path / "p.sav"
    pyreadstat.write_sav(frame, str(path), missing_ranges={"inc": [{"lo": 95, "hi": 999}]})
    md = dk.Microdata(path, keys=["sex"], numeric=["inc"])
    made = md.add_noise(["inc"], share=9, seed=3)
    assert max(v for v in made.table_column("inc").to_pylist() if v is not None) > 95
    out = made.release(dk.claims.KAnonymity(2), keys=KEYS).write(
        tmp_path / "out", ["csv", "sav"], keys=KEYS
    )
    read = to_arrow(out / "public" / "microdata.sav", ["inc"])[0].column("inc").to_pylist()
    assert read.count(None) == 1


def test_the_guard_reads_why_numbers_are_missing(tmp_path, monkeypatch):
    """Sabotage: a writer that tells another reason."""
    import pyarrow.compute as pc

    from diskret.publish.formats import statistical

    true = statistical.codes_to_write

    def wrong(*given):
        found = true(*given)
        return {name: pc.replace_substring(one, ".r", ".q") for name, one in found.items()}

    monkeypatch.setattr(statistical, "codes_to_write", wrong)
    with pytest.raises(ProofError, match="missing for other reasons"):
        released(stata(tmp_path), ["csv", "dta"])


def test_records_leave_as_a_sas_transport_file(tmp_path):
    """Version 5 if all fits; labels of columns, no labels of codes; always the same bytes."""
    path = spss(tmp_path)
    folder = released(path, ["csv", "xpt"])
    assert dk.verify(folder, keys=KEYS).checked_internal
    written = folder / "public" / "microdata.xpt"
    raw = written.read_bytes()
    assert b"LIBRARY HEADER" in raw[:80] and b"01JAN00:00:00:00" in raw[:640]
    assert source(written).book.labels == LABELS
    assert to_arrow(written)[0].column("inc").to_pylist().count(None) == 1
    again = tmp_path / "again"
    again.mkdir()
    other = released(spss(again), ["csv", "xpt"])
    assert (other / "public" / "microdata.xpt").read_bytes() == raw


@examples(40)
@given(
    st.lists(
        st.tuples(
            st.none() | st.floats(-1e70, 1e70).filter(lambda v: v == 0 or abs(v) > 1e-60),
            st.none() | st.integers(-(2**53), 2**53),
            st.text(st.characters(codec="utf-8", categories=["L", "N"]), max_size=9),
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
)
def test_what_is_written_to_xport_is_read_again(tmp_path_factory, rows, long):
    import pyarrow as pa

    from diskret.io.code_book import CodeBook
    from diskret.publish.contract import Records
    from diskret.publish.formats.statistical import write_statistical
    from diskret.publish.guard.microdata import _statistical

    number, whole, text = map(list, zip(*rows, strict=True))
    table = pa.table(
        {
            "number": pa.array(number, pa.float64()),
            "whole_numbers" if long else "whole": pa.array(whole, pa.int64()),
            "text": pa.array(text, pa.string()),
        }
    )
    book = CodeBook(labels={"number": "Zahl ä"})
    path = tmp_path_factory.getbasetemp() / "x.xpt"
    write_statistical(table, book, path)
    assert (b"LIBV8" in path.read_bytes()[:80]) is long
    assert not list(_statistical(path, Records("x", table, book)))


def test_what_xport_cannot_hold_is_refused_in_words(tmp_path):
    import pyarrow as pa

    from diskret.io.code_book import CodeBook
    from diskret.publish.formats.statistical import write_statistical

    for values, said in (
        (["a ", "b"], "end with a blank"),
        ([1e80, 1.0], "too large or too close to 0"),
        ([2**60, 1], "beyond 2"),
    ):
        with pytest.raises(InputError, match=said):
            write_statistical(pa.table({"v": values}), CodeBook(), tmp_path / "x.xpt")
        assert not (tmp_path / "x.xpt").exists()


def test_spss_knows_the_codes_that_mean_missing_again(tmp_path):
    folder = released(spss(tmp_path), ["csv", "sav"])
    _, told = pyreadstat.read_sav(str(folder / "public" / "microdata.sav"), user_missing=True)
    assert told.missing_ranges["sex"] == [{"lo": 8.0, "hi": 8.0}]


def test_the_same_records_are_the_same_bytes(tmp_path):
    path = stata(tmp_path)
    both = []
    for _ in range(2):
        folder = released(path, ["csv", "dta", "sav"]) / "public"
        both.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert both[0] == both[1]
    assert both[0]["microdata.sav"][92:109] == b"01 Jan 0000:00:00"
    assert b"01 Jan 2000 00:00" in both[0]["microdata.dta"]


def test_the_guard_reads_values_and_labels_back(tmp_path, monkeypatch):
    """Sabotage: a writer that keeps the label of what was suppressed, or a value."""
    from diskret.publish.formats import statistical

    true = statistical.codes
    monkeypatch.setattr(statistical, "codes", lambda values: true(values) | {"9"})
    with pytest.raises(ProofError, match="labels codes of 'age' that do not occur"):
        released(stata(tmp_path), ["csv", "dta"])
    assert not (tmp_path / "out").exists()


def test_a_job_reads_and_writes_stata(tmp_path):
    stata(tmp_path)
    (tmp_path / "job.toml").write_text(
        '[records]\npath = "persons.dta"\n'
        '[roles]\nkeys = ["sex", "town", "age"]\nnumeric = ["inc"]\n'
        '[[steps]]\ndo = "local_suppression"\nk = 2\n'
        '[release]\nformats = ["csv", "dta"]\n[release.claims]\nk_anonymity = { k = 2 }\n'
    )
    from diskret.jobs.microdata import read_microdata_job, run_microdata_job

    folder, _ = run_microdata_job(read_microdata_job(tmp_path / "job.toml"), keys=KEYS)
    assert (folder / "public" / "microdata.dta").exists()


def test_tables_are_made_of_such_files(tmp_path):
    table = dk.tabulate(spss(tmp_path), by={"sex": None})
    assert table.cells.to_pydict()["sex"] == ["Total", "1", "2", "8"]
    pyreadstat.write_xport(persons(8), str(tmp_path / "p.xpt"))
    assert dk.tabulate(tmp_path / "p.xpt", by={"sex": None}).count.tolist() == [17, 7, 6, 4]


@examples(40)
@given(cut=st.integers(1, 10**6), flip=st.integers(0, 255), kind=st.sampled_from(["dta", "sav"]))
def test_damaged_files_are_one_sentence(tmp_path_factory, cut, flip, kind):
    folder = tmp_path_factory.getbasetemp()
    whole = folder / f"persons.{kind}"
    if not whole.exists():
        (stata if kind == "dta" else spss)(folder)
    data = bytearray(whole.read_bytes())
    if flip % 2:
        data = data[: cut % len(data)]
    else:
        data[cut % len(data)] = flip
    damaged = folder / f"damaged.{kind}"
    damaged.write_bytes(bytes(data))
    try:
        source(damaged)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:181] + b"\x80" + raw[182:],  # a text 32,768 characters wide
        lambda raw: raw[:-1].replace(b"\4\0\0\0\1\0\0\0\1\0\0\0", b"\4\0\0\0\1\0\0\0\0\0\0\0"),
        lambda raw: raw.replace(b"\4\0\0\0\1\0\0\0\1\0\0\0", b"\4\0\0\0\1\0\0\0\1\0\1\0"),
    ],
)
def test_a_dictionary_that_contradicts_itself_does_not_end_the_process(tmp_path, damage):
    """Each of these once ended it, in the library that reads these files."""
    path = spss(tmp_path)
    raw = path.read_bytes()
    assert damage(raw) != raw
    path.write_bytes(damage(raw))
    with pytest.raises(InputError, match="contradicts itself near byte"):
        source(path)


def formats_of_text(raw):
    """The first variable, a number, gets the printing format of a text."""
    return raw[:188] + struct.pack("<i", 1 << 16 | 8 << 8) + raw[192:]


def text_with_a_range(raw):
    """A variable that is a text has a range of missing numbers."""
    return raw[:180] + struct.pack("<4i", 8, 0, -2, 1 << 16 | 8 << 8) + raw[196:]


def labels_that_never_end(raw):
    """The first list of labels says that it is as long as can be."""
    at = re.search(b"\3\0\0\0[\1-\5]\0\0\0", raw[176:]).start() + 176
    return raw[: at + 4] + struct.pack("<i", 2**31 - 1) + raw[at + 8 :]


@pytest.mark.parametrize("damage", [formats_of_text, text_with_a_range, labels_that_never_end])
def test_formats_that_contradict_the_variables_are_refused(tmp_path, damage):
    path = spss(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match="persons.sav: is damaged: .* take a copy that is whole"):
        source(path)


@pytest.mark.parametrize("version", [8, 12, 13, 14, 15])
def test_a_file_of_stata_that_claims_more_records_than_bytes_is_refused(tmp_path, version):
    """Room for all of them would be asked for first."""
    path = tmp_path / "persons.dta"
    pyreadstat.write_dta(pd.DataFrame({"age": [1, 2]}), str(path), version=version)
    raw = bytearray(path.read_bytes())
    at, size = (raw.index(b"<N>") + 3, 8 if version > 13 else 4) if version > 12 else (6, 4)
    order = "big" if b"MSF" in raw[:100] or (version <= 12 and raw[1] == 1) else "little"
    raw[at : at + size] = (2**31 - 1).to_bytes(size, order)
    path.write_bytes(raw)
    with pytest.raises(InputError, match="2,147,483,647 records or more, and it has .* bytes"):
        source(path)


def test_a_file_of_spss_that_claims_more_records_than_bytes_is_refused(tmp_path):
    path = spss(tmp_path)
    raw = path.read_bytes()
    path.write_bytes(raw[:80] + struct.pack("<i", 2**31 - 1) + raw[84:])
    with pytest.raises(InputError, match="records or more, and it has .* bytes"):
        source(path)


def test_a_file_of_sas_that_ends_before_its_last_record_is_not_read_as_whole(tmp_path):
    """Its columns of numbers with letters are looked for in the bytes of the records."""
    path = tmp_path / "p.xpt"
    pyreadstat.write_xport(pd.DataFrame({"age": range(500), "n": range(500)}), str(path))
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    assert source(path).arrow.num_rows < 500


def test_names_that_a_format_does_not_take_are_told(tmp_path):
    records = pd.DataFrame({"town": ["a", "b"] * 6, "pay.net": range(12)})
    md = dk.Microdata(records, keys=["town"], numeric=["pay.net"])
    result = md.release(dk.claims.KAnonymity(3), keys=KEYS)
    with pytest.raises(InputError, match=r"columns are called 'pay\.net': rename them"):
        result.write(tmp_path / "out", formats=["csv", "dta"])
    assert not (tmp_path / "out").exists()
