"""The numbers of five documents are in the package, and give what the documents print."""

import re
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.text import Text

import diskret as dk
from diskret.datasets import LECTURES, lecture
from diskret.errors import InputError

ROOT = Path(__file__).parents[2]


def values(name, row, column, number):
    """Code pair → number, totals included."""
    table = dk.Table.from_cells(lecture(name), by={row: None, column: None}, value=number)
    return {(c[row], c[column]): c[number] for c in table.cells.to_pylist()}


@pytest.mark.parametrize("name", LECTURES)
def test_every_data_set_has_values_and_is_described(name):
    table = lecture(name)
    assert table.num_rows > 0
    assert all(table[column].null_count == 0 for column in table.column_names)
    assert f'``"{name}"``' in re.sub(r"\s+", " ", lecture.__doc__ or "")
    assert lecture(name) == table


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match=r"meindl\.francdat"):
        lecture("nobody")  # pyright: ignore[reportArgumentType]


def test_totals_that_are_printed():
    schools = values("heinzl.schools", "school", "religion", "persons")
    faiths = ["catholic", "protestant", "orthodox", "jewish", "other"]
    levels = ["without", "at school", "basic", "middle", "college", "university"]
    assert [schools[s, "Total"] for s in levels] == [47, 23, 356, 181, 79, 208]
    assert [schools["Total", r] for r in faiths] == [315, 320, 13, 4, 242]
    assert schools["Total", "Total"] == 894

    turnover = values("heinzl.turnover", "sector", "region", "turnover")
    assert turnover["transport", "A"] == 460_000 == sum(lecture("heinzl.firms")[1].to_pylist())

    small = values("meindl.table", "x", "y", "n")
    assert [small[x, "Total"] for x in "123"] == [80, 49, 61]
    assert [small["Total", y] for y in "123"] == [45, 101, 44]
    assert small["Total", "Total"] == 190

    leaves = values("meindl.industries", "nace", "column", "n")
    assert [leaves[n, "Total"] for n in ("6222", "6223", "6224")] == [110, 40, 75]
    sums = [sum(leaves[n, c] for n in ("6222", "6223", "6224")) for c in "ABC"]
    assert sums == [62, 100, 63]  # 53 is printed
    assert sum(sums) == 225 and leaves["Total", "Total"] == 415

    students = values("simon.students", "subject", "sex", "students")
    subjects = ["civil engineering", "computer science", "medicine", "survey statistics"]
    assert [students[s, "Total"] for s in subjects] == [7, 21, 5, 20]
    assert [students["Total", s] for s in ("m", "w", "Total")] == [27, 26, 53]
    assert sum(lecture("simon.breweries")["turnover"].to_pylist()) == 900_000

    persons = values("rothe.persons", "age", "sex", "persons")
    assert [persons[a, "Total"] for a in ("0-13", "14-49", "50-75", "75+")] == [6, 17, 21, 5]
    assert [persons["Total", s] for s in ("women", "men", "Total")] == [27, 22, 49]


def cell(firms):
    frame = firms.append_column("all", pa.array(["x"] * len(firms)))
    return dk.tabulate(frame, by={"all": None}, value="turnover", unit="firm", largest=3)


def test_shares_and_verdicts_of_the_three_firms():
    firms = lecture("heinzl.firms")
    largest = np.sort(firms["turnover"].to_numpy())[::-1]
    assert [round(100 * largest[:n].sum() / largest.sum(), 1) for n in (1, 2)] == [87.0, 94.6]
    with warnings.catch_warnings(action="ignore"):
        assert dk.rules.Dominance(1, 80)(cell(firms)).unsafe.all()
        assert dk.rules.Dominance(2, 85)(cell(firms)).unsafe.all()
        assert not dk.rules.Dominance(2, 95)(cell(firms)).unsafe.any()
    assert not dk.rules.PPercent(5)(cell(firms)).unsafe.any()


def test_two_firms_are_unsafe_by_every_rule():
    two = cell(lecture("heinzl.firms").slice(0, 2))
    with warnings.catch_warnings(action="ignore"):
        rules = [dk.rules.Dominance(2, 95), dk.rules.PPercent(5), dk.rules.MinimumFrequency(3)]
    assert [rule(two).unsafe.all() for rule in rules] == [True, True, True]


def test_rothes_three_firms():
    firms = lecture("rothe.firms")
    c, b, a = sorted(firms["turnover"].to_pylist(), reverse=True)
    assert (a + b + c, a + b + c - a, a) == (230_000, 215_000, 15_000)
    judged = dk.rules.PPercent(10)(cell(firms))
    assert judged.unsafe.all()
    assert judged.upper.tolist() == [20_000 - 15_000] * 2


