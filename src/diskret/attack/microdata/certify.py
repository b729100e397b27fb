"""The certificate of released microdata, every claim checked on the values as they leave."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from diskret.attack.microdata.certificate import MicrodataCertificate, checked, refused
from diskret.attack.microdata.check import check
from diskret.attack.microdata.claims import Claim, Counted, KAnonymity, Missing, NoIdentifiers
from diskret.attack.microdata.leaving import Leaving, Modelled, Numbers, numbers
from diskret.attack.microdata.said import Open, claimed, not_claimed
from diskret.errors import InputError, ProofError
from diskret.io.columns import column
from diskret.io.names import alike

_EXAMPLES = 3
_NOTHING = Open()


def certify(
    name: str,
    table: pa.Table,
    keys: Sequence[str],
    claims: Claim | Sequence[Claim],
    *,
    weight: ArrayLike | None = None,
    household: ArrayLike | pa.ChunkedArray | None = None,
    original: pa.Table | None = None,
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    numbered: Sequence[str] = (),
    orders: Mapping[str, Sequence[Any]] | None = None,
    means_missing: Mapping[str, Sequence[str]] | None = None,
    fit: Callable[[pa.Table], Mapping[Missing, Modelled]] | None = None,
    together: bool = False,
    left: Open = _NOTHING,
    rows: NDArray[np.intp] | None = None,
) -> MicrodataCertificate:
    """Check every claim on the values as they leave, and say what holds.

    That no direct identifier leaves is checked in any case.

    Parameters
    ----------
    name
        Of the file.
    table
        The columns and records exactly as they leave, n of them.
    keys
        Its key variables.
    claims
        What is claimed.
    weight
        Sampling weights > 0, ``(n,)``, in the order of the records of `table`.
    household
        Household of each record, ``(n,)``, in the same order; a record without one is its own.
    original
        The records before protection, in any order, with the identifiers.
    sensitive
        Names of sensitive variables of `table`.
    identifiers
        Names of direct identifiers of `original`.
    numbered
        Names of its columns with the office's own numbers of records, in whose place new ones may
        leave.
    orders
        Column → its values from the lowest to the highest, where that was declared.
    means_missing
        Column → codes in it that mean missing, as text: they have no place in an order.
    fit
        Keys → what a missing one stands for → the risk by a log-linear model: `RiskBelow` and
        `ExpectedBelow` rest on the larger of this and their own estimate by weights, which is too
        low where keys depend on each other and few persons are in the file.
    together
        Whether the file is a sample in which households were drawn whole, so that a household
        counts as one draw in these estimates.
    left
        What the choice of columns and records leaves open, for what is not claimed.
    rows
        For each record its row in the office's own file, from 0, ``(n,)``; None: as they leave.

    Raises
    ------
    ProofError
        A claim does not hold; says for how many records, with some of their `rows`, and what to do.
    InputError
        A claim cannot be checked, because columns, weights or households are missing.

    Examples
    --------
    >>> file = pa.table({"sex": ["m", "m", None], "job": ["baker", "baker", "baker"]})
    >>> certificate = certify("persons", file, ["sex", "job"], KAnonymity(3))
    >>> dict(certificate.shown)
    {'k': 3, 'keys': ['sex', 'job'], 'missing': 'wildcard', 'unlike': 3, 'lean_on_gaps': 2}
    >>> certify("persons", file, ["sex", "job"], KAnonymity(4))
    Traceback (most recent call last):
    ...
    diskret.errors.ProofError: file 'persons': 3 of 3 records agree in sex, job with fewer than 4 \
