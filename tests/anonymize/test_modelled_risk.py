"""What is expected of an attack rests on the larger of two estimates; truth is counted in records
of known populations."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack.microdata import certify
from diskret.errors import ProofError
from diskret.microdata.modelled_risk import modelled
from diskret.publish.verify.folder import verify
from diskret.risk.loglinear import inverse_mean

SECRET = dk.SecretKeys(bytes(range(32)))
KEYS = [f"k{j}" for j in range(5)]


def drawn(seed, size=4_000, persons=200_000, sizes=(12, 9, 8, 7, 6)):
    """A 2 % sample of a population whose keys depend on each other, and the true rate."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(40, persons, p=rng.dirichlet(np.full(40, 0.4)))
    columns = []
    for width in sizes:
        share = rng.dirichlet(np.full(width, 0.35), size=40) * 0.97 + 0.03 / width
        above = rng.random(persons)[:, None] > share.cumsum(1)[kind]
        columns.append(above.sum(1).clip(0, width - 1))
    population = np.stack(columns, 1)
    _, of, number = np.unique(population, axis=0, return_inverse=True, return_counts=True)
    rows = rng.choice(persons, size, replace=False)
    alike = number[of.ravel()[rows]]
    table = {f"k{j}": population[rows, j] for j in range(5)}
    sample = pa.table({**table, "w": np.full(size, persons / size), "alike": alike})
    return sample, float((1 / alike).mean()), int((alike == 1).sum())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_no_rate_is_certified_far_below_the_true_one(seed, tmp_path):
    sample, true, uniques = drawn(seed)
    md = dk.Microdata(sample, keys=KEYS, weight="w")
    assert md.risk().expected / md.n < true / 2  # by weights alone: far too low
    for rate in (true / 2, true * 0.8):
        with pytest.raises(ProofError, match="records are expected to be recognised"):
            md.release(dk.claims.ExpectedBelow(rate), keys=SECRET)
    made = md.release(dk.claims.ExpectedBelow(min(true * 1.25, 1)), keys=SECRET)
    figures = made.certificate.figures["claims"][0]
    assert figures["by_weights"]["population_uniques"] < uniques / 2
    assert figures["by_model"]["population_uniques"] == pytest.approx(uniques, rel=0.35)
    model = md.population_uniques()
    assert figures["by_model"]["population_uniques"] == pytest.approx(model.uniques)
    for language, word in (("en", "larger of two estimates"), ("de", "größere von zwei")):
        assert any(word in line for line in made.certificate.summary(language))
    made.write(tmp_path / "out", formats=["csv"])
    assert "checked again" in str(verify(tmp_path / "out", keys=SECRET))
    item = next(one for one in md.checklist("factual").items if one.name == "risk")
    assert item.state == "missing"


@pytest.mark.parametrize("seed", range(2))
def test_no_risk_of_single_records_is_certified_far_below_the_true_one(seed, tmp_path):
    """Whoever is alone in the sample has one risk by weights, and on average a far larger one."""
    sample, _, _ = drawn(seed)
    md = dk.Microdata(sample.drop_columns("alike"), keys=KEYS, weight="w")
    found = md.risk().records.to_pandas()
    alone = found["sample_frequency"].to_numpy() == 1
    largest = float(found["risk"].max())
    assert (1 / sample["alike"].to_numpy()[alone]).mean() > 2 * largest
    with pytest.raises(ProofError, match="have a risk above"):
        md.release(dk.claims.RiskBelow(largest * 1.01), keys=SECRET)
    made = md.release(dk.claims.RiskBelow(1), keys=SECRET)
    figures = made.certificate.figures["claims"][0]
    assert figures["by_weights"]["largest_risk"] == pytest.approx(largest)
    assert figures["largest_risk"] == figures["by_model"]["largest_risk"] > 2 * largest
    for language, word in (("en", "larger of two estimates"), ("de", "größere von zwei")):
        assert any(word in line for line in made.certificate.summary(language))
    item = next(one for one in md.checklist("factual").items if one.name == "uniques")
    assert item.state == "missing"


def test_verify_fits_the_model_again(tmp_path, monkeypatch):
    sample, true, _ = drawn(1)
    md = dk.Microdata(sample, keys=KEYS, weight="w")
    with monkeypatch.context() as one:  # sabotage: a release that forgets the model
        one.setattr("diskret.anonymize.release.models", lambda *_: {})
        made = md.release(dk.claims.ExpectedBelow(true * 0.7), keys=SECRET)
        assert "weights alone" in made.certificate.summary()[-3] or any(
            "weights alone" in line for line in made.certificate.summary()
        )
        made.write(tmp_path / "out", formats=["csv"])
    with pytest.raises(dk.DiskretError, match="a claim does not hold"):
        verify(tmp_path / "out", keys=SECRET)


def test_the_mean_of_an_inverse_is_that_of_draws():
    rng = np.random.default_rng(5)
    for f, nu in ((1, 0.3), (1, 40.0), (2, 0.0), (5, 3.0), (300, 12_000.0), (3_000, 0.5)):
        drawn_ = (1 / (f + rng.poisson(nu, 200_000))).mean()
        found = inverse_mean(np.array([float(f)]), np.array([nu]))[0]
        assert found == pytest.approx(drawn_, rel=0.01)


def test_files_without_weights_or_a_model_rest_on_what_there_is():
    whole = pa.table({"a": ["x", "x", "y"]})
    assert modelled(whole, ["a"], None) is None
    assert modelled(whole, ["a"], np.ones(3)) is None  # a census
    many = pa.table({f"k{j}": [*range(30)] for j in range(6)})
    found = modelled(many, many.column_names, np.full(30, 9.0))
    assert found is not None and found.risk is None and "combinations" in found.reason
    made = certify("f", many, many.column_names, dk.claims.ExpectedBelow(1), weight=[9.0] * 30)
    assert any("no log-linear model was fitted" in line for line in made.summary())


def test_a_record_with_a_missing_key_keeps_the_risk_by_weights():
    sample, _, _ = drawn(2)
    hidden = np.zeros(len(sample), dtype=bool)
    hidden[:1000] = True
    gaps = sample.set_column(0, "k0", pa.array(sample["k0"].to_numpy(), mask=hidden))
    weight = sample["w"].to_numpy()
    found = modelled(gaps, KEYS, weight)
    by_weights = dk.Microdata(gaps, keys=KEYS, weight="w").risk().records["risk"].to_numpy()
    assert found.risk[:1000] == pytest.approx(by_weights[:1000])
    assert found.risk[1000:].sum() > by_weights[1000:].sum()


def test_the_model_counts_a_told_key():
    """Its name gives a suppressed region back, in which a few are rarer than their weights say."""
    draw = np.random.default_rng(1)
    rare = np.arange(1_500) < 12
    frame = pd.DataFrame(
        {
            "region": np.where(rare, 6, draw.integers(0, 6, 1_500)),
            "sex": draw.integers(0, 2, 1_500),
            "age": draw.integers(0, 20, 1_500),
            "w": 5.0,
        }
    )
    frame["name"] = frame.region
    claim = dk.claims.RiskBelow(0.5)
    md = dk.Microdata(frame, keys=["region", "sex", "age"], weight="w")
    with pytest.raises(ProofError, match="risk above 0.5"):
        md.release(claim, attributes=["name"], keys=SECRET)
    hidden = md.local_suppression(2, importance=["sex", "age", "region"])
    assert hidden.release(claim, keys=SECRET).certificate
    with pytest.raises(ProofError, match="'region' are unknown, and 'name' tells them"):
        hidden.release(claim, attributes=["name"], keys=SECRET)
