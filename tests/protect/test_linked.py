"""Several tables protected, written and verified together."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from sealing import reseal

import diskret as dk
from diskret.attack import examine
from diskret.errors import InputError, ProofError, ProtectionError, VerificationError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.population import Population
from diskret.publish.verify.folder import verify
from diskret.suppression import sequential
from diskret.system import joint_system
from diskret.tables import Publication

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"
KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)


@pytest.fixture(scope="module")
def register():
    return dk.datasets.business_register(2_000, seed=3)


def turnover(register, *names):
    table = dk.tabulate(
        register.records,
        by={name: register.by[name] for name in names},
        value="turnover",
        unit="firm_id",
        holding="group_id",
        largest=2,
    )
    return table.recode("nace", level=1) if "nace" in names else table


@pytest.fixture(scope="module")
def pair(register):
    """Two tables protected together, once for all tests."""
    tables = [turnover(register, "nace", "size"), turnover(register, "nace", "region")]
    return dk.suppress(tables, dk.rules.PPercent(10))


@pytest.fixture(scope="module")
def written(pair, tmp_path_factory):
    return dk.write(pair, tmp_path_factory.mktemp("pair") / "out", ["csv", "html"], keys=KEYS)


@pytest.fixture
def folder(written, tmp_path):
    """A copy of the release, to be damaged."""
    return Path(shutil.copytree(written, tmp_path / "out"))


def test_common_cells_have_one_status(pair):
    one, two = pair
    by_nace = one.published.suppressed[:, 0], two.published.suppressed[:, 0]
    assert by_nace[0].any()
    np.testing.assert_array_equal(*by_nace)
    assert [r.name for r in (one, two)] == ["turnover_nace_size", "turnover_nace_region"]


@pytest.mark.long
def test_hypercubes_protect_linked_tables_in_turn(register):
    tables = [turnover(register, "nace", "size"), turnover(register, "nace", "region")]
    one, two = dk.suppress(tables, dk.rules.PPercent(10), method="hypercube")
    np.testing.assert_array_equal(one.published.suppressed[:, 0], two.published.suppressed[:, 0])
    assert one.published.suppressed[:, 0].any()
    assert one.proof is two.proof


def test_a_method_for_one_table_is_refused_for_tables_that_are_tied(register):
    tables = [turnover(register, "nace", "size"), turnover(register, "nace", "region")]
    with pytest.raises(InputError, match="one table alone.*'sequential' or method='optimal'"):
        dk.suppress(tables, dk.rules.PPercent(10), method="network")


def test_each_table_alone_would_undo_the_other(register):
    """The same tables, protected apart, hide different cells of their common margin."""
    cells = pa.table(
        {"x": ["a", "a", "b", "b", "c", "c"], "y": ["p", "q"] * 3, "n": [1, 5, 4, 4, 20, 30]}
    )
    both = dk.Table.from_cells(cells, by={"x": None, "y": None}, count="n")
    only = dk.Table.from_cells(
        pa.table({"x": ["a", "b", "c"], "n": [6, 8, 50]}), by={"x": None}, count="n"
    )
    stays = [None, pa.table({"x": ["a"]})]
    apart = [dk.suppress(both, RULE, name="both"), dk.suppress(only, RULE, name="only")]
    assert not apart[1].published.suppressed.any()
    together = dk.suppress([both, only], RULE, frozen=stays, name=["both", "only"])
    assert not together[0].published.suppressed[1, 0]


def test_sums_of_measures_protect_each_other():
    firms = pa.table(
        {
            "region": ["N", "N", "N", "S", "S", "S"],
            "revenue": [60, 50, 40, 500, 6, 4],
            "domestic": [30, 25, 20, 10, 5, 3],
            "export": [30, 25, 20, 490, 1, 1],
        }
    )
    names = ["revenue", "domestic", "export"]
    table = dk.tabulate(firms, by={"region": None}, value=names)
    rules = [dk.rules.PPercent(10), dk.rules.MinimumFrequency(2), dk.rules.MinimumFrequency(2)]
    results = dk.suppress(
        [table[name] for name in names], rules, sums=["revenue = domestic + export"]
    )
    hidden = {r.name: r.published.suppressed for r in results}
    assert hidden["revenue"].tolist() == [False, True, True]
    # the sum in S is 510 and hidden: one of its parts must be hidden with it
    assert hidden["domestic"][2] or hidden["export"][2]
    assert results[0].certificate.public()["sums"] == ["revenue = domestic + export"]


def test_written_together_verified_together(written):
    report = verify(written, keys=KEYS)
    assert report.tables == ("turnover_nace_region", "turnover_nace_size")
    assert any("attacked together with turnover_nace_size" in line for line in report.lines)
    assert sum("proven again" in line for line in report.lines) == 2


def test_a_table_does_not_leave_without_those_it_was_protected_with(pair, tmp_path):
    one, two = pair
    with pytest.raises(InputError, match="'turnover_nace_region'; write all of them"):
        one.write(tmp_path / "out")
    apart = [
        dk.suppress(result.table, dk.rules.PPercent(10), attacker=dk.Attacker(), name=name)
        for result, name in ((one, "one"), (two, "two"))
    ]
    with pytest.raises(InputError, match="were not protected together"):
        dk.write(apart, tmp_path / "out", keys=KEYS)
    assert not (tmp_path / "out").exists()


def test_a_missing_or_changed_companion_is_noticed(folder):
    path = folder / "public" / "turnover_nace_size.certificate.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "tables": ["turnover_nace_size"]}), encoding="utf-8")
    reseal(folder, KEYS)
    with pytest.raises(VerificationError, match="do not name the same tables"):
        verify(folder, keys=KEYS)
    for file in (folder / "public").glob("turnover_nace_size.*"):
        file.unlink()
    reseal(folder, KEYS)
    with pytest.raises(VerificationError, match="not in this folder"):
        verify(folder, keys=KEYS)


@pytest.mark.long
def test_three_tables_claim_less_if_their_populations_differ(register):
    def said(*where):
        tables = [turnover(register, name) for name in ("nace", "size", "region")]
        tables[2] = replace(tables[2], where=Population(where))
        results = dk.suppress(tables, dk.rules.PPercent(10))
        return results[0].certificate.public()["not_claimed"]

    less = said(("west", ("yes",)))
    assert any("three or more of these tables" in line for line in less["en"])
    assert any("drei oder mehr" in line for line in less["de"])
    assert not any("three or more" in line for line in said()["en"])


@pytest.mark.parametrize("side", ["public", "internal"])
def test_certificates_of_linked_tables_follow_their_schema(written, side):
    name = f"certificate-{side}.schema.json"
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    path = written / side / "turnover_nace_size.certificate.json"
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema)


def test_reasons_reach_across_tables(pair):
    one, two = pair
    reasons = one.explain().to_pylist() + two.explain().to_pylist()
    assert {row["needed_in"] for row in reasons} >= {one.name, two.name}
    across = [row for row in one.explain().to_pylist() if row["needed_in"] == two.name]
    assert across and all(row["needed_by"].startswith(two.name) for row in across)


def test_tables_that_contradict_each_other_are_refused():
    def made(n):
        return dk.Table.from_cells(
            pa.table({"x": ["a", "b"], "n": [n, 5]}), by={"x": None}, count="n"
        )

    with pytest.raises(InputError, match="contradict each other"):
        dk.suppress([made(2), made(3)], RULE, name=["one", "two"])


def test_one_measure_with_different_decimals_is_no_contradiction():
    records = pa.table({"x": ["a", "b"], "y": ["c", "c"], "v": [1.5, 2.0]})
    tables = [
        dk.tabulate(records, by={name: None}, value="v", decimals=decimals)
        for name, decimals in (("x", 1), ("y", 2))
    ]
    with pytest.raises(InputError, match="have 'v' by x: 1, 'v' by y: 2; tabulate"):
        dk.suppress(tables, RULE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": ["one"]}, "1 entry for 2 tables"),
        ({"name": ["one", "one"]}, "a name of its own"),
        ({"cost": ["value"]}, "cost= has 1 entry"),
        ({"frozen": [None]}, "frozen= has 1 entry"),
        ({"sums": ["a = b + c"]}, "no table has this measure"),
    ],
)
def test_options_must_fit_the_tables(register, options, message):
    tables = [turnover(register, "nace"), turnover(register, "region")]
    with pytest.raises(InputError, match=message):
        dk.suppress(tables, dk.rules.PPercent(10), **options)
    with pytest.raises(InputError, match="no table to protect"):
        dk.suppress([], dk.rules.PPercent(10))


def blind_to_other_tables(problem):
    """A method that has lost all equations between tables."""
    system = problem.system
    inside = np.diff(system.equations.indptr) != 2
    kept = replace(problem, system=replace(system, equations=system.equations[inside]))
    return sequential(kept)


def test_a_method_that_forgets_the_other_table_is_caught_and_repaired():
    """6 and 8 are hidden for nobody's sake, until the other table shows them."""
    fine = pa.table({"x": list("abcd"), "n": [1, 6, 8, 50]})
    table = dk.Table.from_cells(fine, by={"x": None}, count="n")
    coarse = table.recode("x", {"cd": ["c", "d"]})
    tables, names = [table, coarse], ["fine", "coarse"]
    dear = [np.array([90, 1, 90, 2, 90.0]), np.array([90, 1, 1, 90.0])]
    costs = [lambda _, price=price: price for price in dear]
    careful = dk.suppress(tables, RULE, cost=costs, name=names)
    repaired = dk.suppress(tables, RULE, cost=costs, name=names, method=blind_to_other_tables)
    assert careful[0].certificate.repaired == 0
    assert repaired[0].certificate.repaired > 0
    for results in (careful, repaired):
        shown = Publication(tuple(r.published for r in results))
        found = examine(shown)
        assert (found.upper - found.lower >= 1).all()


