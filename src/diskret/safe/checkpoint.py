"""Where a search stands, kept on disk, so that it can go on later as if it had never stopped."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.safe.problem import SafeProblem

_EVERY = 60.0


@dataclass(frozen=True, eq=False)
class Standing:
    """A search between two sweeps.

    Parameters
    ----------
    values
        Value of each group in each row, ``(R, G)``.
    count
        How often each row occurs, ``(R,)``, int64.
    cap
        Largest count that a row grows to, ``(R,)``, int64.
    sweeps
        Sweeps done in each stage so far; the last stage may go on.
    rates
        How often each kind of change is tried, ``(4,)``.
    seconds
        Time spent.
    trace
        Sweeps, largest and mean deviation at the start and after each stage, ``(1 + stages, 3)``.
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

    Parameters
    ----------
    path
        Where it is, or will be; readable by its owner only.
    task
        Digest of everything that decides what the search finds; see `task`.
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

    def load(self) -> Standing | None:
        """Where the search stands; None if nothing is kept.

        Raises
        ------
        InputError
            The file is no checkpoint, or one of another search.
        """
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as kept:
                found = {name: kept[name] for name in kept.files}
            same = str(found["task"]) == self.task
            at = Standing(
                found["values"],
                found["count"],
                found["cap"],
                tuple(found["sweeps"].tolist()),
                found["rates"],
                float(found["seconds"]),
                tuple((int(a), int(b), float(c)) for a, b, c in found["trace"]),
            )
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise InputError(
                f"{self.path} is no checkpoint of a search; give another file, or remove it"
            ) from error
        if not same:
            raise InputError(
                f"the checkpoint {self.path} belongs to other records, tables or options; give "
                "another file, or remove it to begin anew"
            )
        return at

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
