"""Samples: who is drawn, with which weights, what is still risky, and what leaves."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from typer.testing import CliRunner

import diskret as dk
from diskret import Microdata
from diskret.attack.microdata import certify
from diskret.cli.main import app
from diskret.errors import InputError, ProofError
from diskret.jobs.microdata import read_microdata_job, run_microdata_job

SECRET = dk.SecretKeys(bytes(range(32)))


def people(n=1000, seed=1, **roles):
    """Persons in households of 1 to 4, in two areas."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n), rng.integers(1, 5, n))[:n]
    table = pa.table(
        {
            "pid": [f"P{at:05}" for at in range(n)],
            "hid": home + 5000,
            "area": np.where(home % 10 == 0, "island", "land"),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
            "age": rng.integers(0, 90, n),
            "income": rng.normal(2000, 500, n).round(),
            "w": rng.choice([5.0, 8.0, 12.5], n),
        }
    )
    given = {"keys": ["area", "sex", "age"], "id": "pid", "numeric": ["income"], **roles}
    return Microdata(table, **given)


# ── who is drawn, and what a record then stands for ──────────────────────────────────


def test_weights_are_the_inverse_of_the_inclusion_probability_exactly():
    md = people()
    drawn = md.sample({"island": 0.5, "land": 0.03}, within="area", seed=1)
    area = np.array(md.table["area"].to_pylist())
    kept = np.array(drawn.table["area"].to_pylist())
    for name in ("island", "land"):
        there, here = (area == name).sum(), (kept == name).sum()
        weight = drawn.weights()[kept == name]
        assert (weight == there / here).all()
        assert weight.sum() == pytest.approx(there, rel=1e-12)
    assert drawn.roles.weight == "weight"


def test_weights_that_are_there_are_multiplied():
    md = people(weight="w")
    drawn = md.sample(0.1, seed=1)
    row = drawn.drawn.rows
    assert np.array_equal(drawn.weights(), md.weights()[row] * md.n / drawn.n)
    assert drawn.roles == md.roles


def test_estimated_totals_are_right_on_average():
    md = people(600, household="hid", weight="w")
    true = (md.weights() * md.numbers(["income"])[:, 0]).sum()
    estimated = []
    for seed in range(200):
        drawn = md.sample(0.2, seed=seed, within="area")
        estimated.append((drawn.weights() * drawn.numbers(["income"])[:, 0]).sum())
    assert abs(np.mean(estimated) - true) < 4 * np.std(estimated) / np.sqrt(200)


@examples(40)
@given(st.lists(st.integers(0, 6) | st.none(), min_size=1, max_size=40), st.data())
def test_households_are_drawn_whole(homes, data):
    table = pa.table({"hid": pa.array(homes, pa.int64()), "row": list(range(len(homes)))})
    md = Microdata(table, keys=["row"], household="hid")
    number = len({h for h in homes if h is not None}) + homes.count(None)
    size = data.draw(st.integers(1, number))
    drawn = md.sample(size=size, seed=data.draw(st.integers(0, 9)))
    rows = set(drawn.table["row"].to_pylist())
    named = {homes[row] for row in rows} - {None}
    assert {row for row, home in enumerate(homes) if home in named} <= rows
    assert len(named) + sum(homes[row] is None for row in rows) == size
    assert (drawn.weights() == number / size).all()


def test_same_seed_same_sample_and_a_second_call_draws_anew():
    md = people()
    first, again, other = (md.sample(0.5, seed=seed) for seed in (1, 1, 2))
    assert first.table.equals(again.table)
    assert not first.table.equals(other.table)
    twice = first.sample(0.5, seed=1)
    assert twice.n == 250
    assert set(twice.drawn.rows) < set(first.drawn.rows)
    assert (twice.drawn.chance == 0.25).all()
    assert (twice.weights() == 4).all()
    assert twice.whole is md


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "parquet"])
def test_records_keep_order_kind_and_index_and_the_original_is_theirs(kind, tmp_path):
    table = people().table
    frame = {
        "pandas": lambda: table.to_pandas().set_index(pd.Index(np.arange(1000) * 2)),
        "polars": lambda: pl.from_arrow(table),
        "arrow": lambda: table,
        "parquet": lambda: pq.write_table(table, tmp_path / "p.parquet") or tmp_path / "p.parquet",
    }[kind]()
    md = Microdata(frame, keys=["area", "sex"], numeric=["income"])
    drawn = md.recode("sex", groups={"x": ["f"]}).sample(0.1, seed=3)
    rows = drawn.drawn.rows
    assert (np.diff(rows) > 0).all()
    made = drawn.frame
    assert list(made["pid"]) == table["pid"].take(rows).to_pylist() or kind in ("arrow", "parquet")
    if kind == "pandas":
        assert made.index.tolist() == (rows * 2).tolist()
    assert set(drawn.table["sex"].to_pylist()) == {"x", "m"}
    assert drawn.original.table["pid"].to_pylist() == table["pid"].take(rows).to_pylist()
    assert drawn.whole.n == 1000
    exchanged = drawn.rank_swap(["income"], seed=1, window=0.5)
    assert exchanged.numeric_risk().linked < 1
    mine = exchanged.numbers(["income"]) != drawn.original.numbers(["income"])
    assert mine.sum() == exchanged.history[-1].found["changed"]["income"]
    assert exchanged.compare().files.original.num_rows == 100


