"""Where a search stands, kept on disk, so that it can go on later as if it had never stopped."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.arrays import Wanted, checked, read_arrays
from diskret.safe.layout import Layout, Maps
from diskret.safe.problem import SafeProblem

_EVERY = 60.0
_MOST_SWEEPS = 1 << 40
#: Rows grow up to this, in thirds of the minimum, or by this beyond their original count.
_MOST, _MORE = 8, 4


@dataclass(frozen=True, eq=False)
class Standing:
    """A search between two sweeps.

    `values`: value of each group in each row, ``(R, G)``.
    `count`: how often each row occurs, ``(R,)``, int64.
    `cap`: largest count that a row grows to, ``(R,)``, int64.
    `sweeps`: sweeps done in each stage so far; the last stage may go on.
    `rates`: how often each kind of change is tried, ``(4,)``.
    `seconds`: time spent.
    `trace`: sweeps, largest and mean deviation at the start and after each stage, ``(1 + stages,
        3)``.
    """

    values: NDArray[np.unsignedinteger]
    count: NDArray[np.int64]
    cap: NDArray[np.int64]
    sweeps: tuple[int, ...]
    rates: NDArray[np.float64]
    seconds: float
    trace: tuple[tuple[int, int, float], ...]


@dataclass
class Checkpoint:
    """A file that keeps where a search stands. Confidential.

    `path`: where it is, or will be; readable by its owner only.
    `task`: digest of everything that decides what the search finds; see `task`.
    """

    path: Path
    task: str
    _last: float = field(default_factory=time.monotonic)

    def save(self, at: Standing) -> None:
        """Keep this in place of what was kept before."""
        part = self.path.with_name(self.path.name + ".part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            np.savez(
                file,
                task=np.array(self.task),
                values=at.values,
                count=at.count,
                cap=at.cap,
                sweeps=np.array(at.sweeps, dtype=np.int64),
                rates=at.rates,
                seconds=np.array(at.seconds),
                trace=np.array(at.trace, dtype=np.float64).reshape(-1, 3),
            )
        part.replace(self.path)
        self._last = time.monotonic()

    def save_sometimes(self, at: Standing) -> None:
        """Keep this if nothing was kept for a minute."""
        if time.monotonic() - self._last > _EVERY:
            self.save(at)

    def load(self, problem: SafeProblem, laid: Layout, stages: int) -> Standing | None:
        """Where the search stands; None if nothing is kept.

        `problem`, `laid`: what is searched. `stages`: number of stages of a search.
        """
        if not self.path.exists():
            return None
        try:
            found = read_arrays(self.path)
        except InputError:
            raise InputError(
                f"{self.path} is no checkpoint of a search; give another file, or remove it"
            ) from None
        source = f"the checkpoint {self.path}"
        if str(checked(found, "task", Wanted("U", ()), source)) != self.task:
            raise InputError(
                f"{source} belongs to other records, tables or options; give another file, or "
                "remove it to begin anew"
            )
        rows = len(checked(found, "count", Wanted("i", (None,)), source))
        if rows > len(laid.values):
            raise InputError(f"{source} is damaged: it has {rows:,} rows")
        groups = laid.values.shape[1]
        most = int(problem.count.sum()) + problem.minimum * len(problem.count)
        values = checked(found, "values", Wanted("u", (rows, groups)), source)
        if values.dtype != laid.values.dtype or (values >= laid.maps.width).any():
            raise InputError(f"{source} is damaged: 'values' holds numbers of no value")
        count = checked(found, "count", Wanted("i", (rows,), 0, most), source)
        cap = checked(found, "cap", Wanted("i", (rows,), 0, int(caps(problem).max())), source)
        rates = checked(found, "rates", Wanted("f", (4,), 0, 1), source)
        if rates[3] and not problem.new:
            raise InputError(f"{source} is damaged: 'rates' tries what the search does not")
        sweeps = checked(found, "sweeps", Wanted("i", (None,), 0, _MOST_SWEEPS), source)
        trace = checked(found, "trace", Wanted("f", (None, 3), high=float(_MOST_SWEEPS)), source)
        if not 1 <= len(trace) <= stages + 1 or len(trace) - len(sweeps) not in (0, 1):
            raise InputError(f"{source} is damaged: 'trace' and 'sweeps' do not fit together")
        seconds = float(checked(found, "seconds", Wanted("f", (), 0), source))
        if not all(_follows(problem, laid, values, count, t) for t in range(len(laid.maps.base))):
            raise InputError(f"{source} is damaged: no search makes cells such as its")
        return Standing(
            values,
            count,
            cap,
            tuple(sweeps.tolist()),
            rates,
            seconds,
            tuple((int(a), int(b), float(c)) for a, b, c in trace),
        )

    def remove(self) -> None:
        """The search is over."""
        self.path.unlink(missing_ok=True)


def task(problem: SafeProblem, *options: object) -> str:
    """A digest of everything that decides what a search finds."""
    digest = blake2b(digest_size=16)
    for array in (problem.codes, problem.count):
        digest.update(np.ascontiguousarray(array).data)
    digest.update(repr((problem.tables, problem.minimum, problem.groups, problem.new)).encode())
    digest.update(repr((problem.names, problem.sizes, options)).encode())
    return digest.hexdigest()


def caps(problem: SafeProblem) -> NDArray[np.int64]:
    """The count that each row grows to at most, ``(J,)``."""
    unit = problem.minimum / 3
    return np.maximum(problem.count + round(_MORE * unit), round(_MOST * unit))


def _follows(
    problem: SafeProblem,
    laid: Layout,
    values: NDArray[np.unsignedinteger],
    count: NDArray[np.int64],
    table: int,
) -> bool:
    """Whether cells of a table deviate no more than is told apart, and empty ones stay empty."""
    maps = laid.maps
    before, after = (_cells(maps, of, table) for of in (laid.values, values))
    cell, at = np.unique(np.concatenate([before, after]), return_inverse=True)
    deviation = np.zeros(len(cell), dtype=np.int64)
    np.add.at(deviation, at, np.concatenate([-problem.count, count]))
    stays = laid.rest[cell] == 2 * laid.half * len(laid.kinds) + laid.half
    return not (deviation[stays].any() or (np.abs(deviation) >= laid.half).any())


def _cells(maps: Maps, values: NDArray[np.unsignedinteger], table: int) -> NDArray[np.int64]:
    """The cell of a table that each row falls into."""
    cell = np.full(len(values), maps.base[table], dtype=np.int64)
    for group in range(len(maps.width)):
        own = maps.tables[maps.first[group] : maps.first[group + 1]]
        for place in np.flatnonzero(own == table).tolist():
            row = values[:, group].astype(np.int64) * len(own)
            cell += maps.key[maps.key_first[group] + row + place]
    return cell
