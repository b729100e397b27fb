"""What many answers of the tabulation service tell by coarser codes, and by sums.

Run it from the repository as ``python benchmarks/serve_worth_sums.py [records …]``; the default is
10,000 people in the cells of `serve_worth.py`. ``--levels``: counts by three levels of region and
work and two of age, each as likely, against the same attackers; one user, and three who share.
``--limits``: the same where each asks 10,000 random questions and the service refuses beyond its
limit. ``--sums``: sums with noise of 20 % of the largest contribution. ``--most N``: no more than N
tables of each user, 10,000 if nothing is said.

The attackers of sums know who is in which cell, as decision 102 has it, and look for the values of
people who are alone in theirs. *Knows all others* takes what he knows off each table with the
target and weighs what is left. *Least squares* knows no value, but the mean and the variance of
all, and the largest contribution of each cell that is shown, which is more than users do. *Right*
means within 10 % of the value, beside `certainty_of_estimate`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from _serve_answers import SHAPE, Seen, answers, census, questions, service
from _serve_attackers import Equations, Floats
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from serve_worth import NOISE, Town, attackers, town

from diskret.serve import certainty_of_estimate, resistance
from diskret.serve.allowance import Allowance

GROUPS = {"region": (12, 3), "work": (8, 2), "age": (3,)}
LIMITS = (1, 5, 10, 20, 30, 100)
TABLES = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
SHARE, WITHIN = 0.2, 0.1


def levels(records: int, users: int, limit: int) -> None:
    """Print what counts by several levels tell."""
    where = town(records, tuple(SHAPE.values()), 1_000)
    data = census(where.count, NOISE, [*SHAPE], groups=GROUPS)
    tables = service(data)
    of_user = [
        answers(tables, questions(data, 5 + user), limit, f"user {user}") for user in range(users)
    ]
    for most in (one for one in TABLES if one <= limit):
        shared = [one for own in of_user for one in islice(own, most)]
        _attacked(f"{records:>9,} {users} {most:>6,}", shared, where, users * most)


def limits(records: int, users: int, asked: int) -> None:
    """Print what somebody is told by a service that refuses beyond its limit."""
    where = town(records, tuple(SHAPE.values()), 1_000)
    data = census(where.count, NOISE, [*SHAPE], groups=GROUPS)
    for limit in LIMITS:
        tables = service(replace(data, questions=limit))
        tables.allowance = Allowance()
        shared = [
            one
            for user in range(users)
            for one in answers(
                tables, islice(questions(data, 5 + user), asked), asked, f"user {user}"
            )
        ]
        what = f"{records:>9,} {users} asked {asked:,}, limit {limit:>3}, given {len(shared):>4}"
        _attacked(what, shared, where, limit)


def _attacked(what: str, seen: Sequence[Seen], where: Town, tables: int) -> None:
    """Print what attackers make of answers of which `tables` may count the same record."""
    stated = resistance(NOISE).certainty(tables)
    tried = attackers(seen, where, alone=False)
    if len(seen) > 300:
        tried.pop("all others", None)
    for name, attack in tried.items():
        found = attack()
        named, wrong = found.told[0] if found.told else (0.0, None)
        print(
            f"{what} {name:<14} right {found.right or 0:6.1%} of at most {stated:.1%}; "
            f"named {named:6.1%}, wrong {'–' if wrong is None else f'{wrong:.1%}'}",
            flush=True,
        )


class People:
    """Their values, and who of them is alone in a cell."""

    def __init__(self, records: int, shape: Sequence[int] = tuple(SHAPE.values())):
        draw = np.random.default_rng(9)
        self.count = town(records, shape, 1_000).count
        people = int(self.count.sum())
        self.pay = np.round(np.exp(draw.normal(np.log(3000), 0.6, people))).astype(np.int64)
        cell = np.repeat(np.arange(self.count.size), self.count.ravel())
        self.total = np.bincount(cell, self.pay, self.count.size).reshape(self.count.shape)
        self.largest = np.zeros(self.count.size)
        np.maximum.at(self.largest, cell, self.pay)
        self.largest = self.largest.reshape(self.count.shape)
        alone = np.flatnonzero(self.count.ravel() == 1)
        self.target = np.sort(draw.choice(alone, min(1_000, len(alone)), replace=False))
        self.value = self.total.ravel()[self.target]

    def right(self, estimate: Floats) -> float:
        """How many estimates of the targets are within 10 %."""
        return float((np.abs(estimate - self.value) <= WITHIN * self.value).mean())


def sums(records: int, users: int, limit: int) -> None:
    """Print what sums tell."""
    own = People(records)
    data = census(own.count, NOISE, [*SHAPE], pay=own.pay, share=SHARE)
    tables = service(data)
    of_user = [
        answers(tables, questions(data, 5 + user, "sum"), limit, f"user {user}")
        for user in range(users)
    ]
    centre = float(np.median(own.pay))
    nothing = own.right(np.full(len(own.target), centre))
    print(f"{records:>9,} without answers: {nothing:.1%}")
    for most in (one for one in TABLES if one <= limit):
        seen = [one for answered in of_user for one in answered[:most]]
        stated = certainty_of_estimate(SHARE, WITHIN, users * most)
        squares = own.right(least_squares(seen, own).ravel()[own.target])
        said = f"least squares {squares:6.1%}"
        if users * most <= 300:
            said += f", knows all others {own.right(all_others(seen, own)):6.1%}"
        print(f"{records:>9,} {users} {most:>6,} {said} of at most {stated:.1%}", flush=True)


def largest_of(seen: Sequence[Seen], equations: Equations, own: People) -> list[Floats]:
    """The largest contribution of each cell that is shown, in the order of the equations."""
    of: dict[tuple[int, ...], list[Seen]] = {}
    for one in seen:
        of.setdefault(one.by, []).append(one)
    found: list[Floats] = []
    for by, group in of.items():
        rest = tuple(i for i in range(own.count.ndim) if i not in by)
        rows = own.largest.transpose(*by, *rest).reshape(
            int(np.prod([own.count.shape[i] for i in by])), -1
        )
        columns = []
        for one in group:
            inside = np.ones(1, dtype=bool)
            for axis in rest:
                inside = np.outer(inside, one.kept[axis]).ravel()
            columns.append(rows[:, inside].max(1))
        found.append(np.stack(columns, 1))
    return found


def least_squares(seen: Sequence[Seen], own: People) -> Floats:
    """The least Σ (y − Ax)² / noise + Σ (x − mean)² / variance, over cells with somebody."""
    equations = Equations(seen, own.count.shape)
    same = equations.alike(own.count > 0)
    weight = [
        np.where(y > 0, share / np.maximum(SHARE * top, 1) ** 2, 0)
        for y, top, share in zip(
            equations.shown, largest_of(seen, equations, own), same, strict=True
        )
    ]
    mean, variance = float(own.pay.mean()), float(own.pay.var())
    number = own.count.astype(np.float64)
    begin, free = mean * number, number > 0
    trust = np.where(free, 1 / np.maximum(variance * number, 1), 0)
    beyond = [y - s for y, s in zip(equations.shown, equations.sums(begin), strict=True)]
    right = equations.back([w * b for w, b in zip(weight, beyond, strict=True)]) * free

    def normal(flat: NDArray[np.float64]) -> NDArray[np.float64]:
        x = flat.reshape(number.shape) * free
        parts = [w * s for w, s in zip(weight, equations.sums(x), strict=True)]
        return (equations.back(parts) * free + trust * x + flat.reshape(x.shape) * ~free).ravel()

    scale = equations.back(weight) + trust
    inverse = np.where(free, 1 / np.maximum(scale, 1e-30), 1.0).ravel()
    size = number.size
    solved, _ = cg(
        LinearOperator((size, size), matvec=normal, dtype=np.float64),
        right.ravel(),
        rtol=1e-5,
        maxiter=200,
        M=LinearOperator((size, size), matvec=lambda v: inverse * v, dtype=np.float64),
    )
    return begin + solved.reshape(number.shape)


def all_others(seen: Sequence[Seen], own: People) -> Floats:
    """What is left of each table with the target, weighed by the noise that it may have."""
    equations = Equations(seen, own.count.shape)
    names = np.where(own.count > 0, np.random.default_rng(3).random(own.count.shape), 0.0)
    known = equations.sums(own.total.astype(np.float64))
    sets = equations.sums(names)
    top = largest_of(seen, equations, own)
    found, centre = np.zeros(len(own.target)), float(np.median(own.pay))
    for at, cell in enumerate(own.target.tolist()):
        here = np.zeros(own.count.shape)
        here.ravel()[cell] = 1
        left: dict[float, tuple[float, float]] = {}
        for inside, name, shown, true, most in zip(
            equations.sums(here), sets, equations.shown, known, top, strict=True
        ):
            for place in zip(*np.nonzero(inside * shown), strict=True):
                # equal sets have equal noise, so each counts once; where the shown count is 0 the
                # sum is too, and says nothing
                others = float(true[place] - own.value[at])
                found_here = float(shown[place]) - others, float(most[place])
                left[round(float(name[place]), 9)] = found_here
        values = np.array([*left.values()]).reshape(-1, 2)
        weight = 1 / np.maximum(values[:, 1], 1) ** 2
        found[at] = (weight * values[:, 0]).sum() / weight.sum() if len(values) else centre
    return found


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("records", nargs="*", type=int, default=[10_000])
    parser.add_argument("--levels", action="store_true")
    parser.add_argument("--limits", action="store_true")
    parser.add_argument("--sums", action="store_true")
    parser.add_argument("--most", type=int, default=max(TABLES))
    given = parser.parse_args()
    for records in given.records:
        for users in (1, 3):
            for chosen, measure in (
                (given.levels, levels),
                (given.limits, limits),
                (given.sums, sums),
            ):
                if chosen or not (given.levels or given.limits or given.sums):
                    measure(records, users, given.most)


if __name__ == "__main__":
    main()
