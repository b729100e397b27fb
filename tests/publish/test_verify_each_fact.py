"""One fact of a small release is altered, all that anyone can make anew is: what is said of it.

Releases block by block, withheld values, records of every type, workbooks of every look, figures
of another release, results of researchers.
"""

import datetime
import json
import os
import re
import shutil
import zipfile
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from every_family import BY, KEYS, RULE, SMALL, counts, edition, microdata_as_text, safe
from sealing import reseal
from test_allowlist_streamed import OUTLINE, blocks
from test_verify_forged import refresh

import diskret as dk
from diskret.attack.microdata.claims import KAnonymity, NoIdentifiers, RiskBelow
from diskret.attack.said_of_changed import may_say
from diskret.errors import DiskretError, InputError, VerificationError
from diskret.publish.bundle import Leaving, write_public
from diskret.publish.formats.data_files import write_blocks
from diskret.publish.formats.public_workbook import write_xlsx
from diskret.publish.formats.symbols import SymbolSet
from diskret.publish.json_files import write_json
from diskret.publish.staging import Stage
from diskret.publish.verify.folder import verify
from diskret.tables import Published
from diskret.tables.outline import Block
from diskret.tables.public_files import structure
from diskret.texts import in_languages, sentence

CERTIFICATE = ".certificate.json"


def content(path):
    return json.loads(path.read_text("utf-8"))


def put(path, **more):
    path.write_text(json.dumps(content(path) | more), encoding="utf-8")


def refused(folder, words, **options):
    with pytest.raises(VerificationError, match=words):
        verify(folder, keys=KEYS, **options)


def sealed(folder):
    reseal(folder, KEYS)
    return folder


# ── releases ────────────────────────────────────────────────────────────────────────


def streamed(folder):
    """Cells that nobody holds, as they are written where records lie in an engine."""
    public, internal = folder / "public", folder / "internal"
    for part in (public, internal):
        part.mkdir(parents=True)
    write_blocks(blocks(), public / "persons.parquet")
    write_json(structure(OUTLINE), public / "persons.structure.json")
    claimed, not_claimed = next(may_say("cell_key", {}))
    said = {"claimed": claimed, "not_claimed": not_claimed, "inputs": {}, "files": {}}
    said["files"] = dict.fromkeys(("persons.parquet", "persons.structure.json"), "")
    said |= {"schema": "diskret/certificate/1", "family": "cell_key", "name": "persons"}
    write_json(said | {"software": "diskret 0.1.0"}, public / f"persons{CERTIFICATE}")
    write_json({"true_counts": "not fetched"}, internal / f"persons{CERTIFICATE}")
    refresh(public)
    return sealed(folder)


def withheld(folder, formats=("csv",)):
    """Counts changed at random, of which small ones are withheld."""
    region = [r for r, n in zip("NSW", (30, 20, 1), strict=True) for _ in range(n)]
    records = pa.table({"region": region, "key": [i * 2654435761 % 2**32 for i in range(51)]})
    ptable = dk.PerturbationTable.maximum_entropy(max_noise=2, variance=1)
    table = dk.tabulate(records, by={"region": None}, record_key="key")
    result = dk.perturb(table, ptable, threshold=5, name="persons")
    return result.write(folder, formats, keys=KEYS)


def twelve(number, kind):
    """Values of a kind, as many different ones as asked for, some missing."""
    day = datetime.date(2025, 1, 31)
    of = {
        "whole": lambda i: 3 * i,
        "decimal": lambda i: i / 4,
        "date": lambda i: day + datetime.timedelta(days=i),
        "text": lambda i: f"t{i}",
        "logical": lambda i: i % 2 == 0,
    }[kind]
    return [None, *(of(i * 7 % number) for i in range(59))]


def every_type(folder, formats=("csv", "html"), **options):
    """Columns of all types with few, twelve, and more values."""
    frame = {
        f"{kind} {number}": twelve(number, kind)
        for kind, numbers in {
            "whole": (12, 13),
            "decimal": (12, 20),
            "date": (5, 30),
            "text": (12, 13),
            "logical": (2,),
        }.items()
        for number in numbers
    }
    frame |= {"k": ["a", "b"] * 30, "k2": ["x"] * 60, "w": [2.5] * 60}
    md = dk.Microdata(pa.table(frame), keys=["k", "k2"], weight="w")
    return md.release([KAnonymity(3)], keys=KEYS, attributes=[*frame][:-3], **options).write(
        folder, formats
    )