def test_original_records_keep_why_values_are_missing():
    md = people()
    assert {*md.sample(0.3, seed=1).reasons} == {*md.reasons}


# ── what is refused ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "say how many are drawn with one of"),
        ({"rate": 0.1, "size": 3}, "say how many are drawn with one of"),
        ({"rate": 5}, "a number above 0 and at most 1, such as 0.05 for 5 %"),
        ({"rate": 0.0}, "a number above 0"),
        ({"size": 1001}, "size= must be from 1, one for each stratum, to 1,000"),
        ({"size": 1, "within": "area"}, "size= must be from 2, one for each"),
        ({"each": 3}, "each= is a number for each stratum; name the strata"),
        ({"rate": {"land": 0.1}, "within": "area"}, "'island' stands in one of them only"),
        ({"rate": {"land": 0.1}}, "needs one stratification variable"),
        ({"rate": {"land": 0.1, "island": 2}, "within": "area"}, "at most 1, not 2 for 'island'"),
        ({"size": {"land": 1, "island": 900}, "within": "area"}, "units, and size= asks for 900"),
        ({"rate": "income"}, "rates in 'income' are missing or not above 0"),
        ({"rate": "part", "within": "sex"}, "the rates in 'part' differ within a stratum"),
        ({"rate": 0.1, "weight": "income"}, "the new weights cannot be called 'income'"),
        ({"rate": 0.1, "within": "no"}, "'no'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    table = people().table
    part = pa.array(np.where(np.array(table["area"].to_pylist()) == "land", 0.1, 0.5))
    md = Microdata(table.append_column("part", part), keys=["area"])
    with pytest.raises(InputError, match=message):
        md.sample(**{"seed": 1, **arguments})


def test_strata_that_divide_households_are_refused():
    with pytest.raises(InputError, match="within= names 'sex', which differs between members"):
        people(household="hid").sample(0.1, within="sex", seed=1)


def test_a_column_gives_the_rates_of_combinations():
    table = people().table
    part = np.where(np.array(table["area"].to_pylist()) == "land", 0.1, 0.5)
    md = Microdata(table.append_column("part", pa.array(part)), keys=["area"])
    found = md.sample("part", within=["area", "sex"], seed=1).history[0].found["by_stratum"]
    assert {one["stratum"][0]: round(one["drawn"] / one["units"], 1) for one in found} == {
        "land": 0.1,
        "island": 0.5,
    }


def test_fixed_numbers_and_strata_that_have_fewer_are_told():
    md = people()
    step = md.sample(each=50, within="area", seed=1).history[0]
    area = np.array(md.table["area"].to_pylist())
    drawn = {one["stratum"][0]: one["drawn"] for one in step.found["by_stratum"]}
    assert drawn == {"land": 50, "island": 50}
    step = md.sample(each=500, within="area", seed=1).history[0]
    assert step.found["taken_whole"] == {"strata": 1, "records": int((area == "island").sum())}


def test_a_safe_file_is_no_longer_sampled():
    table = pa.table({"a": ["x", "y"] * 20, "b": ["u", "v", "v", "u"] * 10})
    safe = Microdata(table).safe([("a", "b")], seed=1)
    with pytest.raises(InputError, match="do it first"):
        safe.sample(0.5, seed=1)


# ── what an attacker infers who knows the sampling fraction ──────────────────────────


def test_risk_is_the_mean_over_populations_that_the_fraction_allows():
    """With f drawn at a known rate, F = f, f+1, … has the chance C(F-1, f-1) p^f (1-p)^(F-f)."""
    md = people().drop(["hid"]).sample(0.2, seed=5)
    risk = md.risk()
    for f in (1, 2, 3):
        weight, expected = 0.2**f, 0.0
        for size in range(f, 600):
            expected += weight / size
            weight *= 0.8 * size / (size - f + 1)
        at = risk.sample_frequency == f
        assert at.any()
        assert risk.risk[at] == pytest.approx(expected, rel=1e-9)


def populations(rng, cells, most, home=1):
    """Records by cell, so many cells of each size F as are proportional to 1/F (the model)."""
    size = np.arange(1, most + 1)
    chance = (1 / size) / (1 / size).sum()
    number = rng.choice(size, cells, p=chance)
    cell = np.repeat(np.arange(cells), number * home)
    return cell, np.repeat(np.arange(number.sum()), home), number * home


@pytest.mark.parametrize("home", [1, 2])
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_sample_uniques_are_recognised_as_often_as_risk_says(home, rate):
    """Drawn from records; an attacker picks one of the F who fit. `home` = 2: twins."""
    rng = np.random.default_rng(7)
    cell, hid, number = populations(rng, 9000, 400, home)
    md = Microdata(pa.table({"cell": cell, "hid": hid}), keys=["cell"], household="hid")
    drawn = md.sample(rate, seed=1)
    risk = drawn.risk()
    truth = 1 / number[np.array(drawn.table["cell"].to_pylist())]
    for f in (home, 2 * home):  # one household, two of them
        at = risk.sample_frequency == f
        error = np.std(truth[at]) / np.sqrt(at.sum() / home)
        assert abs(truth[at].mean() - risk.risk[at].mean()) < 4 * error
        if home == 2:  # as if twins had been drawn one by one: too low by far
            alone = Microdata(drawn.table, keys=["cell"], weight="weight").risk().risk
            assert alone[at].mean() < truth[at].mean() - 4 * error


def test_a_stratum_that_is_taken_whole_is_as_risky_as_everybody():
    md = people()
    risk_before = md.risk()
    drawn = md.sample({"island": 1, "land": 0.1}, within="area", seed=1)
    risk = drawn.risk()
    island = np.array(drawn.table["area"].to_pylist()) == "island"
    assert np.array_equal(risk.risk[island], risk_before.risk[drawn.drawn.rows[island]])
    assert risk.risk[island].max() == 1
    land = risk.risk[~island & (risk.sample_frequency == 1)]
    assert land.max() < 0.3
    assert risk.certain == island.sum()
    assert any("drawn whole" in one for one in risk.remarks)
    with pytest.raises(ProofError, match="above 0.5"):
        drawn.release(dk.claims.RiskBelow(0.5), keys=SECRET)


def test_everybody_drawn_is_everybody():
    md = people(household="hid")
    assert md.sample(1.0, seed=1).risk().risk == pytest.approx(md.risk().risk, rel=1e-12)


def test_claims_count_households_that_were_drawn_whole_as_one_draw():
    """Twins in a tenth: 0.13 each; as two draws 0.08 would have passed."""
    twins = pa.table({"hid": np.repeat(np.arange(500), 2), "job": np.repeat(np.arange(500), 2)})
    md = Microdata(twins, keys=["job"], household="hid").sample(0.1, seed=1)
    alone = Microdata(md.table, keys=["job"], weight="weight")
    assert alone.risk().largest == pytest.approx(0.0827, abs=1e-4)
    assert md.risk().largest == pytest.approx(0.1279, abs=1e-4)
    options = {"tells_household": ["job"], "keys": SECRET}
    assert alone.release(dk.claims.RiskBelow(0.1), **options)
    with pytest.raises(ProofError, match=r"up to 0\.1279"):
        md.release(dk.claims.RiskBelow(0.1), **options)
    with pytest.raises(ProofError, match=r"up to 0\.1279"):  # also where the column is gone
        md.drop(["hid"]).release(dk.claims.RiskBelow(0.1), **options)
    released = md.release(dk.claims.RiskBelow(0.13), **options)
    assert "0.1279" in " ".join(released.certificate.summary())


@examples(60)
@given(st.integers(0, 10**6), st.sampled_from(["wildcard", "category", "conservative"]))
def test_the_proof_finds_the_risk_of_the_method(seed, missing):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    table = {"hid": np.sort(rng.integers(0, n // 2, n))}
    for name in "ab":
        table[name] = pa.array(rng.integers(0, 3, n), mask=rng.random(n) < 0.2)
    drawn = Microdata(pa.table(table), keys=["a", "b"], household="hid").sample(0.4, seed=seed)
    proven = certify(
        "f",
        drawn.table,
        ["a", "b"],
        dk.claims.RiskBelow(1.0, missing=missing),
        weight=drawn.weights(),
        household=drawn.table["hid"],
        together=True,
    )
    largest = drawn.risk(missing=missing).largest
    assert proven.figures["claims"][0]["largest_risk"] == pytest.approx(largest, rel=1e-9)


# ── what leaves ──────────────────────────────────────────────────────────────────────


def released(md, folder, **options):
    result = md.release(dk.claims.KAnonymity(2), keys=SECRET, **options)
    result.write(folder, formats=["csv", "parquet", "html"])
    return result


def sampled(seed=4711):
    md = people(household="hid")
    table = md.table.append_column("ssn", pa.array([f"ssn-{at}" for at in range(md.n)]))
    md = Microdata(table, **{**md.roles.arguments(), "identifiers": ["ssn"]})
    return md.recode("age", breaks=[0, 30, 60, 120]).sample(0.3, seed=seed).remove_identifiers()


def test_a_release_of_a_sample_is_verified_and_tells_the_share_and_not_who(tmp_path):
    md = sampled().drop(["income"])
    result = released(md, tmp_path, id=True, household=True)
    share = f"{100 * md.n / 1000:.1f} %"
    for language in ("en", "de"):
        said = " ".join(result.certificate.public()["not_claimed"][language])
        assert share.replace(".", {"en": ".", "de": ","}[language]) in said.replace("\xa0", " ")
    assert "households were drawn whole" in " ".join(result.certificate.summary())
    internal = " ".join(result.certificate.internal()["checked"]["en"])
    assert f"Drawn were {md.n} of 1,000 records" in internal
    for path in (tmp_path / "public").iterdir():
        content = path.read_bytes()
        assert b"4711" not in content
        assert b"P000" not in content
        assert b"ssn" not in content
    runner = CliRunner()
    for arguments in ([str(tmp_path)], [str(tmp_path / "public")]):
        done = runner.invoke(app, ["verify", *arguments])
        assert done.exit_code == 0, done.output
    inside = json.loads((tmp_path / "internal" / "microdata.certificate.json").read_text())
    assert inside["households_drawn_whole"] is True


def test_what_leaves_depends_on_who_was_drawn_alone():
    """New numbers and order are those of a file that never held anybody else."""
    md = sampled().drop(["income"])
    options = {"id": True, "household": True, "keys": SECRET}
    claim = dk.claims.KAnonymity(2)
    result = md.release(claim, **options)
    only = Microdata(md.table, **{**md.roles.arguments(), "household": "hid"})
    assert result.table.equals(only.release(claim, **options).table)
    numbers = sorted(result.table["pid"].to_pylist())
    assert numbers == list(range(numbers[0], numbers[0] + md.n))
    homes = sorted({*result.table["hid"].to_pylist()})
    assert homes == list(range(homes[0], homes[0] + len(homes)))
    row = result.link["row"].to_numpy()
    assert abs(np.corrcoef(row, np.arange(md.n))[0, 1]) < 0.2


def test_the_link_leads_to_the_rows_of_the_whole_file():
    md = sampled()
    result = md.release(dk.claims.KAnonymity(1 + 1), id=True, keys=SECRET)
    row = result.link["row"].to_numpy() - 1
    whole = md.whole.table.take(pa.array(row))
    assert result.link["original_id"].to_pylist() == whole["pid"].to_pylist()
    assert result.table["income"].to_pylist() == whole["income"].to_pylist()


def test_numbers_that_tell_a_person_are_found_in_a_sample_too():
    """Compared is with the identifiers of those who were drawn, not of all."""
    md = people(identifiers=["pid"], id=None)
    copied = md.table.append_column("nickname", md.table["pid"])
    md = Microdata(copied, keys=["sex"], identifiers=["pid"]).sample(0.5, seed=1)
    with pytest.raises(ProofError, match="'nickname' holds the values of the direct identifier"):
        md.release(dk.claims.KAnonymity(2), attributes=["nickname"], keys=SECRET)


def test_k_anonymity_is_that_of_the_file_that_leaves():
    md = people().recode("age", breaks=[0, 30, 60, 120])
    assert md.release(dk.claims.KAnonymity(10), keys=SECRET)
    with pytest.raises(ProofError, match="with fewer than 10 records"):
        md.sample(0.05, seed=1).release(dk.claims.KAnonymity(10), keys=SECRET)


# ── history and jobs ─────────────────────────────────────────────────────────────────


def test_a_sample_is_drawn_again_from_history_and_job_file(tmp_path):
    md = people(household="hid")
    drawn = md.sample({"land": 0.3, "island": 0.5}, within="area", seed=3).recode("age", width=45)
    assert drawn.replay(md.frame).table.equals(drawn.table)
    pq.write_table(md.table, tmp_path / "p.parquet")
    job = drawn.save_job(tmp_path / "job.toml", "p.parquet")
    job.write_text(job.read_text().replace("k = 3", "k = 2"))
    _, result = run_microdata_job(read_microdata_job(job), keys=SECRET)
    assert result.microdata.drawn.rows.tolist() == drawn.drawn.rows.tolist()
    assert result.microdata.history[0].arguments == drawn.history[0].arguments
    report = (tmp_path / "out" / "internal" / "microdata.report.html").read_text("utf-8")
    assert "of_households" in report
    settings = json.loads((tmp_path / "out" / "internal" / "microdata.settings.json").read_text())
    assert settings["history"][0]["arguments"]["seed"] == 3