def test_a_protector_with_wrong_joint_equations_publishes_nothing(register, monkeypatch):
    """Even the repair is blind here: the proof refuses, or what is hidden at last is enough."""

    def untied(tables, *options):
        system = joint_system(tables, *options)
        inside = np.diff(system.equations.indptr) != 2
        return replace(system, equations=system.equations[inside])

    monkeypatch.setattr("diskret.protect.earlier_tables.joint_system", untied)
    fine = pa.table({"x": list("abcd"), "n": [1, 6, 8, 50]})
    table = dk.Table.from_cells(fine, by={"x": None}, count="n")
    coarse = table.recode("x", {"bc": ["b", "c"]})
    dear = [np.array([90, 1, 90, 2, 90.0]), np.array([90, 1, 50, 1.0])]
    costs = [lambda _, price=price: price for price in dear]
    tables, names = [table, coarse], ["fine", "coarse"]
    results = dk.suppress(tables, RULE, cost=costs, name=names)
    found = examine(Publication(tuple(r.published for r in results)))
    assert (found.upper - found.lower >= 1).all()
    stays = [{"x": ["Total", "d"]}, {"x": ["Total", "bc"]}]
    with pytest.raises(ProofError, match="narrowed down too far after all repairs"):
        dk.suppress(tables, RULE, cost=costs, name=names, frozen=list(map(pa.table, stays)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda result: {"results": result}, "is a single result"),
        (lambda result: {"results": [result.table]}, "not an object of type 'Table'"),
        (lambda result: {"results": []}, "nothing to write"),
        (
            lambda result: {"formats": "excel"},
            "csv, parquet, xlsx, html, px, jsonstat, sdmx1, sdmx2, geojson, geoparquet, gpkg, map, "
            "script, not 'excel'",
        ),
        (lambda result: {"derived": dk.derive.share(result, "r")}, r"derived=\[count_share\]"),
        (lambda result: {"derived": [result]}, "made with dk.derive .* type 'Result'"),
    ],
)
def test_what_cannot_be_written_is_told(given, message, tmp_path):
    cells = pa.table({"r": ["N", "S", "W"], "n": [7, 2, 5]})
    result = dk.suppress(dk.Table.from_cells(cells, by={"r": None}, count="n"), RULE)
    folder = tmp_path / "out"
    with pytest.raises(InputError, match=message):
        dk.write(**{"results": [result], "folder": folder, "keys": KEYS, **given(result)})
    assert not folder.exists()


