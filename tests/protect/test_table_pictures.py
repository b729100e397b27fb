"""Pictures of tables and intervals show what is published, and the office's what it knows."""

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgba

import diskret as dk
from diskret.drawing import ALARM, STATES
from diskret.errors import InputError

FIRMS = {
    "region": ["N", "S", "W", "E"] * 2,
    "size": ["a"] * 4 + ["b"] * 4,
    "firms": [17, 2, 15, 0, 9, 8, 6, 4],
}
TABLE = dk.Table.from_cells(pa.table(FIRMS), by={"region": None, "size": None}, count="firms")
RESULT = dk.suppress(TABLE, dk.rules.MinimumFrequency(3))


def squares(figure):
    """Colour → places (column, row) of the squares filled with it."""
    found = {}
    for one in figure.axes[0].collections:
        colour = tuple(one.get_facecolor()[0])
        places = [tuple(path.vertices[0] + 0.5) for path in one.get_paths()]
        found[colour] = {(int(x), int(y)) for x, y in places}
    return found


def labels(ticks):
    return [one.get_text() for one in ticks]


def legend(figure):
    return [one.get_text() for one in figure.legends[0].get_texts()]


def places(mask):
    return {(int(x), int(y)) for y, x in np.argwhere(mask)}


def test_a_square_for_each_cell_says_what_is_published_of_it():
    figure = dk.draw_table(RESULT)
    found, shown = squares(figure), RESULT.published
    by_state = {name: found[to_rgba(STATES[name]["facecolor"])] for name in ("suppressed", "empty")}
    assert by_state["suppressed"] == places(shown.suppressed)
    assert by_state["empty"] == places(shown.empty)
    assert sum(map(len, found.values())) == shown.value.size
    written = {one.get_position(): one.get_text() for one in figure.axes[0].texts}
    open_cells = ~shown.suppressed & ~shown.empty
    assert written == {
        (x, y): str(shown.value[y, x]) for y, x in map(tuple, np.argwhere(open_cells).tolist())
    }
    assert labels(figure.axes[0].get_yticklabels()) == ["Total", "E", "N", "S", "W"]


def test_only_the_internal_picture_tells_primary_from_secondary():
    alarm = to_rgba(ALARM)
    assert alarm not in squares(dk.draw_table(RESULT))
    figure = dk.draw_table(RESULT, internal=True, language="de")
    assert squares(figure)[alarm] == places(RESULT.status == "primary")
    assert "vertraulich" in figure.axes[0].get_title()
    assert "unsicher (primär)" in legend(figure)
    with pytest.raises(InputError, match="needs a result of suppression"):
        dk.draw_table(RESULT.published, internal=True)


def test_variables_are_turned_and_fixed():
    turned = dk.draw_table(RESULT.published, rows="size")
    assert labels(turned.axes[0].get_xticklabels()) == ["Total", "E", "N", "S", "W"]
    swapped = {(y, x) for x, y in places(RESULT.published.suppressed)}
    assert squares(turned)[to_rgba(STATES["suppressed"]["facecolor"])] == swapped
    rows = {**FIRMS, "year": ["1"] * 4 + ["2"] * 4}
    three = dk.Table.from_cells(
        pa.table(rows), by={"region": None, "size": None, "year": None}, count="firms"
    )
    result = dk.suppress(three, dk.rules.MinimumFrequency(3))
    found = squares(dk.draw_table(result, columns="size", of={"year": "2"}))
    hidden = found.get(to_rgba(STATES["suppressed"]["facecolor"]), set())
    assert hidden == places(result.published.suppressed[:, :, 2])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rows": "age"}, "'age' is no variable"),
        ({"rows": "size", "columns": "size"}, "both name 'size'"),
        ({"of": {"size": "a"}}, "no other variable"),
        ({"language": "fr"}, "'en' or 'de'"),
    ],
)
def test_what_cannot_be_drawn_is_said(how, said):
    with pytest.raises(InputError, match=said):
        dk.draw_table(RESULT, **how)


def test_a_table_too_large_for_a_picture_is_refused():
    codes = [str(at) for at in range(1001)]
    long = dk.Table.from_cells(pa.table({"a": codes, "n": [5] * 1001}), by={"a": None}, count="n")
    with pytest.raises(InputError, match="at most 1,000"):
        dk.draw_table(dk.suppress(long, dk.rules.MinimumFrequency(3)))


def bars(figure):
    return [
        (one.get_x(), one.get_x() + one.get_width(), one.get_y() + one.get_height() / 2)
        for one in figure.axes[0].patches
    ]


def test_intervals_are_those_of_the_certificate_narrowest_first():
    figure = dk.draw_intervals(RESULT)
    stated = RESULT.certificate.public()["intervals"]
    ends = list(zip(stated["lower"], stated["upper"], strict=True))
    widths = [(high - low) / max(abs(low), abs(high)) for low, high in ends]
    order = np.argsort(widths, kind="stable")
    drawn = sorted(bars(figure), key=lambda bar: bar[2])
    assert [bar[:2] for bar in drawn] == pytest.approx([ends[at] for at in order])
    # the true values are nowhere in it
    assert not figure.axes[0].lines


def test_internal_intervals_hold_the_true_values():
    figure = dk.draw_intervals(RESULT, internal=True, most=3, language="de")
    [marks] = figure.axes[0].lines
    drawn = sorted(bars(figure), key=lambda bar: bar[2])
    assert len(drawn) == 3
    for (low, high, _), true in zip(drawn, marks.get_xdata(), strict=True):
        assert low <= true <= high
    title = figure.axes[0].get_title()
    assert title.startswith("Die 3 engsten von") and title.endswith("(vertraulich)")


def test_intervals_without_an_end_say_so(tmp_path):
    money = {"region": ["N", "S", "W"], "profit": [100, -20, 30], "firms": [9, 1, 8]}
    table = dk.Table.from_cells(pa.table(money), by={"region": None}, value="profit", count="firms")
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    figure = dk.draw_intervals(result)
    assert [one.get_text().strip() for one in figure.axes[0].texts] == ["→", "→", "←", "←"]
    figure.savefig(tmp_path / "intervals.png")


def test_where_nothing_is_hidden_there_are_no_intervals():
    many = pa.table({"region": ["N", "S"], "n": [8, 9]})
    table = dk.Table.from_cells(many, by={"region": None}, count="n")
    whole = dk.suppress(table, dk.rules.MinimumFrequency(3))
    with pytest.raises(InputError, match="no cell of 'count' is suppressed"):
        dk.draw_intervals(whole)
    with pytest.raises(InputError, match="from 1 to 200"):
        dk.draw_intervals(RESULT, most=0)
