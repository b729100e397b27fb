"""Several ways to protect the same records, with risk and loss of each."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError, Microdata
from diskret.utility import RiskUtilityMap


def persons(n=400, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "region": rng.choice(list("ABCD"), n),
            "job": rng.choice(["w", "x", "y", "z"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "age": rng.integers(20, 30, n),
            "income": rng.lognormal(8, 0.5, n).round(2),
            "rent": rng.normal(700, 100, n).round(2),
        }
    )


def microdata(n=400):
    return Microdata(persons(n), keys=["region", "job", "age"], numeric=["income", "rent"])


CHOICES = {
    **{f"k = {k}": {"do": "local_suppression", "k": k} for k in (2, 4)},
    **{f"groups of {k}": {"do": "microaggregate", "k": k} for k in (3, 10)},
    "both": [{"do": "local_suppression", "k": 2}, {"do": "microaggregate", "k": 3}],
    "pram": {"do": "pram", "variables": "job", "stay": 0.5},
}


@pytest.mark.long
def test_each_choice_has_the_figures_it_has_alone():
    md = microdata()
    told = []
    found = md.explore(CHOICES, seed=5, progress=lambda *said: told.append(said))
    assert found.choices == ("as it is", *CHOICES)
    assert told[-1] == ("choices", 7, 7)
    rows = {row["choice"]: row for row in found.frame.to_pylist()}
    figures = ["recognised", "linked", "pmse", "il1s", "moved"]
    assert list(rows["both"]) == ["choice", *figures, "frontier"]
    start = rows["as it is"]
    assert start["linked"] == 1 and (start["pmse"], start["il1s"], start["moved"]) == (0, 0, 0)
    alone = {
        "both": md.local_suppression(k=2).microaggregate(k=3),
        "pram": md.pram("job", stay=0.5, seed=5),
    }
    for name, protected in alone.items():
        lost = protected.compare().figures
        risk = protected.risk().global_risk, protected.numeric_risk().linked
        assert [rows[name][figure] for figure in figures] == pytest.approx(
            [*risk, lost["pmse"], lost["il1s"], lost["moved"]]
        )
    # more of a method: less risk, more loss
    assert start["recognised"] > rows["k = 2"]["recognised"] > rows["k = 4"]["recognised"]
    assert start["linked"] > rows["groups of 3"]["linked"] > rows["groups of 10"]["linked"]
    assert 0 < rows["groups of 3"]["il1s"] < rows["groups of 10"]["il1s"]
    assert 0 < rows["k = 2"]["moved"] < rows["k = 4"]["moved"]


def test_loss_and_risk_are_measured_from_where_the_choices_begin():
    md = microdata().recode("job", groups={"rare": ["y", "z"]})
    found = md.explore({"k = 3": {"do": "local_suppression"}})
    assert found.loss["moved"][0] == 0 != md.compare().figures["moved"]
    beyond = md.compare(md.local_suppression()).figures["moved"]
    assert found.loss["moved"][1] == pytest.approx(beyond)
    assert found.risk["recognised"][0] == md.risk().global_risk


def test_functions_and_figures_of_the_user():
    md = Microdata(persons(), numeric=["income"])
    found = md.explore(
        {"none": lambda md: md, "groups": lambda md: md.microaggregate(k=5)},
        risk={"unchanged": lambda md: 1 - len(md.history) / 2},
        loss={"variance": lambda found: found.figures["variances"]},
    )
    assert found.risk["unchanged"].tolist() == [1, 1, 0.5]
    assert found.loss["variance"][2] > 0 and list(found.risk) == ["unchanged"]
    assert found.frontier.tolist() == [True, True, True]  # equal choices do not beat each other


def test_a_variable_that_is_dropped_is_no_risk():
    md = Microdata(persons(), numeric=["income", "rent"], keys=["job"])
    found = md.explore({"less": {"do": "drop", "columns": ["income", "rent"]}})
    assert found.risk["linked"].tolist() == [1, 0]
    assert np.isnan(found.loss["il1s"][1])


def test_the_frame_is_of_the_kind_that_came_in():
    md = Microdata(persons().to_pandas(), keys=["job"])
    assert isinstance(
        md.explore({"k = 2": {"do": "local_suppression", "k": 2}}).frame, pd.DataFrame
    )


POINTS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=12)


@given(POINTS)
def test_the_frontier_holds_what_nothing_beats(points):
    a, b, c = np.array(points, dtype=float).T
    names = tuple(map(str, range(len(points))))
    found = RiskUtilityMap(names, {"a": a}, {"b": b, "c": c}, "pyarrow")
    beaten = [
        any(all(x <= y for x, y in zip(q, p, strict=True)) and q != p for q in points)
        for p in points
    ]
    assert found.frontier.tolist() == [not one for one in beaten]
    assert found.frontier.any()


def test_a_figure_that_does_not_exist_is_the_worst():
    risk, loss = {"r": np.array([1.0, 1.0])}, {"l": np.array([np.nan, 5.0])}
    assert RiskUtilityMap(("a", "b"), risk, loss, "pyarrow").frontier.tolist() == [False, True]


@pytest.mark.parametrize(
    ("language", "title", "start"),
    [("en", "Risk and loss", "as it is"), ("de", "Risiko und Verlust", "wie sie sind")],
)
def test_the_picture_shows_every_choice_by_name(language, title, start):
    pytest.importorskip("matplotlib", reason="optional: matplotlib")
    risk = {"recognised": np.array([0.4, 0.2, 0.45]), "linked": np.array([1, np.nan, 1])}
    loss = {"pmse": np.array([0.0, 0.01, 0.02])}
    found = RiskUtilityMap(("as it is", "k = 3", "worse"), risk, loss, "pyarrow")
    (axes,) = found.plot(language=language).axes
    assert axes.get_title() == title
    assert [text.get_text() for text in axes.texts] == [start, "k = 3", "worse"]
    hollow, filled = axes.collections
    assert np.asarray(hollow.get_offsets()).tolist() == [[0.02, 0.45]]
    assert np.asarray(filled.get_offsets()).tolist() == [[0, 0.4], [0.01, 0.2]]
    (axes,) = found.plot("linked").axes
    assert [text.get_horizontalalignment() for text in axes.texts] == ["left", "right"]
    near = RiskUtilityMap(("a", "b", "c"), {"r": np.array([1, 0, 1])}, {"l": np.ones(3)}, "pyarrow")
    assert [text.get_text() for text in near.plot().axes[0].texts] == ["a, c", "b"]
    assert "linked" in axes.get_ylabel() and len(axes.texts) == 2
    with pytest.raises(DiskretError, match="there are 'pmse'"):
        found.plot(loss="il1s")
    with pytest.raises(DiskretError, match="language="):
        found.plot(language="fr")


@pytest.mark.parametrize(
    ("choices", "options", "message"),
    [
        ({}, {}, "nothing to choose from"),
        ({"as it is": []}, {}, "rename the choice"),
        ({"a": {"do": "fly"}}, {}, "choice 'a': there is no method 'fly'"),
        ({"a": {"do": "risk"}}, {}, "choice 'a': step 1: there is no method 'risk'"),
        ({"a": {"k": 3}}, {}, "a step says what to do"),
        ({"a": {"do": "local_suppression", "kk": 3}}, {}, "no argument 'kk'"),
        ({"a": {"do": "pram", "variables": "q"}}, {"seed": 1}, "choice 'a': step 1, pram"),
        ({"a": lambda md: md.frame}, {}, "returned Table, not Microdata"),
        ({"a": []}, {"risk": {"pmse": lambda md: 1}}, "names two columns"),
        ({"a": []}, {"loss": {}}, "nothing to measure"),
    ],
)
def test_what_cannot_be_tried_is_refused(choices, options, message):
    with pytest.raises(DiskretError, match=message):
        microdata(50).explore(choices, **options)


def test_microdata_without_roles_have_nothing_to_measure():
    with pytest.raises(DiskretError, match="keys= or numeric="):
        Microdata(persons(20)).explore({"a": []})