def typed(folder):
    return every_type(folder, ("parquet", "html"), weight=True)


def in_order(folder):
    return every_type(folder, shuffle=False, weight=False)


def thousands(folder, **options):
    """Intervals of more than a thousand, in German, with symbols of the office."""
    cells = SMALL.set_column(2, "firms", pa.array([17_000, 2_000, 11_000, 15_000, 1_000, 12_000]))
    table = dk.Table.from_cells(cells.drop_columns("sales"), by=BY, count="firms")
    rule = dk.rules.MinimumFrequency(3_000)
    options = {"intervals": True, "language": "de"} | options
    return dk.write([dk.suppress(table, rule, name="firms")], folder, ["csv", "xlsx"], keys=KEYS,
                    **options)  # fmt: skip


def own_symbols(number, folder, intervals=False):
    marks = {"( )": "geschützt", "—": "leer"} | {f"S{i}": f"Wort {i}" for i in range(number - 2)}
    symbols = SymbolSet("own", "( )", "—", {"en": marks, "de": marks})
    return dk.write([dk.suppress(counts(), RULE, name="firms")], folder, ["csv", "xlsx"],
                    keys=KEYS, symbols=symbols, intervals=intervals)  # fmt: skip


def exchanged(folder):
    return dk.suppress(counts(), RULE, name="firms").write(folder, ["csv", "px"], keys=KEYS)


def changes(folder):
    """Growth since a year that lies elsewhere, beside the table."""
    folder.mkdir()
    made = []
    for vintage, first in (("2024", 17), ("2025", 19)):
        firms = pa.array([first, 12, 11, 15, 9, 12])
        cells = SMALL.set_column(2, "firms", firms).drop_columns("sales")
        table = dk.Table.from_cells(cells, by=BY, count="firms", vintage=vintage)
        made.append(dk.suppress(table, RULE, name="firms"))
    before, now = made
    before.write(folder / "2024", ["csv"], keys=KEYS)
    growth = dk.derive.growth(now, before)
    return dk.write([now], folder / "2025", ["csv", "xlsx", "px"], keys=KEYS, derived=[growth],
                    combined="all", releases=[folder / "2024"])  # fmt: skip


def results(folder):
    """What a desk lets researchers take with them."""
    stage = Stage(folder / "public", folder / "internal")
    (stage.public / "checksums").mkdir(parents=True)
    stage.internal.mkdir()
    when = "2026-01-31T12:00:00+00:00"
    write_public(stage, [Leaving("towns", "table", {"towns.csv": b"town,n\nA,11\n"}, when, False)])
    return sealed(folder)


def apart(folder):
    """Two tables with common cells, each attacked alone."""
    folder.mkdir()
    fine = dk.suppress(counts(), RULE, name="fine")
    cells = SMALL.drop_columns("sales").group_by("region").aggregate([("firms", "sum")])
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms_sum")
    fine.write(folder / "one", ["csv"], keys=KEYS)
    dk.suppress(table, RULE, name="coarse").write(folder / "two", ["csv"], keys=KEYS)
    return folder


def scripted(folder):
    return dk.suppress(counts(), RULE, name="firms").write(folder, ["csv", "script"], keys=KEYS)