def test_an_error_about_data_names_the_table_of_the_job(tmp_path):
    (tmp_path / "firms.csv").write_text("region,sales\nN,1\nS,2\n", encoding="utf-8")
    tables = """
[[tables]]
by = { region = "flat" }
rules = { minimum_frequency = { n = 3 } }
[[tables]]
name = "by sector"
by = { sector = "flat" }
rules = { minimum_frequency = { n = 3 } }
"""
    (tmp_path / "job.toml").write_text(
        f'records = {{ path = "firms.csv" }}{tables}', encoding="utf-8"
    )
    with pytest.raises(InputError, match="job.toml, line 7, table 'by sector': .*column 'sector'"):
        run_job(read_job(tmp_path / "job.toml"), keys=KEYS)


def people(where=None, by=("region",)):
    """10 and 12 women and men in the regions, and few of the third sex in N."""
    numbers = {("N", "f"): 4, ("N", "m"): 6, ("N", "d"): 1, ("S", "f"): 5, ("S", "m"): 7}
    rows = [at for at, n in numbers.items() for _ in range(n)]
    frame = pa.table({"region": [r for r, _ in rows], "sex": [s for _, s in rows]})
    return dk.tabulate(frame, by=dict.fromkeys(by), where=where)


def test_filters_without_common_records_are_protected_together():
    """All less women less men would be the one of the third sex."""
    tables = [people(), people({"sex": "f"}), people({"sex": "m"}), people({"sex": "d"})]
    results = dk.suppress(tables, RULE, name=["all", "f", "m", "d"])
    found = examine(results[0].certificate.proof.publication)
    assert (found.lower < found.upper).all()
    hidden = [bool(r.published.suppressed[1]) for r in results]
    assert hidden[3] and sum(hidden) > 1


