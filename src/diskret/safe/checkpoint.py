"""Where a search stands, kept on disk, so that it can go on later as if it had never stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.disk import new_file
from diskret.errors import InputError
from diskret.io.arrays import Wanted, checked, read_arrays
from diskret.safe.layout import Layout
from diskret.safe.problem import SafeProblem

_EVERY = 60.0
#: Rows whose cells are looked up together.
_BLOCK = 1 << 20
_MOST_SWEEPS = 1 << 40
_MOST_COUNT = (1 << 31) - 1
#: Rows grow up to this, in thirds of the minimum, or by this beyond their original count.
_MOST, _MORE = 8, 4


@dataclass(frozen=True, eq=False)
class Standing:
    """A search between two sweeps.

    `values`: value of each group in each row, ``(R, G)``; None as long as the rows are those of
        the problem.
    `count`: how often each row occurs, ``(R,)``, int32.
    `cap`: largest count that a row grows to, ``(R,)``, int32.
    `sweeps`: sweeps done in each stage so far; the last stage may go on.
    `rates`: how often each kind of change is tried, ``(4,)``.
    `seconds`: time spent.
    `trace`: sweeps, largest and mean deviation at the start and after each stage, ``(1 + stages,
        3)``.
    """

    values: NDArray[np.unsignedinteger] | None
    count: NDArray[np.int32]
    cap: NDArray[np.int32]
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
        kept: dict[str, Any] = {"count": at.count}
        if at.values is not None:
            kept |= {"values": at.values, "cap": at.cap}
        self._part.unlink(missing_ok=True)  # of a run that was killed, or somebody else's
        with open(new_file(self._part), "wb") as file:
            np.savez(
                file,
                task=np.array(self.task),
                sweeps=np.array(at.sweeps, dtype=np.int64),
                rates=at.rates,
                seconds=np.array(at.seconds),
                trace=np.array(at.trace, dtype=np.float64).reshape(-1, 3),
                **kept,
            )
        self._part.replace(self.path)
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
        opened = "values" in found
        if rows > len(laid.values) or (not opened and rows < len(laid.values)):
            raise InputError(f"{source} is damaged: it has {rows:,} rows")
        groups = laid.values.shape[1]
        most = min(int(problem.count.sum()) + problem.minimum * len(problem.count), _MOST_COUNT)
        count = checked(found, "count", Wanted("i", (rows,), 0, most), source).astype(np.int32)
        rates = checked(found, "rates", Wanted("f", (4,), 0, 1), source)
        if (opened or rates[3]) and not problem.new:
            raise InputError(f"{source} is damaged: 'rates' tries what the search does not")
        values, cap = None, caps(problem)
        if opened:
            values = checked(found, "values", Wanted("u", (rows, groups)), source)
            if values.dtype != laid.values.dtype or (values >= laid.maps.width).any():
                raise InputError(f"{source} is damaged: 'values' holds numbers of no value")
            cap = checked(found, "cap", Wanted("i", (rows,), 0, int(cap.max())), source)
            cap = cap.astype(np.int32)
        sweeps = checked(found, "sweeps", Wanted("i", (None,), 0, _MOST_SWEEPS), source)
        trace = checked(found, "trace", Wanted("f", (None, 3), high=float(_MOST_SWEEPS)), source)
        if not 1 <= len(trace) <= stages + 1 or len(trace) - len(sweeps) not in (0, 1):
            raise InputError(f"{source} is damaged: 'trace' and 'sweeps' do not fit together")
        seconds = float(checked(found, "seconds", Wanted("f", (), 0), source))
        after = laid.values if values is None else values
        if not all(_follows(problem, laid, after, count, t) for t in range(len(laid.maps.base))):
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
        self._part.unlink(missing_ok=True)

    @property
    def _part(self) -> Path:
        """Where it is written, before it takes the place of what was kept."""
        return self.path.with_name(self.path.name + ".part")


def task(problem: SafeProblem, *options: object) -> str:
    """A digest of everything that decides what a search finds."""
    digest = blake2b(digest_size=16)
    for v in range(len(problem.names)):  # one after another: all together may be large
        digest.update(np.ascontiguousarray(problem.codes[:, v]).data)
    digest.update(np.ascontiguousarray(problem.count).data)
    digest.update(repr((problem.tables, problem.minimum, problem.groups, problem.new)).encode())
    digest.update(repr((problem.names, problem.sizes, options)).encode())
    return digest.hexdigest()


def caps(problem: SafeProblem) -> NDArray[np.int32]:
    """The count that each row grows to at most, ``(J,)``."""
    unit = problem.minimum / 3
    return np.maximum(problem.count + round(_MORE * unit), round(_MOST * unit)).astype(np.int32)


def _follows(
    problem: SafeProblem,
    laid: Layout,
    values: NDArray[np.unsignedinteger],
    count: NDArray[np.int32],
    table: int,
) -> bool:
    """Whether cells of a table deviate no more than is told apart, and empty ones stay empty."""
    maps = laid.maps
    low = int(maps.base[table])
    high = int(maps.base[table + 1]) if table + 1 < len(maps.base) else len(laid.rest)
    deviation = np.zeros(high - low, dtype=np.int64)
    for of, counted, sign in ((laid.values, problem.count, -1), (values, count, 1)):
        for first in range(0, len(of), _BLOCK):
            rows = slice(first, first + _BLOCK)
            np.add.at(deviation, maps.cells(of[rows], table) - low, sign * counted[rows])
    stays = laid.rest[low:high] == 2 * laid.half * len(laid.kinds) + laid.half
    return not (deviation[stays].any() or (np.abs(deviation) >= laid.half).any())
