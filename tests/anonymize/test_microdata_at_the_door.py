"""What newcomers bring: odd columns, sensitive numbers, releases with keys of their own."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError, VerificationError
from diskret.publish.verify.folder import verify

SECRET = dk.SecretKeys(bytes(range(32)))


@pytest.fixture
def stata(tmp_path):
    """A Stata file whose variable `health` has a label for some of its values only."""
    frame = pd.DataFrame({"age": [30, 30, 41, 41], "health": [1, 2, 9, 1]})
    labels = {"health": {1: "good", 9: "refused"}}
    frame.to_stata(tmp_path / "s.dta", value_labels=labels, write_index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.read_stata(tmp_path / "s.dta")


def test_a_column_nobody_needs_does_not_stop_the_file(stata):
    with pytest.warns(UserWarning, match="column 'health' holds values of several types"):
        md = dk.Microdata(stata, keys=["age"])
    assert list(md.frame.columns) == ["age"]
    for role in ({"keys": ["health"]}, {"sensitive": "health"}, {"numeric": ("health",)},
                 {"weight": "health"}, {"id": "health"}, {"keys": "age", "orders": {"health": [1]}},
                 {"keys": ["age"], "followers": {"age": ["health"]}}):  # fmt: skip
        with pytest.raises(InputError, match="'health' of the pandas frame cannot be converted"):
            dk.Microdata(stata, **role)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dk.Microdata(stata.drop(columns="health"), keys=["age"])


def test_a_number_may_be_known_and_sensitive():
    income = [1.5, 2.5, 3.5, 1.5, 2.5, 3.5]
    table = pa.table({"town": list("aaabbb"), "income": income})
    md = dk.Microdata(table, keys=["town"], numeric=["income"], sensitive=["income"])
    assert md.anonymity().diversity == 3
    made = md.release([dk.claims.LDiversity(3), dk.claims.TCloseness(0.1, ordered=True)],
                      keys=SECRET)  # fmt: skip
    said = " ".join(made.certificate.summary())
    assert "Numeric variables were not judged" in said and "different values of income" in said
    assert md.add_noise(["income"], seed=1).numeric_risk()
    assert md.checklist("absolute").items
    assert made.table.column_names == ["town", "income"]


def test_a_release_with_a_key_of_its_own_is_verified(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))  # an office without a key file
    monkeypatch.delenv("DISKRET_KEYS", raising=False)
    md = dk.Microdata(pa.table({"town": ["a"] * 3}), keys=["town"])
    made = md.release(dk.claims.KAnonymity(3), keys=SECRET).write(tmp_path / "out", ["csv"])
    # claims are checked nevertheless
    assert "fingerprint not checked without the key" in str(verify(made))
    assert "fingerprint confirmed" in str(verify(made, keys=SECRET))
    with pytest.raises(VerificationError, match="this is not the key"):
        verify(made, keys=dk.SecretKeys(bytes(range(1, 33))))


def test_groups_around_far_records_heed_the_scale():
    rng = np.random.default_rng(7)
    table = pa.table({"a": rng.normal(size=60), "b": 1000 * rng.normal(size=60)})
    md = dk.Microdata(table, numeric=["a", "b"])

    def made(**options):
        return md.microaggregate(["a", "b"], method="rmd", k=3, **options).table["b"].to_numpy()

    def lost(shown):
        return ((shown - table["b"].to_numpy()) ** 2).sum()

    assert np.array_equal(made(), made(scale=True))
    # as they are, numbers are near if b is, a thousand times as large
    assert lost(made(scale=False)) < lost(made()) / 2
