"""Models of anonymity: how many records agree in their keys, and what these show."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import missing as missing_codes
from diskret.anonymize.missing_codes import on_a_line, with_decimals
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import FrameKind, from_arrow
from diskret.io.columns import code_text, some
from diskret.parameters import Whole, reading
from diskret.risk import Distributions, Keys, Measure, Missing, by_record, frequencies
from diskret.risk.sensitive_figures import (
    disclosure,
    distinct,
    enhanced_likeness,
    entropy,
    hierarchical,
    largest_share,
    likeness,
    nominal,
    ordered,
    recursive,
)
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Codes = NDArray[np.int32]

#: Figures of each record about one sensitive variable, and whether a small one is the bad one.
FIGURES = {
    "distinct": True,
    "entropy": True,
    "recursive": False,
    "alpha": False,
    "closeness": False,
    "beta": False,
    "enhanced_beta": False,
    "delta": False,
}
#: Those that are given, too, for an attacker who knows the other sensitive variables.
_KNOWN = ("distinct", "entropy", "recursive")


@dataclass(frozen=True, eq=False)
class Shown:
    """What records that agree in their keys show of one sensitive variable. Confidential.

    Parameters
    ----------
    name
        The variable.
    scale
        Whether its values are equally far apart, lie on a line or in a tree.
    values
        Number of different values, missing as one of them.
    gaps
        Number of records where it is missing.
    records
        Figure → its value for each record, ``(n,)``: ``distinct`` (values), ``entropy``
        (exponential), ``recursive`` (c), ``alpha`` (largest share), ``closeness`` (t), ``beta``,
        ``enhanced_beta``, ``delta``; with several sensitive variables also the first three with
        ``multi_`` before them, for an attacker who knows the others.
    """

    name: str
    scale: Literal["nominal", "ordered", "tree"]
    values: int
    gaps: int
    records: Mapping[str, NDArray[np.float64]]

    def worst(self, figure: str) -> float:
        """The smallest diversity, or the largest share, distance or increase, of any record."""
        found = self.records[figure]
        return float(found.min() if FIGURES[figure.removeprefix("multi_")] else found.max())


@dataclass(frozen=True, eq=False)
class Anonymity:
    """Which models of anonymity microdata meet. Confidential.

    Parameters
    ----------
    keys
        The variables an attacker is taken to know.
    frequency
        Records that agree with each record, itself included, ``(n,)``.
    variables
        One entry for each sensitive variable.
    missing
        What a missing key stands for.
    kind
        The kind of frame that `records` and `sensitive` are.
    """

    keys: tuple[str, ...]
    frequency: NDArray[np.int64]
    variables: tuple[Shown, ...]
    missing: Missing
    kind: FrameKind

    def __repr__(self) -> str:
        shown = "".join(
            f"; {one.name}: {one.worst('distinct'):g} distinct, entropy "
            f"{one.worst('entropy'):.3g}, closeness {one.worst('closeness'):.3g}"
            for one in self.variables
        )
        return (
            f"Anonymity({len(self.frequency):,} records; keys: {', '.join(self.keys)}; "
            f"k = {self.k:,}{shown})"
        )

    @property
    def k(self) -> int:
        """The smallest number of records that agree: the file is k-anonymous."""
        return int(self.frequency.min())

    def below(self, k: float) -> int:
        """Number of records that agree with fewer than k, themselves included."""
        return int((self.frequency < k).sum())

    def share_below(self, k: float) -> float:
        """Share of records that agree with fewer than k, themselves included."""
        return self.below(k) / len(self.frequency)

    @property
    def diversity(self) -> int:
        """Fewest distinct values of any sensitive variable: distinct l-diversity."""
        return int(self._worst("distinct"))

    @property
    def entropy(self) -> float:
        """The largest l of entropy l-diversity that holds for every sensitive variable."""
        return self._worst("entropy")

    @property
    def recursive(self) -> float:
        """Recursive (c, l)-diversity holds for every c above it."""
        return self._worst("recursive")

    @property
    def alpha(self) -> float:
        """The largest share of a sensitive value: (α, k)-anonymity holds from there on."""
        return self._worst("alpha")

    @property
    def closeness(self) -> float:
        """The largest distance of a distribution from that of the file: t-closeness."""
        return self._worst("closeness")

    @property
    def beta(self) -> float:
        """The largest relative increase of a sensitive value's share: basic β-likeness."""
        return self._worst("beta")

    @property
    def enhanced_beta(self) -> float:
        """The same for enhanced β-likeness; infinite if no β will do."""
        return self._worst("enhanced_beta")

    @property
    def delta(self) -> float:
        """δ-disclosure privacy holds for every δ above it; infinite if values are absent."""
        return self._worst("delta")

    @cached_property
    def records(self) -> Any:
        """Figures of each record in input row order, as the kind of frame that came in.

        ``frequency``, and for each sensitive variable its figures with its name before them, as
        in ``disease_distinct``.
        """
        columns: dict[str, NDArray[Any]] = {"frequency": self.frequency}
        for one in self.variables:
            for figure, values in one.records.items():
                whole = figure.endswith("distinct")
                columns[f"{one.name}_{figure}"] = values.astype(np.int64) if whole else values
        return from_arrow(pa.table(columns), self.kind)

    @cached_property
    def sensitive(self) -> Any:
        """One row for each sensitive variable with its worst figures, as the caller's kind."""
        rows = [
            {
                "variable": one.name,
                "scale": one.scale,
                "values": one.values,
                "missing": one.gaps,
                **{
                    figure: int(one.worst(figure))
                    if figure.endswith("distinct")
                    else one.worst(figure)
                    for figure in one.records
                },
            }
            for one in self.variables
        ]
        return from_arrow(pa.Table.from_pylist(rows), self.kind)

    def _worst(self, figure: str) -> float:
        if not self.variables:
            raise InputError("no sensitive variable is named; give sensitive=")
        found = [one.worst(figure) for one in self.variables]
        return min(found) if FIGURES[figure] else max(found)


