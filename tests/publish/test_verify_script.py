"""`verify.py`, one file that needs nothing else, finds what `diskret verify` finds."""

import ast
import hashlib
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from every_family import BY, CELLS, FAMILIES, KEYS, QUICK, RULE, counts
from golden.make import FEW, OUTSIDER, firms
from profiles import scaled, some_quick
from sabotage import CERTIFICATE, SABOTAGES, Nothing, content, put, refresh, stripped
from scipy.optimize import linprog
from verify_script import SCRIPT, by_script

import diskret as dk
from diskret.errors import DiskretError, ProofError, VerificationError
from diskret.publish.digests import digest
from diskret.publish.guard.check import check_public
from diskret.tables.public_files import content_digest

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"
pytestmark = pytest.mark.xdist_group("verify_script")


def linked(folder):
    """Two tables with common cells, three measures that add up, a filter, and figures."""
    rows = [(r, s, 7 * i % 13 + 1) for i, (r, s) in enumerate(9 * ["Na", "Nb", "Sa", "Sb", "Wa"])]
    region, size, value = map(list, zip(*rows, ("W", "b", 90), ("N", "a", 50), strict=True))
    sales = [a + b for a, b in zip(value, value[::-1], strict=True)]
    columns = {"region": region, "size": size, "domestic": value, "export": value[::-1]}
    frame = pa.table(columns | {"sales": sales})
    measures = ["sales", "domestic", "export"]
    table = dk.tabulate(frame, by=BY, value=measures)
    coarse = dk.tabulate(frame, by={"region": None}, value="sales")
    results = dk.suppress(
        [*(table[name] for name in measures), coarse],
        dk.rules.PPercent(20),
        sums=["sales = domestic + export"],
        attacker=dk.Attacker(),
        name=[*measures, "coarse"],
    )
    share = dk.derive.share(results[0].published, "region")
    return dk.write(results, folder, ["csv"], derived=[share], keys=KEYS)


def filtered(folder):
    people = pa.table({"region": ["N"] * 21 + ["S"] * 42, "sex": ["f"] * 20 + [*"mf"] * 21 + ["m"]})
    tables = [dk.tabulate(people, by={"region": None, "sex": None}),
              dk.tabulate(people, by={"region": None}, where={"sex": "f"})]  # fmt: skip
    results = dk.suppress(tables, RULE, name=["all", "women"], attacker=dk.Attacker())
    return dk.write(results, folder, ["csv"], keys=KEYS)


def overlapping(folder):
    ages = dk.tabulate(
        pa.table({"age": ["0-14"] * 30 + ["15-17"] * 2 + ["18-64"] * 60 + ["65+"] * 20}),
        by={"age": None},
    )
    tables = [ages.recode("age", {"0-17": ["0-14", "15-17"]}),
              ages.recode("age", {"15-64": ["15-17", "18-64"]})]  # fmt: skip
    return dk.write(dk.suppress(tables, RULE, name=["one", "other"]), folder, ["csv"], keys=KEYS)


def additive(folder):
    made = dk.round_table(counts(), 5, "controlled", keys=KEYS, name="firms")
    return made.write(folder, ["csv"], keys=KEYS)


def decimals(folder):
    cells = CELLS.set_column(3, "sales", pa.array([1.75, 0.25, 1.5, 2.0, 0.5, 3.25]))
    table = dk.Table.from_cells(cells, by=BY, value="sales", count="firms", decimals=2)
    unsafe = {"region": ["N"], "size": ["2"], "status": ["unsafe"], "reason": ["x"], "who": ["y"]}
    rule = dk.rules.Apriori(pa.table(unsafe | {"date": ["2025-12-31"]}))
    return dk.suppress(table, rule, name="sales").write(folder, ["csv"], keys=KEYS)


def thousands(folder):
    table = dk.Table.from_cells(
        CELLS.set_column(3, "sales", pa.array([170_400, 2_100, 110_700, 150_000, 9_300, 30_000])),
        by=BY, value="sales", count="firms",
    )  # fmt: skip
    unsafe = {"region": ["W"], "size": ["1"], "status": ["unsafe"], "reason": ["x"], "who": ["y"]}
    rule = dk.rules.Apriori(pa.table(unsafe | {"date": ["2025-12-31"]}))
    made = dk.suppress(table.rounded(1000), rule, name="sales")
    return made.write(folder, ["csv"], keys=KEYS)