MADE = {
    made.__name__: made
    for made in (
        streamed, withheld, every_type, typed, in_order, thousands, exchanged, changes, results,
        apart, edition, scripted,
    )
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("facts")
    return cache(lambda name: MADE[name](home / name))


@pytest.fixture
def release(written, tmp_path):
    return lambda name: shutil.copytree(written(name), tmp_path / name)


@pytest.fixture
def public(written, tmp_path):
    """What anyone has."""
    return lambda name: shutil.copytree(written(name) / "public", tmp_path / "download")


# ── cells block by block ────────────────────────────────────────────────────────────


def test_a_streamed_table_is_read_block_by_block(release):
    assert verify(release("streamed"), keys=KEYS).lines == (
        "persons: files unchanged; values were changed as the certificate says; "
        "4 cells read block by block",
        "persons: nothing to compare with, because no true count was fetched",
    )


def test_damaged_blocks_are_refused(public):
    folder = public("streamed")
    path = folder / "persons.parquet"
    pq.write_table(pq.read_table(path).slice(1), path, store_schema=False)
    refresh(folder)
    refused(folder, r"persons\.parquet")


def test_true_values_that_are_not_there_were_not_fetched(release):
    folder = release("streamed")
    put(folder / "internal" / f"persons{CERTIFICATE}", true_counts="fetched")
    refused(sealed(folder), "does not say that no true count was fetched")
    (folder / "internal" / f"persons{CERTIFICATE}").write_text("[]")
    refused(sealed(folder), "does not say that no true count was fetched")


def test_what_is_said_to_add_up_is_held_at_once(public):
    """A certificate that shows something is not about blocks that nobody holds."""
    folder = public("streamed")
    claimed, not_claimed = next(may_say("cell_key", {"additive": True}))
    more = {"shown": {"additive": True}, "claimed": claimed, "not_claimed": not_claimed}
    put(folder / f"persons{CERTIFICATE}", **more)
    none = np.zeros(4, dtype=bool)
    block = Block(OUTLINE, 0, np.array([12, 7, 0, 5]), none, none)
    write_blocks(iter([block]), folder / "persons.parquet")
    refresh(folder)
    lines = verify(folder).lines
    assert lines == ("persons: files unchanged; values were changed as the certificate says",)
    path = folder / "persons.parquet"
    cells = pq.read_table(path)
    place = cells.column_names.index("count")
    values = [3, *cells["count"].to_pylist()[1:]]
    cells = cells.set_column(place, "count", pa.array(values, cells["count"].type))
    pq.write_table(cells, path, store_schema=False)
    refresh(folder)
    refused(folder, "says that the table adds up, but it does not")


# ── changed values ──────────────────────────────────────────────────────────────────


def test_of_withheld_values_nothing_is_compared(release):
    folder = release("withheld")
    assert ",suppressed" in (folder / "public" / "persons.csv").read_text("utf-8")
    first, last = verify(folder, keys=KEYS).lines
    assert first == "persons: files unchanged; values were changed as the certificate says"
    assert last.startswith("persons: 3 values and their noise compared; ")


def test_withheld_values_are_bound_by_the_fingerprint(release):
    folder = release("withheld")
    path = folder / "internal" / "persons.cells.csv"
    text = path.read_text("utf-8")
    assert re.search(r"^W,.*\b1,", text, re.M)
    path.write_text(re.sub(r"^(W,.*\b)1,", r"\g<1>2,", text, flags=re.M), encoding="utf-8")
    refused(sealed(folder), "the internal table is not the one that was released")


def test_a_line_of_an_exchange_format_is_compared(public):
    folder = public("exchanged")
    path = folder / "firms.px"
    text = path.read_text("utf-8-sig")
    assert "58" in text
    path.write_text(text.replace("58", "59"), encoding="utf-8")
    refresh(folder)
    refused(folder, r"firms\.px")


# ── records ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["every_type", "typed", "in_order"])
def test_a_page_shows_records_of_every_type(public, name):
    folder = public(name)
    verify(folder)
    page = folder / "microdata.html"
    text = page.read_text("utf-8")
    order = ("The order of the records is random and means nothing.",
             "The records are in the order of the original file.")  # fmt: skip
    weights = "<li>Results for the population need the weights in the file.</li>"
    for old, new in (
        ('<td class="n">12</td>', '<td class="n">11</td>'),
        ("<td>0 to 36</td>", "<td>0 to 35</td>"),
        ("<td>false, true</td>", "<td>true</td>"),
        (
            "</h2><p>No values were changed",
            "</h2><ul><li>Values</li></ul><p>No values were changed",
        ),
        order if name != "in_order" else order[::-1],
        ("</ul>", f"{weights}</ul>") if name == "in_order" else (weights, ""),
    ):
        assert old in text
        page.write_text(text.replace(old, new, 1), encoding="utf-8")
        refresh(folder)
        refused(folder, r"microdata\.html does not show")


def test_a_page_names_variables_that_were_changed_and_nothing_else(tmp_path):
    made = microdata_as_text(tmp_path / "out")
    folder = shutil.copytree(made / "public", tmp_path / "download")
    page = folder / "microdata.html"
    text = page.read_text("utf-8")
    [said] = re.findall(r"<li>([^<]* town)</li>", text)
    for new in (f"{said}, p", said.removesuffix("town"), "town"):
        page.write_text(text.replace(said, new, 1), encoding="utf-8")
        refresh(folder)
        refused(folder, r"microdata\.html does not show")
    both = text.replace(said, f"{said}, p = 5")
    page.write_text(both.replace("<b>town</b>", "<b>town, p = 5</b>"), encoding="utf-8")
    refresh(folder)
    refused(folder, r"microdata\.html does not show")
    both = text.replace(said, f"{said}, sex")  # which values were missing before nobody can tell
    page.write_text(both.replace("<b>town</b>", "<b>town, sex</b>"), encoding="utf-8")
    refresh(folder)
    verify(folder)


def test_a_page_does_not_call_text_a_number(public):
    folder = public("every_type")
    page = folder / "microdata.html"
    text = page.read_text("utf-8")
    kinds = dict(re.findall(r'<tr><th scope="row">([^<]*)</th><td>([^<]*)</td>', text))
    row = '<tr><th scope="row">{}</th><td>{}</td>'
    old, new = (row.format("text 12", kinds[of]) for of in ("text 12", "whole 12"))
    page.write_text(text.replace(old, new), encoding="utf-8")
    refresh(folder)
    refused(folder, "text 12 does not hold what the page says it does")


COUNTED = "counted again in 60 records"
NOTHING = "60 records; it claims nothing that readers can count"


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([KAnonymity(3)], f"{COUNTED}: 3-anonymity by k, k2"),
        ([KAnonymity(2, size=1)], f"{COUNTED}: 2-anonymity by k, k2, any 1 of them"),
        ([RiskBelow(0.5)], f"{NOTHING}; only the office can check what else it claims (1)"),
        ([NoIdentifiers()], NOTHING),
    ],
)  # fmt: skip
def test_what_was_counted_and_what_only_the_office_can_check_is_said(tmp_path, claims, said):
    records = pa.table({"k": ["a", "b"] * 30, "k2": ["x"] * 60, "w": [2.5] * 60})
    md = dk.Microdata(records, keys=["k", "k2"], weight="w")
    folder = md.release(claims, keys=KEYS).write(tmp_path / "out", ("csv",))
    first, last = verify(folder, keys=KEYS).lines
    assert first == f"microdata: files unchanged; {said}"
    assert last == (
        f"microdata: all claims ({len(claims)}) checked again with the office's files; "
        "fingerprint confirmed"
    )


