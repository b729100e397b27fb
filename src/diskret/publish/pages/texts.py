"""What stands for codes, measures and rules in a report."""

from __future__ import annotations

from diskret.tables import Dimension, Published
from diskret.texts import Words, words_in


def rule_name(reason: str, language: str) -> str:
    """What a rule is called in a report; a rule of the office's own by the name it has.

    Examples
    --------
    >>> rule_name("p_percent", "de"), rule_name("own_rule", "de")
    ('p-%-Regel', 'own_rule')
    """
    return words_in(language, "report").get(f"rules.{reason}", reason)


def code_text(dimension: Dimension, position: int, words: Words) -> str:
    """What stands for a code: "code label", but the label alone for the total."""
    tree = dimension.hierarchy
    code = tree.codes[position]
    label = tree.label(code, words.language)
    if position == 0:
        return label or (words["total"] if code == "Total" else code)
    if f"{label} ".startswith(f"{code} "):
        return label
    return f"{code} {label}".rstrip()


def heading(published: Published, title: str | None, words: Words) -> str:
    """The title given, or "<measure> by <dimensions>"."""
    if title is not None:
        return title
    *first, last = [d.name for d in published.dimensions]
    by = f"{', '.join(first)} {words['and']} {last}" if first else last
    return f"{measure(published, words)} {words['by']} {by}"


def measure(published: Published, words: Words) -> str:
    """What the values are called."""
    counted = published.frequency and published.measure in ("count", "units")
    return words[published.measure] if counted else published.measure
