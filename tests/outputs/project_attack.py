"""An attack on all accepted results of a project, from the records; nothing of the package's.

What was told is a list of sums: a set of records, and the variable that is added up over it; ""
counts.
A variable is a sum of *terms*, of each record: turnover is what was sold at home and abroad, and a
variable that was cut off at a limit is, of most records, the variable itself. Terms of records
that lie in the same sums cannot be told apart and make an atom.
"""

import itertools
from functools import cached_property

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

TINY = 1e-9


class Known:
    """What follows from some sums by any factors.

    `sums`: for each, which (record, term) it adds up. `values`, `firm`: of each (record, term).
    `every`: all sums that atoms are made of, so that two states of knowledge can be compared.
    """

    def __init__(self, sums, every, values, firm):
        inside = every.any(axis=0)
        _, atom = np.unique(every[:, inside], axis=1, return_inverse=True)
        self.atom = np.full(every.shape[1], -1)
        self.atom[inside] = atom.reshape(-1)
        self.number = int(self.atom.max()) + 1
        first = [int(np.flatnonzero(self.atom == one)[0]) for one in range(self.number)]
        own = sums[:, first].astype(float)
        _, size, turned = np.linalg.svd(own, full_matrices=False)
        self.basis = turned[size > TINY * size.max(initial=1)] if len(own) else own
        self.gap = np.eye(self.number) - self.basis.T @ self.basis
        # contribution of each firm to each atom
        pairs, which = np.unique(
            np.column_stack([self.atom, firm])[inside], axis=0, return_inverse=True
        )
        self.part_atom, self.part_firm = pairs.T
        self.part = np.abs(np.bincount(which.reshape(-1), values[inside], len(pairs)))

    @cached_property
    def firms(self):
        return [frozenset(self.part_firm[self.part_atom == one]) for one in range(self.number)]

    def small(self, threshold, signed, most=3):
        """Sets of up to three atoms, of few firms, of which some combination follows.

        `signed`: whether differences count; the one of two numbers of firms tells of neither.
        """
        light = [at for at in range(self.number) if len(self.firms[at]) < threshold]
        found = []
        for number in range(1, most + 1):
            chosen = np.array(list(itertools.combinations(light, number)), int)
            if not len(chosen):
                continue
            block = self.gap[chosen[:, :, None], chosen[:, None, :]]
            flat = np.linalg.det(block) if number > 1 else block[:, 0, 0]
            for one in chosen[flat < 1e-7]:
                block = self.gap[np.ix_(one, one)]
                least, ways = np.linalg.eigh(block)
                if least[0] > TINY or any({*old} <= {*one} for old, _ in found):
                    continue
                if not signed and ways[:, 0].min() * ways[:, 0].max() < -TINY:
                    continue
                if len(frozenset().union(*(self.firms[at] for at in one))) < threshold:
                    found.append((tuple(map(int, one)), np.round(ways[:, 0], 6)))
        return found

    def room(self, target, away):
        """By how much a firm's parts can be changed so that all sums stay as they are.

        All other parts are changed by no more than they are; those of the firm `away` not at all.
        `target`: parts of one firm. It is the best bound on their sum that follows by any factors
        from the sums and the knowledge that a part is between 0 and twice what it is.
        """
        others = (self.part_firm != away).astype(float)
        others[target] = 0
        cap = np.bincount(self.part_atom, self.part * others, self.number)
        moved = np.zeros((self.number, len(target)))
        moved[self.part_atom[target], range(len(target))] = 1
        matrix = np.hstack([self.basis, self.basis @ moved])
        goal = np.concatenate([np.zeros(self.number), -np.ones(len(target))])
        bounds = [*((-one, one) for one in cap), *[(None, None)] * len(target)]
        solved = linprog(goal, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=bounds)
        return np.inf if solved.status == 3 else -solved.fun


def _terms(frame, told, terms, names):
    """Shape (sums, records × terms): which terms each sum adds up."""
    matrix = np.zeros((len(told), len(names), len(frame)), bool)
    for row, (records, variable) in enumerate(told):
        inside = np.zeros(len(frame), bool)
        inside[frame.index.get_indexer(records)] = True
        for term, where in terms[variable].items():
            matrix[row, names.index(term)] = inside & where
    return matrix.reshape(len(told), -1)