def test_why_values_are_missing_is_said_where_a_file_tells_it(public):
    folder = public("every_type")
    (folder / "microdata.html").unlink()
    path = folder / f"microdata{CERTIFICATE}"
    said = content(path)
    put(path, files={"microdata.csv": said["files"]["microdata.csv"]})
    verify(folder)
    why = in_languages([sentence("microdata.why missing", names="k", files=".dta")])
    for at in range(len(said["not_claimed"]["en"]) + 1):
        more = {of: [*texts] for of, texts in said["not_claimed"].items()}
        for language, texts in more.items():
            texts[at:at] = why[language]
        put(path, not_claimed=more)
        refused(folder, "its text was changed")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda said: said.pop("keys"), "its claims cannot be understood"),
        (lambda said: said.update(keys=5), "keys"),
        (lambda said: said.update(means_missing={"k": "9"}), "means_missing"),
    ],
)
def test_claims_of_the_office_have_a_form(release, how, words):
    folder = release("every_type")
    verify(folder, keys=KEYS)
    path = folder / "internal" / f"microdata{CERTIFICATE}"
    said = content(path)
    how(said)
    path.write_text(json.dumps(said), encoding="utf-8")
    refused(sealed(folder), words)


def test_of_safe_files_it_is_said_what_was_counted(tmp_path):
    folder = safe(tmp_path / "out")
    first, last = verify(folder, keys=KEYS).lines
    assert re.search(r"; counted again in 376 records: 95 combinations of all variables, each at "
                     "least 3 times$", first)  # fmt: skip
    assert "5 controlled tables counted again and compared with the office's counts" in last


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({"mean": 0}, True),
        ({"mean": 24}, True),
        ({"cells": 30}, False),  # anybody counts them
        ({"cells": 29}, False),
        ({"largest": 25}, False),
        ({"mean": -1}, False),
    ],
)
def test_deviations_that_can_be_are_the_offices_to_check(tmp_path, change, fits):
    """Each of two rows has to be possible."""
    folder = shutil.copytree(safe(tmp_path / "out") / "public", tmp_path / "public")
    path = folder / f"microdata{CERTIFICATE}"
    shown = content(path)["shown"]
    rows = [*shown["by_size_in_file"], shown["by_size_in_file"][0] | change]
    put(path, shown=shown | {"by_size_in_file": rows})
    for page in folder.glob("*.html"):
        page.unlink()
    put(path, files={n: m for n, m in content(path)["files"].items() if not n.endswith(".html")})
    if fits:
        verify(folder)
    else:
        refused(folder, "tables or deviations that do not fit together")


