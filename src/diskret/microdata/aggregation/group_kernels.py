"""Records in nested boxes: the farthest, the nearest, taken out one after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel

#: About so many records lie in a box that is not divided.
_LEAF = 8


class Boxes(NamedTuple):
    """The records that are left, in a binary tree of boxes; box b is divided into 2b + 1, 2b + 2.

    Distances are sums over variables of |difference · factor| to a power; power 0: the factor
    where values differ. Bounds for a box are computed in the same order of operations as
    distances, and every operation rounds monotonically: so they hold to the last bit.
    """

    points: NDArray[np.float64]  # (m, p), box by box
    record: NDArray[np.int64]  # (m,), the record of each
    position: NDArray[np.int64]  # (n,), where a record stands
    home: NDArray[np.int64]  # (m,), the smallest box around each
    start: NDArray[np.int64]  # (boxes,), where a smallest box begins
    live: NDArray[np.int64]  # (boxes,), how many are left in a smallest box
    first: NDArray[np.int64]  # (boxes,), the first record left, n if there is none
    lower: NDArray[np.float64]  # (boxes, p)
    upper: NDArray[np.float64]  # (boxes, p)
    factor: NDArray[np.float64]  # (p,)
    power: NDArray[np.int64]  # (p,), 2, 1 or 0
    stack: NDArray[np.int64]  # scratch of a search
    bound: NDArray[np.float64]


class Centre(NamedTuple):
    """What the centre of the records that are left is made of.

    Sums are kept in two parts, together as exact as twice the digits, so that taking records out
    one by one never drifts away from the sum of those that are left.
    """

    high: NDArray[np.float64]  # (p,)
    low: NDArray[np.float64]  # (p,)
    often: NDArray[np.int64]  # (p, most levels), records of each code
    levels: NDArray[np.int64]  # (p,), number of codes; 0: a number, its centre is the mean
    power: NDArray[np.int64]  # (p,), of codes: 0: the mode, else the median


@kernel
def boxes(
    values: NDArray[np.float64],
    records: NDArray[np.int64],
    factor: NDArray[np.float64],
    power: NDArray[np.int64],
) -> Boxes:  # pragma: no cover - compiled
    """Put some records of `values`, ``(n, p)``, into boxes, halved where they are widest."""
    m, p = len(records), values.shape[1]
    leaves = 1
    while leaves * _LEAF < m:
        leaves *= 2
    number = 2 * leaves - 1
    start, end = np.zeros(number, np.int64), np.zeros(number, np.int64)
    end[0] = m
    order = records.copy()
    for box in range(leaves - 1):
        a, b = start[box], end[box]
        widest, axis = -1.0, 0
        for j in range(p):
            least = most = values[order[a], j]
            for i in range(a, b):
                least, most = min(least, values[order[i], j]), max(most, values[order[i], j])
            width = (most - least) * factor[j]
            if width > widest:
                widest, axis = width, j
        middle = (a + b) // 2
        _halve(values, axis, order, a, b, middle)
        start[2 * box + 1], end[2 * box + 1] = a, middle
        start[2 * box + 2], end[2 * box + 2] = middle, b
    position = np.full(len(values), -1, np.int64)
    points, home = np.empty((m, p)), np.empty(m, np.int64)
    for i in range(m):
        position[order[i]] = i
        points[i] = values[order[i]]
    made = Boxes(
        points,
        order,
        position,
        home,
        start,
        end - start,
        np.full(number, len(values), np.int64),
        np.empty((number, p)),
        np.empty((number, p)),
        factor,
        power,
        np.empty(128, np.int64),
        np.empty(128),
    )
    for box in range(number - 1, -1, -1):
        if box >= leaves - 1:
            for i in range(start[box], end[box]):
                home[i] = box
            _fit(made, box)
        else:
            _join(made, box)
    return made


@kernel
def _halve(
    values: NDArray[np.float64], axis: int, order: NDArray[np.int64], a: int, b: int, middle: int
) -> None:  # pragma: no cover - compiled
    """Reorder places a … b - 1 so that no value before `middle` is larger than one from there."""
    low, high = a, b - 1
    while low < high:
        pivot = values[order[(low + high) // 2], axis]
        i, j = low, high
        while i <= j:
            while values[order[i], axis] < pivot:
                i += 1
            while values[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def _fit(tree: Boxes, box: int) -> bool:  # pragma: no cover - compiled
    """Fit a smallest box to the records left in it; whether it changed."""
    a, b = tree.start[box], tree.start[box] + tree.live[box]
    was = tree.first[box]
    found = len(tree.position)
    for i in range(a, b):
        found = min(found, tree.record[i])
    tree.first[box] = found
    changed = found != was
    if a == b:
        return changed
    for j in range(tree.points.shape[1]):
        least = most = tree.points[a, j]
        for i in range(a + 1, b):
            least, most = min(least, tree.points[i, j]), max(most, tree.points[i, j])
        if least != tree.lower[box, j] or most != tree.upper[box, j]:
            changed = True
            tree.lower[box, j], tree.upper[box, j] = least, most
    return changed


@kernel
def _join(tree: Boxes, box: int) -> bool:  # pragma: no cover - compiled
    """Fit a divided box to its two parts; whether it changed."""
    one, other = 2 * box + 1, 2 * box + 2
    nobody = len(tree.position)
    if tree.first[one] == nobody:
        one = other
    elif tree.first[other] == nobody:
        other = one
    first = min(tree.first[one], tree.first[other])
    changed = first != tree.first[box]
    tree.first[box] = first
    if first == nobody:
        return changed
    for j in range(tree.points.shape[1]):
        least = min(tree.lower[one, j], tree.lower[other, j])
        most = max(tree.upper[one, j], tree.upper[other, j])
        if least != tree.lower[box, j] or most != tree.upper[box, j]:
            changed = True
            tree.lower[box, j], tree.upper[box, j] = least, most
    return changed


@kernel
def remove(tree: Boxes, record: int) -> None:  # pragma: no cover - compiled
    """Take a record out, and tighten the boxes around it."""
    at = tree.position[record]
    box = int(tree.home[at])
    tree.live[box] -= 1
    last = tree.start[box] + tree.live[box]
    moved = tree.record[last]
    tree.record[at], tree.record[last] = moved, record
    tree.position[moved], tree.position[record] = at, last
    for j in range(tree.points.shape[1]):
        tree.points[at, j], tree.points[last, j] = tree.points[last, j], tree.points[at, j]
    changed = _fit(tree, box)
    while changed and box > 0:
        box = (box - 1) // 2
        changed = _join(tree, box)


@kernel
def apart(difference: float, factor: float, power: int) -> float:  # pragma: no cover - compiled
    """What one variable adds to a distance; `difference` ≥ 0."""
    if power == 2:
        return (difference * factor) * (difference * factor)
    if power == 1:
        return difference * factor
    return factor if difference > 0 else 0.0


@kernel
def _distance(tree: Boxes, at: int, point: NDArray[np.float64]) -> float:  # pragma: no cover
    total = 0.0
    for j in range(len(point)):
        total += apart(abs(tree.points[at, j] - point[j]), tree.factor[j], tree.power[j])
    return total


@kernel
def _at_least(tree: Boxes, box: int, point: NDArray[np.float64]) -> float:  # pragma: no cover
    """No point of a box is nearer."""
    total = 0.0
    for j in range(len(point)):
        gap = max(tree.lower[box, j] - point[j], point[j] - tree.upper[box, j], 0.0)
        total += apart(gap, tree.factor[j], tree.power[j])
    return total


@kernel
def _at_most(tree: Boxes, box: int, point: NDArray[np.float64]) -> float:  # pragma: no cover
    """No point of a box is farther."""
    total = 0.0
    for j in range(len(point)):
        gap = max(abs(tree.lower[box, j] - point[j]), abs(tree.upper[box, j] - point[j]))
        total += apart(gap, tree.factor[j], tree.power[j])
    return total


@kernel
def farthest(tree: Boxes, point: NDArray[np.float64]) -> int:  # pragma: no cover - compiled
    """The record that is farthest from a point, the first of several."""
    nobody, divided = len(tree.position), len(tree.start) // 2
    best, found = -1.0, nobody
    tree.stack[0], tree.bound[0] = 0, np.inf
    top = 1
    while top:
        top -= 1
        box, most = tree.stack[top], tree.bound[top]
        if most < best or (most == best and tree.first[box] > found):
            continue
        if box >= divided:
            for i in range(tree.start[box], tree.start[box] + tree.live[box]):
                here = _distance(tree, i, point)
                if here > best or (here == best and tree.record[i] < found):
                    best, found = here, tree.record[i]
            continue
        one, other = 2 * box + 1, 2 * box + 2
        a = _at_most(tree, one, point) if tree.first[one] < nobody else -2.0
        b = _at_most(tree, other, point) if tree.first[other] < nobody else -2.0
        if a > b or (a == b and tree.first[one] < tree.first[other]):
            one, other, a, b = other, one, b, a
        if a >= best:  # the last one is looked at first
            tree.stack[top], tree.bound[top] = one, a
            top += 1
        if b >= best:
            tree.stack[top], tree.bound[top] = other, b
            top += 1
    return found


@kernel
def nearest(
    tree: Boxes,
    point: NDArray[np.float64],
    near: NDArray[np.int64],
    distance: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Write the records nearest to a point into `near`, the first of equally near ones first.

    `distance` gets their distances; where too few are left, it is infinite.
    """
    nobody, divided, wanted = len(tree.position), len(tree.start) // 2, len(near)
    near[:], distance[:] = nobody, np.inf
    if wanted == 0 or tree.first[0] == nobody:
        return
    tree.stack[0], tree.bound[0] = 0, 0.0
    top = 1
    while top:
        top -= 1
        box, least = tree.stack[top], tree.bound[top]
        worst, last = distance[wanted - 1], near[wanted - 1]
        if least > worst or (least == worst and tree.first[box] > last):
            continue
        if box >= divided:
            for i in range(tree.start[box], tree.start[box] + tree.live[box]):
                here, who = _distance(tree, i, point), tree.record[i]
                at = wanted
                while at > 0 and (
                    here < distance[at - 1] or (here == distance[at - 1] and who < near[at - 1])
                ):
                    if at < wanted:
                        near[at], distance[at] = near[at - 1], distance[at - 1]
                    at -= 1
                if at < wanted:
                    near[at], distance[at] = who, here
            continue
        one, other = 2 * box + 1, 2 * box + 2
        a = _at_least(tree, one, point) if tree.first[one] < nobody else np.inf
        b = _at_least(tree, other, point) if tree.first[other] < nobody else np.inf
        if a < b or (a == b and tree.first[one] > tree.first[other]):
            one, other, a, b = other, one, b, a
        if a <= worst and tree.first[one] < nobody:
            tree.stack[top], tree.bound[top] = one, a
            top += 1
        if b <= worst and tree.first[other] < nobody:
            tree.stack[top], tree.bound[top] = other, b
            top += 1


