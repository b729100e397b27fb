"""Cells set by hand: what is set holds, what is not clear is refused, who decided stays known."""

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.attack import SuppressionCertificate
from diskret.errors import HierarchyError, InputError, ProofError, ProtectionError
from diskret.rules import Apriori, MinimumFrequency, MissingSafe, PPercent
from diskret.tables import Table

WHY = {"reason": "consent", "who": "Quirina Xylander", "date": "2025-12-31"}
REGIONS = ["Total", "E", "N", "S", "W"]


def firms():
    cells = pa.table({"region": ["N", "S", "W", "E"], "firms": [7, 2, 1, 9]})
    return Table.from_cells(cells, by={"region": None}, count="firms")


def entries(*rows):
    """Rows as (region, what is set), with reason, who and date."""
    return pa.Table.from_pylist(
        [{"region": region, **dict.fromkeys(("status", "cost", "lower", "upper")), **WHY, **said}
         for region, said in rows]
    )  # fmt: skip


def cells(mask):
    return [region for region, hit in zip(REGIONS, mask.tolist(), strict=True) if hit]


# ── what is set holds ───────────────────────────────────────────────────────────────


def test_safe_wins_over_every_rule():
    rule = MinimumFrequency(3) | Apriori(entries(("S", {"status": "safe"})))
    assert cells(MinimumFrequency(3)(firms()).unsafe) == ["S", "W"]
    assert cells(rule(firms()).unsafe) == ["W"]
    assert rule(firms()).lower.tolist() == [0, 0, 0, 0, 1]


def test_unsafe_joins_with_levels_of_its_own():
    rule = MinimumFrequency(3) | Apriori(
        entries(("N", {"status": "unsafe"}), ("S", {"status": "unsafe", "lower": 2, "upper": 5}))
    )
    sensitivity = rule(firms())
    assert cells(sensitivity.unsafe) == ["N", "S", "W"]
    assert sensitivity.lower.tolist() == [0, 0, 1, 2, 1]
    assert sensitivity.upper.tolist() == [0, 0, 1, 5, 1]
    shown = [sensitivity.reasons[r] for r in sensitivity.reason[2:]]
    assert shown == ["apriori", "minimum_frequency", "minimum_frequency"]


def turnover(decimals=0):
    frame = pa.table({"b": ["A", "B", "C"], "v": [1003, 900, 50], "x1": [500, 300, 45],
                      "x2": [2, 300, 3]})  # fmt: skip
    return Table.from_cells(
        frame, by={"b": None}, value="v", largest=["x1", "x2"], decimals=decimals
    )


def test_levels_of_sums_are_a_share_of_the_value():
    set_unsafe = pa.Table.from_pylist([{"b": "A", "status": "unsafe", **WHY}])
    assert Apriori(set_unsafe)(turnover()).upper.tolist() == [0, 101, 0, 0]
    assert Apriori(set_unsafe, range=50)(turnover()).upper.tolist() == [0, 502, 0, 0]


def test_a_level_without_a_status_holds_where_a_rule_hits():
    raised = Apriori(pa.table({"b": ["A", "C"], "upper": [40, 40]}))
    alone = raised(turnover())
    assert not alone.unsafe.any()
    joined = (PPercent(10) | raised)(turnover())
    assert joined.unsafe.tolist() == [False, False, False, True]  # 2 of 45 are left open by 4.5
    assert joined.upper[3] == 40
    assert joined.lower[3] == 3


def test_levels_are_in_published_units_and_never_weaken_a_rule():
    table = turnover(decimals=2)
    rule = PPercent(10)(table)
    raised = Apriori(pa.table({"b": ["C"], "lower": ["0.01"], "upper": ["7.25"]}))
    joined = (PPercent(10) | raised)(table)
    assert joined.lower[3] == rule.lower[3] > 1
    assert joined.upper[3] == 725


def test_no_lower_level_goes_below_zero():
    far = Apriori(entries(("S", {"status": "unsafe", "lower": 50})))
    assert far(firms()).lower[3] == 2


def test_a_frozen_cell_stays_published():
    free = dk.suppress(firms(), MinimumFrequency(2))
    assert free.status.tolist() == ["published", "published", "published", "secondary", "primary"]
    rule = MinimumFrequency(2) | Apriori(entries(("S", {"status": "frozen"})))
    result = dk.suppress(firms(), rule)
    assert result.status.tolist() == ["published", "published", "secondary", "published", "primary"]


