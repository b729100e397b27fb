"""What others have published about their templates, and a template of theirs to the release.

Numbers of tables and clusters: the vignettes of rtauargus on the analysis of metadata.
"""

import csv
import shutil

import pytest
from plan_templates import released

import diskret as dk


@pytest.fixture(autouse=True)
def own_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))


@pytest.fixture
def rtauargus(reference_data):
    return reference_data / "data" / "tauargus" / "rtauargus"


def test_pizza_and_lettuce(rtauargus):
    plan = dk.plan.read(rtauargus / "metadata_pizza_lettuce.csv")
    found = [
        [(table.indicators, table.descriptions) for table in cluster] for cluster in plan.clusters
    ]
    salads = ("to_batavia", "to_arugula", "to_lettuce")
    assert len(plan.asked.tables) == 12
    assert found == [
        [(("to_pizza",), ("T1", "T2")), (("to_pizza",), ("T3", "T4", "T5", "T6"))],
        [(salads, ("T7", "T9", "T11")), (salads, ("T8", "T10", "T12"))],
    ]
    asked = {question.said.key for question in plan.questions}
    assert asked == {"which records", "which rules", "which tree", "which sum"}


def test_enterprise_template(rtauargus):
    plan = dk.plan.read(rtauargus / "enterprise_template.csv")
    assert (plan.asked.rows, len(plan.tables), len(plan.clusters)) == (3168, 6, 3)
    found = {
        (table.field, table.indicators, tuple(one.axis for one in table.by)): table.cluster
        for table in plan.tables
    }
    by = [("ACTIVITY", "NUMBER_EMPL"), ("ACTIVITY", "LEGAL_FORM")]
    asked = [("2022", "SAL"), ("2021", "SAL_DTH"), ("2022", "SAL_DTH")]
    assert found == {
        (year, (indicator,), axes): number
        for number, (year, indicator) in enumerate(asked, start=1)
        for axes in by
    }


def test_enterprise_template_with_the_totals_of_its_authors(rtauargus, tmp_path):
    """Six tables of 131 activities, 4 sizes and 3 legal forms, as their metadata say."""
    (tmp_path / "publication.toml").write_text(
        f'template = "{(rtauargus / "enterprise_template.csv").as_posix()}"\n'
        '[variables]\nACTIVITY.total = "BTSXO_S94"\nNUMBER_EMPL.total = "_T"\n'
        'LEGAL_FORM.total = "_T"\n',
        encoding="utf-8",
    )
    plan = dk.plan.read(tmp_path / "publication.toml")
    assert (len(plan.tables), len(plan.clusters)) == (6, 3)
    codes = {one.axis: len(one.codes) for table in plan.tables for one in table.by}
    assert codes == {"ACTIVITY": 131, "NUMBER_EMPL": 4, "LEGAL_FORM": 3}


def test_pizza_and_lettuce_are_released(rtauargus, tmp_path):
    """The microdata beside the template, with made-up pizzas: template, trees, data, and rules."""
    with (rtauargus / "indiv_dt.csv").open(encoding="utf-8") as file:
        firms = list(csv.DictReader(file))
    shutil.copy(rtauargus / "metadata_pizza_lettuce.csv", tmp_path / "template.csv")
    for name, levels in {"hrc_naf": ("A10", "A21"), "hrc_nuts": ("NUTS2", "NUTS3")}.items():
        rows = sorted({tuple(firm[level] for level in levels) for firm in firms})
        lines = [",".join(row) for row in [tuple(map(str.lower, levels)), *rows]]
        (tmp_path / "trees").mkdir(exist_ok=True)
        (tmp_path / "trees" / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    kinds = ("a10", "a21", "nuts2", "nuts3", "size", "cj")
    with (tmp_path / "firms.csv").open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file)
        write.writerow([*kinds, "to_pizza", "to_batavia", "to_arugula", "to_lettuce"])
        for firm in firms:
            salad = round(float(firm["PRODUCTION"]))
            batavia = salad if firm["TYPE"] in "12" else 0
            write.writerow(
                [
                    *(firm[kind.upper()] for kind in kinds),
                    round(float(firm["TURNOVER"])),
                    *(batavia, salad - batavia, salad),
                ]
            )
    (tmp_path / "publication.toml").write_text(
        'template = "template.csv"\n'
        'equations = ["to_lettuce = to_batavia + to_arugula"]\n'
        '[hierarchies]\nhrc_naf = { file = "trees/hrc_naf.csv", levels = ["a10", "a21"] }\n'
        'hrc_nuts = { file = "trees/hrc_nuts.csv", levels = ["nuts2", "nuts3"] }\n'
        '[records]\npath = "firms.csv"\n'
        "[rules]\np_percent = { p = 10 }\nminimum_frequency = { n = 3 }\n",
        encoding="utf-8",
    )
    plan = dk.plan.read(tmp_path / "publication.toml")
    assert str(plan) == "12 tables asked for, 4 to protect in 2 clusters, 0 questions open"
    results, _ = released(plan, tmp_path)
    salads = [f"to_{name}_hrc_naf" for name in ("batavia", "arugula", "lettuce")]
    assert [*results] == [
        "to_pizza_hrc_nuts_size",
        "to_pizza_hrc_naf_hrc_nuts",
        *(f"{name}_size" for name in salads),
        *(f"{name}_cj" for name in salads),
    ]
    assert results["to_pizza_hrc_naf_hrc_nuts"].published.suppressed.any()
