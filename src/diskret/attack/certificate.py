"""The certificate of a suppressed table: what is claimed, against whom, and the proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack.all_cells import all_cells
from diskret.attack.attacker import Attacker
from diskret.attack.earlier_tables import seen_by_readers
from diskret.attack.equations import equations
from diskret.attack.examination import Examination, Targets, interval_columns
from diskret.attack.examine import examine
from diskret.attack.parts import JudgedParts, may_have_parts
from diskret.attack.proof import unmet
from diskret.attack.rests import beside_filters
from diskret.attack.statements import Scope, claimed, different_variables, not_claimed, summary
from diskret.attack.sums import unmet_sums
from diskret.deadline import NEVER, Deadline
from diskret.errors import ProofError
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published, together
from diskret.tables.public_files import content_digest
from diskret.tables.requirements import Requirements, UnsafeSums
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.attack.insiders import InsidersWithstood

SCHEMA = "diskret/certificate/1"
#: What may tie several tables; see `refined_to`.
TIES = ("equations", "atoms", "combinations")


@dataclass(frozen=True, eq=False)
class Proof:
    """The attack that a certificate rests on: on one table, or on several at once.

    publication: what was attacked; positions of cells below count through all of its tables.
    requirements: the protection levels that were claimed and proven. Confidential.
    examination: the attack, witnesses included.
    outsider: the attack of the plain outsider, who does not know how far the true values can lie
        from changed ones of earlier releases, unless their certificates say it.
    original: original values of all cells in scaled integers, flat. Confidential.
    unclaimed: positions of suppressed cells of earlier releases of which nothing is claimed.
    unsafe: sums of suppressed cells that were claimed and proven to be uncertain enough; None if
        the attacker is no contributor. Confidential.
    parts: the parts of categories that subtraction reveals, none of them unsafe; None if no
        categories overlap, or nobody has judged them.
    insiders: what was asked of contributors who know what is theirs; None if none attacks.
    rests: the same of what subtraction leaves beside filters.
    crossed: the same of what variables of different tables leave of each other's cells.
    """

    publication: Publication
    requirements: Requirements
    examination: Examination
    outsider: Examination
    original: NDArray[np.int64]
    unclaimed: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    unsafe: UnsafeSums | None = None
    parts: JudgedParts | None = None
    insiders: InsidersWithstood | None = None
    rests: JudgedParts | None = None
    crossed: JudgedParts | None = None

    def __repr__(self) -> str:
        return f"Proof({self.publication!r})"

    @property
    def crossed_claimed(self) -> bool | None:
        """Whether all was judged that variables leave of each other; None if there is nothing."""
        if not different_variables(self.publication.tables):
            return None
        return self.crossed is not None and not self.crossed.unjudged

    @property
    def rests_claimed(self) -> bool | None:
        """Whether all that is left beside filters was judged; None if there are none."""
        if self.rests is None:
            return False if beside_filters(self.publication) else None
        return not self.rests.unjudged

    @property
    def parts_claimed(self) -> bool | None:
        """Whether all revealed parts were judged; None if there cannot be any."""
        if self.parts is None:
            return False if may_have_parts(self.publication) else None
        return not self.parts.unjudged

    def place_of(self, published: Published) -> int:
        """Which of the tables that were attacked together this is."""
        return [table is published for table in self.publication.tables].index(True)


@dataclass(frozen=True, eq=False)
class SuppressionCertificate:
    """Proof that no stated attacker can narrow a suppressed cell down too far.

    Parameters
    ----------
    published
        The table.
    attacker
        Against whom the claim is made.
    requirements
        The protection levels of this table's primary cells. Confidential.
    examination
        The attack of that attacker, as far as it is about this table.
    outsider
        The same of the plain outsider, who knows nothing but what is public.
    proof
        The whole attack, on all tables that were attacked together.
    sliding_only
        Number of primary cells for which only "no exact value" is claimed, because the
        attacker knows that hidden counts are at least 1.
    repaired
        How often the pattern had to be extended after a first attack.
    groups
        Whether a rule looked for group disclosure, so that it need not be named as not claimed.
    """

    published: Published
    attacker: Attacker
    requirements: Requirements
    examination: Examination
    outsider: Examination
    proof: Proof
    sliding_only: int = 0
    repaired: int = 0
    groups: bool = False

    def __repr__(self) -> str:
        table, hidden = self.published, int(self.published.suppressed.sum())
        return (
            f"SuppressionCertificate({table.name!r}: {table.value.size:,} cells, {hidden:,} "
            f"suppressed, against the {self.attacker.kind})"
        )

    def _repr_html_(self) -> str:
        from diskret.tables.card import card_of_published

        said = self.public()["claimed"]["en"]
        return card_of_published(self.published, "SuppressionCertificate", said)

    @property
    def primaries(self) -> int:
        """Number of cells that a rule made unsafe. Confidential."""
        return len(self.requirements.cell)

    @property
    def secondaries(self) -> int:
        """Number of cells suppressed for the sake of others. Confidential."""
        return len(self.examination.cell) - self.primaries

    def public(self) -> dict[str, Any]:
        """What anybody may read: the claims and the outsider's interval of every hidden cell.

        Says nothing of rules, levels, what is primary, or what a better informed attacker
        was assumed to know. Digests of files and inputs are added when these are written.
        """
        publication, scope = self.proof.publication, self._scope
        return {
            "schema": SCHEMA,
            "family": "suppression",
            "name": self.published.name,
            "attacker": self.attacker.kind,
            **self._together(),
            "claimed": claimed(
                publication,
                scope,
                self.attacker.contributor,
                self.outsider.outer,
                self.outsider.quick,
            ),
            "not_claimed": not_claimed(publication, scope, self.attacker),
            **outer_intervals(self.outsider),
            "intervals": interval_columns(self.published, self.outsider),
        }

    def _together(self) -> dict[str, Any]:
        """Which tables were attacked together, and by what they are tied."""
        publication = self.proof.publication
        if len(publication.tables) == 1:
            return {}
        names = [table.name for table in publication.own]
        return {
            **({"tables": names} if len(names) > 1 else {}),
            **({"beside": beside(publication)} if publication.beside else {}),
            "sums": [str(equation) for equation in publication.sums],
            "refined_to": refined_to(publication),
        }

    def internal(self) -> dict[str, Any]:
        """What the office keeps beside the public certificate."""
        return {
            "schema": SCHEMA,
            "family": "suppression",
            "name": self.published.name,
            "attacker": self.attacker.describe(),
            **self._together(),
            "primaries": self.primaries,
            "secondaries": self.secondaries,
            "sliding_only": self.sliding_only,
            "repaired": self.repaired,
            **self._sums(),
            **self._parts(),
            "witnesses": len(self.examination.witnesses),
            **outer_intervals(self.examination),
            "intervals": interval_columns(self.published, self.examination),
        }

    def _sums(self) -> dict[str, int]:
        """How many sums of cells of all tables were judged, and how many had to be shown."""
        unsafe = self.proof.unsafe
        if unsafe is None:
            return {}
        found = {"sums_judged": unsafe.judged, "sums_unsafe": len(unsafe)}
        insiders = self.proof.insiders
        if insiders is not None:
            found |= {"insiders_who_pool": insiders.coalition, "insiders_asked": insiders.asked}
        return found

    @property
    def _scope(self) -> Scope:
        """What was attacked and judged."""
        proof, publication, known = self.proof, self.proof.publication, self.proof.insiders
        return Scope(
            earlier=len(publication.beside),
            complete=all_cells(publication).complete,
            parts=proof.parts_claimed,
            rests=proof.rests_claimed,
            crossed=proof.crossed_claimed,
            groups=self.groups,
            unlisted=known is not None and bool(known.unlisted),
            untold=known is not None and known.untold,
            already=known is not None and known.already,
        )

    def _parts(self) -> dict[str, int]:
        """How many revealed parts and rests were judged, and how many could not be."""
        found: dict[str, int] = {}
        proof = self.proof
        revealed = {"parts": proof.parts, "rests": proof.rests, "crossed": proof.crossed}
        for name, judged in revealed.items():
            if judged is not None:
                found[f"{name}_judged"] = judged.judged
                found[f"{name}_not_judged"] = judged.unjudged
        return found

    def summary(self, language: str = "en") -> list[str]:
        """The certificate in plain sentences, for the office."""
        return summary(
            language,
            self.proof.publication,
            self._scope,
            self.attacker,
            cells=self.published.value.size,
            primaries=self.primaries,
            secondaries=self.secondaries,
            witnesses=len(self.examination.witnesses),
            sliding_only=self.sliding_only,
            repaired=self.repaired,
            outer=self.outsider.outer,
            quick=self.outsider.quick,
            unsafe=self.proof.unsafe,
        )


def outer_intervals(examination: Examination) -> dict[str, Any]:
    """How many of a table's intervals are outer bounds, where some are, and of what kind."""
    if not examination.outer:
        return {}
    quick = {"single_equations": True} if examination.quick else {}
    return {"outer_intervals": examination.outer, **quick}


