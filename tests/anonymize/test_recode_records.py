"""The caller's records become coarser as asked; the step says how, and can be done again."""

import json
import math
import tomllib
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diskret import DiskretError, Hierarchy, Microdata

AREAS = Hierarchy.from_prefix(["011", "012", "02"], (2, 1))


def persons():
    return pa.table(
        {
            "name": ["Ann", "Bob", "Cleo", "Dan"],
            "age": [31, 84, None, 38],
            "job": ["cook", "judge", None, "baker"],
            "area": ["011", "02", "012", "02"],
            "income": [1234.5, 2345.6, 99.9, 100_000.0],
            "born": [date(1993, 5, 1), date(1940, 1, 31), None, date(1986, 12, 24)],
        }
    )


def microdata(frame=None):
    return Microdata(
        persons() if frame is None else frame,
        keys=["age", "job", "area"],
        numeric=["income"],
        identifiers=["name"],
    )


WAYS = {
    "groups": ("job", {"groups": {"food": ["cook", "baker"]}, "missing": "none"}),
    "old to new": ("job", {"groups": {"cook": "food", "baker": "food"}}),
    "missing": ("job", {"missing": "none"}),
    "breaks": ("age", {"breaks": [0, 40, 80, math.inf]}),
    "labels": ("age", {"breaks": (0, 40, 90), "labels": ("young", "old"), "right": True}),
    "method": ("income", {"method": "equal_number", "classes": 2}),
    "hierarchy": ("area", {"hierarchy": AREAS, "level": 1}),
    "parents": (
        "area",
        {"hierarchy": {"011": "01", "012": "01", "01": "T", "02": "T"}, "level": 1},
    ),
    "top": ("age", {"top": 80}),
    "ends": ("age", {"top": (80, "≥ 80"), "bottom": [31, "≤ 31"]}),
    "width": ("income", {"width": 0.5}),
    "period": ("born", {"period": "age", "at": "2024-12-31"}),
}

EXPECTED = {
    "groups": ["food", "judge", "none", "food"],
    "old to new": ["food", "judge", None, "food"],
    "missing": ["cook", "judge", "none", "baker"],
    "breaks": ["0-39", "≥ 80", None, "0-39"],
    "labels": ["young", "old", None, "young"],
    "method": ["< 2000", "≥ 2000", "< 2000", "≥ 2000"],
    "hierarchy": ["01", "02", "01", "02"],
    "parents": ["01", "02", "01", "02"],
    "top": [31, 80, None, 38],
    "ends": ["≤ 31", "≥ 80", None, "38"],
    "width": [1234.5, 2345.5, 100.0, 100_000.0],
    "period": [31, 84, None, 38],
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_recode(way):
    variable, arguments = WAYS[way]
    md = microdata()
    made = md.recode(variable, **arguments)
    if way == "method":
        assert made.history[-1].found["method"] == "equal_number"
        assert len(made.history[-1].arguments["breaks"]) == 3
    assert made.frame[variable].to_pylist() == EXPECTED[way]
    assert (
        replace(made.roles, orders={}) == md.roles
        and made.frame.column_names == md.frame.column_names
    )
    assert md.frame.equals(persons()) and md.history == ()


@pytest.mark.parametrize("way", WAYS)
def test_a_step_can_be_written_into_a_job_file_and_done_again(way):
    variable, arguments = WAYS[way]
    made = microdata().recode(variable, **arguments)
    step = made.history[-1]
    again = tomllib.loads(as_toml(step.arguments))
    assert again == step.arguments
    replayed = getattr(microdata(), step.verb)(**again)
    assert replayed.frame.equals(made.frame)
    assert replayed.history[-1].arguments == step.arguments
    json.dumps(step.found)


def as_toml(arguments: dict[str, Any]) -> str:
    """Values as a job file holds them."""

    def value(one: Any) -> str:
        if isinstance(one, dict):
            pairs = (f"{json.dumps(k, ensure_ascii=False)} = {value(v)}" for k, v in one.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(one, list):
            return "[" + ", ".join(value(v) for v in one) + "]"
        if isinstance(one, float) and math.isinf(one):
            return "inf" if one > 0 else "-inf"
        return json.dumps(one, ensure_ascii=False)

    return "\n".join(f"{name} = {value(one)}" for name, one in arguments.items())


def test_new_records_get_the_same_classes():
    made = microdata().recode("income", method="equal_width", classes=3)
    step = made.history[-1]
    later = persons().set_column(4, "income", pa.array([-5.0, 40_000.0, 1e9, None]))
    again = getattr(microdata(later), step.verb)(**step.arguments)
    assert again.history[-1].arguments["breaks"] == step.arguments["breaks"]
    assert set(again.frame["income"].to_pylist()) - {None} <= {"< 33400", "33400 to < 66700"} | {
        "≥ 66700"
    }


def test_values_that_groups_name_and_nobody_has_are_told():
    made = microdata().recode("job", groups={"food": ["cook", "grocer"]})
    assert made.history[-1].found["absent"] == ["grocer"]
    assert made.history[-1].found["categories"] == [3, 3]


def test_a_hierarchy_is_read_from_its_file(tmp_path):
    path = tmp_path / "area.hrc"
    path.write_text("01\n@011\n@012\n02\n", encoding="utf-8")
    made = microdata().recode("area", hierarchy=path, level=1)
    assert made.frame["area"].to_pylist() == EXPECTED["hierarchy"]
    assert made.history[-1].arguments["hierarchy"] == str(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "not none of them"),
        ({"top": 80, "width": 5}, "not top= and width="),
        ({"breaks": [0, 99], "level": 1}, "level= belongs to hierarchy=, not to breaks="),
        ({"width": 5, "right": True}, "right= belongs to breaks= or method=, not to width="),
        ({"groups": {31: "a"}, "classes": 3}, "classes= belongs to method="),
        ({"hierarchy": AREAS}, "hierarchy= needs level="),
        ({"hierarchy": 5, "level": 1}, "must be a Hierarchy"),
        ({"top": (1, 2, 3)}, "top= must be a number or a category"),
        ({"groups": {None: "a"}}, "say with missing="),
        ({"groups": {"a": [None]}}, "say with missing="),
    ],
)
def test_one_way_at_a_time(arguments, message):
    with pytest.raises(DiskretError, match=message):
        microdata().recode("age", **arguments)


