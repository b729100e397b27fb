"""Noise, rank swapping and shuffling of microdata: columns, strata, missing values, history."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from diskret import DiskretError, Microdata, SecretKeys, claims
from diskret.anonymize.verb import VERBS

METHODS = ("additive", "correlated", "restricted", "romm", "outliers")


def firms(n=400, seed=1, **more):
    draw = np.random.default_rng(seed)
    size = np.exp(draw.normal(size=n))
    table = {
        "staff": (size * 20).astype(np.int64) + 1,
        "sales": size * 1e5 * np.exp(0.5 * draw.normal(size=n)),
        "costs": size * 8e4 * np.exp(0.5 * draw.normal(size=n)),
        "region": np.array(["N", "S"])[draw.integers(0, 2, n)],
    }
    return pa.table({**table, **more})


NUMERIC = ["staff", "sales", "costs"]


def microdata(table=None, **roles):
    return Microdata(firms() if table is None else table, **{"numeric": NUMERIC, **roles})


def with_gaps():
    """Records 3, 7 and 8 are not complete."""
    table = firms()
    for name, at in (("staff", 3), ("staff", 7), ("sales", 7), ("costs", 8)):
        values = table[name].to_pylist()
        values[at] = None
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


CALLS = {
    "add_noise": {"method": "restricted", "seed": 1},
    "rank_swap": {"seed": 1},
    "shuffle": {"variables": ["staff", "sales"], "given": ["costs"], "seed": 1},
}


@pytest.mark.parametrize("verb", CALLS)
def test_same_seed_same_result_and_a_second_call_draws_anew(verb):
    md, arguments = microdata(), CALLS[verb]
    made = getattr(md, verb)(**arguments)
    assert made.table.equals(getattr(md, verb)(**arguments).table)
    other = getattr(md, verb)(**{**arguments, "seed": 2})
    assert not made.table.equals(other.table)
    again = getattr(made, verb)(**arguments)
    if verb == "rank_swap":  # the same draws would undo the exchanges
        assert not again.table.equals(md.table)
    assert md.table.equals(firms()) and md.history == ()


@pytest.mark.parametrize("verb", CALLS)
def test_steps_can_be_done_again_from_their_history(verb):
    made = getattr(microdata(strata=["region"]), verb)(**CALLS[verb], strata=["region"])
    assert verb in VERBS
    assert made.replay(firms()).table.equals(made.table)
    step = made.history[0]
    assert step.verb == verb and step.arguments["strata"] == ["region"]
    import json

    assert json.loads(json.dumps(step.found)) == step.found
    assert json.loads(json.dumps(step.arguments)) == step.arguments


@pytest.mark.parametrize("verb", CALLS)
def test_missing_values_stay_missing_and_are_counted(verb):
    md = microdata(with_gaps())
    made = getattr(md, verb)(**CALLS[verb])
    for name in made.changed:
        before, after = (one.table[name].is_null().to_pylist() for one in (md, made))
        assert before == after and sum(after) == {"staff": 2, "sales": 1, "costs": 1}[name]
        assert made.history[0].found["missing"][name] == sum(after)


@pytest.mark.parametrize("method", METHODS[:4])
def test_no_present_value_stays_as_it_is_also_of_incomplete_records(method):
    md = microdata(with_gaps())
    made = md.add_noise(method=method, seed=1, share=0.2)
    before, after = md.numbers(), made.numbers()
    assert ((before != after) | np.isnan(before)).all()
    assert made.history[0].found["changed"] == {"staff": 398, "sales": 399, "costs": 399}
    assert made.history[0].found["incomplete"] == 3
    if method in ("restricted", "romm"):
        complete = ~np.isnan(before).any(axis=1)
        assert np.allclose(np.cov(before[complete].T), np.cov(after[complete].T), rtol=1e-9)


@pytest.mark.parametrize("method", ["restricted", "romm"])
def test_moments_are_kept_in_each_stratum(method):
    md = microdata(strata=["region"])
    made = md.add_noise(method=method, seed=1, share=0.5)
    region = md.table["region"].to_numpy()
    for one in "NS":
        before, after = (x.numbers()[region == one] for x in (md, made))
        assert np.allclose(before.mean(axis=0), after.mean(axis=0), rtol=1e-9)
        assert np.allclose(np.cov(before.T), np.cov(after.T), rtol=1e-9)
    whole = md.add_noise(method=method, seed=1, share=0.5, strata=[])
    inside = whole.numbers()[region == "N"].mean(axis=0)
    assert not np.allclose(inside, md.numbers()[region == "N"].mean(axis=0), rtol=1e-9)


def test_a_stratum_that_is_too_small_is_named():
    table = firms().set_column(3, "region", pa.array(["E"] * 3 + ["N"] * 397))
    md = microdata(table, strata=["region"])
    with pytest.raises(DiskretError, match=r"stratum region = 'E': 3 complete.*strata=\[\]"):
        md.add_noise(method="restricted", seed=1)
    one = firms(3).set_column(3, "region", pa.array(["E", "N", "N"]))
    with pytest.raises(DiskretError, match=r"stratum region = 'E': 1 of 1.*strata=\[\]"):
        microdata(one, strata=["region"]).shuffle("sales", seed=1)


def test_outliers_only_and_as_much_as_is_asked_for():
    md = microdata(firms(3000))
    made = md.add_noise(method="outliers", seed=1, share=0.5)
    added = made.numbers() - md.numbers()
    hit = added.any(axis=1)
    assert made.history[0].found["outliers"] == hit.sum() and 100 < hit.sum() < 1500
    deviation = md.numbers().std(axis=0)
    off = 4 / math.sqrt(2 * hit.sum())
    assert (np.abs(added[hit].std(axis=0) / (0.5 * deviation) - 1) < off).all()


def test_zeros_stay_if_they_mean_that_there_is_none():
    table = firms().set_column(1, "sales", pa.array([0.0] * 100 + [5.0, 7.0] * 150))
    made = microdata(table).add_noise("sales", seed=1, keep_zeros=True)
    after = made.table["sales"].to_numpy()
    assert (after[:100] == 0).all() and (after[100:] != 0).all()
    assert made.history[0].found["changed"] == {"sales": 300}


def test_exchanged_values_keep_type_kind_and_order_of_columns():
    frame = firms().to_pandas()
    frame["staff"] = frame["staff"].astype("int32")
    frame["sales"] = [Decimal(f"{value:.2f}") for value in frame["sales"]]
    frame.index = frame.index + 5
    md = microdata(frame)
    for made in (md.rank_swap(seed=1), md.shuffle(["staff", "sales"], "costs", seed=1)):
        after = made.frame
        assert list(after.columns) == list(frame.columns) and (after.index == frame.index).all()
        assert after["staff"].dtype == np.int32 and isinstance(after["sales"].iloc[0], Decimal)
        for name in NUMERIC:
            assert sorted(after[name]) == sorted(frame[name])


def test_whole_numbers_with_gaps_stay_whole_when_they_are_exchanged():
    frame = pd.DataFrame({"staff": pd.array([1, None, 3, 9], dtype="Int64")})
    made = Microdata(frame, numeric=["staff"]).rank_swap(window=1, seed=1).frame
    assert made["staff"].dtype == "Int64" and made["staff"].isna().tolist()[1]
    assert sorted(made["staff"].dropna()) == [1, 3, 9]


def test_swaps_stay_in_their_stratum():
    md = microdata(strata=["region"])
    made = md.rank_swap(seed=1)
    region = md.table["region"].to_numpy()
    for one in "NS":
        before, after = (np.sort(x.numbers()[region == one], axis=0) for x in (md, made))
        assert (before == after).all()
    assert not (np.sort(md.rank_swap(seed=1, strata=[]).numbers()[region == "N"], axis=0)
                == np.sort(md.numbers()[region == "N"], axis=0)).all()  # fmt: skip


def test_the_window_can_follow_from_a_correlation_or_an_error_of_means():
    md = microdata(firms(5000))
    made = md.rank_swap(correlation=0.9, seed=1)
    for name, reached in made.history[0].found["correlation"].items():
        at = NUMERIC.index(name)
        truly = np.corrcoef(md.numbers()[:, at], made.numbers()[:, at])[0, 1]
        assert reached == pytest.approx(truly, abs=1e-6) and 0.9 <= truly < 0.95
    made = md.rank_swap(mean_error=0.3, seed=1)
    before, after = md.numbers(), made.numbers()
    changes = np.sqrt(np.square(after - before).mean(axis=0))
    assert (changes <= 0.3 * before.mean(axis=0)).all()
    # so means of 100 records drawn at random are off by less than 2 · 0.3 / 10, nearly always
    rows = np.random.default_rng(1).integers(0, 5000, (500, 100))
    off = np.abs(after[rows].mean(axis=1) / before[rows].mean(axis=1) - 1)
    assert (off < 0.06 * before.mean(axis=0) / before[rows].mean(axis=1)).mean() > 0.93


def test_ends_are_averaged_on_request_only_and_keep_the_total():
    md = microdata()
    made = md.rank_swap("staff", top=0.05, bottom=0.1, seed=1)
    before, after = (one.table["staff"].to_numpy() for one in (md, made))
    assert after.sum() == pytest.approx(before.sum(), rel=1e-12)
    assert made.history[0].found["averaged"]["staff"] >= 60
    high = before >= np.sort(before)[-20]
    assert np.allclose(after[high], before[high].mean())
    plain = md.rank_swap("staff", seed=1).table["staff"].to_numpy()
    assert (np.sort(plain) == np.sort(before)).all()


def test_shuffling_by_regression_knows_categories():
    table = firms(4000)
    sales = table["sales"].to_numpy() * np.where(table["region"].to_numpy() == "N", 10, 1)
    table = table.set_column(1, "sales", pa.array(sales))
    md = microdata(table)
    made = md.shuffle("sales", ["region", "costs"], "regression", seed=1)
    north = table["region"].to_numpy() == "N"
    before, after = (np.log(one.table["sales"].to_numpy()) for one in (md, made))
    gap, new = (x[north].mean() - x[~north].mean() for x in (before, after))
    assert abs(new - gap) < 0.1
    found = made.history[0].found
    assert found["deviation"] < 0.03 and 0.5 < found["rank_correlation"]["sales"] < 0.95
    blind = md.shuffle("sales", seed=1).table["sales"].to_numpy()
    assert abs(np.log(blind)[north].mean() - np.log(blind)[~north].mean()) < 0.3


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("add_noise", {"method": "white"}, "method= must be 'additive',.*'white'"),
        ("add_noise", {"share": 0}, "share= must be a number above 0, such as 0.05 for 5 %, not 0"),
        ("add_noise", {"share": 150}, "not 150; write 0.1 for 10 %"),
        ("add_noise", {"share": math.nan}, "not nan"),
        ("add_noise", {"share": math.inf}, "must be a number for method='additive'"),
        ("add_noise", {"method": "romm", "rescale": True}, "rescale= belongs to"),
        ("add_noise", {"method": "romm", "keep_zeros": True}, "keep_zeros= does not go with"),
        ("add_noise", {"rescale": True, "keep_zeros": True}, "keep_zeros= does not go with"),
        ("add_noise", {"quantile": 0.9}, "quantile= belongs to method='outliers'"),
        (
            "add_noise",
            {"method": "outliers", "quantile": 99},
            "quantile= must be a number above 0 and below 1, not 99",
        ),
        ("add_noise", {"seed": -1}, "seed= must be a whole number from 0 upwards, not -1"),
        ("add_noise", {"seed": 1.5}, "seed= must be a whole number from 0 upwards, not 1.5"),
        ("add_noise", {"variables": ["region"]}, "'region' are not numbers"),
        ("add_noise", {"variables": ["sales", "sales"]}, "names column 'sales' twice"),
        ("add_noise", {"variables": []}, "names no column"),
        ("add_noise", {"strata": ["staff"]}, "'staff' cannot be used here and divide"),
        (
            "rank_swap",
            {"window": 5},
            "window= must be a number above 0 and at most 1, such as 0.05 for 5 %, not 5",
        ),
        ("rank_swap", {"window": 0}, "window= must be a number above 0"),
        ("rank_swap", {"top": 5}, "top= must be a number.*0.05 for 5 %, not 5"),
        ("rank_swap", {"top": 0.5, "bottom": 0.5}, "leave no values between"),
        ("rank_swap", {"window": 0.1, "correlation": 0.9}, "window= and correlation= all say"),
        ("rank_swap", {"correlation": 95}, "correlation= must be a number from 0 to below 1"),
        ("rank_swap", {"mean_error": 1e-9}, "'staff': even exchanging"),
        ("rank_swap", {"seed": "1"}, "seed= must be a whole number"),
        ("shuffle", {"variables": "sales", "given": "sales"}, "'sales' cannot be shuffled and be"),
        ("shuffle", {"variables": "sales", "given": "region"}, "'region' are not numbers"),
        ("shuffle", {"variables": "sales", "method": "ds"}, "method= must be 'copula' or"),
        ("shuffle", {"variables": "sales", "strata": ["region"], "given": ["region"]}, "'region'"),
    ],
)
def test_what_makes_no_sense_is_refused(verb, arguments, message):
    with pytest.raises(DiskretError, match=message):
        getattr(microdata(), verb)(**{"seed": 1, **arguments})


def test_too_many_categories_and_no_numeric_variables_are_refused():
    table = firms(town=[f"t{at}" for at in range(400)])
    with pytest.raises(DiskretError, match="400 categories in column 'town'.*takes 100"):
        microdata(table).shuffle("sales", "town", "regression", seed=1)
    with pytest.raises(DiskretError, match="no numeric variable is named"):
        Microdata(firms()).add_noise(seed=1)


def test_infinite_values_are_refused():
    table = firms().set_column(1, "sales", pa.array([math.inf] + [1.0] * 399))
    for verb, arguments in CALLS.items():
        with pytest.raises(DiskretError, match="1 value in 'sales' is infinite"):
            getattr(microdata(table), verb)(**arguments)


def test_reports_tell_noise_by_variable_but_not_how_much(tmp_path):
    md = microdata(keys=["region"]).add_noise("sales", seed=77, share=0.123, method="romm")
    md = md.shuffle("costs", "staff", seed=78)
    made = md.release(claims.NoIdentifiers(), keys=SecretKeys(bytes(range(32))))
    folder = made.write(tmp_path / "out", ["csv", "html"])
    page = (folder / "public" / "microdata.html").read_text(encoding="utf-8")
    assert "Random noise added: sales" in page and "variances may be larger" in page
    told = page.split("How it was protected")[1].split("What to observe")[0]
    assert "costs" in told and "staff" not in told
    for hidden in ("0.123", "romm", "shuffle", "77", "78"):
        assert hidden not in told