def test_a_frozen_cell_that_is_unsafe_is_named():
    rule = MinimumFrequency(3) | Apriori(entries(("W", {"status": "frozen"})))
    with pytest.raises(ProtectionError, match="1 unsafe cell.*region=W.*a priori list"):
        dk.suppress(firms(), rule)


def test_frozen_cells_of_all_lists_and_of_the_option_stay():
    rule = MinimumFrequency(2) | Apriori(entries(("S", {"status": "frozen"})))
    rule = rule | Apriori(entries(("N", {"status": "frozen"})))
    result = dk.suppress(firms(), rule, frozen=pa.table({"region": ["Total"]}))
    assert cells(result.published.suppressed) == ["E", "W"]


def test_a_price_of_its_own_takes_the_place_of_the_others():
    priced = Apriori(pa.table({"region": ["S", "E"], "cost": [1000.0, 0.5]}))
    result = dk.suppress(firms(), MinimumFrequency(2) | priced)
    assert cells(result.published.suppressed) == ["E", "W"]


def test_a_total_with_a_single_part_is_the_same_cell():
    tree = dk.Hierarchy.from_parents(
        {"code": ["T", "A", "a1", "B"], "parent": [None, "T", "A", "T"]}
    )
    frame = pa.table({"r": ["a1", "B"], "s": ["x", "x"], "n": [2, 9]})
    table = Table.from_cells(frame, by={"r": tree, "s": None}, count="n")
    entry = pa.Table.from_pylist([{"r": "A", "s": "x", "status": "safe", **WHY}])
    sensitivity = (MinimumFrequency(3) | Apriori(entry))(table)
    assert MinimumFrequency(3)(table).unsafe.sum() == 4  # A and a1, x and the total of s
    assert not sensitivity.unsafe.any()
    twice = pa.Table.from_pylist(
        [{"r": r, "s": "x", "status": status, **WHY} for r, status in
         [("A", "safe"), ("a1", "unsafe")]]
    )  # fmt: skip
    with pytest.raises(InputError, match="1 row says something else in 'status'.*r=a1, s=x"):
        Apriori(twice)(table)


def test_the_protection_asked_for_by_hand_is_reached():
    rule = Apriori(entries(("N", {"status": "unsafe", "lower": 4, "upper": 6})))
    result = dk.suppress(firms(), rule)
    found = {c["region"]: c for c in dk.attack.intervals(result.published).to_pylist()}
    assert found["N"]["lower"] <= 3
    assert found["N"]["upper"] >= 13


@given(st.lists(st.sampled_from(["safe", "unsafe", "frozen", None]), min_size=5, max_size=5),
       st.permutations([0, 1, 2]))  # fmt: skip
def test_the_order_of_joining_does_not_matter(statuses, order):
    said = [(r, {"status": s}) for r, s in zip(REGIONS, statuses, strict=True) if s]
    first, second = said[::2], said[1::2]
    other = {r for r, s in said if s["status"] == "unsafe"}
    rules = [MinimumFrequency(3), *(Apriori(entries(*part)) for part in (first, second) if part)]
    found = [rules[i](firms()) for i in order if i < len(rules)]
    joined = found[0]
    for one in found[1:]:
        joined = joined | one
    safe = {r for r, s in said if s["status"] == "safe"}
    assert set(cells(joined.unsafe)) == ({"S", "W"} | other) - safe
    assert np.array_equal(joined.unsafe, joined.reason >= 0)
    frozen = {r for r, s in said if s["status"] == "frozen"}
    assert (set() if joined.frozen is None else set(cells(joined.frozen))) == frozen


def test_one_list_must_not_undo_another():
    rule = Apriori(entries(("N", {"status": "unsafe"}))) | MissingSafe({"region": ["N"]})
    with pytest.raises(InputError, match="1 cell is set to unsafe by hand.*region=N"):
        rule(firms())


# ── files and frames ────────────────────────────────────────────────────────────────

