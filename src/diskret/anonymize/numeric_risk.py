"""The verb for the risk of numeric variables: what protected values tell of the original ones."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.anonymize.variables import chosen
from diskret.errors import InputError
from diskret.io import Coded, FrameKind, from_arrow
from diskret.io.columns import some
from diskret.parameters import Seed, reading
from diskret.risk.intervals import (
    HalfWidth,
    HalfWidths,
    Inside,
    RegionRisk,
    Regions,
    deviation_intervals,
    rank_intervals,
    regions,
)
from diskret.risk.linkage import Assignment, Candidates, Links, SampleSize, assigned, linked
from diskret.risk.neighbours import Metric, Seen
from diskret.risk.probabilistic_linkage import ProbabilisticLinks, linked_by_weights
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NumericRisk:
    """What [`Microdata.numeric_risk`][diskret.Microdata.numeric_risk] found. Confidential.

    Parameters
    ----------
    variables
        The numeric variables that were compared.
    links
        Distance-based linkage.
    sdid
        Original values within k standard deviations of the protected ones.
    ranks
        Original values within some ranks of the protected ones.
    regions
        Regions that grow with how outlying a record is, for RMDID1 and RMDID2.
    weights
        Probabilistic linkage, if it was asked for.
    assignment
        One-to-one linkage of a sample, if it was asked for.
    incomplete
        Records with a missing value, before or after, in the numeric variables.
    kind
        The kind of frame that `records` is.
    """

    variables: tuple[str, ...]
    links: Links
    sdid: Inside
    ranks: Inside
    regions: Regions
    weights: ProbabilisticLinks | None
    assignment: Assignment | None
    incomplete: int
    kind: FrameKind

    def __repr__(self) -> str:
        return (
            f"NumericRisk({len(self.links.correct):,} records; {', '.join(self.variables)}; linked "
            f"{self.linked:.2%}; SDID any {self.sdid.share_any:.2%}, all "
            f"{self.sdid.share_all:.2%}; RMDID2 any {self.rmdid2.any:.2%}, all "
            f"{self.rmdid2.all:.2%})"
        )

    @property
    def linked(self) -> float:
        """Expected share of records whose nearest original is their own."""
        return self.links.share

    @property
    def rmdid1(self) -> RegionRisk:
        """Records that stay in their region, in any variable or in all."""
        return self.regions.first

    @property
    def rmdid2(self) -> RegionRisk:
        """Of those, only the ones whose protected values are close to no other's."""
        return self.regions.second

    @cached_property
    def records(self) -> Any:
        """What threatens each record, in input row order, as the kind of frame that came in.

        Columns ``linked`` (probability that its nearest original is its own), ``candidate`` (that
        this is among the candidates), ``sdid_any``, ``sdid_all``, ``rank_any``, ``rank_all``,
        ``rmdid1_any``, ``rmdid1_all``, ``rmdid2_any``, ``rmdid2_all`` (true: at risk),
        ``outlying`` (robust Mahalanobis distance of the original) and, with probabilistic
        linkage, ``linked_by_weights``.
        """
        columns: dict[str, Any] = {
            "linked": self.links.correct,
            "candidate": self.links.among,
            "sdid_any": self.sdid.any,
            "sdid_all": self.sdid.all,
            "rank_any": self.ranks.any,
            "rank_all": self.ranks.all,
            "rmdid1_any": self.rmdid1.at_risk_any,
            "rmdid1_all": self.rmdid1.at_risk_all,
            "rmdid2_any": self.rmdid2.at_risk_any,
            "rmdid2_all": self.rmdid2.at_risk_all,
            "outlying": self.regions.outlying,
        }
        if self.weights is not None:
            columns["linked_by_weights"] = self.weights.correct
        return from_arrow(pa.table(columns), self.kind)

    @cached_property
    def by_variable(self) -> Any:
        """Share of values of each variable that stay close.

        Columns ``variable``, ``sdid``, ``rank`` and ``rmdid1``; null where no record has a value
        in both files.
        """
        shares = {"sdid": self.sdid, "rank": self.ranks, "rmdid1": self.regions.inside}
        columns = {name: pa.array(one.shares, from_pandas=True) for name, one in shares.items()}
        return from_arrow(pa.table({"variable": list(self.variables), **columns}), self.kind)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the figures has to know, in sentences."""
        said: list[str] = []
        if self.incomplete:
            number = Count(self.incomplete)
            said.append(
                f"{number} {number:record has|records have} a missing value; "
                f"{number:it is compared by its|they are compared by their} other variables."
            )
        if self.regions.singular:
            said.append(
                "Original values do not vary in "
                f"{self.regions.singular} of {len(self.variables)} directions, as where a total "
                "stands beside its parts; distances are measured in the others."
            )
        return tuple(said)


@reading
def numeric_risk(
    md: Microdata,
    variables: str | Iterable[str] | None = None,
    k: HalfWidths = (0.05, 0.05),
    *,
    metric: Metric = "standardised",
    blocks: str | Iterable[str] = (),
    keys: str | Iterable[str] = (),
    candidates: Candidates = 10,
    ranks: HalfWidth = 0.05,
    probabilistic: bool = False,
    sample: SampleSize | None = None,
    seed: Seed = 0,
) -> NumericRisk:
    """Compare numeric values with the original ones as an attacker would who knows these.

    Parameters
    ----------
    md
        Protected microdata; the records as they came in are those that the attacker knows. Where
        nothing was protected yet, the figures are those of the unprotected file.
    variables
        Numeric variables; None: all that have this role and are still there.
    k
        The first is half the width of intervals in standard deviations of the original variable,
        for SDID, and for RMDID times the robust Mahalanobis distance of the record. The second is
        the Euclidean distance, in standard deviations, within which another protected record is
        close (RMDID2).
    metric
        Of the linkage: ``"standardised"``, ``"robust"``, ``"mahalanobis"``,
        ``"robust_mahalanobis"`` or ``"gower"``; see [`space`][diskret.risk.neighbours.space].
    blocks
        Categorical variables in which records have to agree to be linked. Where a variable was
        recoded, original values are recoded in the same way.
    keys
        Categorical variables that are part of the distance (``metric="gower"``) and of the weights
        of the probabilistic linkage. Slow for large files; name blocks instead where you can.
    candidates
        How many of the nearest originals an attacker looks at.
    ranks
        Half the width of rank intervals, as a share of the records.
    probabilistic
        Whether records are linked by weights of agreement, too.
    sample
        Number of records that are linked one to one, at most 10,000; None: this is not done.
    seed
        Of the sample.

    Raises
    ------
    InputError
        There is no numeric variable, values are not numbers, a categorical variable cannot be
        compared, or an option is out of range.

    Notes
    -----
    All scales are those of the original values. Values that are missing before or after are
    compared with nothing, and the record by its other variables. See
    [`linked`][diskret.risk.linkage.linked],
    [`linked_by_weights`][diskret.risk.probabilistic_linkage.linked_by_weights],
    [`deviation_intervals`][diskret.risk.intervals.deviation_intervals],
    [`rank_intervals`][diskret.risk.intervals.rank_intervals] and
    [`regions`][diskret.risk.intervals.regions] for the methods and their sources.

    Examples
    --------
    >>> from diskret import Microdata
    >>> firms = pa.table({"turnover": [1.0, 2.0, 4.0, 900.0], "staff": [1, 2, 2, 80]})
    >>> Microdata(firms, numeric=["turnover", "staff"]).numeric_risk()
    NumericRisk(4 records; turnover, staff; linked 100.00%; SDID any 100.00%, all 100.00%; \
RMDID2 any 25.00%, all 25.00%)
    """
    before = md.original
    names = chosen(md, variables)
    true, shown = before.numbers(names), md.numbers(names)
    pairs = {
        role: [common(before.coded(name), md.coded(name)) for name in _named(role, given, md)]
        for role, given in (("keys", keys), ("blocks", blocks))
    }
    original, protected = (
        Seen(numbers, _columns(pairs["keys"], at, md.n), _columns(pairs["blocks"], at, md.n))
        for at, numbers in enumerate((true, shown))
    )
    by_distance = original, protected
    if keys and metric != "gower":
        if not probabilistic:
            raise InputError(
                f"metric={metric!r} has no distance between categories, so keys= has no effect; "
                "choose metric='gower', name the variables in blocks=, or ask for "
                "probabilistic=True"
            )
        by_distance = (
            Seen(true, blocks=original.blocks),
            Seen(shown, blocks=protected.blocks),
        )
    missing = np.isnan(true).any(axis=1) | np.isnan(shown).any(axis=1)
    return NumericRisk(
        names,
        linked(*by_distance, metric, candidates),
        deviation_intervals(true, shown, k[0]),
        rank_intervals(true, shown, ranks),
        regions(true, shown, k),
        linked_by_weights(original, protected) if probabilistic else None,
        None if sample is None else assigned(*by_distance, metric, sample=sample, seed=seed),
        int(missing.sum()),
        md.kind,
    )


def common(before: Coded, after: Coded) -> tuple[Codes, Codes]:
    """Codes of a categorical variable before and after protection that mean the same in both.

    Where values that did not exist before came in, the variable was recoded: if every original
    value always became the same one, the originals are recoded, too.

    >>> from diskret.io import coded
    >>> town = coded(pa.chunked_array([["A", "B", "C"]]), "town")
    >>> recoded = coded(pa.chunked_array([["A", "B or C", None]]), "town")
    >>> [codes.tolist() for codes in common(town, recoded)]
    [[0, 1, -1], [0, 1, -1]]
    """
    if before.categories.type == after.categories.type:
        at = pc.index_in(after.categories, before.categories)
        if not at.null_count:
            place = np.append(at.to_numpy(), -1).astype(np.int32)
            return before.codes, place[after.codes]
    both = (before.codes >= 0) & (after.codes >= 0)
    became = np.full(len(before.categories) + 1, -1, np.int32)
    became[before.codes[both]] = after.codes[both]
    odd = np.flatnonzero(both & (became[before.codes] != after.codes))
    if len(odd):
        number = Count(len(odd))
        raise InputError(
            f"{before.name!r} has new values that do not follow from the original ones (in "
            f"{number} {number:record|records}), so the two cannot be compared; leave it out of "
            "blocks= and keys="
        )
    became[-1] = -1
    return became[before.codes], after.codes


def _named(role: str, given: Iterable[str], md: Microdata) -> tuple[str, ...]:
    names = tuple(given)
    new = [name for name in names if name not in md.original.table.column_names]
    if new:
        raise InputError(
            f"{role}= names {some('column', new)}, which the original records do not have"
        )
    return names


def _columns(pairs: Sequence[tuple[Codes, Codes]], at: int, n: int) -> Codes:
    return np.column_stack([pair[at] for pair in pairs]) if pairs else np.zeros((n, 0), np.int32)