def formulas(folder):
    cells = pa.table({"code": ["=1+1", "-2+3", "'a", "b"], "firms": [17, 2, 11, 2]})
    table = dk.Table.from_cells(cells, by={"code": None}, count="firms")
    made = dk.suppress(table, RULE, name="firms")
    return made.write(folder, ["csv"], neutralise=True, keys=KEYS)


def mapped(folder):
    codes = [f"CRS3035RES1000mN{2689000 + 1000 * i}E4337000" for i in range(5)]
    cells = pa.table({"cell": codes, "persons": [12, 2, 30, 2, 9]})
    table = dk.Table.from_cells(cells, by={"cell": None}, count="persons")
    made = dk.suppress(table, RULE, name="persons")
    return made.write(folder, ["csv", "map", "geojson"], keys=KEYS)


MORE = (mapped, linked, filtered, overlapping, additive, decimals, thousands, formulas)
EVERY = FAMILIES | {made.__name__: made for made in MORE}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("releases")
    return {name: made(home / name) / "public" for name, made in EVERY.items()}


def by_diskret(public, *releases):
    """Why `diskret verify` refuses; None if it does not."""
    try:
        dk.verify(public, releases=releases)
    except DiskretError as error:
        return str(error)
    return None


def not_checked(said):
    return [line for line in said.splitlines() if line.startswith("NOT CHECKED")]


def test_it_is_one_short_file_that_needs_only_python():
    text = SCRIPT.read_text("utf-8")
    assert len(text.splitlines()) < 700
    imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    origins = [
        node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)
    ]
    names = {alias.name for node in imported for alias in node.names} | {*origins}
    assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names}
    assert "float(" not in text


@pytest.mark.parametrize("name", EVERY)
def test_every_family_holds(name, written):
    ended, said = by_script(written[name])
    assert (ended, "WRONG" in said) == (0, False), said
    assert by_diskret(written[name]) is None
    assert not_checked(said)


@pytest.mark.parametrize("name", ["linked", "filtered", "decimals", "thousands", "contributor"])
def test_all_intervals_are_computed_again(name, written):
    """None but those of tables that are tied by more than common cells and sums."""
    said = by_script(written[name])[1]
    assert not [line for line in not_checked(said) if "as narrow" in line or "more than" in line]


def test_it_says_which_intervals_it_could_not_compute(written):
    assert any(
        "as narrow as stated" in line for line in not_checked(by_script(written["overlapping"])[1])
    )


def test_it_says_of_how_many_cells_it_computed_the_intervals(written):
    told = by_script(written["linked"])[1]
    hidden = sum(",suppressed" in line for line in (written["linked"] / "sales.csv").open())
    assert hidden and f"held: sales: the intervals of {hidden} of {hidden} hidden cells" in told
    assert "held: coarse: no cell is hidden\n" in told
    told = by_script(written["overlapping"])[1]
    assert "held: one: the intervals of 0 of 2 hidden cells are as stated\n" in told


def test_it_says_that_witnesses_are_not_checked(written):
    for name in ("suppressed", "contributor", "linked"):
        said = not_checked(by_script(written[name])[1])
        assert any("the witnesses that prove it stay with the office" in line for line in said)
    assert not [line for line in not_checked(by_script(written["rounded"])[1]) if "witness" in line]


def test_it_says_what_an_outsider_knows_of_a_cell(written):
    told = content(written["suppressed"] / f"firms{CERTIFICATE}")["intervals"]
    for region, size, low, high in zip(
        *(told[k] for k in ("region", "size", "lower", "upper")), strict=True
    ):
        said = by_script(written["suppressed"], "--cell", f"firms: region={region}, size={size}")[1]
        assert f"firms: region={region}, size={size}: ({low}, {high})" in said


def test_it_runs_alone(written, tmp_path):
    """Without the package, without the folder that it lies in, on a console of any code page."""
    alone = shutil.copy(SCRIPT, tmp_path)
    cells = pa.table({"größe ≥ 5": ["ß", "中", "ü", "λ"], "firms": [17, 2, 11, 2]})
    table = dk.Table.from_cells(cells, by={"größe ≥ 5": None}, count="firms")
    folder = dk.suppress(table, RULE, name="中").write(tmp_path / "out", ["csv"], keys=KEYS)
    for release, options in ((written["suppressed"], ("-I", "-S")), (folder, ("-S",))):
        command = [sys.executable, *options, str(alone), str(release)]
        environment = {"PYTHONIOENCODING": "cp1252", "PATH": ""}
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr


