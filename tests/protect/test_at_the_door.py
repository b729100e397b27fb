"""What stopped newcomers: each is understood, or refused before the work, with the right advice."""

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import optimize

import diskret as dk
from diskret.attack.statements import UNRELATED
from diskret.errors import AdditivityError, InputError, VerificationError
from diskret.io.columns import decimals_advice
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.publish.verify.folder import verify
from diskret.tables import cells as cells_module

KEYS = dk.SecretKeys(bytes(range(32)))
FEW = dk.rules.MinimumFrequency(3)


# ── rules of one kind twice ──────────────────────────────────────────────────────────


def job_with(folder, rules):
    (folder / "firms.csv").write_text("region,firm,sales\nN,1,5\n")
    file = folder / "job.toml"
    file.write_text(
        '[records]\npath = "firms.csv"\n[[tables]]\nname = "t"\nvalue = "sales"\nunit = "firm"\n'
        f'by = {{ region = "flat" }}\nrules = {{ {rules} }}\n[output]\nfolder = "out"\n'
    )
    return read_job(file).tables[0].rule


def test_rules_of_one_kind_can_be_joined_in_a_job(tmp_path):
    both = "dominance = [{ n = 1, k = 50 }, { n = 2, k = 80 }], p_percent = { p = 10 }"
    found = job_with(tmp_path, both)
    assert found == dk.rules.Dominance(1, 50) | dk.rules.Dominance(2, 80) | dk.rules.PPercent(10)


@pytest.mark.parametrize("wrong", ["dominance = []", "dominance = [{ n = 1 }]", "dominance = [1]"])
def test_lists_of_rules_are_checked(tmp_path, wrong):
    with pytest.raises(InputError, match="line 8"):
        job_with(tmp_path, wrong)


def test_the_level_of_counts_is_not_for_sums(tmp_path):
    with pytest.raises(InputError, match="'level' is for counts"):
        job_with(tmp_path, "minimum_frequency = { n = 3, level = 2 }")


# ── groups of one code ───────────────────────────────────────────────────────────────


def test_a_group_of_one_code_gives_it_a_new_name():
    frame = pa.table({"x": ["a", "b", "c"], "n": [5, 6, 7]})
    table = dk.Table.from_cells(frame, by={"x": None}, count="n")
    made = table.recode("x", {"A": ["a"], "rest": ["b", "c"]})
    assert made.cells.to_pydict() == {"x": ["Total", "A", "rest"], "count": [18, 5, 13],
                                      "units": [18, 5, 13]}  # fmt: skip
    with pytest.raises(InputError, match="names no code"):
        table.recode("x", {"none": []})


# ── decimals that went through floats ────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(5))
def test_the_advice_on_decimals_is_right(seed):
    """Whatever decimals are stated as advised, the values are read."""
    rng = np.random.default_rng(seed)
    places = int(rng.integers(1, 6))
    floats = (np.round(rng.lognormal(9, 3, 20), places)).tolist()
    for values in (floats, [repr(x) for x in floats]):
        advice = decimals_advice(values, 0)
        assert advice == f"state decimals={places}, or round them first"
        frame = pa.table({"x": [str(i) for i in range(20)], "v": values})
        with pytest.raises(InputError, match=f"state decimals={places}"):
            dk.tabulate(frame, by={"x": None}, value="v")
        read = dk.tabulate(frame, by={"x": None}, value="v", decimals=places)
        assert read.measure.sum.min() > 0


@pytest.mark.parametrize("decimals", [0, 2, 4])
def test_the_noise_of_a_float_in_text_is_named(decimals):
    frame = pa.table({"x": ["a"], "v": ["2305598.5354999998"], "n": [4]})
    for read in (
        lambda: dk.tabulate(frame, by={"x": None}, value="v", decimals=decimals),
        lambda: dk.Table.from_cells(frame, by={"x": None}, value="v", count="n", decimals=decimals),
    ):
        with pytest.raises(InputError, match="state decimals=4 and round_values=True"):
            read()