def beside(publication: Publication) -> list[dict[str, str]]:
    """The tables of earlier releases: where they were published, and a digest of each."""
    earlier = publication.tables[len(publication.own) :]
    shown = [table if table.of_changed is None else table.of_changed.shown for table in earlier]
    return [
        {"release": release, "table": name, "digest": content_digest(replace(table, name=name))}
        for (release, name), table in zip(publication.beside, shown, strict=True)
    ]


def refined_to(publication: Publication) -> str | None:
    """What ties several tables: equations between cells, atoms, or combinations of all codes.

    None for a single table.
    """
    if len(publication.tables) == 1:
        return None
    equal, atoms, combinations = TIES
    if all_cells(publication).crossed:
        return combinations
    return atoms if equations(publication).latent.any() else equal


def least_width(table: Published) -> int:
    """How wide the interval of a suppressed cell is at least, in scaled units.

    A value must not be known as exactly as it would have been published.
    """
    return 1 if table.rounding == 1 else table.rounding + 1


def targets_of(
    published: Published | Publication,
    value: NDArray[np.int64],
    requirements: Requirements,
    unclaimed: NDArray[np.int64] | None = None,
) -> Targets:
    """How far every suppressed cell has to be able to move for the claim to hold.

    published: what is published; positions count through all tables.
    value: original values of all cells, scaled integers.
    unclaimed: positions of suppressed cells that need not be uncertain at all; None: there are
        none.
    """
    publication = together(published)
    cell = np.flatnonzero(publication.suppressed)
    at = np.searchsorted(cell, requirements.cell)
    unreachable = np.iinfo(np.int64).max
    low = np.full(len(cell), unreachable, dtype=np.int64)
    high = np.full(len(cell), -unreachable, dtype=np.int64)
    exact = [least_width(table) for table in publication.tables]
    width = np.repeat(exact, np.diff(publication.starts))[cell].astype(np.int64)
    if unclaimed is not None:
        width[np.searchsorted(cell, unclaimed)] = 0
    original = np.asarray(value).ravel()[requirements.cell]
    low[at] = original - requirements.lower
    high[at] = original + requirements.upper
    width[at] = np.maximum(requirements.sliding, width[at])
    return Targets(low, high, width)


