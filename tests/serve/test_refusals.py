"""What a refusal tells: of noise nothing that the counts of the refused table would not.

And of hidden cells: what figures alone leave open, in cells of refused tables, too.
"""

import importlib
import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import diskret.serve.tabulator as tabulators
from diskret.cellkey import PerturbationTable
from diskret.keys import SecretKeys
from diskret.serve import DataSet, Question, Tabulator, Variable
from diskret.serve.answers import Refused

NOISE = PerturbationTable.maximum_entropy(3, 1.5, small_counts=1)
CODES = {"place": ("N", "S"), "sex": ("f", "m")}
ASKED = ({"by": ["place"]}, {"by": ["sex"]}, {"by": []}, {"by": ["place", "sex"]}, {"by": ["sex"]})


def outcomes(counts, key, questions=3):
    """Of so many people in each place: what is shown of each counted table, and what is told."""
    people = np.repeat([*CODES["place"]], counts)
    draw = np.random.default_rng(sum(counts))
    columns = {
        "place": pa.array(people, pa.string()),
        "sex": pa.array(["fm"[at % 2] for at in range(len(people))], pa.string()),
        "key": draw.integers(2**32, size=len(people)),
    }
    variables = tuple(Variable(name, codes) for name, codes in CODES.items())
    data = DataSet(
        "people", pa.table(columns), "key", variables, NOISE, questions=questions, small=3
    )
    tables = Tabulator([data], SecretKeys(bytes([key, *range(31)])))
    for asked in ASKED:
        question = Question.of({"data": "people", **asked})
        try:
            told = tuple(tables.answer(question, who="anne").value.ravel().tolist())
        except Refused as error:
            told = str(error), error.coarser
        kept = tables.memory.get(question.family(data))
        yield None if kept is None else tuple(kept.value.ravel().tolist()), told
    tables.close()


WORLDS = [(c, k) for c in itertools.product(range(4), repeat=2) for k in range(3) if sum(c)]


def told_by_shown(worlds=WORLDS):
    """Question and the counts that its table shows → what was told, and true counts."""
    found, true = defaultdict(set), defaultdict(set)
    for counts, key in worlds:
        for at, (shown, told) in enumerate(outcomes(counts, key)):
            found[at, shown].add(told)
            true[at, shown].add(counts)
    return found, true


@pytest.mark.long
def test_what_is_told_follows_from_the_counts_that_would_be_shown():
    found, true = told_by_shown()
    assert all(len(told) == 1 for told in found.values())
    # there are refusals, with and without offers, and different people behind the same of them
    refused = {at: told for at, own in found.items() for told in own if isinstance(told[0], str)}
    sparse = [at for at, told in refused.items() if "sparse" in told[0]]
    assert len(sparse) > 5 and {bool(refused[at][1]) for at in sparse} == {True, False}
    assert max(len(true[at]) for at in sparse) > 5


@pytest.mark.long
def test_which_tables_are_counted_does_not_depend_on_records():
    """Also refused ones are, so nobody asks for more by being refused."""
    counted = {
        tuple(shown is not None for shown, _ in outcomes(counts, key))
        for counts, key in WORLDS[::5]
    }
    assert counted == {(True, True, True, False, True)}
    words = {[*outcomes(counts, key)][3][1] for counts, key in WORLDS[::5]}
    assert len(words) == 1 and "all 3 tables" in str(words)


@pytest.mark.long
def test_refusals_by_true_counts_would_be_seen(monkeypatch):
    true = []
    own, judged = tabulators.shown_counts, tabulators.is_sparse

    def counting(found, *rest):
        true.append(found.count)
        return own(found, *rest)

    monkeypatch.setattr(tabulators, "shown_counts", counting)
    monkeypatch.setattr(
        tabulators, "is_sparse", lambda _, small, share: judged(true[-1], small, share)
    )
    found, _ = told_by_shown(WORLDS[::2])
    assert any(len(told) > 1 for told in found.values())


@pytest.mark.long
@pytest.mark.parametrize(
    "people", [(4, 0, 0, 0, 1, 0), (0, 3, 0, 1, 0, 1), (3, 0, 1, 0, 1, 0), (1, 1, 1, 0, 2, 0)]
)
def test_figures_settle_no_count_also_of_tables_that_were_refused(tmp_path, monkeypatch, people):
    """Among all populations of that size in which every figure that was shown is true."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    own = importlib.import_module("serve_refusals")
    every, asked = own.worlds(sum(people)), own.ROWS[2]
    seen = own.outcome(people, asked, tmp_path)
    left = own.consistent(seen, asked, every)
    assert every.index(people) in left
    for inside in own.cells(asked):
        if sum(people[at] for at in inside) in (1, 2):
            assert len({sum(every[one][at] for at in inside) for one in left}) > 1
