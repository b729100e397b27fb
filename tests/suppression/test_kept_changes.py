"""What kept changes show is what each of them shows, one by one, whatever was given up before."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.suppression.changes import Change
from diskret.suppression.kept_changes import KeptChanges

GROUPS = 9
ABOUT = np.arange(GROUPS) != 4


@st.composite
def changes(draw: st.DrawFn) -> Change:
    cell = np.array(sorted(draw(st.sets(st.integers(0, GROUPS - 1), min_size=1))), dtype=np.int64)
    far = st.lists(st.integers(0, 3), min_size=len(cell), max_size=len(cell))
    down, up = np.array(draw(far)), np.array(draw(far))
    there = np.ones(len(cell), dtype=bool)
    return Change(cell, down, up, down + up, up - down, 1, there, there)


def shown(kept: list[Change], group: int) -> list[int]:
    at = [(change, np.flatnonzero(change.cell == group)) for change in kept]
    far = [[c.down[i][0], c.up[i][0], c.width[i][0]] for c, i in at if len(i)]
    return [max(one) for one in zip(*far, strict=True)] or [0, 0, 0]


@given(st.lists(changes(), max_size=12), st.data())
@examples(60)
def test_they_show_what_each_of_them_shows(all_of_them: list[Change], data: st.DataObject):
    kept, naive = KeptChanges(ABOUT), list[Change]()
    told_of = np.flatnonzero(ABOUT)
    for change in all_of_them:
        kept.add(change)
        naive.append(change)
        if data.draw(st.booleans()):
            continue
        gone = data.draw(st.sets(st.sampled_from(told_of.tolist()), min_size=1, max_size=2))
        moving = [change for change in naive if np.isin(change.cell, list(gone)).any()]
        others = [change for change in naive if change not in moving]
        numbers = kept.moving(gone)
        without = kept.shown_without(numbers, told_of)
        assert without.T.tolist() == [shown(others, group) for group in told_of.tolist()]
        told = kept.told(numbers)
        assert sorted(told.T.tolist()) == sorted(
            [int(cell), int(down), int(up), int(width)]
            for change in moving
            for cell, down, up, width in zip(
                change.cell, change.down, change.up, change.width, strict=True
            )
            if ABOUT[cell]
        )
        for group in told_of.tolist():
            furthest = kept.furthest(numbers, group, True)
            ups = [int(c.up[c.cell == group][0]) for c in moving if group in c.cell]
            best = max(ups, default=0)
            assert (furthest is None) == (best == 0)
            if furthest is not None:
                assert furthest is next(
                    c for c in moving if group in c.cell and shown([c], group)[1] == best
                )
        if data.draw(st.booleans()):
            kept.give_up(numbers)
            naive = others
        assert kept.changes == naive