def test_scales_of_rounding():
    numbers = pa.table({"x": [f"{n:02}" for n in range(13)], "n": range(13)})
    line = dk.Table.from_cells(numbers, by={"x": None}, count="n")

    def scale(base):
        result = dk.round_table(line, base=base, method="deterministic")
        return result.published.value[1:].tolist()

    assert scale(3) == [0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9, 12, 12]
    assert scale(5) == [0] * 3 + [5] * 5 + [10] * 5
    assert scale(10) == [0] * 5 + [10] * 8


def test_printed_random_rounding_is_admissible():
    count = values("heinzl.schools", "school", "religion", "persons")
    printed = {tuple(c.values())[:2]: c["persons"] for c in both("heinzl.randomly_rounded")}
    assert printed.keys() == count.keys()
    for key, n in count.items():
        assert printed[key] in {n // 10 * 10, -(-n // 10) * 10}
    nearest = {tuple(c.values())[:2]: c["persons"] for c in both("heinzl.rounded")}
    assert printed != nearest


def both(name):
    return lecture(name).to_pylist()


def test_francdat_as_the_slides_show_it():
    frame = lecture("meindl.francdat")
    keys = ["Key1", "Key2", "Key3", "Key4"]
    found = dk.Microdata(frame, keys=keys, weight="w").risk()
    assert found.records["sample_frequency"].to_pylist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.records["population_frequency"].to_pylist()[:4] == [110, 84.5, 84.5, 17]
    assert frame["Num2"].to_pylist() == [0.4, 0.22, 0.8, 9.0, 1.3, 1.4, 0.01, 0.5]


def test_printed_groups_are_those_of_mdav():
    numbers = ["Num1", "Num2", "Num3"]
    md = dk.Microdata(lecture("meindl.francdat"), numeric=numbers)
    printed = {
        "Num1": [0.2, 1.01, 0.165, 1.01, 1.0, 1.0, 0.2, 0.165],
        "Num2": [0.205, 4.61, 0.65, 4.61, 1.35, 1.35, 0.205, 0.65],
        "Num3": [2.5, 56.5, 6.5, 56.5, 13.5, 13.5, 2.5, 6.5],
    }
    made = md.microaggregate(k=2, method="mdav", scale=False).frame
    other = md.microaggregate(k=2, method="rmd").frame
    for name in numbers:
        assert made[name].to_numpy() == pytest.approx(printed[name])
    assert other["Num1"].to_numpy() != pytest.approx(printed["Num1"])


def test_patterns_of_the_slides_and_the_best():
    n = values("meindl.table", "x", "y", "n")
    table = dk.Table.from_cells(lecture("meindl.table"), by={"x": None, "y": None}, count="n")
    total = "Total"
    patterns = [
        [("2", "3"), ("3", "1"), ("3", "3")],
        [("2", "2"), ("3", "1"), ("3", "2"), (total, "1"), (total, "3")],
        [("1", "1"), ("1", total), ("2", total)],
        [("1", "1"), ("1", "3"), ("2", "3")],
    ]
    ends = [told(n, [("2", "1"), *others])["2", "1"] for others in patterns]
    assert ends == [(0, 25), (0, 25), (0, 28), (0, 28)]
    assert told(n, [("2", "1")]) == {("2", "1"): (8, 8)}
    in_vain = told(n, [("2", "1"), *patterns[1]])
    assert (in_vain[total, "1"], in_vain[total, "3"]) == ((45, 45), (44, 44))
    assert [sum(n[c] for c in others) for others in patterns] == [51, 157, 149, 52]
    best = dk.suppress(table, dk.rules.MinimumFrequency(9), method="optimal", cost="value")
    cells = best.cells.to_pylist()
    assert {(c["x"], c["y"]) for c in cells if c["status"] == "secondary"} == {*patterns[0]}


def told(n, hidden):
    x, y = zip(*n, strict=True)
    shown = [None if key in hidden else number for key, number in n.items()]
    cells = pa.table({"x": x, "y": y, "n": shown})
    found = dk.audit(cells, {"x": None, "y": None}, "n", frequency=True).frame.to_pylist()
    return {(c["x"], c["y"]): (c["lower"], c["upper"]) for c in found}


def test_cell_keys_of_ten_students():
    records = lecture("simon.records")
    keys = pa.array([int(key[2:]) for key in records["record_key"].to_pylist()])
    table = dk.tabulate(
        records.set_column(2, "record_key", keys),
        by={"university": None, "sex": None},
        record_key="record_key",
        key_modulus=10**6,
    )
    cells = zip(table.cells.to_pylist(), table.key_sum.ravel().tolist(), strict=True)
    found = {(c["university"], c["sex"]): (c["count"], key) for c, key in cells}
    # tables 3 and 4 of the paper; the sums of keys are 1.005227, 0.806379 and 1.853099
    assert found["Bamberg", "m"] == (1, 199_674)
    assert found["Eichstätt", "w"] == (1, 139_494)
    assert found["München", "m"] == (3, 5_227)
    assert found["München", "w"] == (2, 806_379)
    assert found["Würzburg", "m"] == (3, 853_099)


def test_generated_students():
    records = lecture("simon.generated")
    table = dk.tabulate(records, by={"university": None, "sex": None})
    found = {(c["university"], c["sex"]): c["count"] for c in table.cells.to_pylist()}
    places = ["Bamberg", "Eichstätt", "München", "Würzburg"]
    assert [found[p, s] for p in places for s in "mw"] == [75, 91, 17, 29, 258, 235, 135, 161]


@pytest.mark.parametrize(
    ("what", "cells", "mean", "largest"),
    [("persons", 10_219_270, 2.03, 9), ("housing", 2_906_234, 1.40, 6)],
)
def test_tables_of_safe_agree_with_each_other(what, cells, mean, largest):
    size, deviation = lecture(f"safe.{what}_by_size"), lecture(f"safe.{what}_by_deviation")
    number = np.column_stack([deviation[f"cells_{v}"] for v in range(1, 5)])
    shares = np.column_stack([deviation[f"share_{v}"] for v in range(1, 5)])
    assert size["cells"].to_numpy().sum() == number.sum() == cells
    by_size = size["cells"].to_numpy() @ size["mean"].to_numpy() / cells
    by_deviation = deviation["deviation"].to_numpy() @ number.sum(axis=1) / cells
    assert by_size == pytest.approx(mean, abs=0.005)
    assert by_deviation == pytest.approx(by_size, abs=0.005)
    assert size["largest"].to_numpy().max() == deviation["deviation"].to_numpy().max() == largest
    cumulative = 100 * number.cumsum(axis=0) / number.sum(axis=0)
    assert np.abs(cumulative - shares).max() <= 0.0501


@pytest.mark.parametrize(
    ("name", "language", "words"),
    [
        ("shares", "en", ("87.0 %", "94.6 %", "limit of (2,85)")),
        ("shares", "de", ("87,0 %", "94,6 %", "Grenze von (2,85)")),
        ("groups", "en", ("group 4", "mean of a group")),
        ("groups", "de", ("Gruppe 4", "Mittel einer Gruppe")),
        ("mdav_steps", "en", ("2 groups", "10 groups")),
        ("mdav_steps", "de", ("2 Gruppen", "10 Gruppen")),
        ("methods", "en", ("random groups", "MDAV")),
        ("methods", "de", ("zufällige Gruppen", "erste Hauptkomponente")),
        ("triplets", "en", ("before", "town A", "women")),
        ("triplets", "de", ("nach SAFE", "Ort B", "Männer")),
        ("steps", "en", ("1 sorted and merged", "pass")),
        ("steps", "de", ("1 sortiert, zusammengefasst", "größter Fehler")),
        ("matrix", "en", ("0.86", "0.69", "noise")),
        ("matrix", "de", ("0.86", "0.69", "Überlagerung")),
        pytest.param("safe", "en", ("published", "original"), marks=pytest.mark.long),
        pytest.param("safe", "de", ("veröffentlicht", "ursprünglich"), marks=pytest.mark.long),
    ],
)
def test_pictures_are_drawn_in_both_languages(name, language, words, monkeypatch):
    """Each shows the printed numbers, and so does the file that the pages show."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    pictures = import_module("lecture_pictures")
    of_pages = ROOT / "docs" / "lectures" / "pictures"
    assert {path.name for path in of_pages.iterdir()} == {
        f"{drawn}.{tongue}.svg" for drawn in pictures.PICTURES for tongue in ("en", "de")
    }
    figure = pictures.PICTURES[name](language)
    assert {*words} <= {text.get_text() for text in figure.findobj(Text)}
    kept = of_pages / f"{name}.{language}.svg"
    assert all(f">{word}</text>" in kept.read_text(encoding="utf-8") for word in words)
