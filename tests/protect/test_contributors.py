"""Protection against contributors who take their own contributions out of sums."""

import json
import re
import shutil
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from sealing import reseal

import diskret as dk
from diskret.errors import InputError, ProofError, ProtectionError, VerificationError
from diskret.publish.verify.folder import verify
from diskret.suppression import Pattern, modular, optimal

CONTRIBUTOR = dk.Attacker(contributor=True)
RULE = dk.rules.MinimumFrequency(4)


def counts(*numbers):
    codes = [f"c{i}" for i in range(len(numbers))]
    return dk.Table.from_cells(pa.table({"c": codes, "n": numbers}), by={"c": None}, count="n")


def square():
    n = np.array([[1, 6, 9], [2, 12, 7], [8, 9, 20]])
    rows, columns = np.indices(n.shape).reshape(2, -1)
    cells = {"r": [f"r{i}" for i in rows], "c": [f"c{i}" for i in columns], "n": n.ravel()}
    return dk.Table.from_cells(pa.table(cells), by={"r": None, "c": None}, count="n")


def hidden(result):
    return np.flatnonzero(result.published.suppressed).tolist()


def test_the_remainder_is_judged_by_its_contributors():
    table = counts(1, 2, 8, 9)
    assert hidden(dk.suppress(table, RULE)) == [1, 2]
    result = dk.suppress(table, RULE, attacker=CONTRIBUTOR)
    assert hidden(result) == [1, 2, 3]
    assert result.certificate.internal()["sums_unsafe"] == 1  # 1 + 2, by now uncertain


@pytest.mark.parametrize("method", ["auto", "sequential", "modular", "optimal", "hypercube"])
def test_every_method_does(method):
    result = dk.suppress(counts(1, 2, 8, 9), RULE, method=method, attacker=CONTRIBUTOR)
    assert hidden(result) == [1, 2, 3]


def test_modular_goes_on_from_what_told_it_of_sums(monkeypatch):
    """Others would take cells that are free of charge at first for ones that cost nothing."""
    sums = import_module("diskret.protect.revealed_sums")
    begun = dict[str, bool]()

    def as_modular(problem):
        begun["modular"] = bool(problem.start[[1, 2]].all()) and problem.known is not None
        return modular(problem)

    def as_optimal(problem):
        begun["optimal"] = bool(problem.start[:5].any())
        return optimal(problem)

    monkeypatch.setattr(sums, "modular", as_modular)
    for method in (as_modular, as_optimal):
        found = dk.suppress(counts(1, 2, 8, 9), RULE, method=method, attacker=CONTRIBUTOR)
        assert hidden(found) == [1, 2, 3]
    assert begun == {"modular": True, "optimal": False}


def test_a_network_does():
    plain = dk.suppress(square(), RULE, method="network")
    result = dk.suppress(square(), RULE, method="network", attacker=CONTRIBUTOR)
    assert result.published.suppressed.sum() >= plain.published.suppressed.sum()
    assert result.certificate.attacker.kind == "contributor"


def test_a_limited_search_repairs_what_it_found():
    result = dk.suppress(counts(1, 2, 8, 9), RULE, budget=1, attacker=CONTRIBUTOR)
    assert hidden(result) == [1, 2, 3]


def test_the_bound_knows_of_sums_that_every_safe_pattern_keeps_uncertain():
    """The cells with 1 and 2 protect each other, but their sum needs one more, at the least 8."""
    result = dk.suppress(counts(1, 2, 8, 9), RULE, method="optimal", attacker=CONTRIBUTOR)
    assert result.bound == 8 and result.gap == 0


def test_a_protector_that_ignores_sums_is_caught_and_repaired():
    def ignoring(problem):
        n = problem.system.tables and 5
        suppressed = np.zeros(len(problem.cost), dtype=bool)
        suppressed[problem.requirements.cell] = True
        suppressed[[1, 2]] = True
        suppressed[n:] = True
        return Pattern(suppressed, "ignoring")

    result = dk.suppress(counts(1, 2, 8, 9), RULE, method=ignoring, attacker=CONTRIBUTOR)
    assert hidden(result) == [1, 2, 3]


def test_a_protector_that_ignores_sums_in_every_repair_is_refused(monkeypatch):
    """Sums that are known exactly are left out of the repairs; the attack still sees them."""
    module = import_module("diskret.protect.revealed_sums")
    monkeypatch.setattr(module, "cleared", None)
    attack_pattern = import_module("diskret.protect.attack_pattern")

    def uncleared(problem, pattern, public, judge, parts):
        return problem, pattern, judge(public(pattern.suppressed))[0]

    monkeypatch.setattr(attack_pattern, "cleared", uncleared)
    monkeypatch.setattr(attack_pattern, "asking_for", lambda problem, sums: problem)
    monkeypatch.setattr(module, "_asking", lambda problem, *_: (problem, None, False, ""))
    with pytest.raises(ProofError, match=r"1 sums of cells can still .* c=c0 \+ c=c1"):
        dk.suppress(counts(1, 2, 8, 9), RULE, attacker=CONTRIBUTOR)


