"""What a public table, its values and its codes are called, in workbooks and on pages."""

from __future__ import annotations

from collections.abc import Callable

from diskret.tables import Dimension, Published
from diskret.texts import Words, words_in


def table_words(language: str, *catalogues: str) -> Words:
    """The texts of some catalogues, and what tables are called."""
    return words_in(language, "published_table", *catalogues)


def title(published: Published, given: str | None, words: Words) -> str:
    """The title given, or "<measure> by <dimensions>"."""
    if given is not None:
        return given
    *first, last = [d.name for d in published.dimensions]
    by = f"{', '.join(first)} {words['and']} {last}" if first else last
    return f"{measure(published, words)} {words['by']} {by}"


def measure(published: Published, words: Words) -> str:
    """What the values are called."""
    counted = published.frequency and published.measure in ("count", "units")
    return words[published.measure] if counted else published.measure


def circumstances(
    published: Published, words: Words, written: Callable[[int], str]
) -> dict[str, str]:
    """Period, population and rounding, where there are any: heading → text.

    `written` writes a scaled value.
    """
    told = dict[str, str]()
    if published.vintage:
        told[words["vintage"]] = published.vintage
    if published.where:
        told[words["where"]] = published.where.words(f" {words['or']} ", words["to"])
    if published.rounding > 1:
        told[words["rounding"]] = written(published.rounding)
    return told


def how_changed(published: Published, words: Words) -> dict[str, str]:
    """How values were changed, as a heading and a text; nothing if they are the true ones."""
    changed = published.changed
    return {words["changed"]: words[f"changed {changed}"]} if changed else {}


def code_label(dimension: Dimension, position: int, words: Words) -> str:
    """The label of a code in the language; the code itself if it has none."""
    tree = dimension.hierarchy
    code = tree.codes[position]
    unnamed = words["total"] if position == 0 and code == "Total" else code
    return tree.label(code, words.language) or unnamed


def code_text(dimension: Dimension, position: int, words: Words) -> str:
    """What stands for a code: "code label", but the label alone for the total."""
    code, label = dimension.hierarchy.codes[position], code_label(dimension, position, words)
    alone = position == 0 or f"{label} ".startswith(f"{code} ")
    return label if alone else f"{code} {label}"