@kernel
def count(
    centre: Centre, values: NDArray[np.float64], record: int, sign: int
) -> None:  # pragma: no cover - compiled
    """Add a record to what the centre is made of, or take it out (`sign` -1)."""
    for j in range(len(centre.high)):
        if centre.levels[j]:
            centre.often[j, int(values[record, j])] += sign
            continue
        value = sign * values[record, j]
        total = centre.high[j] + value
        part = total - centre.high[j]
        centre.low[j] += (centre.high[j] - (total - part)) + (value - part)
        centre.high[j] = total


@kernel
def count_all(centre: Centre, values: NDArray[np.float64]) -> None:  # pragma: no cover - compiled
    """Add all records to what the centre is made of."""
    for record in range(len(values)):
        count(centre, values, record, 1)


@kernel
def _middle(centre: Centre, left: int, point: NDArray[np.float64]) -> None:  # pragma: no cover
    """Write the centre of the records that are left into `point`."""
    for j in range(len(point)):
        if centre.levels[j] == 0:
            point[j] = (centre.high[j] + centre.low[j]) / left
        elif centre.power[j] == 0:
            point[j] = np.argmax(centre.often[j])
        else:
            below, code = centre.often[j, 0], 0
            while 2 * below < left:
                code += 1
                below += centre.often[j, code]
            point[j] = code