def test_a_sum_that_cannot_be_protected_is_named():
    frozen = pa.table({"c": ["c2", "c3", "Total"]})
    with pytest.raises(ProtectionError, match=re.escape("count[c=c0] + count[c=c1]")):
        dk.suppress(counts(1, 2, 8, 9), RULE, attacker=CONTRIBUTOR, frozen=frozen)


def test_a_coalition_of_two_needs_one_contributor_more():
    assert hidden(dk.suppress(counts(4, 9, 9, 20), RULE, attacker=CONTRIBUTOR)) == []
    two = dk.Attacker(contributor=True, coalition=2)
    assert 1 in hidden(dk.suppress(counts(4, 9, 9, 20), RULE, attacker=two))


def test_units_in_several_cells_count_once():
    """N and S have three firms each, but together they are no more than three."""
    firms = {"N": [1, 2, 3], "S": [1, 2, 3], "W": [4, 5, 6, 7, 8, 9], "O": [4, 5, 6, 7, 8]}
    rows = [(region, firm, 10) for region, those in firms.items() for firm in those]
    region, firm, sales = zip(*rows, strict=True)
    frame = pa.table({"region": region, "firm": firm, "sales": sales})
    made = {
        exact: dk.tabulate(
            frame, by={"region": None}, value="sales", unit="firm", contributions=exact
        )
        for exact in (True, False)
    }
    unsafe = {
        exact: dk.suppress(table, dk.rules.MinimumFrequency(4), attacker=CONTRIBUTOR)
        for exact, table in made.items()
    }
    assert unsafe[True].settings["contributors_of_sums"] == "exact"
    assert unsafe[False].settings["contributors_of_sums"] == "taken for different"
    codes = made[True].dimensions[0].hierarchy.codes
    assert {codes[i] for i in hidden(unsafe[False])} == {"N", "S"}
    assert {codes[i] for i in hidden(unsafe[True])} > {"N", "S"}


def test_rules_without_sums_are_named_in_the_settings():
    rule = RULE | dk.rules.MissingSafe({"c": ["c0"]})
    settings = dk.suppress(counts(1, 2, 8, 9), rule, attacker=CONTRIBUTOR).settings
    assert settings["sums_judged_by"] == [repr(RULE)]
    assert settings["rules_without_sums"] == [repr(dk.rules.MissingSafe({"c": ["c0"]}))]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"contributor": 1}, "True or False"),
        ({"contributor": True, "coalition": 0}, "coalition= must be a whole number from 1"),
        ({"contributor": True, "coalition": True}, "coalition= must be a whole number from 1"),
        ({"coalition": 2}, "contributor=True"),
    ],
)
def test_impossible_contributors_are_refused(options, what):
    with pytest.raises(InputError, match=what):
        dk.Attacker(**options)


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(InputError, match="give the rule itself"):
        dk.suppress(counts(1, 9), RULE(counts(1, 9)), attacker=CONTRIBUTOR)
    frame = pa.table({"r": ["N", "S"], "v": [3, 4], "w": [2, 2]})
    weighted = dk.tabulate(frame, by={"r": None}, value="v", weight="w")
    with pytest.raises(InputError, match="weighted, by 'w'"):
        dk.suppress(weighted, dk.rules.PPercent(5), attacker=CONTRIBUTOR)


# ── files ───────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("contributors")
    attacker = dk.Attacker(contributor=True, coalition=2)
    result = dk.suppress(counts(1, 2, 8, 9, 3), RULE, attacker=attacker)
    result.write(home / "out", formats=["csv", "html"], keys=home / "keys")
    return home


@pytest.fixture
def written(home, tmp_path):
    """A release that a test may damage, and the key beside it."""
    return shutil.copytree(home, tmp_path / "home") / "out"


def test_public_files_name_the_kind_only(written):
    assert verify(written, keys=written.parent / "keys").checked_internal
    certificate = json.loads((written / "public/count.certificate.json").read_text("utf-8"))
    assert certificate["attacker"] == "contributor"
    everything = "".join(p.read_text("utf-8") for p in (written / "public").iterdir())
    assert "sums_" not in everything and "coalition" not in everything
    assert "takes out its own contributions" in everything
    assert not list((written / "public").glob("*sums*"))
    internal = json.loads((written / "internal/count.certificate.json").read_text("utf-8"))
    assert internal["attacker"]["coalition"] == 2 and internal["sums_unsafe"] > 0


