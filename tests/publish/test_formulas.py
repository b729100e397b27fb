"""Names and codes that a spreadsheet would run as formulas do not get into CSV files unmarked."""

import warnings

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.io.formulas import formulas, is_formula, with_marks, without_marks
from diskret.publish.formats.data_files import write_internal_csv
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
CODES = ["=HYPERLINK(1)", "@SUM(A1)", "+1-1", "-2+3", "'=2", "-5", "-"]
RUN = CODES[:4]
pieces = st.text(alphabet=["=", "+", "-", "@", "'", "1", ".", "a", "\t", "\r", "＝"], max_size=4)


@given(st.lists(st.tuples(pieces, pieces), max_size=5), pieces, pieces)
def test_marks_can_always_be_taken_away_again(rows, one, other):
    names = [one, other + "x" if one == other else other]
    cells = pa.table([pa.array([row[i] for row in rows], pa.string()) for i in (0, 1)], names)
    marked = with_marks(cells)
    assert not formulas(marked)
    assert without_marks(marked).equals(cells)
    # what is written without marks is read as it is, or was marked all the same
    written = cells if formulas(cells) else marked
    assert without_marks(written).equals(cells)


@given(pieces)
def test_whatever_begins_like_a_formula_is_one_unless_it_is_a_number(text):
    if text[:1] in ("=", "@", "\t", "\r", "＝"):
        assert is_formula(text)
    try:
        float(text)
    except ValueError:
        assert is_formula(text) == (text[:1] in "=@\t\r＝+-" and text not in ("", "+", "-"))
    else:
        assert text[:1] in "\t\r=" or not is_formula(text) or text.strip() != text


def protected():
    cells = pa.table({"=code": CODES, "n": [70, 2, 50, 40, 90, 30, 4]})
    table = dk.Table.from_cells(cells, by={"=code": None}, count="n")
    return dk.suppress(table, dk.rules.MinimumFrequency(3), name="t")


def test_codes_that_would_run_are_warned_of_when_they_are_written(tmp_path):
    with pytest.warns(UserWarning, match=r"t.csv: 5 texts begin like formulas.*neutralise=True"):
        protected().write(tmp_path / "out", keys=KEYS)
    assert "\n=HYPERLINK(1)," in (tmp_path / "out/public/t.csv").read_text("utf-8")
    assert verify(tmp_path / "out", keys=KEYS)


def test_neutralised_files_hold_no_formula_and_are_read_and_verified_exactly(tmp_path):
    result = protected()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.write(tmp_path / "out", ["csv", "xlsx", "html"], keys=KEYS, neutralise=True)
    for path in (tmp_path / "out").glob("*/*.csv"):
        header, *lines = path.read_text("utf-8").splitlines()
        assert header.startswith("'=code,")
        assert not any(is_formula(line.split(",")[0]) for line in lines)
        assert any(line.startswith("''=2,") for line in lines) or "explanations" in path.name
        assert any(line.startswith("-5,") for line in lines) or "explanations" in path.name
    read = dk.Published.read(tmp_path / "out")
    assert [d.hierarchy.codes for d in read.dimensions] == [("Total", *sorted(CODES))]
    assert verify(tmp_path / "out", keys=KEYS)

    book = openpyxl.load_workbook(tmp_path / "out/public/t.xlsx")
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not any(cell.data_type == "f" for cell in cells)
    assert set(RUN) <= {str(cell.value) for cell in cells}


def test_files_of_the_office_are_neutralised_too(tmp_path):
    write_internal_csv(pa.table({"a": ["=1", "b"], "v": [-1, 2]}), tmp_path / "t.csv", True)
    assert (tmp_path / "t.csv").read_text("utf-8") == "a,v\n'=1,-1\nb,2\n"


def test_microdata_are_neutralised_and_verified(tmp_path):
    frame = pa.table(
        {"job": ["=1+1", "=1+1", "\tb", "\tb", None, None], "age": [-1, -1, 2, 2, 3, 3]}
    )
    md = dk.Microdata(frame, keys=["job", "age"])
    result = md.release(dk.claims.KAnonymity(2), name="m")
    with pytest.warns(UserWarning, match="m.csv: 2 texts"):
        result.write(tmp_path / "raw", ["csv"], keys=KEYS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.write(tmp_path / "out", ["csv", "parquet"], keys=KEYS, neutralise=True)
    text = (tmp_path / "out/public/m.csv").read_text("utf-8")
    assert "'=1+1,-1\n" in text and "'\tb,2\n" in text
    for folder in ("raw", "out"):
        assert verify(tmp_path / folder, keys=KEYS)