@pytest.mark.parametrize("kind", ["float", "text", "decimal"])
@pytest.mark.parametrize("places", [0, 2, 4])
def test_values_are_rounded_on_purpose(places, kind):
    """To the nearest, half a unit upwards: by exact fractions of the test's own."""
    rng = np.random.default_rng(places)
    texts = ["2305598.5354999998", "-0.5", "0.5", "1.5", "-2.25", "7", "4503599627370497"]
    texts += [f"{x:.7f}" for x in rng.normal(0, 1000, 30)]
    make = {"float": float, "text": str, "decimal": Decimal}[kind]
    given = [make(text) for text in texts]
    exact = [Fraction(v) * 10**places for v in given]
    wanted = [floor(v + Fraction(1, 2)) for v in exact]
    most = 2**53 if kind == "float" else 2**62  # of scaled values
    fits = [abs(v) < most for v in exact]
    given, wanted = ([v for v, fit in zip(x, fits, strict=True) if fit] for x in (given, wanted))
    codes = [f"{i:02}" for i in range(len(given))]
    column = pa.array(given, pa.decimal128(38, 12)) if kind == "decimal" else pa.array(given)
    frame = pa.table({"x": codes, "v": column})
    asked: dict[str, Any] = {"by": {"x": None}, "total": "All", "value": "v", "decimals": places}
    for read in (dk.tabulate, dk.Table.from_cells):
        table = read(frame, **asked, round_values=True)
        assert table.measure.sum.tolist() == [np.array(wanted, dtype=object).sum(), *wanted]
        with pytest.raises(InputError, match="decimals"):
            read(frame, **asked)


def test_counts_are_not_rounded_on_purpose():
    frame = pa.table({"x": ["a"], "n": [4]})
    with pytest.raises(InputError, match="round_values= is for sums"):
        dk.Table.from_cells(frame, by={"x": None}, count="n", round_values=True)


def test_a_job_rounds_values_on_purpose(tmp_path):
    (tmp_path / "firms.csv").write_text("region,firm,sales\nN,1,5.0000000001\nS,2,7\n")
    (tmp_path / "cells.csv").write_text("region,n,sales\nN,9,5.0000000001\nS,8,7\n")
    for source in ("", 'cells = { file = "cells.csv", count = "n" }\n'):
        file = tmp_path / "job.toml"
        records = "" if source else '[records]\npath = "firms.csv"\n'
        file.write_text(
            f'{records}[[tables]]\nname = "t"\nvalue = "sales"\n{source}'
            'by = { region = "flat" }\nround_values = true\n'
            "rules = { minimum_frequency = { n = 3 } }\n"
            '[output]\nfolder = "out"\nformats = ["csv"]\n'
        )
        [result] = run_job(read_job(file), keys=KEYS)[1]
        assert result.table.measure.sum.tolist() == [12, 5, 7]
        file.write_text(file.read_text().replace('value = "sales"\n', ""))
        with pytest.raises(InputError, match="'round_values' needs a 'value'"):
            read_job(file)


# ── columns that releases add ────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["lower", "upper", "status", "rule", "kind", "lower_level", "required_width"]
)
def test_reserved_columns_are_refused_before_the_work(name):
    frame = pa.table({name: ["a", "b", "c"], "n": [5, 2, 8]})
    table = dk.Table.from_cells(frame, by={name: None}, count="n")

    def never(problem: Any) -> Any:
        raise AssertionError("the work has begun")

    wrong: Any = "not read yet"
    with pytest.raises(InputError, match=f"'{name}': the files of a release have columns"):
        dk.suppress(table, FEW, method=never)
    records = pa.table({name: ["a"], "key": [3]})
    ptable, key = dk.PerturbationTable.maximum_entropy(2, 1), {"record_key": "key"}
    trees = {name: dk.Hierarchy.flat(["a"])}
    for changed in (
        lambda: dk.perturb_records(records, by={name: None}, ptable=ptable, engine=never, **key),
        lambda: dk.perturbation_sql("persons", by=trees, ptable=ptable, **key),
        lambda: dk.round_table(table, 3, rule=wrong),
        lambda: dk.adjust(table, wrong),
        lambda: dk.perturb(table, dk.PerturbationTable.maximum_entropy(2, 1)),
        lambda: dk.perturb_invariant(table, largest=3),
    ):
        with pytest.raises(InputError, match=f"'{name}': the files of a release have columns"):
            changed()


def test_columns_of_changed_tables_are_reserved_there_only():
    frame = pa.table({"noise": ["a", "b", "c"], "n": [50, 20, 90]})
    table = dk.Table.from_cells(frame, by={"noise": None}, count="n")
    assert dk.suppress(table, FEW).public.num_rows == 4
    with pytest.raises(InputError, match="'noise': the files of a release have columns"):
        dk.round_table(table, base=5)


