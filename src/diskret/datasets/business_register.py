"""A made-up business register: skewed, dominated and full of holdings, as real ones are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.datasets.classifications import (
    DIVISIONS,
    SIZE_BOUNDS,
    SIZES,
    STATES,
    nace_tree,
    region_tree,
    size_tree,
)
from diskret.hierarchy import Hierarchy
from diskret.parameters import Seed, Whole, reading


@dataclass(frozen=True, eq=False)
class BusinessRegister:
    """Firms with the code trees of their classifications.

    Parameters
    ----------
    records
        One row for each firm: ``firm_id`` (text), ``group_id`` (text, null if the firm
        belongs to no holding), ``nace``, ``region``, ``size`` (text, leaf codes),
        ``employees`` and ``turnover`` in euros (int64).
    nace
        Total → 10 sections → 25 divisions of NACE Rev. 2.
    region
        Total → 4 parts of the country → the 16 German states by their official codes.
    size
        Total → 3 classes by number of employees.
    """

    records: pa.Table
    nace: Hierarchy
    region: Hierarchy
    size: Hierarchy

    @property
    def by(self) -> dict[str, Hierarchy]:
        """Column → code tree, as `diskret.tabulate` takes it."""
        return {"nace": self.nace, "region": self.region, "size": self.size}


@reading
def business_register(n: Annotated[int, Whole(1)] = 50_000, seed: Seed = 1) -> BusinessRegister:
    """Make up a business register of `n` firms.

    Firms are spread unevenly over industries and states. Turnover is log-normal, grows
    with employment, differs between industries and is dominated by one firm in some
    combinations of industry and state. About 8 % of the firms belong to holdings of two to
    six firms, some of which straddle industries. The states' names are real, every figure
    is made up.

    Parameters
    ----------
    n
        Number of firms, at least 1.
    seed
        The same `n` and `seed` give the same register.

    Raises
    ------
    InputError
        `n` is below 1 or `seed` is negative.

    Examples
    --------
    >>> register = business_register(1_000, seed=7)
    >>> register.records.num_rows
    1000
    >>> [len(tree) for tree in register.by.values()]
    [36, 21, 4]
    >>> register.nace.labels["46"]
    'Wholesale trade'
    """
    rng = np.random.Generator(np.random.PCG64(seed))

    division, state = _places(rng, n)
    employees = _employees(rng, division)
    size = np.searchsorted(SIZE_BOUNDS, employees, side="right")
    turnover = _turnover(rng, division, employees)
    turnover = _dominated(rng, division * len(STATES) + state, turnover)
    group = _holdings(rng, division, size)

    records = pa.table(
        {
            "firm_id": _names("F", np.arange(1, n + 1), None),
            "group_id": _names("G", group, group == 0),
            "nace": _text([row[0] for row in DIVISIONS], division),
            "region": _text([row[0] for row in STATES], state),
            "size": _text(SIZES, size),
            "employees": employees,
            "turnover": turnover,
        }
    )
    return BusinessRegister(records, nace_tree(), region_tree(), size_tree())


def _places(rng: np.random.Generator, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Division and state of each firm; small industries are at home in few states."""
    divisions = np.array([row[3] for row in DIVISIONS], dtype=float)
    states = np.array([row[3] for row in STATES], dtype=float)
    evenness = np.clip(divisions / 8, 0.35, 8.0)[:, None]
    affinity = rng.gamma(evenness, 1 / evenness, size=(len(divisions), len(states)))
    share = states * affinity
    share *= (divisions / share.sum(axis=1))[:, None]
    place = rng.choice(share.size, size=n, p=(share / share.sum()).ravel())
    division, state = np.divmod(place, len(states))
    return division, state


def _employees(rng: np.random.Generator, division: NDArray[np.int64]) -> NDArray[np.int64]:
    typical = np.array([row[5] for row in DIVISIONS])[division]
    drawn = typical * np.exp(1.2 * rng.standard_normal(len(division)))
    return np.clip(drawn, 1, 60_000).astype(np.int64)


def _turnover(
    rng: np.random.Generator, division: NDArray[np.int64], employees: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Euros: productivity by industry, economies of scale, a few champions."""
    n = len(division)
    per_head = 1_000 * np.array([row[4] for row in DIVISIONS], dtype=float)[division]
    scatter = np.exp(0.6 * rng.standard_normal(n))
    champion = np.where(rng.random(n) < 0.002, 1 + rng.pareto(2.0, n), 1.0)
    turnover = per_head * employees**1.05 * scatter * np.minimum(champion, 20.0)
    return np.maximum(np.rint(turnover), 1).astype(np.int64)


def _dominated(
    rng: np.random.Generator, place: NDArray[np.int64], turnover: NDArray[np.int64]
) -> NDArray[np.int64]:
    """In a twentieth of the small places the largest firm gets six sevenths of the turnover."""
    largest_last = np.lexsort((turnover, place))
    occupied, first, firms = np.unique(place[largest_last], return_index=True, return_counts=True)
    leader = largest_last[first + firms - 1]
    total = np.bincount(place, weights=turnover.astype(float))[occupied]
    chosen = (firms >= 3) & (firms <= 60) & (rng.random(len(occupied)) < 0.05)
    raised = turnover.copy()
    raised[leader[chosen]] = 6 * np.rint(total[chosen]).astype(np.int64)
    return raised


def _holdings(
    rng: np.random.Generator, division: NDArray[np.int64], size: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Number of each firm's holding, 0 for none; larger firms rather belong to one."""
    n = len(division)
    group = np.zeros(n, dtype=np.int64)
    wanted = round(0.08 * n)
    if wanted < 2:
        return group
    # The smallest of exponential waiting times are a weighted draw without replacement.
    waiting = rng.standard_exponential(n) / np.array([1.0, 3.0, 10.0])[size]
    members = np.argsort(waiting, kind="stable")[:wanted]
    # Most members are sorted by industry before they are cut into holdings, the others stay
    # in random order: these make the holdings that straddle industries.
    members = rng.permutation(members)
    within = round(0.7 * wanted)
    similar = members[:within]
    similar = similar[np.argsort(division[similar], kind="stable")]
    members = np.concatenate((similar, members[within:]))
    ends = np.cumsum(rng.choice([2, 3, 4, 5, 6], size=wanted, p=[0.5, 0.25, 0.12, 0.08, 0.05]))
    complete = int(np.searchsorted(ends, wanted, side="right"))
    if complete:
        members = members[: ends[complete - 1]]
        group[members] = 1 + np.searchsorted(ends, np.arange(len(members)), side="right")
    return group


def _names(letter: str, number: NDArray[np.int64], missing: NDArray[np.bool_] | None) -> pa.Array:
    digits = pc.utf8_lpad(pa.array(number, mask=missing).cast(pa.string()), 6, "0")
    return pc.binary_join_element_wise(letter, digits, "")


def _text(codes: list[str] | tuple[str, ...], position: NDArray[np.int64]) -> pa.Array:
    return pa.array(codes, pa.string()).take(pa.array(position))
