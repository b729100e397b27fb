"""Attacks on data sets whose cells are hidden: together, at once, in other words."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hiding import asked_at_random, hidden_data, known_too_well, persons, releasing
from over_http import Somebody, listening, send
from serving import KEYS
from test_journal import file, place, posix
from test_serve_processes import running

import diskret as dk
from diskret.serve import Releases, Tabulator
from diskret.serve.answers import Refused
from diskret.serve.question import Question

__all__ = ["file", "place"]


class Told:
    """An answer as it came over the wire, for the oracle."""

    def __init__(self, asked, got):
        self.question = Question.of(asked)
        self._got = got

    def cells(self):
        codes = [[*one["codes"]] for one in self._got["by"]]
        names = [one["variable"] for one in self._got["by"]]
        grid = np.indices([len(one) for one in codes]).reshape(len(codes), len(self._got["value"]))
        rows = [
            {n: c[i] for n, c, i in zip(names, codes, at, strict=True)} | {"count": value}
            for at, value in zip(grid.T, self._got["value"], strict=True)
        ]
        return pa.Table.from_pylist(rows)


@pytest.mark.long
def test_users_who_ask_at_once_and_put_their_answers_together_learn_no_small_count(tmp_path):
    records = persons(3)
    users = {f"dsk_{i}": Somebody(f"u{i}", data=("persons",)) for i in range(3)}
    draw = np.random.default_rng(3)
    questions = [asked_at_random(draw) for _ in range(12)]

    def ask(at):
        got = send(url, "POST", "/v1/tables", questions[at], token=f"dsk_{at % 3}")
        if got.status != 200:
            # a refusal names no cell, and no figure but how many tables there are
            assert got.status == 403 and "cannot be proven" in got.problem
            assert not any(character.isdigit() for character in got.problem)
            return None
        return Told(questions[at], got.json)

    with listening(releasing(tmp_path, hidden_data(records)), users=users.get) as url:
        with ThreadPoolExecutor(6) as pool:
            answers = [one for one in pool.map(ask, range(len(questions))) if one is not None]
    assert len(answers) > 6
    assert not known_too_well(records, answers)


def test_filters_that_mean_the_same_are_one_release(tmp_path):
    tables = releasing(tmp_path, hidden_data(persons()))
    same = [
        {"by": ["sex"], "where": {"region": ["N1", "N2"]}},
        {"by": ["sex"], "where": {"region": ["N"]}},
        {"by": ["sex"], "where": {"region": ["N2", "N1"], "age": ["0", "1", "2"]}},
        {"by": ["sex", {"variable": "region", "level": 1}], "where": {"region": ["N"]}},
    ]
    shown = {
        tuple(tables.answer({"data": "persons", **one}, who=f"u{at}").value.ravel().tolist())
        for at, one in enumerate(same)
    }
    assert len(shown) == 1
    assert len(dk.Ledger(tmp_path / "ledger.db", KEYS).releases()) == 1
    assert tables.allowance.left("nobody", tables.data["persons"]) == 99


def test_a_difference_is_no_way_around(tmp_path):
    # one person more or less between two populations: the rest of a filter is hidden, too
    records = {name: np.array(["N1"] * 40) for name in ("region",)}
    records["region"][:2] = "S2"
    records |= {"sex": np.array(["f", "m"] * 20), "age": np.array(["0"] * 40)}
    tables = releasing(tmp_path, hidden_data(records))
    answers = []
    for where in ({}, {"region": ["N1", "N2", "S1"]}, {"region": ["N1", "S2"]}):
        asked = {"data": "persons", "by": ["sex"], "where": where}
        try:
            answers.append(tables.answer(asked, who="anne"))
        except Refused:
            continue
    assert answers and not known_too_well(records, answers)


@pytest.mark.parametrize("by", [[], ["sex"]])
@pytest.mark.parametrize("turned", [False, True])
def test_a_total_and_a_filter_leave_nobody_alone(tmp_path, by, turned):
    # who asks for everybody and for all but one region knows how many live in that
    records = {"region": np.array(["N1"] * 20 + ["S1"] * 18 + ["S2"]), "age": np.array(["0"] * 39)}
    records["sex"] = np.array(["f", "m"] * 19 + ["f"])
    tables = releasing(tmp_path, hidden_data(records))
    asked = [{"by": []}, {"by": by, "where": {"region": ["N1", "N2", "S1"]}}]
    asked.append({"by": [], "where": {"region": ["S2"]}})
    asked[:2] = asked[1::-1] if turned else asked[:2]
    answers = []
    for one in asked:
        try:
            answers.append(tables.answer({"data": "persons", **one}, who="anne"))
        except Refused:
            continue
    assert len(answers) >= 2 and not known_too_well(records, answers)
    totals = [one for one in answers if not one.question.by]
    assert sum(one.hidden is not None and bool(one.hidden.any()) for one in totals) > 0


@pytest.mark.parametrize("name", ["../../x", "a/b", "'; DROP TABLE entries; --", "C:\\x", "\u202e"])
def test_names_lead_out_of_no_folder(tmp_path, name):
    data = hidden_data(persons(), name=name)
    tables = releasing(tmp_path, data)
    tables.answer({"data": name, "by": ["sex"]}, who=name)
    assert {one.name for one in tmp_path.iterdir()} <= {"ledger.db", "releases", "ledger.db.lock"}
    (folder,) = (tmp_path / "releases").iterdir()
    assert len(folder.name) == 24 and dk.Ledger(tmp_path / "ledger.db", KEYS).verify() >= 1


#: Asks for overlapping tables of one ledger, and says what it was shown.
WORKER = """
import sys, json
sys.path.insert(0, sys.argv[1])
import numpy as np
from hiding import asked_at_random, hidden_data, persons
from serving import KEYS
from diskret.serve import Releases, Tabulator
from diskret.serve.answers import Refused
own = Releases(sys.argv[2], sys.argv[3], KEYS)
tables = Tabulator([hidden_data(persons(4))], KEYS, releases=own)
draw = np.random.default_rng(4)
asked = [asked_at_random(draw) for _ in range(8)]
print("ready", flush=True)
sys.stdin.readline()
found = []
for one in asked[:: int(sys.argv[4])]:
    try:
        answer = tables.answer(one, who="anne")
    except Refused:
        continue
    codes = [{"variable": n, "codes": c} for n, c in answer.codes.items()]
    value = [None if h else v for v, h in zip(answer.value.ravel().tolist(), answer.hidden.ravel())]
    found.append([one, {"by": codes, "value": value}])
print(json.dumps(found), flush=True)
"""


@posix
@pytest.mark.long
def test_processes_that_release_at_once_are_proven_beside_each_other(place, tmp_path):
    folder = str(tmp_path / "releases")
    own = [running(WORKER, place, folder, step) for step in ("1", "-1")]
    with own[0] as one, own[1] as two:
        for process in (one, two):
            assert process.stdout.readline() == "ready\n"
        for process in (one, two):
            process.stdin.write("begin\n")
            process.stdin.flush()
        said = [json.loads(process.stdout.readline()) for process in (one, two)]
    shown = {}
    for asked, got in said[0] + said[1]:
        assert shown.setdefault(json.dumps(asked), got) == got
    answers = [Told(asked, got) for asked, got in said[0] + said[1]]
    assert len(answers) > 6
    assert not known_too_well(persons(4), answers)
    again = Tabulator([hidden_data(persons(4))], KEYS, releases=Releases(place, folder, KEYS))
    for asked, got in shown.items():
        answer = again.answer(json.loads(asked), who="bob")
        told = [None if h else v for v, h in _pairs(answer)]
        assert told == got["value"]


def _pairs(answer):
    return zip(answer.value.ravel().tolist(), answer.hidden.ravel().tolist(), strict=True)
