"""What many answers of the tabulation service tell about counts of 1 and 2.

Run it from the repository as ``python benchmarks/serve_worth.py [records …]``; the default is
10,000, 100,000 and 1,000,000 people in 36,864 cells of four variables, most of them empty or small.
One user, and three who share, get 1 to 10,000 tables each: random ones, of one to three variables
with filters on half the codes of others. ``--chosen`` prints what tables tell that are chosen by
somebody who knows how, ``--village`` small tables that are reconstructed by integer programming.

Two things are said of each attacker. *Right*: of a cell with one or two people he is told that it
holds n or n + 1, both equally likely; how often he is right, beside `Resistance.certainty`.
*Told*: of all counts of 1 and 2 in the finest table, how many he names, right and at least so
sure, and how many of those that he names so are wrong. He is as sure as a rehearsal with people
whom he made up tells him to be.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from _memory import peak_megabytes
from _serve_answers import SHAPE, Seen, answers, census, people, planned, questions, service
from _serve_attackers import (
    Counts,
    Equations,
    Floats,
    averaged,
    fitting,
    knows_all_others,
    least_squares,
    likely,
    rehearsed,
)
from _serve_chain import sampled
from numpy.typing import NDArray

from diskret import PerturbationTable
from diskret.serve import resistance

NOISE = PerturbationTable.maximum_entropy(5, 3, small_counts=2)
#: Values of the noise, and how likely each is for 0, 1, 2, … people.
ROWS = (NOISE.noise, NOISE.probabilities)
TABLES = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
SURE = (0.7, 0.9, 0.95)


@dataclass(frozen=True)
class Town:
    """People of whom some are targets: alone in their cell, or with one other.

    `others`: the finest table without targets; `target`: their cells; `present`: which are there.
    """

    others: Counts
    target: NDArray[np.int64]
    present: NDArray[np.bool_]

    @property
    def count(self) -> Counts:
        """The finest table."""
        found = self.others.copy()
        found.ravel()[self.target] += self.present
        return found


@dataclass(frozen=True)
class Worth:
    """What an attacker achieved.

    `right`: share of targets, None: not looked at; `told`: for each of `SURE`, the share of
    counts of 1 and 2 that he named rightly, and the share of what he named so that was wrong (None:
    nothing was).
    """

    right: float | None
    told: tuple[tuple[float, float | None], ...] = ()


def town(records: int, shape: Sequence[int], targets: int, seed: int = 1) -> Town:
    """Half of the targets leave, before anything is asked."""
    draw = np.random.default_rng(seed)
    count = people(records, shape, seed)
    cells = np.flatnonzero((count.ravel() == 1) | (count.ravel() == 2))
    target = np.sort(draw.choice(cells, min(targets, len(cells)), replace=False))
    others = count.copy()
    others.ravel()[target] -= 1
    return Town(others, target, draw.random(len(target)) < 0.5)


def estimates(
    equations: Equations, attack: Callable[[Equations], Floats], where: Town, known: bool = True
) -> Worth:
    """What an attacker makes of his estimate of all cells."""
    cells = attack(equations)
    rehearsal = rehearsed(equations, cells, ROWS if known else 3.0, attack)
    n, estimate = where.others.ravel()[where.target], cells.ravel()[where.target]
    there = np.where(n == 0, *(rehearsal.between(low, estimate) for low in (0, 1))) > 0.5
    return Worth(float((there == where.present).mean()), named(rehearsal.chances(cells), where))


def named(chance: Floats, where: Town) -> tuple[tuple[float, float | None], ...]:
    """What an attacker names who finds 0, 1, 2 or more so likely, as `Worth.told`."""
    guess, sure = chance.argmax(0), chance.max(0)
    small = (guess == 1) | (guess == 2)
    number = np.count_nonzero(np.isin(where.count, (1, 2)))
    told = []
    for least in SURE:
        claims = small & (sure >= least)
        true = np.count_nonzero(claims & (guess == where.count))
        told.append((true / number, 1 - true / claims.sum() if claims.any() else None))
    return tuple(told)


def whole_numbers(seen: Sequence[Seen], where: Town) -> tuple[tuple[float, float | None], ...]:
    """What somebody names who goes through tables of whole numbers that fit all he knows."""
    equations = Equations(seen, where.others.shape)
    chance = sampled(seen, noise_known(equations), likely(equations, 30), ROWS)
    return named(chance.reshape(-1, *where.others.shape), where)


def all_others(seen: Sequence[Seen], where: Town, most: int | None = None) -> tuple[Worth, float]:
    """Who knows all others; and what the bound says for as many tables as count each target."""
    there, tables = knows_all_others(
        seen, where.others, where.target, where.present, NOISE.probabilities, NOISE.noise, most=most
    )
    # who is torn guesses: half of these are right
    right = np.where(there == 0.5, 0.5, (there > 0.5) == where.present)
    stated = resistance(NOISE)
    return Worth(float(right.mean())), float(np.mean([stated.certainty(int(m)) for m in tables]))


def attackers(seen: Sequence[Seen], where: Town, alone: bool) -> dict[str, Callable[[], Worth]]:
    """Those that are tried on these answers."""
    equations = Equations(seen, where.others.shape)
    found: dict[str, Callable[[], Worth]] = {
        "averages": lambda: estimates(equations, averaged, where),
        "least squares": lambda: estimates(equations, noise_known, where),
    }
    if alone:
        found["noise unknown"] = lambda: estimates(equations, noise_unknown, where, known=False)
    if len(seen) <= 3_000:  # who knows all others knows everything after 300
        found["all others"] = lambda: all_others(seen, where)[0]
    return found


def noise_known(equations: Equations) -> Floats:
    """Least squares with the variance of the noise."""
    return least_squares(equations, 3.0).cells


def noise_unknown(equations: Equations) -> Floats:
    """Without it."""
    return least_squares(equations, None).cells


def measured(records: int, users: int) -> None:
    """Print a line for each number of tables and attacker."""
    where = town(records, tuple(SHAPE.values()), 1_000)
    data = census(where.count, NOISE, [*SHAPE])
    tables = service(data)
    of_user = [
        answers(tables, questions(data, 5 + user), max(TABLES), f"user {user}")
        for user in range(users)
    ]
    for most in TABLES:
        shared = [one for seen in of_user for one in islice(seen, most)]
        bound = resistance(NOISE).certainty(len(shared))
        for name, attack in attackers(shared, where, alone=users == 1).items():
            used = time.process_time()
            found = attack()
            used = time.process_time() - used
            _print(f"{records:>9,} {users} {most:>6,} {name:<14}", found, bound, used)


def _print(what: str, found: Worth, bound: float, used: float = 0.0) -> None:
    told = "".join(
        f" {share:7.1%} {'–' if wrong is None else f'{wrong:.1%}':>6}"
        for share, wrong in found.told
    )
    right = "–" if found.right is None else f"{found.right:.1%}"
    print(f"{what} {right:>6} {bound:7.2%} {used:6.1f}{told}", flush=True)


# ── tables that are chosen ──────────────────────────────────────────────────────────


def chosen(records: int) -> None:
    """Print what the best tables tell who knows all others, and a plan for the finest table."""
    where = town(records, tuple(SHAPE.values()), 1_000)
    data = census(where.count, NOISE, [*SHAPE])
    tables, stated = service(data), resistance(NOISE).certainty
    seen = answers(tables, questions(data, 5), 3_000, "anne")
    for most in (1, 2, 3, 5):
        known, bound = all_others(seen, where, most)
        _print(f"{records:>9,} b {most:>6,} best of 3,000 ", known, bound)
    seen = answers(tables, planned(data, 5), 300, "bob")
    for most in (1, 3, 10, 30, 60, 100, 200, 300):
        used = time.process_time()
        found = estimates(Equations(seen[:most], where.others.shape), noise_known, where)
        used = time.process_time() - used
        _print(f"{records:>9,} p {most:>6,} planned       ", found, stated(most), used)
    for most in (3, 10, 20, 30, 100):
        used = time.process_time()
        told = whole_numbers(seen[:most], where)
        used = time.process_time() - used
        _print(f"{records:>9,} p {most:>6,} whole numbers ", Worth(None, told), stated(most), used)


# ── small tables ────────────────────────────────────────────────────────────────────


def village(answered: int, seed: int) -> tuple[float, float, float]:
    """30 people in 24 cells, reconstructed.

    Gives the share of counts of 1 and 2 that are right in the table that fits best, the share that
    no other number fits, and whether all true counts are within what fits (1.0).
    """
    shape = (8, 3)
    count = people(30, shape, seed)
    data = census(count, NOISE, ["age", "work"], seed)
    found = answers(service(data, seed), questions(data, seed), answered, "anne")
    fits = fitting(found, shape, 5, 30)
    small = np.isin(count, (1, 2))
    sure = fits.lower == fits.upper
    within = ((fits.lower <= count) & (count <= fits.upper)).all()
    return float((fits.best == count)[small].mean()), float(sure[small].mean()), float(within)


def main(arguments: list[str]) -> None:
    """Print what was measured."""
    if "--village" in arguments:
        print("tables  right: best fit  nothing else fits")
        for answered in (1, 3, 10, 30, 100):
            right, sure, within = np.mean([village(answered, seed) for seed in range(1, 11)], 0)
            print(f"{answered:>6} {right:16.1%} {sure:18.1%}", flush=True)
            assert within == 1
        return
    print(
        "  records u tables attacker        right   bound  CPU s"
        + "".join(f" {f'told {sure:g}':>7} {'wrong':>6}" for sure in SURE)
    )
    sizes = [int(one) for one in arguments if one.isdigit()] or [10_000, 100_000, 1_000_000]
    for records in sizes:
        if "--chosen" in arguments:
            chosen(records)
            continue
        for users in (1, 3):
            measured(records, users)
    print(f"peak memory {peak_megabytes():.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
