"""Pictures show the probabilities of the table."""

import sys

import numpy as np
import pytest

from diskret.cellkey import PerturbationTable
from diskret.errors import InputError

TABLE = PerturbationTable.maximum_entropy(3, 2, small_counts=1)


def test_heat_map_shows_what_each_count_becomes(tmp_path):
    figure = TABLE.heat_map()
    axes = figure.axes[0]
    shown = np.asarray(axes.images[0].get_array())
    targets = [int(label.get_text()) for label in axes.get_xticklabels()]
    assert targets == [0, *range(2, 9)]
    for row, count in enumerate(TABLE.counts):
        for column, target in enumerate(targets):
            p = TABLE.probability(int(count), target - count)
            assert shown[row, column] == p
    assert axes.get_yticklabels()[-1].get_text() == "5 and more"
    figure.savefig(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_cumulative_map_adds_up_by_noise():
    axes = TABLE.heat_map("de", cumulative=True).axes[0]
    shown = np.asarray(axes.images[0].get_array())
    assert shown == pytest.approx(TABLE.probabilities.cumsum(axis=1))
    assert [float(label.get_text()) for label in axes.get_xticklabels()] == [*range(-3, 4)]
    assert axes.get_xlabel() == "Überlagerung"
    assert "höchstens" in axes.get_title()


def test_distributions_have_a_panel_for_each_count_but_zero():
    figure = TABLE.distributions()
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == len(TABLE.counts) - 1
    for row, axes in enumerate(panels, start=1):
        heights = [bar.get_height() for bar in axes.containers[0]]
        assert np.array_equal(heights, TABLE.probabilities[row])
        assert f"variance {TABLE.variances[row]:.3g}" in axes.get_title()


def test_pictures_speak_german():
    assert TABLE.heat_map("de").axes[0].get_ylabel() == "wahre Fallzahl"
    assert "Varianz" in TABLE.distributions("de").axes[0].get_title()
    with pytest.raises(InputError, match="'en' or 'de'"):
        TABLE.heat_map("fr")


def test_magnitudes_are_shown_in_their_steps():
    table = PerturbationTable.for_magnitudes(3, 1, step=2)
    labels = [label.get_text() for label in table.heat_map().axes[0].get_xticklabels()]
    assert labels[:3] == ["0", "0.5", "1"]


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draw in (TABLE.heat_map, TABLE.distributions):
        with pytest.raises(InputError, match=r"diskret\[plots\]"):
            draw()
