"""Contributors who know what is theirs: what they tell, and that each part of the attack counts."""

import random
import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from insiders_oracle import Case, published
from scipy import sparse

import diskret as dk
from diskret.attack import piece_moves
from diskret.errors import VerificationError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.protect import insider_repair, insiders
from diskret.publish.verify.folder import verify
from diskret.rules.insiders import judged_by
from diskret.suppression import Pattern
from diskret.tables.unions import union_table

RULE = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)
KEYS = dk.SecretKeys(bytes(range(32)))


def firms(**cells):
    """A table of two variables; each cell a list of firms by their size."""
    rows = [
        (cell[0], cell[1], f"{cell}{i}", size)
        for cell, sizes in cells.items()
        for i, size in enumerate(sizes)
    ]
    frame = pa.table(dict(zip(("n", "r", "firm", "value"), zip(*rows, strict=True), strict=True)))
    return dk.tabulate(frame, by={"n": None, "r": None}, value="value", unit="firm")


def square(lone):
    return firms(Ax=6 * [50], Ay=lone, Bx=[80], By=6 * [60], Cx=9 * [70], Cy=9 * [70])


def corners(problem):
    hidden = np.zeros(len(problem.cost), dtype=bool)
    hidden[[4, 5, 7, 8]] = True  # Total, A, B, C by Total, x, y
    return Pattern(hidden, "corners")


class Told(Exception):
    pass


def told(monkeypatch, table):
    """What insiders can tell if the four corners are hidden: sides of each target's cells."""
    found = []

    def stop(problem, pattern, open_, asked, *rest, **options):
        found.extend((asked.cells(one), one.lower, one.upper) for one in open_)
        raise Told

    monkeypatch.setattr(insider_repair, "repaired_against", stop)
    with pytest.raises(Told):
        dk.suppress(table, RULE, method=corners)
    return found


def test_a_firm_that_is_alone_computes_another_one(monkeypatch):
    assert ([7], 8, 8) in told(monkeypatch, square([100]))


def test_a_firm_among_small_ones_knows_a_lower_bound(monkeypatch):
    found = told(monkeypatch, square([97, 1, 1, 1]))
    assert [(lower > 0, upper) for cells, lower, upper in found if cells == [7]] == [(True, 0)]


def test_more_is_hidden_then():
    result = dk.suppress(square([100]), RULE, method=corners)
    assert result.published.suppressed.sum() > 4
    assert result.certificate.repaired
    assert result.certificate.internal()["insiders_who_pool"] == 1


def test_an_outsider_alone_is_asked_for():
    result = dk.suppress(square([100]), RULE, method=corners, attacker=dk.Attacker())
    assert result.published.suppressed.sum() == 4
    assert result.certificate.public()["attacker"] == "outsider"


def test_a_rule_that_judges_no_unions_asks_nothing_of_insiders():
    result = dk.suppress(square([100]), dk.rules.MarginalValue(), method=corners)
    assert result.certificate.attacker.contributor
    assert result.certificate.internal()["insiders_who_pool"] == 1


def test_all_is_hidden_before_it_is_refused(monkeypatch):
    """Where repairs hide nothing, what is connected with the cells is hidden."""
    monkeypatch.setattr(
        insider_repair, "repaired_against", lambda _, pattern, *rest, **options: pattern
    )
    result = dk.suppress(square([100]), RULE, method=corners)
    assert result.published.suppressed.sum() > 4


# ── nothing of it can be left out ────────────────────────────────────────────────────


