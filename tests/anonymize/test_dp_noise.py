"""Noise with differential privacy: as much as the budget asks for, and said in full."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest

from diskret import Microdata, SecretKeys, claims
from diskret.anonymize.dp_noise import guarantees
from diskret.errors import InputError

BOUNDS = {"income": (0, 1000), "age": (0, 100)}


def persons(n=4000):
    rng = np.random.default_rng(1)
    income = rng.uniform(100, 900, n)
    income[:2] = [-500, 5000]
    ages: list[int | None] = rng.integers(0, 100, n).tolist()
    ages[3] = None
    return pa.table({"income": income, "age": ages, "sex": rng.choice(["f", "m"], n)})


@pytest.fixture
def opendp():
    pytest.importorskip("opendp", reason="optional: OpenDP is not installed")


@pytest.mark.usefixtures("opendp")
def test_laplace_noise_is_as_large_as_the_budget_asks_for():
    md = Microdata(persons())
    made = md.dp_noise(["income", "age"], epsilon=2, bounds=BOUNDS)
    found = made.history[0].found
    assert found["mechanism"] == "laplace" and found["delta"] == 0
    assert 1.999999 < found["epsilon"] <= 2 + 1e-12
    for name, (low, high) in BOUNDS.items():
        before = np.clip(md.numbers([name])[:, 0], low, high)
        noise = made.numbers([name])[:, 0] - before
        noise = noise[~np.isnan(noise)]
        # a budget of 1 for each: scale = width, mean of the absolute noise = scale
        assert abs(np.abs(noise).mean() / (high - low) - 1) < 4 / len(noise) ** 0.5
        assert abs(noise.mean()) < 4 * 2**0.5 * (high - low) / len(noise) ** 0.5
        assert found["by_variable"][name]["deviation"] == pytest.approx(2**0.5 * (high - low))
    assert found["by_variable"]["income"]["clamped"] == 2
    assert made.table.column("age")[3].as_py() is None
    assert found["by_variable"]["age"]["missing"] == 1


@pytest.mark.usefixtures("opendp")
def test_densities_of_neighbours_differ_by_no_more_than_the_budget():
    # the two most different records, each drawn often: the histogram sees the ratio e^ε
    n, epsilon = 15000, 1.0
    drawn = [
        Microdata(pa.table({"x": [value] * n}))
        .dp_noise("x", epsilon=epsilon, bounds={"x": (0, 1)})
        .numbers(["x"])[:, 0]
        for value in (0, 1)
    ]
    shares = [np.array([(x < 0).mean(), (x > 1).mean()]) for x in drawn]
    ratio = shares[0] / shares[1]
    error = 5 / np.sqrt(n * min(s.min() for s in shares))
    assert abs(np.log(ratio[0]) - epsilon) < error and abs(np.log(ratio[1]) + epsilon) < error


@pytest.mark.usefixtures("opendp")
def test_gaussian_noise_covers_all_variables_together():
    md = Microdata(persons(1500))
    made = md.dp_noise(["income", "age"], epsilon=1, delta=1e-6, bounds=BOUNDS)
    found = made.history[0].found
    assert found["mechanism"] == "gaussian"
    assert 0.99 < found["epsilon"] <= 1 and found["delta"] == 1e-6
    alone = md.dp_noise("age", epsilon=1, delta=1e-6, bounds=BOUNDS).history[0].found
    one, both = (each["by_variable"]["age"]["deviation"] for each in (alone, found))
    # 4.53 for (1, 10⁻⁶) by zero-concentrated privacy; two variables: √2 as far
    assert one / 100 == pytest.approx(4.53, abs=0.01)
    assert both == pytest.approx(2**0.5 * one, rel=1e-6)
    noise = made.numbers(["age"])[4:, 0] - md.numbers(["age"])[4:, 0]
    assert abs(noise.std() / both - 1) < 4 / (2 * len(noise)) ** 0.5


@pytest.mark.usefixtures("opendp")
def test_budgets_add_up_and_the_certificate_for_the_office_says_so():
    md = Microdata(persons(300), keys=["sex"], numeric=["income"])
    made = md.dp_noise("income", epsilon={"income": 0.5}, bounds=BOUNDS)
    made = made.dp_noise("age", epsilon=0.25, delta=1e-9, bounds=BOUNDS)
    found = made.history[1].found
    assert found["epsilon_so_far"] == pytest.approx(0.75) and found["delta_so_far"] == 1e-9
    assert json.loads(json.dumps(found)) == found
    certificate = made.release(claims.KAnonymity(3), keys=SecretKeys(bytes(range(32)))).certificate
    told = certificate.internal()["checked"]
    assert any("ε = 0.75 and δ = 1e-09 in all" in text for text in told["en"])
    assert any("ε = 0,75 und δ = 1e-09" in text for text in told["de"])
    # readers see no figure that they could not count again
    assert "ε" not in json.dumps(certificate.public(), ensure_ascii=False)
    assert guarantees(md) == ()


@pytest.mark.usefixtures("opendp")
def test_there_is_no_seed_and_the_step_can_be_done_again():
    md = Microdata(persons(200))
    made = md.dp_noise("income", epsilon=1, bounds=BOUNDS)
    assert made.history[0].arguments == {
        "variables": ["income"],
        "epsilon": 1,
        "bounds": {"income": [0.0, 1000.0]},
    }
    again = made.replay(persons(200))
    assert again.history == made.history and not again.table.equals(made.table)
    seen: list[tuple[str, int, int]] = []
    md.dp_noise("income", epsilon=1, bounds=BOUNDS, progress=lambda *one: seen.append(one))
    assert seen == [("noise", 200, 200)]


def test_a_missing_library_is_named_with_the_way_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    for delta in (None, 1e-6):
        with pytest.raises(InputError, match=r"pip install 'diskret\[dp\]'"):
            Microdata(persons(9)).dp_noise("age", epsilon=1, bounds=BOUNDS, delta=delta)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"variables": []}, "names no column"),
        ({"variables": ["age", "age"]}, "twice"),
        ({"bounds": {}}, "bounds= does not name column 'age'"),
        ({"bounds": {"age": (5, 5)}}, "the lower one first"),
        ({"bounds": {"age": (5, float("inf"))}}, "the lower one first"),
        ({"epsilon": 0}, "must be a number above 0"),
        ({"epsilon": float("inf")}, "must be a number above 0"),
        ({"epsilon": {"sex": 1}}, "exactly those"),
        ({"epsilon": {"age": 1}, "delta": 1e-6}, "one budget together"),
        ({"delta": 1}, "above 0 and below 1"),
        ({"variables": "sex", "bounds": {"sex": (0, 1)}}, "not numbers"),
    ],
)
def test_what_cannot_be_done_is_said(options, says):
    with pytest.raises(InputError, match=says):
        Microdata(persons(9)).dp_noise(
            **{"variables": "age", "epsilon": 1, "bounds": BOUNDS, **options}
        )
