"""A safe file leaves with a proof, or not at all; what was written can be checked again."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safe_files import KEYS, TABLES, persons, replaced, safe_records
from sealing import reseal

import diskret as dk
from diskret.anonymize.verb import Step
from diskret.attack.microdata.claims import KAnonymity, Safe
from diskret.publish.digests import digest
from diskret.publish.verify.folder import verify

NAME = "microdata"


@pytest.fixture
def out(tmp_path):
    return replaced().release(Safe(), keys=KEYS).write(tmp_path / "out")


def content(folder, side="public"):
    return json.loads((folder / side / f"{NAME}.certificate.json").read_text(encoding="utf-8"))


def rewrite(folder, change, side="public"):
    changed = content(folder, side)
    change(changed)
    path = folder / side / f"{NAME}.certificate.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    reseal(folder, KEYS)


def forge_records(folder, change):
    """Change the records, and every digest that speaks of them."""
    for ending in ("csv", "html"):
        (folder / "public" / f"{NAME}.{ending}").unlink()
    path = folder / "public" / f"{NAME}.parquet"
    table = change(pq.read_table(path))
    pq.write_table(table.replace_schema_metadata(None), path, store_schema=False)
    rewrite(folder, lambda c: c.update(files={path.name: digest(path)}, records=table.num_rows))


def test_files_and_columns(out):
    assert {p.name for p in (out / "public").iterdir()} == {
        f"{NAME}.{ending}" for ending in ("csv", "parquet", "html", "certificate.json")
    }
    kept = ("controlled.parquet", "settings.json", "report.html", "certificate.json")
    assert {p.name for p in (out / "internal").iterdir()} == {
        "content.json",
        *(f"{NAME}.{ending}" for ending in kept),
    }
    found = content(out)
    assert found["family"] == "safe"
    assert found["columns"] == ["town", "age", "sex", "building"]
    assert found["shown"]["minimum"] == 3
    assert found["shown"]["tables"] == {"": TABLES, "building": [["town"]]}


def test_figures_are_those_of_the_deviations():
    md = replaced()
    made = md.release(Safe(), keys=KEYS)
    found = md.deviations().controlled
    assert made.deviations.figures() == found.figures()
    inside = made.certificate.figures
    assert inside["largest"] == found.overall.largest == made.certificate.shown["largest"]
    assert inside["mean"] == pytest.approx(found.overall.mean)
    assert (inside["cells"], inside["exact"]) == (found.overall.cells, found.overall.unchanged)
    assert inside["became_empty"] == found.zeros.false_zeros
    tables = [table["largest"] for table in inside["tables"]]
    assert tables == found.by_table.largest.tolist()


def test_nothing_is_told_of_few_cells():
    shown = replaced().release(Safe(), keys=KEYS).certificate.shown["by_size_in_file"]
    found = replaced().deviations().controlled
    assert (found.by_size.cells < 30).any()
    assert all(row["cells"] >= 30 for row in shown)
    records = replaced().table.to_pylist()
    cells = sum(len({tuple(one[v] for v in table) for one in records}) for table in TABLES)
    cells += len({one["town"] for one in records if one["building"]})
    assert sum(row["cells"] for row in shown) == cells < found.overall.cells
    assert (shown[0]["from"], shown[-1]["to"]) == (1, 999)
    few = replaced(tables=["sex"]).release(Safe(), keys=KEYS).certificate.shown
    assert few["by_size_in_file"] == []


def test_public_files_name_nothing_of_the_office(out):
    page = (out / "public" / f"{NAME}.html").read_text(encoding="utf-8")
    assert "How far tables of this file deviate" in page
    assert "town × age" in page
    assert "town, counting building" in page
    text = page + json.dumps(content(out))
    assert "Meyer" not in text
    assert "exact" not in json.dumps(content(out)["shown"])
    cells = pq.read_table(out / "internal" / f"{NAME}.controlled.parquet")
    assert cells.column_names == ["table", "code 1", "code 2", "original"]
    assert "Meyer" not in str(cells.to_pydict())


def test_reports_show_the_printed_tables(tmp_path):
    made = replaced().release(Safe(), keys=KEYS)
    for language, words in {
        "en": ("Cells by deviation and number of variables of the table", "mean deviation"),
        "de": ("Felder nach Abweichung und Zahl der Merkmale der Tabelle", "mittlere Abweichung"),
    }.items():
        folder = made.write(tmp_path / language, language=language)
        inside = (folder / "internal" / f"{NAME}.report.html").read_text(encoding="utf-8")
        public = (folder / "public" / f"{NAME}.html").read_text(encoding="utf-8")
        assert all(word in inside for word in words)
        assert words[0] not in public


@pytest.mark.parametrize("formats", [["csv"], ["parquet"], ["csv", "parquet", "html"]])
def test_what_was_written_is_counted_again(tmp_path, formats):
    folder = replaced().release(Safe(), keys=KEYS).write(tmp_path / "out", formats)
    lines = verify(folder, keys=KEYS).lines
    assert any("each at least 3 times" in line for line in lines)
    assert any("5 controlled tables counted again" in line for line in lines)
    (folder / "internal").rename(tmp_path / "elsewhere")
    assert len(verify(folder).lines) < len(lines)


def test_cells_at_both_ends_of_a_class_are_counted_in_it(tmp_path):
    """Thirty towns, as few as are shown, of 10 to 99 persons, one more than there were."""
    towns, sizes = [f"t{i:02}" for i in range(30)], np.array([10, 99, *[50] * 28])
    before, after = (pa.table({"town": np.repeat(towns, sizes - less)}) for less in (1, 0))
    md = dk.Microdata(before).replaced(after, Step("safe", {}, {"tables": [["town"]]}))
    made = md.release(Safe(), keys=KEYS)
    [row] = made.certificate.shown["by_size_in_file"]
    assert (row["from"], row["to"], row["cells"]) == (10, 99, 30)
    assert verify(made.write(tmp_path / "out", ["csv"]), keys=KEYS).checked_internal


def test_there_is_no_link_and_nothing_else_to_choose():
    made = replaced().release(Safe(), keys=KEYS)
    with pytest.raises(dk.DiskretError, match="stand for nobody"):
        _ = made.link
    assert made.public.num_rows == replaced().n
    for option in (
        {"columns": ["town"]},
        {"attributes": ["sex"]},
        {"household": True},
        {"id": True},
        {"shuffle": False},
        {"level": "factual"},
    ):
        with pytest.raises(dk.DiskretError, match=f"{next(iter(option))}= is no option"):
            replaced().release(Safe(), keys=KEYS, **option)


def test_same_records_same_release():
    frame = persons()
    turned = frame.take(pa.array(np.arange(frame.num_rows)[::-1]))
    first = replaced(frame).release(Safe(), keys=KEYS)
    assert first.table.equals(replaced(turned).release(Safe(), keys=KEYS).table)


# ── what must not leave ─────────────────────────────────────────────────────────────


def a_pair(count):
    count[np.flatnonzero(count)[0]] = 2


def one_more(count):
    count[int(np.argmax(count))] += 40


@pytest.mark.parametrize(
    ("md", "claim", "message"),
    [
        (lambda: replaced(change=a_pair), Safe(), "1 of .* occurs fewer than 3 times, e.g"),
        (replaced, Safe(5), "occur fewer than 5 times"),
        (
            lambda: replaced(change=one_more),
            Safe(largest=20),
            r"deviates by more than 20, e.g. \('Nord'",
        ),
        (lambda: replaced(exact=[["sex"]]), Safe(), "'f'|'m'.*exact="),
        (lambda: replaced(exact=[{"sex": "f"}]), Safe(), r"1 cell of the table sex .*\('f'\)"),
        (lambda: replaced(exact=[["town"]]), Safe(), "table town had to keep their counts"),
        (replaced, Safe(exact=[()]), r"the table total had to keep .*\(all\): "),
        (replaced, Safe(exact=[["age"]]), "none of the controlled tables"),
        (replaced, [Safe(), KAnonymity(3)], "Safe stands alone"),
        (replaced, KAnonymity(3), "Safe stands alone"),
    ],
)
def test_what_is_not_safe_does_not_leave(md, claim, message):
    with pytest.raises(dk.DiskretError, match=message):
        md().release(claim, keys=KEYS)


def test_records_of_the_original_are_no_safe_file():
    md = dk.Microdata(persons(), keys=["town"])
    with pytest.raises(dk.DiskretError, match="protect them with md.safe first"):
        md.release(Safe(tables=["town"]), keys=KEYS)
    with pytest.raises(dk.DiskretError, match="nobody said which tables"):
        md.replaced(safe_records(persons()), Step("other", {})).release(Safe(), keys=KEYS)


def test_a_cell_that_was_empty_stays_empty_unless_it_may_open():
    frame = persons()
    table = safe_records(frame)
    step = Step("safe", {}, {"tables": TABLES})
    more = table.slice(0, 3).set_column(0, "town", pa.array(["Ost"] * 3))
    md = dk.Microdata(frame).replaced(pa.concat_tables([table, more]), step)
    with pytest.raises(dk.DiskretError, match=r"1 cell .* empty in the original.*\('Ost'\): 3"):
        md.release(Safe(), keys=KEYS)
    made = md.release(Safe(opened=True), keys=KEYS)
    assert made.certificate.figures["were_empty"] == 2


def test_identifiers_do_not_leave_in_disguise():
    frame = pa.table({"name": ["Meyer", "Meier"] * 3, "town": ["N", "S"] * 3})
    md = dk.Microdata(frame, identifiers=["name"])
    made = md.replaced(
        frame.rename_columns(["who", "town"]), Step("safe", {}, {"tables": ["town"]})
    )
    with pytest.raises(dk.DiskretError, match="holds the values of the direct identifier 'name'"):
        made.release(Safe(), keys=KEYS)


def test_nothing_is_written_if_the_public_part_holds_more(tmp_path, monkeypatch):
    from diskret.publish import write as module

    real = module.write_json

    def with_more(content_, path):
        if "inputs" in content_:
            content_["shown"]["exact"] = ["sex"]
        real(content_, path)

    monkeypatch.setattr(module, "write_json", with_more)
    with pytest.raises(dk.DiskretError, match=re.escape("shown.exact")):
        replaced().release(Safe(), keys=KEYS).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ── what was touched afterwards ─────────────────────────────────────────────────────


def refused(folder, message):
    with pytest.raises(dk.DiskretError, match=message):
        verify(folder, keys=KEYS)


def test_a_forged_pair_is_found(out):
    def without_one_of_three(table):
        names = table.column_names
        alike = table.append_column("at", pa.array(range(table.num_rows))).group_by(names)
        rows = alike.aggregate([("at", "count"), ("at", "min")]).to_pylist()
        at = next(row["at_min"] for row in rows if row["at_count"] == 3)
        return pa.concat_tables([table.slice(0, at), table.slice(at + 1)])

    forge_records(out, without_one_of_three)
    refused(out, "does not hold .* 1 of .* occurs fewer than 3 times")


def test_forged_records_without_a_pair_are_found(out):
    forge_records(out, lambda table: pa.concat_tables([table, table.slice(0, 1)]))
    refused(out, "office's counts of the original are not those that were released")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["shown"].update(minimum=4), "occur fewer than 4 times"),
        (lambda c: c["shown"].update(largest=1), "do not fit together|is and is not claimed"),
        (lambda c: c["shown"].update(tables={"": [["income"]]}), "do not fit together"),
        (lambda c: c["shown"]["by_size_in_file"][0].update(cells=58), "do not fit together"),
        (lambda c: c["claimed"]["en"].pop(1), "is and is not claimed"),
        (
            lambda c: c["claimed"]["de"].append("Keines weicht um mehr als 1 ab."),
            "is and is not claimed",
        ),
        (
            lambda c: c["shown"]["by_size_in_file"][0].update(mean=0.01),
            "microdata.html does not show",
        ),
        (lambda c: c.update(shown={}), "cannot be counted"),
        (lambda c: c.update(family="microdata"), "figures that are not"),
    ],
)
def test_a_falsified_certificate_is_refused(out, change, message):
    rewrite(out, change)
    refused(out, message)


def test_other_deviations_are_found_by_the_office(tmp_path):
    out = replaced().release(Safe(), keys=KEYS).write(tmp_path / "out", ["csv"])
    rewrite(out, lambda c: c["shown"]["by_size_in_file"][0].update(mean=0.01))
    refused(out, "documents other deviations")


def test_changed_counts_of_the_original_are_refused(out):
    path = out / "internal" / f"{NAME}.controlled.parquet"
    cells = pq.read_table(path)
    count = cells["original"].to_numpy().copy()
    count[0] += 1
    changed = cells.set_column(3, "original", pa.array(count))
    pq.write_table(changed.replace_schema_metadata(None), path, store_schema=False)
    refused(out, "changed: internal/microdata.controlled.parquet")
    reseal(out, KEYS)
    refused(out, "office's counts of the original are not those that were released")


def test_a_claim_that_was_changed_inside_is_checked(out):
    rewrite(out, lambda c: c["claims_made"][0].update(largest=0), "internal")
    refused(out, "a claim does not hold: .* deviates? by more than 0")