@kernel
def _gather(
    tree: Boxes,
    values: NDArray[np.float64],
    leader: int,
    members: NDArray[np.int64],
    distance: NDArray[np.float64],
    group: NDArray[np.int64],
    name: int,
) -> None:  # pragma: no cover - compiled
    """Take out a record and its nearest as one group, and write them into `members`."""
    remove(tree, leader)
    nearest(tree, values[leader], members[1:], distance[1:])
    members[0] = leader
    group[leader] = name
    for i in range(1, len(members)):
        remove(tree, members[i])
        group[members[i]] = name


@kernel
def opposite_groups(
    tree: Boxes,
    centre: Centre,
    values: NDArray[np.float64],
    k: int,
    group: NDArray[np.int64],
    made: int,
    left: int,
    until: int,
) -> tuple[int, int]:  # pragma: no cover - compiled
    """MDAV: groups around the record farthest from the centre, and the one farthest from that.

    Stops when at most `until` records are left, or fewer than 3 k; `group` gets the number of the
    group of each record, -1 for those that are left. Returns how many groups were made, and how
    many records are left.
    """
    point = np.empty(values.shape[1])
    members, distance = np.empty(k, np.int64), np.empty(k)
    while left >= 3 * k and left > until:
        _middle(centre, left, point)
        one = farthest(tree, point)
        for second in range(2):
            leader = farthest(tree, values[one]) if second else one
            _gather(tree, values, leader, members, distance, group, made)
            made += 1
            for i in range(k):
                count(centre, values, int(members[i]), -1)
        left -= 2 * k
    if left < 3 * k:
        if left >= 2 * k:
            _middle(centre, left, point)
            leader = farthest(tree, point)
            _gather(tree, values, leader, members, distance, group, made)
            made += 1
        for record in range(len(group)):
            if group[record] < 0:
                group[record] = made
        made, left = made + 1, 0
    return made, left