@reading
def anonymity(
    md: Microdata,
    missing: Missing = "wildcard",
    sensitive: str | Iterable[str] | None = None,
    ordered: Iterable[str] | Mapping[str, Sequence[Any]] = (),
    trees: Mapping[str, Hierarchy] | None = None,
    keys: str | Iterable[str] | None = None,
    l: Annotated[int, Whole(1)] = 2,  # noqa: E741
) -> Anonymity:
    """Judge what records that agree in their keys have in common.

    The number of them (k-anonymity, Samarati 2001), and for each sensitive variable: distinct,
    entropy and recursive l-diversity (Machanavajjhala et al. 2007), the largest share ((α,
    k)-anonymity, Wong et al. 2006), the earth mover's distance to the whole file (t-closeness, Li
    et al. 2007), and how much more or less frequent values are than in it (β-likeness, Cao and
    Karras 2012; δ-disclosure privacy, Brickell and Shmatikov 2008).

    Each sensitive variable is judged apart. An attacker may also know the others: with several,
    diversity is given for that, too, as Machanavajjhala et al. define it: they count as keys.

    Parameters
    ----------
    md
        The microdata.
    missing
        What a missing key stands for. ``"wildcard"``: it agrees with every value, so that a record
        is judged by all records it may belong to. ``"category"``: with missing values only.
        ``"conservative"``: a record with one agrees with nobody but itself. A missing sensitive
        value is a value of its own.
    sensitive
        Sensitive variables; None: those of the microdata. Without any, only k is found.
    ordered
        Those whose values lie on a line, in their order (declared, or that of numbers and dates);
        a mapping gives the values in their order. Numbers with decimals always do. All others are
        equally far apart. What is missing, and each code that means so in the file, lies beside
        the line, as far from all values as its ends from each other.
    trees
        Sensitive variable → code tree: values are as far apart as their lowest common code is
        high. Codes that are no values may be left out, values may not. What is missing hangs
        below the top, as do codes for that which the tree does not have.
    keys
        Other variables than the keys of the microdata.
    l
        For recursive (c, l)-diversity: the values from the l-th most frequent one on have to be
        frequent.

    Returns
    -------
    Anonymity
        Figures of each record and of the file.

    Raises
    ------
    InputError
        There is no key; a sensitive variable is missing or a key; an order or a tree lacks a value,
        or belongs to no sensitive variable.

    Examples
    --------
    >>> from diskret import Microdata
    >>> persons = pa.table({"age": ["20-29"] * 3 + ["30-39"] * 3,
    ...                     "illness": ["flu", "flu", "cold", "flu", "gout", "cold"]})
    >>> found = Microdata(persons, keys=["age"], sensitive=["illness"]).anonymity()
    >>> found.k, found.diversity, round(found.entropy, 3), round(found.closeness, 3)
    (3, 2, 1.89, 0.167)
    """
    chosen = md.keys(None if keys is None else tuple(keys))
    names = md.roles.sensitive if sensitive is None else tuple(sensitive)
    orders = {} if not isinstance(ordered, Mapping) else ordered
    on_line = (ordered,) if isinstance(ordered, str) else tuple(ordered)
    _check_names(chosen.names, names, [*on_line, *(trees or {})])
    numbers = {name: _numbers(md, name, name in on_line, orders.get(name)) for name in names}
    frequency = frequencies(chosen, None, missing).sample.astype(np.int64)
    return Anonymity(
        chosen.names,
        frequency,
        tuple(
            _shown(md, chosen, name, numbers, missing, (trees or {}).get(name), l) for name in names
        ),
        missing,
        md.kind,
    )


