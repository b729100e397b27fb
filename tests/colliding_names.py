"""Random tables of the same records in which names collide on purpose.

What a cell consists of is drawn here, and no tree or table of the package is asked for it: the
filter and the group of texts below its code say which combinations of texts it holds.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import diskret as dk

JOB, SEX = "abcd", "mf"
ATOMS = list(product(JOB, SEX))
#: Groups may be called as records are, but not as a text that their own tree shows beside.
NAMES = ("Other", "a", "b", "c", "d", "x")


@dataclass(frozen=True)
class Drawn:
    """A table as it was drawn: its variables, the texts that its filter asks for, its groups.

    `own`: its tree holds the texts of its records only; these are `jobs` then.
    """

    by: tuple[str, ...]
    where: dict[str, tuple[str, ...]]
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    own: bool = False
    jobs: str = JOB

    def narrowed(self, count):
        """With the tree that the records have, if it is not to be that of all texts."""
        if not self.own:
            return self
        there = {a[0] for a, n in zip(ATOMS, count, strict=True) if n and self.inside(a)}
        return replace(self, jobs="".join(sorted(there)))

    def inside(self, atom):
        person = dict(zip(("job", "sex"), atom, strict=True))
        return all(person[name] in texts for name, texts in self.where.items())

    def nobody(self):
        """The combinations that its codes say nobody has."""
        return [
            "job" in self.by and self.inside(atom) and atom[0] not in self.jobs for atom in ATOMS
        ]

    def cells(self):
        """A row for each cell: which combinations it holds; totals come first."""
        jobs = [JOB, *self.parts()]
        sexes = [SEX, *SEX]
        of = {"job": jobs, "sex": sexes}
        for cell in product(*(of[name] for name in self.by)):
            asked = dict(zip(self.by, cell, strict=True))
            people = [dict(zip(("job", "sex"), atom, strict=True)) for atom in ATOMS]
            yield [
                all(person[name] in texts for name, texts in (*asked.items(), *self.where.items()))
                for person in people
            ]

    def parts(self):
        """The texts of each code of `job` below the total, in the order of the tree."""
        grouped = {text: texts for _, texts in self.groups for text in texts}
        return list(dict.fromkeys(grouped.get(text, (text,)) for text in self.jobs))

    def names(self):
        named = {texts: name for name, texts in self.groups}
        return [named.get(texts, texts[0]) for texts in self.parts()]


@st.composite
def counts(draw):
    sizes = st.sampled_from([0, 1, 2, 2, 5, 12, 20])
    return draw(st.lists(sizes, min_size=len(ATOMS), max_size=len(ATOMS)))


@st.composite
def tables(draw):
    by = draw(st.sampled_from([("job",), ("job",), ("job", "sex"), ("sex",)]))
    where = {}
    if draw(st.integers(0, 2)):
        name = draw(st.sampled_from(["job", "job", "sex"]))
        of = {"job": JOB, "sex": SEX}[name]
        least, most = (2, 3) if name == "job" else (1, 1)
        texts = draw(st.lists(st.sampled_from(of), min_size=least, max_size=most, unique=True))
        where[name] = tuple(sorted(texts))
    groups = ()
    if "job" in by and draw(st.booleans()):
        shuffled = draw(st.permutations(JOB))
        sizes = draw(st.sampled_from([(2,), (2, 2), (3,)]))
        ends = np.cumsum((0, *sizes))
        sets = [tuple(sorted(shuffled[i:j])) for i, j in zip(ends, ends[1:], strict=False)]
        alone = set(JOB) - {text for own in sets for text in own}
        free = [name for name in NAMES if name not in alone]
        names = draw(st.permutations(free))[: len(sets)]
        groups = tuple(zip(names, sets, strict=True))
    return Drawn(by, where, groups, own=not groups and draw(st.booleans()))


def records(count, rename=None):
    rename = rename or {}
    every = [atom for atom, n in zip(ATOMS, count, strict=True) for _ in range(n)]
    return pa.table(
        {"job": [rename.get(j, j) for j, _ in every], "sex": [s for _, s in every]},
        schema=pa.schema([("job", pa.string()), ("sex", pa.string())]),
    )


def tabulated(count, drawn, rename=None) -> Any:
    """The table, or None if nobody is in its population."""
    rename = rename or {}
    row = next(drawn.cells())
    if not np.array(row) @ np.array(count):
        return None
    flat = (-1, *(0 for _ in drawn.jobs))
    texts = (rename.get(text, text) for text in drawn.jobs)
    job = dk.Hierarchy(("Total", *texts), np.array(flat, np.int32))
    sex = dk.Hierarchy(("Total", *SEX), np.array([-1, 0, 0], np.int32))
    trees = {"job": job, "sex": sex}
    where = {n: [rename.get(t, t) for t in texts] for n, texts in drawn.where.items()}
    table = dk.tabulate(
        records(count, rename), by={n: trees[n] for n in drawn.by}, where=where or None
    )
    if drawn.groups:
        groups = {name: [rename.get(t, t) for t in texts] for name, texts in drawn.groups}
        table = table.recode("job", groups)
    return table