def broken(seed):
    case = Case(random.Random(f"{seed} 1 1"), 1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = [case.table(trees) for trees in case.layouts]
        results = dk.suppress(tables, case.rule, attacker=case.attacker, name=["0"])
    return case.broken([(case.layouts[0], published(results[0]))])


def without_lone(monkeypatch):
    monkeypatch.setattr(piece_moves, "lone", lambda number, value, truth: number < -1)


def without_lower(monkeypatch):
    asked = insiders._asked

    def only_up(*given):
        found = asked(*given)
        lower, upper = found.insiders.most
        return replace(found, insiders=replace(found.insiders, most=(0 * lower, upper)))

    monkeypatch.setattr(insiders, "_asked", only_up)


def without_sums(monkeypatch):
    targets = insiders._targets

    def cells_only(required, unsafe, rests, cells):
        return targets(required, unsafe.only(np.zeros(len(unsafe), dtype=bool)), rests, cells)

    monkeypatch.setattr(insiders, "_targets", cells_only)


def without_company(monkeypatch):
    reached = piece_moves.PieceMoves.reached

    def alone_somewhere(self):
        found, of = reached(self), self._contributors
        share = found.share
        some = np.bincount(of.name, of.alone, len(of.names)) > 0
        row = np.repeat(np.arange(share.shape[0]), np.diff(share.indptr))
        kept = some[share.indices]
        start = np.searchsorted(row[kept], np.arange(share.shape[0] + 1))
        few = share.data[kept], share.indices[kept], start
        return replace(found, share=sparse.csr_array(few, shape=share.shape))

    monkeypatch.setattr(piece_moves.PieceMoves, "reached", alone_somewhere)


@pytest.mark.parametrize(
    ("sabotage", "seed"),
    [(without_lone, 116), (without_sums, 133), (without_company, 100)],
    ids=["lone", "sums", "company"],
)
def test_each_part_of_the_attack_is_needed(monkeypatch, sabotage, seed):
    assert not broken(seed)
    sabotage(monkeypatch)
    assert broken(seed)


def test_the_lower_side_is_needed(monkeypatch):
    """Without it nobody is found to tell what is in B, x from below."""
    without_lower(monkeypatch)
    found = told(monkeypatch, square([97, 1, 1, 1]))
    assert [7] not in [cells for cells, _, _ in found]


# ── levels ───────────────────────────────────────────────────────────────────────────


RULES = [dk.rules.PPercent(10), dk.rules.PQ(5, 40), dk.rules.Dominance(3, 80)]


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_nobody_is_owed_more_than_the_rule_asks_of_the_cell(rule):
    """p%, pq and dominance never ask for more than their own level, safe cells included."""
    draw = np.random.default_rng(1)
    for _ in range(60):
        sizes = draw.integers(0, 60, size=draw.integers(1, 6)).tolist()
        table = firms(Ax=sizes, By=[1])
        own = int(rule(table).upper[1, 1])
        member = sparse.csr_array(np.eye(1, 9, 4, dtype=np.int64))
        [judged] = judged_by(rule, table, union_table(table, member), member)
        who = judged.known.shares.who[:, None]
        at = np.zeros(len(who), dtype=np.int64)
        levels = judged.level(at, who, np.ones(who.shape, dtype=bool))
        assert levels.max() <= own
        assert judged.level(at[:1], who[:1], np.zeros((1, 1), dtype=bool))[0] <= own


# ── what the office keeps ────────────────────────────────────────────────────────────


def test_verify_goes_through_all_contributors_again(tmp_path):
    keys = KEYS
    result = dk.suppress(square([100]), RULE, method=corners, name="t")
    dk.write([result], tmp_path, keys=keys)
    assert verify(tmp_path, keys=keys)
    path = tmp_path / "internal" / "t.insiders.npz"
    with np.load(path) as file:
        arrays = dict(file)
    arrays["own_data"] = 0 * arrays["own_data"]
    np.savez_compressed(path, **arrays)
    with pytest.raises(VerificationError, match="insiders"):
        verify(tmp_path, keys=keys)


def test_verify_refuses_a_pattern_that_an_insider_undoes(tmp_path, monkeypatch):
    """Written by a protector that skipped insiders, with the office's own key."""
    keys = KEYS
    judge = insiders.InsiderJudge.attack

    def nothing_open(self, *given, **how):
        examination, found, asked = judge(self, *given, **how)
        return examination, replace(found, open=[]), asked

    monkeypatch.setattr(insiders.InsiderJudge, "attack", nothing_open)
    result = dk.suppress(square([100]), RULE, method=corners, name="t")
    assert result.published.suppressed.sum() == 4
    dk.write([result], tmp_path, keys=keys)
    with pytest.raises(VerificationError, match="against contributors"):
        verify(tmp_path, keys=keys)


# ── who attacks by default ───────────────────────────────────────────────────────────


def test_values_of_units_are_protected_against_contributors():
    assert dk.suppress(square([100]), RULE).certificate.attacker == dk.Attacker(contributor=True)


def test_counts_and_records_without_units_are_protected_against_outsiders():
    frame = pa.table({"n": ["a", "a", "b", "c"], "v": [5, 6, 7, 8]})
    for value in (None, "v"):
        table = dk.tabulate(frame, by={"n": None}, value=value)
        result = dk.suppress(table, dk.rules.MinimumFrequency(2))
        assert result.certificate.attacker == dk.Attacker()


def test_beyond_the_stated_number_of_records_a_warning_says_who_attacked(monkeypatch):
    monkeypatch.setattr(import_module("diskret.protect.tabulate"), "LISTED", 10)
    table = square([100])
    assert table.contributions is None
    with pytest.warns(UserWarning, match="not against contributors"):
        result = dk.suppress(table, RULE)
    assert result.certificate.public()["attacker"] == "outsider"
    said = " ".join(result.certificate.public()["not_claimed"]["en"])
    assert "against a contributor who subtracts its own contribution" in said


def test_a_job_has_the_same_default(tmp_path):
    (tmp_path / "firms.csv").write_text("n,firm,v\na,1,50\na,2,60\nb,3,70\nc,4,80\nc,5,9\n")
    text = """
[records]
path = "firms.csv"
[[tables]]
name = "t"
by = {{ n = "flat" }}
value = "v"
{}
[tables.rules]
minimum_frequency = {{ n = 2 }}
[output]
folder = "out"
"""
    for unit, kind in (('unit = "firm"', "contributor"), ("", "outsider")):
        job = tmp_path / f"{kind}.toml"
        job.write_text(text.format(unit))
        _, results = run_job(read_job(job), folder=tmp_path / kind, keys=KEYS)
        (result,) = results
        assert isinstance(result, dk.Result) and result.certificate.attacker.kind == kind