# ── sabotage ────────────────────────────────────────────────────────────────────────


def campaign(written, home, number, seed):
    """Damage releases, and compare what both programs say; how many both refused."""
    draw, refused = Random(seed), 0
    for attempt in range(number):
        name, change = draw.choice(sorted(EVERY)), draw.choice(SABOTAGES)
        public = shutil.copytree(written[name], home / f"{attempt} {name}")
        stripped(public)
        try:
            change(draw, public)
        except Nothing:
            continue
        refresh(public)
        theirs, (ended, said) = by_diskret(public), by_script(public)
        same = ended == (theirs is not None)
        # where it does not know all that ties tables, it says so
        known = not ended and "as narrow as stated" in said
        assert same or known, (name, change.__name__, attempt, theirs, said)
        refused += ended
        shutil.rmtree(public)
    return refused


def test_both_programs_agree_on_damaged_releases(written, tmp_path):
    number = scaled(40)
    assert campaign(written, tmp_path, number, seed=1) > number // 4


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
def test_both_programs_agree_on_hundreds(written, tmp_path, seed):
    assert campaign(written, tmp_path, 400, seed) > 150


@pytest.mark.parametrize("change", SABOTAGES, ids=lambda change: change.__name__)
def test_each_kind_of_damage_is_found_somewhere(change, written, tmp_path):
    for name in sorted(written):
        public = shutil.copytree(written[name], tmp_path / name)
        stripped(public)
        try:
            change(Random(1), public)
        except Nothing:
            continue
        refresh(public)
        if by_script(public)[0] == 1:
            return
    pytest.fail("never found")


@pytest.mark.parametrize("name", some_quick(EVERY, QUICK))
def test_a_changed_byte_of_any_file_is_found(name, written, tmp_path):
    public = shutil.copytree(written[name], tmp_path / "out")
    for path in sorted(public.iterdir()):
        if not path.name.endswith(CERTIFICATE):
            whole = path.read_bytes()
            path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
            assert by_script(public)[0] == 1, path.name
            path.write_bytes(whole)
    assert by_script(public)[0] == 0


def test_a_difference_is_computed_again_from_both_deliveries(written, tmp_path):
    before = written["edition"].parent.with_name("before edition")
    public = shutil.copytree(written["edition"], tmp_path / "out")
    ended, said = by_script(public, "--release", str(before))
    assert ended == 0 and "firms_difference: follows" in said
    stripped(public)
    path = public / "firms_difference.csv"
    path.write_text(path.read_text("utf-8").replace(",16,", ",15,", 1), encoding="utf-8")
    refresh(public)
    assert by_diskret(public, before) and by_script(public, "--release", str(before))[0] == 1


def test_links_and_files_of_open_programs(written, tmp_path):
    public = shutil.copytree(written["suppressed"], tmp_path / "out")
    (public / "~$firms.xlsx").write_bytes(b"A. Meyer")
    assert by_script(public)[0] == 0
    (public / "link.csv").symlink_to(public / "firms.csv")
    assert by_script(public)[0] == 1


def test_equations_hold_also_where_the_earlier_release_is_missing(tmp_path):
    """Both programs look at the table itself, which was attacked beside another one."""
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    fine = dk.suppress(firms(None), FEW, attacker=OUTSIDER, name="fine")
    ledger.publish(fine, tmp_path / "fine", formats=["csv"], who="clerk")
    coarse = dk.suppress(
        firms(None, by={"region": None}), FEW, attacker=OUTSIDER, ledger=ledger, name="coarse"
    )
    folder = ledger.publish(coarse, tmp_path / "coarse", formats=["csv"], who="clerk") and (
        tmp_path / "coarse"
    )
    public = shutil.copytree(folder / "public", tmp_path / "download")
    assert content(public / f"coarse{CERTIFICATE}")["beside"]
    assert by_diskret(public) is None and by_script(public)[0] == 0
    path = public / "coarse.csv"
    path.write_text(path.read_text("utf-8").replace("Total,21,", "Total,22,"), encoding="utf-8")
    refresh(public)
    assert "not the sum" in (by_diskret(public) or "") and by_script(public)[0] == 1


