"""What two variables leave of each other, by sets of records and by what everybody can add up."""

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse

from diskret.attack.crossed import CrossedRests, crossed_rests
from diskret.attack.rests import Told
from diskret.hierarchy import Hierarchy
from diskret.population import Population
from diskret.tables import Dimension, Publication, Published
from diskret.tables.crossed import Crossed, Grouping

SEX = Hierarchy.flat(["f", "m"])
#: Grid cells, of which the first two make up a larger one, and municipalities.
GRID = Hierarchy(("Total", "g", "g1", "g2", "g3", "g4"), np.array([-1, 0, 1, 1, 0, 0]))
TOWN = Hierarchy(("Total", "m1", "m", "m2", "m3", "m4"), np.array([-1, 0, 0, 2, 2, 0]))
TREES = {"grid": GRID, "town": TOWN}


class Case:
    """Pieces of a map, how many records of each sex are there, and two tables with hidden cells."""

    def __init__(self, seed):
        draw = np.random.default_rng(seed)
        places = [(g, m) for g in ("g1", "g2", "g3", "g4") for m in ("m1", "m2", "m3", "m4")]
        some = [place for place in places if draw.random() < 0.45] or places[:1]
        self.pieces = [(*place, sex) for place in some for sex in "fm" if draw.random() < 0.8]
        self.pieces = self.pieces or [(*places[0], "f")]
        self.count = draw.integers(1, 9, len(self.pieces))
        share = draw.choice([0.0, 0.2, 0.4])
        self.hidden, self.member, tables = [], [], []
        for axis, (name, tree) in enumerate(TREES.items()):
            member = [
                [self.inside(axis, code, sex) for sex in range(3)] for code in range(len(tree))
            ]
            value = np.array([[self.count[[*one]].sum() for one in row] for row in member])
            hidden = (draw.random(value.shape) < share) & (value > 0)
            tables.append(
                Published(
                    name,
                    (Dimension(name, tree), Dimension("sex", SEX)),
                    "n",
                    True,
                    0,
                    np.where(hidden, 0, value),
                    hidden,
                    value == 0,
                    nonnegative=True,
                    where=Population(),
                    recorded=True,
                )
            )
            self.member.append(member)
            self.hidden.append(hidden)
        self.publication = Publication(tuple(tables))

    def inside(self, axis, code, sex):
        """The pieces in a code and context."""
        tree = (GRID, TOWN)[axis]
        leaves = set(tree.leaves_below(code))
        return {
            i
            for i, piece in enumerate(self.pieces)
            if piece[axis] in leaves and sex in (0, SEX.position[piece[2]])
        }

    def matrix(self, sets):
        dense = np.zeros((len(sets), len(self.pieces)), dtype=np.int64)
        for row, own in zip(dense, sets, strict=True):
            row[[*own]] = 1
        return sparse.csr_array(dense)

    @property
    def crossed(self):
        groupings = tuple(
            Grouping(
                table,
                np.arange(3 * len(tree)).reshape(-1, 3),
                self.matrix([self.member[table][code][0] for code in range(len(tree))]),
                tree.parent,
            )
            for table, tree in enumerate(TREES.values())
        )
        contexts = self.matrix([self.member[0][0][sex] for sex in range(3)])
        return Crossed(groupings, contexts, None)

    def rests(self):
        """Sets of pieces that may be left, each with the cells that it is the difference of."""
        for whole, part in ((0, 1), (1, 0)):
            tree, other = list(TREES.values())[whole], list(TREES.values())[part]
            codes, parts = range(1, len(tree)), range(1, len(other))
            finest = [p for p in parts if p not in other.parent]
            for sex in range(3):
                own, of = ([row[sex] for row in self.member[axis]] for axis in (whole, part))
                every = [row[0] for row in self.member[part]]
                whole_every = [row[0] for row in self.member[whole]]
                for w in codes:
                    inside = [p for p in parts if every[p] and every[p] <= whole_every[w]]
                    public = [p for p in inside if not self.hidden[part][p, sex]]
                    largest = [p for p in public if other.parent[p] not in public]
                    leaves = [p for p in inside if p in finest]
                    for less in (largest, leaves):
                        if less:
                            left = own[w] - set().union(*(of[p] for p in less))
                            yield left, [(whole, w, sex)], [(part, p, sex) for p in less]
                    # all finest codes that it touches, without it; not if these are all there are
                    touched = [p for p in finest if every[p] & whole_every[w]]
                    if touched and len(touched) < sum(bool(every[p]) for p in finest):
                        left = set().union(*(of[p] for p in touched)) - own[w]
                        yield left, [(part, p, sex) for p in touched], [(whole, w, sex)]

    def vector(self, more, less):
        """A difference of cells, by their positions."""
        found = np.zeros(sum(table.value.size for table in self.publication.tables), dtype=int)
        for sign, cells in ((1, more), (-1, less)):
            for table, code, sex in cells:
                found[self.publication.starts[table] + 3 * code + sex] = sign
        return found

    def equations(self):
        """Totals less parts, and what is shown, of all cells."""
        lines = []
        for table, tree in enumerate(TREES.values()):
            cell = np.arange(3 * len(tree)).reshape(-1, 3) + self.publication.starts[table]
            for number, parent in ((cell, tree.parent), (cell.T, SEX.parent)):
                for code in range(len(parent)):
                    for at in range(number.shape[1]) if code in parent else ():
                        line = np.zeros(3 * (len(GRID) + len(TOWN)))
                        line[number[parent == code, at]] = -1
                        line[number[code, at]] = 1
                        lines.append(line)
        shown = np.eye(len(lines[0]))[~self.publication.suppressed]
        # the same records are in the totals of both
        same = np.zeros((3, len(lines[0])))
        same[range(3), range(3)], same[range(3), 3 * len(GRID) + np.arange(3)] = 1, -1
        return np.concatenate((lines, shown, same))


