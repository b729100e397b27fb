"""What a suppression certificate says in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from diskret.attack.sums import LARGEST_LINE
from diskret.tables import Published
from diskret.texts import in_languages, sentence, words_in

if TYPE_CHECKING:
    from diskret.attack.attacker import Attacker
    from diskret.tables import Publication
    from diskret.tables.requirements import UnsafeSums

Text = dict[str, list[str]]

#: What no rule about contributors of single cells looks for; noise does not hide it either.
GROUP_DISCLOSURE = sentence("suppression.group disclosure")
#: How the claim of what is left beside filters begins.
OF_RESTS = sentence("suppression.left beside a filter")
#: Only groupings of one variable have common parts that an attack can know of.
UNRELATED = sentence("suppression.unrelated variables")
#: Left out where the attack was by somebody who knows that hidden counts are at least 1.
ZEROS_UNKNOWN = sentence("suppression.zeros unknown")


@dataclass(frozen=True)
class Scope:
    """What was attacked and judged beside the published cells, by which certificates differ.

    earlier: number of tables of earlier releases that were attacked with these.
    complete: as in `AllCells`.
    parts: whether all revealed parts of categories were judged; None: no categories overlap.
    rests: the same of what is left beside filters; None: no filter lies beside a whole table.
    crossed: whether all was judged that variables of different tables leave of each other's cells;
        None: all tables have the same variables.
    groups: whether a rule looked for group disclosure.
    unlisted: whether nobody knows who contributed to some of the tables.
    untold: whether it does not follow from the contributions to the tables what each has in cells
        that no table shows.
    already: whether some contributors could tell something from earlier releases alone.
    """

    earlier: int = 0
    complete: bool = True
    parts: bool | None = None
    rests: bool | None = None
    crossed: bool | None = None
    groups: bool = False
    unlisted: bool = False
    untold: bool = False
    already: bool = False


def claimed(
    publication: Publication,
    scope: Scope,
    contributor: bool = False,
    outer: int = 0,
    quick: bool = False,
) -> Text:
    """What is proven, for any reader.

    contributor: whether sums of cells were judged against contributors.
    outer: number of a table's intervals that are outer bounds.
    quick: these rest on single equations.
    """
    tables, earlier = publication.own, scope.earlier
    several = len(tables) > 1
    if several:
        names = ", ".join(t.name for t in tables)
        said = [sentence("suppression.nothing exact in these tables", tables=names)]
    else:
        said = [sentence("suppression.nothing exact in this table")]
    said.append(sentence("suppression.as uncertain as required"))
    if contributor:
        said.append(sentence("suppression.contributors", largest=LARGEST_LINE))
    if earlier:
        said.append(sentence("suppression.earlier releases", earlier=earlier))
    said += [sentence("suppression.alternative tables"), sentence("suppression.intervals")]
    if scope.parts:
        unless = sentence("suppression.unless parts were revealed") if earlier else ""
        said.append(sentence("suppression.parts", unless=unless))
    if outer:
        said.append(
            sentence(
                "suppression.single equations" if quick else "suppression.outer bounds", outer=outer
            )
        )
    if any(table.rounding > 1 for table in tables):
        said.append(sentence("suppression.rounded"))
    if tables[0].frequency:
        said.append(sentence("suppression.whole numbers"))
    if scope.rests:
        unless = sentence("suppression.unless rests were revealed") if earlier else ""
        said.append(sentence("suppression.rests", left=OF_RESTS, unless=unless))
    if scope.crossed:
        said.append(sentence("suppression.crossed"))
    return in_languages(said)


def not_claimed(publication: Publication, scope: Scope, attacker: Attacker) -> Text:
    """What is not proven; stated as clearly as the claims."""
    first, *others = publication.own
    several = len(others) + scope.earlier > 0
    said = [
        sentence(
            "suppression.other sums" if attacker.contributor else "suppression.no contributors"
        ),
        sentence(
            "suppression.tables beside these" if several else "suppression.tables beside this one"
        ),
        sentence("suppression.choice of cells"),
        sentence("suppression.other sources"),
    ]
    if not scope.complete:
        said.append(sentence("suppression.three or more tables"))
    if attacker.contributor and scope.unlisted:
        said.append(sentence("suppression.unlisted contributors"))
    if attacker.contributor and scope.untold:
        said.append(sentence("suppression.untold contributions"))
    if attacker.contributor and scope.already:
        said.append(sentence("suppression.told already"))
    if scope.parts is False:
        said.append(sentence("suppression.parts not judged"))
    if scope.crossed is not None:
        related = sentence("suppression.otherwise related variables")
        said.append(related if scope.crossed else UNRELATED)
    if not scope.groups:
        said.append(GROUP_DISCLOSURE)
    if scope.rests is False:
        said.append(sentence("suppression.rests not judged"))
    elif scope.rests:
        said.append(sentence("suppression.other rests"))
    if any(table.measure in table.where.asked for table in publication.tables):
        said.append(sentence("suppression.filter of values"))
    if first.frequency and not attacker.zeros_known:
        said.append(ZEROS_UNKNOWN)
    return in_languages(said)


def summary(
    language: str,
    publication: Publication,
    scope: Scope,
    attacker: Attacker,
    *,
    cells: int,
    primaries: int,
    secondaries: int,
    witnesses: int,
    sliding_only: int,
    repaired: int,
    outer: int = 0,
    quick: bool = False,
    unsafe: UnsafeSums | None = None,
) -> list[str]:
    """The certificate for the office's own eyes."""
    words = words_in(language, "certificates")
    lines = [
        words.said(
            "suppression.cells",
            cells=cells,
            suppressed=primaries + secondaries,
            primaries=primaries,
            secondaries=secondaries,
        ),
        words.said("suppression.attacker", known=attacker.in_words(language)),
        words.said("suppression.witnesses", witnesses=witnesses),
    ]
    if sliding_only:
        lines.append(words.said("suppression.sliding only", cells=sliding_only))
    if repaired:
        lines.append(words.said("suppression.repaired", times=repaired))
    if unsafe is not None:
        lines.append(
            words.said("suppression.sums judged", judged=unsafe.judged, unsafe=len(unsafe))
        )
    return [
        *lines,
        *claimed(publication, scope, attacker.contributor, outer, quick)[language],
        *not_claimed(publication, scope, attacker)[language],
    ]


def different_variables(tables: Sequence[Published]) -> bool:
    """Whether tables show different variables, or filter by some that others neither have."""
    if len({frozenset(d.name for d in table.dimensions) for table in tables}) > 1:
        return True
    about = {frozenset([*table.variables, *table.where.asked]) for table in tables}
    return any(not (one <= other or other <= one) for one, other in combinations(about, 2))
