"""Groups exactly as the papers define them, with every distance computed anew."""

import math
from collections import Counter
from functools import reduce
from operator import add

import numpy as np


def added(terms):
    """One after the other; `sum` keeps what rounding loses, from Python 3.12 on."""
    return reduce(add, terms, 0.0)


def squared(a, b):
    return added((x - y) * (x - y) for x, y in zip(a, b, strict=True))


def mean(rows):
    return [math.fsum(column) / len(column) for column in zip(*rows, strict=True)]


def mixed(values, scales, power):
    """Distance and centre of records with categories: power 2, or 1 as Gower's."""
    columns = [values[:, j] for j in range(values.shape[1])]
    width = [float(column.max() - column.min()) for column in columns]

    def one(j, x, y):
        if scales[j] == "nominal":
            return 1.0 if x != y else 0.0
        if scales[j] == "number" and power == 2:
            return abs(x - y) ** 2
        return (abs(x - y) * (1 / width[j] if width[j] else 0.0)) ** power

    def centre(rows):
        made = mean(rows)
        for j, scale in enumerate(scales):
            own = sorted(row[j] for row in rows)
            if scale == "ordinal":
                made[j] = own[(len(own) - 1) // 2]
            elif scale == "nominal":
                often = Counter(own)
                made[j] = min(own, key=lambda code: (-often[code], code))
        return made

    def distance(a, b):
        return added(one(j, x, y) for j, (x, y) in enumerate(zip(a, b, strict=True)))

    return distance, centre


class Records:
    """Those that are left, and the groups made so far."""

    def __init__(self, values, distance=squared):
        self.rows = values.tolist()
        self.left = list(range(len(values)))
        self.group = [-1] * len(values)
        self.made = 0
        self.distance = distance

    def farthest(self, point):
        return max(self.left, key=lambda i: (self.distance(self.rows[i], point), -i))

    def gather(self, leader, k):
        """The leader first, then the nearest; of equally near ones the first."""
        others = sorted(
            (i for i in self.left if i != leader),
            key=lambda i: (self.distance(self.rows[i], self.rows[leader]), i),
        )
        self.take([leader, *others[: k - 1]])
        self.made += 1

    def take(self, members):
        for i in members:
            self.left.remove(i)
            self.group[i] = self.made


def mdav(values, k, distance=squared, centre=mean):
    them = Records(values, distance)

    def middle():
        return centre([them.rows[i] for i in them.left])

    while len(them.left) >= 3 * k:
        first = them.farthest(middle())
        them.gather(first, k)
        them.gather(them.farthest(them.rows[first]), k)
    if len(them.left) >= 2 * k:
        them.gather(them.farthest(middle()), k)
    them.take(list(them.left))
    return them.group


def led(values, leaders, k, gamma=0.0):
    them = Records(values)
    for leader in leaders:
        if len(them.left) < k:
            break
        if them.group[leader] >= 0:
            continue
        them.gather(leader, k)
        name = them.made - 1
        while them.left and sum(g == name for g in them.group) < 2 * k - 1:
            members = [i for i, g in enumerate(them.group) if g == name]
            inside, found = min(
                (squared(them.rows[i], them.rows[j]), j) for i in members for j in them.left
            )
            outside = min(
                (squared(them.rows[found], them.rows[j]) for j in them.left if j != found),
                default=math.inf,
            )
            if not math.sqrt(inside) < gamma * math.sqrt(outside):
                break
            them.left.remove(found)
            them.group[found] = name
    means = [
        mean([row for row, g in zip(them.rows, them.group, strict=True) if g == name])
        for name in range(them.made)
    ]
    for i in them.left:
        gaps = [squared(them.rows[i], point) for point in means]
        them.group[i] = gaps.index(min(gaps))
    return them.group


def sse_share(values, shown):
    """Mean share of variance lost, of standardised variables."""
    lost = ((values - shown) ** 2).sum(axis=0)
    return float(np.mean(lost / ((values - values.mean(axis=0)) ** 2).sum(axis=0)))
