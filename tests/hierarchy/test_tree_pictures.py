"""A code tree is drawn a line a code, parents to the left."""

import pytest

import diskret as dk
from diskret.errors import InputError

TREE = dk.Hierarchy.from_prefix(["A01", "A02", "B05"], (1, 2)).with_labels(
    {"A": {"en": "Fields", "de": "Äcker"}, "A01": "Rye"}
)


def texts(figure):
    return {one.get_text(): one.get_position() for one in figure.axes[0].texts}


def test_each_code_stands_right_of_its_parent_in_the_order_of_the_tree():
    found = texts(dk.draw_tree(TREE))
    assert list(found) == ["Total", "A Fields", "A01 Rye", "A02", "B", "B05"]
    assert [y for _, y in found.values()] == list(range(6))
    levels = [int(x) for x, _ in found.values()]
    assert levels == TREE.level.tolist()


def test_labels_and_title_are_german():
    figure = dk.draw_tree(TREE, language="de")
    assert "A Äcker" in texts(figure)
    assert figure.axes[0].get_title() == "6 Schlüssel auf 3 Ebenen"


def test_codes_left_out_are_counted():
    assert list(texts(dk.draw_tree(TREE, depth=1))) == ["Total", "A Fields (+2)", "B (+1)"]


def test_what_cannot_be_read_is_not_drawn(tmp_path):
    with pytest.raises(InputError, match="more than a picture shows"):
        dk.draw_tree(dk.Hierarchy.flat(range(300)))
    with pytest.raises(InputError, match="at least 1"):
        dk.draw_tree(TREE, depth=0)
    with pytest.raises(InputError, match="'en' or 'de'"):
        dk.draw_tree(TREE, language="fr")
    dk.draw_tree(dk.Hierarchy.flat(["only"])).savefig(tmp_path / "tree.svg")