records, themselves included, e.g. rows 1, 2, 3; suppress values or recode keys first, or claim a \
smaller k
    """
    asked: tuple[Claim, ...] = tuple(claims) if isinstance(claims, Sequence) else (claims,)
    if not table.num_rows:
        raise InputError(f"file {name!r} has no records; there is nothing to claim")
    file = Leaving(
        name,
        table,
        tuple(keys),
        tuple(sensitive),
        None if weight is None else _weights(weight, table.num_rows),
        None if household is None else _households(household, table.num_rows),
        orders=orders or {},
        means_missing=means_missing or {},
        fit=fit,
        together=together,
    )
    for key in keys:
        file.numbers(key)  # must leave
    refuse_identifiers(file, original, identifiers, numbered)
    figures: list[dict[str, Any]] = []
    for claim in asked:
        figures.append({"claim": type(claim).__name__, "claimed": _parameters(claim)})
        if isinstance(claim, NoIdentifiers):
            continue
        found = check(file, claim)
        if len(found.failing):
            where = np.sort(found.failing if rows is None else rows[found.failing])
            named = ", ".join(f"{row + 1:,}" for row in where[:_EXAMPLES])
            _refuse_told(file, claim, len(where), named)
            raise ProofError(refused(file, claim, len(where), named, found.figures))
        figures[-1] |= found.figures
    said = claimed(file, asked, figures)
    return MicrodataCertificate(
        name,
        claimed=said,
        not_claimed=not_claimed(said, left),
        checked=tuple(
            checked(file, claim, found)
            for claim, found in zip(asked, figures, strict=True)
            if not isinstance(claim, NoIdentifiers)
        ),
        shown=_shown(file, asked, figures),
        figures={"records": file.n, "keys": list(keys), "claims": figures},
    )


def _refuse_told(file: Leaving, claim: Counted, failing: int, rows: str) -> None:
    """Say what tells missing keys, where a claim fails for that alone."""
    told = file.told_gaps(claim)
    if not told or len(check(file.as_shown(), claim).failing):
        return
    gaps = ", ".join(map(repr, told))
    names = dict.fromkeys(" + ".join(map(repr, by)) for one in told.values() for by in one if by)
    if names:
        raise ProofError(
            f"file {file.name!r}: {failing:,} of {file.n:,} records, e.g. rows {rows}, keep to "
            f"what is claimed only as long as missing values of {gaps} are unknown, and "
            f"{', '.join(names)} tells them, or which are possible, to any reader; leave it out, "
            "suppress more, or name it in followers= of the key, with which it is then suppressed"
        )
    raise ProofError(
        f"file {file.name!r}: {failing:,} of {file.n:,} records, e.g. rows {rows}, keep to what is "
        f"claimed only as long as missing values of {gaps} are unknown, and the order of the "
        "records tells them to any reader: a record lies between others with the same value; "
        "leave out shuffle=False"
    )


def claims_shown(shown: Mapping[str, Any]) -> tuple[KAnonymity, ...]:
    """The claims that any reader of a public certificate can count again in the file.

    Parameters
    ----------
    shown
        `MicrodataCertificate.shown`, or the same of a public file.
    """
    if "k" not in shown:
        return ()
    return tuple(
        KAnonymity(own["k"], tuple(own["keys"]), own["missing"], own.get("size"))
        for own in (shown, *shown.get("further", ()))
    )


def _shown(
    file: Leaving, asked: Sequence[Claim], figures: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    counted = [
        {
            "k": int(claim.k),
            "keys": list(file.keys_of(claim)),
            "missing": claim.missing,
            **({} if claim.size is None else {"size": int(claim.size)}),
            **{name: found[name] for name in ("unlike", "lean_on_gaps") if found["unlike"]},
        }
        for claim, found in zip(asked, figures, strict=True)
        if isinstance(claim, KAnonymity)
    ]
    if not counted:
        return {}
    return {**counted[0], **({"further": counted[1:]} if counted[1:] else {})}


def _parameters(claim: Claim) -> dict[str, Any]:
    """What was claimed, JSON-ready."""
    return {
        name: _plain(value)
        for name, value in vars(claim).items()
        if value is not None and name != "population"
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str) else str(value)  # days of an order


def _weights(weight: ArrayLike, n: int) -> NDArray[np.float64]:
    found = np.asarray(weight, dtype=np.float64)
    if found.shape != (n,) or not (np.isfinite(found) & (found > 0)).all():
        raise InputError(f"weights must be {n:,} finite numbers above 0, one for each record")
    return found


def _households(household: ArrayLike | pa.ChunkedArray, n: int) -> Numbers:
    if not isinstance(household, pa.ChunkedArray):
        household = pa.chunked_array([pa.array(np.asarray(household))])
    found, known = numbers(household)
    if len(found) != n:
        raise InputError(f"households must be {n:,} numbers or names, one for each record")
    alone = found == -1
    return np.where(alone, len(known) + np.cumsum(alone) - 1, found)


def refuse_identifiers(
    file: Leaving,
    original: pa.Table | None,
    identifiers: Sequence[str],
    numbered: Sequence[str] = (),
) -> None:
    """Refuse direct identifiers, and numbers of records, also those that only have another name."""
    for identifier in identifiers:
        if identifier in file.table.column_names:
            raise ProofError(
                f"file {file.name!r}: the direct identifier {identifier!r} would leave; take it "
                "out of the columns"
            )
    for identifier in () if original is None else (*identifiers, *numbered):
        given = numbers(column(original, identifier))
        for name in file.table.column_names:
            if name != identifier and _copied(given, file.numbers(name)):
                raise ProofError(
                    f"file {file.name!r}: the column {name!r} holds the values of the direct "
                    f"identifier {identifier!r}; take it out of the columns"
                )


def _copied(given: tuple[Numbers, pa.Array], leaving: tuple[Numbers, pa.Array]) -> bool:
    """Whether a column holds an identifier, of all records or of some, in any order and type.

    It does if it has no value more often than the identifier. Few numbers or days may be among many
    by chance, so of what is no name more than half have to be there.
    """
    (number, values), (other, others) = given, leaving
    often, shown = _often(number, values), _often(other, others)
    if not 2 <= len(others) <= len(values) or shown.max() > often.max():
        return False
    there, here = Counter[str](), Counter[str]()
    left = others.to_pylist()
    for found, each, times in ((there, values.to_pylist(), often), (here, left, shown)):
        for one, n in zip(each, times.tolist(), strict=True):
            found[alike(one)] += n
    if not here <= there:
        return False
    return 2 * len(others) > len(values) or any(map(_is_name, left))


def _often(number: Numbers, values: pa.Array) -> Numbers:
    return np.bincount(number + 1, minlength=len(values) + 1)[1:]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and any(map(str.isalpha, value))
