"""Alternative tables that show what a pattern is worth, for the attack to check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Proposals, Requirements
from diskret.suppression.blocks import Blocks
from diskret.suppression.blockwise import hide_in_blocks
from diskret.suppression.certify import show
from diskret.suppression.exact import Change, Reach
from diskret.suppression.problem import Problem, Work
from diskret.suppression.reduce import Changeable, changeable


def propose(problem: Problem, suppressed: NDArray[np.bool_]) -> Proposals:
    """Look for changes of the suppressed cells that show every requirement.

    An attack that has to look for them itself knows nothing of blocks and original values. It
    checks each proposal, so a wrong or missing one costs time, never safety.

    Parameters
    ----------
    problem
        What is required; secondaries must be able to move by one unit.
    suppressed
        A pattern of any method, bool, ``(n,)``.

    Returns
    -------
    Proposals
        Not necessarily for every requirement.
    """
    within = replace(
        problem,
        requirements=_of_all(problem.requirements, np.flatnonzero(suppressed)),
        frozen=~suppressed,
        start=None,
        deadline=None,
        work=Work(),
    )
    cells = changeable(within)
    own = np.zeros(len(suppressed), dtype=bool)
    own[problem.requirements.cell] = True
    primary = np.zeros(len(cells.down), dtype=bool)
    primary[cells.group[own & (cells.group >= 0)]] = True
    reach = Reach(len(cells.down))
    changes = show(cells, primary, reach, one_by_one=False)
    blocks = Blocks(problem.system.tables, cells.group)
    everything = np.ones(len(cells.down), dtype=bool)
    changes += hide_in_blocks(within, cells, blocks, everything, reach, share=1.0)
    return _proposals(cells, changes)


def _of_all(requirements: Requirements, cell: NDArray[np.int64]) -> Requirements:
    """The requirements, and one unit for all other cells."""
    at = np.searchsorted(cell, requirements.cell)

    def spread(levels: NDArray[np.int64], least: int) -> NDArray[np.int64]:
        out = np.full(len(cell), least, dtype=np.int64)
        out[at] = np.maximum(levels, least)
        return out

    return Requirements(
        cell,
        spread(requirements.lower, 0),
        spread(requirements.upper, 0),
        spread(requirements.sliding, 1),
    )


def _proposals(cells: Changeable, changes: Sequence[Change]) -> Proposals:
    """Changes of groups, there and back, as differences of cells."""
    group: list[NDArray[np.int64]] = []
    step: list[NDArray[np.int64]] = []
    divisor: list[int] = []
    for change in changes:
        for possible, sign in ((change.there, 1), (change.back, -1)):
            if possible.any():
                group.append(change.cell[possible])
                step.append(sign * cells.scale * change.step[possible])
                divisor.append(change.divisor)
    starts = np.cumsum([0, *map(len, group)])
    members = np.flatnonzero(cells.group >= 0)
    shape = len(cells.down), len(cells.group)
    belongs = sparse.csr_array(
        (np.ones(len(members), dtype=np.int64), (cells.group[members], members)), shape=shape
    )
    moves = sparse.csr_array(
        (np.concatenate([*step, []]).astype(np.int64), np.concatenate([*group, []]), starts),
        shape=(len(group), shape[0]),
    )
    return Proposals(sparse.csr_array(moves @ belongs), np.array(divisor, dtype=np.int64))