def narrowed(world, before, after, rules, draw):
    """What `after` tells of few firms, or too closely of one, and `before` did not.

    `world`: see `random_projects`; `before`, `after`: what was told, the first part of the second.
    """
    found = []
    frame = world.frame
    for family, terms, values in world.families({variable for _, variable in after}):
        own = [one for one in after if one[1] in terms]
        if len(own) == 0:
            continue
        number = sum(one[1] in terms for one in before)
        every = _terms(frame, own, terms, "n" if not family else "vwst")
        firm = np.tile(frame.firm.to_numpy(), every.shape[1] // len(frame))
        # what two variables say of a third follows from them whether or not it is told as well
        third = max(min(at for at, one in enumerate(own) if one[1] == name) for _, name in own)
        late, *early = (
            Known(one, every, values, firm) for one in (every, every[:number], every[:third])
        )
        old = [{*atoms} for one in early for atoms, _ in one.small(rules.threshold, bool(family))]
        for atoms, ways in late.small(rules.threshold, bool(family)):
            if not any(one <= {*atoms} for one in old):
                found.append((family, "few", atoms, ways.tolist()))
        if not family:
            continue
        for target, away, needed in _risks(late, rules, draw):
            limit = needed * late.part[target] * (1 - 1e-6)
            if late.room(target, away) >= limit.sum():
                continue
            # nor is it made of what was known and of something safe
            some = [[at] for at in range(len(target))] if len(target) > 1 else []
            ways = [[*range(len(target))], *some]
            if all(
                known.room(target[one], away) >= limit[one].sum() for one in ways for known in early
            ):
                who = int(late.part_firm[target[0]])
                found.append((family, "close", who, late.part_atom[target].tolist(), int(away)))
    return found


_TARGETS = 4


def _risks(known, rules, draw):
    """Parts of firms that are most in danger, who attacks (-1: nobody), the room there must be."""
    cap = np.bincount(known.part_atom, known.part, known.number)
    rest = cap[known.part_atom] - known.part
    danger = np.flatnonzero((rest < known.part) & (known.part > 0))
    danger = danger[np.argsort(-known.part[danger])]
    chosen = [*danger[:2], *draw.permutation(danger[2:])[: _TARGETS - 2]]
    sizes = np.bincount(known.part_firm, known.part)
    large = np.argsort(-sizes)[:4]
    for part in chosen:
        who = known.part_firm[part]
        every = np.flatnonzero(known.part_firm == who)
        for target in [np.array([part])] + ([every] if len(every) > 1 else []):
            if rules.dominance is not None:
                yield target, -1, (100 - rules.dominance[1]) / rules.dominance[1]
            near = np.flatnonzero(
                (known.part_atom == known.part_atom[part]) & (known.part_firm != who)
            )
            second = [known.part_firm[near[known.part[near].argmax()]]] if len(near) else []
            for away in [*second, *(one for one in draw.permutation(large)[:1] if one != who)]:
                yield target, away, rules.p_percent / 100


def confined(frame, told, hidden, threshold):
    """Numbers that a reader knows who counts in whole numbers, none below zero.

    Looked at are atoms of few firms, and cells of few that a table hides: the smallest and the
    largest number of records that they may have, if all numbers that were told are true.

    `hidden`: sets of records.
    """
    inside = [np.isin(frame.index, one) for one, _ in told]
    signature = np.array([*inside, *(np.isin(frame.index, one) for one in hidden)])
    there = signature[: len(inside)].any(axis=0)
    atoms, at = np.unique(signature[:, there], axis=1, return_inverse=True)
    number = np.bincount(at.reshape(-1), minlength=atoms.shape[1])
    told_by = atoms[: len(inside)].astype(float)
    known = LinearConstraint(told_by, told_by @ number, told_by @ number)
    firms = frame.firm.to_numpy()[there]
    few = [len({*firms[at.reshape(-1) == one]}) < threshold for one in range(len(number))]
    unsafe = [one for one in atoms[len(inside) :] if len({*firms[one[at.reshape(-1)]]}) < threshold]
    goals = [*np.eye(len(number))[few], *np.array(unsafe, float)]
    found = []
    for goal in goals:
        ends = [
            milp(sign * goal, constraints=known, integrality=np.ones(len(number)), bounds=Bounds(0))
            for sign in (1, -1)
        ]
        low, high = ends[0].fun, np.inf if ends[1].x is None else -ends[1].fun
        if low > goal @ number - 1 + TINY and high < goal @ number + 1 - TINY:
            found.append((int(goal @ number), len(goals)))
    return found
