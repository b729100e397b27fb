"""What a synthetic file tells of the persons or firms whose records it was made from."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportUnknownParameterType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import FrameKind, Source, coded
from diskret.io.columns import column, numbers, some
from diskret.io.frames import in_memory, spelled
from diskret.parallel import cores
from diskret.parameters import Seed, Whole, reading
from diskret.risk.keys import grouped
from diskret.risk.synthetic_risk import (
    QUANTILES,
    Closeness,
    Guess,
    Membership,
    SyntheticRisk,
    TargetRisk,
    Uniques,
)
from diskret.utility.both_files import HasRecords, kinds_of, source_of
from diskret.utility.propensity import Categories, Propensity, propensity

if TYPE_CHECKING:
    pass

#: Records of a block that is looked at by one core.
_BLOCK = 256


@reading
def synthetic(
    original: Any,
    synthetic: Any,
    keys: str | Iterable[str] | None = None,
    target: str | Iterable[str] | None = None,
    holdout: Any = None,
    *,
    sample: Annotated[int, Whole(100)] | None = 10_000,
    seed: Seed = 1,
) -> SyntheticRisk:
    """Measure what a synthetic file tells of the records that it was made from.

    No name leads from a synthetic record to a person, and yet a generator that has learnt too much
    repeats its records. Beside a *holdout*, records of the same population that it has
    never seen, it shows: what the file tells of those is knowledge of the population, and
    what it tells beyond that of the original records is knowledge of persons.

    Parameters
    ----------
    original
        The records that the generator has learnt from: a frame of any kind, a file, or
        [`Microdata`][diskret.Microdata].
    synthetic
        What it made, with the same columns; as many records or not.
    keys
        Variables an attacker knows of a person. None: those of the microdata.
    target
        Variables that the attacker wants to learn, each judged alone. None: the sensitive ones of
        the microdata, or none.
    holdout
        Records of the same population that were not used. None: no comparison and no
        `membership`.
    sample
        Distances are measured from so many records of each file, drawn at random; None: all.
    seed
        Of this draw, and of those that make files equally long.

    Returns
    -------
    SyntheticRisk
        Replicated uniques, guesses at the targets, closeness, membership, propensity.

    Raises
    ------
    InputError
        A column is missing in one of the files, a file has no records, or nothing is named
        that is to be compared.

    Notes
    -----
    Variables of both files are compared: numbers by their difference in ranges of the original,
    others by being equal, missing values being equal to each other only. With a holdout of another
    size the larger file is thinned out, so that neither is nearer because it has more
    records. The propensity model has main effects, squares and products of numbers.

    References
    ----------
    G. Raab, B. Nowok and C. Dibben (2024), "Practical privacy metrics for synthetic data" (repU,
    DiSCO); J. Taub, M. Elliot, M. Pampaka and D. Smith (2018), "Differential correct attribution
    probability for synthetic data", Privacy in Statistical Databases; M. Platzer and T.
    Reutterer (2021), "Holdout-based empirical assessment of mixed-type synthetic data", Frontiers
    in Big Data 4; S. Yeom et al. (2018), "Privacy risk in machine learning", IEEE CSF (advantage).

    Examples
    --------
    A copy is the worst there is.

    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> draw = np.random.default_rng(1)
    >>> def persons(n):
    ...     age, job = draw.integers(20, 60, n), draw.choice(["baker", "mayor", "nurse"], n)
    ...     return pa.table({"age": age, "job": job, "ill": draw.choice(["no", "yes"], n)})
    >>> known, others, drawn = persons(500), persons(500), persons(800)
    >>> copied = dk.risk.synthetic(known, known, ["age", "job"], "ill", others)
    >>> fresh = dk.risk.synthetic(known, drawn, ["age", "job"], "ill", others)
    >>> copied.closeness.copies, copied.closeness.nearer > fresh.closeness.nearer
    (1.0, True)
    >>> copied.targets[0].original.right > copied.targets[0].holdout.right + 0.1
    True
    """
    files = _Files.of(original, synthetic, holdout)
    known = files.columns(_names(keys, original, "keys"), "keys")
    wanted = files.columns(_names(target, original, "sensitive"), "target")
    if not known:
        raise InputError(
            "keys= names nothing: say which variables an attacker knows, e.g. "
            "keys=['region', 'age']"
        )
    both = [name for name in wanted if name in known]
    if both:
        raise InputError(f"{some('variable', both)} cannot be in keys= and in target=")
    rng = np.random.default_rng([seed, *b"synthetic"])
    shared = files.shared()
    codes = {name: files.codes(name) for name in {*known, *wanted, *shared[1]}}
    return SyntheticRisk(
        *files.lengths,
        _uniques([codes[name] for name in known]),
        tuple(_target(name, [codes[key] for key in known], codes[name]) for name in wanted),
        *_distances(files, shared[0], [codes[name] for name in shared[1]], sample, rng),
        _propensity(files, shared[0], [codes[name] for name in shared[1]], rng),
        files.kind,
    )


# ── the files ───────────────────────────────────────────────────────────────────────

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class _Files:
    """Original, synthetic and, if there is one, holdout records."""

    opened: tuple[Source, ...]
    tables: tuple[pa.Table, ...]
    names: tuple[str, ...]
    kind: FrameKind

    @classmethod
    def of(cls, original: Any, made: Any, holdout: Any) -> _Files:
        given = {"original": original, "synthetic": made, "holdout": holdout}
        opened: dict[str, Source] = {}
        for name, one in given.items():
            if one is None and name == "holdout":
                continue
            opened[name] = source_of(one, opened.get("original"))
        tables = {name: in_memory(one) for name, one in opened.items()}
        for name, table in tables.items():
            if not table.num_rows:
                raise InputError(f"the {name} file has no records")
        kind = original.kind if isinstance(original, HasRecords) else opened["original"].kind
        return cls(tuple(opened.values()), tuple(tables.values()), tuple(opened), kind)

    @property
    def lengths(self) -> tuple[int, int, int]:
        found = [table.num_rows for table in self.tables]
        return found[0], found[1], found[2] if len(found) > 2 else 0

    def columns(self, names: Sequence[str], parameter: str) -> tuple[str, ...]:
        """These columns, which all files have."""
        for file, table in zip(self.names, self.tables, strict=True):
            missing = [name for name in names if name not in table.column_names]
            if missing:
                raise InputError(
                    f"{parameter}= names {some('column', missing)}, which the {file} file does not "
                    f"have; it has {', '.join(map(repr, table.column_names))}"
                )
        return tuple(dict.fromkeys(names))

    def shared(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns of all files: those of numbers in each, and the others."""
        kinds = [kinds_of(one) for one in self.opened]
        names = [
            name
            for name in self.tables[0].column_names
            if all(name in table.column_names for table in self.tables)
        ]
        numeric = tuple(name for name in names if all(name in one for one, _ in kinds))
        return numeric, tuple(name for name in names if name not in numeric)

    def codes(self, name: str) -> tuple[Codes, ...]:
        """Codes of a column in each file, the same for the same value; -1 where missing."""
        parts = [column(table, name) for table in self.tables]
        if len({part.type for part in parts}) > 1:
            parts = [part.cast(pa.string()) for part in parts]
        chunks = [chunk for part in parts for chunk in part.chunks]
        found = coded(pa.chunked_array(chunks, type=parts[0].type), name).codes
        ends = np.cumsum([len(part) for part in parts])[:-1]
        return tuple(part.astype(np.int32) for part in np.split(found, ends))

    def numbers(self, names: Sequence[str]) -> tuple[NDArray[np.float64], ...]:
        """Columns of numbers of each file, ``(n, p)``, NaN where missing, or a code says so."""
        tables = [in_memory(spelled(one, names)) for one in self.opened]
        return tuple(
            np.column_stack([numbers(column(table, name), name) for name in names])
            if names
            else np.empty((table.num_rows, 0))
            for table in tables
        )


