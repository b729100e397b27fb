"""What may be claimed of microdata, each to be checked on the values as they leave."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pyarrow as pa

from diskret.errors import InputError
from diskret.parameters import Declared, Names, Number, Positive, Share, Whole
from diskret.tables.lists import table_lists

__all__ = [
    "AlphaK",
    "BetaLikeness",
    "Claim",
    "DeltaDisclosure",
    "ExpectedBelow",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "Missing",
    "NoIdentifiers",
    "RiskBelow",
    "Safe",
    "TCloseness",
]

#: What a missing value of a key stands for: any value, a value of its own, or no match at all.
Missing = Literal["wildcard", "category", "conservative"]
AtLeast2 = Annotated[int, Whole(2)]
Variables = Annotated[tuple[str, ...], Names(some=True)]


@dataclass(frozen=True)
class KAnonymity(Declared):
    """Every record agrees in its keys with at least k - 1 others.

    Source: Samarati (2001), Sweeney (2002).

    Parameters
    ----------
    k
        At least 2.
    keys
        Some of the keys; None: all.
    missing
        Whether a missing value agrees with every value (``"wildcard"``), with missing ones only
        (``"category"``), or with nothing (``"conservative"``).
    size
        Whether it holds for every choice of so many of the keys, instead of all at once.

    Raises
    ------
    InputError
        k or the size is no such number, or `missing` is unknown.

    Examples
    --------
    >>> KAnonymity(3)
    KAnonymity(k=3, keys=None, missing='wildcard', size=None)
    """

    k: AtLeast2
    keys: Variables | None = None
    missing: Missing = "wildcard"
    size: Annotated[int, Whole(1)] | None = None


@dataclass(frozen=True)
class RiskBelow(Declared):
    """No record's risk of being recognised exceeds a threshold.

    The risk is the expected value of one over the number of persons of the population who
    share the keys; without weights, one over those in the file. It is the larger of two estimates:
    by the weights of those who share the keys (Benedetti and Franconi 1998), which is too low for
    many who are alone in a small sample; and by a log-linear model of the counts, see
    [`population_uniques`][diskret.Microdata.population_uniques].

    Parameters
    ----------
    threshold
        Above 0, up to 1. Confidential.
    household
        Whether the risk is that any member of the household is recognised.
    missing
        See `KAnonymity`.

    Raises
    ------
    InputError
        The threshold is no such number, or `missing` is unknown.
    """

    threshold: Share
    household: bool = False
    missing: Missing = "wildcard"


@dataclass(frozen=True)
class ExpectedBelow(Declared):
    """On average over all records, the risk of being recognised does not exceed a rate.

    The sum of the risks is the larger of two estimates: by the weights alone, which is too low
    where keys depend on each other and few persons are in the file; and by a log-linear model of
    the counts, see [`population_uniques`][diskret.Microdata.population_uniques].

    Parameters
    ----------
    rate
        Expected re-identifications for each record, above 0, up to 1. Confidential.
    missing
        See `KAnonymity`.

    Raises
    ------
    InputError
        The rate is no such number, or `missing` is unknown.
    """

    rate: Share
    missing: Missing = "wildcard"


@dataclass(frozen=True)
class LDiversity(Declared):
    """Records that agree in the keys show diverse sensitive values.

    Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007).

    Parameters
    ----------
    l
        At least 1; a whole number for ``"distinct"`` and ``"recursive"``. Confidential.
    sensitive
        For each of these apart; None: all sensitive variables.
    kind
        ``"distinct"``: l different values; ``"entropy"``: entropy at least log l;
        ``"recursive"``: the most frequent value is less frequent than `c` times all from the
        l-th on.
    c
        Above 0, for ``"recursive"``. Confidential.
    others_known
        Whether an attacker may know the other sensitive variables (multi-attribute
        l-diversity).
    missing
        Of keys, see `KAnonymity`; a missing sensitive value is a value like others.

    Raises
    ------
    InputError
        An argument is not admissible.
    """

    l: Annotated[float, Number(low=1)]  # noqa: E741
    sensitive: Variables | None = None
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: Positive | None = None
    others_known: bool = False
    missing: Missing = "wildcard"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind != "entropy" and self.l % 1:
            raise InputError(f"l= must be a whole number from 1 upwards, not {self.l!r}")
        if self.kind == "recursive" and self.c is None:
            raise InputError("c= must be a number above 0 with kind='recursive', not None")
        if self.kind != "recursive" and self.c is not None:
            raise InputError(f"c={self.c!r} belongs to kind='recursive', not to {self.kind!r}")


@dataclass(frozen=True)
class TCloseness(Declared):
    """The sensitive values of records that agree in the keys are distributed as in the file.

    Source: Li, Li and Venkatasubramanian (2007).

    Parameters
    ----------
    t
        Largest earth mover's distance of the distributions, above 0, up to 1. Confidential.
    sensitive
        For each of these apart; None: all sensitive variables.
    ordered
        Whether values next to each other are near: in the order of the variable (that of its
        numbers or dates, or the one that was declared), or in the order that is given here, the
        lowest first; else all are equally far. Text without a declared order is refused. What is
        missing, and each code for that, is as far from all values as the ends of the order from
        each other.
    missing
        Of keys, see `KAnonymity`; a missing sensitive value is a value of its own.

    Raises
    ------
    InputError
        An argument is not admissible.
    """

    t: Share
    sensitive: Variables | None = None
    ordered: bool | tuple[Any, ...] = False
    missing: Missing = "wildcard"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.ordered, bool):
            object.__setattr__(self, "ordered", tuple(self.ordered))


@dataclass(frozen=True)
class AlphaK(Declared):
    """k-anonymity, and no sensitive value is frequent among records that agree in the keys.

    Source: Wong, Li, Fu and Wang (2006).

    Parameters
    ----------
    alpha
        Largest share of a sensitive value, above 0, up to 1. Confidential.
    k
        At least 2.
    sensitive
        For each of these apart; None: all sensitive variables.
    missing
        Of keys, see `KAnonymity`; a missing sensitive value is a value like others.

    Raises
    ------
    InputError
        An argument is not admissible.
    """

    alpha: Share
    k: AtLeast2
    sensitive: Variables | None = None
    missing: Missing = "wildcard"


@dataclass(frozen=True)
class BetaLikeness(Declared):
    """No sensitive value is much more frequent among records that agree in the keys.

    Source: Cao and Karras (2012).

    Parameters
    ----------
    beta
        Largest relative increase of a value's share over that in the file, above 0.
        Confidential.
    sensitive
        For each of these apart; None: all sensitive variables.
    enhanced
        Whether the increase of a value with share p is bounded by the smaller of beta and
        -log p, so that frequent values are bounded, too.
    missing
        Of keys, see `KAnonymity`; a missing sensitive value is a value like others.

    Raises
    ------
    InputError
        An argument is not admissible.
    """

    beta: Positive
    sensitive: Variables | None = None
    enhanced: bool = True
    missing: Missing = "wildcard"


@dataclass(frozen=True)
class DeltaDisclosure(Declared):
    """No sensitive value is much more or less frequent among records that agree in the keys.

    Source: Brickell and Shmatikov (2008).

    Parameters
    ----------
    delta
        The logarithm of a share relative to that in the file stays below it in size, above 0.
        Confidential. Every value then has to occur among records that agree.
    sensitive
        For each of these apart; None: all sensitive variables.
    missing
        Of keys, see `KAnonymity`; a missing sensitive value is a value like others.

    Raises
    ------
    InputError
        An argument is not admissible.
    """

    delta: Positive
    sensitive: Variables | None = None
    missing: Missing = "wildcard"


@dataclass(frozen=True, eq=False)
class KMap(Declared):
    """Every record agrees in its keys with at least k persons of a known population.

    Source: Sweeney (2002); El Emam and Dankar (2008).

    Parameters
    ----------
    k
        At least 2.
    population
        The persons of the population, with the keys among their columns: any kind of frame.
        Confidential.
    count
        Its column with numbers of persons, if a row is more than one.
    missing
        See `KAnonymity`.

    Raises
    ------
    InputError
        k is no such number, or `missing` is unknown.
    """

    k: AtLeast2
    population: Any
    count: str | None = None
    missing: Missing = "wildcard"


@dataclass(frozen=True)
class Safe(Declared):
    """Every combination of values occurs not at all or often enough, and tables deviate little.

    A claim about files whose records were replaced, as SAFE does; it stands alone.

    Source: Höhne (2003); Höhne, *SAFE – a method for anonymising the German Census*.

    Parameters
    ----------
    minimum
        Least number of records with a combination of all variables that occurs, at least 2.
    tables
        The controlled tables, each a name or names of variables; or a mapping from a counting
        variable to such a list, with ``""`` for records. None: those that the method controlled.
    largest
        Largest deviation of their cells that were not empty; None: whatever it is, readers are told
        what it is.
    exact
        Controlled tables that keep all counts, and cells that do: column → value. None: those that
        the method had to keep. Confidential.
    opened
        Whether cells of controlled tables that were empty may be so no more.

    Raises
    ------
    InputError
        An argument is not admissible.

    Examples
    --------
    >>> Safe(3, [("region", "age"), "sex"], largest=9).tables
    {'': (('region', 'age'), ('sex',))}
    """

    minimum: AtLeast2 = 3
    tables: Any = None
    largest: Annotated[int, Whole(0)] | None = None
    exact: Any = None
    opened: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tables is not None:
            object.__setattr__(self, "tables", table_lists(self.tables))
        if self.exact is not None:
            object.__setattr__(self, "exact", _exact(self.exact))


@dataclass(frozen=True)
class NoIdentifiers:
    """No direct identifier leaves; always checked, whether claimed or not."""


#: Those about sensitive values.
AboutValues = LDiversity | TCloseness | AlphaK | BetaLikeness | DeltaDisclosure
#: Those for which records are counted.
Counted = KAnonymity | RiskBelow | ExpectedBelow | KMap | AboutValues
#: Any of them, but for `Safe`, which is about other files.
Claim = Counted | NoIdentifiers


def _exact(given: Any) -> tuple[tuple[str, ...] | dict[str, str | None], ...]:
    """Tables as tuples of names; cells as column → value as text."""
    made: list[tuple[str, ...] | dict[str, str | None]] = []
    for one in (given,) if isinstance(given, str | Mapping) else given:
        if isinstance(one, Mapping):
            cell: Mapping[Any, Any] = one
            made.append({str(name): _text(value) for name, value in cell.items()})
        else:
            made += table_lists([one], "exact").get("", ())
    return tuple(made)


def _text(value: Any) -> str | None:
    return pa.array([value]).cast(pa.string())[0].as_py()