# ── workbooks ───────────────────────────────────────────────────────────────────────


def replaced(path, **options):
    write_xlsx(Published.read(path.parent, "firms"), path, **options)
    refresh(path.parent)
    return path.parent


def test_a_german_workbook_may_set_thousands_apart_as_older_ones_did(public):
    folder = public("thousands")
    verify(folder)
    assert "1.005" not in str(shown(folder / "firms.xlsx"))
    verify(replaced(folder / "firms.xlsx", language="de", dotted=True))
    assert "1.005" in str(shown(folder / "firms.xlsx"))
    verify(replaced(folder / "firms.xlsx", language="en"))


def shown(path):
    with zipfile.ZipFile(path) as archive:
        return [archive.read(name).decode() for name in archive.namelist()]


def edited(path, part, old, new):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    refresh(path.parent)


def test_the_fewest_problems_of_a_workbook_are_named(public):
    """Those beside the workbook that it is most like."""
    folder = public("thousands")
    edited(folder / "firms.xlsx", "xl/worksheets/sheet1.xml", "<v>58000</v>", "<v>58001</v>")
    with pytest.raises(VerificationError) as error:
        verify(folder)
    assert str(error.value).count("firms.xlsx has ") == 1


@pytest.mark.parametrize(
    ("part", "old", "new", "words"),
    [
        ("xl/workbook.xml", 'name="Zeichen', 'name="Andere', "cannot be read: InputError"),
        ("xl/workbook.xml", "<sheets>", "<sheets", "cannot be read: "),
    ],
)
def test_a_workbook_of_other_parts_cannot_be_read(public, part, old, new, words):
    folder = public("thousands")
    edited(folder / "firms.xlsx", part, old, new)
    refused(folder, words)


def test_own_symbols_are_compared_up_to_eight(tmp_path):
    for intervals in (False, True):
        folder = own_symbols(8, tmp_path / f"eight {intervals}", intervals)
        verify(shutil.copytree(folder / "public", tmp_path / f"public {intervals}"))
    with pytest.raises(VerificationError, match=r"firms\.xlsx has symbols without a legend"):
        verify(own_symbols(9, tmp_path / "nine") / "public", keys=KEYS)


# ── files ───────────────────────────────────────────────────────────────────────────


def listed(folder, name, text="p = 5"):
    """Put a file there that the certificate lists."""
    (folder / name).write_text(text, encoding="utf-8")
    [path] = folder.glob(f"*{CERTIFICATE}")
    put(path, files=content(path)["files"] | {name: ""})
    refresh(folder)


def test_a_file_of_nothing_is_refused_though_it_is_listed(public):
    folder = public("exchanged")
    listed(folder, "more.csv")
    refused(folder, r"more\.csv is no file of this release")


