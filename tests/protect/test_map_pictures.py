"""Pictures of maps show what is published, and the office's page says what it is."""

from typing import Any, cast

import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError

FEW = dk.rules.MinimumFrequency(5)


def published(*more):
    codes = ["1kmN2684E4334"] * 9 + ["1kmN2684E4335"] * 2 + ["1kmN2685E4336"] * 3
    records = pa.table({"cell": codes, "sex": ["m", "f"] * 7})
    return dk.suppress(dk.tabulate(records, by={"cell": None, **dict.fromkeys(more)}), FEW)


@pytest.mark.parametrize(
    ("language", "title", "hidden"),
    [("en", "Count by cell", "Suppressed"), ("de", "Anzahl nach cell", "Gesperrt")],
)
def test_a_picture_has_a_shape_for_each_place(tmp_path, language, title, hidden):
    figure = dk.draw_map(published(), language=language)
    [axes] = figure.axes
    assert axes.get_title() == title
    assert sum(len(one.get_paths()) for one in axes.collections) == 3
    legend = [one.get_text() for one in figure.legends[0].get_texts()]
    assert legend == ["9 – 9", hidden]
    figure.savefig(tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 1_000


@pytest.mark.parametrize(("language", "heading"), [("en", "per km²"), ("de", "je km²")])
def test_cells_of_several_widths_are_coloured_by_density(language, heading):
    counts = {"OWN3035SIZE2000mN2684000E4334000": 10, "1kmN2684E4336": 8, "1kmN2685E4337": 4_000}
    codes = [code for code, count in counts.items() for _ in range(count)]
    result = dk.suppress(dk.tabulate(pa.table({"cell": codes}), by={"cell": None}), FEW)
    figure = dk.draw_map(result, language=language)
    legend = figure.legends[0]
    assert legend.get_title().get_text() == heading
    point = {"en": ".", "de": ","}[language]
    texts = [one.get_text().split(" – ")[0] for one in legend.get_texts()]
    assert texts[:2] == [f"2{point}50", f"8{point}00"]
    darkness = {}
    for one in figure.axes[0].collections:
        colour = cast(Any, one.get_facecolor())[0]
        for path in one.get_paths():
            darkness[tuple(cast(Any, path.vertices)[0])] = colour[:3].sum()
    wide, few, many = (
        darkness[at] for at in [(4334e3, 2684e3), (4336e3, 2684e3), (4337e3, 2685e3)]
    )
    assert wide > few > many


def test_one_of_several_values_is_drawn():
    assert dk.draw_map(published("sex"), of={"sex": "m"}).axes
    with pytest.raises(InputError, match="'age', which is no other variable"):
        dk.draw_map(published("sex"), of={"age": "7"})
    with pytest.raises(InputError, match="'x', which is not in the table"):
        dk.draw_map(published("sex"), of={"sex": "x"})


def test_borders_are_drawn_with_their_holes():
    square = [(0, 0), (90, 0), (90, 90), (0, 90)]
    hole = [(30, 30), (60, 30), (60, 60), (30, 60)]
    areas = dk.spatial.Areas(["A", "B"], [[square, hole], [hole]])
    table = dk.tabulate(pa.table({"town": ["A"] * 9 + ["B"] * 8}), by={"town": None})
    figure = dk.draw_map(dk.suppress(table, FEW).published, {"town": areas})
    sizes = sorted(len(p.vertices) for one in figure.axes[0].collections for p in one.get_paths())
    assert sizes == [5, 10]
    with pytest.raises(InputError, match="has ids of grid cells"):
        dk.draw_map(dk.suppress(table, FEW))


def test_the_page_of_differences_needs_places(tmp_path):
    pieces = pa.table({"a": ["1", "1", "2"], "b": ["x", "y", "y"], "n": [50, 3, 60]})
    found = dk.spatial.differences(pieces, ["a", "b"], FEW, count="n")
    with pytest.raises(InputError, match="'c' is none of the geographies 'a', 'b'"):
        dk.map_page(found, tmp_path / "page.html", "c")
    with pytest.raises(InputError, match="give borders: places="):
        dk.map_page(found, tmp_path / "page.html", "a")
    areas = dk.spatial.Areas(["7"], [[[(0, 0), (9, 0), (9, 9)]]])
    with pytest.raises(InputError, match="1 code has no borders"):
        dk.map_page(found, tmp_path / "page.html", "b", areas)
    assert not list(tmp_path.iterdir())
