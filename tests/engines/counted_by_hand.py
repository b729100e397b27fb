"""What an engine must answer, counted record by record in plain Python."""

from collections import defaultdict
from decimal import Decimal

import numpy as np


def by_hand(records, by, values=(), unit=None, holding=None, key=None, largest=0, modulus=2**32):
    """Answer in the form of `plain`; `records` are dicts, `values` maps measures to decimals."""
    values = dict(values)
    scaled = {
        name: [int(Decimal(str(r[name])).scaleb(places)) for r in records]
        for name, places in values.items()
    }
    leaf_of = [tuple(str(r[name]).strip() for name in by) for r in records]
    leaves = sorted(set(leaf_of))

    def unit_of(i):
        return (1, records[i][unit]) if unit else (2, i)

    def holding_of(i):
        return unit_of(i) if records[i][holding] is None else (0, records[i][holding])

    def contributors(identify):
        """Contributor → leaf → numbers of its records there."""
        found = defaultdict(lambda: defaultdict(list))
        for i, leaf in enumerate(leaf_of):
            found[identify(i)][leaf].append(i)
        return found

    def stayers(found):
        return [next(iter(at.items())) for at in found.values() if len(at) == 1]

    def number(found):
        count = dict.fromkeys(leaves, 0)
        for leaf, _ in stayers(found):
            count[leaf] += 1
        return list(count.values())

    def straddlers(found, keyed):
        rows = []
        moving = sorted(identity for identity, at in found.items() if len(at) > 1)
        for n, identity in enumerate(moving):
            for leaf in sorted(found[identity]):
                there = found[identity][leaf]
                sums = {name: sum(scaled[name][i] for i in there) for name in values}
                k = int(records[there[0]][key]) if keyed else None
                rows.append((n, leaves.index(leaf), sums, k))
        return rows

    def sizes(found, name):
        at = {leaf: [] for leaf in leaves}
        for leaf, there in stayers(found):
            at[leaf].append(abs(sum(scaled[name][i] for i in there)))
        return [sorted(each, reverse=True) for each in at.values()]

    units = contributors(unit_of)
    ranked = contributors(holding_of) if holding else units
    key_sum = None
    if key:
        total = dict.fromkeys(leaves, 0)
        for leaf, there in stayers(units):
            total[leaf] += int(records[there[0]][key])
        key_sum = [k % modulus for k in total.values()]
    return {
        "leaf": leaves,
        "count": [leaf_of.count(leaf) for leaf in leaves],
        "sums": {
            name: [
                sum(v for v, at in zip(scaled[name], leaf_of, strict=True) if at == leaf)
                for leaf in leaves
            ]
            for name in values
        },
        "magnitudes": {name: [sum(each) for each in sizes(ranked, name)] for name in values},
        "largest": {
            name: [(each + [0] * largest)[:largest] for each in sizes(ranked, name)]
            for name in values
        },
        "units": number(units) if unit else None,
        "holdings": number(ranked) if holding else None,
        "unit_straddlers": straddlers(units, bool(key)) if unit else None,
        "holding_straddlers": straddlers(ranked, False) if holding else None,
        "key_sum": key_sum,
    }


def plain(leaves):
    """Plain lists, leaves named by their codes."""
    trees = list(leaves.by.values())
    codes = [
        tuple(tree.codes[p] for tree, p in zip(trees, row, strict=True))
        for row in leaves.position.tolist()
    ]

    def listed(array):
        return None if array is None else array.tolist()

    def rows(found):
        if found is None:
            return None
        keys = [None] * len(found.leaf) if found.key is None else found.key.tolist()
        sums = [
            {name: int(array[i]) for name, array in found.sums.items()}
            for i in range(len(found.leaf))
        ]
        return list(zip(found.contributor.tolist(), found.leaf.tolist(), sums, keys, strict=True))

    return {
        "leaf": codes,
        "count": listed(leaves.count),
        "sums": {name: listed(array) for name, array in leaves.sums.items()},
        "magnitudes": {name: listed(array) for name, array in leaves.magnitudes.items()},
        "largest": {name: listed(array) for name, array in leaves.largest.items()},
        "units": listed(leaves.units),
        "holdings": listed(leaves.holdings),
        "unit_straddlers": rows(leaves.unit_straddlers),
        "holding_straddlers": rows(leaves.holding_straddlers),
        "key_sum": listed(leaves.key_sum),
    }


def same(one, other):
    """Whether two answers agree in every number."""
    return plain(one) == plain(other) and np.array_equal(one.position, other.position)