# ── the simplex ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(scaled(4)))
def test_intervals_are_those_of_linear_programmes(seed, tmp_path):
    """Of random patterns, against another solver, whose unknowns are all inner cells."""
    draw = Random(seed)
    shape = draw.choice([(4, 5), (6, 3), (3, 3, 2)])
    program = runpy.run_path(str(SCRIPT))
    value = np.array([draw.randint(0, 30) for _ in range(int(np.prod(shape)))]).reshape(shape)
    for axis in range(len(shape)):
        value = np.concatenate([value.sum(axis=axis, keepdims=True), value], axis=axis)
    hidden = np.zeros(value.shape, dtype=bool)
    inner = hidden[tuple(slice(1, None) for _ in shape)]
    inner[...] = np.array([draw.random() < 0.5 for _ in range(inner.size)]).reshape(inner.shape)
    names = ["x", "y", "z"][: len(shape)]
    codes = [["T", *map(str, range(size))] for size in shape]
    parents = [[None, *["T"] * size] for size in shape]
    axes = [
        {"name": name, "codes": own, "parents": above, "labels": {}}
        for name, own, above in zip(names, codes, parents, strict=True)
    ]
    said = {"schema": "diskret/structure/1", "name": "t", "measure": "n", "frequency": True,
            "decimals": 0, "nonnegative": True, "dimensions": axes}  # fmt: skip
    put(tmp_path / "t.structure.json", said)
    lines = [",".join([*names, "n", "status"])]
    for at in np.ndindex(*value.shape):
        codes = ["T" if i == 0 else str(i - 1) for i in at]
        lines.append(
            ",".join(
                [*codes, *(("", "suppressed") if hidden[at] else (str(value[at]), "published"))]
            )
        )
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = program["Table"](tmp_path, "t")
    found = program["Together"]([table])
    cells = np.flatnonzero(hidden)
    rows, right = [], []
    for axis in range(len(shape)):
        for at in np.ndindex(*(1 if i == axis else size for i, size in enumerate(value.shape))):
            line = tuple(slice(1, None) if i == axis else at[i] for i in range(len(shape)))
            own = np.zeros(value.shape)
            own[line] = 1
            own[at] = -1
            rows.append(own.ravel()[cells])
            right.append(-(own.ravel() * np.where(hidden, 0, value).ravel()).sum())
    for place, cell in enumerate(cells):
        at = found.at[0][int(cell)]
        mine = program["Possible"](found, *found.tied(at)).interval(at)
        goal = np.zeros(len(cells))
        goal[place] = 1
        ends = [linprog(sign * goal, A_eq=np.array(rows), b_eq=np.array(right)) for sign in (1, -1)]
        low = int(np.ceil(ends[0].fun - 1e-6))
        high = None if ends[1].status == 3 else int(np.floor(-ends[1].fun + 1e-6))
        assert mine == (low, high)


def test_beyond_its_limit_it_says_so(tmp_path):
    rows, columns = 19, 19
    cells = {"x": [f"x{i}" for i in range(rows) for _ in range(columns)],
             "y": [f"y{j}" for _ in range(rows) for j in range(columns)],
             "n": [1 + (i * j) % 2 for i in range(rows) for j in range(columns)]}  # fmt: skip
    table = dk.Table.from_cells(pa.table(cells), by={"x": None, "y": None}, count="n")
    made = dk.suppress(table, RULE, name="n", attacker=dk.Attacker())
    ended, said = by_script(made.write(tmp_path / "out", ["csv"], keys=KEYS))
    assert ended == 0 and any("more than 300 cells" in line for line in not_checked(said))


# ── beside a release ────────────────────────────────────────────────────────────────


