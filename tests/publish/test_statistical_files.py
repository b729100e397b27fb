"""Anyone compares files of Stata, SPSS and SAS with the released records."""

import datetime
import decimal
import importlib.util
import json
import shutil

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from every_family import KEYS
from sabotage import CERTIFICATE, content, refresh

import diskret as dk
import diskret.publish.verify.microdata as verify_module
from diskret.errors import VerificationError
from diskret.publish.verify.folder import verify

KINDS = ("dta", "sav", "xpt")
WRITE = {
    "dta": pyreadstat.write_dta,
    "sav": pyreadstat.write_sav,
    "xpt": pyreadstat.write_xport,
}


def records():
    """Columns of every type, each value as often as is claimed."""
    day = datetime.date(2024, 2, 29)
    return pa.table(
        {
            "town": ["01", "01", "1e3", "1e3", None, None] * 2,
            "born": [day, day.replace(year=1932), None] * 4,
            "seen": [datetime.datetime(2024, 5, 1, 13, 59), None] * 6,
            "yes": [True, False, None, True] * 3,
            "rate": pa.array([0.1, 2.5, 1e-3, None] * 3, pa.float32()),
            "pay": pa.array([decimal.Decimal("1.10"), decimal.Decimal("-3.25"), None] * 4),
            "many": [2**40 + 1, 7, None] * 4,
        }
    )


def written(folder, formats):
    others = ["born", "seen", "yes", "rate", "pay", "many"]
    md = dk.Microdata(records(), keys=["town"])
    made = md.release(dk.claims.KAnonymity(2), attributes=others, keys=KEYS)
    out = made.write(folder / "out", formats)
    return shutil.copytree(out / "public", folder / "download")


@pytest.mark.parametrize("beside", ["csv", "parquet"])
def test_every_type_is_the_same_in_every_file(tmp_path, beside):
    public = written(tmp_path, (beside, *KINDS))
    [line] = verify(public).lines
    assert "not compared" not in line


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["town", "rate", "many", "yes"])
def test_another_value_is_found(tmp_path, kind, column):
    public = written(tmp_path, ("csv", kind))
    path = public / f"microdata.{kind}"
    read = pyreadstat.read_xport if kind == "xpt" else getattr(pyreadstat, f"read_{kind}")
    frame: pd.DataFrame
    frame, _ = read(str(path))
    names = [*frame.columns]
    values = frame[column].tolist()
    at = next(i for i, value in enumerate(values) if value == value and value not in (None, ""))
    values[at] = "02" if column == "town" else values[at] + 1
    WRITE[kind](frame[names].assign(**{column: values}), str(path))
    refresh(public)
    with pytest.raises(
        VerificationError, match=rf"microdata\.{kind} holds other values of '{column}"
    ):
        verify(public)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_suppressed_does_not_stand_in_another_file(tmp_path, kind):
    public = written(tmp_path, ("csv", kind))
    path = public / f"microdata.{kind}"
    frame = pd.read_csv(public / "microdata.csv", dtype=str)
    assert frame["town"].isna().any()
    WRITE[kind](frame.assign(town=frame["town"].fillna("Secret")), str(path))
    refresh(public)
    with pytest.raises(VerificationError, match=rf"microdata\.{kind} holds other values"):
        verify(public)
    path.write_bytes(b"Nobody can recognise anybody.")
    refresh(public)
    with pytest.raises(VerificationError, match=rf"microdata\.{kind}: cannot be read"):
        verify(public)


def with_reasons(folder):
    """Ages of which some are missing for a reason, with labels."""
    path = folder / "p.sav"
    ages = [20.0, 20, 30, 30, 99, 99, 98, 98] * 2
    pyreadstat.write_sav(
        pd.DataFrame({"age": ages, "sex": [1.0, 2] * 8}),
        str(path),
        missing_ranges={"age": [98.0, 99.0]},
        variable_value_labels={"age": {98.0: "unknown", 99.0: "refused"}, "sex": {1.0: "man"}},
    )
    md = dk.Microdata(path, keys=["sex"], numeric=["age"])
    out = md.release(dk.claims.KAnonymity(2), keys=KEYS).write(folder / "out", ("csv", "sav"))
    return shutil.copytree(out / "public", folder / "download")


def test_a_reason_stands_only_where_the_certificate_says_so(tmp_path):
    public = with_reasons(tmp_path)
    [path] = public.glob(f"*{CERTIFICATE}")
    said = content(path)
    assert any("Why values of age are missing" in one for one in said["not_claimed"]["en"])
    verify(public)
    for language in ("en", "de"):
        said["not_claimed"][language].pop()
    path.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(VerificationError, match=r"microdata\.sav holds other values of 'age'"):
        verify(public)


def test_a_label_of_nothing_is_refused(tmp_path):
    public = with_reasons(tmp_path)
    path = public / "microdata.sav"
    frame, told = pyreadstat.read_sav(str(path), user_missing=True)
    labels = {name: dict(own) for name, own in told.variable_value_labels.items()}
    labels["sex"][3.0] = "somebody"
    ranges = {"age": [98.0, 99.0]}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, missing_ranges=ranges)
    refresh(public)
    with pytest.raises(VerificationError, match="labels codes of 'sex' that do not occur"):
        verify(public)


def test_what_cannot_be_read_is_said_not_to_be_compared(tmp_path, monkeypatch):
    public = written(tmp_path, ("csv", "dta"))
    found = importlib.util.find_spec
    monkeypatch.setattr(
        verify_module, "find_spec", lambda name: None if name == "pyreadstat" else found(name)
    )
    [line] = verify(public).lines
    assert "microdata.dta not compared, because pyreadstat is not installed" in line