def test_a_table_of_its_own_filter_is_protected_beside_all():
    fewer = dk.Hierarchy.flat(["d", "f", "m"])
    both = people(by=("region", "sex")), people(by=("region", "sex"))
    inside = replace(
        dk.Table.from_cells(
            pa.table({"sex": ["d", "f"], "n": [1, 9]}), by={"sex": fewer}, count="n"
        ),
        where=Population((("sex", ("d", "f")),)),
    )
    one, two = dk.suppress([both[0], inside], RULE, name=["all", "some"])
    sexes = one.table.dimensions[1].hierarchy
    for code in ("d", "f"):
        at = sexes.position[code], fewer.position[code]
        assert one.published.suppressed[0, at[0]] == two.published.suppressed[at[1]]
    assert not two.published.suppressed[fewer.position["m"]]


def test_a_part_of_a_sum_is_protected_where_the_other_is_not_tabulated():
    """Domestic revenue can be no more than revenue, although exports stand by region only."""
    firms = pa.table(
        {
            "region": ["N", "N", "N", "S", "S", "S"],
            "size": ["1", "2", "2", "1", "2", "2"],
            "revenue": [60, 50, 40, 500, 6, 4],
            "domestic": [59, 25, 20, 490, 5, 3],
            "export": [1, 25, 20, 10, 1, 1],
        }
    )

    def of(measure, *names):
        return dk.tabulate(firms, by=dict.fromkeys(names), value=measure, largest=2)

    tables = [of("revenue", "region"), of("domestic", "region"), of("export", "size")]
    revenue, domestic, _ = dk.suppress(
        tables, dk.rules.PPercent(10), sums=["revenue = domestic + export"]
    )
    assert domestic.published.suppressed[1:].all()
    system = joint_system(tables, domestic.certificate.proof.publication.sums)
    assert not (system.equations @ system.value).any()
    lower, upper = (getattr(domestic.certificate.proof.examination, s) for s in ("lower", "upper"))
    assert (lower < upper).all() and revenue.published.suppressed[1:].all()


def forget_tables(content):
    return {k: v for k, v in content.items() if k not in ("tables", "sums", "refined_to")}


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        # an attack on each alone tells less, or nothing else than what the texts say
        (forget_tables, "does not say what is and is not|common cells|gives other intervals"),
        (lambda c: {**c, "not_claimed": {"en": [], "de": []}}, "its text was changed"),
        (lambda c: {**c, "claimed": c["not_claimed"]}, "its text was changed"),
        (lambda c: {**c, "refined_to": "atoms"}, "its text was changed"),
        (lambda c: {**c, "attacker": "nobody"}, "its text was changed"),
    ],
)
def test_a_certificate_that_says_something_else_is_refused(folder, forge, message):
    for path in (folder / "public").glob("*.certificate.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(forge(content)), encoding="utf-8")
    reseal(folder, KEYS)
    with pytest.raises(VerificationError, match=message):
        verify(folder / "public")


def test_releases_of_tables_protected_apart_do_not_pass_as_one(register, tmp_path):
    """Files of two releases, each fine by itself, are put into one folder."""
    one, two = turnover(register, "nace", "size"), turnover(register, "nace", "region")
    place = tmp_path / "both"
    place.mkdir()
    for table, name in [(one, "one"), (two, "two")]:
        result = dk.suppress(table, dk.rules.PPercent(10), attacker=dk.Attacker(), name=name)
        folder = result.write(tmp_path / name, ["csv"], keys=KEYS)
        for path in (folder / "public").iterdir():
            path.rename(place / path.name)
    with pytest.raises(VerificationError, match="common cells"):
        verify(place)


def test_blamed_cells_are_named_with_their_table():
    cells = pa.table({"r": ["a", "a", "b", "b"], "c": ["x", "y", "x", "y"], "n": [1, 5, 7, 9]})
    both = dk.Table.from_cells(cells, by={"r": None, "c": None}, count="n")
    rows = dk.Table.from_cells(pa.table({"r": ["a", "b"], "n": [6, 16]}), by={"r": None}, count="n")
    stays = np.zeros(both.shape, dtype=bool)
    stays[1, 2] = True  # a, y
    frozen = [pa.table({"r": ["a"]}), stays]
    with pytest.raises(ProtectionError, match="frozen in rows, both") as told:
        dk.suppress([rows, both], RULE, frozen=frozen, name=["rows", "both"])
    assert told.value.blamed == (1, 5)
    assert told.value.blamed_in == ("rows", "both")