def test_it_lies_beside_a_release_on_request(tmp_path):
    folder = dk.suppress(counts(), RULE, name="firms").write(
        tmp_path / "out", ["csv", "script"], keys=KEYS
    )
    script = folder / "public" / "verify.py"
    assert script.read_bytes() == SCRIPT.read_bytes()
    assert content(folder / "public" / f"firms{CERTIFICATE}")["files"]["verify.py"] == digest(
        script
    )
    assert dk.verify(folder, keys=KEYS).sealed
    command = [sys.executable, str(script), str(folder)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_records_have_it_too(tmp_path):
    frame = pa.table({"town": ["N"] * 4 + ["S"] * 4})
    made = dk.Microdata(frame, keys=["town"]).release(dk.claims.KAnonymity(3), keys=KEYS)
    folder = made.write(tmp_path / "out", ["csv", "script"])
    assert (folder / "public" / "verify.py").exists() and dk.verify(folder, keys=KEYS).sealed
    assert by_script(folder)[0] == 0


def test_a_job_asks_for_it(tmp_path):
    (tmp_path / "cells.csv").write_text("region,firms\nN,8\nS,1\nW,5\nE,2\n", encoding="utf-8")
    job = tmp_path / "job.toml"
    job.write_text(
        '[[tables]]\nname = "firms"\nby = { region = "flat" }\n'
        f'cells = {{ file = "{(tmp_path / "cells.csv").as_posix()}", count = "firms" }}\n'
        "rules = { minimum_frequency = { n = 3 } }\n"
        f'[output]\nfolder = "{(tmp_path / "out").as_posix()}"\nformats = ["csv", "script"]\n',
        encoding="utf-8",
    )
    dk.run_job(str(job))
    assert by_script(tmp_path / "out")[0] == 0
    assert (tmp_path / "out" / "public" / "verify.py").exists()


def test_another_program_in_its_place_is_refused(tmp_path):
    result = dk.suppress(counts(), RULE, name="firms")
    folder = result.write(tmp_path / "out", ["csv", "script"], keys=KEYS)
    public = shutil.copytree(folder / "public", tmp_path / "download")
    (public / "verify.py").write_text("print('all is well')\n", encoding="utf-8")
    refresh(public)
    with pytest.raises(VerificationError, match="do not run it"):
        dk.verify(public)
    with pytest.raises(ProofError, match="not the program"):
        check_public(public, [result.published])
    path = public / f"firms{CERTIFICATE}"
    put(path, content(path) | {"software": "diskret 0.0.1"})
    assert any("another version" in line for line in dk.verify(public).lines)


def test_the_command_writes_it(tmp_path):
    from typer.testing import CliRunner

    from diskret.cli.main import app

    target = tmp_path / "check.py"
    assert CliRunner().invoke(app, ["verify-script", str(target)]).exit_code == 0
    assert target.read_bytes() == SCRIPT.read_bytes()
    again = CliRunner().invoke(app, ["verify-script", str(target)])
    assert again.exit_code == 1


# ── what else the page says ─────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["suppressed", "with_intervals", "decimals", "thousands"])
def test_what_identifies_a_table_beside_others_follows_from_its_files(name, written):
    """As the page of the format says, from structure and CSV alone."""
    [path] = written[name].glob("*.structure.json")
    said = content(path)
    made = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    table = runpy.run_path(str(SCRIPT))["Table"](written[name], said["name"])
    hidden = [status == "suppressed" for status in table.status]
    none = 2**63 - 1
    parts = [[value or 0 for value in table.value], hidden, [s == "empty" for s in table.status]]
    for ends, without in ((table.lower, -none), (table.upper, none)):
        if said.get("intervals"):
            own = [without if end is None else end for end in ends]
            parts.append([end * out for end, out in zip(own, hidden, strict=True)])
    for part in parts:
        made.update(b"".join(int(value).to_bytes(8, "little", signed=True) for value in part))
    assert made.hexdigest() == content_digest(dk.Published.read(written[name]))


def test_the_page_names_every_key_and_every_ending():
    page = (SCHEMAS.parent / "format.md").read_text("utf-8")
    known = runpy.run_path(str(SCRIPT))
    keys = {key.rstrip("?") for own in known["KEYS"].values() for key in own.split()}
    for schema in ("structure", "derived", "combined", "difference", "results"):
        keys |= {*json.loads((SCHEMAS / f"{schema}.schema.json").read_text("utf-8"))["properties"]}
    missing = [word for word in (*keys, *known["ENDS"], *known["READ"]) if f"`{word}`" not in page]
    assert not missing


# ── the schemas ─────────────────────────────────────────────────────────────────────

KINDS = {".structure.json": "structure", ".derived.json": "derived",
         ".combined.json": "combined", ".previous.json": "difference"}  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_files_follow_their_schemas(name, written):
    public = written[name]
    found = [(path, kind) for end, kind in KINDS.items() for path in public.glob(f"*{end}")]
    found.append((public.parent / "internal" / "content.json", "content"))
    for path, kind in found:
        schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(content(path), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(content(path) | {"p": 10}, schema)
