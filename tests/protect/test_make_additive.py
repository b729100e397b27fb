"""Perturbed results made additive: certificate, report, refusals."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import NoiseCertificate
from diskret.attack.certify_changed import certify_additive
from diskret.errors import InputError, ProofError
from diskret.protect.make_additive import make_additive
from diskret.protect.perturbed_result import PerturbedResult
from diskret.tables import Noise, Perturbed
from diskret.tables.perturbed import published_with


@pytest.fixture
def noisy():
    random = np.random.default_rng(8)
    records = pa.table({v: random.choice(list("abcde"), 400) for v in "xy"})
    table = dk.tabulate(records, by={"x": None, "y": None})
    step = random.integers(-2, 3, table.shape) * (table.count > 0)
    noise = Noise.of(np.maximum(table.count + step, 0))
    shown = published_with(table, noise, name="count", changed="cell_key")
    known = Perturbed("noise", largest=2)
    return PerturbedResult(table, NoiseCertificate(shown, (), ()), {"method": "x"}, known)


@pytest.mark.parametrize("method", ["least", "ipf"])
def test_totals_are_sums_and_the_price_is_told(noisy, method):
    assert noisy.published.value[0, 0] != noisy.published.value[1:, 1:].sum()
    result = make_additive(noisy, method=method)
    value = result.published.value
    assert np.array_equal(value[0], value[1:].sum(axis=0))
    assert np.array_equal(value[:, 0], value[:, 1:].sum(axis=1))
    again = np.abs(value - noisy.published.value)
    figures = result.certificate.figures
    assert figures["changed_again"] == (again > 0).sum() > 0
    assert figures["largest_second_change"] == again.max()
    assert figures["added_variance"] == pytest.approx((again**2.0).mean())
    assert result.known.largest == 2 + again.max()
    assert np.abs(result.noise).max() <= result.known.largest
    assert result.published.changed == "cell_key"
    assert result.settings == {"method": "x", "additive": method}


def test_values_in_hundreds_stay_in_hundreds(noisy):
    shown = replace(noisy.published, value=100 * noisy.published.value, rounding=100)
    result = make_additive(replace(noisy, certificate=NoiseCertificate(shown, (), ())))
    plain = make_additive(noisy)
    assert np.array_equal(result.published.value, 100 * plain.published.value)
    assert result.known.largest - 2 == 100 * (plain.known.largest - 2)


def test_the_certificate_says_that_consistency_is_lost(noisy):
    certificate = make_additive(noisy).certificate
    assert "consistency was given up" in certificate.public()["not_claimed"]["en"][0]
    assert "Konsistenz" in certificate.public()["not_claimed"]["de"][0]
    assert any("were changed again" in line for line in certificate.summary())


def test_a_value_that_does_not_add_up_is_caught(noisy):
    result = make_additive(noisy)
    wrong = result.published.value.copy()
    wrong[2, 3] += 1
    with pytest.raises(ProofError, match="do not add up"):
        certify_additive(replace(result.published, value=wrong), noisy.published, noisy.table)


def test_a_zero_that_was_opened_is_caught(noisy):
    result = make_additive(noisy)
    before = noisy.published.value.copy()
    before[2, 3] = 0
    with pytest.raises(ProofError, match="cells were 0 and are not any more"):
        certify_additive(result.published, replace(noisy.published, value=before), noisy.table)


def test_results_that_cannot_be_made_additive_are_refused(noisy):
    rounded = replace(noisy.published, changed="rounding")
    other = replace(noisy, certificate=NoiseCertificate(rounded, (), ()))
    with pytest.raises(InputError, match="method='controlled'"):
        make_additive(other)
    hidden = noisy.table.count < 20
    withheld = replace(noisy.published, suppressed=hidden)
    other = replace(noisy, certificate=NoiseCertificate(withheld, (), ()))
    with pytest.raises(InputError, match="cells are withheld"):
        make_additive(other)