def _names(asked: str | Iterable[str] | None, original: Any, role: str) -> tuple[str, ...]:
    if asked is None:
        return tuple(getattr(original.roles, role)) if isinstance(original, HasRecords) else ()
    return (asked,) if isinstance(asked, str) else tuple(asked)


# ── keys and targets ────────────────────────────────────────────────────────────────


def _together(columns: Sequence[tuple[Codes, ...]]) -> tuple[list[NDArray[np.intp]], int]:
    """For each file the number of each record's combination, and how many there are."""
    whole = [np.concatenate(one) for one in columns]
    of, number = grouped(whole, [int(one.max(initial=0)) + 1 for one in whole])
    ends = np.cumsum([len(part) for part in columns[0]])[:-1]
    return list(np.split(of, ends)), number


def _uniques(keys: Sequence[tuple[Codes, ...]]) -> Uniques:
    (old, new, *_), number = _together(keys)
    before, after = (np.bincount(of, minlength=number) for of in (old, new))
    alone = before == 1
    return Uniques(int(alone.sum()), int((after == 1).sum()), int((alone & (after == 1)).sum()))


def _target(name: str, keys: Sequence[tuple[Codes, ...]], target: tuple[Codes, ...]) -> TargetRisk:
    files, number = _together(keys)
    pairs, several = _together([*keys, target])
    shown = np.bincount(files[1], minlength=number)  # synthetic records with these keys
    agree = np.bincount(pairs[1], minlength=several)  # … and this value
    most = np.zeros(number, dtype=np.int64)
    np.maximum.at(most, files[1], agree[pairs[1]])
    alike = (shown > 0) & (most == shown)

    def guess(file: int) -> Guess:
        at, own = files[file], agree[pairs[file]]
        found, disclosed = shown[at] > 0, alike[at]
        right = own / np.maximum(shown[at], 1)
        return Guess(
            float(found.mean()),
            float(disclosed.mean()),
            float((disclosed & (own > 0)).mean()),
            float(right.mean()),
        )

    return TargetRisk(name, guess(0), guess(2) if len(files) > 2 else None)