CSV = """\
region;status;cost;lower;upper;reason;who;date
N;safe;2.5;;;public source;Quirina Xylander;2025-12-31
Total;frozen;;;;promised;Quirina Xylander;2025-12-31
S;;;;3;;;
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="apriori.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_text(text, encoding=encoding)
        return path

    return write


def test_a_csv_file_is_read(written):
    sensitivity = Apriori(written(CSV))(firms())
    assert cells(sensitivity.safe) == ["N"]
    assert cells(sensitivity.frozen) == ["Total"]
    assert sensitivity.cost is not None
    assert cells(~np.isnan(sensitivity.cost)) == ["N"]
    assert sensitivity.cost[2] == 2.5
    assert sensitivity.upper.tolist() == [0, 0, 0, 3, 0]
    assert sensitivity.entries.to_pylist()[0] == {
        "region": "N", "status": "safe", "cost": 2.5, "lower": None, "upper": None,
        "reason": "public source", "who": "Quirina Xylander", "date": "2025-12-31",
    }  # fmt: skip


@pytest.mark.parametrize("day", [datetime.date(2025, 12, 31), pd.Timestamp(2025, 12, 31)])
def test_a_pandas_frame_is_read(day):
    frame = pd.DataFrame(
        {"region": ["N", "S"], "status": ["safe", None], "cost": [np.nan, 3.0], "reason": "consent",
         "who": "Quirina Xylander", "date": day}
    )  # fmt: skip
    sensitivity = Apriori(frame)(firms())
    assert cells(sensitivity.safe) == ["N"]
    assert sensitivity.cost[3] == 3.0
    assert sensitivity.entries["date"].to_pylist() == ["2025-12-31"] * 2


BROKEN = [
    # (text of the file, what it becomes, words of the message)
    ("N;safe", "N;secret", ["row 1, column 'status'", "'secret' is no status", "safe, unsafe"]),
    ("public source", " ", ["row 1, column 'reason'", "missing", "public source", "consent"]),
    ("promised;Quirina Xylander", "promised;", ["row 2, column 'who'", "say who decided"]),
    ("source;Quirina Xylander;2025-12-31", "source;X;", ["row 1, column 'date'", "2025-12-31"]),
    ("2025-12-31", "31.12.2025", ["row 1, column 'date'", "'31.12.2025' is no date", "2 rows"]),
    ("2025-12-31", "2025-02-30", ["'2025-02-30' is no date"]),
    ("S;;;;3", "S;;;;", ["row 3, column 'status'", "sets nothing", "take the row out"]),
    ("S;;;;3", "S;;;;3,5", ["row 3, column 'upper'", "'3,5' is no number", "1234.5"]),
    ("S;;;;3", "S;;;;-3", ["row 3, column 'upper'", "'-3' is no number ≥ 0"]),
    ("2.5", "inf", ["row 1, column 'cost'", "no number"]),
    ("frozen;;;", "frozen;;;4", ["row 2, column 'upper'", "cells that are unsafe"]),
    ("region;", "regoin;", ["missing: 'region'", "not known: 'regoin'"]),
    ("S;", "N;", ["more than once", "region=N"]),
    ("S;", "X;", ["1 code of 'region'", "'X'"]),
    (CSV, "region;reason\nN;consent\n", ["at least one of 'status', 'cost'"]),
]


@pytest.mark.parametrize(("old", "new", "words"), BROKEN)
def test_what_is_not_clear_is_named(written, old, new, words):
    assert old in CSV
    with pytest.raises(InputError) as error:
        Apriori(written(CSV.replace(old, new)))(firms())
    assert [word for word in ["apriori.csv", *words] if word not in str(error.value)] == []


def test_a_code_that_is_not_there_is_an_error_of_the_hierarchy():
    with pytest.raises(HierarchyError, match="the a priori entries: 1 code of 'region'"):
        Apriori(entries(("X", {"status": "safe"})))(firms())


def test_an_empty_cell_cannot_be_unsafe():
    frame = pa.table({"region": ["N", "S", "W", "E"], "firms": [7, 0, 1, 9]})
    table = Table.from_cells(frame, by={"region": None}, count="firms")
    with pytest.raises(InputError, match="1 cell set to unsafe is empty: region=S"):
        Apriori(entries(("S", {"status": "unsafe"})))(table)


def test_a_variable_with_the_name_of_a_column_is_refused():
    table = Table.from_cells(pa.table({"who": ["1"], "n": [3]}), by={"who": None}, count="n")
    with pytest.raises(InputError, match="variable 'who'.*under another name"):
        Apriori(pa.table({"who": ["1"], "cost": [1]}))(table)


@pytest.mark.parametrize("option", ["reason", "who", "date", "separator"])
def test_options_of_hst_files_are_for_them_only(written, option):
    with pytest.raises(InputError, match=f"{option}= is for .hst files only"):
        Apriori(written(CSV), **{option: ";"})


# ── lists of τ-ARGUS ────────────────────────────────────────────────────────────────

HST = '"",p\r\nN,S\r\nS,u\r\nS,pl,1,4\r\nE,c,2.5\r\nTotal,c,3\r\nW,pl,0,9\r\n\r\n'


@pytest.mark.parametrize("separator", list(",;\t|"))
def test_an_hst_file_is_read(written, separator):
    path = written(HST.replace(",", separator), "old.hst")
    sensitivity = Apriori(path, **WHY)(firms())
    assert cells(sensitivity.frozen) == ["Total"]
    assert cells(sensitivity.safe) == ["N"]
    assert cells(sensitivity.unsafe) == ["S"]
    assert (sensitivity.lower[3], sensitivity.upper[3]) == (1, 4)
    assert (sensitivity.lower[4], sensitivity.upper[4]) == (0, 9)
    assert sensitivity.cost[1] == 2.5
    assert set(sensitivity.entries["who"].to_pylist()) == {"Quirina Xylander"}


def test_an_hst_file_of_other_encoding_and_separator_is_read(written):
    path = written("Süd:s\n", "old.hst", "latin-1")
    frame = pa.table({"region": ["Süd", "N"], "n": [2, 9]})
    table = Table.from_cells(frame, by={"region": None}, count="n")
    with pytest.raises(InputError, match=r"old.hst: cannot be read as utf-8 text.*latin-1"):
        Apriori(path, **WHY)
    assert Apriori(path, **WHY, separator=":", encoding="latin-1")(table).safe.sum() == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("N,x", ["line 1", "'x' is not known", "p (protected)"]),
        ("N,s\nS,m", ["line 2", "secondary", "proven as a whole"]),
        ("N", ["line 1", "1 field", "separator"]),
        ("N,c", ["line 1", "'c' must be followed by 1 number"]),
        ("N,pl,3", ["line 1", "'pl' must be followed by 2 numbers"]),
        ("N,s,3", ["line 1", "'s' must be followed by 0 numbers"]),
        ("N,s\nN,u", ["line 2", "status of this cell", "earlier line", "(N)"]),
        ("N,s\nS,u\n\nS,pl,1,x", ["line 2, column 'upper'", "'x' is no number"]),
        ("S,u\nN,s\nN,pl,1,2", ["line 2, column 'lower'", "levels are for cells"]),
        ("X,s", ["1 code of 'region'", "'X'"]),
        ("", ["is empty"]),
    ],
)
def test_what_is_wrong_with_an_hst_file_is_named(written, text, words):
    with pytest.raises(InputError) as error:
        Apriori(written(text, "old.hst"), **WHY)(firms())
    assert [word for word in ["old.hst", *words] if word not in str(error.value)] == []


@pytest.mark.parametrize("missing", list(WHY))
def test_an_hst_file_needs_somebody_who_answers_for_it(written, missing):
    path = written(HST, "old.hst")
    with pytest.raises(InputError, match=f"does not say its {missing}; give {missing}="):
        Apriori(path, **{**WHY, missing: None})
    with pytest.raises(InputError, match="'gestern' is no date"):
        Apriori(path, **{**WHY, "date": "gestern"})


# ── who decided stays in the office ─────────────────────────────────────────────────


@pytest.fixture
def result():
    set_by_hand = entries(("S", {"status": "safe"}), ("E", {"cost": 123.25}))
    return dk.suppress(firms(), MinimumFrequency(3) | Apriori(set_by_hand), name="firms")


def test_the_internal_files_say_who_and_why(result, tmp_path):
    folder = result.write(tmp_path / "out", ("csv", "xlsx", "parquet", "html"), keys=tmp_path / "k")
    written = json.loads((folder / "internal" / "firms.certificate.json").read_text("utf-8"))
    assert written["apriori"]["region"] == ["S", "E"]
    assert written["apriori"]["reason"] == ["consent", "consent"]
    assert written["apriori"]["who"] == ["Quirina Xylander"] * 2
    assert written["apriori"]["cost"] == [None, 123.25]
    public = list((folder / "public").iterdir())
    assert len(public) == 6
    for path in public:
        content = path.read_bytes()
        for word in (b"Xylander", b"apriori", b"Apriori", b"consent", b"123.25", b"123,25"):
            assert word not in content, path.name


def test_a_public_certificate_with_entries_does_not_leave(result, tmp_path, monkeypatch):
    honest = SuppressionCertificate.public
    monkeypatch.setattr(
        SuppressionCertificate, "public",
        lambda self: {**honest(self), "apriori": result.settings["apriori"]},
    )  # fmt: skip
    with pytest.raises(ProofError, match="the key apriori"):
        result.write(tmp_path / "out", ("csv",), keys=tmp_path / "k")
    assert not (tmp_path / "out").exists()
