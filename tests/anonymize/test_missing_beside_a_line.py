"""t-closeness along an order: what is missing, and each code for that, is no point of it."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from transport import earth_mover

import diskret as dk
from diskret.anonymize import missing_codes, suppress
from diskret.attack.microdata import certify
from diskret.errors import InputError, ProofError, VerificationError

KEYS = dk.SecretKeys(bytes(range(32)))
#: 98 is not known and 99 refused; null is missing without a word.
VALUES = [1, 2, 3, 5, 98, 99, None]
TAGS = {98: "a", 99: "b"}


def saved(folder, kind, region, level):
    """The records as a file of SPSS or Stata says them."""
    path = folder / f"persons.{kind}"
    if kind == "sav":
        frame = pd.DataFrame({"region": region, "level": pd.Series(level, dtype=float)})
        pyreadstat.write_sav(frame, str(path), missing_ranges={"level": [98, 99]})
    else:
        tagged = [TAGS.get(one, one) for one in level]
        frame = pd.DataFrame({"region": region, "level": pd.Series(tagged, dtype=object)})
        pyreadstat.write_dta(frame, str(path), missing_user_values={"level": ["a", "b"]})
    return path


def persons(folder, kind, region, level, **roles):
    path = saved(folder, kind, region, level)
    return dk.Microdata(path, keys=["region"], sensitive=["level"], **roles)


def distances(region, level, line):
    groups = {key: [v for k, v in zip(region, level, strict=True) if k == key] for key in region}
    return [earth_mover(groups[key], level, line) for key in region]


@pytest.mark.long
@examples(30)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(VALUES)), min_size=2, max_size=12),
    st.sampled_from(["sav", "dta"]),
    st.booleans(),
)
def test_closeness_is_that_of_moving_shares(tmp_path_factory, rows, kind, halves):
    region, level = [row[0] for row in rows], [row[1] for row in rows]
    if all(one is None for one in level):
        level[0] = 1
    if halves:  # numbers with decimals lie on a line unasked
        level = [one if one is None or one > 90 else one + 0.5 for one in level]
    line = sorted({*level} - {98, 99, None})
    if not line:
        return
    md = persons(tmp_path_factory.getbasetemp(), kind, region, level)
    found = md.anonymity(ordered=["level"]).records["level_closeness"]
    wanted = distances(region, level, line)
    assert found.to_pylist() == pytest.approx(wanted, abs=1e-7)
    t = max(wanted)
    assert md.release(dk.claims.TCloseness(min(t + 1e-6, 1), ordered=True), keys=KEYS)
    if t > 1e-3:
        with pytest.raises(ProofError):
            md.release(dk.claims.TCloseness(t - 1e-6, ordered=True), keys=KEYS)


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_refusals_are_as_far_from_the_rich_as_from_the_poor(tmp_path, kind):
    """99 stood beside the highest income, and as many refusals as high incomes passed."""
    region, level = [1] * 4 + [2] * 4, [1, 2, 4, 5, 1, 2, 99, 99]
    md = persons(tmp_path, kind, region, level)
    # a quarter of each region moves between refusals and incomes, and the rest evens out
    assert md.anonymity(ordered=["level"]).closeness == pytest.approx(
        max(distances(region, level, [1, 2, 4, 5]))
    )
    assert md.anonymity(ordered=["level"]).closeness >= 0.25


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_an_order_that_is_given_need_not_name_them(tmp_path, kind):
    region, level = [1, 1, 2, 2], [1, 3, 2, 99]
    for order in ([1, 3, 2], [1, 3, 2, 99]):
        md = persons(tmp_path, kind, region, level, orders={"level": order})
        wanted = max(distances(region, level, [1, 3, 2]))
        assert md.anonymity(ordered=["level"]).closeness == pytest.approx(wanted)
        mapped = md.anonymity(ordered={"level": order}).closeness
        assert mapped == pytest.approx(wanted)
        claim = dk.claims.TCloseness(wanted + 1e-6, ordered=tuple(order))
        assert md.release(claim, keys=KEYS)
    md = persons(tmp_path, kind, region, level)
    with pytest.raises(InputError, match="does not stand in its order"):
        md.anonymity(ordered={"level": [1, 3]})


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_a_tree_need_not_hold_them(tmp_path, kind):
    md = persons(tmp_path, kind, [1, 1, 2, 2, 2], [1, 2, 3, 98, 99])
    tree = dk.Hierarchy.from_parents({"code": ["1", "2", "3", "x"], "parent": ["x", "x", "T", "T"]})
    found = md.anonymity(trees={"level": tree}).records["level_closeness"].to_pylist()
    # all of each region moves past the top, but for what it has of the file anyway
    assert found == pytest.approx([0.6] * 2 + [0.4] * 3)


def many(kind, folder):
    rng = np.random.default_rng(5)
    region = np.repeat([1, 2, 3, 4], 30)
    level = rng.integers(1, 6, 120).tolist()
    for at in [*range(0, 12), 40, 70, 100]:
        level[at] = 99
    return persons(folder, kind, region.tolist(), level)


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_suppression_by_closeness_is_proven_and_verified(tmp_path, kind):
    md = many(kind, tmp_path)
    before = md.anonymity(ordered=["level"]).closeness
    made = md.local_suppression(k=3, closeness=0.2, ordered=["level"])
    assert before > 0.2 >= made.anonymity(ordered=["level"]).closeness - 1e-12
    claim = dk.claims.TCloseness(0.2, ordered=True)
    out = made.release(claim, keys=KEYS).write(tmp_path / "out", ["csv", kind], keys=KEYS)
    assert dk.verify(out, keys=KEYS).checked_internal
    # the office's files say which codes those are: another one is a point of the order
    path = out / "internal" / "microdata.certificate.json"
    inside = json.loads(path.read_text())
    assert inside["means_missing"] == {"level": ["99" if kind == "sav" else ".b"]}
    inside["means_missing"] = {"level": ["1"]}
    path.write_text(json.dumps(inside))
    with pytest.raises(VerificationError):
        dk.verify(out, keys=KEYS)


def test_a_method_that_takes_them_for_values_is_refused(tmp_path, monkeypatch):
    """Sabotage: suppression that has 99 as the highest place of the order."""
    true = suppress.on_a_line
    md = many("sav", tmp_path)

    def wrong(md, name):
        monkeypatch.setattr(missing_codes, "missing", lambda *a: np.zeros(len(a[2]), dtype=bool))
        found = true(md, name)
        monkeypatch.undo()
        return found

    assert wrong(md, "level").beside == 0
    monkeypatch.setattr(suppress, "on_a_line", wrong)
    made = md.local_suppression(k=3, closeness=0.2, ordered=["level"])
    with pytest.raises(ProofError):
        made.release(dk.claims.TCloseness(0.2, ordered=True), keys=KEYS)


def test_the_check_knows_them_from_whoever_asks():
    file = pa.table({"region": ["a", "a", "b", "b"], "level": [1, 2, 1, 99]})
    claim = dk.claims.TCloseness(0.2, ordered=True)
    given = {"sensitive": ["level"]}
    certify("f", file, ["region"], claim, **given)  # a quarter goes one step of two
    with pytest.raises(ProofError):
        certify("f", file, ["region"], claim, means_missing={"level": ["99"]}, **given)