def test_a_workbook_of_the_office_is_named_and_not_compared(public):
    folder = public("exchanged")
    listed(folder, "yearbook.xlsx")
    assert verify(folder).lines[-1] == (
        "yearbook.xlsx: file unchanged; not compared, because the layout is the office's own"
    )


def test_the_lock_of_an_open_file_is_no_file(public):
    folder = public("exchanged")
    (folder / ".~lock.firms.csv#").write_text("Kim", encoding="utf-8")
    assert len(verify(folder).lines) == 1


# ── other releases ──────────────────────────────────────────────────────────────────


def test_growth_needs_the_release_before(written, tmp_path):
    home = written("changes").parent
    public = shutil.copytree(home / "2025" / "public", tmp_path / "public")
    first, growth, both = verify(public, releases=[home / "2024"]).lines
    assert growth == "count_growth: growth follows from the published values"
    assert both == "all: shows what stands in the files of its tables"
    assert verify(public).lines == (
        first,
        "count_growth: file unchanged; not computed again, because the release it refers to is "
        "not among those given",
        "all: file unchanged; not compared, because it shows figures that refer to a release that "
        "is not among those given",
    )


@pytest.mark.parametrize("name", ["count_growth.px", "count_growth.xlsx", "all.xlsx", "all.px"])
def test_every_file_of_a_figure_is_compared(written, tmp_path, name):
    home = written("changes").parent
    public = shutil.copytree(home / "2025" / "public", tmp_path / "public")
    if not (public / name).exists():
        pytest.skip("tables side by side have no such file")
    if name.endswith(".px"):
        path = public / name
        path.write_text(path.read_text("utf-8-sig").replace("3.0", "4.0").replace("11.8", "12.8"))
    else:
        edited(public / name, "xl/worksheets/sheet1.xml", "<v>", "<v>1")
    refresh(public)
    refused(public, re.escape(name), releases=[home / "2024"])


def test_a_figure_of_no_table_is_refused(written, tmp_path):
    home = written("changes").parent
    public = shutil.copytree(home / "2025" / "public", tmp_path / "public")
    said = content(public / "count_growth.derived.json")
    said["inputs"][0]["table"] = "nothing"
    put(public / "count_growth.derived.json", inputs=said["inputs"])
    refresh(public)
    refused(public, "nothing", releases=[home / "2024"])


# ── tables apart ────────────────────────────────────────────────────────────────────


def test_tables_with_common_cells_are_attacked_together(written, tmp_path):
    home = written("apart")
    both = shutil.copytree(home / "one" / "public", tmp_path / "both")
    verify(both)
    shutil.copytree(home / "two" / "public", both, dirs_exist_ok=True)
    refused(both, "fine and coarse have common cells|coarse and fine have common cells")
    structure = both / "coarse.structure.json"
    put(structure, vintage="another year")
    refresh(both)
    assert verify(both).tables == ("coarse", "fine")


# ── the program beside ──────────────────────────────────────────────────────────────


def test_a_program_of_another_version_is_not_run(public):
    folder = public("scripted")
    assert not any("verify.py" in line for line in verify(folder).lines)
    (folder / "verify.py").write_text("print('all is well')\n", encoding="utf-8")
    refresh(folder)
    refused(folder, "do not run it")
    put(folder / f"firms{CERTIFICATE}", software="diskret 0.0.9")
    assert verify(folder).lines[-1].endswith("run that of this version instead, which diskret "
                                             "verify-script gives")  # fmt: skip


def test_one_certificate_of_this_version_is_enough_to_know_the_program(tmp_path):
    names = ("one", "two")
    made = dk.suppress([counts(), counts()], RULE, name=[*names])
    folder = dk.write(made, tmp_path / "out", ["csv", "script"], keys=KEYS)
    public = shutil.copytree(folder / "public", tmp_path / "public")
    (public / "verify.py").write_text("print('all is well')\n", encoding="utf-8")
    put(public / f"two{CERTIFICATE}", software="diskret 0.0.9")
    refresh(public)
    refused(public, "do not run it")


# ── the office's folder and key ─────────────────────────────────────────────────────