def certify(
    published: Published | Publication,
    attacker: Attacker,
    requirements: Requirements,
    examination: Examination,
    original: NDArray[np.int64],
    *,
    unsafe: UnsafeSums | None = None,
    parts: JudgedParts | None = None,
    insiders: InsidersWithstood | None = None,
    rests: JudgedParts | None = None,
    crossed: JudgedParts | None = None,
    sliding_only: Sequence[int] | None = None,
    repaired: int = 0,
    groups: Sequence[bool] | None = None,
    unclaimed: NDArray[np.int64] | None = None,
    progress: Progress = silent,
    deadline: Deadline = NEVER,
) -> list[SuppressionCertificate]:
    """The certificate of each table published now, if the examination proves every claim.

    `original` are the original values of all cells, flat, which only the office keeps; `unsafe`
    are the sums of suppressed cells that a contributor must not know too closely; `parts`,
    `rests` and `crossed` say how many revealed ones were judged, none of them unsafe; `insiders`
    what was asked of contributors who know what is theirs; `sliding_only` and `groups`, of each
    table, as in `SuppressionCertificate`; `unclaimed` as in `targets_of`; `deadline` ends what is
    only told, never what is claimed.
    """
    publication = together(published)
    if not publication.suppressed[requirements.cell].all():
        raise ProofError("unsafe cells are published; nothing was certified")
    if not np.array_equal(examination.cell, np.flatnonzero(publication.suppressed)):
        raise ProofError("other cells were attacked than are suppressed; nothing was certified")
    missed = unmet(examination, targets_of(publication, original, requirements, unclaimed))
    if missed.any():
        many = Count(missed.sum())
        raise ProofError(
            f"{many} suppressed {many:cell|cells} can be narrowed down too far; nothing was "
            "certified"
        )
    if attacker.contributor and (unsafe is None or insiders is None):
        raise ProofError("what a contributor knows was not judged; nothing was certified")
    if unsafe is not None and (open_sums := unmet_sums(examination, unsafe, original)).any():
        many = Count(open_sums.sum())
        raise ProofError(
            f"{many} {many:sum|sums} of suppressed cells can be narrowed down too far; nothing "
            "was certified"
        )
    outsider, seen = examination, seen_by_readers(publication)
    if attacker.informed or seen is not publication:
        outsider = examine(
            seen, Attacker(), progress=progress, original=original, deadline=deadline
        )
    nothing = np.zeros(0, dtype=np.int64) if unclaimed is None else unclaimed
    number = len(publication.own)
    proof = Proof(
        publication,
        requirements,
        examination,
        outsider,
        original,
        nothing,
        unsafe,
        parts,
        insiders,
        rests,
        crossed,
    )
    return [
        SuppressionCertificate(
            published=table,
            attacker=attacker,
            requirements=requirements.between(start, stop),
            examination=own,
            outsider=seen,
            proof=proof,
            sliding_only=sliding,
            repaired=repaired,
            groups=looked,
        )
        for table, own, seen, sliding, looked, (start, stop) in zip(
            publication.own,
            examination.of_tables(publication)[:number],
            outsider.of_tables(publication)[:number],
            [0] * number if sliding_only is None else sliding_only,
            [False] * number if groups is None else groups,
            list(pairwise(publication.starts.tolist()))[:number],
            strict=True,
        )
    ]