@pytest.mark.parametrize("where", ["by", "value", "cells"])
def test_reserved_columns_are_refused_when_a_job_is_read(tmp_path, where):
    names = {"by": ("lower", "sales"), "value": ("region", "lower"), "cells": ("kind", "sales")}
    by, value = names[where]
    (tmp_path / "firms.csv").write_text(f"{by},firm,{value}\nN,1,5\n")
    file = tmp_path / "job.toml"
    records = "" if where == "cells" else '[records]\npath = "firms.csv"\n'
    cells = 'cells = { file = "firms.csv", count = "firm" }\n' if where == "cells" else ""
    file.write_text(
        f'{records}[[tables]]\nname = "t"\nvalue = "{value}"\n{cells}by = {{ {by} = "flat" }}\n'
        'rules = { minimum_frequency = { n = 3 } }\n[output]\nfolder = "out"\n'
    )
    reserved = value if where == "value" else by
    with pytest.raises(InputError, match=f"line [0-9]+: '{reserved}': the files of a release have"):
        read_job(file)


def test_all_columns_that_files_add_are_reserved(tmp_path):
    frame = pa.table({"x": ["a", "b", "c"], "n": [50, 2, 70]})
    table = dk.Table.from_cells(frame, by={"x": None}, count="n")
    folder = dk.suppress(table, FEW).write(tmp_path / "out", ["csv"], keys=KEYS, intervals=True)
    reserved = cells_module._ADDED | cells_module._OF_REASONS | cells_module._OF_CHANGES
    changed = dk.round_table(table, base=5).write(tmp_path / "changed", ["csv"], keys=KEYS)
    own = {"x", "count", "units"}
    for file in [f for one in (folder, changed) for f in one.glob("*/*.csv")]:
        header = set(file.read_text().splitlines()[0].split(","))
        assert {h for h in header - own if not h.startswith("needed_by_")} <= reserved, file


# ── files of office programs ─────────────────────────────────────────────────────────


def test_an_open_office_program_stops_neither_writing_nor_verifying(tmp_path):
    frame = pa.table({"x": ["a", "b", "c"], "n": [50, 2, 70]})
    result = dk.suppress(dk.Table.from_cells(frame, by={"x": None}, count="n"), FEW)
    folder = result.write(tmp_path / "out", ["csv", "xlsx"], keys=KEYS)
    locks = [".~lock.count.xlsx#", "~$count.xlsx"]
    for part in (folder, folder / "public", folder / "internal"):
        for lock in locks:
            (part / lock).write_text(",me,host,22.11.2026 15:00;")
    assert verify(folder, keys=KEYS).checked_internal
    result.write(folder, ["csv"], keys=KEYS)
    assert not (folder / "public" / "count.xlsx").exists()
    # what only calls itself a lock is a file like any other
    (folder / "public" / locks[0]).write_text("x" * 2000)
    with pytest.raises(InputError, match="not part of a release"):
        result.write(folder, ["csv"], keys=KEYS)
    with pytest.raises((InputError, VerificationError)):
        verify(folder, keys=KEYS)


@pytest.mark.parametrize(
    "content",
    [
        b"region,n\r\nA,1\nB,2\r\n",
        b"region,n\nA,1\nB,2\r\n",
        b'region,n\nA,"1\r\n0"\nB,2\r',
        b"region,n\rA,1\nB,2\r\n",
    ],
)
def test_mixed_line_ends_are_read(tmp_path, content):
    file = tmp_path / "records.csv"
    file.write_bytes(content)
    table = dk.tabulate(file, by={"region": None})
    assert table.cells.to_pydict()["region"] == ["Total", "A", "B"]
    assert table.count.tolist() == [2, 1, 1]


def test_comments_in_apriori_files_are_left_out(tmp_path):
    file = tmp_path / "a.hst"
    file.write_text("// agreed, by telephone; 12 cells\na,s\n  // b,u\nc,x\n")
    frame = pa.table({"x": ["a", "b", "c"], "n": [2, 2, 70]})
    table = dk.Table.from_cells(frame, by={"x": None}, count="n")
    given = {"reason": "consent", "who": "me", "date": "2026-11-22"}
    with pytest.raises(InputError, match="line 4"):
        (FEW | dk.rules.Apriori(file, **given))(table)
    file.write_text("// agreed\na,s\n")
    found = (FEW | dk.rules.Apriori(file, **given))(table)
    assert found.unsafe.tolist() == [False, False, True, False]


