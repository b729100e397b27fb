"""The assessment of a perturbation table says what the attacks find, in two languages."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from noise_tables import seed_table, tiny_table

import diskret as dk
from diskret.attack import (
    constellation_risk,
    keyed_constellation_risk,
    privacy_loss,
    queries_needed,
    recovery_probability,
)
from diskret.cellkey import PerturbationTable
from diskret.errors import InputError


def test_figures_are_those_of_the_attacks():
    table = seed_table()
    found = dk.assess(table.lookup(), queries=50)
    assert found.constellations[1].worst.risk == pytest.approx(
        constellation_risk(table, parts=3).worst.risk
    )
    assert found.keyed == keyed_constellation_risk(table.lookup())
    assert found.answers == queries_needed(table, (7, 7))
    assert found.recovered == pytest.approx(recovery_probability(table, (7, 7), 50))
    assert found.privacy.delta(1) == pytest.approx(privacy_loss(table).delta(1))
    rows = found.rows.to_pydict()
    assert rows["count"] == list(range(8))
    assert rows["stay"] == pytest.approx([1, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert rows["lowest"] == [0, -1, -2, -3, -4, -2, -3, -4]
    assert rows["highest"] == [0, 3, 4, 4, 4, 4, 4, 4]
    assert rows["variance"][1:] == pytest.approx([2.25] * 7, abs=2e-4)


def test_a_good_table_is_accepted_and_a_tiny_one_is_not():
    good = dk.assess(seed_table())
    assert good.accepted
    assert repr(good) == "Assessment(4 of 4 limits kept)"
    tiny = dk.assess(tiny_table())
    assert not tiny.accepted
    line = tiny.lines()[2]
    assert line.startswith("✗ 2 cells and their total: (1, 1 | 2) is published so that")
    assert "e.g. (1, 1 | 2) → (1, 1 | 0). That is above the limit" in line
    assert dk.assess(tiny_table(), limit=0.3).accepted


def test_shuffled_intervals_give_less_away_than_sorted_ones():
    table = PerturbationTable.maximum_entropy(5, 3)
    in_order, shuffled = dk.assess(table), dk.assess(table.lookup().shuffled(seed=1))
    assert in_order.keyed.worst.risk > 0.05
    assert shuffled.keyed.worst.risk < 0.01
    assert in_order.lines()[4].endswith("Shuffle the intervals.")
    assert in_order.lines("de")[4].endswith("Mischen Sie die Intervalle.")
    assert shuffled.accepted


def test_each_limit_of_the_office_can_refuse():
    table = seed_table()
    assert not dk.assess(table, certainty=0.9).accepted
    assert not dk.assess(table, queries=200).accepted
    biased = PerturbationTable(
        np.arange(2), np.arange(-1, 3), np.array([[0, 1, 0, 0], [0.3, 0.2, 0.2, 0.3]])
    )
    found = dk.assess(biased, limit=1)
    assert not found.accepted
    assert found.lines()[1] == "✗ The noise is biased: its mean is 0.500 for a count of 1."
    assert found.answers is None


def test_averages_are_held_to_the_limit_of_the_office():
    """Not to the probability for which a number of answers is told: 94.7 % is no success."""
    table = seed_table()
    for queries in (1, 3, 60):
        found = dk.assess(table, queries=queries, confidence=0.95)
        assert found.recovered is not None and found.limit < found.recovered < 0.95
        assert not found.accepted
        assert any(line.startswith("✗ With the") for line in found.lines())
        assert dk.assess(table, queries=queries, limit=found.recovered).accepted


def test_it_says_that_it_is_confidential_and_what_it_presupposes():
    found = dk.assess(seed_table())
    english, german = found.lines(), found.lines("de")
    assert len(english) == len(german) == len(found.verdicts)
    assert "Confidential" in english[0]
    assert "Vertraulich" in german[0]
    assert "same units always get the same noise" in english[-1]
    assert "0,0087\N{NO-BREAK SPACE}%" in german[2]
    with pytest.raises(InputError, match="language="):
        found.lines("fr")


def test_nothing_that_can_be_given_away_is_said_so():
    noise = np.arange(-6, 7)
    rows = np.zeros((14, 13))
    for count in range(14):
        rows[count, [6 + max(-count, -6), 6 + min(count, 6)]] += 0.5
    rows[1:] = 0.5 * rows[1:] + 0.5 / 13 * (noise + np.arange(1, 14)[:, None] >= 0)
    rows /= rows.sum(axis=1)[:, None]
    found = dk.assess(PerturbationTable(np.arange(14), noise, rows), up_to=1, parts=(2,))
    assert "no published values give a true value from 1 to 1 away" in found.lines()[2]


def test_without_noise_all_is_told():
    found = dk.assess(PerturbationTable(np.arange(2), np.array([0]), np.ones((2, 1))))
    assert not found.accepted
    assert found.answers == 1
    assert "with probability 100.0\N{NO-BREAK SPACE}%" in found.lines()[2]


def test_plots_show_the_limit_and_are_in_both_languages():
    pytest.importorskip("matplotlib", reason="optional: matplotlib")
    found = dk.assess(seed_table(), queries=100)
    figures = found.figures("de")
    assert list(figures) == ["constellations", "privacy", "averaging", "differencing"]
    for name, figure in figures.items():
        axes = figure.axes[0]
        assert "vertraulich" in axes.get_title()
        assert len(axes.lines) + len(axes.patches) > 0, name
    limit = np.asarray(figures["constellations"].axes[0].lines[0].get_xdata())
    assert limit[0] == 0.01
    delta = np.asarray(figures["privacy"].axes[0].lines[0].get_ydata())
    assert delta[0] == pytest.approx(found.privacy.delta(0))
    assert "confidential" in found.figures()["privacy"].axes[0].get_title()
    with pytest.raises(InputError, match="language="):
        found.figures("fr")


def test_plots_without_matplotlib_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match="pip install"):
        dk.assess(seed_table()).figures()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queries": 0}, "queries="),
        ({"parts": ()}, "parts="),
        ({"parts": (9,)}, "parts="),
        ({"confidence": 1.5}, "confidence="),
        ({"limit": -1}, "limit="),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        dk.assess(seed_table(), **options)


# ── noise of sums ───────────────────────────────────────────────────────────────────

OF_SUMS = PerturbationTable.for_magnitudes(max_noise=2, variance=1)


def test_noise_of_sums_is_judged_by_its_rule():
    """The guide's own parameters let most single firms be estimated within 10 %."""
    rule = dk.rules.PPercent(10)
    guide = dk.MagnitudeNoise(OF_SUMS, flex_point=1000, shares=(1, 0.5), extra=0.5)
    found = dk.assess(guide, rule=rule)
    rows = found.rows.to_pydict()
    lone = [e for v, x, e in zip(*list(rows.values())[:3], strict=True) if v == x and x >= 1e8]
    assert min(lone) > 0.65  # 5 % of the contribution
    assert not found.accepted
    good = dk.assess(replace(guide, extra=None), rule=rule)
    assert good.accepted and good.judged.worst == 0
    assert repr(good) == "SumAssessment(3 of 3 limits kept)"
    english, german = good.lines(), good.lines("de")
    assert len(english) == len(german) == 5
    assert english[1].startswith("✓ The rule's own estimators come too close with")
    with pytest.raises(InputError, match="language="):
        good.lines("fr")