def _shown(
    md: Microdata,
    keys: Keys,
    name: str,
    numbers: Mapping[str, tuple[Codes, int | None]],
    missing: Missing,
    tree: Hierarchy | None,
    l: int,  # noqa: E741
) -> Shown:
    values, beside = numbers[name]
    scale: Literal["nominal", "ordered", "tree"] = "nominal" if beside is None else "ordered"
    distance: Measure = nominal if beside is None else partial(ordered, beside=beside)
    if tree is not None:
        scale, distance = "tree", _in_tree(md, name, tree)

    def figures(found: Distributions) -> NDArray[np.float64]:
        return np.stack(
            [
                *_diversity(found, l),
                largest_share(found),
                distance(found),
                likeness(found),
                enhanced_likeness(found),
                disclosure(found),
            ]
        )

    records = dict(zip(FIGURES, by_record(keys, values, figures, missing), strict=True))
    others = [codes for other, (codes, _) in numbers.items() if other != name]
    if others:
        known = by_record(keys, values, lambda found: _diversity(found, l), missing, others)
        records |= {f"multi_{figure}": row for figure, row in zip(_KNOWN, known, strict=True)}
    there = np.bincount(values)
    return Shown(name, scale, int(np.count_nonzero(there)), int(there[0]), records)


def _diversity(found: Distributions, l: int) -> NDArray[np.float64]:  # noqa: E741
    return np.stack([distinct(found), entropy(found), recursive(found, l)])


def _check_names(keys: Sequence[str], names: Sequence[str], described: Sequence[str]) -> None:
    both = [name for name in names if name in keys]
    if both:
        raise InputError(
            f"{some('column', both)} is a key and sensitive at the same time; who knows it learns "
            "nothing from it, so name it once"
        )
    others = [name for name in described if name not in names]
    if others:
        raise InputError(
            f"ordered= or trees= names {some('column', others)}, which is not sensitive; the "
            f"sensitive variables are {', '.join(map(repr, names)) or 'none'}"
        )


def _numbers(
    md: Microdata, name: str, on_line: bool, order: Sequence[Any] | None
) -> tuple[Codes, int | None]:
    """Numbers of values, 0 if missing; on a line ascending after the first, which are beside it."""
    decimals = with_decimals(md, name)
    if not on_line and not decimals:
        return md.coded(name).codes + np.int32(1), None
    line = on_a_line(md, name, order, decimals=decimals)
    return line.numbers, line.beside


def _in_tree(md: Microdata, name: str, tree: Hierarchy) -> Measure:
    """The distance in a tree, for the values that occur."""
    coded = md.coded(name)
    codes = code_text(pa.chunked_array([coded.categories]), name).to_pylist()
    at = np.array([tree.position.get(code, -1) for code in codes], dtype=np.intp)
    apart = missing_codes(md, name, coded.categories) & (at < 1)
    _refuse_unknown(name, coded.categories, (at < 1) & ~apart, "its tree in trees=")
    occurs = np.bincount(coded.codes + 1, minlength=len(codes) + 1) > 0
    # what is missing hangs below the root, each code apart, as far as possible from all others
    chains = [
        np.array([len(tree) + i]) if i == 0 or apart[i - 1] else tree.ancestors[at[i - 1]][:-1]
        for i in np.flatnonzero(occurs)
    ]
    height = max(len(chain) for chain in chains)
    ancestors = [
        np.array([chain[max(level - height + len(chain), 0)] for chain in chains], dtype=np.intp)
        for level in range(height)
    ]
    return lambda found: hierarchical(found, ancestors)


def _refuse_unknown(name: str, values: pa.Array, wrong: NDArray[np.bool_], where: str) -> None:
    if wrong.any():
        shown = ", ".join(repr(v) for v in values.filter(pa.array(wrong))[:5].to_pylist())
        number = Count(wrong.sum())
        raise InputError(
            f"{number} {number:value|values} of {name!r} {number:is|are} not in {where}: {shown}"
        )
