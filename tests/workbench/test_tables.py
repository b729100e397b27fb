"""The table at the workbench: what rules find, what is told of cells, judged by the records."""

import csv
from collections import defaultdict

import pytest
from benches import draft, opened

import diskret as dk
from diskret.workbench.columns import columns_of


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("bench"))


def contributions(folder):
    """By hand: the cell of the table → the contributions to it, the largest first."""
    cells = defaultdict(list)
    with (folder / "firms.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for code in (row["code"], "Total"):
                for size in (row["size"], "Total"):
                    cells[code, size].append(int(row["turnover"]))
    return {cell: sorted(found, reverse=True) for cell, found in cells.items()}


def unsafe_by_hand(given, p, n):
    return len(given) < n or sum(given[2:]) * 100 < p * given[0]


@pytest.mark.parametrize(("p", "n"), [(10, 3), (40, 2), (1, 25), (99, 60)])
def test_the_number_of_unsafe_cells_is_that_of_the_records(bench, p, n):
    own, page = bench
    rules = {"p_percent": {"p": p}, "minimum_frequency": {"n": n}}
    told = page.post("/api/rules", json={"table": 0, "rules": rules}).json()
    cells = contributions(own.session.folder)
    assert told["unsafe"] == sum(unsafe_by_hand(one, p, n) for one in cells.values())
    assert told["each"]["minimum_frequency"] == sum(len(one) < n for one in cells.values())
    assert told["cells"] == 7 * 4


def test_only_the_rule_is_computed_again(bench, monkeypatch):
    _, page = bench
    page.get("/api/unsafe")

    def never(*args, **kwargs):
        raise AssertionError("tabulated again")

    monkeypatch.setattr("diskret.workbench.tables.tables_of", never)
    rules = {"dominance": {"n": 1, "k": 60}}
    assert page.post("/api/rules", json={"table": 0, "rules": rules}).status_code == 200


def test_changed_records_are_tabulated_again(tmp_path):
    _, page = opened(tmp_path)
    before = page.get("/api/table").json()["value"][0]
    with (tmp_path / "firms.csv").open("a", encoding="utf-8") as file:
        file.write("F99999,A1,s,1000\n")
    assert page.get("/api/table").json()["value"][0] == before + 1000


def test_a_rule_that_looks_at_more_contributions_gets_them(bench):
    own, page = bench
    rules = {"dominance": {"n": 9, "k": 80}}
    told = page.post("/api/rules", json={"table": 0, "rules": rules}).json()
    cells = contributions(own.session.folder)
    assert told["unsafe"] == sum(sum(one[:9]) * 100 > 80 * sum(one) for one in cells.values())


def test_every_cell_is_told_as_the_records_say(bench):
    own, page = bench
    page.put("/api/draft", json={"draft": draft()})
    told = page.get("/api/table").json()
    codes = [one["codes"] for one in told["dimensions"]]
    cells = contributions(own.session.folder)
    at = 0
    for code in codes[0]:
        for size in codes[1]:
            given = cells.get((code, size), [])
            assert told["value"][at] == sum(given)
            hit = bool(given) and unsafe_by_hand(given, 10, 3)
            assert told["states"][at] == ("E" if not given else "P" if hit else ".")
            panel = page.get(f"/api/cell?at={at}").json()
            assert [one["code"] for one in panel["codes"]] == [code, size]
            assert [one["value"] for one in panel["contributions"]] == given[:5]
            if given:
                assert panel["contributions"][0]["share"] == given[0] / sum(given)
            assert panel["counts"]["units"] == len(given)
            at += 1


def test_values_beyond_what_a_browser_holds_are_told_as_texts(tmp_path):
    text = f"code,v\na,{2**60}\na,1\nb,3\n"
    (tmp_path / "big.csv").write_text(text, encoding="utf-8")
    _, page = opened(tmp_path)
    table = {"by": {"code": "flat"}, "value": "v", "rules": {"minimum_frequency": {"n": 2}}}
    job = {"records": {"path": "big.csv"}, "tables": [table]}
    page.put("/api/draft", json={"draft": job})
    assert page.get("/api/table").json()["value"] == [str(2**60 + 4), str(2**60 + 1), "3"]


@pytest.mark.parametrize("at", [-1, 28, 10**12])
def test_there_is_no_cell_beside_the_table(bench, at):
    answer = bench[1].get(f"/api/cell?at={at}")
    assert answer.status_code == 422


def test_what_is_wrong_with_a_draft_is_said_in_the_language_asked_for(tmp_path):
    _, page = opened(tmp_path, language="de")
    answer = page.post("/api/rules", json={"table": 0, "rules": {"p_percent": {"p": -1}}})
    assert answer.status_code == 422 and "Zeile" in answer.json()["error"]
    page.put("/api/language", json={"language": "en"})
    assert "line" in page.get("/api/unsafe").json()["error"]


def test_errors_that_nobody_meant_tell_their_kind_only(bench, monkeypatch):
    def broken(*args):
        raise ValueError("4711 is a secret")

    monkeypatch.setattr("diskret.workbench.bench.Bench.unsafe", broken)
    answer = bench[1].get("/api/unsafe")
    assert (answer.status_code, answer.json()) == (500, {"error": "ValueError"})


# ── columns and trees ────────────────────────────────────────────────────────────────


def test_uses_are_guessed(bench):
    told = bench[1].get("/api/columns").json()
    assert told["records"] == 400
    roles = {one["name"]: one["role"] for one in told["columns"]}
    expected = {"firm_id": "unit", "code": "dimension", "size": "dimension", "turnover": "value"}
    assert roles == expected


def test_codes_with_leading_zeros_are_no_values(tmp_path):
    (tmp_path / "a.csv").write_text("k,v\n" + "".join(f"0{i},{i}\n" for i in range(99)), "utf-8")
    found = {
        one["name"]: one["role"] for one in columns_of(dk.DataFile(tmp_path / "a.csv"))["columns"]
    }
    assert found["k"] != "value" and found["v"] == "value"


def test_a_tree_by_the_beginning_of_the_code_is_a_file_that_the_job_names(bench):
    _, page = bench
    page.put("/api/draft", json={"draft": draft()})
    made = page.post("/api/tree", json={"column": "code", "kind": "prefix", "widths": [1, 1]})
    assert made.status_code == 200
    codes = [(one["code"], one["parent"]) for one in made.json()["tree"]]
    assert codes[:4] == [("Total", ""), ("A", "Total"), ("A1", "A"), ("A2", "A")]
    now = page.get("/api/state").json()["draft"]
    assert now["tables"][0]["by"]["code"] == "code"
    assert now["hierarchies"] == {"code": {"file": "code.tree.csv"}}
    told = page.get("/api/table").json()
    assert "B" in told["dimensions"][0]["codes"]
    page.post("/api/tree", json={"column": "code", "kind": "flat"})
    now = page.get("/api/state").json()["draft"]
    assert now == draft()


def test_an_edited_tree_must_be_one(bench):
    _, page = bench
    rows = [{"code": "A", "parent": "B"}, {"code": "B", "parent": "A"}]
    answer = page.post("/api/tree", json={"column": "code", "kind": "rows", "rows": rows})
    assert answer.status_code == 422


def test_trees_of_columns_of_like_names_lie_in_files_of_their_own(tmp_path):
    _, page = opened(tmp_path)
    (tmp_path / "like.csv").write_text("a b,a_b,A-B\n" + "x1,y1,z1\nx2,y2,z2\n" * 9, "utf-8")
    table = {"by": {"a b": "flat", "a_b": "flat"}, "rules": {"minimum_frequency": {"n": 2}}}
    job = {"records": {"path": "like.csv"}, "tables": [table]}
    page.put("/api/draft", json={"draft": job})
    for column in ("a b", "a_b"):
        asked = {"column": column, "kind": "prefix", "widths": [1, 1]}
        assert page.post("/api/tree", json=asked).status_code == 200
    codes = [one["codes"] for one in page.get("/api/table").json()["dimensions"]]
    assert codes == [["Total", "x", "x1", "x2"], ["Total", "y", "y1", "y2"]]