def test_what_only_the_office_has_is_listed(release, tmp_path):
    folder = release("exchanged")
    with pytest.raises(DiskretError, match="no key file"):
        verify(folder, keys=tmp_path / "no key")
    assert not (tmp_path / "no key").exists()
    (folder / "internal" / "more.json").write_text("{}")
    refused(folder, r"not listed: internal/more\.json")


def test_nothing_is_read_that_is_no_plain_file(public):
    folder = public("exchanged")
    os.mkfifo(folder / f"more{CERTIFICATE}")
    refused(folder, "plain files only")


# ── the difference to the last delivery ─────────────────────────────────────────────


@pytest.mark.parametrize("name", ["firms_difference.csv", "firms_difference.xlsx"])
def test_each_file_of_a_difference_is_compared(written, tmp_path, name):
    made = written("edition")
    public = shutil.copytree(made / "public", tmp_path / "public")
    (public / "firms.html").unlink()
    path = public / f"firms{CERTIFICATE}"
    put(path, files={n: m for n, m in content(path)["files"].items() if n != "firms.html"})
    last = made.with_name("before edition")
    verify(public, releases=[last])
    if name.endswith(".csv"):
        text = (public / name).read_text("utf-8")
        assert "16,published" in text
        (public / name).write_text(text.replace("16,published", "15,published", 1))
    else:
        edited(public / name, "xl/worksheets/sheet1.xml", "<v>", "<v>1")
    refresh(public)
    refused(public, r"firms_difference\.", releases=[last])
    put(public / "firms_difference.previous.json", previous="last year")
    refresh(public)
    refused(public, r"firms_difference\.previous\.json", releases=[last])


# ── certificates ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"family": "safer"}, "is no certificate of a table or of microdata"),
        ({"family": None}, "is no certificate of a table or of microdata"),
        ({"p": 5}, "holds the key p"),
        ({"shown": {"base": 5}}, "holds the key shown"),
        ({"software": "Excel 16"}, "names no release of the software"),
        ({"inputs": {"table": "10 percent"}}, "names no release of the software"),
        ({"schema": "diskret/certificate/2"}, "is not about 'firms' in the schema"),
    ],
)
def test_a_certificate_is_of_a_form(public, more, words):
    folder = public("exchanged")
    put(folder / f"firms{CERTIFICATE}", **more)
    refused(folder, words)


@pytest.mark.parametrize("which", ["records", "released"])
def test_each_fingerprint_is_one(public, which):
    folder = public("every_type")
    said = content(folder / f"microdata{CERTIFICATE}")
    put(folder / f"microdata{CERTIFICATE}", inputs=said["inputs"] | {which: "5"})
    refused(folder, "what is no fingerprint")


def test_attacks_are_no_matter_of_changed_values(public):
    folder = public("withheld")
    put(folder / f"persons{CERTIFICATE}", attacker="outsider")
    refused(folder, "holds the key attacker")


# ── results of researchers ──────────────────────────────────────────────────────────


def test_accepted_results_are_checked_by_their_checksums(release, tmp_path):
    folder = release("results")
    report = verify(folder, keys=KEYS)
    line = "towns: files as they were accepted, by their checksums"
    assert (report.tables, report.suppressed, report.lines) == (("towns",), 0, (line,))
    assert report.checked_internal and report.sealed
    alone = verify(shutil.copytree(folder / "public", tmp_path / "alone"), keys=KEYS)
    assert alone.lines == (line,) and not alone.checked_internal and not alone.sealed
    (folder / "internal" / "more.json").write_text("{}")
    refused(folder, r"not listed: internal/more\.json")


def test_without_the_key_results_are_not_sealed(release, monkeypatch):
    folder = release("results")
    monkeypatch.setenv("DISKRET_KEYS", str(folder / "nothing"))
    report = verify(folder)
    assert report.checked_internal and not report.sealed
    assert report.lines[-1].startswith("internal files: as they are listed beside them")


def test_a_signature_of_results_is_compared(release):
    folder = release("results")
    (folder / "public" / "signed.sha256").write_text("# no signature\n")
    refused(folder, "is no signature of a release")


def test_a_folder_without_anything_holds_no_release(tmp_path):
    with pytest.raises(InputError, match="holds no released table"):
        verify(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        verify(tmp_path / "file")