# ── totals ───────────────────────────────────────────────────────────────────────────


def test_recomputing_totals_is_advised_only_where_it_is_possible():
    frame = pa.table({"x": ["Total", "a", "b"], "v": [9000, 2000, 3000]})
    for rounding, advised in ((None, True), (1000, False)):
        with pytest.raises(AdditivityError) as told:
            dk.Table.from_cells(frame, by={"x": None}, value="v", rounding=rounding)
        assert ("additivity='totals'" in str(told.value)) == advised
        assert ("rounding=" in str(told.value)) == (not advised)


# ── a grid and municipalities ────────────────────────────────────────────────────────


def _pieces(seed):
    """Persons of random pieces of 4 grid cells and 4 municipalities, most of them large."""
    rng = np.random.default_rng(seed)
    names = [f"g{a}|m{b}" for a in range(4) for b in range(4)]
    number = np.where(rng.random(16) < 0.3, rng.integers(1, 3, 16), rng.integers(5, 60, 16))
    return dict(zip(names, np.where(rng.random(16) < 0.5, number, 0).tolist(), strict=True))


def _by(pieces, part):
    below = {piece: piece.split("|")[part] for piece, n in pieces.items() if n}
    codes = dict.fromkeys(below.values(), "Total") | below
    tree = dk.Hierarchy.from_parents({"code": list(codes), "parent": list(codes.values())})
    frame = pa.table({"place": [piece for piece, n in pieces.items() for _ in range(n)]})
    return dk.tabulate(frame, by={"place": tree}).recode("place", level=1)


@pytest.mark.parametrize("seed", range(8))
def test_a_grid_beside_municipalities_isolates_nobody(seed):
    """The oracle: what all published counts leave of each piece, by linear programmes."""
    pieces = _pieces(seed)
    results = dk.suppress(
        [_by(pieces, part) for part in (0, 1)], FEW, name=["grid", "municipality"],
        attacker=dk.Attacker(),
    )  # fmt: skip
    kept = [piece for piece, n in pieces.items() if n]
    rows, right = [[1] * len(kept)], [sum(pieces.values())]
    for part, result in enumerate(results):
        for cell in result.public.to_pylist()[1:]:
            if cell["count"] is not None:
                rows.append([int(piece.split("|")[part] == cell["place"]) for piece in kept])
                right.append(cell["count"])
    for i, piece in enumerate(kept):
        ends = [
            optimize.linprog(np.eye(len(kept))[i] * side, A_eq=rows, b_eq=right).fun
            for side in (1, -1)
        ]
        assert pieces[piece] > 2 or ends[0] + ends[1] < -1e-6, piece


def test_unrelated_names_of_places_are_named_as_not_claimed():
    pieces = {"g1|m1": 30, "g1|m2": 1, "g2|m2": 40}
    persons = [piece.split("|") for piece, n in pieces.items() for _ in range(n)]
    frame = pa.table({"grid": [g for g, _ in persons], "municipality": [m for _, m in persons]})
    # nobody can tell that these are the same records
    tables = [dk.tabulate(frame.slice(0), by={name: None}) for name in frame.column_names]
    apart = dk.suppress(tables, FEW, name=frame.column_names, attacker=dk.Attacker())
    assert UNRELATED.en in apart[0].certificate.public()["not_claimed"]["en"]
    assert UNRELATED.de in apart[0].certificate.public()["not_claimed"]["de"]
    both = [_by(pieces, part) for part in (0, 1)]
    together = dk.suppress(both, FEW, name=frame.column_names, attacker=dk.Attacker())
    assert UNRELATED.en not in together[0].certificate.public()["not_claimed"]["en"]


# ── Ctrl-C ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("module", ["numpy", "typer", "pyarrow"])
def test_ctrl_c_while_loading_ends_with_one_line(module):
    script = f"""
import builtins
real = builtins.__import__
def interrupted(name, *args, **options):
    if name.partition(".")[0] == {module!r}:
        raise KeyboardInterrupt
    return real(name, *args, **options)
builtins.__import__ = interrupted
from diskret.cli import run
run()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