@kernel
def led_groups(
    tree: Boxes,
    values: NDArray[np.float64],
    leaders: NDArray[np.int64],
    k: int,
    gamma: float,
    group: NDArray[np.int64],
    made: int,
    left: int,
    until: int,
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Groups of k around the records that come first and are in no group yet.

    A group grows, up to 2 k - 1 records, while the record nearest to one of its members is nearer
    to it than `gamma` times the distance of that record to any other that is left. Stops when at
    most `until`, or fewer than k, are left; returns as `opposite_groups`.
    """
    members, distance = np.empty(2 * k - 1, np.int64), np.empty(k)
    near, gap = np.empty(2, np.int64), np.empty(2)
    for leader in leaders:
        if left < k or left <= until:
            break
        if group[leader] >= 0:
            continue
        _gather(tree, values, leader, members[:k], distance, group, made)
        left -= k
        size = k
        while gamma > 0 and size < 2 * k - 1 and left > 0:
            inside, found = np.inf, len(group)
            for i in range(size):
                nearest(tree, values[members[i]], near[:1], gap[:1])
                if gap[0] < inside or (gap[0] == inside and near[0] < found):
                    inside, found = gap[0], near[0]
            nearest(tree, values[found], near, gap)  # the first of both, or its twin, is itself
            if not np.sqrt(inside) < gamma * np.sqrt(gap[1]):
                break
            remove(tree, found)
            group[found] = made
            members[size] = found
            size, left = size + 1, left - 1
        made += 1
    return made, left


@kernel
def least_spread(
    values: NDArray[np.float64], k: int
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Number of the group of each of `values`, ascending, so that squares are least.

    The least sum for the first j values is that for the first i, for the best i, and of i … j - 1
    as one group; sums of squares grow value by value, so nothing large is ever subtracted. Of
    equally good groups the larger is taken.
    """
    n = len(values)
    least = np.full(n + 1, np.inf)
    begin = np.zeros(n + 1, np.int64)
    least[0] = 0.0
    for j in range(k, n + 1):
        mean, squares = 0.0, 0.0
        for i in range(j - 1, max(j - 2 * k, -1), -1):
            size = j - i
            off = values[i] - mean
            mean += off / size
            squares += off * (values[i] - mean)
            if size >= k and least[i] + squares <= least[j]:
                least[j], begin[j] = least[i] + squares, i
    group = np.empty(n, np.int64)
    end, last = n, 0
    while end > 0:
        for i in range(begin[end], end):
            group[i] = last
        end, last = begin[end], last + 1
    return last - 1 - group
