"""What a certificate says of variables that lie in each other, such as a grid in municipalities."""

from __future__ import annotations

from collections.abc import Sequence

from diskret.tables import Published

#: Only groupings of one variable have common parts that an attack can know of.
UNRELATED = {
    "en": "Nothing is claimed against knowledge of how different variables lie in each other, such "
    "as a grid in municipalities, unless the tables show them as groupings of one variable.",
    "de": "Keine Aussage gegenüber dem Wissen, wie verschiedene Merkmale ineinander liegen, etwa "
    "ein Gitter in Gemeinden, sofern die Tabellen sie nicht als Gliederungen eines Merkmals "
    "zeigen.",
}
#: The same where the records told how the variables lie in each other.
UNRELATED_ELSE = {
    "en": "Nothing is claimed against other knowledge of how different variables lie in each "
    "other, such as a grid in municipalities: of suppressed cells, or of other sums of cells.",
    "de": "Keine Aussage gegenüber anderem Wissen, wie verschiedene Merkmale ineinander liegen, "
    "etwa ein Gitter in Gemeinden: zu gesperrten Feldern oder anderen Summen von Feldern.",
}
#: How the claim of what is left between variables begins.
CROSSED = {
    "en": "Where categories of one variable lie in one of another variable, as municipalities in a "
    "grid cell, what is left of that without them, and of all categories that one touches "
    "without itself, meets what the office requires of a published cell where its value can be "
    "computed.",
    "de": "Wo Kategorien eines Merkmals in einer Kategorie eines anderen liegen, wie Gemeinden in "
    "einer Gitterzelle, erfüllt das, was von dieser ohne sie übrig bleibt, und von allen "
    "Kategorien, die eine berührt, ohne sie selbst, was das Amt von einem veröffentlichten Feld "
    "verlangt, wo sich sein Wert berechnen lässt.",
}


def different_variables(tables: Sequence[Published]) -> bool:
    """Whether tables show different variables."""
    return len({frozenset(d.name for d in table.dimensions) for table in tables}) > 1