def test_a_public_certificate_that_claims_more_is_refused(written):
    path = written / "public/count.certificate.json"
    path.write_text(path.read_text("utf-8").replace('"contributor"', '"outsider"'), "utf-8")
    reseal(written, written.parent / "keys")
    with pytest.raises(VerificationError, match="text was changed"):
        verify(written / "public")


def less(content):
    content["unsafe"].pop()


def lower(content):
    content["unsafe"][0]["upper"] -= 1


def foreign(content):
    content["unsafe"][0]["cells"] = [["c0"], ["c1"], ["Total"]]


def fewer(content):
    content["judged"] -= 1


def broken(content):
    content["unsafe"][0]["cells"] = [["nowhere"]]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (less, "was changed"),
        (lower, "was changed"),
        (foreign, "1 of those listed are none"),
        (fewer, "0 of those listed"),
        (broken, "cannot be read"),
    ],
)
def test_a_changed_list_of_sums_is_refused(written, change, what):
    path = written / "internal/count.sums.json"
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")
    reseal(written, written.parent / "keys")
    with pytest.raises(VerificationError, match=what):
        verify(written, keys=written.parent / "keys")


def forged(folder, **levels):
    """The list of contributors with other levels, under a new seal."""
    path = folder / "internal/count.insiders.npz"
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    for name, change in levels.items():
        arrays[name] = change(arrays[name])
    np.savez_compressed(path, **arrays)
    reseal(folder, folder.parent / "keys")


NAMES = [f"{how}{side}" for how in ("most_", "base_", "") for side in ("lower", "upper")]


@pytest.mark.parametrize(
    ("names", "change", "what"),
    [
        (NAMES, lambda old: 0 * old, "asks for other levels than the rule does"),
        (["most_upper"], lambda old: old + 1, "asks for other levels than the rule does"),
        (["base_upper"], lambda old: old + 9, "owed more than anybody"),
        (["upper"], lambda old: old - 9, "damaged"),
    ],
)
def test_other_levels_against_contributors_are_refused(written, names, change, what):
    """Without the key, too: the list has to ask for what the office's other files say."""
    assert verify(written).checked_internal
    forged(written, **dict.fromkeys(names, change))
    with pytest.raises(VerificationError, match=what):
        verify(written)
    with pytest.raises(VerificationError, match="the list of contributors was changed"):
        verify(written, keys=written.parent / "keys")


def test_levels_that_no_witness_shows_are_refused(tmp_path):
    """Even the office itself cannot list a level that its witnesses do not prove."""
    from dataclasses import replace

    from diskret.keys import SecretKeys
    from diskret.publish.office.tables import write_sums

    keys = SecretKeys(bytes(range(32)))
    result = dk.suppress(counts(1, 2, 8, 9, 3), RULE, attacker=CONTRIBUTOR)
    folder = result.write(tmp_path / "out", formats=["csv"], keys=keys)
    verify(folder, keys=keys)
    unsafe = result.certificate.proof.unsafe
    assert unsafe is not None and len(unsafe)
    more = replace(unsafe, upper=unsafe.upper + 10**6)
    write_sums(result.published, more, folder / "internal", keys)
    reseal(folder, keys)
    with pytest.raises(VerificationError, match="requirements of .* sums?"):
        verify(folder, keys=keys)


def test_published_intervals_keep_sums_uncertain(tmp_path):
    keys = dk.SecretKeys(bytes(range(32)))
    result = dk.suppress(counts(1, 2, 8, 9, 3), RULE, attacker=CONTRIBUTOR)
    folder = result.write(tmp_path / "out", formats=["csv"], keys=keys, intervals=True)
    assert verify(folder, keys=keys).checked_internal


def test_tables_together_and_sums_of_each():
    tables = [counts(1, 2, 8, 9), counts(1, 2, 8, 9)]
    results = dk.suppress(tables, RULE, attacker=CONTRIBUTOR, name=["one", "other"])
    assert [hidden(result) for result in results] == [[1, 2, 3]] * 2


def test_counts_of_people_who_consented_are_judged_without_a_list_of_them():
    """Of the two in b one consented: b is protected for the other one, c needs nothing."""
    people = pa.table({"job": list("aaaaaaabbccd"), "yes": [0] * 7 + [1, 0, 1, 1, 0]})
    table = dk.tabulate(people, by={"job": None}, waiver="yes")
    attacker = dk.Attacker(contributor=True)
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), attacker=attacker)
    shown = dict(zip(*result.public.select(["job", "count"]).to_pydict().values(), strict=True))
    assert shown["Total"] == 12 and shown["b"] is None and shown["d"] is None