def test_one_key_for_all_measures_is_no_good():
    rule = dk.rules.PPercent(10)
    shared = dk.MagnitudeNoise(OF_SUMS, keys="cell")
    found = dk.assess(shared, rule=rule)
    assert found.ratio == 1.0 and found.unrelated < 0.7
    assert not found.accepted
    assert found.lines()[3].startswith("✗ ")
    own = dk.assess(replace(shared, keys="measure"), rule=rule)
    assert own.accepted and abs(own.ratio - own.unrelated) < 0.06


def test_sums_of_the_office_can_be_judged():
    register = dk.datasets.business_register(n=300, seed=1)
    table = dk.tabulate(
        register.records, by={"nace": register.nace}, value="turnover", unit="firm_id"
    )
    rule = dk.rules.PPercent(10)
    found = dk.assess(dk.MagnitudeNoise(OF_SUMS, extra=0.0), rule=rule, table=table)
    assert len(found.rows) == int((rule(table).unsafe & (table.measure.sum > 0)).sum()) > 0
    with pytest.raises(InputError, match=r"give rule="):
        dk.assess(dk.MagnitudeNoise(OF_SUMS))
    with pytest.raises(InputError, match=r"rule= and table= are for a MagnitudeNoise"):
        dk.assess(OF_SUMS, rule=rule)  # pyright: ignore[reportCallIssue, reportArgumentType]