@pytest.mark.parametrize("seed", range(scaled(300)))
def test_rests_are_those_of_sets_of_records_that_everybody_can_compute(seed):
    case = Case(seed)
    found = crossed_rests(case.publication, case.crossed)
    value = np.concatenate([
        [case.count[[*one]].sum() for row in member for one in row] for member in case.member
    ])  # fmt: skip
    told = case.equations()
    rank = np.linalg.matrix_rank(told)
    sets = [frozenset(row.indices.tolist()) for row in map(found.pieces.__getitem__, [
        [i] for i in range(len(found))])]  # fmt: skip
    # what is found is a sum of records, and told by what is published
    assert all(sets) and (found.pieces.data == 1).all()
    assert np.array_equal(found.member @ value, found.pieces @ case.count)
    assert not found.signed.any() and (found.times == 1).all()
    vectors = found.member.toarray()
    assert len({tuple(row) for row in vectors.tolist()}) == len(found)
    for row in vectors:
        assert np.linalg.matrix_rank(np.vstack((told, row))) == rank
    # and all that are told and hold somebody are found, nothing else
    expected = {
        frozenset(left)
        for left, more, less in case.rests()
        if left and np.linalg.matrix_rank(np.vstack((told, case.vector(more, less)))) == rank
    }
    assert set(sets) == expected


def test_rests_are_named_and_told_once():
    case = Case(3)
    found = crossed_rests(case.publication, case.crossed)
    some = found.only(np.arange(len(found)) < 2)
    both = some.beside(found)
    assert len(both) == len(found) > 2 and len(some.beside(some)) == 2
    assert np.array_equal(both.pieces[:2].toarray(), some.pieces.toarray())
    none = CrossedRests.never_below(found.member[:0], found.pieces[:0])
    assert len(none) == len(none.beside(none)) == 0 and len(none.beside(some)) == 2
    # one whole less two, and a sum of seven, of which five are named
    g1, g2 = (1 + code * 3 for code in (2, 3))
    cell = np.zeros((3, 36), dtype=np.int64)
    cell[0, [0, g2, g1]] = 1, -1, -1
    cell[1, [18 + 3 * code for code in range(6)]] = 1
    cell[2, [3 * code for code in range(7)]] = 1
    named = CrossedRests.never_below(sparse.csr_array(cell), found.pieces[:3])
    assert named.name(case.publication, 0) == (
        "grid: grid=Total, sex=Total without grid: grid=g1, sex=f and grid: grid=g2, sex=f"
    )
    assert named.name(case.publication, 1).count("town=") == 6
    assert named.name(case.publication, 2).endswith(" and 2 more")
    assert named.name(case.publication, 2).count(" and ") == 5


def test_of_tables_that_contradict_themselves_rests_are_those_of_what_is_shown(monkeypatch):
    monkeypatch.setattr(Told, "of", lambda *_: None)
    left_out = 0
    for seed in range(12):
        case = Case(seed)
        found = crossed_rests(case.publication, case.crossed)
        hidden = case.publication.suppressed
        assert not hidden[found.member.indices].any()
        expected = {
            frozenset(left)
            for left, more, less in case.rests()
            if left and not hidden[case.vector(more, less) != 0].any()
        }
        assert {
            frozenset(found.pieces[[i]].indices.tolist()) for i in range(len(found))
        } == expected
        left_out += bool(hidden.any())
    assert left_out


def test_where_nothing_is_left_there_are_no_rests():
    """One place: the grid cell and the municipality are the same."""
    case = Case(3)
    case.pieces, case.count = [("g1", "m1", "f")], np.array([4])
    case.member = [
        [[case.inside(axis, code, sex) for sex in range(3)] for code in range(len(tree))]
        for axis, tree in enumerate(TREES.values())
    ]
    found = crossed_rests(case.publication, case.crossed)
    assert found.member.shape == (0, 36) and found.pieces.shape == (0, 1)