def test_unknown_columns_are_named():
    with pytest.raises(DiskretError, match="'edad'"):
        microdata().recode("edad", top=80)


def test_pandas_categories_stay_categories_and_hidden_ones_are_not_listed():
    frame = pd.DataFrame(
        {
            "job": pd.Categorical(["cook", "mayor", "cook"], categories=["cook", "mayor", "king"]),
            "age": np.array([31, 84, 38]),
        },
        index=[5, 6, 7],
    )
    made = Microdata(frame, keys=["job", "age"]).recode("job", groups={"office": ["mayor"]})
    made = made.recode("age", breaks=[0, 40, math.inf])
    assert list(made.frame["job"].cat.categories) == ["cook", "king", "office"]
    assert made.frame["age"].tolist() == ["0-39", "≥ 40", "0-39"]
    assert list(made.frame.index) == [5, 6, 7] and frame["age"].tolist() == [31, 84, 38]


def test_polars_frames_come_back():
    frame = pl.DataFrame({"job": ["cook", "mayor"], "age": [31, 84]}).with_columns(
        pl.col("job").cast(pl.Enum(["cook", "mayor"]))
    )
    made = Microdata(frame, keys=["job", "age"]).recode("job", groups={"office": ["mayor"]})
    made = made.recode("age", top=80)
    assert made.frame["job"].to_list() == ["cook", "office"]
    assert made.frame.schema["age"] == pl.Int64 and made.frame["age"].to_list() == [31, 80]


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars", "duckdb"])
def test_columns_can_be_left_out(kind):
    from diskret.io import from_arrow, to_arrow

    md = microdata(from_arrow(persons(), kind)).recode("age", top=80)
    made = md.remove_identifiers().drop(["income", "born"])
    assert to_arrow(made.frame)[0].column_names == ["age", "job", "area"]
    assert made.roles.identifiers == () and made.roles.numeric == ()
    assert made.original is not made and "name" in made.original.table.column_names
    for step in made.history:
        md = getattr(md, step.verb)(**step.arguments) if step.verb != "recode" else md
    assert md.table.equals(made.table)
    assert made.coded("age").codes.tolist() == [0, 2, -1, 1]


def test_columns_that_are_not_there_cannot_be_left_out():
    with pytest.raises(DiskretError, match="'edad'"):
        microdata().drop("edad")
    with pytest.raises(DiskretError, match="no direct identifiers"):
        microdata().remove_identifiers().remove_identifiers()


def test_candidates_can_be_carried_out():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": random.integers(20, 60, 300),
            "area": random.choice(["011", "012", "02"], 300),
            "w": 1.0 + random.integers(1, 9, 300),
        }
    )
    md = Microdata(frame, keys=["age", "area"], weight="w")
    tried = md.recode_candidates({"area": AREAS}, k=4)
    assert isinstance(tried, pd.DataFrame)
    assert (tried["below_k_before"] == tried["below_k_before"][0]).all()
    gain = (tried["below_k_before"] - tried["below_k"]) / tried["entropy_lost"]
    assert gain.is_monotonic_decreasing
    for row in tried.to_dict("records"):
        made = md.recode(**json.loads(row["arguments"]))
        risk = made.risk()
        assert risk.below(4) == row["below_k"] <= row["below_k_before"]
        assert risk.sample_uniques == row["sample_uniques"]
        assert risk.expected == pytest.approx(row["expected_reidentifications"])


def test_candidates_are_checked():
    with pytest.raises(DiskretError, match="names column 'born', which is no key"):
        microdata().recode_candidates({"born": AREAS})
    with pytest.raises(DiskretError, match="k= must be"):
        microdata().recode_candidates(k=1)