# ── distances ───────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Records:
    """Records as they are compared."""

    codes: Codes
    numbers: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.codes)

    def drawn(self, number: int | None, rng: np.random.Generator) -> _Records:
        """So many of them."""
        if number is None or number >= len(self):
            return self
        rows = rng.permutation(len(self))[:number]
        return _Records(self.codes[rows], self.numbers[rows])

    def distance(self, others: _Records) -> NDArray[np.float64]:
        """Gower's distance of each to the nearest of the others, from 0 to 1."""
        from diskret.risk.synthetic_kernels import nearest

        found = np.empty(len(self))
        beside = others.codes, others.numbers

        def block(low: int) -> None:
            rows = slice(low, low + _BLOCK)
            nearest(self.codes[rows], self.numbers[rows], *beside, found[rows])

        with ThreadPoolExecutor(cores()) as pool:
            list(pool.map(block, range(0, len(self), _BLOCK)))
        return found / max(self.codes.shape[1] + self.numbers.shape[1], 1)


def _distances(
    files: _Files,
    numeric: Sequence[str],
    codes: Sequence[tuple[Codes, ...]],
    sample: int | None,
    rng: np.random.Generator,
) -> tuple[Closeness, Membership | None]:
    values = files.numbers(numeric)
    with np.errstate(invalid="ignore"):
        known = np.where(np.isnan(values[0]), -np.inf, values[0])
        high = known.max(axis=0)
        low = np.where(np.isnan(values[0]), np.inf, values[0]).min(axis=0)
    width = np.where(high > low, high - low, 1.0)
    records = [
        _Records(
            np.stack([one[file] for one in codes], axis=1)
            if codes
            else np.empty((len(number), 0), np.int32),
            np.ascontiguousarray(number / width),
        )
        for file, number in enumerate(values)
    ]
    original, made, *rest = records
    asked = made.drawn(sample, rng)
    if not rest:
        own = asked.distance(original)
        return Closeness(float((own == 0).mean()), _quantiles(own), None, None, None), None
    size = min(len(original), len(rest[0]))
    original, unused = original.drawn(size, rng), rest[0].drawn(size, rng)
    own, other = asked.distance(original), asked.distance(unused)
    near = Closeness(
        float((own == 0).mean()),
        _quantiles(own),
        float((other == 0).mean()),
        _quantiles(other),
        float(((own < other) + (own == other) / 2).mean()),
    )
    used, fresh = (one.drawn(sample, rng).distance(made) for one in (original, unused))
    return near, _membership(used, fresh)


def _quantiles(distance: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(np.quantile(distance, QUANTILES, method="inverted_cdf").tolist())


def _membership(used: NDArray[np.float64], fresh: NDArray[np.float64]) -> Membership:
    """Compare the distances of records that were used and of others.

    >>> _membership(np.array([0.0, 0.0, 0.2]), np.array([0.0, 0.3, 0.4]))
    Membership(auc=0.7777777777777778, advantage=0.6666666666666667)
    """
    ordered = np.sort(fresh)
    below = np.searchsorted(ordered, used, side="left")
    up_to = np.searchsorted(ordered, used, side="right")
    farther = len(fresh) - up_to + (up_to - below) / 2
    steps = np.unique(np.concatenate([used, fresh]))
    share = [np.searchsorted(np.sort(one), steps, side="right") / len(one) for one in (used, fresh)]
    return Membership(
        float(farther.sum() / (len(used) * len(fresh))), float(max((share[0] - share[1]).max(), 0))
    )


def _propensity(
    files: _Files,
    numeric: Sequence[str],
    codes: Sequence[tuple[Codes, ...]],
    rng: np.random.Generator,
) -> Propensity:
    size = min(files.lengths[:2])
    rows = [rng.permutation(length)[:size] for length in files.lengths[:2]]
    values = files.numbers(numeric)
    categories = [
        Categories(one[0][rows[0]].astype(np.int64), one[1][rows[1]].astype(np.int64))
        for one in codes
    ]
    return propensity(values[0][rows[0]], values[1][rows[1]], categories)
