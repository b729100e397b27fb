"""A seed alone draws nothing again, and two files of one job do not share their draws."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import diskret as dk
from diskret.anonymize.variables import chance

Verb = Callable[[dk.Microdata], dk.Microdata]


def persons(n: int = 300) -> pd.DataFrame:
    draw = np.random.default_rng(9)
    frame = pd.DataFrame({"town": draw.choice(["A", "B", "C"], n), "home": np.arange(n) // 2})
    frame["pay"] = draw.lognormal(8, 0.4, n).round()
    return frame


def corrected() -> pd.DataFrame:
    """The next edition: one person's values were wrong."""
    frame = persons()
    frame.loc[5, ["town", "pay"]] = ["A" if frame.town[5] != "A" else "B", frame.pay[5] + 3000]
    return frame


def job(frame: pd.DataFrame, verb: Verb) -> pd.DataFrame:
    return verb(dk.Microdata(frame, keys=["town"], numeric=["pay"])).frame


def test_the_difference_of_two_editions_does_not_tell_the_noise() -> None:
    def noise(md: dk.Microdata) -> dk.Microdata:
        return md.add_noise(["pay"], share=0.2, seed=7)

    true, first, second = persons().pay, job(persons(), noise).pay, job(corrected(), noise).pay
    same = np.arange(len(true)) != 5
    told, noise_ = (second - first)[same], (first - true)[same]
    # were it told, one known value would give all others: they are noise times one number
    assert abs(np.corrcoef(told, noise_)[0, 1]) < 0.9
    pd.testing.assert_series_equal(first, job(persons(), noise).pay)


def test_who_guesses_the_seed_cannot_draw_again() -> None:
    made = job(persons(), lambda md: md.add_noise(["pay"], method="additive", share=0.2, seed=7))
    guessed = np.random.default_rng([7, 0, *b"add_noise\0pay"]).normal(size=len(made))
    assert abs(np.corrcoef(made.pay - persons().pay, guessed)[0, 1]) < 0.5


@pytest.mark.parametrize(
    "verb",
    [
        lambda md: md.pram(["town"], stay=0.5, seed=7),
        lambda md: md.swap(["town"], probability=0.6, seed=7),
        lambda md: md.rank_swap(["pay"], window=0.3, seed=7),
        lambda md: md.shuffle(["pay"], given=["town"], method="regression", seed=7),
    ],
    ids=["pram", "swap", "rank_swap", "shuffle"],
)
def test_other_records_change_in_another_edition(verb: Verb) -> None:
    frames = [(frame, job(frame, verb)) for frame in (persons(), corrected())]
    (old, first), (_, second) = frames
    column = "town" if (first.town != old.town).any() else "pay"
    agree = np.mean(first[column] == second[column])
    assert agree < 0.75


def test_another_sample_is_drawn_of_another_edition() -> None:
    drawn = [
        set(dk.Microdata(frame, keys=["town"], id="no").sample(0.3, seed=7).frame.no)
        for frame in (persons().assign(no=range(300)), corrected().assign(no=range(300)))
    ]
    assert len(drawn[0] & drawn[1]) < 60  # of 90; about 27 are in both by chance


@pytest.mark.long
def test_two_safe_files_do_not_differ_by_the_person_who_came() -> None:
    """With shared draws they differed in her record, and in nothing else."""
    draw = np.random.default_rng(3)
    values = {"town": list("ABCDE"), "sex": ["f", "m"], "age": list("123456")}
    old = pd.DataFrame({name: draw.choice(codes, 200) for name, codes in values.items()})
    new = pd.concat([old, old.iloc[[0]]], ignore_index=True)

    def safe(frame: pd.DataFrame, seed: int = 1) -> pd.Series:
        md = dk.Microdata(frame, keys=list(frame))
        made = md.safe([("town", "sex"), ("sex", "age")], sweeps=1, seed=seed)
        return made.frame.value_counts()

    first = safe(old)
    assert (first.sub(safe(new), fill_value=0) != 0).sum() > 10
    assert first.equals(safe(old.sample(frac=1, random_state=5)))
    assert not first.equals(safe(old, seed=2))


def test_the_kind_of_frame_does_not_matter() -> None:
    frame = persons().assign(
        born=pd.Timestamp("1990-01-01") + pd.to_timedelta(np.arange(300), "D"),
        town=lambda one: one.town.astype("category"),
        pay=lambda one: one.pay.where(one.index != 3),  # whole, and one is missing: float64
        rent=lambda one: one.pay / 7,
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    born = table["born"].cast(pa.timestamp("us")).cast(pa.date32())
    whole = table["pay"].cast(pa.int64())
    table = table.set_column(3, "born", born).set_column(2, "pay", whole)
    table = table.set_column(0, "town", table["town"].cast(pa.string()))
    kinds = [frame, pl.from_pandas(frame), table, duckdb.from_arrow(table)]
    drawn = [chance(dk.Microdata(one), "sample", 7, list(frame)).integers(2**62) for one in kinds]
    assert len({*drawn}) == 1
    frame.loc[8, "rent"] += 1e-9
    assert chance(dk.Microdata(frame), "sample", 7, list(frame)).integers(2**62) != drawn[0]


def test_what_is_no_value_does_not_stop_a_draw() -> None:
    table = pa.table({"a": ["x", "y"], "odd": [[1], [2]], "none": pa.nulls(2)})
    table = table.append_column("for", pa.array([1, 2], pa.duration("s")))
    table = table.append_column("at", pa.array([1, 2], pa.timestamp("s", "Europe/Berlin")))
    chance(dk.Microdata(table), "sample", 7, table.column_names)
