"""The verb for PRAM: values of categorical variables change at random."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.anonymize.missing_codes import in_its_order, with_codes
from diskret.anonymize.variables import chance, check_divide, chosen
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io import Coded, FrameKind, from_arrow
from diskret.microdata import TransitionMatrix, TransitionRisk
from diskret.microdata.pram import Design, decoded, drawn, stratified
from diskret.microdata.pram_estimates import combined
from diskret.microdata.transition_programme import Band, Forbidden, admissible
from diskret.microdata.transitions import spread
from diskret.parameters import Probability, Seed, reading

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: A variable, or several that change together.
Variable = str | Sequence[str]

#: So much of all records the frequencies of a given matrix may be off.
_OFF = 1e-6


@dataclass(frozen=True, eq=False)
class Transitions:
    """What values of a variable become, and how credible they are then. Confidential.

    Parameters
    ----------
    variable
        The variable, or several that change together.
    strata
        Variables that divide the records.
    risks
        For each combination of their values (``()`` without strata) the figures, which hold the
        matrix and the frequencies.
    kind
        Of frames.
    """

    variable: tuple[str, ...]
    strata: tuple[str, ...]
    risks: Mapping[tuple[Hashable | None, ...], TransitionRisk]
    kind: FrameKind

    def __repr__(self) -> str:
        return f"Transitions({' x '.join(self.variable)}; {len(self.risks)} matrices)"

    @property
    def matrix(self) -> TransitionMatrix:
        """The matrix, if there is one for all records.

        Raises
        ------
        InputError
            There are strata, each with its own.
        """
        if len(self.risks) > 1:
            raise InputError(f"{self!r}: there is a matrix for each stratum; take them from risks")
        return next(iter(self.risks.values())).matrix

    @property
    def frame(self) -> Any:
        """Figures of each category in each stratum, see `TransitionRisk`."""
        tables: list[pa.Table] = []
        for values, risk in self.risks.items():
            table = risk.table
            for at, (name, value) in enumerate(zip(self.strata, values, strict=True)):
                table = table.add_column(at, name, pa.array([value] * table.num_rows))
            tables.append(table)
        whole = pa.concat_tables(tables, promote_options="permissive")
        return from_arrow(whole, self.kind)


@reading
def transitions(
    md: Microdata,
    variable: Variable,
    *,
    matrix: Any = None,
    stay: Probability = 0.8,
    invariant: bool = True,
    forbidden: Forbidden | None = None,
    band: Band | None = None,
    strata: str | Iterable[str] | None = None,
) -> Transitions:
    """The matrices that [`pram`][diskret.anonymize.pram.pram] would use, and their worth.

    Nothing is drawn: the matrices depend on the frequencies alone.

    Parameters
    ----------
    md
        The microdata.
    variable, matrix, stay, invariant, forbidden, band, strata
        As for `pram`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table({"job": ["baker"] * 90 + ["mayor"] * 10})
    >>> found = Microdata(persons, keys=["job"]).transitions("job", stay=0.8)
    >>> found.matrix.probabilities.round(4).tolist()
    [[0.9778, 0.0222], [0.2, 0.8]]
    """
    names = _names(md, [variable])[0]
    divided, by = _strata(md, strata, [names])
    values, of = combined(_columns(md, names, band, matrix))
    design = _design(names, values, matrix, stay, invariant, forbidden, band, exact=False)
    made = stratified(values, of, by, design, " x ".join(names))
    risks = {one.values: one.matrix.risk(one.counts) for one in made}
    return Transitions(names, divided, risks, md.kind)


@verb()
def pram(
    md: Microdata,
    variables: str | Iterable[Variable],
    *,
    seed: Seed,
    matrix: Any = None,
    stay: Probability = 0.8,
    invariant: bool = True,
    exact: bool = False,
    forbidden: Forbidden | None = None,
    band: Band | None = None,
    strata: str | Iterable[str] | None = None,
) -> Microdata:
    """Change values of categorical variables at random, with known probabilities (PRAM).

    Parameters
    ----------
    md
        The microdata.
    variables
        Names of variables, which change one by one; a tuple of names in the list is a group that
        changes together, so that no combination appears that does not occur. Missing values stay
        missing; where one of a group is missing, the others stay, too.
    seed
        Of the draws; secret like a key: who knows it can try out which values give the file.
        Same seed, same file in the same order: same result. Each variable has draws of its own,
        which follow from its values, too: another edition and a second call draw anew.
    matrix
        For a single variable: a
        [`TransitionMatrix`][diskret.microdata.TransitionMatrix], a frame of one, or lists
        ``categories`` and ``probabilities``; taken as it is. None: made from the rest.
    stay
        Least probability that a value stays, equally likely each other one (as far as `band` and
        `forbidden` allow) becomes of it.
    invariant
        Keep all frequencies (of records, not weighted) in expectation, see
        [`balanced`][diskret.microdata.TransitionMatrix.balanced]. A given matrix is checked.
        False: they have to be estimated.
    exact
        Keep them exactly, in each stratum.
    forbidden
        For a single variable: pairs of values that do not become each other.
    band
        A value moves by so many places at most in the order of the variable (declared, or that of
        numbers and dates; other text is refused).
    strata
        Variables; records change separately in each combination of their values, into values
        that occur there. None: the strata of the microdata; ``[]``: none.

    Raises
    ------
    InputError
        A variable is missing or there twice, options contradict each other, or a given matrix
        does not fit.

    Notes
    -----
    Step of the history: ``changed`` and ``expected`` number of changed values by variable, and
    ``categories``, the same by category.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), "Post randomisation for statistical
    disclosure control: theory and implementation", Journal of Official Statistics 14.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table({"job": ["baker"] * 90 + ["mayor"] * 10})
    >>> made = Microdata(persons, keys=["job"]).pram(["job"], seed=1, exact=True)
    >>> made.frame["job"].value_counts().to_pylist()[1]["counts"]
    10
    >>> made.history[0].found["changed"]
    {'job': 4}
    """
    parts = _names(md, [variables] if isinstance(variables, str) else variables)
    _, by = _strata(md, strata, parts)
    if len(parts) > 1 and (matrix is not None or forbidden is not None):
        raise InputError(
            f"matrix= and forbidden= are for a single variable, and there are {len(parts)}; "
            "call pram for each"
        )
    if exact and not invariant:
        raise InputError("exact=True keeps frequencies, so it needs invariant=True")
    matrix = None if matrix is None else TransitionMatrix.given(matrix)
    forbidden = None if forbidden is None else [list(pair) for pair in forbidden]
    columns: dict[str, pa.ChunkedArray] = {}
    found: dict[str, Any] = {"changed": {}, "expected": {}, "categories": {}}
    for names in parts:
        label, before = " x ".join(names), _columns(md, names, band, matrix)
        values, of = combined(before)
        design = _design(names, values, matrix, stay, invariant, forbidden, band, exact)
        made = stratified(values, of, by, design, label)
        rng = chance(md, "pram", seed, names)
        draws = rng.bit_generator.random_raw(md.n)
        new = [drawn(one, draws[one.rows], rng if exact else None) for one in made]
        for after in decoded(before, made, new):
            columns[after.name] = after.column()
            if _on_a_line(names, band, matrix):
                columns[after.name] = with_codes(md, after.name, columns[after.name])
        figures = _figures(
            [
                (one.matrix.categories, one.matrix.risk(one.counts).expected_changes, one.at, after)
                for one, after in zip(made, new, strict=True)
            ]
        )
        found["categories"][label] = figures
        found["changed"][label] = sum(one["changed"] for one in figures.values())
        found["expected"][label] = fsum(one["expected"] for one in figures.values())
    told = {
        "variables": [names[0] if len(names) == 1 else list(names) for names in parts],
        "matrix": None if matrix is None else matrix.plain(),
        "forbidden": forbidden,
    }
    return md.after(columns, Step("pram", told, found))


def _names(md: Microdata, variables: Iterable[Variable]) -> list[tuple[str, ...]]:
    parts = [(one,) if isinstance(one, str) else tuple(one) for one in variables]
    listed = [name for names in parts for name in names]
    chosen(md, listed)
    return parts


def _strata(
    md: Microdata, strata: str | Iterable[str] | None, parts: Iterable[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[Coded]]:
    """Names and codes of the variables that divide the records."""
    if strata is None:
        strata = md.roles.strata
    divided = (strata,) if isinstance(strata, str) else tuple(strata)
    check_divide(divided, (name for names in parts for name in names))
    return divided, [md.coded(name) for name in divided]


def _columns(md: Microdata, names: tuple[str, ...], band: int | None, matrix: Any) -> list[Coded]:
    """The variables; in its order the one that moves within a band."""
    if _on_a_line(names, band, matrix):
        return [in_its_order(md, names[0])]
    return [md.coded(name) for name in names]


def _on_a_line(names: tuple[str, ...], band: int | None, matrix: Any) -> bool:
    return band is not None and matrix is None and len(names) == 1


def _design(
    names: tuple[str, ...],
    values: Sequence[Hashable | None],
    matrix: Any,
    stay: float,
    invariant: bool,
    forbidden: Forbidden | None,
    band: int | None,
    exact: bool,
) -> Design:
    """How the matrix of a stratum is made."""
    label = " x ".join(names)
    if matrix is not None:
        if forbidden is not None or band is not None:
            raise InputError(
                "a given matrix= says itself what is possible; leave out forbidden= and band="
            )
        whole = TransitionMatrix.given(matrix)

        def fixed(categories: tuple[Hashable, ...], counts: NDArray[np.int64]) -> TransitionMatrix:
            if invariant:
                _check_invariant(label, whole, categories, counts, exact)
            return whole

        return fixed
    if band is not None and len(names) > 1:
        raise InputError(f"band= needs an order, which combinations of {label} do not have")
    known = tuple(value for value in values if value is not None)
    others = admissible(known, band, forbidden or ())
    at = {value: place for place, value in enumerate(known)}

    def made(categories: tuple[Hashable, ...], counts: NDArray[np.int64]) -> TransitionMatrix:
        here = [at[value] for value in categories]
        plain = spread(categories, stay, others[np.ix_(here, here)])
        return plain.balanced(counts) if invariant else plain

    return made


def _check_invariant(
    label: str,
    matrix: TransitionMatrix,
    categories: tuple[Hashable, ...],
    counts: NDArray[np.int64],
    exact: bool,
) -> None:
    number = dict(zip(categories, counts.tolist(), strict=True))
    true = np.array([number.get(one, 0) for one in matrix.categories], dtype=np.float64)
    off = np.abs(matrix.published(true) - true)
    if off.max(initial=0) > _OFF * (1 if exact else max(true.sum(), 1)):
        worst = int(off.argmax())
        raise InputError(
            f"the matrix of {label!r} does not keep frequencies: {matrix.categories[worst]!r} has "
            f"{true[worst]:,.0f} records, and {matrix.published(true)[worst]:,.6g} are expected; "
            "make it invariant with .balanced(frequencies) or .two_step(frequencies), or say "
            "invariant=False and estimate frequencies afterwards"
        )


def _figures(
    strata: Iterable[
        tuple[tuple[Hashable, ...], NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]
    ],
) -> dict[str, dict[str, Any]]:
    """Changed values, drawn and expected, by category."""
    made: dict[str, dict[str, Any]] = {}
    for categories, expected, before, after in strata:
        changed = np.bincount(before[before != after], minlength=len(categories)).tolist()
        for value, drawn_, mean in zip(categories, changed, expected.tolist(), strict=True):
            label = " x ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            entry = made.setdefault(label, {"changed": 0, "expected": 0.0})
            entry["changed"] += drawn_
            entry["expected"] += mean
    return made
